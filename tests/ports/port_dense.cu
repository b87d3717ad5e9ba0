/* port_dense.cu - matrices and boxes in typical CUDA style: tiles, vector loads, lanes per row, planes that march. */
#include <stdint.h>

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

/* ---- Products ---- */

/* c = a b for an m by k matrix a and a k by n matrix b. */
#pragma cf kernel grid(n, m) block(TILE, TILE) in(a[m][k], b[k][n]) out(c[m][n]) tolerance(1e-6 * (k + 1)) \
    flops(2.0 * m * n * k)
#pragma cf instances(f32_16: float, 16; f32_32: float, 32; f64_8: double, 8)
template <typename T, int TILE>
__global__ void __launch_bounds__(TILE *TILE)
    matmul(const T *__restrict__ a, const T *__restrict__ b, T *__restrict__ c, int m, int n, int k)
{
    __shared__ T a_tile[TILE][TILE];
    __shared__ T b_tile[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    T sum = 0;
    for (int t = 0; t < CEIL_DIV(k, TILE); ++t) {
        const int a_col = t * TILE + tx, b_row = t * TILE + ty;
        a_tile[ty][tx] = row < m && a_col < k ? a[(size_t)row * k + a_col] : T(0);
        b_tile[ty][tx] = b_row < k && col < n ? b[(size_t)b_row * n + col] : T(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[(size_t)row * n + col] = sum;
}

/* y = a x, with one warp per row, which reads four elements at a time. */
#pragma cf kernel blocks(CEIL_DIV(rows, 8)) block(32, 8) in(a[rows][quads], x[quads]) out(y[rows]) \
    tolerance(1e-5 * (quads + 1)) flops(8.0 * rows * quads) bytes(16.0 * rows * quads)
__global__ void matvec(const float4 *__restrict__ a, const float4 *__restrict__ x, float *__restrict__ y, int rows,
                       int quads)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < quads; i += warpSize) {
        const float4 u = a[(size_t)row * quads + i], v = __ldg(&x[i]);
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    for (int mask = 16; mask; mask >>= 1)
        sum += __shfl_xor_sync(~0u, sum, mask);
    if (threadIdx.x == 0)
        y[row] = sum;
}

/* ---- y = A x for a matrix of compressed rows ---- */

/* One thread per row. */
#pragma cf kernel grid(rows) block(128) in(begins[rows + 1], column[count], value[count], x[cols]) out(y[rows]) \
    check(0 <= begins[:] <= count, 0 <= column[:] < cols) tolerance(1e-5 * max(1, count)) flops(2.0 * count)
#pragma cf instances(f32: float; f64: double)
template <typename T>
__global__ void spmv_scalar(const int *__restrict__ begins, const int *__restrict__ column, const T *__restrict__ value,
                            const T *__restrict__ x, T *__restrict__ y, int rows, int cols, int count)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        T sum = 0;
        for (int i = begins[row]; i < begins[row + 1]; i++)
            sum += value[i] * x[column[i]];
        y[row] = sum;
    }
}

/* LANES lanes of a warp per row. */
#pragma cf kernel grid(rows * LANES) block(128) in(begins[rows + 1], column[count], value[count], x[cols]) \
    out(y[rows]) check(0 <= begins[:] <= count, 0 <= column[:] < cols) tolerance(1e-5 * max(1, count)) \
    flops(2.0 * count)
#pragma cf instances(lanes32: 32; lanes8: 8; lanes2: 2)
template <int LANES>
__global__ void spmv_vector(const int *begins, const int *column, const float *value, const float *x, float *y,
                            int rows, int cols, int count)
{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / LANES, lane = thread % LANES;
    float sum = 0;
    if (row < rows)
        for (int i = begins[row] + lane; i < begins[row + 1]; i += LANES)
            sum += value[i] * x[column[i]];
#pragma unroll
    for (int offset = LANES / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset, LANES);
    if (lane == 0 && row < rows)
        y[row] = sum;
}

/* ---- Seven points of a box: a plane of threads marches along z ---- */

struct box {
    int nx, ny, nz;
};

#define INDEX(i, j, k) (((size_t)(k)*b.ny + (j)) * b.nx + (i))

/* Computes the Laplacian inside; the border of v is unchanged. */
#pragma cf kernel grid(nx, ny) block(16, 4) in(u[nz][ny][nx]) inout(v[nz][ny][nx]) tolerance(1e-12)
__global__ void laplace(const double *u, double *v, int nx, int ny, int nz)
{
    __shared__ double plane[6][18];
    const box b = {nx, ny, nz};
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const bool is_there = i < nx && j < ny, is_inside = i > 0 && j > 0 && i < nx - 1 && j < ny - 1;
    double below = 0, here = is_there && nz > 0 ? u[INDEX(i, j, 0)] : 0;
    double above = is_there && nz > 1 ? u[INDEX(i, j, 1)] : 0;
    for (int k = 1; k < nz - 1; k++) {
        below = here;
        here = above;
        above = is_there ? u[INDEX(i, j, k + 1)] : 0;
        __syncthreads();
        plane[ty][tx] = here;
        if (is_inside && threadIdx.x == 0)
            plane[ty][0] = u[INDEX(i - 1, j, k)];
        if (is_inside && threadIdx.x == blockDim.x - 1)
            plane[ty][tx + 1] = u[INDEX(i + 1, j, k)];
        if (is_inside && threadIdx.y == 0)
            plane[0][tx] = u[INDEX(i, j - 1, k)];
        if (is_inside && threadIdx.y == blockDim.y - 1)
            plane[ty + 1][tx] = u[INDEX(i, j + 1, k)];
        __syncthreads();
        if (is_inside)
            v[INDEX(i, j, k)] = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below +
                                above - 6 * here;
    }
}

/* Computes the same as laplace(), with threads in three dimensions and without shared memory. */
#pragma cf kernel grid(nx, ny, nz) block(8, 8, 4) in(u[nz][ny][nx]) inout(v[nz][ny][nx]) tolerance(1e-12)
__global__ void laplace_plain(const double *u, double *v, int nx, int ny, int nz)
{
    const box b = {nx, ny, nz};
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1)
        return;
    v[INDEX(i, j, k)] = u[INDEX(i - 1, j, k)] + u[INDEX(i + 1, j, k)] + u[INDEX(i, j - 1, k)] + u[INDEX(i, j + 1, k)] +
                        u[INDEX(i, j, k - 1)] + u[INDEX(i, j, k + 1)] - 6 * u[INDEX(i, j, k)];
}

/* ---- Jacobi's iteration, with the largest change ---- */

__device__ float atomic_max_of_positive(float *address, float value)
{
    return __int_as_float(atomicMax(reinterpret_cast<int *>(address), __float_as_int(value)));
}

/* One step for n unknowns of -u'' = f on a line. `change` becomes the maximum of |v - u|, if that is larger. */
#pragma cf kernel grid(n) block(128) in(u[n], f[n]) out(v[n]) inout(change[1]) tolerance(1e-6)
__global__ void jacobi(const float *__restrict__ u, const float *__restrict__ f, float *__restrict__ v, float *change,
                       int n)
{
    __shared__ float largest[4];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = 0;
    if (i < n) {
        const float left = i > 0 ? u[i - 1] : 0.0f, right = i < n - 1 ? u[i + 1] : 0.0f;
        const float next = 0.5f * (left + right + f[i]);
        mine = fabsf(next - u[i]);
        v[i] = next;
    }
    for (int offset = 16; offset; offset /= 2)
        mine = fmaxf(mine, __shfl_down_sync(0xffffffff, mine, offset));
    if ((threadIdx.x & 31) == 0)
        largest[threadIdx.x >> 5] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
        atomic_max_of_positive(change, fmaxf(fmaxf(largest[0], largest[1]), fmaxf(largest[2], largest[3])));
}
