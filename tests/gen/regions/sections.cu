/* sections.cu - kernels for test_regions.c whose warps run parts of a block's code one after the other. Blocks have 96
 * or 80 threads, and a thread has one element. */
#define SIZE 96
#define ALL 0xffffffffu

/* Code after a section uses its results, and the next turn of a loop uses those of the sections in the loop. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void across_sections(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * blockDim.x + t;
    float v = in[i], pair[2] = {v, 1};
    bool is_large = v > 6;
    for (int k = 0; k < 3; k++) {
        s[t] = v + k;
        __syncthreads();
        float other = __shfl_xor_sync(ALL, v, 3);
        int votes = __popc(__ballot_sync(ALL, is_large)), first = lane == 0;
        if (warp == k) {
            v += s[(t + 40) % SIZE];
            pair[k & 1] += __shfl_down_sync(ALL, v, 5);
        }
        is_large = other > v;
        __syncthreads();
        v += other + votes + first + pair[1];
    }
    out[i] = v + pair[0] + is_large;
}

/* Bounds and conditions of each warp are read from memory, and depend on one another. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void bounds_of_warps(const float *in, int n, float *out)
{
    __shared__ int length[3];
    __shared__ float sums[SIZE];
    const int t = threadIdx.x, lane = t & 31, warp = t >> 5, i = blockIdx.x * SIZE + t;
    if (t < 3)
        length[t] = (int)in[blockIdx.x * SIZE + t] * 2;
    sums[t] = 0;
    __syncthreads();
    const int count = length[warp], twice = count * 2;
    float sum = in[i];
    for (int k = 0; k < count; k++)
        sum += __shfl_sync(ALL, sum, k) / 4;
    if (twice > 20 && lane < 9 && in[i] > 3)
        sums[t] = sum;
    if (twice > 10)
        sum = __shfl_up_sync(ALL, sum, 1);
    if (warp > 0) {
        float other = __shfl_sync(ALL, in[i], warp);
        if (lane < count)
            sums[t] += other > 5 ? twice : warp;
    }
    int rest = count;
    while (rest > 0) {
        sum += __any_sync(ALL, sum > rest) + warp;
        rest -= 3 + warp;
    }
    __syncthreads();
    out[i] = sum + sums[(t + 31) % SIZE];
}

/* Rows of blocks are warps. Numbers of 8 bytes, vectors, pointers and parameters are used in several sections. */
#pragma cf kernel blocks(n / SIZE) block(32, 3) in(in[n]) out(out[n])
__global__ void rows_in_sections(const float *in, int n, float *out)
{
    __shared__ double s[3][32];
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.x * SIZE + y * 32 + x;
    double v = in[i];
    float4 four = make_float4(v, 1, 2, y);
    const float *row = in + blockIdx.x * SIZE + y * 32;
    for (int k = 1; k < 32; k *= 2) {
        double other = __shfl_up_sync(ALL, v, k);
        if (x >= k)
            v += other;
        four.x += row[k];
    }
    n += (int)v % 3;
    s[y][x] = v;
    __syncthreads();
    if (y == 1) {
        four.y = __shfl_xor_sync(ALL, four.x, 7);
        n -= __all_sync(ALL, x < 40);
    }
    if (y > 0)
        v += s[y - 1][31];
    __syncthreads();
    out[i] = v + four.x + four.y * 2 + four.w + n + *row;
}

/* Lanes that miss an operation end, and those of another warp go on. */
__device__ float sum_of(float v)
{
    for (int k = warpSize / 2; k > 0; k >>= 1)
        v += __shfl_down_sync(ALL, v, k);
    return v;
}
__device__ float sum_of_block(float v)
{
    static __shared__ float parts[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    v = sum_of(v);
    __syncthreads();
    if (lane == 0)
        parts[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / warpSize ? parts[lane] : 0;
    if (warp == 0)
        v = sum_of(v);
    if (threadIdx.x == 0)
        parts[0] = v;
    __syncthreads();
    return parts[0];
}
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void sums_by_calls(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float mean = sum_of_block(in[i]) / SIZE;
    float d = in[i] - mean;
    float square = sum_of_block(d * d);
    out[i] = d * 2 + square + mean;
}

/* Conditions are comparisons, and some warps skip code. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void compared_warps(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    unsigned int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    int before = (int)t - 32;
    float v = in[i];
    s[t] = v;
    __syncthreads();
    if (t < 32) {
        for (unsigned int k = t; k < 77; k += 32)
            v += s[k];
        v += __shfl_xor_sync(ALL, v, 1);
    } else if (t >= 64u) {
        v -= __shfl_down_sync(ALL, v, 2, 8);
    }
    if (before < 0)
        v += __shfl_up_sync(ALL, v, 4);
    if (before >= 32 && (t & 31) < 16) {
        v *= 2;
        v += __shfl_xor_sync(0xffff, v, 8);
    }
    __syncthreads();
    s[t] = v;
    __syncthreads();
    out[i] = s[SIZE - 1 - t] + v;
}

/* Warps append to a list in turn, like a filter; within the block, the list has the order of the threads. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void ranks_of_block(const float *in, int n, float *out)
{
    __shared__ int counts[SIZE / 32], total;
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * SIZE + t;
    bool takes = in[i] > 4;
    unsigned int votes = __ballot_sync(ALL, takes);
    int rank = __popc(votes & ((1u << lane) - 1));
    if (lane == 0)
        counts[warp] = __popc(votes);
    __syncthreads();
    if (warp == 0) {
        int own = lane < SIZE / 32 ? counts[lane] : 0, sum = own;
        for (int k = 1; k < 4; k *= 2) {
            int other = __shfl_up_sync(ALL, sum, k);
            sum += lane >= k ? other : 0;
        }
        if (lane < SIZE / 32)
            counts[lane] = sum - own;
        if (lane == 31)
            total = sum;
    }
    __syncthreads();
    out[i] = 0;
    __syncthreads();
    if (takes)
        out[blockIdx.x * SIZE + counts[warp] + rank] += in[i] + total;
    else
        out[blockIdx.x * SIZE + SIZE - 1 - (t - counts[warp] - rank)] -= warp;
}

/* Masks and widths are known when a warp runs. In the second warp no lane meets the conditions, and the width has no
 * meaning. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void widths_of_warps(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * SIZE + t, width = 4 << warp;
    float v = in[i], w = 1;
    for (int k = 1; k < width; k *= 2)
        v += __shfl_up_sync(ALL, v, k, width) + __shfl_xor_sync(ALL, v, k, width) * 2;
    s[t] = v;
    __syncthreads();
    width = warp == 1 ? 0 : 8;
    if (lane < width * 3) {
        unsigned int mask = (1 << (width + width * 2)) - 1;
        for (int k = 1; k < 16 / width; k *= 2)
            w += __shfl_xor_sync(mask, v, 5 - k, width);
        w -= __shfl_down_sync(mask, s[SIZE - 1 - t], 32 / width, width);
    }
    unsigned int votes = __ballot_sync(ALL, in[i] > 4);
    if (votes >> lane & 1)
        w += __shfl_sync(votes, v, __ffs(votes) - 1) + __shfl_down_sync(votes, v, warp + 1, 16);
    __syncthreads();
    out[i] = v + w + s[(t + 40) % SIZE];
}

/* A warp has one value of a variable in a section: other sections and later code use such values, and change some. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void values_of_warps(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * SIZE + t;
    float v = in[i], w = 0;
    s[t] = v;
    const unsigned int votes = __ballot_sync(ALL, v > 4);
    int count = __popc(votes), steps = count / 4, most;
    most = count > 16 ? 2 : 1;
    for (int k = 0; k < steps; k++)
        v += __shfl_xor_sync(ALL, v, 1 << k % 5) + count;
    count += most;
    if (count > 12)
        w += __shfl_up_sync(ALL, v, most);
    __syncthreads();
    const int twice = steps * 2;
    for (int k = 0; k < steps; k++)
        w += __shfl_down_sync(ALL, s[SIZE - 1 - t], k + twice);
    if (lane < count)
        w += __popc(__ballot_sync((2u << (count < 32 ? count - 1 : 31)) - 1, v > 9));
    __syncthreads();
    count += 3;
    out[i] = v + w + count * 2 + steps + (votes >> lane & 1) + most + s[(t + 7) % SIZE] + twice;
}

/* A section advances an index, and code around it advances another; the section declares a type and a constant. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void advanced_in_sections(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * SIZE + t, far = i, turns = 0;
    float v = in[i];
    for (int k = 0; k < 3; k++) {
        v += __shfl_xor_sync(ALL, v, 1 << k) + in[far % n];
        far += 7;
        if (warp > 1)
            turns += 2;
    }
    const float last = __shfl_sync(ALL, v, 31);
    typedef float number;
    number w = __shfl_up_sync(ALL, v, 2);
    s[t] = v;
    __syncthreads();
    i += 5;
    if (warp == 1)
        v += __shfl_down_sync(ALL, s[SIZE - 1 - t], 3) * lane;
    __syncthreads();
    out[i - 5] = v + far + turns + s[(t + 50) % SIZE] + in[i % n] + last + w + (number)t;
}

/* Some threads of a warp have ended, or whole warps and blocks. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) inout(out[n])
__global__ void ends_before_sections(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = blockIdx.x * SIZE + threadIdx.x;
    s[threadIdx.x] = 1;
    __syncthreads();
    if (i >= n - 70 || in[i] > 12)
        return;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, twice = warp * 2;
    float v = in[i], own = v * 2;
    for (int k = 16; k > 0; k /= 2)
        v += __shfl_down_sync(ALL, v, k);
    unsigned int votes = __ballot_sync(ALL, v > 20);
    for (int k = 0; k < twice; k++)
        own += __shfl_sync(ALL, own, k) + __shfl_up_sync(ALL, v, lane % 3);
    if (warp == 1 && lane > 4) {
        float half = own / 2;
        half += __popc(__ballot_sync(~31u, half > 9));
        own = half * 3;
    }
    unsigned int active = __activemask();
    int sum = __any_sync(ALL, own > 30) + __reduce_add_sync(active, lane);
    if (lane == 3)
        s[warp] = v;
    __syncthreads();
    if (twice > 2)
        return;
    v += s[lane] + __shfl_xor_sync(ALL, own, 1);
    __syncthreads();
    out[i] = v + own + sum + votes % 1024u;
}

__shared__ float last_of_block;

/* Threads that have ended, or that a condition excludes, write no variable of the block. The condition that ends
 * threads may assign variables that later code uses. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) inout(out[n])
__global__ void ends_that_assign(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float v, sum = 1;
    s[t] = in[i];
    last_of_block = 5;
    __syncthreads();
    if ((v = i < n - 40 ? in[i] : -1) < 0 || (sum += v) > 150)
        return;
    float w = v + s[0];
    w += __shfl_down_sync(ALL, v, 1);
    if (t == 0)
        last_of_block = w;
    w += __shfl_down_sync(ALL, w, 4);
    if (t % 32 == 31 && n % 3 == 7)
        last_of_block = -1;
    __syncthreads();
    if constexpr (SIZE > 2)
        w += __shfl_xor_sync(ALL, v, 1);
    out[i] = w + v + sum + last_of_block;
}

/* The last warp of each block has 16 lanes. */
#pragma cf kernel blocks(n / 80) block(80) in(in[n]) out(out[n])
__global__ void partial_warps(const float *in, int n, float *out)
{
    __shared__ float s[80];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * blockDim.x + t;
    float v = in[i];
    for (int k = 16; k > 0; k /= 2)
        v += __shfl_down_sync(ALL, v, k);
    if (lane == 0)
        s[warp] = v;
    int votes = __popc(__ballot_sync(ALL, v > 9)), steps = votes / 3;
    __syncthreads();
    for (int k = 0; k < steps; k++)
        v += __shfl_xor_sync(ALL, v, k + 1);
    if (warp == 2) {
        v += __shfl_up_sync(0xffff, v, 3) + __any_sync(0xffff, lane == 20);
    } else if (lane < 20) {
        v += __shfl_sync(0xfffff, v, warp + 3) + s[warp];
    }
    __syncthreads();
    out[i] = v + votes + s[0] + s[1] + s[2];
}

/* Threads have ended in blocks whose last warp has 16 lanes. */
#pragma cf kernel blocks(n / 80) block(80) in(in[n]) inout(out[n])
__global__ void ends_of_partial_warps(const float *in, int n, float *out)
{
    __shared__ float s[80];
    int i = blockIdx.x * 80 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s[threadIdx.x] = 2;
    __syncthreads();
    if (i >= n - 70 || in[i] > 11)
        return;
    float v = in[i];
    for (int k = 1; k < 32; k *= 2) {
        float o = __shfl_up_sync(ALL, v, k);
        if (lane >= k)
            v += o;
    }
    if (lane == 7)
        s[warp] = v;
    v += __reduce_add_sync(__activemask(), lane);
    __syncthreads();
    out[i] = v + s[threadIdx.x % 4];
}

/* After other code of its lanes, a warp has one value of a variable. */
#pragma cf kernel blocks(n / 50) block(50) in(in[n]) out(out[n])
__global__ void moved_in_sections(const float *in, int n, float *out)
{
    const int i = blockIdx.x * 50 + threadIdx.x, warp = threadIdx.x / 32;
    const unsigned mask = warp < 1 ? ALL : 0x3ffff;
    float v = in[i];
    if (warp < 1)
        v += __shfl_sync(mask, v, 1);
    if (n > 50) {
        v += v * .25f;
    }
    float f = (float)(warp % 100);
    if (warp != 0)
        v += __shfl_xor_sync(mask, v, 1);
    out[i] = v + f;
}

/* Code behind a section uses variables whose types the compiler deduces from results of the section. */
#pragma cf kernel blocks(n / 96) block(16, 6) in(in[n]) out(out[n])
__global__ void types_of_sections(const float *in, int n, float *out)
{
    int t = threadIdx.y * 16 + threadIdx.x, i = blockIdx.x * 96 + t, lane = t % 32, warp = t / 32;
    float v = in[i], early = v * 2;
    auto mask = __ballot_sync(ALL, v > 4);
    int twice = warp * 2, first = __shfl_sync(ALL, t, 5);
    auto own = early + lane;
    auto more = own + __shfl_xor_sync(ALL, (double)v, 1) / 4 + __popc(mask) * twice;
    auto any = __any_sync(ALL, v > 9);
    const auto last = __reduce_add_sync(ALL, (int)(more * 10));
    auto same = __match_any_sync(ALL, (int)v), sixth = same / 6;
    auto other = __shfl_down_sync(ALL, more, 1) * first;
    __syncthreads();
    out[i] = v + more + any * 2 + mask % 16 + last + same % 64 + sixth % 32 + other;
}
