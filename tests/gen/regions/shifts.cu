/* shifts.cu - kernels for test_regions.c in which all lanes of a warp shuffle by the same distance, and others that are
 * alike. All have n / 96 blocks of 96 threads and one element to a thread. */
#include <cuda_fp16.h>

#define SIZE 96
#define ALL 0xffffffffu

/* Distances are powers of two, in loops whose steps are written out. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
#pragma cf instances(int : int; float : float; double : double; long : unsigned long long)
template <typename T> __global__ void moved(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T v = (T)in[i], sum = v;
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_down_sync(ALL, sum, by);
    for (int by = 1; by < warpSize; by <<= 1)
        v += __shfl_up_sync(ALL, v, by) * 2;
    for (unsigned int mask = 16; mask > 0; mask >>= 1)
        v -= __shfl_xor_sync(ALL, v + sum, mask);
    v += __shfl_sync(ALL, v, 0) - __shfl_sync(ALL, sum, 31);
    out[i] = (float)((long long)(v + sum * 3) & 0xffff);
}

/* 16-bit floats are shuffled in their own type. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void moved_halves(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half v = __float2half(in[i]);
    for (int by = 8; by > 0; by /= 2)
        v = __hadd(v, __shfl_down_sync(ALL, v, by));
    __half2 w = __half2half2(v);
    for (int by = 1; by < 32; by *= 2)
        w = __hadd2(w, __shfl_xor_sync(ALL, w, by));
    out[i] = __half2float(v) + __low2float(w);
}

/* Other distances: in loops that are not written out, from the launch, beyond a warp, below 0, in parts of warps. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void moved_by_any(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, by = n % 7;
    float v = in[i], w = v;
    for (int k = 0; k < 35; k++)
        v += __shfl_up_sync(ALL, v, k) + __shfl_xor_sync(ALL, w, k) - __shfl_down_sync(ALL, w, k + 1);
    w = __shfl_down_sync(ALL, w, by) + __shfl_sync(ALL, v, by + 40) * 2 + __shfl_sync(ALL, v, -by);
    for (int k = 16; k > 0; k /= 2)
        w += __shfl_down_sync(ALL, w, k, 16) - __shfl_up_sync(ALL, v, k, 8) + __shfl_xor_sync(ALL, v, k, 32);
    for (int k = 1; k < 16; k *= 2) {
        w -= __shfl_xor_sync(ALL, w, -k) + __shfl_sync(ALL, w, k, 4);
        by++;
        w += __shfl_down_sync(ALL, w, by / 2);
    }
    out[i] = (float)((int)(v / 1024 + w) % 65536);
}

/* Distances and widths have a value only under a condition. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void moved_by_none(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, zero = n - n;
    float w = in[i];
    for (int k = 0; k < i / 32; k++)
        w += __shfl_down_sync(ALL, w, k) / 2;
    if (i < zero)
        w += __shfl_down_sync(ALL, w, 32 / zero) + __shfl_down_sync(ALL, w, 1, zero) + __shfl_xor_sync(ALL, w, 1);
    out[i] = w;
}

/* Only some lanes add to some sums, and distances differ between lanes or are read from memory. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void scanned(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float sum = in[i];
    for (int by = 1; by < 32; by *= 2) {
        float other = __shfl_up_sync(ALL, sum, by);
        if (lane >= by)
            sum += other;
    }
    float last = __shfl_sync(ALL, sum, 31), own = __shfl_down_sync(ALL, sum, lane & 3);
    float far = __shfl_xor_sync(ALL, sum, (int)in[n / 2]);
    if (i / 32 % 4 != 1) {
        for (int by = 16; by > 0; by >>= 1)
            last = fmaxf(last, __shfl_xor_sync(ALL, last - own, by));
        far += __shfl_up_sync(ALL, last, 1);
    }
    out[i] = sum + last * 2 + own * 3 + far;
}

/* Lanes that have ended give 0 as their value. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n])out(out[n])
__global__ void moved_of_some(const float *in, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
    out[i] = -1;
    if (i % 32 > 20 && i > n / 2)
        return;
    for (int by = 16; by > 0; by /= 2)
        v += __shfl_down_sync(ALL, v, by);
    v += __shfl_xor_sync(ALL, v, 1) * 2 + __shfl_up_sync(ALL, v, 2);
    out[i] = v;
}
