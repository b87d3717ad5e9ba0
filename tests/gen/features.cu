/* features.cu - language and library features of device code beyond plain C, for test_features.c. */
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>

#include "expect_kernel.h"

/* ---- The language ---- */

__device__ int counter;
__device__ unsigned long long large = 5;
__device__ float table_of_floats[4] = {1, 2, 4, 8};
__constant__ float scales[3] = {0.5f, 0.25f, 2};
__device__ static const int primes[] = {2, 3, 5, 7, 11};

__device__ int twice(int x)
{
    return 2 * x;
}

__device__ int squared(int x)
{
    return x * x;
}

typedef int (*function)(int);

__device__ const function functions[] = {twice, squared};

__device__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__host__ __device__ constexpr int power(int base, int exponent)
{
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

template <typename T> __device__ const char *kind_of(T)
{
    if constexpr (sizeof(T) == 4)
        return "four";
    else
        return "other";
}

template <typename Function> __device__ int apply(Function f, int x)
{
    return f(x);
}

template <typename... Ts> __device__ int sum_of(Ts... xs)
{
    return (xs + ... + 0);
}

struct shape {
    __device__ virtual ~shape()
    {
        atomicAdd(&counter, 1);
    }
    __device__ virtual int area() const = 0;
};

struct square : shape {
    int side;

    __device__ explicit square(int side_) : side(side_)
    {
    }
    __device__ int area() const override
    {
        return side * side;
    }
};

struct alignas(32) wide {
    float v[8];
};

union bits {
    float f;
    unsigned u;
};

enum class color { red, green = 5 };

#pragma cf kernel blocks(2) block(64) inout(wrong[2])
__global__ void language(int loud, int *wrong)
{
    const int t = threadIdx.x;
    const auto add = [=](int x) { return x + t; };
    int calls = 0;
    auto count = [&calls](auto x) mutable { return calls++, (int)x; };
    EXPECT(add(5) == 5 + t && count(2.5f) + count(3) == 5 && calls == 2);
    EXPECT(apply([](int x) { return 3 * x; }, t) == 3 * t && apply(twice, t) == 2 * t);
    EXPECT(functions[t % 2](t) == (t % 2 ? t * t : 2 * t));
    EXPECT(fibonacci(10) == 55 && power(3, 4) == 81 && sum_of(1, 2, 3) == 6);
    EXPECT(kind_of(1.0f)[0] == 'f' && kind_of(1.0)[0] == 'o');
    EXPECT(table_of_floats[t % 4] == (float)(1 << t % 4) && scales[1] == 0.25f && primes[t % 5] > 1 && large == 5);
    static const float weights[] = {0.125f, 0.75f};
    EXPECT(weights[t % 2] == (t % 2 ? 0.75f : 0.125f));
    bits b;
    b.f = 1;
    EXPECT(b.u == 0x3f800000 && (int)color::green == 5);
    __builtin_assume(t < 64);
    const float *first = scales, *aligned = (const float *)__builtin_assume_aligned(first, 4);
    EXPECT(aligned[2] == 2);
    struct {
        int x;
        short y[2];
    } local = {t, {1, 2}};
    auto [x, y] = make_int2(t, 7);
    EXPECT(local.x == x && local.y[1] == 2 && y == 7);
    switch (t % 3) {
    case 0:
        goto end;
    case 1:
        EXPECT(t % 3 == 1);
        [[fallthrough]];
    default:
        break;
    }
end:
    if (loud)
        printf("%d %5.2f %s %c %x %lld %zu %p %%\n", t, 0.5, "text", 'c', 255u, 1ll << 40, sizeof t, (void *)wrong);
    EXPECT_END;
}

/* Creates objects on the heap, and counts those that were destroyed. */
#pragma cf kernel blocks(2) block(32) inout(wrong[2]) out(gone[1])
__global__ void heap(int n, int *gone, int *wrong)
{
    shape *s = new square(threadIdx.x);
    EXPECT(s->area() == (int)(threadIdx.x * threadIdx.x));
    delete s;
    int *array = new int[n];
    wide *aligned = new wide[2];
    EXPECT((uintptr_t)aligned % 16 == 0);
    unsigned char *plain = (unsigned char *)malloc(n);
    for (int i = 0; i < n; i++) {
        array[i] = i + threadIdx.x;
        plain[i] = i;
    }
    aligned[1].v[7] = threadIdx.x;
    EXPECT(array[n - 1] - plain[n - 1] == (int)threadIdx.x && aligned[1].v[7] == threadIdx.x);
    free(plain);
    delete[] aligned;
    delete[] array;
    *gone = atomicAdd(&counter, 0) > 0;
    EXPECT_END;
}

/* ---- 16-bit types in shuffles ---- */

template <typename T, typename Pair> __device__ void exchange(int *wrong)
{
    const unsigned lane = threadIdx.x % 32;
    const T own = (float)lane;
    const Pair pair(own, (T)(float)(2 * lane));
    EXPECT((float)__shfl_sync(0xffffffff, own, 7) == 7);
    EXPECT((float)__shfl_up_sync(0xffffffff, own, 3) == (lane < 3 ? lane : lane - 3));
    EXPECT((float)__shfl_down_sync(0xffffffff, own, 4, 8) == (lane % 8 < 4 ? lane + 4 : lane));
    EXPECT((float)__shfl_xor_sync(0xffffffff, own, 16) == (lane ^ 16));
    EXPECT((float)__shfl_sync(0xffffffff, pair, 9).y == 18);
    EXPECT((float)__shfl_xor_sync(0xffffffff, pair, 1).x == (lane ^ 1));
    T sum = own;
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    EXPECT((float)sum == 496 || sizeof(T) != 2);
}

#pragma cf kernel blocks(1) block(64) inout(wrong[2])
__global__ void narrow(int dummy, int *wrong)
{
    exchange<__half, __half2>(wrong);
    exchange<__nv_bfloat16, __nv_bfloat162>(wrong);
    __syncwarp();
    EXPECT_END;
}

/* ---- Loads and stores with hints ---- */

// While the kernel runs, memory that __ldg() reads must not be written.
template <typename T> __device__ bool hinted(T *memory, const double *constants, T a, T b)
{
    const T *constant = (const T *)constants;
    const auto same = [](const T &x, const T &y) {
        const unsigned char *p = (const unsigned char *)&x, *q = (const unsigned char *)&y;
        for (size_t i = 0; i < sizeof(T); i++)
            if (p[i] != q[i])
                return false;
        return true;
    };
    *memory = a;
    bool is_right = same(__ldg(constant), *constant) && same(__ldca(memory), a) && same(__ldcg(memory), a) &&
                    same(__ldcs(memory), a) && same(__ldlu(memory), a) && same(__ldcv(memory), a);
    __stwb(memory, b);
    is_right = is_right && same(*memory, b);
    __stcg(memory, a);
    is_right = is_right && same(*memory, a);
    __stcs(memory, b);
    is_right = is_right && same(*memory, b);
    __stwt(memory, a);
    return is_right && same(*memory, a);
}

#pragma cf kernel blocks(1) block(32) in(constants[32 * 4]) inout(memory[32 * 4], wrong[2])
__global__ void hints(const double *constants, double *memory, int *wrong)
{
    void *own = memory + threadIdx.x * 4;
    constants += threadIdx.x * 4;
    EXPECT(hinted((char *)own, constants, 'a', 'b') &&
           hinted((signed char *)own, constants, (signed char)-1, (signed char)2));
    EXPECT(hinted((unsigned char *)own, constants, (unsigned char)255, (unsigned char)2));
    EXPECT(hinted((short *)own, constants, (short)-3, (short)4) &&
           hinted((unsigned short *)own, constants, (unsigned short)3, (unsigned short)4));
    EXPECT(hinted((int *)own, constants, 1, 2) && hinted((unsigned *)own, constants, 1u, 2u) &&
           hinted((long *)own, constants, 1l, 2l));
    EXPECT(hinted((long long *)own, constants, 1ll, 2ll) && hinted((unsigned long long *)own, constants, 1ull, 2ull));
    EXPECT(hinted((float *)own, constants, 1.0f, 2.0f) && hinted((double *)own, constants, 1.0, 2.0));
    EXPECT(hinted((float2 *)own, constants, make_float2(1, 2), make_float2(3, 4)));
    EXPECT(hinted((float4 *)own, constants, make_float4(1, 2, 3, 4), make_float4(3, 4, 5, 6)));
    EXPECT(hinted((double2 *)own, constants, make_double2(1, 2), make_double2(3, 4)));
    EXPECT(hinted((int2 *)own, constants, make_int2(1, 2), make_int2(3, 4)));
    EXPECT(hinted((int4 *)own, constants, make_int4(1, 2, 3, 4), make_int4(3, 4, 5, 6)));
    EXPECT(hinted((uint4 *)own, constants, make_uint4(1, 2, 3, 4), make_uint4(3, 4, 5, 6)));
    EXPECT(hinted((uchar4 *)own, constants, make_uchar4(1, 2, 3, 4), make_uchar4(3, 4, 5, 6)));
    EXPECT(hinted((char2 *)own, constants, make_char2(1, 2), make_char2(3, 4)));
    EXPECT(hinted((short4 *)own, constants, make_short4(1, 2, 3, 4), make_short4(3, 4, 5, 6)));
    EXPECT(hinted((ulonglong2 *)own, constants, make_ulonglong2(1, 2), make_ulonglong2(3, 4)));
    EXPECT(hinted((__half *)own, constants, __float2half(1), __float2half(2)));
    EXPECT(hinted((__half2 *)own, constants, __floats2half2_rn(1, 2), __floats2half2_rn(3, 4)));
    EXPECT(hinted((__nv_bfloat16 *)own, constants, __float2bfloat16(1), __float2bfloat16(2)));
    EXPECT_END;
}

/* ---- Atomic objects ---- */

__device__ cuda::atomic<int, cuda::thread_scope_device> arrived(0);

#pragma cf kernel blocks(n) block(256) inout(sums[8], wrong[2])
__global__ void atomics(int n, unsigned long long *sums, int *wrong)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> of_block;
    const unsigned t = threadIdx.x;
    if (t == 0)
        of_block = 0;
    __syncthreads();
    of_block.fetch_add(1, cuda::memory_order_relaxed);
    __syncthreads();
    EXPECT(of_block.load(cuda::std::memory_order_acquire) == 256 && of_block == 256);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> sum(sums[0]), least(sums[1]), most(sums[2]);
    cuda::atomic_ref<double> real(*(double *)&sums[3]);
    sum += t;
    least.fetch_min(t + 3);
    most.fetch_max(t);
    real.fetch_add(0.5);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
    unsigned long long old = sum;
    while (!sum.compare_exchange_weak(old, old + 1, cuda::memory_order_acq_rel))
        ;
    const bool is_last = arrived.fetch_add(1, cuda::memory_order_acq_rel) == n * 256 - 1;
    EXPECT(!is_last || sum.load() == n * (255ull * 128 + 256));
    if (is_last)
        arrived.store(0);

    __nv_atomic_fetch_add(&sums[4], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_sub(&sums[4], 3, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_max(&sums[5], (unsigned long long)t, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_fetch_or(&sums[6], 1ull << t % 64, __NV_ATOMIC_RELAXED);
    unsigned long long seen = __nv_atomic_load_n(&sums[7], __NV_ATOMIC_ACQUIRE);
    while (!__nv_atomic_compare_exchange_n(&sums[7], &seen, seen + t, false, __NV_ATOMIC_RELEASE, __NV_ATOMIC_RELAXED))
        ;
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    EXPECT_END;
}

struct alignas(16) two {
    unsigned long long count, sum;
};

struct four {
    int members[4];

    __device__ bool operator==(const four &other) const
    {
        for (int i = 0; i < 4; i++)
            if (members[i] != other.members[i])
                return false;
        return true;
    }
};

__device__ cuda::atomic<four, cuda::thread_scope_device> tally(four{{0, 0, 0, 0}});

/* Both halves change in one atomic operation, so their sum is always the number of threads that have counted. */
#pragma cf kernel blocks(n) block(64) inout(pair[2], latest[2], all[4], wrong[2])
__global__ void wide(int n, unsigned long long *pair, unsigned long long *latest, int *all, int *wrong)
{
    const unsigned long long t = blockIdx.x * 64 + threadIdx.x;
    two *shared = reinterpret_cast<two *>(pair);
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
    two old = {0, 0}, seen;
    for (;;) {
        seen = atomicCAS(shared, old, two{old.count + 1, old.sum + 7});
        EXPECT(seen.sum == 7 * seen.count);
        if (seen.count == old.count)
            break;
        old = seen;
    }
    const two before = atomicExch(reinterpret_cast<two *>(latest), two{t, 3 * t});
    EXPECT(before.sum == 3 * before.count);
#else
    atomicAdd(&shared->count, 1ull);
    atomicAdd(&shared->sum, 7ull);
    latest[0] = latest[1] = 0;
#endif
    four was = tally.load();
    four next;
    do {
        EXPECT(was.members[1] == 2 * was.members[0] && was.members[3] == 5 * was.members[0]);
        for (int i = 0; i < 4; i++)
            next.members[i] = was.members[i] + (i == 0 ? 1 : i == 1 ? 2 : i == 2 ? 4 : 5);
    } while (!tally.compare_exchange_weak(was, next));
    EXPECT(!cuda::atomic<four>::is_always_lock_free && !tally.is_lock_free() && sizeof tally == 20);
    if (was.members[0] == n * 64 - 1) {
        was = tally.exchange(four{{0, 0, 0, 0}});
        for (int i = 0; i < 4; i++)
            all[i] = was.members[i];
    }
    EXPECT_END;
}

#pragma cf kernel blocks(1) block(32) inout(wrong[2])
__global__ void times(int dummy, int *wrong)
{
    const long long before = clock64();
    asm volatile("" ::: "memory");
    const clock_t ticks = clock();
    __asm__ __volatile__("");
    __nanosleep(10);
    __prof_trigger(1);
    EXPECT(clock64() >= before && clock() - ticks >= 0);
#ifdef __CUDA_ARCH__
    EXPECT(__CUDA_ARCH__ >= 500);
#endif
    EXPECT_END;
}

/* Specializations and explicit instantiations of a template, with other code after them. */
template <typename T> __device__ T number_of(T)
{
    return 1;
}
template <> __device__ int number_of<int>(int)
{
    return 2;
}
template __device__ float number_of<float>(float);
/* A function whose parameter types contain parentheses, and a variable that points to such functions. */
template <typename T> struct pair_of {
    T first, second;
};
template <bool is_so, typename T> struct only_if {
};
template <typename T> struct only_if<true, T> {
    typedef T type;
};
template <typename T> __device__ typename only_if<sizeof(T) == 4, T>::type four_bytes(T x)
{
    return x;
}
__device__ pair_of<int> make_pair_of(int x)
{
    return {x, four_bytes(x)};
}
__device__ pair_of<int> (*const chosen)(int) = make_pair_of;
__device__ int after_a_specialisation()
{
    return chosen(5).first + chosen(5).second;
}

template <typename T>
#pragma cf kernel grid(n) out(kind[n])
#pragma cf instances(f32: float; i32: int; i64: int64_t)
__global__ void specialised(T *kind, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        kind[i] = number_of((T)i) + after_a_specialisation();
}
template __global__ void specialised<float>(float *kind, int n);

/* The threads of this specialization wait for one another; those of the template itself do not. */
template <> __global__ void specialised<int64_t>(int64_t *kind, int n)
{
    __shared__ int64_t neighbour[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    neighbour[threadIdx.x] = i;
    __syncthreads();
    if (i < n)
        kind[i] = neighbour[threadIdx.x ^ 1] + 100;
}

/* ---- 8-bit floats, which are bits in C ---- */

template <typename T> struct Scaled {
    const T *x;
    float by;
};

#pragma cf kernel grid(n) in(x[n]) out(pair[n], y[n]) check(by >= 0.5)
__global__ void bytes(const __nv_fp8_e4m3 *x, __nv_fp8x2_e5m2 *pair, __nv_fp8_e4m3 *y, __nv_fp8_e4m3 by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const Scaled<__nv_fp8_e4m3> scaled = {x, (float)by};
        pair[i] = __nv_fp8x2_e5m2(make_float2((float)x[i], -(float)x[i]));
        y[i] = __nv_fp8_e4m3((float)scaled.x[i] * scaled.by);
    }
}
