/* port_simulation.cu - simulations in typical CUDA style: bodies, options, transforms, fractals, clusters. */
#include <math.h>
#include <stdint.h>

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

/* ---- Bodies that attract each other: a tile of them in shared memory ---- */

__device__ __forceinline__ float3 interact(float3 sum, float4 mine, float4 other, float softening)
{
    const float dx = other.x - mine.x, dy = other.y - mine.y, dz = other.z - mine.z;
    const float squared = dx * dx + dy * dy + dz * dz + softening;
    const float inverse = rsqrtf(squared);
    const float scale = other.w * inverse * inverse * inverse;
    return make_float3(sum.x + dx * scale, sum.y + dy * scale, sum.z + dz * scale);
}

/* The acceleration of each body; .w is its mass. */
#pragma cf kernel grid(n) block(64) in(bodies[n]) out(pull[n]) check(softening > 0) tolerance(1e-3) flops(20.0 * n * n)
__global__ void nbody(const float4 *__restrict__ bodies, float3 *__restrict__ pull, float softening, int n)
{
    __shared__ float4 tile[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 mine = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int begin = 0; begin < n; begin += blockDim.x) {
        if (begin + threadIdx.x < n)
            tile[threadIdx.x] = bodies[begin + threadIdx.x];
        __syncthreads();
        const int count = min((int)blockDim.x, n - begin);
#pragma unroll 4
        for (int k = 0; k < count; k++)
            sum = interact(sum, mine, tile[k], softening);
        __syncthreads();
    }
    if (i < n)
        pull[i] = sum;
}

/* ---- Options ---- */

__device__ inline double cumulative_normal(double d)
{
    return 0.5 * erfc(-d * M_SQRT1_2);
}

/* The Black-Scholes prices of European calls and puts. */
#pragma cf kernel blocks(min(64, CEIL_DIV(n, 128))) block(128) in(price[n], strike[n], years[n]) out(call[n], put[n]) \
    check(volatility > 0) tolerance(1e-5) flops(100.0 * n)
__global__ void __launch_bounds__(128, 4)
    black_scholes(const double *price, const double *strike, const double *years, double *call, double *put,
                  double rate, double volatility, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const double s = price[i] + 1, x = strike[i] + 1, t = years[i] + 0.25;
        const double root = sqrt(t);
        const double d1 = (log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root);
        const double d2 = d1 - volatility * root;
        const double discount = exp(-rate * t);
        const double c = s * cumulative_normal(d1) - x * discount * cumulative_normal(d2);
        call[i] = c;
        put[i] = c - s + x * discount;
    }
}

/* ---- Fourier transform: one step of radix 2, from one array to another in Stockham's order ---- */

__device__ __forceinline__ float2 times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* Both n and `width` (1, 2, ..., n / 2) are powers of 2. */
#pragma cf kernel grid(n / 2) block(64) in(x[n]) out(y[n]) check(n > 1, 0 < width < n, n % (2 * width) == 0) \
    tolerance(1e-5)
__global__ void fft_step(const float2 *__restrict__ x, float2 *__restrict__ y, int n, int width)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2)
        return;
    const int k = i % width;
    float sine, cosine;
    sincospif(-(float)k / width, &sine, &cosine);
    const float2 a = x[i], b = times(x[i + n / 2], make_float2(cosine, sine));
    const int j = 2 * (i - k) + k;
    y[j] = make_float2(a.x + b.x, a.y + b.y);
    y[j + width] = make_float2(a.x - b.x, a.y - b.y);
}

/* ---- The Mandelbrot set: as many steps as each point needs ---- */

struct view {
    double x, y, step;
};

/* The arithmetic is not contracted to fused multiply-adds, so counts are the same everywhere. */
#pragma cf kernel grid(width, height) block(16, 8) out(steps[height][width]) check(0 <= limit <= 10000)
__global__ void mandelbrot(unsigned short *steps, double left, double top, double pixel, int width, int height,
                           int limit)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    const view at = {__dadd_rn(left, __dmul_rn(column, pixel)), __dadd_rn(top, __dmul_rn(row, pixel)), pixel};
    double x = 0, y = 0, xx = 0, yy = 0;
    int count = 0;
    while (count < limit && __dadd_rn(xx, yy) <= 4.0) {
        y = __dadd_rn(__dmul_rn(__dadd_rn(x, x), y), at.y);
        x = __dadd_rn(__dsub_rn(xx, yy), at.x);
        xx = __dmul_rn(x, x);
        yy = __dmul_rn(y, y);
        ++count;
    }
    steps[row * width + column] = (unsigned short)count;
}

/* ---- Clusters: each point goes to the nearest center, which adds it ---- */

/* Coordinate d of point i is points[d][i]. The kernel adds to `sums` and `counts`. */
#pragma cf kernel grid(n) block(128) shared(k * (dims * sizeof(float) + sizeof(unsigned int))) \
    in(points[dims][n], centres[k][dims]) out(nearest[n]) inout(sums[k][dims], counts[k]) \
    check(0 < k <= 64, 0 < dims <= 16) tolerance(1e-3)
__global__ void kmeans_step(const float *points, const float *centres, int *nearest, float *sums, unsigned int *counts,
                            int n, int k, int dims)
{
    extern __shared__ float shared[];
    float *block_sums = shared;
    unsigned int *block_counts = (unsigned int *)&shared[k * dims];
    for (int j = threadIdx.x; j < k * dims; j += blockDim.x)
        block_sums[j] = 0;
    for (int j = threadIdx.x; j < k; j += blockDim.x)
        block_counts[j] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int best = 0;
        float least = HUGE_VALF;
        for (int c = 0; c < k; c++) {
            float squared = 0;
            for (int d = 0; d < dims; d++) {
                const float delta = points[(size_t)d * n + i] - centres[c * dims + d];
                squared = __fmaf_rn(delta, delta, squared);
            }
            if (squared < least) {
                least = squared;
                best = c;
            }
        }
        nearest[i] = best;
        for (int d = 0; d < dims; d++)
            atomicAdd(&block_sums[best * dims + d], points[(size_t)d * n + i]);
        atomicAdd(&block_counts[best], 1u);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < k * dims; j += blockDim.x)
        atomicAdd(&sums[j], block_sums[j]);
    for (int j = threadIdx.x; j < k; j += blockDim.x)
        if (block_counts[j] != 0)
            atomicAdd(&counts[j], block_counts[j]);
}

/* ---- Random numbers: Philox with 4 words and 10 rounds, four numbers per counter ---- */

__device__ inline uint4 philox_round(uint4 counter, uint2 key)
{
    const uint32_t high0 = __umulhi(0xd2511f53u, counter.x), low0 = 0xd2511f53u * counter.x;
    const uint32_t high1 = __umulhi(0xcd9e8d57u, counter.z), low1 = 0xcd9e8d57u * counter.z;
    return make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
}

#pragma cf kernel grid(quads) out(numbers[quads])
__global__ void philox(uint4 *numbers, uint64_t seed, int64_t quads)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads)
        return;
    uint4 counter = make_uint4((uint32_t)i, (uint32_t)(i >> 32), 0, 0);
    uint2 key = make_uint2((uint32_t)seed, (uint32_t)(seed >> 32));
#pragma unroll
    for (int round = 0; round < 10; round++) {
        counter = philox_round(counter, key);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    numbers[i] = counter;
}
