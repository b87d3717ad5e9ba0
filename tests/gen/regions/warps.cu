/* warps.cu - kernels for test_regions.c whose warps run one after the other, or whose threads share out the elements of
 * rows. All have n / 96 blocks of 96 threads and one element to a thread. */
#define SIZE 96
#define ALL 0xffffffffu

/* Each warp has a part of a row. Its bounds differ between warps, and are read from memory. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_per_row(const float *in, int n, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i / 32, lane = threadIdx.x & 31;
    out[i] = -1;
    if (row >= 13 || (int)in[row] % 5 == 4)
        return;
    float sum = 0, most = in[i];
    for (int k = (int)in[row] + lane; k < (int)in[row + 1] + 50; k += 32)
        sum += in[k] * 2;
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(ALL, sum, offset);
    if ((row & 1) == 0) {
        for (unsigned int k = lane; k < 40; k += warpSize)
            most = fmaxf(most, in[k * 3 + row]);
        for (int mask = 1; mask < 32; mask <<= 1)
            most = fmaxf(most, __shfl_xor_sync(ALL, most, mask));
    }
    out[i] = lane == 0 ? sum : most + lane;
}

/* Rows of blocks are warps; one kernel divides by the size of a warp in several ways. */
#pragma cf kernel blocks(n / SIZE) block(32, 3) in(in[n]) out(out[n])
__global__ void warp_of_row(const float *in, int n, float *out)
{
    unsigned int t = threadIdx.y * blockDim.x + threadIdx.x, warp = t >> 5, lane = t % 32;
    int i = blockIdx.x * SIZE + t, base = i - (int)lane;
    float v = in[i], sum = 0;
    if (warp == 1)
        v += __shfl_xor_sync(ALL, v, 3);
    for (int r = 0; r < (int)(threadIdx.y + 1); r++)
        sum += __shfl_sync(ALL, v, r + lane / 2);
    int part = ((int)threadIdx.x - 16) / 32, rest = -(int)threadIdx.x / 32, far = 8 * threadIdx.x / 32;
    out[base + lane] = sum + part * 3 + rest * 5 + far + (t & ~31u) + __any_sync(ALL, v > 60);
}

/* Indices begin below 0, wrap around, or have other types than their limits. */
#pragma cf kernel blocks(n / SIZE) block(32, 3) in(in[n]) out(out[n])
__global__ void shared_out(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 32 + tx, i = blockIdx.x * SIZE + t;
    unsigned int wrapped = threadIdx.x - 4u;
    float sum = 0;
    s[t] = in[i];
    __syncthreads();
    for (int k = tx - 5; k < 70; k += blockDim.x)
        sum += s[(k + 96) % 96];
    for (unsigned int k = wrapped; k < 50u; k += 32)
        sum += s[k] * 2;
    for (long k = wrapped; k < 50; k += 16)
        sum += s[k] * 3;
    for (int k = tx - 2; k < 60u; k += 32)
        sum += s[k] * 4;
    for (int k = t; k < n / 4; k += SIZE)
        sum += in[k] * 5;
    for (int k = ty; k < 20; k += blockDim.y)
        for (int j = tx; j < 40.5f; j += blockDim.x)
            sum += in[k * 10 + j] * 6;
    for (int k = tx; k < tx + 40; k += 32)
        sum += s[k % 96] * 7;
    for (int k = tx * 2; k <= 80; k += 64)
        sum += s[k] * 8;
    if (ty < 2)
        for (size_t k = tx; k < 64; k += blockDim.x) {
            if (k % 7 == 3)
                continue;
            sum += s[k] * 9;
        }
    __syncthreads();
    for (int k = tx; k < 32 * blockDim.y; k += 32)
        if (k / 32 == ty)
            s[k] = sum;
    __syncthreads();
    out[i] = s[95 - t];
}

/* The loop changes its step and its start, and each thread has an order of effects. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void not_shared_out(const float *in, int n, float *out)
{
    __shared__ int turns;
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, step = 32, limit = 200, last = 0;
    float sum = 0;
    if (t == 0)
        turns = 0;
    __syncthreads();
    for (int k = t; k < limit; k += step) {
        sum += in[k];
        limit -= 10;
    }
    for (int k = t; k < 400; k += step) {
        sum += in[k];
        step += 7;
    }
    for (int k = t; k < 150; k += 32) {
        sum += in[k];
        k += t % 2;
    }
    for (int k = t; k < 300; k += SIZE)
        last += t < 1 ? atomicAdd(&turns, 1) : k;
    __syncthreads();
    out[i] = sum + last + turns;
}

/* Fewer threads than elements run a loop over all elements, and wait for no other thread. */
#pragma cf kernel blocks(2) block(SIZE) in(in[n]) out(out[n])
__global__ void grid_stride(const float *in, int n, float *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[i] * 3 + in[n - 1 - i];
}

/* A kernel only votes, and some votes count lanes. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void warp_votes(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32, warp = i >> 5;
    unsigned int found = __ballot_sync(ALL, in[i] > 6);
    out[i] = __popc(found & ((1u << lane) - 1)) + warp * 100;
    if (lane == 31)
        out[i] = -(float)found;
}

/* Names and expressions give the lengths of blocks, which are the same in all instances. */
enum { HALVES = 2 };
constexpr int half = SIZE / HALVES;
#pragma cf kernel blocks(n / SIZE) block(half * HALVES) in(in[n]) out(out[n])
__global__ void warp_votes_of_constant(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32, warp = i >> 5;
    unsigned int found = __ballot_sync(ALL, in[i] > 6);
    out[i] = __popc(found & ((1u << lane) - 1)) + warp * 100;
}

#pragma cf kernel blocks(n / length) block(length) in(in[n]) out(out[n])
#pragma cf instances(l96: 96; l80: 80)
template <int length> __global__ void votes_of_instance(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x >> 5;
    unsigned int found = __ballot_sync(ALL, in[i] > 6);
    out[i] = __popc(found & ((1u << lane) - 1)) + warp * 100;
}

/* The warps of a block share out rows, with operations of warps. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void rows_of_warps(const float *in, int n, float *out)
{
    __shared__ float sums[7];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    float most = 0;
    for (int row = warp; row < 7; row += SIZE / 32) {
        float sum = in[(blockIdx.x * SIZE + row * 32 + lane) % n];
        for (int k = 16; k > 0; k >>= 1)
            sum += __shfl_xor_sync(ALL, sum, k);
        if (lane == 0)
            sums[row] = sum;
        most = most > sum ? most : sum;
    }
    __syncthreads();
    out[blockIdx.x * SIZE + t] = sums[t % 7] + most;
}
