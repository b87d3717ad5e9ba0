/* places.cu - kernels for test_regions.c whose variables are declared elsewhere than usual: __shared__ ones in loops,
 * counters before their loops. A name that ends in _turns is of a kernel without regions. All have n / 96 blocks of 96
 * threads and one element to a thread. */
#define SIZE 96

namespace own
{
__device__ float log10f(float x)
{
    return x + threadIdx.x / 64;
}
} /* namespace own */

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void tile_in_loop(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float sum = 0;
    for (int first = 0; first < n; first += SIZE) {
        __shared__ float tile[SIZE], least[2];
        tile[t] = in[first + t];
        if (t < 2) {
            __shared__ float seen[2];
            if (first == 0)
                seen[t] = 0;
            seen[t] += 1;
            least[t] = seen[t];
        }
        __syncthreads();
        for (int k = 0; k < 8; k++)
            sum += tile[(t + k) % SIZE];
        sum += least[t % 2];
        __syncthreads();
    }
    out[i] = sum;
}

/* Two variables have the same name. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void two_tiles_turns(const float *in, int n, float *out)
{
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        __shared__ float tile[SIZE];
        tile[t] = in[i] + k;
        __syncthreads();
        sum += tile[95 - t];
        __syncthreads();
    }
    for (int k = 0; k < 3; k++) {
        __shared__ double tile[SIZE];
        tile[t] = in[i] + k;
        __syncthreads();
        sum += tile[95 - t] * sizeof tile;
        __syncthreads();
    }
    out[i] = sum;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void tile_of_local_size_turns(const float *in, int n, float *out)
{
    const int size = SIZE;
    int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        __shared__ float tile[size];
        tile[t] = in[i] + k;
        __syncthreads();
        sum += tile[size - 1 - t];
        __syncthreads();
    }
    out[i] = sum;
}

/* Several loops have a counter that is declared before them, and only some threads run some of the loops. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void counters(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i, j, at = blockIdx.x * SIZE + threadIdx.x;
    float sum = 0;
    s[threadIdx.x] = in[at];
    __syncthreads();
    for (i = 0; i < 5; i++) {
        if (threadIdx.x > i)
            for (j = threadIdx.x % 3; j < i; j++)
                sum += s[j] + s[threadIdx.x - i];
        __syncthreads();
        s[threadIdx.x] += sum;
        __syncthreads();
    }
    if (threadIdx.x == 3) {
        for (i = threadIdx.x; i < SIZE; i += 2)
            sum += s[i];
        for (i = 1; i < 4; i++)
            for (j = i; j < 4; j++)
                sum += i * j;
    }
    for (i = SIZE; i > 0; i -= 32)
        sum += s[i - 1];
    out[at] = sum;
}

/* The counter is read after its loop. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void last_of_counter_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i, at = blockIdx.x * SIZE + threadIdx.x;
    float sum = in[at];
    s[threadIdx.x] = sum;
    for (i = 0; i < 3; i++) {
        __syncthreads();
        sum += s[(threadIdx.x + i) % SIZE];
    }
    for (i = 0; i < threadIdx.x % 5; i++)
        sum += s[i];
    out[at] = sum + i;
}

/* All threads find the same last step of the loop. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void steps_of_all(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int last = 0, step, t = threadIdx.x, at = blockIdx.x * SIZE + t;
    s[t] = in[at];
    for (step = 2; step <= SIZE; step = 2 * step) {
        if (n / 8 >= step)
            last = step;
    }
    __syncthreads();
    for (step = 2; step <= last; step = 2 * step) {
        if ((t + 1) % step == 0)
            s[t] += s[t - step / 2];
        __syncthreads();
    }
    out[at] = s[t] + last;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void steps_of_each_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int last = 0, step, t = threadIdx.x, at = blockIdx.x * SIZE + t;
    s[t] = in[at];
    for (step = 2; step <= SIZE; step = 2 * step)
        if (n / 8 + t / 200 >= step)
            last = step;
    __syncthreads();
    for (step = 2; step <= last; step = 2 * step) {
        if ((t + 1) % step == 0)
            s[t] += s[t - step / 2];
        __syncthreads();
    }
    out[at] = s[t] + last;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void limit_by_logarithm(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, at = blockIdx.x * SIZE + t;
    s[t] = in[at];
    __syncthreads();
    for (int i = 1; i <= log2f(32); i++) {
        int step = exp2f(i);
        if (t % step == 0)
            s[t] += s[t + step / 2];
        __syncthreads();
    }
    out[at] = s[t];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void limit_by_own_logarithm_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, at = blockIdx.x * SIZE + t;
    s[t] = in[at];
    for (int i = 1; i <= own::log10f(3) - t / 64; i++) {
        __syncthreads();
        if (t < 30)
            s[t] += s[t + 32];
    }
    out[at] = s[t];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void counts_in_parentheses(const float *in, int n, float *out)
{
    __shared__ int counts[2][SIZE], most;
    int t = threadIdx.x, at = blockIdx.x * SIZE + t;
    counts[0][t] = counts[1][t] = most = 0;
    __syncthreads();
    atomicAdd(&(counts[t % 2][(int)in[at] % SIZE]), t);
    atomicMax(&((most)), t + (int)in[at]);
    __syncthreads();
    out[at] = counts[0][t] + 1000 * counts[1][t] + most;
}
