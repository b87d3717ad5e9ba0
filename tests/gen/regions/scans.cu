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

/* The steps are those of a function, with a variable of the kernel, and of part of the array. */
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

/* The least and the greatest of the numbers up to each, of which some are negative. */
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

/* Results that none of these steps give. */
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

/* Values that live on, steps of the launch, and threads that others do not wait for. */
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

/* Sums of another type than that of the elements: the loops remain. */
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
