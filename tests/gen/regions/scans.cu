/* scans.cu - kernels for test_regions.c whose threads add elements of an array in steps, and others that are alike. All
 * have n / 96 blocks of 96 threads and one element to a thread. */
#define SIZE 96

/* Each step reads the thread's own sum first. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void steps_read_first(const float *in, int n, float *out)
{
    __shared__ int s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = (int)in[i] << 25;
    __syncthreads();
    for (int k = 1; k < blockDim.x; k <<= 1) {
        int v = s[t];
        if (t >= k)
            v += s[t - k];
        __syncthreads();
        s[t] = v;
        __syncthreads();
    }
    out[i] = (float)(s[t] >> 20) + s[SIZE - 1 - t] % 1000;
}

/* Sums of floats depend on their order, and 0 added to -0 is 0. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void steps_of_floats(const float *in, int n, float *out)
{
    __shared__ float s[SIZE], u[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = in[i] == 0 ? -0.0f : in[i] / 3 - 1.7f;
    u[t] = t < 3 ? -0.0f : in[i] / 0.7f;
    __syncthreads();
    for (int k = 1; k < SIZE; k *= 2) {
        const float v = t >= k ? s[t - k] : 0.f;
        __syncthreads();
        s[t] = s[t] + v;
        __syncthreads();
    }
    for (unsigned int k = 1; k < SIZE; k *= 2) {
        float v;
        if (t >= k)
            v = u[t - k] + u[t];
        __syncthreads();
        if (t >= k)
            u[t] = v;
        __syncthreads();
    }
    out[i] = s[t] + 1 / (u[t] + (t < 3) * 1e-30f) + (1 / u[0] < 0);
}

__device__ void add_up(long long *values, int t)
{
    for (int k = 1; k < SIZE; k *= 2) {
        __syncthreads();
        long long v = 0;
        if (t >= k)
            v = values[t - k];
        __syncthreads();
        values[t] += v;
    }
    __syncthreads();
}

/* A function takes the steps, with a variable of the kernel, on a part of the array. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void steps_elsewhere(const float *in, int n, float *out)
{
    __shared__ long long s[SIZE];
    __shared__ double d[SIZE];
    __shared__ unsigned char b[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, k;
    double other = 0;
    s[t] = (long long)(in[i] * 8) << 40;
    d[t] = in[i] / 3;
    b[t] = (unsigned char)(in[i] * 9);
    add_up(s, t);
    for (k = 1; k < SIZE; k *= 2) {
        if (t >= k)
            other = d[t - k];
        __syncthreads();
        if (t >= k)
            d[t] += other;
        __syncthreads();
    }
    for (int j = 1; j <= 8; j *= 2) {
        unsigned char v = t >= j ? b[t - j] : 0;
        __syncthreads();
        b[t] += v;
        __syncthreads();
    }
    out[i] = (float)(s[t] >> 42) + (float)d[t] + b[t] + k;
}

/* Each thread finds the least and the greatest of the numbers up to its own, of which some are negative. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void steps_of_extremes(const float *in, int n, float *out)
{
    __shared__ int s[SIZE], u[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = (int)(in[i] * 8) - 50;
    u[t] = 50 - s[t];
    __syncthreads();
    for (int k = 1; k < SIZE; k *= 2) {
        int v = s[t];
        if (t >= k)
            v = max(v, s[t - k]);
        __syncthreads();
        s[t] = v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? min(u[t], u[t - k]) : u[t];
        __syncthreads();
        u[t] = v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] = max(s[t], v);
        __syncthreads();
    }
    out[i] = s[t] * 1000.0f + u[t];
}

/* Sums by a tree. The second loop begins with the distance that the first one ends with. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void tree_steps(const float *in, int n, float *out)
{
    __shared__ float s[128], total;
    __shared__ int u[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, by = 1;
    s[t] = in[i] / 3 - 1;
    if (t < 32)
        s[t + 96] = in[i] / 0.9f;
    if (t < 64)
        u[t] = (int)in[i] << 26 | t;
    for (int d = 64; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int low = by * (2 * t + 1) - 1, high = by * (2 * t + 2) - 1;
            s[high] += s[low];
        }
        by *= 2;
    }
    if (t == 0) {
        total = s[127];
        s[127] = 0;
    }
    for (int d = 1; d < 128; d *= 2) {
        by >>= 1;
        __syncthreads();
        if (t < d) {
            int low = by * (2 * t + 1) - 1, high = by * (2 * t + 2) - 1;
            float v = s[low];
            s[low] = s[high];
            s[high] += v;
        }
    }
    for (int k = 1; k < 64; k *= 2) {
        __syncthreads();
        if ((t + 1) % (2 * k) == 0 && t < 64)
            u[t] += u[t - k];
    }
    for (int k = 32; k > 0; k /= 2) {
        __syncthreads();
        int j = (t + 1) * k * 2 - 1;
        if (j < 64) {
            int v = u[j - k];
            u[j - k] = u[j];
            u[j] = v + u[j];
        }
    }
    __syncthreads();
    out[i] = s[t] + s[127 - t] + total * by + u[t % 64] % 1000;
}

#define GAPS(i) ((i) + ((i) >> 4))

/* One unused element follows each group of 16, and the last sum is not set to 0 before the second loop. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) shared(4 * GAPS(128)) in(in[n])out(out[n])
__global__ void tree_with_gaps(const float *in, int n, float *out)
{
    extern __shared__ float s[];
    __shared__ int u[GAPS(128)];
    __shared__ int total;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, by = 1;
    for (int k = t; k < GAPS(128); k += SIZE) {
        s[k] = in[i] / 3 - 1;
        u[k] = (int)in[i] << 26 | k;
    }
    for (int d = 64; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int low = by * (2 * t + 1) - 1, high = by * (2 * t + 2) - 1;
            u[GAPS(high)] += u[GAPS(low)];
            low += low >> 4;
            high += high >> 4;
        }
        by *= 2;
    }
    __syncthreads();
    if (t == 0) {
        total = u[GAPS(127)];
        u[GAPS(127)] = n / 7;
    }
    for (int d = 1; d < 128; d *= 2) {
        by /= 2;
        __syncthreads();
        if (t < d) {
            int low = by * (2 * t + 1) - 1, high = by * (2 * t + 2) - 1;
            low = GAPS(low);
            high = GAPS(high);
            int v = u[low];
            u[low] = u[high];
            u[high] += v;
        }
    }
    for (int k = 1; k < 128; k *= 2) {
        __syncthreads();
        int high = 2 * k * (t + 1) - 1;
        if (high < 128)
            s[GAPS(high)] += s[GAPS(high - k)];
    }
    __syncthreads();
    if (t == 95)
        s[GAPS(127)] = -0.0f;
    for (int k = 64; k > 0; k >>= 1) {
        __syncthreads();
        int high = 2 * k * (t + 1) - 1;
        if (high < 128) {
            float v = s[GAPS(high - k)];
            s[GAPS(high - k)] = s[GAPS(high)];
            s[GAPS(high)] += v;
        }
    }
    __syncthreads();
    out[i] = s[GAPS(t)] + 1 / s[GAPS(127 - t)] + u[GAPS(t)] % 1000 + u[GAPS(127 - t)] % 100 + total % 100;
}

/* Sums of parts grow to parts of twice the length, and are then added to the parts after them. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void tree_spread(const float *in, int n, float *out)
{
    __shared__ float s[128], f[4];
    __shared__ int u[64];
    __shared__ short b[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = in[i] == 0 ? -0.0f : in[i] / 3 - 1;
    if (t < 32) {
        s[t + 96] = t < 8 ? -0.0f : in[i] / 0.9f;
        b[t] = (short)(in[i] * 99);
    }
    if (t < 64)
        u[t] = (int)in[i] << 26 | t;
    if (t < 4)
        f[t] = in[i];
    for (int k = 1; k <= 64; k *= 2) {
        __syncthreads();
        int at = 2 * k * (t + 1) - 1;
        if (at < 128)
            s[at] += s[at - k];
    }
    for (int k = 32; k > 0; k /= 2) {
        __syncthreads();
        int at = 2 * k * (t + 1) - 1;
        if (at + k < 128)
            s[at + k] += s[at];
    }
    for (int k = 1; k <= 32; k *= 2) {
        __syncthreads();
        int at = 2 * k * (t + 1) - 1;
        if (at < 64)
            u[at] += u[at - k];
    }
    for (int k = 16; k > 0; k /= 2) {
        __syncthreads();
        int at = 2 * k * (t + 1) - 1;
        if (at + k < 64)
            u[at + k] += u[at];
    }
    for (int k = 1; k <= 16; k *= 2) {
        __syncthreads();
        int at = 2 * k * (t + 1) - 1;
        if (at < 32)
            b[at] = max(b[at], b[at - k]);
    }
    for (int k = 8; k > 0; k /= 2) {
        __syncthreads();
        int at = 2 * k * (t + 1) - 1;
        if (at + k < 32)
            b[at + k] = max(b[at + k], b[at]);
    }
    __syncthreads();
    out[i] = s[t] + 1 / (s[127 - t] + 1e-30f) + u[t % 64] % 1000 + f[t % 4] + b[t % 32];
}

/* Between the loops of a tree, other elements are read or changed, or the loop around them ends. Values of the last one
 * have another type, so that neither of its loops is replaced. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void tree_interrupted(const float *in, int n, float *out)
{
    __shared__ int s[64], u[64], w[64], x[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, seen = 0;
    if (t < 64)
        s[t] = u[t] = w[t] = x[t] = (int)(in[i] * 8) - t;
    for (int k = 1; k < 64; k *= 2) {
        __syncthreads();
        if ((t + 1) % (2 * k) == 0 && t < 64)
            s[t] += s[t - k];
    }
    __syncthreads();
    if (t == 0)
        seen = s[31];
    for (int k = 32; k > 0; k /= 2) {
        __syncthreads();
        int j = (t + 1) * k * 2 - 1;
        if (j < 64) {
            int v = s[j - k];
            s[j - k] = s[j];
            s[j] += v;
        }
    }
    for (int k = 1; k < 64; k *= 2) {
        __syncthreads();
        if ((t + 1) % (2 * k) == 0 && t < 64)
            u[t] += u[t - k];
    }
    int *other = u;
    if (t == 0)
        other[5] = 3;
    for (int k = 32; k > 0; k /= 2) {
        __syncthreads();
        int j = (t + 1) * k * 2 - 1;
        if (j < 64) {
            int v = u[j - k];
            u[j - k] = u[j];
            u[j] += v;
        }
    }
    for (int again = 0; again < 2; again++) {
        for (int k = 1; k < 64; k *= 2) {
            __syncthreads();
            if ((t + 1) % (2 * k) == 0 && t < 64)
                w[t] += w[t - k];
        }
        if (again == 1)
            break;
        for (int k = 32; k > 0; k /= 2) {
            __syncthreads();
            int j = (t + 1) * k * 2 - 1;
            if (j < 64) {
                int v = w[j - k];
                w[j - k] = w[j];
                w[j] += v;
            }
        }
    }
    for (int k = 1; k < 64; k *= 2) {
        __syncthreads();
        if ((t + 1) % (2 * k) == 0 && t < 64)
            x[t] += x[t - k];
    }
    for (int k = 32; k > 0; k /= 2) {
        __syncthreads();
        int j = (t + 1) * k * 2 - 1;
        if (j < 64) {
            float v = x[j - k];
            x[j - k] = x[j];
            x[j] += v;
        }
    }
    __syncthreads();
    out[i] = s[t % 64] % 1000 + u[t % 64] % 1000 + w[t % 64] % 1000 + x[t % 64] % 1000 + seen % 100;
}

/* Elements before the first sum are 0, or other numbers. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void steps_behind_others(const float *in, int n, float *out)
{
    __shared__ int s[2 * SIZE], u[2 * SIZE];
    __shared__ float f[2 * SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = 0;
    u[t] = in[i] > 17;
    f[t] = 0;
    s[t + SIZE] = (int)(in[i] * 8) - t;
    u[t + SIZE] = (int)(in[i] * 3) - t;
    f[t + SIZE] = t < 5 ? -0.0f : in[i] / 3;
    for (int k = 1; k < SIZE; k *= 2) {
        __syncthreads();
        int v = s[t + SIZE] + s[t + SIZE - k];
        __syncthreads();
        s[t + SIZE] = v;
    }
    for (int k = 1; k < SIZE; k *= 2) {
        __syncthreads();
        int v = u[t + SIZE] + u[t + SIZE - k];
        __syncthreads();
        u[t + SIZE] = v;
    }
    for (int k = 1; k < SIZE; k *= 2) {
        __syncthreads();
        float v = f[t + SIZE - k];
        __syncthreads();
        f[t + SIZE] += v;
    }
    __syncthreads();
    out[i] = s[t + SIZE] + u[2 * SIZE - 1 - t] % 1000 + 1 / (f[t + SIZE] + 1e-30f) + (1 / f[SIZE] < 0) + s[t] + f[t];
}

/* Threads compute results that no known algorithm gives. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void no_steps(const float *in, int n, float *out)
{
    __shared__ int s[SIZE], u[SIZE + 1];
    __shared__ volatile int shown[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, seen = 0;
    s[t] = u[t] = shown[t] = (int)(in[i] * 8);
    if (t == 0)
        u[SIZE] = 1;
    __syncthreads();
    for (int k = 1; k < SIZE; k *= 3) {
        int v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    for (int k = 2; k < SIZE; k *= 2) {
        int v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t > k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? s[t - k] : 1;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] -= v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v + v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? u[t - k] : 0;
        __syncthreads();
        u[t + 1] += v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        seen = t >= k ? s[t - k] : seen;
        __syncthreads();
        s[t] += u[t];
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? shown[t - k] : 0;
        __syncthreads();
        shown[t] += v;
        __syncthreads();
    }
    for (int k = 64; k > 0; k /= 2) {
        if (t < k && t + k < SIZE)
            u[t] += u[t + k];
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        if (t == 0)
            u[0] = u[0];
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2)
        __syncthreads();
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v;
        out[i] = v;
        __syncthreads();
    }
    out[i] = s[t] % 10000 + u[t] % 100 + shown[t] + seen % 100;
}

/* Later code uses values of the loop, the launch gives the number of steps, and threads go on without others. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void no_steps_alone(const float *in, int n, float *out)
{
    __shared__ int s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, v = 0, sum = 0;
    s[t] = (int)(in[i] * 8);
    __syncthreads();
    for (int k = 1; k < SIZE; k *= 2) {
        v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    for (int k = 1; k < n / 5; k *= 2) {
        int w = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += w;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int w = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += w, sum += w % 7;
        __syncthreads();
    }
    for (int again = 0, by = 2; again < 2; again++, by = 1) {
        for (int k = 1; k < SIZE; k *= 2) {
            int w = t >= k * by ? s[t - k * by] : 0;
            __syncthreads();
            s[t] += w;
            __syncthreads();
        }
    }
    out[i] = (float)(s[t] % 100000 + v % 1000 + sum);
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void no_steps_of_some(const float *in, int n, float *out)
{
    __shared__ int s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = (int)(in[i] * 8);
    out[i] = 0;
    if (t % 7 == 3)
        return;
    __syncthreads();
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    out[i] = s[t];
}

/* Sums have another type than the elements, so that the loops stay. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void steps_of_two_types(const float *in, int n, float *out)
{
    __shared__ int s[SIZE], u[SIZE];
    __shared__ bool b[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = (int)(in[i] * 8) + (1 << 24);
    u[t] = (int)(in[i] * 8) - 50;
    b[t] = in[i] > 12;
    __syncthreads();
    for (int k = 1; k < SIZE; k *= 2) {
        float v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int v = t >= k ? s[t - k] : 0.0f;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        int v = max(s[t], t >= k ? s[t - k] : 0u);
        __syncthreads();
        s[t] = v;
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        unsigned int v = t >= k ? u[t - k] : u[t], w = u[t];
        __syncthreads();
        u[t] = max(v, w);
        __syncthreads();
    }
    for (int k = 1; k < SIZE; k *= 2) {
        bool v = t >= k ? b[t - k] : 0;
        __syncthreads();
        b[t] += v;
        __syncthreads();
    }
    out[i] = s[t] % 100000 + u[t] + b[t] * 1000;
}
