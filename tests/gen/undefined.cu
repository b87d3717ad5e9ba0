/* undefined.cu - shifts, divisions and conversions that C++ leaves undefined, in the spellings that are found less
 * easily, for test_undefined.c. The operators of all files beside it convert from int. */
#include <cuda_fp16.h>
#include <stdint.h>

#include <cstdint>

#include "expect_kernel.h"

/* ---- Constructors' lists ---- */

struct base_of_rest {
    int rest;

    __device__ explicit base_of_rest(int rest) : rest(rest)
    {
    }
};

struct listed : base_of_rest {
    int quotient, shifted, cast;

    __device__ listed(int a, int b, float f) : base_of_rest((a + 1) % b), quotient(a / b), shifted{a << (b + 32)}, cast(f)
    {
        cast = cast == INT_MAX ? cast + a / b : 0;
    }
};

template <typename T> struct listed_template {
    T quotient;
    int cast;

    __device__ listed_template(T a, T b, float f) : quotient(a / b), cast{int(f)}
    {
        quotient += a << (b + 32);
    }
};

struct outside {
    int cast, shifted, later;

    __device__ outside(float f, int by);
    __device__ void set(float f);
};

__device__ outside::outside(float f, int by) : cast((int)f), shifted(1 << by)
{
}

__device__ void outside::set(float f)
{
    later = f;
}

/* Parameters have names of members, here and in other classes. */
struct named_alike {
    int r, g;

    struct within {
        int z;
        __device__ within(float z) : z(z)
        {
        }
    };
    __device__ named_alike(float r, float g) : r(r), g(g)
    {
    }
    __device__ void set(float r)
    {
        this->r = r;
    }
    __device__ void put(float v)
    {
        g = v;
    }
    __device__ int get(float v) const
    {
        return v;
    }
    __device__ named_alike &operator=(float v)
    {
        r = v;
        return *this;
    }
};

struct has_own {
    int own;
};

struct has_fields {
    int first : 8, second : 8;
    unsigned int third : 16;
};

struct of_base : has_own {
    __device__ void set(float v)
    {
        has_own::own = v;
    }
    __device__ void put(float v)
    {
        this->has_own::own = v;
    }
};

template <typename T> struct trait {
    using out = int;
};

struct takes_own {
    float times;
    __device__ float scale(float own) const
    {
        return own * times;
    }
};

/* ---- Names with two meanings ---- */

template <typename value> __device__ value of_value(value x)
{
    return x;
}

struct with_value {
    int value;
    using type = int;
};

enum letter { A, B };

struct from_int {
    int whole;

    __device__ from_int(int whole) : whole(whole)
    {
    }
    __device__ operator int() const
    {
        return whole;
    }
};

__device__ int operator%(const from_int &a, const from_int &b)
{
    return a.whole + b.whole;
}

/* ---- Functions ---- */

template <typename T> __device__ int returned_of_template(T x)
{
    return x;
}

extern "C" __device__ int returned_to_c(float x)
{
    return x;
}

[[nodiscard]] __device__ int returned_with_attribute(float x)
{
    return x;
}

__attribute__((always_inline)) __device__ inline auto returned_behind_arrow(float x) -> int
{
    if (x > 0) [[likely]] {
        return x;
    }
    return 0, x;
}

__device__ int of_default(int p, int q = 3)
{
    return q + 0 * p;
}

__device__ int of_prototype(int);

__device__ int of_prototype(const int q)
{
    return q;
}

namespace inner
{
__device__ int of_inner(int q)
{
    return q;
}
} // namespace inner

__device__ int outer_number;

template <typename T> constexpr int five_of = 5;

__device__ int third(bool, bool, int x)
{
    return x;
}

#define ASSIGN(x, y) ((x) = (y))

/* ---- Kernels ---- */

/* `b` is 32, `zero` 0, `v` 3e9. */
#pragma cf kernel blocks(1) block(n) inout(wrong[2])
__global__ void shifts_and_divisions(int n, int b, int zero, float v, int *wrong)
{
    const listed some(n, zero, v);
    const listed_template<int> other(n, zero, v);
    EXPECT(some.rest == -1 && some.quotient == -1 && some.shifted == 0 && some.cast == INT_MAX - 1);
    EXPECT(other.quotient == -1 && other.cast == INT_MAX);
    letter none = (letter)zero, second = (letter)(n - 3);
    int kept = n;
    EXPECT(n / none == -1 && second / zero == -1 && (n + 1) % none == -1);
    kept /= none;
    EXPECT(kept == -1);
    EXPECT(int{5} / zero == -1 && five_of<int> / zero == -1);
    // nvcc takes 1 << b for a power of two where it sees the comparison.
    volatile int ones[] = {outside(v, b).shifted, (int)(uint32_t{1} << b), five_of<int> << b};
    EXPECT(ones[0] == 0 && ones[1] == 0 && ones[2] == 0);
    int a = 1, i = 0;
    EXPECT(third(i < n, a < b, a >> b) == 0);
    const int three[3] = {i < n, a < b, a >> b};
    int p = i < n, q = a < b, z = a >> b;
    EXPECT(three[2] == 0 && p + q == 2 && z == 0 && (i < n ^ a < b ^ a >> b) == 0);
    with_value holder = {1};
    EXPECT(holder.value >> b == 0 && a >> ::outer_number + b == 0 && of_value(a) >> b == 0);
    EXPECT_END;
}

#pragma cf kernel blocks(1) block(n) inout(wrong[2])
__global__ void conversions(int n, float v, int *wrong)
{
    struct inside {
        int count;
    };
    outside out(v, 0);
    out.set(v);
    EXPECT(out.cast == INT_MAX && out.later == INT_MAX);
    named_alike first(v, v), second(0, 0);
    has_own other;
    other.own = takes_own{1}.scale(v);
    EXPECT(first.r == INT_MAX && first.g == INT_MAX && named_alike::within(v).z == INT_MAX && other.own == INT_MAX);
    second.set(v);
    second.put(v);
    EXPECT(second.r == INT_MAX && second.g == INT_MAX && second.get(v) == INT_MAX);
    second = -v;
    EXPECT(second.r == INT_MIN);
    has_fields fields = {0, 0, 0};
    fields.first = v;
    fields.second = v;
    EXPECT(fields.first == -1 && fields.second == -1);
    fields.second = 0;
    fields.second += v;
    fields.third -= v;
    EXPECT(fields.second == -1 && fields.third == 0);
    of_base based;
    based.set(v);
    EXPECT(based.own == INT_MAX);
    based.put(-v);
    EXPECT(based.own == INT_MIN);
    EXPECT(static_cast<trait<float>::out>(v) == INT_MAX && (trait<float>::out)v == INT_MAX);
    EXPECT((float)int(v) == 2147483648.0f && (unsigned char)int(v) == 255 && 0 + ~int(v) == INT_MIN);
    EXPECT(int(threadIdx.x) < n && !(1e10 > 1 && 2147483648.0f > 1 && 2147483648.0 <= int(v)));
    const int least = 0;
    EXPECT(!(least < n && 2147483647.5 < int(v)) && !(least < n && 2147483648.5 < unsigned(int(v))));
    const int2 pair = {int(v), n};
    EXPECT(pair.x == INT_MAX && std::int32_t(v) == INT_MAX && ::int32_t(v) == INT_MAX && std::int8_t(v) == -1);
    EXPECT(with_value::type(v) == INT_MAX);
    EXPECT((uintmax_t)-v == 0 && (u_int32_t)-v == 0 && static_cast<__uint32_t>(-v) == 0 && (char16_t)-v == 0);
    EXPECT((decltype(n))v == INT_MAX && (with_value::type)(v) == INT_MAX && static_cast<decltype(n)>(v) == INT_MAX);
    EXPECT((0 xor (int)v) == INT_MAX && (0 bitor (int)v) == INT_MAX && (compl (int)v) == INT_MIN);
    int a = least < n, b = v;
    EXPECT(b == INT_MAX);
    EXPECT(returned_of_template(v) == INT_MAX && returned_to_c(v) == INT_MAX && returned_with_attribute(v) == INT_MAX);
    EXPECT(returned_behind_arrow(v) == INT_MAX && returned_behind_arrow(-v) == INT_MIN);
    EXPECT(of_default(0, v) == INT_MAX && of_prototype(v) == INT_MAX && inner::of_inner(v) == INT_MAX);
    EXPECT(::of_prototype(v) == INT_MAX);
    int *at = &b;
    ASSIGN(a, v);
    b = 0;
    n > 0, *at = v;
    EXPECT(a == INT_MAX && b == INT_MAX);
    inside own = {0};
    int2 two = {0, 0}, *where = &two;
    own.count = v;
    (*where).y = v;
    (*at) = -v;
    EXPECT(own.count == INT_MAX && two.y == INT_MAX && b == INT_MIN);
    int scaled = n * 0x1p31;
    EXPECT(scaled == INT_MAX);
    __typeof__(n) of_type = v;
    decltype(n) of_name = v;
    EXPECT(of_type == INT_MAX && of_name == INT_MAX);
    dim3 size;
    size.x = -v;
    EXPECT(size.x == 0);
    EXPECT_END;
}
