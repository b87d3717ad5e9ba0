/* arithmetic.cu - operations that C++ leaves undefined but GPUs define, for test_arithmetic.c: conversions, shifts,
 * divisions, zeros. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

#include <type_traits>
#include <utility>

#include "expect_kernel.h"

/* ---- Conversions ----
 *
 * Row k of `y` has the results for x[k]: of each type in turn, by each way to convert, which must agree. */

typedef unsigned short word;

typedef int label;
using mark = unsigned char;

struct counter {
    int count;
    int parts[2];
};

template <typename T> __device__ T by_template(double x)
{
    return T(x) == (T)x ? static_cast<T>(x) : (T)1234567;
}

__device__ int as_returned(float x)
{
    return x;
}

__device__ label as_returned_label(float x)
{
    return x;
}

__device__ void by_address(float x, int *where, label *named)
{
    *where++ = x;
    *where = x;
    where--;
    *(where + 2) = x;
    *++named = x;
    named[1] = x;
}

__device__ void by_first_statement(float x, int *where)
{
    *where = x;
}

__device__ unsigned int of_parameter(unsigned int x)
{
    return x;
}

__device__ unsigned int of_second(int, unsigned int x, int)
{
    return x;
}

#define TO(number, T) y[8 * k + number] = (int64_t)(T)x[k]

#pragma cf kernel grid(n) in(x[n]) out(y[8 * n], wrong[n])
__global__ void of_float(const float *x, int64_t *y, int *wrong, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        TO(0, signed char);
        TO(1, unsigned char);
        TO(2, short);
        TO(3, word);
        TO(4, int);
        TO(5, uint32_t);
        TO(6, long long);
        TO(7, unsigned long);
        int i = x[k];
        unsigned char b;
        b = x[k];
        counter c;
        c.count = x[k];
        int sum = 0;
        sum += x[k];
        const uchar4 four = make_uchar4(x[k], 0, 0, 0);
        // These right operands of a product and a conjunction do not declare pointers and references.
        int factor = k, mask = k;
        const int area = k * factor + (k & mask);
        factor = x[k];
        mask = x[k];
        wrong[k] = factor != i || mask != i || area < k ||
                   of_parameter(k < n ? x[k] : 0.0f) != (unsigned int)y[8 * k + 5] ||
                   of_second((k) < n, k < n ? x[k] : 0.0f, k > n) != (unsigned int)y[8 * k + 5] || i != (int)y[8 * k + 4] || b != (int)y[8 * k + 1] || c.count != i || sum != i || four.x != b ||
                   as_returned(x[k]) != i || of_parameter(x[k]) != (unsigned int)y[8 * k + 5] ||
                   int(x[k]) != i || static_cast<int>(x[k]) != i || __float2int_rz(x[k]) != i ||
                   __float2uint_rz(x[k]) != (uint32_t)y[8 * k + 5] || __float2ll_rz(x[k]) != y[8 * k + 6] ||
                   __float2ull_rz(x[k]) != (uint64_t)y[8 * k + 7] || llrintf(truncf(x[k])) != y[8 * k + 6];
    }
}

#pragma cf kernel grid(n) in(x[n]) out(y[8 * n], wrong[n])
__global__ void of_double(const double *x, int64_t *y, int *wrong, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        TO(0, int8_t);
        TO(1, uint8_t);
        TO(2, int16_t);
        TO(3, uint16_t);
        TO(4, int32_t);
        TO(5, unsigned);
        TO(6, int64_t);
        TO(7, size_t);
        int i = x[k];
        wrong[k] = i != (int)y[8 * k + 4] || by_template<short>(x[k]) != (short)y[8 * k + 2] ||
                   by_template<int>(x[k]) != i || by_template<unsigned long>(x[k]) != (uint64_t)y[8 * k + 7] ||
                   __double2int_rz(x[k]) != i || __double2uint_rz(x[k]) != (uint32_t)y[8 * k + 5] ||
                   __double2ll_rz(x[k]) != y[8 * k + 6] || __double2ull_rz(x[k]) != (uint64_t)y[8 * k + 7] ||
                   llrint(trunc(x[k])) != y[8 * k + 6] || (long long)llround(trunc(x[k])) != y[8 * k + 6];
    }
}

template <typename T> __device__ void of_16_bits(T x, int64_t *y, int k)
{
    y[8 * k] = (signed char)x;
    y[8 * k + 1] = (unsigned char)x;
    y[8 * k + 2] = (short)x;
    y[8 * k + 3] = (unsigned short)x;
    y[8 * k + 4] = (int)x;
    y[8 * k + 5] = (unsigned int)x;
    y[8 * k + 6] = (long long)x;
    y[8 * k + 7] = (unsigned long long)x;
}

#pragma cf kernel grid(n) in(x[n]) out(y[8 * n], z[8 * n])
__global__ void of_halves(const float *x, int64_t *y, int64_t *z, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        of_16_bits(__float2half(x[k]), y, k);
        of_16_bits(__float2bfloat16(x[k]), z, k);
    }
}

/* Conversions in places that are harder to find. Each must have the result of (int)x[k]. */
#pragma cf kernel blocks(n) block(1) in(x[n]) inout(parts[n]) out(y[16 * n]) shared(sizeof(int))
__global__ void of_targets(const float *x, counter *parts, label *y, int n)
{
    __shared__ int cell[2];
    extern __shared__ int row[];
    const int k = blockIdx.x;
    using local = long;
    label *own = y + 16 * k;
    cell[1] = x[k];
    row[0] = x[k];
    const label named = x[k];
    const local wide = x[k];
    mark byte = x[k];
    parts[k].parts[0] = x[k];
    counter *at = parts + k;
    at->parts[1] = x[k];
    int by_first;
    by_first_statement(x[k], &by_first);
    int some[3] = {}, sums[3] = {};
    by_address(x[k], some, sums);
    own[0] = cell[1];
    own[1] = row[0];
    own[2] = named;
    own[3] = wide == (long)x[k] ? named : 1234567;
    own[4] = byte == (unsigned char)x[k] ? named : 1234567;
    own[5] = at->parts[0];
    own[6] = at->parts[1];
    own[7] = by_first;
    own[8] = some[0];
    own[9] = some[1];
    own[10] = some[2];
    own[11] = sums[1] == sums[2] ? sums[2] : 1234567;
    own[12] = as_returned_label(x[k]);
    own[13] = x[k];
    *(own + 14) = x[k];
    own += 15;
    *own++ = x[k];
}

/* ---- Shifts and divisions ---- */

#pragma cf kernel grid(n) in(x[n], by[n]) out(y[8 * n])
__global__ void shifts(const int64_t *x, const int *by, int64_t *y, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        const int a = (int)x[k], count = by[k];
        const unsigned int u = (unsigned int)x[k];
        const unsigned char byte = (unsigned char)x[k];
        int updated = a;
        y[8 * k] = a << count;
        y[8 * k + 1] = a >> count;
        y[8 * k + 2] = u << (unsigned char)count;
        y[8 * k + 3] = u >> count;
        y[8 * k + 4] = x[k] << count;
        y[8 * k + 5] = x[k] >> count;
        updated <<= count;
        updated >>= count;
        y[8 * k + 6] = ((uint64_t)x[k] >> count) + updated;
        y[8 * k + 7] = (int)((unsigned int)(byte << count) + (unsigned int)((signed char)byte >> count));
    }
}

#pragma cf kernel grid(n) in(x[n], by[n]) out(y[8 * n])
__global__ void divisions(const int64_t *x, const int64_t *by, int64_t *y, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        const int a = (int)x[k], b = (int)by[k];
        y[8 * k] = a / b;
        y[8 * k + 1] = (unsigned int)a / (unsigned int)b;
        y[8 * k + 2] = x[k] / by[k];
        y[8 * k + 3] = (int64_t)((uint64_t)x[k] / (uint64_t)by[k]);
        y[8 * k + 4] = (unsigned short)a / (unsigned short)b;
        y[8 * k + 5] = (short)a / (short)b;
        int updated = a;
        updated /= b;
        y[8 * k + 6] = updated;
        y[8 * k + 7] = 100 / b;
    }
}

#pragma cf kernel grid(n) in(x[n], by[n]) out(y[4 * n])
__global__ void remainders(const int64_t *x, const int64_t *by, int64_t *y, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        const int a = (int)x[k], b = (int)by[k];
        int updated = a;
        updated %= b;
        y[4 * k] = updated;
        y[4 * k + 1] = (unsigned int)a % (unsigned int)b;
        y[4 * k + 2] = x[k] % by[k];
        y[4 * k + 3] = (int64_t)((uint64_t)x[k] % (uint64_t)by[k]);
    }
}

/* ---- Zeros ---- */

/* The signs of the smaller and the larger number, one bit for each function. */
#define SIGN(place, x) (unsigned int)(signbit((float)(x)) != 0) << place

template <typename T> __device__ unsigned int of_narrow(float a, float b)
{
    const T x(a), y(b);
    return SIGN(0, __hmin(x, y)) | SIGN(1, __hmin_nan(x, y));
}

template <typename T> __device__ unsigned int of_narrow_max(float a, float b)
{
    const T x(a), y(b);
    return SIGN(0, __hmax(x, y)) | SIGN(1, __hmax_nan(x, y));
}

#pragma cf kernel grid(n) in(a[n], b[n]) out(least[n], most[n])
__global__ void zeros(const float *a, const float *b, unsigned int *least, unsigned int *most, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) {
        const float x = a[k], y = b[k];
        const double p = x, q = y;
        float by_assembly;
        double wide;
        asm("min.f32 %0, %1, %2;" : "=f"(by_assembly) : "f"(x), "f"(y));
        asm("min.f64 %0, %1, %2;" : "=d"(wide) : "d"(p), "d"(q));
        const __half2 small = __hmin2(__floats2half2_rn(x, 1), __floats2half2_rn(y, 1));
        least[k] = SIGN(0, fminf(x, y)) | SIGN(1, min(x, y)) | SIGN(2, fmin(p, q)) | SIGN(3, min(p, q)) |
                   SIGN(4, fmin(x, y)) | SIGN(5, by_assembly) | SIGN(6, wide) | SIGN(7, __low2float(small)) |
                   of_narrow<__half>(x, y) << 8 | of_narrow<__nv_bfloat16>(x, y) << 10;
        asm("max.f32 %0, %1, %2;" : "=f"(by_assembly) : "f"(x), "f"(y));
        asm("max.f64 %0, %1, %2;" : "=d"(wide) : "d"(p), "d"(q));
        const __half2 large = __hmax2(__floats2half2_rn(x, 1), __floats2half2_rn(y, 1));
        most[k] = SIGN(0, fmaxf(x, y)) | SIGN(1, max(x, y)) | SIGN(2, fmax(p, q)) | SIGN(3, max(p, q)) |
                  SIGN(4, fmax(x, y)) | SIGN(5, by_assembly) | SIGN(6, wide) | SIGN(7, __low2float(large)) |
                  of_narrow_max<__half>(x, y) << 8 | of_narrow_max<__nv_bfloat16>(x, y) << 10;
    }
}

/* ---- Operators of other kinds ---- */

struct __attribute__((packed)) packed_pair {
    char first;
    int second;
};

struct eighths {
    int count;

    __host__ __device__ explicit eighths(int whole) : count(whole << 3)
    {
    }
    __host__ __device__ eighths &operator/=(int by)
    {
        count /= by;
        return *this;
    }
    __host__ __device__ friend eighths operator/(const eighths &a, const eighths &b)
    {
        return eighths(a.count / b.count);
    }
};

enum color { RED = 4, BLUE };

template <int N> struct row {
    static constexpr int half = N / 2 << 1;
    int elements[N / 2];
};

template <typename T, typename U> __device__ T of_templates(U x)
{
    using result = T;
    return std::is_same<std::pair<int, row<8>>, int>::value ? T{} : result(x) / (result)(x + 1);
}

struct reader {
    int next;

    template <typename T> __host__ __device__ reader &operator>>(T &x)
    {
        x = (T)next++;
        return *this;
    }
    template <typename T> __host__ __device__ int operator%(T &x) const
    {
        return next % x++;
    }
    __host__ __device__ int operator<<(unsigned int count) const
    {
        return next << count;
    }
};

/* Operators that change their other operand, whatever its type is. */
struct taker {
    int sum;

    template <typename T> __host__ __device__ taker &operator%=(T &&x)
    {
        sum += (int)x++;
        return *this;
    }
    template <typename T> __host__ __device__ taker &operator<<=(T &&x)
    {
        x = (T)sum;
        return *this;
    }
};

__host__ __device__ int &operator>>(int &x, const taker &by)
{
    x += by.sum;
    return x;
}

/* Classes and enumerations that convert to numbers. Some of them have operators of their own. */
struct as_number {
    unsigned int bits;

    __host__ __device__ operator unsigned int() const
    {
        return bits;
    }
};

struct as_variable {
    int *at;

    __host__ __device__ operator int &() const
    {
        return *at;
    }
};

enum digit { ONE = 1, TWO };

__host__ __device__ int operator<<(digit high, int low)
{
    return 10 * high + low;
}

/* A class whose members have names that occur in other classes, too. */
struct names {
    int x, first, second;
};

struct half_sum {
    int total;

    __host__ __device__ half_sum &operator=(float half)
    {
        total = (int)(half * 2);
        return *this;
    }
};

/* A class without an operator= of its own. */
struct doubled {
    int total;

    doubled() = default;
    __host__ __device__ doubled(float half) : total((int)(half * 2))
    {
    }
};

/* A promoted bit-field is an int if an int can hold all of its values. */
struct widths {
    unsigned int low : 5;
    unsigned long long high : 40;

    __device__ bool are_signed(int n) const
    {
        return low / -n == -1 && low % n - 3 < 0 && (low >> n) - 1 < 0 && -7 / low == -1;
    }
};

enum class level { low = 7, high = 9 };

__host__ __device__ int operator/(level a, level b)
{
    return (int)a * 10 + (int)b;
}

template <typename... T> __device__ int of_packs(int x, T... by)
{
    return (x / ... / by) + (by << ... << 1) + (by % ...);
}

#pragma cf kernel blocks(1) block(n) inout(wrong[2])
__global__ void operators(int n, int zero, int *wrong)
{
    struct {
        unsigned int low : 5, high : 11;
    } bits = {3, 900};
    bits.low <<= n;
    bits.high /= n;
    EXPECT(bits.low == (3u << n & 31) && (unsigned int)bits.high == 900u / n);
    widths wide[4] = {{}, {}, {5, 100}, {5, 100}}, *last = wide + 3;
    EXPECT(last->are_signed(n) && wide[n].low / -n == -1 && (last->low) % n - 3 < 0 && -7 / wide[n].low == -1);
    EXPECT((*last).low / -n == -1 && -7 / (*last).low == -1 && -7 / (last->low) == -1 && -last->low / n == -1);
    EXPECT(last->low++ / n == 1 && last->low % 4 == 2 && last->high / n - 34 > n && level::high / level::low == 97);
    packed_pair pair = {1, 100};
    pair.second /= n;
    pair.second <<= n;
    EXPECT(pair.second == 100 / n << n);
    eighths some(100);
    some /= n;
    EXPECT((some / eighths(1)).count == 100 * 8 / n / 8 << 3);
    constexpr int place = 1 << 4, third = place / 3;
    int table[third] = {1, 2};
    EXPECT(row<8>::half / 2 == 4 && table[1] == RED / (n - 1) && sizeof(row<8>) == 16);
    EXPECT(of_templates<float>(n) == (float)n / (n + 1) && of_templates<int>(n) == 0);
    const auto half_of = [=](auto x) { return x / 2 + n % 2; };
    EXPECT(half_of(7.0f) == 3.5f + n % 2 && half_of(7) == 3 + n % 2);
    EXPECT(zero < n >> 1 && (n > zero && zero < (n >> zero)));
    switch (n * 8 / n) {
    case place / 2: EXPECT(7 % n == 1 && -7 / n == -2 && -7 % n == -1); break;
    default: EXPECT(zero);
    }
    reader from = {5};
    int first = 0;
    short second[2] = {0, 0};
    from >> first >> second[1];
    EXPECT(first == 5 && second[1] == 6 && from % first == 2 && first == 6);
    bits.low = 2;
    EXPECT(from << bits.low == 28 && of_packs(100, 7, n) == 14 / n + (7 << (n << 1)) + 7 % n);
    std::conditional_t<sizeof(int) == 8 || sizeof(int) == 4, std::pair<int, std::pair<int, float>>, int> both;
    using narrow = std::conditional_t<sizeof(int) == 8 || sizeof(int) == 2, int, std::pair<char, char>>;
    both.second.second = 1.5f;
    EXPECT(both.second.second / n == 1.5f / n && sizeof(narrow) == 2 && (int)::floorf(1e30f + zero) == INT_MAX);
    __half2 pair_of_halves;
    std::pair<half_sum, float> sums;
    pair_of_halves.x = n / 2.0f;
    sums.first = n / 2.0f;
    sums.second = n / 2.0f;
    EXPECT(__half2float(pair_of_halves.x) == n / 2.0f && sums.first.total == (int)n && sums.second == n / 2.0f);
    taker some_taker = {5};
    int taken = 2;
    unsigned char small = 3;
    some_taker %= taken;
    some_taker %= small;
    EXPECT(taken == 3 && small == 4 && some_taker.sum == 10);
    some_taker <<= taken;
    taken >> some_taker >> some_taker;
    EXPECT(taken == 30 && taken >> n == 30 >> n);
    const as_number number = {12u + zero}, far_away = {40u + zero}; /* nvcc folds such shifts of constants otherwise */
    as_variable variable = {&taken};
    EXPECT(number << 30 + n == 0 && number / zero == UINT_MAX && 7 >> far_away == 0 && number % 5 == 2);
    variable /= n;
    EXPECT(taken == 30 / n);
    variable <<= number + 30;
    EXPECT(taken == 0);
    EXPECT(TWO << 5 == 25);
    volatile int shifted_away = BLUE << 30 + n; /* nvcc folds a comparison of the shift itself */
    EXPECT(shifted_away == 0);
    EXPECT(BLUE / n == 5 / n);
    bits.high /= (unsigned int)zero; /* nvcc sets bits outside of the field; the CPU must not crash */
    int &same = taken / n ? first : taken;
    EXPECT(&same == &taken);
    volatile int kept = 9;
    kept /= n;
    kept <<= 40 + zero;
    EXPECT(kept == 0 && 5 / (float)zero > 1e30f && 7 % (zero + 4ll) == 3);
    int down = 9;
    EXPECT(down-- / zero == -1 && down++ << 40 + zero == 0 && down == 9);
    const long long far = (1ll << 32) + zero;
    const color chosen = zero ? BLUE : RED;
    EXPECT((int)n << far == 3 && (int)n >> far == 3 && (unsigned short)n / zero == -1 && chosen / zero == -1);
    int less = n, least = n, more = n, divided = n;
    less -= 0.75f;
    least -= 1e30f + zero;
    more *= 1e30f + zero;
    divided /= 1e-30f + zero;
    EXPECT(less == 2 && least == INT_MIN && more == INT_MAX && divided == INT_MAX);
    int4 four = make_int4(0, 0, 0, 0);
    four.w = 1e30f + zero;
    EXPECT(four.w == INT_MAX);
    std::pair<doubled, int> made;
    made.first = n / 2.0f;
    EXPECT(made.first.total == (int)n);
    EXPECT_END;
}
