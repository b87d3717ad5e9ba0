/* folds.cu - kernels for test_regions.c whose threads add up an array by a tree, spelled in several ways. All have n / 96
 * blocks of 96 threads. */
#define SIZE 96

/* Every second sum remains in each step: by a remainder, by a mask and by a product. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void fold_pairs(const float *in, int n, float *out)
{
    __shared__ float s[64], p[128];
    __shared__ int u[64];
    unsigned int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < 64) {
        s[t] = t < 9 ? -0.0f : in[i] / 3 - 1;
        u[t] = (int)in[i] << 26 | t;
    }
    p[t] = in[i] / 0.7f;
    if (t >= 64)
        p[t + 32] = in[i] / 7 - 2;
    __syncthreads();
    for (unsigned int k = 1; k < 64; k *= 2) {
        if (t % (2 * k) == 0 && t < 64)
            s[t] += s[t + k];
        __syncthreads();
    }
    for (unsigned int k = 1; k < 64; k <<= 1) {
        if ((t & (2 * k - 1)) == 0 && t < 64)
            u[t] = u[t] + u[t + k];
        __syncthreads();
    }
    for (int k = 1; k < 128; k *= 2) {
        int at = 2 * k * t;
        if (at < 128)
            p[at] += p[at + k];
        __syncthreads();
    }
    out[i] = s[t % 64] + (1 / s[1] < 0) + u[t % 64] % 1000 + p[t] + p[127 - t];
}

/* The threads find the least value and its place, under two conditions. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void fold_to_least(const float *in, int n, float *out)
{
    __shared__ float value[SIZE];
    __shared__ int where[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    value[t] = t == 40 ? -1 / 0.0f : t % 5 == 2 ? in[i] : 30 - in[i];
    where[t] = t;
    __syncthreads();
    for (int k = 64; k > 0; k /= 2) {
        if (t < k && t + k < SIZE && value[t + k] < value[t]) {
            value[t] = value[t + k];
            where[t] = where[t + k];
        }
        __syncthreads();
    }
    if (t > 0 && in[i] > 14 || t == 5)
        where[t] += 100;
    if (t > 50 && (in[i] < 5 || in[i - 1] > 9)) {
        if (in[i] > 20)
            where[t] = 7;
        else
            where[t] -= 1000;
    }
    __syncthreads();
    if (n > 0)
        if (t > 7 && in[i] > 3)
            value[t] = 9;
    __syncthreads();
    out[i] = (value[t] > -1e30f ? value[t] : 5) + where[t] * 100 + where[0];
}

__device__ void fold_warp(volatile float *s, int t)
{
    float v = s[t];
    for (int k = 16; k > 0; k /= 2) {
        v += s[t + k];
        __syncwarp();
        s[t] = v;
        __syncwarp();
    }
}

template <class T, unsigned int threads> __device__ void fold_block(volatile T *s, T v, const unsigned int t)
{
    s[t] = v;
    __syncthreads();
    if (threads >= 256) {
        if (t < 128)
            s[t] = v = v + s[t + 128];
        __syncthreads();
    }
    if (threads >= 64) {
        if (t < 32)
            s[t] = v = v + s[t + 32] + s[t + 64];
        __syncthreads();
    }
    if (t < 32)
        fold_warp(s, t);
    __syncthreads();
}

/* A warp takes the last steps through a volatile pointer, with numbers of a template. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
#pragma cf instances(f : float, 96)
template <class T, unsigned int threads> __global__ void fold_by_function(const T *in, int n, T *out)
{
    __shared__ float s[2 * SIZE];
    unsigned int t = threadIdx.x, i = blockIdx.x * threads + t;
    s[t + SIZE] = in[i];
    fold_block<float, threads>(s, in[i] / 3, t);
    out[i] = s[0] + s[t];
}

__device__ unsigned int steps_up_to(unsigned int own, volatile unsigned int *s, unsigned int count)
{
    unsigned int at = 2 * threadIdx.x - threadIdx.x % count;
    s[at] = 0;
    at += count;
    s[at] = own;
    for (unsigned int k = 1; k < count; k <<= 1) {
        __syncthreads();
        unsigned int v = s[at] + s[at - k];
        __syncthreads();
        s[at] = v;
    }
    return s[at];
}

/* A function takes the steps with an index of each thread, which changes before them. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void steps_by_function(const float *in, int n, float *out)
{
    __shared__ unsigned int s[2 * SIZE], u[2 * SIZE];
    unsigned int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, own = (unsigned int)in[i] << 20 | t;
    unsigned int sum = steps_up_to(own, s, SIZE);
    unsigned int at = t + 3;
    u[t] = u[t + SIZE] = own >> 9;
    if (t % 4 == 1)
        at = t + SIZE + 2;
    for (unsigned int k = 1; k < SIZE; k <<= 1) {
        __syncthreads();
        unsigned int v = at >= k ? u[at - k] : 0;
        __syncthreads();
        u[at] += v;
    }
    __syncthreads();
    out[i] = (float)(sum % 100000) + s[2 * SIZE - 1 - t] % 1000 + u[t] % 1000 + u[t + SIZE] % 100;
}
