/* Steps of warps for test_loops.py. Results of the kernels up to the next comment depend on the order of the threads, and
 * -Wlockstep warns of them. */
#define LOAD                     \
    __shared__ int v[64];        \
    int t = threadIdx.x;         \
    int i = blockIdx.x * 64 + t; \
    v[t] = x[i];                 \
    __syncthreads()

__device__ void fold(int *a, int lane)
{
    a[lane] += a[lane + 16];
    __syncwarp();
    a[lane] += a[lane + 8];
}

__device__ void add(int *a, int lane)
{
    for (int k = 1; k < 9; k++)
        a[lane] += a[lane + k];
}
template <int N> __device__ void fold_of(int *a, int lane)
{
    if (N >= 32) {
        a[lane] += a[lane + N / 2];
        __syncwarp();
    }
    a[lane] += a[lane + 8];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void two_declarations(const int *x, int *y, int n)
{
    __shared__ int v[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    v[t] = x[i];
    __syncthreads();
    if (t < 32) {
        v[t] += v[t + 32];
        __syncwarp();
        v[t] += v[t + 16];
        __syncwarp();
        v[t] += v[t + 8];
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void lane_name(const int *x, int *y, int n)
{
    __shared__ int v[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    const int tid = threadIdx.x;
    v[tid] = x[i];
    __syncthreads();
    if (tid < 32) {
        v[tid] += v[tid + 32];
        __syncwarp();
        v[tid] += v[tid + 16];
        __syncwarp();
        v[tid] += v[tid + 8];
    }
    __syncthreads();
    y[i] = v[tid];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void modulo(const int *x, int *y, int n)
{
    __shared__ int v[96];
    int i = blockIdx.x * 64 + threadIdx.x;
    v[threadIdx.x] = x[i];
    __syncthreads();
    const unsigned int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        v[lane] += v[lane + 16];
        __syncwarp();
        v[lane] += v[lane + 8];
    }
    __syncthreads();
    y[i] = v[threadIdx.x];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void plain_index(const int *x, int *y, int n)
{
    __shared__ int v[96];
    int i = blockIdx.x * 64 + threadIdx.x;
    v[threadIdx.x] = x[i];
    __syncthreads();
    if (threadIdx.x < 32) {
        v[threadIdx.x] += v[threadIdx.x + 16];
    }
    __syncthreads();
    y[i] = v[threadIdx.x];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void scan_in_loop(const int *x, int *y, int n)
{
    LOAD;
    int lane = t & 31;
    for (int o = 1; o < 32; o <<= 1) {
        if (lane >= o)
            v[t] += v[t - o];
        __syncwarp();
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void scan_unrolled(const int *x, int *y, int n)
{
    LOAD;
    int lane = t & 31;
    if (lane >= 1)
        v[t] += v[t - 1];
    __syncwarp();
    if (lane >= 2)
        v[t] += v[t - 2];
    __syncwarp();
    if (lane >= 4)
        v[t] += v[t - 4];
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void narrow_guard(const int *x, int *y, int n)
{
    LOAD;
    int lane = t & 31;
    if (lane < 16)
        v[t] += v[t + 8];
    __syncwarp();
    if (lane < 8)
        v[t] += v[t + 4];
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void warp_of_block(const int *x, int *y, int n)
{
    LOAD;
    int lane = t % 32, w = t / 32;
    if (w == 1) {
        v[w * 32 + lane] += v[w * 32 + (lane ^ 1)];
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void doubles(const int *x, int *y, int n)
{
    __shared__ double v[64];
    int t = threadIdx.x;
    v[t] = x[t];
    __syncthreads();
    if (t < 32) {
        v[t] += v[t + 16];
        __syncwarp();
        v[t] += v[t + 8];
    }
    __syncthreads();
    y[blockIdx.x * 64 + t] = (int)v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void volatile_floats(const int *x, int *y, int n)
{
    __shared__ volatile float v[64];
    int t = threadIdx.x;
    v[t] = x[t];
    __syncthreads();
    if (t < 32) {
        v[t] += v[t + 16];
        v[t] += v[t + 8];
    }
    __syncthreads();
    y[blockIdx.x * 64 + t] = (int)v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void two_arrays(const int *x, int *y, int n)
{
    LOAD;
    __shared__ int w[64];
    w[t] = 1;
    __syncthreads();
    if (t < 32) {
        v[t] += v[t + 16];
        w[t] += w[t + 16];
    }
    __syncthreads();
    y[i] = v[t] + w[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void in_function(const int *x, int *y, int n)
{
    LOAD;
    if (t < 32)
        fold(v, t);
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void in_template(const int *x, int *y, int n)
{
    LOAD;
    if (t < 32)
        fold_of<32>(v, t);
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void next_turn(const int *x, int *y, int n)
{
    __shared__ int v[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = 0;
    for (int k = 0; k < 5; k++) {
        v[t] = x[i] + k;
        __syncthreads();
        sum += v[63 - t];
    }
    y[i] = sum;
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void next_turn_while(const int *x, int *y, int n)
{
    __shared__ int v[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = 0, k = 0;
    while (k < 5) {
        v[t] = x[i] + k;
        __syncthreads();
        sum += v[(t + 1) % 64];
        k++;
    }
    y[i] = sum;
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void behind_bounds(const int *x, int *y, int n)
{
    __shared__ int v[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (i >= n)
        return;
    v[t] = x[i];
    __syncthreads();
    if (t < 32) {
        v[t] += v[t + 32];
        __syncwarp();
        v[t] += v[t + 16];
        __syncwarp();
        v[t] += v[t + 8];
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void distance_of_block(const int *x, int *y, int n)
{
    LOAD;
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < 32)
            v[t] += v[(t + s) & 63];
        __syncthreads();
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void by_pointer(const int *x, int *y, int n)
{
    LOAD;
    int *p = v + (t & 32);
    p[t & 31] += p[(t + 1) & 31];
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void matrix(const int *x, int *y, int n)
{
    __shared__ int m[2][32];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, w = t >> 5, lane = t & 31;
    m[w][lane] = x[i];
    __syncthreads();
    m[w][lane] += m[w][lane ^ 16];
    __syncthreads();
    y[i] = m[w][lane];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void rotate(const int *x, int *y, int n)
{
    LOAD;
    v[t] = v[(t + 1) % 64];
    __syncthreads();
    y[i] = v[t];
}

/* Right: no thread reads what another one writes, unless a barrier is between the two. */
#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void reads_waits_writes(const int *x, int *y, int n)
{
    LOAD;
    for (int o = 1; o < 64; o *= 2) {
        int other = t >= o ? v[t - o] : 0;
        __syncthreads();
        v[t] += other;
        __syncthreads();
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void pairs(const int *x, int *y, int n)
{
    LOAD;
    if (t < 32)
        v[2 * t] = v[2 * t + 1];
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void other_array(const int *x, int *y, int n)
{
    LOAD;
    __shared__ int w[64];
    w[t] = v[63 - t];
    __syncthreads();
    y[i] = w[t] + v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void one_thread(const int *x, int *y, int n)
{
    LOAD;
    if (t == 0)
        for (int k = 1; k < 64; k++)
            v[k] += v[k - 1];
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void one_lane_of_each(const int *x, int *y, int n)
{
    LOAD;
    if (t % 32 == 0)
        for (int k = 1; k < 32; k++)
            v[t + k] += v[t + k - 1];
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void halves(const int *x, int *y, int n)
{
    LOAD;
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            v[t] += v[t + s];
        __syncthreads();
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void interleaved(const int *x, int *y, int n)
{
    LOAD;
    for (int s = 1; s < 64; s *= 2) {
        if (t % (2 * s) == 0)
            v[t] += v[t + s];
        __syncthreads();
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void strided(const int *x, int *y, int n)
{
    LOAD;
    for (int s = 1; s < 64; s *= 2) {
        int k = 2 * s * t;
        if (k < 64)
            v[k] += v[k + s];
        __syncthreads();
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void two_rows(const int *x, int *y, int n)
{
    __shared__ int m[2][64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, from = 0;
    m[0][t] = x[i];
    __syncthreads();
    for (int o = 1; o < 64; o <<= 1) {
        m[1 - from][t] = m[from][t] + (t >= o ? m[from][t - o] : 0);
        from = 1 - from;
        __syncthreads();
    }
    y[i] = m[from][t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void own_element(const int *x, int *y, int n)
{
    LOAD;
    for (int k = 0; k < 3; k++) {
        v[t] += k;
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void turns_with_barriers(const int *x, int *y, int n)
{
    __shared__ int v[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = 0;
    for (int k = 0; k < 5; k++) {
        v[t] = x[i] + k;
        __syncthreads();
        sum += v[63 - t];
        __syncthreads();
    }
    y[i] = sum;
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void two_buffers(const int *x, int *y, int n)
{
    __shared__ int m[2][64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = 0;
    for (int k = 0; k < 5; k++) {
        m[k & 1][t] = x[i] + k;
        __syncthreads();
        sum += m[k & 1][63 - t];
    }
    y[i] = sum;
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void transposed(const int *x, int *y, int n)
{
    __shared__ int m[8][9];
    int tx = threadIdx.x % 8, ty = threadIdx.x / 8, i = blockIdx.x * 64 + threadIdx.x;
    m[ty][tx] = x[i];
    __syncthreads();
    y[i] = m[tx][ty];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void wide_distance(const int *x, int *y, int n)
{
    LOAD;
    if (t < 32) {
        v[t] += v[t + 32];
    }
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void narrower_guards(const int *x, int *y, int n)
{
    LOAD;
    if (t < 32)
        v[t] += v[t + 32];
    __syncwarp();
    if (t < 16)
        v[t] += v[t + 16];
    __syncwarp();
    if (t < 8)
        v[t] += v[t + 8];
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void function_of_one(const int *x, int *y, int n)
{
    LOAD;
    if (t == 0)
        add(v, t);
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void shuffles(const int *x, int *y, int n)
{
    LOAD;
    int s = v[t];
    for (int o = 16; o; o >>= 1)
        s += __shfl_xor_sync(0xffffffff, s, o);
    __syncthreads();
    v[t] = s;
    __syncthreads();
    y[i] = v[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void warp_sums(const int *x, int *y, int n)
{
    LOAD;
    __shared__ int sums[2];
    int s = v[t];
    for (int o = 16; o; o >>= 1)
        s += __shfl_xor_sync(0xffffffff, s, o);
    if (t % 32 == 0)
        sums[t / 32] = s;
    __syncthreads();
    if (t == 0)
        sums[0] += sums[1];
    __syncthreads();
    y[i] = sums[0];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void histogram(const int *x, int *y, int n)
{
    LOAD;
    __shared__ int h[64];
    h[t] = 0;
    __syncthreads();
    atomicAdd(&h[v[t] & 63], 1);
    __syncthreads();
    y[i] = h[t];
}

#pragma cf kernel blocks(n / 64) block(64) in(x[n])out(y[n]) check(n % 64 == 0)
__global__ void exit_of_others(const int *x, int *y, int n)
{
    LOAD;
    if (t >= 16) {
        y[i] = v[t];
        return;
    }
    v[t] += v[t + 16];
    y[i] = v[t];
}
