/* converge.cu - Jacobi's method for many small systems, each in a block that iterates until it has converged. */
#include <cstdio>
#include <limits>
#include <type_traits>

template <typename T> struct Limits;
template <> struct Limits<float> {
    static constexpr float near = 1e-6f;
};
template <> struct Limits<double> {
    static constexpr double near = 1e-12;
};

#pragma cf kernel blocks(batch) block(N) in(a[batch][N][N], b[batch][N]) out(x[batch][N], rounds[batch]) \
    tolerance(1e-5)
#pragma cf instances(f32: float, 32; f64: double, 16)
template <typename T, int N>
__global__ void jacobi_batch(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ x, int *__restrict__ rounds,
                             int batch, int most)
{
    static_assert(std::is_floating_point<T>::value, "a real number");
    __shared__ T current[N];
    const int row = threadIdx.x;
    a += blockIdx.x * N * N;
    current[row] = T(0);
    int round = 0;
    bool go_on;
    do {
        __syncthreads();
        T sum = b[blockIdx.x * N + row];
        for (int j = 0; j < N; j++)
            if (j != row)
                sum -= a[row * N + j] * current[j];
        T next = sum / a[row * N + row], change = next - current[row];
        go_on = __syncthreads_or((change < 0 ? -change : change) > Limits<T>::near) && ++round < most;
        current[row] = next;
    } while (go_on);
    x[blockIdx.x * N + row] = current[row];
    if (row == 0)
        rounds[blockIdx.x] = round;
}

template <typename T, int N> int solve(const T *a, const T *b, T *x, int *rounds, int batch)
{
    jacobi_batch<T, N><<<batch, N>>>(a, b, x, rounds, batch, std::numeric_limits<short>::max());
    return std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
template int solve<float, 32>(const float *, const float *, float *, int *, int);
