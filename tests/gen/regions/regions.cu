/* regions.cu - kernels with barriers for test_regions.c, which runs them as regions and as fibers. A name that ends in
 * _turns is of a kernel without regions. All have n / 96 blocks of 96 threads and one element to a thread. */
#include <cuda_fp16.h>

#define SIZE 96
#define BARRIER \
    do { \
        __syncthreads(); \
    } while (0)

struct pair {
    float low, high;
    int count[2];
};

__device__ __forceinline__ float sum_of(const pair &p)
{
    return p.low + p.high * p.count[1];
}

__device__ int own_index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void tree(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    s[t] = in[i];
    __syncthreads();
    for (unsigned int k = 64; k > 0; k >>= 1) {
        if (t < k && t + k < SIZE)
            s[t] += s[t + k];
        __syncthreads();
    }
    out[i] = s[0] + in[i];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void nested(const float *in, int n, float *out)
{
    __shared__ float s[2][SIZE];
    const int t = threadIdx.x;
    float sum = 0.0f;
    int from = 0;
    s[0][t] = in[blockIdx.x * SIZE + t];
    for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; j++) {
            BARRIER;
            s[1 - from][t] = s[from][(t + j) % SIZE] + 1.0f;
            sum += s[from][SIZE - 1 - t];
            from = 1 - from;
        }
        if (i == 1)
            continue;
        __syncthreads();
        sum *= 0.5f;
    }
    out[blockIdx.x * SIZE + t] = sum;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void early(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = own_index();
    s[threadIdx.x] = in[i];
    out[i] = -1.0f;
    if (threadIdx.x % 3 == 1)
        return;
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x == 10 * k)
            return;
        s[threadIdx.x] += 1.0f;
        __syncthreads();
        out[i] = s[(threadIdx.x + 7) % SIZE] + k;
        __syncthreads();
    }
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void branches(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = own_index();
    float v = in[i];
    s[threadIdx.x] = v;
    if (blockIdx.x % 2 == 0) {
        __syncthreads();
        v += s[SIZE - 1 - threadIdx.x];
    } else if (n > 5) {
        v *= 2.0f;
        __syncthreads();
        if (blockIdx.x == 3) {
            out[i] = v;
            return;
        }
    } else {
        v = 0.0f;
    }
    int rounds = 0;
    while (true) {
        if (rounds > (int)blockIdx.x)
            break;
        __syncthreads();
        s[threadIdx.x] += v;
        rounds++;
    }
    __syncthreads();
    out[i] = s[(threadIdx.x * 5) % SIZE] + v;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void types(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    const int t = threadIdx.x, i = blockIdx.x * SIZE + t;
    bool is_odd = t & 1;
    short low = (short)(in[i] * 8.0f);
    unsigned char byte = (unsigned char)t;
    __half half = __float2half(in[i]);
    double wide = in[i] / 3.0;
    long long whole = (long long)t << 33;
    pair both = {in[i], 2.0f, {t, 3}};
    float own[3] = {1.0f, 2.0f}, last;
    const float *place = in + i;
    auto derived = in[i] * 0.25f + low;
    float4 four = make_float4(t, 1, 2, 3);
    for (int k = 0; k < 3; k++)
        own[k] += k * t;
    s[t] = derived;
    __syncthreads();
    last = s[SIZE - 1 - t];
    both.low += 1.0f;
    own[1] += both.count[0];
    four.y += last;
    place -= i;
    __syncthreads();
    float sum = is_odd ? low : byte;
    sum += __half2float(half) + (float)wide + (float)(whole >> 32) + sum_of(both) + own[0] + own[1] + own[2];
    out[i] = sum + last + place[0] + derived + four.x + four.y;
}

#pragma cf kernel blocks(n / SIZE) block(8, 6, 2) in(in[n]) out(out[n])
__global__ void volume(const float *in, int n, float *out)
{
    __shared__ float s[2][6][8];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int i = blockIdx.x * SIZE + (z * 6 + y) * 8 + x;
    float v = in[i];
    s[z][y][x] = v;
    __syncthreads();
    v += s[1 - z][5 - y][7 - x];
    __syncthreads();
    s[z][y][x] = v * (x + 1);
    __syncthreads();
    out[i] = s[z][(y + 1) % 6][(x + 3) % 8] + v;
}

#pragma cf kernel blocks(n / SIZE) block(12, 8) shared(2 * SIZE * sizeof(float)) in(in[n]) out(out[n])
__global__ void dynamic(const float *in, int n, float *out)
{
    extern __shared__ float memory[];
    float *first = memory, *second = memory + SIZE;
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    first[t] = in[blockIdx.x * SIZE + t];
    __syncthreads();
    second[t] = first[(t * 7 + 1) % SIZE];
    __syncthreads();
    out[blockIdx.x * SIZE + t] = second[SIZE - 1 - t] - first[t];
}

template <typename T, int N> __device__ T scaled(T x)
{
    return x * N;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
#pragma cf instances(f_2: float, 2; f_3: float, 3)
template <typename T, int N> __global__ void instance(const T *in, int n, T *out)
{
    __shared__ T s[SIZE];
    T v[N], total = T(0);
    int i = own_index();
    s[threadIdx.x] = in[i];
    for (int k = 0; k < N; k++) {
        __syncthreads();
        v[k] = scaled<T, N>(s[(threadIdx.x + k) % SIZE]);
        if constexpr (N > 2) {
            __syncthreads();
            s[threadIdx.x] += v[k];
        }
    }
    for (int k = 0; k < N; k++)
        total += v[k];
    if (threadIdx.x < 2 * N)
        total += T(1);
    out[i] = total;
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void atomics(const float *in, int n, float *out)
{
    __shared__ int bins[8];
    __shared__ int is_large;
    if (threadIdx.x < 8)
        bins[threadIdx.x] = 0;
    if (threadIdx.x == 0)
        is_large = blockIdx.x > 1;
    __syncthreads();
    atomicAdd(&bins[(int)in[own_index()] & 7], 1);
    __syncthreads();
    if (is_large) {
        atomicMax(&bins[threadIdx.x & 7], (int)threadIdx.x / 4);
        __syncthreads();
    }
    out[own_index()] = bins[threadIdx.x & 7];
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void pointers(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    in += blockIdx.x * SIZE;
    out += blockIdx.x * SIZE + threadIdx.x;
    int step = 1;
    s[threadIdx.x] = in[threadIdx.x];
    for (int d = SIZE; d > 2; d /= 2) {
        __syncthreads();
        float other = s[(threadIdx.x + step) % SIZE];
        __syncthreads();
        s[threadIdx.x] += other;
        step *= 2;
    }
    *out = s[threadIdx.x];
}

__device__ void triple(int *x)
{
    *x *= 3;
}

__device__ void add_to(int &x, int y)
{
    x += y;
}

/* Variables change through their addresses, references, casts and parentheses. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void changes(const float *in, int n, float *out)
{
    __shared__ int s[SIZE];
    int t = threadIdx.x, a = t, b = 2 * t, c = n, d = t + 1, e = n, f = t;
    s[t] = (int)in[own_index()];
    __syncthreads();
    triple((int *)&a);
    add_to(b, s[SIZE - 1 - t]);
    (c)++;
    if (t % 2)
        (t % 3 ? d : e) += t;
    reinterpret_cast<int &>(f) += 5;
    auto more = [&](int by) { a += by; };
    more(t);
    __syncthreads();
    out[own_index()] = a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f;
}

/* An address that is kept across a barrier would be the address of a variable in one region. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void address_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    float own = in[own_index()], *place = &own;
    s[threadIdx.x] = own;
    __syncthreads();
    *place += s[SIZE - 1 - threadIdx.x];
    __syncthreads();
    out[own_index()] = own;
}

/* Between two barriers, a thread reads its own elements again through another pointer. */
#pragma cf kernel blocks(n / SIZE) block(SIZE / 2) in(in[n]) out(out[n])
__global__ void reread(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = blockIdx.x * (SIZE / 2) + threadIdx.x;
    float *p = out + (n < 0), *q = out;
    s[threadIdx.x] = in[2 * i];
    q[2 * i] = in[2 * i];
    q[2 * i + 1] = -1;
    __syncthreads();
    float first = q[2 * i];
    p[2 * i + 1] = first * 2 + s[threadIdx.x];
    float second = q[2 * i + 1];
    p[2 * i] = second + 3;
}

/* Guards hold for a range of threads, with limits of other types and below 0, around loops that are uniform. */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void guards(const float *in, int n, float *out)
{
    __shared__ float s[6][17];
    const int x = threadIdx.x, y = threadIdx.y;
    const unsigned int column = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.x * SIZE + y * 16 + x, least = (int)blockIdx.x - 2;
    float sum = 0, other = 0;
    s[y][x] = in[i];
    if (x == 0)
        s[y][16] = y;
    __syncthreads();
    if (x > least && 12u >= threadIdx.x && y < 5) {
        for (int k = 0; k < 6; k++)
            sum += s[k][x + 1] * k;
    } else {
        for (int k = 0; k < 3; k++)
            for (int j = k; j < 4; j++)
                other += s[k][x] - j;
    }
    if (column < least)
        sum += 1;
    else
        for (int k = 0; k < 2; k++)
            other = other * 2 + k;
    if (column >= 18ll && x <= 2.5f)
        other += 100;
    __syncthreads();
    out[i] = sum + other;
}

extern __shared__ unsigned int of_file[];
__shared__ int first_of_file;

#pragma cf kernel blocks(n / SIZE) block(SIZE) shared(8 * sizeof(int)) in(in[n]) out(out[n])
__global__ void outside(const float *in, int n, float *out)
{
    for (unsigned int k = threadIdx.x; k < 8; k += blockDim.x)
        of_file[k] = 0;
    if (threadIdx.x == 5)
        first_of_file = (int)in[own_index()];
    __syncthreads();
    atomicAdd(of_file + (int)in[own_index()] % 8, 1u);
    int first = first_of_file;
    __syncthreads();
    out[own_index()] = of_file[threadIdx.x % 8] + first;
}

/* All threads of a block reach the barrier, or none; a reader sees only that this depends on the thread. */
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void guarded_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    int i = own_index();
    if (i - (int)threadIdx.x < n) {
        s[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = s[SIZE - 1 - threadIdx.x];
    }
}

#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void leaves_turns(const float *in, int n, float *out)
{
    __shared__ float s[SIZE];
    float v = in[own_index()];
    for (int k = 0; k < 3; k++) {
        s[threadIdx.x] = v;
        __syncthreads();
        if (threadIdx.x > 1000)
            break;
        v += s[SIZE - 1 - threadIdx.x];
        __syncthreads();
    }
    out[own_index()] = v;
}

__device__ void exchange(float &low, float &high)
{
    float first = low;
    if (first > high) {
        low = high;
        high = first;
    }
}

// A bitonic sort has indices that are differences of an index and some of its bits.
#pragma cf kernel blocks(n / SIZE) block(SIZE) in(in[n]) out(out[n])
__global__ void exchanged(const float *in, int n, float *out)
{
    __shared__ float s[256];
    int i = blockIdx.x * SIZE + threadIdx.x;
    s[threadIdx.x] = in[i];
    s[threadIdx.x + 96] = in[i] + 1;
    if (threadIdx.x < 64)
        s[threadIdx.x + 192] = threadIdx.x;
    for (unsigned int stride = 64; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned int place = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        exchange(s[place], s[place + stride]);
    }
    __syncthreads();
    out[i] = s[threadIdx.x] + s[threadIdx.x + 96];
}

/* The kernel copies columns of a shared array to rows. */
#pragma cf kernel blocks(2, (n / 32 + 15) / 16) block(16, 4) in(in[n]) out(out[n])
__global__ void columns_to_rows(const float *in, int n, float *out)
{
    __shared__ float tile[16][17];
    int nx = 32, ny = n / 32, x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += 4)
        if (y + j < ny)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * nx + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += 4)
        if (x < ny && y + j < nx)
            out[(y + j) * ny + x] = tile[threadIdx.x][threadIdx.y + j];
}

/* Indices advance in each step of a loop, alike or under conditions; the last step prefetches after the array's end. */
#pragma cf kernel blocks(n / SIZE) block(16, 6) in(in[n]) out(out[n])
__global__ void moving_rows(const float *in, int n, float *out)
{
    __shared__ float tile[6][18];
    int tx = threadIdx.x, ty = threadIdx.y, at = ty * 16 + tx, own = at, sum = 0;
    if (tx == 3)
        own = 95 - at;
    float below = in[at];
    for (int k = 0; k < n / SIZE; k++) {
        __syncthreads();
        tile[ty][tx + 1] = below + in[own];
        if (tx == 0)
            tile[ty][0] = at > 0 ? in[at - 1] : 0;
        __syncthreads();
        sum += (int)(tile[ty][tx] + tile[5 - ty][tx + 1] + in[at]) & 1023;
        below = in[own];
        at += SIZE;
        own += SIZE;
    }
    out[blockIdx.x * SIZE + ty * 16 + tx] = sum + blockIdx.x;
}
