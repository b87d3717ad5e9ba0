// sums.cu - kernels that add to arrays of integers by atomic functions, for test_sums.c and test_loops.py.
#define ADDS grid(n) block(64) in(x[n]) inout(counts[bins])

// Each of these kernels adds x[i] / 8 for element i to counts[x[i] % bins]; x[i] is at least 0.

#pragma cf kernel ADDS
__global__ void element(const int *x, int *counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[x[i] % bins], x[i] / 8);
}

#pragma cf kernel ADDS
__global__ void pointer(const int *x, int *counts, int bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(counts + x[i] % bins, x[i] / 8);
}

#pragma cf kernel ADDS
__global__ void two_terms(const int *x, int *__restrict__ counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    short first = (short)(x[i] % bins), second = first / 2;
    if (x[i] % 2)
        atomicAdd(counts + second + first - second, x[i] / 8);
    else
        atomicAdd(counts + first + 0, x[i] / 8);
}

#pragma cf kernel ADDS
__global__ void halves(const int *x, int *const __restrict__ counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&counts[x[i] % bins], x[i] / 16);
        if (x[i] > 16)
            atomicAdd(&(counts[x[i] % bins]), x[i] / 8 - x[i] / 16);
        else
            atomicAdd(&counts[x[i] % bins], x[i] / 8 - x[i] / 16);
    }
}

// The value is a float of at most 2^24. The kernel first adds to counts of the block.
#pragma cf kernel ADDS
__global__ void blocks(const int *x, unsigned int *counts, int bins, int n)
{
    __shared__ float own[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    own[t] = i < n ? x[i] / 8 : 0;
    __syncthreads();
    if (t == 0)
        for (int k = 0; k < 64 && i + k < n; k++)
            atomicAdd(&counts[x[i + k] % bins], own[k]);
    __syncthreads();
}

#pragma cf kernel ADDS
__global__ void wide(const int *x, unsigned long long *counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[x[i] % bins], x[i] / 8);
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(counts[bins / 2][2]) check(bins % 2 == 0)
__global__ void rows(const int *x, int *counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[x[i] % bins / 2 * 2 + x[i] % bins % 2], x[i] / 8);
}

// Kernels that also use the array in other ways.

#pragma cf kernel ADDS
__global__ void value_used(const int *x, int *counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int before = atomicAdd(&counts[x[i] % bins], x[i] / 8);
        if (before == 0x7fffffff)
            __trap();
    }
}

#pragma cf kernel ADDS
__global__ void condition_used(const int *x, int *counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; atomicAdd(&counts[x[i] % bins], k ? 0 : x[i] / 8), k < 1;)
            k++;
}

__device__ void add(int *counts, int bin, int value)
{
    atomicAdd(&counts[bin], value);
}

#pragma cf kernel ADDS
__global__ void passed_on(const int *x, int *counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] % 2)
        atomicAdd(&counts[x[i] % bins], x[i] / 8);
    else if (i < n)
        add(counts, x[i] % bins, x[i] / 8);
}

#pragma cf kernel ADDS
__global__ void read_later(const int *x, int *counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[x[i] % bins], x[i] / 8);
    if (i < n && counts[x[i] % bins] == 0x7fffffff)
        __trap();
}

#pragma cf kernel ADDS
__global__ void hidden(const int *x, int *counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *all = counts;
    {
        int counts[2] = {0, 0};
        atomicAdd(&counts[1], 1);
        if (i < n && counts[1] == 1)
            atomicAdd(&all[x[i] % bins], x[i] / 8);
    }
}

#pragma cf kernel ADDS
__global__ void subtracted(const int *x, int *counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&counts[x[i] % bins], x[i] / 8 + 1);
        atomicSub(&counts[x[i] % bins], 1);
    }
}

// The order of these sums matters.
#pragma cf kernel ADDS
__global__ void real(const int *x, double *counts, int bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[x[i] % bins], x[i] / 8);
}

// One CPU thread runs a block, so that atomic functions on the block's own array become plain operations.
#pragma cf kernel grid(n) block(64) in(x[n]) inout(counts[bins])
__global__ void spelled(const int *x, double *counts, int bins, int n)
{
    __shared__ int own[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    own[t] = 0;
    __syncthreads();
    if (i < n) {
        atomicAdd(&own[t / 2], 1);
        atomicAdd(&(own[t / 2]), x[i] % 8 / 2);
        atomicAdd(own + t / 2, x[i] % 8 - x[i] % 8 / 2);
    }
    __syncthreads();
    if (i < n)
        atomicAdd(&counts[x[i] % bins], x[i] / 8 + 0 * own[t / 2]);
    if (t == 0)
        for (int k = 0; k < 64 && i + k < n; k += 2)
            if (own[k / 2] != 1 + x[i + k] % 8 + (i + k + 1 < n ? 1 + x[i + k + 1] % 8 : 0))
                atomicAdd(&counts[0], 1000000);
}

// The threads divide the elements among themselves, and take each step together.
#pragma cf kernel blocks(3) block(64) in(x[n]) inout(counts[bins])
__global__ void shared_out(const int *x, unsigned int *counts, int bins, int n)
{
    __shared__ unsigned int own[4096];
    for (unsigned int bin = threadIdx.x; bin < 4096; bin += blockDim.x)
        own[bin] = 0;
    __syncthreads();
    unsigned int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned int i = first; i < n; i += blockDim.x * gridDim.x)
        if (x[i] % bins < 4096)
            atomicAdd(&(own[x[i] % bins]), x[i] / 8);
        else
            atomicAdd(&counts[x[i] % bins], x[i] / 8);
    __syncthreads();
    for (int bin = threadIdx.x; bin < min(bins, 4096); bin += blockDim.x)
        atomicAdd(&(counts[bin]), own[bin]);
}

// Pointers into the block's own array, also as parameters, and pointers that may lead into the caller's array.
__device__ void add_to(unsigned int *bins, int bin, unsigned int by)
{
    atomicAdd(bins + bin, by);
}

__device__ void add_twice(unsigned int *bins, int bin, unsigned int by)
{
    add_to(bins, bin, by / 2);
    add_to(&bins[bin], 0, by - by / 2);
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(counts[bins])
__global__ void own_pointers(const int *x, unsigned int *counts, int bins, int n)
{
    __shared__ unsigned int own[2 * 64][3];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, bin = i < n ? x[i] % bins : 0;
    unsigned int value = i < n ? x[i] / 8 : 0, *row = own[t], *second = &row[1], *third = second + 1;
    unsigned int *either = t % 2 ? own[t + 64] : counts + bin, *changed = own[t + 64];
    for (int k = 0; k < 3; k++)
        own[t][k] = own[t + 64][k] = 0;
    __syncthreads();
    if (t % 3 == 0)
        changed = counts + bin;
    add_twice(row, 0, value / 4);
    atomicAdd(second, value / 8);
    atomicAdd(&third[-1], value / 8);
    atomicAdd(third, value / 5);
    atomicAdd(either, value / 7);
    atomicAdd(changed, value / 9);
    __syncthreads();
    own[t][2] += (t % 2 ? value / 7 : 0) + (t % 3 ? value / 9 : 0) - own[t + 64][0];
    unsigned int sum = own[t][0] + own[t][1] + own[t][2];
    unsigned int left = value - value / 4 - value / 8 * 2 - value / 5 - value / 7 - value / 9;
    add_to(counts, bin, sum + left + (t % 2 ? value / 7 : 0) + (t % 3 ? value / 9 : 0));
}

// Indices as macros expand to them, in a type that has a short name.
#define PRODUCT(a, b) ((a) * (b))
#define SUM(a, b) ((a) + (b))
typedef unsigned int uint;

#pragma cf kernel blocks(3) block(64) in(x[n]) inout(counts[bins])
__global__ void by_macros(const int *x, uint *counts, int bins, uint n)
{
    __shared__ uint own[2 * 32];
    own[(threadIdx.x)] = 0;
    __syncthreads();
    for (uint i = SUM(PRODUCT(blockIdx.x, blockDim.x), threadIdx.x); i < n; i += PRODUCT(blockDim.x, gridDim.x)) {
        uint bin = (x[(i)] % bins);
        if (bin < 64)
            atomicAdd(&own[(bin)], x[i] / 8);
        else
            atomicAdd(&counts[bin], x[i] / 8);
    }
    __syncthreads();
    if (threadIdx.x < bins)
        atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}

// The first operand is not the array: the threads of all blocks add to elements of the caller's array.
#pragma cf kernel grid(n) block(64) in(x[n]) inout(counts[bins])
__global__ void number_in_front(const int *x, int *counts, int bins, int n)
{
    __shared__ int first;
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == 0)
        first = i < n ? x[i] % bins : 0;
    __syncthreads();
    if (i < n)
        atomicAdd(first + (x[i] % bins - first + counts), x[i] / 8);
}

#pragma cf kernel grid(n) block(64) in(x[n]) inout(counts[bins])
__global__ void real_behind(const int *x, double *counts, int bins, int n)
{
    __shared__ double own[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    own[t] = i < n ? x[i] / 8 : 0;
    __syncthreads();
    for (int k = 0; k < 4; k++)
        if (i < n && x[i] % 4 == k)
            atomicAdd(n + counts + (x[i] % bins - n), own[t]);
}

// `seen` may be the same array as `counts`.
#pragma cf kernel blocks(1) block(64) in(seen[64]) inout(counts[64]) out(out[64])
__global__ void seen_beside(const int *seen, int *counts, int *out)
{
    atomicAdd(&counts[threadIdx.x / 2], 1);
    __syncthreads();
    out[threadIdx.x] = seen[threadIdx.x / 2];
}
