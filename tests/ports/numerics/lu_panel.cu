/* lu_panel.cu - LU factors with row exchanges of many small matrices, each in the shared memory of a block. */
#include <iostream>
#include <type_traits>
#include <utility>

template <typename T, int N> class Panel
{
    static_assert(N <= 32, "one warp");
    T (*a_)[N];

  public:
    static constexpr int rows = N;
    template <int LD> struct Tile {
        T value[N][LD];
    };
    using Padded = Tile<N + 1>;

    __device__ static int find_pivot(const Padded &a, int column)
    {
        int best = column;
        for (int i = column + 1; i < N; ++i)
            if (fabs(a.value[i][column]) > fabs(a.value[best][column]))
                best = i;
        return best;
    }
};

template <typename T> __device__ inline void exchange(T &a, T &b)
{
    T kept = a;
    a = b;
    b = kept;
}

#pragma cf kernel blocks(batch) block(N) inout(a[batch][N][N]) out(pivots[batch][N]) tolerance(1e-3) param(int batch)
#pragma cf instances(f32_8: float, 8; f64_16: double, 16)
template <typename T, int N> __global__ void lu_panel(T *__restrict__ a, int *__restrict__ pivots)
{
    typedef Panel<T, N> P;
    __shared__ typename P::Padded tile;
    __shared__ int pivot;
    const int column = threadIdx.x;

    a += blockIdx.x * (N * N);
    pivots += blockIdx.x * N;
    for (int i = 0; i < N; ++i)
        tile.value[i][column] = a[i * N + column];
    for (int k = 0; k < N; ++k) {
        __syncthreads();
        if (column == k)
            pivots[k] = pivot = P::find_pivot(tile, k);
        __syncthreads();
        if (pivot != k)
            exchange(tile.value[k][column], tile.value[pivot][column]);
        __syncthreads();
        if (column > k)
            tile.value[column][k] /= tile.value[k][k];
        __syncthreads();
        if (column > k)
            for (int i = k + 1; i < N; ++i)
                tile.value[i][column] -= tile.value[i][k] * tile.value[k][column];
    }
    __syncthreads();
    for (int i = 0; i < N; ++i)
        a[i * N + column] = tile.value[i][column];
}

template <typename T, int N> void factorize(T *a, int *pivots, int batch, cudaStream_t stream = 0)
{
    if constexpr (std::is_same<T, float>::value)
        std::cerr << "single precision\n";
    lu_panel<T, N><<<batch, Panel<T, N>::rows, 0, stream>>>(a, pivots);
}
template void factorize<float, 8>(float *, int *, int, cudaStream_t);
template void factorize<double, 16>(double *, int *, int, cudaStream_t);
template __global__ void lu_panel<float, 16>(float *, int *);
