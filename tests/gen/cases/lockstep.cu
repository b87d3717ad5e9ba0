// Steps of a warp without a barrier in between, which give warnings; the second half of the kernels gives none.
__device__ void fold_by_pointer(volatile float *v, int lane)
{
    v[lane] += v[lane + 32];
    v[lane] += v[lane + 16];
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void folds_in_function(float *x)
{
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32)
        fold_by_pointer(s, threadIdx.x);
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}

#pragma cf kernel blocks(1) block(64) shared(64 * sizeof(float)) inout(x[64])
__global__ void folds_by_volatile_pointer(float *x)
{
    extern __shared__ float s[];
    const unsigned int tid = threadIdx.x;
    s[tid] = x[tid];
    __syncthreads();
    if (tid < 32) {
        volatile float *v = s;
        v[tid] += v[tid + 32];
        v[tid] = v[tid] + v[tid + 16];
    }
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void folds_in_loop(float *x)
{
    __shared__ float s[64];
    int lane = threadIdx.x & 31;
    s[lane] = x[lane];
    for (int d = 16; d > 0; d >>= 1)
        s[lane] += s[lane + d];
    x[lane] = s[lane];
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void scans(float *x)
{
    __shared__ volatile float s[64];
    int i = threadIdx.x + 32;
    s[i] = x[threadIdx.x];
    s[i] += s[i - 1];
    s[i] += s[i - 2];
    x[threadIdx.x] = s[i];
}

#pragma cf kernel blocks(1) block(32) inout(x[64])
__global__ void folds_rows_in_loop(float *x)
{
    __shared__ float rows[2][64];
    int lane = threadIdx.x & 31;
    for (int r = 0; r < 2; r++)
        rows[r][lane] = x[32 * r + lane];
    for (int d = 16; d > 0; d /= 2) {
        for (int r = 0; r < 2; r++)
            rows[r][lane] += rows[r][lane + d];
    }
    x[lane] = rows[0][lane];
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void folds_in_while(float *x)
{
    __shared__ float s[64];
    int lane = threadIdx.x & 31, d = 16;
    s[lane] = x[lane];
    while (d > 0) {
        if (lane < d)
            s[lane] += s[lane + d];
        d >>= 1;
    }
    x[lane] = s[lane];
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void adds_another_row(float *x)
{
    __shared__ float rows[2][128];
    const int tid = threadIdx.x;
    rows[1][tid] = x[tid];
    __syncthreads();
    for (int d = 32; d > 0; d >>= 1)
        rows[0][tid] += rows[1][tid + d];
    x[tid] = rows[0][tid];
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void folds_in_while_with_barriers(float *x)
{
    __shared__ float s[128];
    int tid = threadIdx.x, d = 32;
    s[tid] = x[tid];
    while (d > 0) {
        __syncthreads();
        if (tid < d)
            s[tid] += s[tid + d];
        d >>= 1;
    }
    x[tid] = s[tid];
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void reads_before_the_write(float *x)
{
    __shared__ float total;
    if (!threadIdx.x)
        total = x[0];
    x[threadIdx.x] = total;
}

#pragma cf kernel blocks(1) block(64) in(y[4]) inout(x[64])
__global__ void writes_in_the_next_round(float *x, const float *y)
{
    __shared__ float s[2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < 4; i++) {
        if (lane == 0)
            s[warp] = y[i];
        __syncwarp();
        x[threadIdx.x] += s[warp];
    }
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void shifts_after_the_read(int *x)
{
    __shared__ int s[2];
    x[threadIdx.x] = s[0];
    if (threadIdx.x == 0)
        s[0] <<= 1;
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void fences_for_the_compiler(int *x)
{
    __shared__ int s;
    if (threadIdx.x == 0)
        s = x[0];
    asm volatile("" ::: "memory");
    x[threadIdx.x] = s;
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void compares_a_name_of_a_barrier(int *x, int waiting, int n)
{
    __shared__ int s;
    if (threadIdx.x == 0)
        s = x[0];
    if (waiting < n)
        x[threadIdx.x] = s;
}

template <typename T> __device__ void put(T *x, T y, int lane);

template <> __device__ void put<float>(float *x, float y, int lane)
{
    __shared__ float total;
    if (lane == 0)
        total = y;
    x[lane] = total;
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void calls_a_specialisation(float *x)
{
    put<float>(x, 1.0f, threadIdx.x);
}

struct Put {
    __device__ void operator()(int *x) const;
};

__device__ void Put::operator()(int *x) const
{
    __shared__ int counts[64];
    x[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0)
        counts[x[0]] = 1;
    x[1] = counts[x[0]];
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void calls_an_operator(int *x)
{
    Put()(x);
}

struct Queue {
    short head, items[64];
};

__device__ int take(Queue *queues, int *x, int count, int lane)
{
    __shared__ int least[2];
    __shared__ Queue queue;
    for (int i = lane; i < count; i += 32)
        queue.items[i] = i;
    for (int round = 0; round < count; round++) {
        __syncwarp();
        if (lane == 0)
            least[0] = count;
        __syncwarp();
        for (int k = lane; k < count; k += 32)
            atomicMin(&least[0], x[k] * 64 + k);
        __syncwarp();
        const int k = least[0] % 64;
        x[round] = queue.items[k];
        if (lane == 0)
            queue.items[k] = queue.items[count - 1];
    }
    return count;
}

#pragma cf kernel blocks(1) block(32) inout(x[32]) resident(queues)
__global__ void takes_in_function(Queue *queues, int *x, int n)
{
    int count = 0;
    if (threadIdx.x == 0)
        count = atomicAdd(x, 1);
    count = __shfl_sync(0xffffffff, count, 0);
    take(queues, x, count, threadIdx.x);
}

// A barrier between the steps does not order the accesses of one step: lanes write what others read in it.
#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void folds_with_barriers_between(int *x)
{
    __shared__ int v[64];
    const int t = threadIdx.x;
    v[t] = x[t];
    __syncthreads();
    if (t < 32) {
        v[t] += v[t + 32];
        __syncwarp();
        v[t] += v[t + 16];
        __syncwarp();
        v[t] += v[t + 8];
    }
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void folds_in_loop_with_barriers(int *x)
{
    __shared__ int v[64];
    const int t = threadIdx.x;
    v[t] = x[t];
    if (t < 32)
        for (int d = 16; d > 0; d /= 2) {
            v[t] += v[t + d];
            __syncwarp();
        }
    x[t] = v[t];
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void scans_with_barriers(int *x)
{
    __shared__ int v[64];
    const int t = threadIdx.x;
    v[t] = x[t];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        if (t >= d)
            v[t] += v[t - d];
    }
    x[t] = v[t];
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void exchanges_with_barriers(int *x)
{
    __shared__ int v[32];
    const int t = threadIdx.x;
    v[t] = x[t];
    __syncwarp();
    v[t] += v[t ^ 16];
    __syncwarp();
    v[t] += v[t ^ 8];
}

// The next turn of a loop overwrites what lanes of this turn use.
#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void overwrites_in_the_next_turn(int *x)
{
    __shared__ int f[64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 9; i++) {
        f[t] = i;
        __syncthreads();
        sum += f[0];
    }
    x[t] = sum;
}

#pragma cf kernel blocks(1) block(8, 8) inout(x[64])
__global__ void overwrites_tiles(int *x)
{
    __shared__ int a[8][8], b[8][9];
    const int tx = threadIdx.x, ty = threadIdx.y;
    int sum = 0;
    for (int i = 0; i < 8; i++) {
        a[ty][tx] = x[i];
        b[ty][tx] = x[i + 1];
        __syncthreads();
        for (int k = 0; k < 8; ++k)
            sum += a[ty][k] * b[k][tx];
    }
    x[8 * ty + tx] = sum;
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void one_lane_adds_all(int *x)
{
    __shared__ int f[64];
    for (int i = 0; i < 9; i++) {
        f[threadIdx.x] = i;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int k = 0; k < 64; k++)
                x[i] += f[k];
    }
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void reads_the_last_too_early(int *x)
{
    __shared__ int f[64];
    f[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = f[blockDim.x - 1];
}

#pragma cf kernel blocks(1) block(64) in(y[4]) inout(x[64])
__global__ void one_lane_with_barriers(float *x, const float *y)
{
    __shared__ float s[2], t[64], first;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < 4; i++) {
        if (lane == 0)
            s[warp] = y[i];
        __syncwarp();
        x[threadIdx.x] += s[warp];
        __syncwarp();
    }
    t[lane] = 1;
    if (lane == 0)
        t[lane] = 2;
    do {
        if (threadIdx.x == 0 && y[0] > 0)
            first = y[0];
        __syncthreads();
        x[lane] += first;
    } while (0);
    int own = atomicAdd(&s[0], 1.0f);
    if (lane == 3)
        t[own] = 5;
    x[threadIdx.x] = t[own];
}

#pragma cf kernel blocks(1) block(5) inout(x[5])
__global__ void shifts_an_index(int *x)
{
    __shared__ int s[32];
    int own = 1;
    own <<= threadIdx.x;
    if (threadIdx.x == 0)
        s[own] = 1;
    x[threadIdx.x] = s[own];
}

struct Gate {
    template <int N> __device__ void wait() { __syncthreads(); }
};

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void one_lane_with_other_barriers(int *x)
{
    __shared__ int s;
    Gate gate;
    if (threadIdx.x == 0)
        s = x[0];
    asm volatile("bar.sync 0;" ::: "memory");
    x[threadIdx.x] = s;
    __asm__ volatile("barrier.sync 0;" ::: "memory");
    if (threadIdx.x == 0)
        s = x[1];
    gate.wait<0>();
    x[threadIdx.x] += s;
}

#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void folds_with_barriers(float *x)
{
    __shared__ float s[128];
    const int tid = threadIdx.x;
    s[tid] = x[tid];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (tid < d)
            s[tid] += s[tid + d];
        __syncthreads();
    }
    if (tid < 32) {
        s[tid] += s[tid + 32];
        __syncwarp();
    }
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void sums_of_other_elements(float *x)
{
    __shared__ float s[128];
    const int tid = threadIdx.x;
    s[tid] = x[tid];
    __syncthreads();
    s[tid] += s[tid + 32];
    s[tid] += s[tid + 64];
    __syncwarp();
    if (tid == 0)
        for (int i = 1; i < 32; i *= 2)
            s[i] += s[i - 1];
}

#pragma cf kernel blocks(1) block(32) inout(x[32]) host(none)
__global__ void folds_on_gpus_alone(float *x)
{
    __shared__ volatile float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    s[threadIdx.x] += s[threadIdx.x + 16];
    s[threadIdx.x] += s[threadIdx.x + 8];
}

// Right: the lanes that write are fewer than the distance, or a step reads, waits and writes.
#pragma cf kernel blocks(1) block(64) inout(x[64])
__global__ void folds_with_narrower_guards(int *x)
{
    __shared__ int v[64];
    const int t = threadIdx.x;
    v[t] = x[t];
    __syncthreads();
    if (t < 32)
        v[t] += v[t + 32];
    __syncwarp();
    if (t < 16) {
        v[t] += v[t + 16];
        __syncwarp();
        if (t >= 8)
            return;
        v[t] += v[t + 8];
    }
    for (int d = 4; d > 0; d /= 2) {
        __syncwarp();
        if (t < d)
            v[t] += v[t + d];
    }
    for (int d = 1; d < 8; d *= 2) {
        const int i = 2 * d * t;
        if (i < 8)
            v[i] += v[i + d];
        __syncwarp();
        if (t % (2 * d) == 0)
            v[t] += v[t + d];
        __syncwarp();
    }
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void reads_waits_and_writes(int *x)
{
    __shared__ int v[32];
    const int t = threadIdx.x;
    v[t] = x[t];
    for (int d = 1; d < 32; d *= 2) {
        __syncwarp();
        const int other = t >= d ? v[t - d] : 0;
        __syncwarp();
        v[t] += other;
    }
    x[t] = v[t];
}

#pragma cf kernel blocks(1) block(32) inout(x[32])
__global__ void turns_that_do_not_meet(int *x)
{
    __shared__ int f[32], pair[2][32], rows[9][32];
    const int t = threadIdx.x;
    for (int i = 0; i < 9; i++) {
        const int now = i & 1;
        pair[now][t] = rows[i][t] = f[t] = i;
        __syncthreads();
        x[t] += pair[now][0] + rows[i][0];
        if (t == 0)
            x[i] += f[0];
    }
    for (int i = 0; i < 9; i++) {
        __syncthreads();
        f[t] = i;
        __syncthreads();
        x[t] += f[0];
    }
    __syncthreads();
    f[t] = 1;
    if (t > 0)
        return;
    x[t] += f[0];
}
