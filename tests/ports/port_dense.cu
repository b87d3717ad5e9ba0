/* port_dense.cu - dense linear algebra in typical CUDA style: tiles, padding, vector loads, rows. */
#include <cuda_fp16.h>
#include <math.h>
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

/* y = a x; one warp per row, four elements at a time. */
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

/* y += a x in half precision, two elements at a time, and a single one at an odd end. */
#pragma cf kernel grid(n) items(2) in(x[n]) inout(y[n]) tolerance(2e-3)
extern "C" __global__ void half_axpy(__half a, const __half *x, __half *y, int n)
{
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 < n) {
        const __half2 *x2 = reinterpret_cast<const __half2 *>(x + i);
        __half2 *y2 = reinterpret_cast<__half2 *>(y + i);
        *y2 = __hfma2(__half2half2(a), *x2, *y2);
    } else if (i < n) {
        y[i] = __hfma(a, x[i], y[i]);
    }
}

/* ---- Transposition ---- */

#define TILE_DIM 32
#define TILE_ROWS 8

/* to[x][y] = from[y][x]; the padding avoids bank conflicts in columns. */
#pragma cf kernel blocks(CEIL_DIV(width, TILE_DIM), CEIL_DIV(height, TILE_DIM)) block(TILE_DIM, TILE_ROWS) \
    in(from[height][width]) out(to[width][height])
#pragma cf instances(f32: float; u16: uint16_t; f2: float2)
template <typename T> __global__ void transpose(const T *__restrict__ from, T *__restrict__ to, int width, int height)
{
    __shared__ T tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x;
    int y = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += TILE_ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = from[(size_t)(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += TILE_ROWS)
        if (x < height && y + j < width)
            to[(size_t)(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

/* ---- LU decomposition in place, step k of n, without pivots ---- */

#pragma cf kernel grid(n - k - 1) block(64) inout(a[n][n]) check(0 <= k < n) tolerance(1e-9)
__global__ void lu_column(double *a, int n, int k)
{
    int row = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n)
        a[row * n + k] /= a[k * n + k];
}

#pragma cf kernel grid(n - k - 1, n - k - 1) block(16, 16) inout(a[n][n]) check(0 <= k < n) tolerance(1e-9)
__global__ void lu_rest(double *a, int n, int k)
{
    __shared__ double pivots[16], factors[16];
    const int col = k + 1 + blockIdx.x * 16 + threadIdx.x, row = k + 1 + blockIdx.y * 16 + threadIdx.y;
    if (threadIdx.y == 0 && col < n)
        pivots[threadIdx.x] = a[k * n + col];
    if (threadIdx.x == 0 && row < n)
        factors[threadIdx.y] = a[row * n + k];
    __syncthreads();
    if (row < n && col < n)
        a[row * n + col] -= factors[threadIdx.y] * pivots[threadIdx.x];
}

/* ---- Rows ---- */

struct maximum {
    static __device__ float identity() { return -INFINITY; }
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct plus {
    static __device__ float identity() { return 0.0f; }
    __device__ float operator()(float a, float b) const { return a + b; }
};

/* Reduces all threads' values; every thread gets the result. `shared` has room for one value per thread. */
template <typename Op> __device__ float block_all_reduce(float value, float *shared, Op op)
{
    shared[threadIdx.x] = value;
    __syncthreads();
    for (int active = blockDim.x; active > 1;) {
        const int half = (active + 1) / 2;
        if ((int)threadIdx.x + half < active)
            shared[threadIdx.x] = op(shared[threadIdx.x], shared[threadIdx.x + half]);
        active = half;
        __syncthreads();
    }
    value = shared[0];
    __syncthreads();
    return value;
}

/* Computes the softmax of each row, one block per row; the block size need not be a power of 2. */
#pragma cf kernel blocks(rows) block(96) shared(96 * sizeof(float)) in(x[rows][cols]) out(y[rows][cols]) tolerance(1e-5)
__global__ void softmax(const float *x, float *y, int rows, int cols)
{
    extern __shared__ float shared[];
    const float *in = x + (size_t)blockIdx.x * cols;
    float *out = y + (size_t)blockIdx.x * cols;
    float largest = maximum::identity();
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        largest = fmaxf(largest, in[i]);
    largest = block_all_reduce(largest, shared, maximum());
    float sum = plus::identity();
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        const float e = expf(in[i] - largest);
        out[i] = e;
        sum += e;
    }
    sum = block_all_reduce(sum, shared, plus());
    const float scale = 1.0f / sum;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        out[i] *= scale;
}

/* Normalizes rows to mean 0 and variance 1, then scales and shifts them; one warp per row, WARPS per block. */
#pragma cf kernel blocks(CEIL_DIV(rows, WARPS)) block(32 * WARPS) tune(WARPS: 4, 1) \
    in(x[rows][cols], gain[cols], bias[cols]) out(y[rows][cols]) check(cols > 0, epsilon > 0) tolerance(1e-3)
#pragma cf instances(f32: float; f16: __half)
template <typename T, int WARPS>
__global__ void layer_norm(const T *x, const float *gain, const float *bias, T *y, float epsilon, int rows, int cols)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    const T *in = x + (size_t)row * cols;
    float mean = 0, squares = 0;
    int count = 0;
    for (int i = lane; i < cols; i += 32) {
        const float value = (float)in[i], delta = value - mean;
        mean += delta / ++count;
        squares += delta * (value - mean);
    }
    for (int mask = 16; mask > 0; mask >>= 1) {
        const float other_mean = __shfl_xor_sync(0xffffffff, mean, mask);
        const float other_squares = __shfl_xor_sync(0xffffffff, squares, mask);
        const int other_count = __shfl_xor_sync(0xffffffff, count, mask);
        const int both = count + other_count;
        if (both > 0) {
            const float delta = other_mean - mean, share = (float)other_count / both;
            squares += other_squares + delta * delta * share * count;
            mean += delta * share;
        }
        count = both;
    }
    const float scale = rsqrtf(squares / cols + epsilon);
    for (int i = lane; i < cols; i += 32)
        y[(size_t)row * cols + i] = (T)(((float)in[i] - mean) * scale * gain[i] + bias[i]);
}
