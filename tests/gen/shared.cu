/* shared.cu - all forms of declaring __shared__ memory, for test_shared.c. */
#include "shared_inner.h"
#include "shared_outer.h"

#include "expect_kernel.h"

#define THREADS 64
#define TWICE (2 * THREADS)
#define SHARED(T, n) __shared__ T buffer[n]
#define SHARED_AND_MORE(T, n) __shared__ T more[n]; const int used = 9
#define NAMED(name) name[THREADS]
#define SHARED_INTS __shared__ int ints[THREADS], other

struct point {
    float x, y;

    __device__ point()
    {
    }

    __device__ point(float x_, float y_) : x(x_), y(y_)
    {
    }
};

template <typename T, int N> struct box {
    T v[N];
};

typedef int row[8];

__device__ __shared__ int at_file_scope;
__shared__ float values[THREADS];
[[maybe_unused]] extern __shared__ int dynamic[];

__device__ int recursive(int depth, const int *memory)
{
    __shared__ int marks[8];
    if (depth == 0)
        return memory[63 - threadIdx.x];
    marks[depth] = depth;
    __syncthreads();
    return recursive(depth - 1, memory) + marks[depth];
}

__device__ void fill(int (&memory)[THREADS], int v)
{
    memory[threadIdx.x] = v;
}

template <typename T> __device__ T reversed(T v)
{
    __shared__ T tile[THREADS];
    tile[threadIdx.x] = v;
    __syncthreads();
    const T result = tile[63 - threadIdx.x];
    __syncthreads();
    return result;
}

/* Local names that hide shared variables with the same names outside. */
__device__ int same_names(int at_file_scope)
{
    int values = at_file_scope + 1;
    return values;
}

__device__ int file_scope_sum()
{
    int values = at_file_scope;
    return values;
}

namespace nested
{
__shared__ int in_namespace[2];

__device__ void set(int i, int v)
{
    in_namespace[i] = v;
}

__device__ int get(int i)
{
    return in_namespace[i];
}
} // namespace nested

#pragma cf kernel blocks(3) block(THREADS) inout(wrong[2])
__global__ void forms(int dummy, int *wrong)
{
    __shared__ point points[THREADS];
    __shared__ alignas(32) char bytes[THREADS], *where; // ; not an end
    __shared__ __align__(64) struct {
        int a;
        float b;
    } local;
    __shared__ union {
        int i[THREADS];
        float f[THREADS];
    } u;
    __shared__ box<float, THREADS> b, c;
    __shared__ box<box<int, 2>, 3> d;
    static __shared__ int s1[THREADS], s2;
    volatile __shared__ int v[THREADS];
    __shared__ volatile int w;
    __shared__ const char *text;
    __shared__ row rows[8];
    __shared__ int plain[THREADS], twice[TWICE][2 + 1], /* several */ last;
    __shared__ double2 vectors[sizeof(double) * 8];
    SHARED(long long, THREADS);
    SHARED_INTS;
    SHARED_AND_MORE(short, THREADS);
    __shared__ int NAMED(named);
    const int t = threadIdx.x, o = 63 - t;

    points[t] = point(t, 2 * t);
    bytes[t] = t;
    u.i[t] = 3 * t;
    b.v[t] = t + 1;
    c.v[t] = t + 2;
    s1[t] = t + 3;
    v[t] = t + 4;
    rows[t / 8][t % 8] = t;
    fill(plain, t + 5);
    twice[2 * t + 1][2] = t + 6;
    vectors[t] = make_double2(t, -t);
    buffer[t] = t + 7;
    ints[t] = t + 8;
    values[t] = t + 9;
    more[t] = t + used;
    named[t] = t + 10;
    if (t == 33) {
        where = bytes;
        local.a = 5;
        local.b = 0.5f;
        s2 = 3;
        w = 1;
        text = "text";
        last = 11;
        other = 12;
        d.v[2].v[1] = 9;
        at_file_scope = 7 + blockIdx.x;
        nested::set(1, 13);
    }
    __syncthreads();
    EXPECT(points[o].x == o && points[o].y == 2 * o);
    EXPECT(where[o] == o && (size_t)where % 32 == 0 && (size_t)&local % 64 == 0 && local.a == 5 && local.b == 0.5f);
    EXPECT(u.i[o] == 3 * o && b.v[o] == o + 1 && c.v[o] == o + 2 && s1[o] == o + 3 && v[o] == o + 4);
    EXPECT(rows[o / 8][o % 8] == o && plain[o] == o + 5 && twice[2 * o + 1][2] == o + 6);
    EXPECT(vectors[o].x == o && vectors[o].y == -o && buffer[o] == o + 7 && ints[o] == o + 8 && values[o] == o + 9);
    EXPECT(s2 == 3 && w == 1 && text[1] == 'e' && last == 11 && other == 12 && d.v[2].v[1] == 9);
    EXPECT(at_file_scope == 7 + (int)blockIdx.x && file_scope_sum() == at_file_scope && same_names(1) == 2);
    EXPECT(nested::get(1) == 13 && more[o] == o + 9 && named[o] == o + 10);
    EXPECT(sizeof buffer == 64 * sizeof(long long) && sizeof twice == 128 * 3 * sizeof(int));
    EXPECT(__isShared(&ints[t]) && __isShared(&last) && !__isGlobal(plain) && !__isShared(wrong) && __isGlobal(wrong));
    __syncthreads();
    EXPECT(reversed(t) == o && reversed(0.5f * t) == 0.5f * o);
    EXPECT(recursive(3, plain) == o + 5 + 6);
    EXPECT(block_sum(1) == THREADS && block_sum(0.5f) == THREADS / 2 && block_sum(blockIdx.x) == THREADS * blockIdx.x);
    EXPECT_END;
}

/* All names of dynamic memory refer to the same memory. */
#pragma cf kernel blocks(2) block(n) shared(n * sizeof(int)) inout(wrong[2])
__global__ void dynamics(int n, int *wrong)
{
    extern __shared__ unsigned char raw[];
    int *ints = dynamic_memory();
    const int t = threadIdx.x, o = n - 1 - t;
    dynamic[t] = t * 3;
    __syncthreads();
    EXPECT(ints == dynamic && (void *)raw == (void *)dynamic && ints[o] == 3 * o);
    EXPECT(reinterpret_cast<int *>(raw)[o] == 3 * o && __isShared(raw) && __isShared(&dynamic[n - 1]));
    EXPECT_END;
}

/* No thread waits for another one; only the shared memory makes the threads a block. */
#pragma cf kernel blocks(2) block(n) shared(n * sizeof(int)) inout(wrong[2])
__global__ void own_slots(int n, int *wrong)
{
    dynamic[threadIdx.x] = threadIdx.x;
    EXPECT(dynamic[threadIdx.x] == (int)threadIdx.x);
    EXPECT_END;
}

/* Each instance of a template has shared memory of its own. */
#pragma cf kernel blocks(n) block(N) in(x[n][N]) out(y[n])
#pragma cf instances(f32_32: float, 32; f64_128: double, 128)
template <typename T, int N> __global__ void row_sum(const T *x, T *y, int n)
{
    __shared__ T part[N];
    part[threadIdx.x] = x[blockIdx.x * N + threadIdx.x];
    for (int d = N / 2; d; d /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < d)
            part[threadIdx.x] += part[threadIdx.x + d];
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = part[0];
}

/* All blocks are resident at once. Each has memory of its own, including the memory that headers declare. */
#pragma cf kernel blocks(8) block(32) cooperative inout(wrong[2])
__global__ void resident(int dummy, int *wrong)
{
    __shared__ unsigned own;
    if (threadIdx.x == 0)
        own = at_file_scope = blockIdx.x;
    EXPECT(block_sum(blockIdx.x) == 32 * blockIdx.x);
    EXPECT(own == blockIdx.x && at_file_scope == (int)own);
    EXPECT(block_sum(1 + own) == 32 * (1 + own));
    EXPECT_END;
}
