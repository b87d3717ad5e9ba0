/* ranges.cu - kernels for test_regions.c whose variables change alike in all threads, or only concern a range of them.
 * All have n / 96 blocks of 96 threads and one element to a thread. */
#define SIZE 96

/* One declaration has several variables, of which some are the same for the block. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void declared_together(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const unsigned int t = threadIdx.x, last = SIZE - 1, b = blockIdx.x;
    const float least = in[0], *of = in + t;
    int half = SIZE / 2, i = b * SIZE + t, k = 0, first[2] = {1, 2}, other(t);
    s[t] = in[i] + first[t % 2] + least + *of;
    __syncthreads();
    do {
        float above = s[(t + half) % SIZE], sum = 1, *own = s + t, factor = k;
        __syncthreads();
        *own += above * factor + sum + other;
        half /= 2, k++;
        __syncthreads();
    } while (half > 0);
    out[i] = s[last - t] + k;
}

/* Indices wrap around, or become less than 0, within the rows of every third block. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void wraps_around(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    unsigned int t = threadIdx.x, end = n, from = blockIdx.x % 3 * 0x7ffffff0 + t;
    int low = blockIdx.x % 3 * 0x3fffffe8u + t;
    float sum = 0;
    s[t] = from < 70 ? in[from] : 5;
    __syncthreads();
    if (from + 16 < 90)
        s[t] += in[from + 16];
    if (low < 20)
        s[t] *= 3;
    if (low + blockDim.x < 150)
        s[t] -= 1;
    __syncthreads();
    for (unsigned int k = from; k < end; k += 1024 * 32 + blockDim.x)
        sum += in[k];
    for (int k = low; k >= 0 && k < 100; k += blockDim.x)
        sum += in[k];
    out[blockIdx.x * SIZE + t] = s[SIZE - 1 - t] + sum;
}

/* Guards whose index begins below 0, wraps around, is narrow or has another sign than its limit; some are the values
 * of variables, or concern rows. */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void ranges(const float *in, int n, float *out)
{
    __shared__ float s[6][16];
    const int tx = threadIdx.x, ty = threadIdx.y, left = (int)blockIdx.x - 3, first = blockIdx.x % 2 + 2;
    int x = left + tx, y = ty - 2, i = blockIdx.x * SIZE + ty * 16 + tx;
    const bool is_inside = x >= 0 && x <= 9 && y >= 0 && 3 > y, is_far = x > 6 && (y < 0 || is_inside);
    unsigned char narrow = threadIdx.x + 250;
    unsigned int wrapped = threadIdx.x - 4u, limit = 5;
    int back = threadIdx.x - 4, after = left + narrow, twice = left + tx + tx;
    long long wide = (long long)left + tx;
    float sum = 0;
    s[ty][tx] = in[i];
    __syncthreads();
    if (is_inside)
        sum += s[y][x + 1];
    if (is_far && tx >= first)
        sum += 2;
    if (is_inside && y == 1 && x < limit)
        sum += 4 * s[0][x];
    if (x < limit)
        sum += 8;
    if (wrapped < 6)
        sum += 16;
    if (back < 7)
        sum += 32;
    if (after < 4 || narrow > 252)
        sum += 64;
    if (narrow >= 253)
        sum += 128;
    if (wide < 7u && twice >= -1)
        sum += 256;
    if (wide <= limit)
        sum += 512;
    if (ty > first && threadIdx.y * 16 + tx < 90)
        sum += 1024;
    else if (ty == first)
        sum += 2048;
    if (x + 1 > 4 && left > x - 5)
        sum += 4096;
    if (after < 252)
        sum += 8192;
    if (n > 0 && is_inside) {
        int x = 12 - tx;
        if (is_inside && x > 3)
            sum += 16384;
    }
    __syncthreads();
    out[i] = sum + s[5 - ty][tx];
}

/* Threads end after the last barrier, by several conditions. */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void ends(const float *in, int n, float *out)
{
    __shared__ float s[6][16];
    const int tx = threadIdx.x, ty = threadIdx.y, least = blockIdx.x % 3;
    int i = blockIdx.x * SIZE + ty * 16 + tx;
    unsigned int above = 14;
    float sum = 0;
    s[ty][tx] = in[i];
    out[i] = -1;
    __syncthreads();
    if (tx < least || ty == 5 || tx > above)
        return;
    for (int k = 0; k < 6; k++)
        sum += s[k][tx];
    out[i] = sum;
    if (threadIdx.x == 7 || tx == ty) {
        return;
    }
    int half = sum, chosen = 1;
    if (tx < 4) {
        chosen = 2;
        for (int k = 0; k < 2; k++)
            sum += s[k][tx];
    }
    sum += chosen;
    if (n < 0)
        half = 3;
    for (int k = 0; k < 2; k++)
        sum += s[k][tx] * half;
    out[i] = sum;
    if (s[ty][tx] > 5)
        return;
    out[i] += 1;
}

/* The kernels have no barriers, and their serial loops are faster around the loops over threads. */
#pragma cf kernel grid(n) block(64) in(in[n]) out(out[n])
__global__ void serial(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, skipped = 0;
    if (i >= n - 1 || i < 1) {
        if (i < n)
            out[i] = 3;
        return;
    }
    float sum = in[i], before = in[i - 1], first = sum;
    for (int k = 0; k < n; k++) {
        sum += in[k] * before;
        for (int j = k; j < 2; j++)
            skipped += j;
        before = in[k];
    }
    out[i] = sum - first * skipped;
}

#pragma cf kernel grid(16, n / 16) block(8, 4) in(in[n]) out(out[n])
__global__ void serial_rows(const float *in, int n, float *out)
{
    const int x = threadIdx.x + blockDim.x * blockIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 16 || y >= n / 16)
        return;
    float sum = 0;
    for (int k = 0; k < n / 30; k++)
        sum += in[y * 16 + k] * in[k * 16 + x];
    out[y * 16 + x] = sum;
}

/* Limits are sums that begin or end with a number. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void numbers_at_ends(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = 100 * blockIdx.x + threadIdx.x;
    unsigned int j = threadIdx.x + blockIdx.x * 70;
    s[t] = i < n ? in[i] : 1;
    __syncthreads();
    if (j < 200)
        s[t] += in[j];
    __syncthreads();
    out[blockIdx.x * SIZE + t] = s[SIZE - 1 - t];
}

/* A name means another variable at the end of a region. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void named_twice(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x;
    float v = in[blockIdx.x * SIZE + t];
    s[t] = v;
    __syncthreads();
    if (t < 40) {
        v *= 2;
        float v = in[t + 1];
        s[t] += v;
    }
    __syncthreads();
    out[blockIdx.x * SIZE + t] = v + s[SIZE - 1 - t];
}

/* Adjacent blocks of one thread along x are joined. */
#pragma cf kernel grid(16, n / 16) block(1, 5) in(in[n]) out(out[n])
__global__ void one_column(const float *in, int n, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n / 30; k++)
        sum += in[y * 16 + k] * in[k * 16 + x];
    out[y * 16 + x] = sum;
}

/* Adjacent blocks of one thread in all are joined. */
#pragma cf kernel grid(n) block(1) in(in[n]) out(out[n])
__global__ void one_thread(const float *in, int n, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n - 2; k++)
        sum += in[k] * in[x] - k;
    out[x] = sum;
}

/* Conditions hold for a range of the threads of small blocks; in one condition, no variable holds the index. */
#pragma cf kernel grid(16, n / 16) block(4, 4) in(in[n]) out(out[n])
__global__ void small_blocks(const float *in, int n, float *out)
{
    const int x = threadIdx.x + blockDim.x * blockIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * 16 + x] = in[y * 16 + x];
    if (threadIdx.y + blockIdx.y * blockDim.y >= n / 16 - 1)
        return;
    out[y * 16 + x] += 2 * in[(y + 1) * 16 + x];
    if (x == 3)
        out[y * 16 + 3] -= in[y];
}

/* A condition holds for another range of threads in each step of a serial loop. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void moving_range(const float *in, int n, float *out)
{
    const int i = blockIdx.x * SIZE + threadIdx.x, first = i - 3;
    float sum = 0;
    for (int k = 0; k < n / 60; k++)
        if (first + k >= 0 && first + k < n)
            sum += in[first + k] * in[k];
    out[i] = sum;
}

/* All threads add the same to an integer: in regions, between regions, in loops that declare the integer anew, after a
 * guard that ends threads, and in a kernel in which a thread also adds a number of its own. */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void advanced(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int tx = threadIdx.x, t = threadIdx.y * 16 + tx, i = blockIdx.x * SIZE + t, step = 1 + blockIdx.x % 3;
    int place = t, guarded = t, own = t, added = t, beside = t, wide = t, row = threadIdx.y;
    unsigned char narrow = t + 200;
    float sum = 0;
    s[t] = in[i];
    out[i] = -1;
    if (tx > 13)
        return;
    for (int turn = 0; turn < 4; turn++) {
        int inner = tx + turn;
        place += step * 2;
        row += 1;
        sum += row < 4 && tx < 9 ? in[tx] : 0;
        sum += in[(i + place) % n];
        narrow += 100;
        for (int k = 0; k < 3; k++) {
            __syncthreads();
            sum += s[(inner + place + SIZE) % SIZE] + narrow;
            inner -= step + k;
            wide += n - 1;
            wide -= n - 3;
        }
        if (tx < 5)
            guarded += 7;
        if (turn % 2 == 1)
            beside += 3;
        own += t;
        added += 1 + in[turn];
        __syncthreads();
        s[t] += guarded + 2 * inner + wide;
    }
    __syncthreads();
    place -= 4;
    out[i] = sum + s[(t + 1) % 14] + own + added + place + guarded + beside + wide;
}

/* A serial loop's index grows by steps. A kernel that only reads global indices runs with blocks of another shape; the
 * other kernels store the block's shape. */
#define WALK(name, given)                                                                         \
    __global__ void name(const float *in, int n, float *out)                                      \
    {                                                                                             \
        int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; \
        if (x >= 20 || y >= n / 20)                                                               \
            return;                                                                               \
        int i = x;                                                                                \
        float sum = given;                                                                        \
        for (int z = 0; z < n / 20; z++) {                                                        \
            sum = 0.5f * sum + in[i];                                                             \
            i += 20;                                                                              \
        }                                                                                         \
        out[y * 20 + x] = sum + y + i + given;                                                    \
    }

#pragma cf kernel grid(20, n / 20) block(8, 4) in(in[n]) out(out[n])
WALK(walks, 1)
#pragma cf kernel grid(20, n / 20) block(8, 4) in(in[n]) out(out[n])
WALK(tells_size, blockDim.x)
#pragma cf kernel grid(20, n / 20) block(8, 4) in(in[n]) out(out[n])
WALK(tells_row, threadIdx.y)
#pragma cf kernel grid(20, n / 20) block(8, 4) in(in[n]) out(out[n])
WALK(tells_block, blockIdx.y)

/* Threads whose index is a multiple of a number add up neighbours, and threads pass other conditions of this kind. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void multiples(const float *in, int n, float *out)
{
    __shared__ float s[2 * SIZE], of_warps[8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, lane = threadIdx.x & 31, third = t % 3;
    long long far = (blockIdx.x * blockDim.x + threadIdx.x);
    s[t] = in[i];
    s[t + SIZE] = t;
    __syncthreads();
    for (unsigned int k = 1; k < blockDim.x; k *= 2) {
        if (threadIdx.x % (2 * k) == 0)
            s[t] += s[t + k];
        __syncthreads();
    }
    for (int k = -2; k < 4; k++) {
        if (t % k == 0)
            s[t + SIZE] += k;
        __syncthreads();
        if (!((t + 5) % 7) && t >= 3 * k)
            s[t + SIZE] *= 1.5f;
        __syncthreads();
        if (t >= k + 2 && t % (k + 9) == 0 && t < 90 - k)
            s[t + SIZE] -= k;
        __syncthreads();
    }
    if (lane == 0)
        of_warps[threadIdx.x / 32] = s[t];
    if (!third)
        s[t] += 100;
    __syncthreads();
    if ((t & 7) == 0) {
        if (t % 16 == 0)
            s[t] += 3;
        if (far % 5 == 0)
            s[t] += 7;
    }
    if (i % 11 == 0)
        s[t] += 0.25f;
    else
        s[t] -= 0.25f;
    __syncthreads();
    out[i] = s[t] + s[t + SIZE] + of_warps[t % 3];
}

/* Numbers in the conditions wrap around, have a sign, or are narrow. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void multiples_of_types(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    unsigned char small = threadIdx.x + 200;
    unsigned int great = threadIdx.x - 50u, most = threadIdx.x + 4294967200u;
    int below = (int)threadIdx.x - 40;
    long long wide = 6000000000;
    s[t] = in[i];
    __syncthreads();
    for (int k = 1; k < 6; k++) {
        if (small % k == 0)
            s[t] += 1;
        __syncthreads();
        if (great % (k + 2) == 0)
            s[t] += 2;
        __syncthreads();
        if (most % (3 * k) == 0)
            s[t] *= 2;
        __syncthreads();
        if (below % k == 0)
            s[t] += 3;
        __syncthreads();
        if (t % (wide * k) == 0)
            s[t] -= 7;
        if (t % (k - 6u) == 0)
            s[t] += 0.5f;
        if (t % 2 * k == 0)
            s[t] += 9;
        if (t % 0x7fffffff == 0)
            s[t] += 11;
        __syncthreads();
    }
    out[i] = s[t];
}

/* The kernel sums inputs as the first layer of a neural network does. */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void powers(const float *in, int n, float *out)
{
    __shared__ float s[12][16];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.x * SIZE + ty * 16 + tx;
    s[ty][tx] = in[i];
    s[ty + 6][tx] = 1;
    __syncthreads();
    for (int i = 1; i <= __log2f(9); i++) {
        int power = __powf(2, i);
        if (ty % power == 0)
            s[ty][tx] = s[ty][tx] + s[ty + power / 2][tx];
        __syncthreads();
    }
    out[i] = s[ty][tx] + s[0][tx];
}

namespace own
{
__device__ float trunc(float v)
{
    return v;
}
} // namespace own

__device__ int rint(int v)
{
    return v;
}

/* The file declares functions with the names of CUDA's functions. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void own_trunc_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    for (int k = 0; k < own::trunc(3.5f); k++)
        __syncthreads();
    out[i] = s[95 - t];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void own_rint_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    for (int k = 0; k < rint(3); k++)
        __syncthreads();
    out[i] = s[95 - t];
}

/* A loop ends with its last thread, after the other threads have ended. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void ends_in_loop(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float sum = 0;
    s[t] = in[i];
    out[i] = -1;
    if (i >= n - 7)
        return;
    for (int k = 1;; k++) {
        __syncthreads();
        sum += s[(t + k) % 64];
        out[i] = sum;
        if (sum > 900)
            return;
        __syncthreads();
        s[t] += 3;
    }
}

/* Guards contain signs after operators, and a cast in a product. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void signed_factors(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, by = (int)blockIdx.x % 4 - 1;
    float sum = 0;
    s[t] = in[blockIdx.x * SIZE + t];
    __syncthreads();
    if (t * -2 + 150 < 100 + by)
        sum += s[SIZE - 1 - t];
    if ((t - 1) * -by + 40 < 100)
        sum += 2;
    if ((int)threadIdx.x * -by + 3 < 40)
        sum += 4;
    if (t * 3 - -5 < 60)
        sum += 8;
    out[blockIdx.x * SIZE + t] = sum;
}

/* Indices of guards grow by more than 1 or are limited; some wrap around, change their sign or do not grow. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void scaled(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, by = (int)blockIdx.x % 4 - 1, first = max(0, t * 4 - 30), last = min(t * 3 + by, 90);
    const unsigned int u = threadIdx.x, far = u * 0x2000000u;
    const int turned = max(40u, u * 2 - 20), half = t * 2 / 3, less = 7 - t * 2;
    float sum = 0;
    s[t] = in[blockIdx.x * SIZE + t];
    __syncthreads();
    for (int k = 0; k < 70; k += 23)
        if (k >= first)
            sum += s[k] + 1;
    if (last > 60)
        sum += 4;
    if (far < 0x60000000u)
        sum += 8;
    if (2 * u - 10 < 60)
        sum += 16;
    if (2 * t - 10 < 60u)
        sum += 32;
    if ((t + 1) * by * 2 - 1 < 50)
        sum += 64;
    if (u * by < 50)
        sum += 128;
    if (3 + t * 5 <= 203)
        sum += 256;
    else
        sum += s[t];
    if (turned < 45)
        sum += 512;
    if (half < 31 && less >= -90)
        sum += 1024;
    if (50 < max(t * 2, by))
        sum += 2048;
    __syncthreads();
    if (s[0] < 0)
        return;
    if (by * 40 + t * 2 >= SIZE)
        sum += s[t / 2];
    out[blockIdx.x * SIZE + t] = sum;
}

/* The index of guards and of a choice is a product with threadIdx.x. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void scaled_thread(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, last = n / 8 + blockIdx.x % 3 * 40, twice = threadIdx.x * 2, even = 2 * threadIdx.x;
    const int far = blockIdx.x * 128 + threadIdx.x * 2;
    float sum = 0;
    s[t] = in[blockIdx.x * SIZE + t];
    __syncthreads();
    if (threadIdx.x * 2 < last)
        sum += 1;
    if (2 * threadIdx.x >= last)
        sum += 2;
    if (1 + threadIdx.x * 3 < last)
        sum += 4;
    if (max(threadIdx.x * 2, 3) < last)
        sum += 8;
    if (blockIdx.x * 128 + threadIdx.x * 2 < n)
        sum += 16;
    if (twice < last - 7)
        sum += 32;
    if (last < even)
        sum += 64;
    if (far < n - 9)
        sum += 128;
    __syncthreads();
    sum += threadIdx.x * 2 < last ? s[SIZE - 1 - t] : 1;
    out[blockIdx.x * SIZE + t] = sum;
}

/* Conditions give an index to a variable that is declared without a value. */
#pragma cf kernel grid(n) block(64) in(in[n]) out(out[n])
__global__ void given_index(const float *in, int n, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, first = n / 3, last = n - n / 4;
    if (i >= n)
        return;
    int from, to, other;
    if (i < first)
        from = i;
    if (i >= first && i < last)
        from = first - 1;
    if (i >= last)
        from = 0;
    if (i > 7)
        to = i - 7;
    else
        to = n - 1;
    if (i < last)
        other = 3;
    else
        other = i;
    out[i] = in[from] + 2 * in[to] + 4 * in[other];
}
