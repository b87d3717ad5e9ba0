/* masks.cu - kernels for test_regions.c whose masks may not be of all lanes, with reductions, matches, votes of blocks,
 * and votes in conditions. A name that ends in _turns is of a kernel without regions. All have n / 96 blocks of 96
 * threads and one element to a thread, if they do not say otherwise. */
#define SIZE 96
#define ALL 0xffffffffu

/* Masks name the lanes that take part: as votes and counts give them, by a number of lanes, and halves of a warp. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void masks_of_parts(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, lane = t % 32, limit = n - 17;
    float v = in[i], sum = 0;
    unsigned int here = __activemask();
    for (int k = 16; k > 0; k /= 2)
        v += __shfl_down_sync(here, v, k);
    unsigned int mask = __ballot_sync(ALL, i < limit);
    if (i < limit) {
        unsigned int inner = __activemask();
        sum = v;
        for (int k = 1; k < 32; k *= 2)
            sum += __shfl_xor_sync(mask, sum, k) + __shfl_up_sync(inner, v, k, 8);
        sum += __any_sync(mask, v > 300) + 2 * __all_sync(inner, v > 90) + __ballot_sync(mask, v > 100) % 512u;
    }
    unsigned int half = 0xffffu << (lane & 16);
    v += __shfl_xor_sync(half, v, 4, 16) + __shfl_sync(half, sum, lane + 9, 16) + __shfl_down_sync(half, v, 8);
    v += __ballot_sync(half, v > 200) % 1024u + __any_sync(half, lane == 20) + 2 * __all_sync(half, lane > 15);
    if (lane < 12) {
        int width = 12;
        v += __shfl_down_sync((1u << width) - 1, v, 3) - __shfl_sync(0xfff, v, 5);
        v += __ballot_sync((1u << width) - 1, v > 20);
    }
    out[i] = v + sum;
}

/* Masks name lanes after other lanes have ended, and only some warps run the code with a mask. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void masks_of_rests(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, lane = t % 32;
    int own = (int)in[i] % 3;
    out[i] = 0.5f;
    s[t] = in[i];
    if (t % 32 > 22 || (int)in[i] % 7 == 5)
        return;
    float v = in[i];
    unsigned int left = __activemask();
    v += __shfl_xor_sync(left, v, 3) + 2 * __shfl_down_sync(left | 1u << 30, v, 7);
    if (own) {
        unsigned int odd = __activemask();
        v += __shfl_sync(odd, v, 6) + __ballot_sync(odd, lane % 2) % 4096u + __all_sync(odd, v);
    }
    __syncthreads();
    if (t < SIZE / 32) {
        v += s[t];
        for (int k = 2; k > 0; k /= 2)
            v += __shfl_down_sync(left & 7, v, k);
    }
    out[i] = v;
}

/* The last warp of a block of 80 threads has 16 lanes, and a mask names these. */
#pragma cf kernel blocks(n / 80) block(80) in(in[n]) out(out[n])
__global__ void masks_of_length(const float *in, int n, float *out)
{
    __shared__ float sums[32];
    int t = threadIdx.x, i = blockIdx.x * 80 + t;
    unsigned int rest = 80 & 31;
    rest = rest > 0 ? 32 - rest : rest;
    const unsigned int mask = ALL >> rest;
    float sum = in[i];
    if (t / 32 == 2)
        for (int k = 16; k > 0; k /= 2)
            sum += __shfl_down_sync(mask, sum, k);
    if (t % 32 == 0)
        sums[t / 32] = sum;
    __syncthreads();
    const unsigned int extent = (80 + 31) / 32;
    const unsigned int few = __ballot_sync(__activemask(), t < extent);
    if (t < extent) {
        sum = sums[t];
        for (int k = 2; k > 0; k /= 2)
            sum += __shfl_down_sync(few, sum, k);
    }
    out[i] = sum + __reduce_add_sync(__activemask(), t);
}

/* Warps, lanes that have not ended, and lanes of masks take part in all kinds of reductions. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void reduced(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, v = (int)in[i] - 5;
    unsigned int u = (unsigned int)v * 2654435761u, thirds = lane < 11 ? 0x7ffu : lane < 22 ? 0x3ff800u : 0xffc00000u;
    int sum = __reduce_add_sync(ALL, v) + __reduce_min_sync(ALL, v) * 3 - __reduce_max_sync(ALL, v);
    sum += __reduce_min_sync(thirds, u) % 100 + __reduce_max_sync(thirds, u) % 64 + __reduce_add_sync(thirds, u) % 32;
    if (lane % 5 != 2) {
        unsigned int mask = __activemask();
        sum += __reduce_and_sync(mask, u | 255) % 512 + __reduce_or_sync(mask, u & 768) + __reduce_xor_sync(mask, u) % 8;
        sum += __reduce_max_sync(mask, -1 - lane) + __reduce_min_sync(ALL & ~0x08421084u, lane + 2);
    }
    int most = __reduce_max_sync(ALL, lane == 7 ? v : -9);
    for (int k = 0; k < most; k++)
        sum += __reduce_add_sync(ALL, k < lane);
    out[i] = sum;
}

/* Lanes find the lanes with equal values. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void matched(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned int same = __match_any_sync(ALL, in[i]), near = __match_any_sync(ALL, (int)in[i] / 2);
    float sum = __popc(same) + __popc(near) * 32 + (__ffs(near) - 1 == lane) * 2048;
    int own = (int)in[i] % 4;
    if (lane > 3 && own) {
        unsigned int mask = __activemask();
        sum += __popc(__match_any_sync(mask, (long long)in[i] << 40)) * 4;
        sum += __match_any_sync(mask, (double)(lane % 9)) % 777u;
    }
    unsigned int half = 0xffffu << (lane & 16);
    sum += __match_any_sync(half, (short)(lane % 3)) % 512u + __match_any_sync(half, lane % 4u) % 256u;
    out[i] = sum;
}

/* Blocks vote in expressions, conditions and loops. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void block_votes(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, turns = 0;
    float v = in[i], sum = 0;
    s[t] = v;
    int many = __syncthreads_count(v > 6);
    for (int k = 0; k < many % 5; k++) {
        sum += s[(t + k) % SIZE];
        __syncthreads();
    }
    if (__syncthreads_or(v > 11)) {
        s[t] += 1;
        __syncthreads();
        sum += s[95 - t];
    } else if (__syncthreads_and(v < 11))
        sum += 1000;
    while (__syncthreads_or(v > 3)) {
        v -= t % 3 + 1;
        turns++;
        s[t] = v;
    }
    do {
        v++;
        turns += 10;
        if (__syncthreads_and((int)v % 7))
            break;
    } while (!__syncthreads_and(v > 5));
    out[i] = sum + turns + s[(t + 1) % SIZE] + many * 100 + __syncthreads_count(t % 3 == 1) * t;
}

/* Votes of blocks stand in expressions with operations of warps. */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void block_votes_beside_shuffles(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.y * 16 + threadIdx.x;
    float v = in[i];
    float x = __syncthreads_count(v > 4) * __shfl_xor_sync(ALL, v, 1) +
              __shfl_sync(ALL, __shfl_xor_sync(ALL, v, 2) + __syncthreads_or(v > 12), 3);
    out[i] = x;
    out[i] += __ballot_sync(ALL, v > 3) % 32 + __syncthreads_count(v > 5) + 2 * __syncthreads_and(v < 12);
}

/* Threads that have ended do not vote. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void block_votes_of_rest(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    out[i] = in[i];
    if ((int)in[i] % 5 == 1)
        return;
    out[i] = __syncthreads_count(1) + 100 * __syncthreads_and((int)in[i] % 5 != 1) + 200 * __syncthreads_or(t == 5);
    if (t > 50)
        return;
    out[i] += __syncthreads_count(t);
}

/* Votes are conditions, and some of them hold for some warps. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void asked(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, turns = 0;
    float v = in[i], sum = 0;
    if (__any_sync(ALL, v > 11))
        sum = __shfl_xor_sync(ALL, v, 5);
    else if (!__all_sync(ALL, v < 10) == (lane != 40))
        sum = 7;
    while (__any_sync(ALL, v < 20 + i / 32)) {
        v = v * 2 + 1;
        if (__all_sync(ALL, v > 15))
            continue;
        turns++;
    }
    do
        v -= lane;
    while (__popc(__ballot_sync(ALL, v > 10)) > 3);
    unsigned int found = __ballot_sync(ALL, (int)in[i] % 3 == 1);
    while (found) {
        int from = __ffs(found) - 1;
        sum += __shfl_sync(ALL, v, from) * from;
        found &= found - 1;
    }
    float first = __shfl_sync(ALL, v, 3), other = __shfl_sync(ALL, first + lane, t / 32);
    float near = __shfl_sync(ALL, __shfl_up_sync(ALL, v, 1), __popc(__ballot_sync(ALL, v > 3)));
    if (__shfl_down_sync(ALL, v, 1) > v)
        sum += 5;
    out[i] = sum + turns * 8 + first + other + near;
    if (__all_sync(ALL, sum > 3))
        return;
    out[i] += __any_sync(ALL, sum > 8);
}

/* Sections of a block's warps stand between barriers of the block. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void asked_by_block(const float *in, int n, float *out)
{
    __shared__ int total;
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, lane = t % 32;
    if (t == 0)
        total = 0;
    __syncthreads();
    unsigned int mask = __ballot_sync(ALL, in[i] > 5);
    int base = 0;
    if (lane == 0)
        base = atomicAdd(&total, __popc(mask));
    base = __shfl_sync(ALL, base, 0);
    if (__any_sync(ALL, in[i] > 12))
        base += 1000;
    __syncthreads();
    out[i] = (base >= 1000) + __popc(mask & ((1u << lane) - 1)) + total * 2;
}

/* Not all lanes reach these operations in the order of the source, so that the kernel stays as it is. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void asked_last_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x, k = 0;
    if (k++ < 1 && __any_sync(ALL, k == 1))
        k += 2;
    out[i] = k;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void asked_by_changes_turns(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x, k = (int)in[i];
    if ((k += 3) > __popc(__ballot_sync(ALL, k > 9)))
        k += 2;
    out[i] = k;
}

/* A mask lacks the lane that passes it, and lanes pass different masks. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void mask_of_others(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    out[i] = __shfl_xor_sync(0xffffu * (n > 5), in[i], 1);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void mask_of_none(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    out[i] = __any_sync(n - 480, in[i] > 3);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void masks_that_differ(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x, lane = threadIdx.x % 32;
    out[i] = __ballot_sync(lane < 16 ? ALL : 0xffff0000u, in[i] > 3);
}

/* Lanes that have ended do not have to reach a __syncwarp(), which only some warps or turns of a loop reach. Some
 * blocks have 80 threads. */
#pragma cf kernel blocks(n / 80) block(80) in(in[n]) out(out[n])
__global__ void syncs_of_rests(const float *in, int n, float *out)
{
    __shared__ float s[80];
    int t = threadIdx.x, i = blockIdx.x * 80 + t, lane = t % 32;
    float v = s[t] = in[i];
    out[i] = -1;
    if (lane > 25 || i > n - 7)
        return;
    if (in[i + 6] > 11)
        return;
    v += __shfl_xor_sync(ALL, v, 1);
    if (lane < 16)
        v += __shfl_xor_sync(0xffff, v, 1);
    if (t / 32 != 1) {
        s[t] = v;
        __syncwarp();
        v += s[t - (lane & 1)];
    }
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void syncs_of_rests_in_loops(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x, lane = threadIdx.x % 32;
    float v = in[i];
    out[i] = v;
    if (lane < 3 || i > n - 7)
        return;
    v += __shfl_xor_sync(ALL, v, 1);
    for (int k = 0; k < 2; k++) {
        if (lane < 8) {
            v += __shfl_xor_sync(0xff, v, 1);
            __syncwarp(0xff);
        }
        __syncwarp();
    }
    out[i] = v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void syncs_without_lanes(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x, lane = threadIdx.x % 32;
    if (lane > 25)
        return;
    if (lane < 20)
        out[i] = __shfl_xor_sync(ALL, in[i], 1);
    __syncwarp();
}

/* Lanes wait for a part of the lanes in their warp. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void sync_of_parts(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    out[i] = in[i];
    if (t % 32 < 12) {
        s[t] = in[i];
        __syncwarp(0xfff);
        out[i] += s[t / 32 * 32 + (t + 3) % 32 % 12];
    }
}

/* Only some warps run a loop, which would not end for the other warps. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void loops_of_some(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t, lane = t % 32, warp = t / 32, first = 3 * (blockIdx.x % 2);
    float v = in[i];
    for (int k = 1; k <= n / 15; k *= 2)
        v += __shfl_up_sync(ALL, v, k, n / 15);
    s[t] = v;
    __syncthreads();
    if (warp == 0 && lane < blockDim.x / warpSize) {
        int mask = (1 << blockDim.x / warpSize) - 1;
        for (int k = 1; k <= blockDim.x / warpSize; k *= 2) {
            float other = __shfl_up_sync(mask, v, k);
            if (lane >= k)
                v += other;
        }
    }
    __syncthreads();
    if (warp >= first) {
        for (int k = first; k != 2; k++)
            v += __shfl_xor_sync(ALL, v, k);
        int left = 40;
        while (left > first) {
            v += __shfl_down_sync(ALL, s[t], left);
            left -= 7;
        }
    }
    if (t % 32 > 27)
        return;
    if (t >= 64 && first > 0) {
        int k = 3;
        do {
            v += __shfl_xor_sync(0xfffffff, v, 4);
            k -= first;
        } while (k != 0);
    }
    __syncthreads();
    out[i] = v + s[(t + 1) % 96];
}

/* Conditions that read memory are kept for both branches, also those that begin with parentheses. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void conditions_in_parentheses(const float *in, int n, float *out)
{
    int i = blockIdx.x * SIZE + threadIdx.x;
    float v = in[i];
    if ((in[i]) > 5)
        v += __any_sync(__activemask(), v > 9);
    if ((in[i / 32] + in[0]) > 2)
        v += __shfl_xor_sync(ALL, v, 1);
    out[i] = v;
}

/* The library chooses the number of threads of a block. */
#pragma cf kernel grid(n) block(auto) in(in[n]) out(out[n])
__global__ void chosen_blocks(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? in[i] : 0;
    v += __shfl_xor_sync(ALL, v, 1);
    if (i < n)
        out[i] = v;
}
