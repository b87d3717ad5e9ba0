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

/* Parameters have the same names as members of this class and of others. */
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

struct of_pack {
    int only;

    template <typename... T> __device__ explicit of_pack(T... x) : only(x...)
    {
    }
};

struct divided_by_pair {
    int quotient;

    __device__ divided_by_pair &operator/=(const int2 &by)
    {
        quotient = by.x - by.y;
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

struct has_type {
    static constexpr int type = 1;
};

__device__ int out()
{
    return 3;
}

/* In other places `type` is a type. */
template <typename type> __device__ type same_of(type x)
{
    return x;
}

__device__ int less_than_value(int value, int by)
{
    return (value) - by;
}

/* ---- Templates whose arguments end with >> ---- */

template <int count> struct sized {
    int whole;
};

template <typename T> struct around {
    T inside;
};

template <int count> constexpr bool is_counted = count > 0;

template <bool is_chosen> struct chosen_by {
    static constexpr int number = is_chosen;
    int whole;
};

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

__device__ int returned_beside_lambda(float x)
{
    auto same = [](float y) { return y; };
    return same(x) == x ? x : 0;
}

template <typename T> __device__ bool is_less_than_ten(float x)
{
    return 10 > T(x);
}

template <typename T> __device__ float as_type_of(float x)
{
    return typename T::type(x);
}

template <typename T> __device__ float as_out_of(float x)
{
    return (typename trait<T>::out)(x);
}

template <typename T, typename X> __device__ T as_first(X x)
{
    return x;
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

__device__ bool calls_variable(float x)
{
    auto of_default = [](auto y) { return y; };
    return of_default(x) == x;
}

__device__ int outer_number, outer_place;
__device__ int outer_alone;

template <typename T> constexpr int five_of = 5;

__device__ int third(bool, bool, int x)
{
    return x;
}

#define ASSIGN(x, y) ((x) = (y))

/* ---- Kernels ---- */

/* `b` is 32, `zero` is 0, and `v` is 3e9. */
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
    // nvcc treats 1 << b as a power of two if it sees the comparison.
    volatile int ones[] = {outside(v, b).shifted, (int)(uint32_t{1} << b), five_of<int> << b};
    EXPECT(ones[0] == 0 && ones[1] == 0 && ones[2] == 0);
    int a = 1, i = 0;
    EXPECT(third(i < n, a < b, a >> b) == 0);
    const int three[3] = {i < n, a < b, a >> b};
    int p = i < n, q = a < b, z = a >> b;
    EXPECT(three[2] == 0 && p + q == 2 && z == 0 && (i < n ^ a < b ^ a >> b) == 0);
    with_value holder = {1};
    EXPECT(holder.value >> b == 0 && a >> ::outer_number + b == 0 && of_value(a) >> b == 0);
    // These comparisons are not template arguments.
    volatile bool are_more[] = {A < zero || A < (a) >> b, A < zero ? n < 0 : A < (a) >> b, A < n && A < (a) >> b};
    EXPECT(!are_more[0] && !are_more[1] && !are_more[2]);
    EXPECT(third(i < n, a < b, (a) >> b) == 0 && third(A < n, A < b, a >> b) == 0);
    EXPECT(third(holder.value < n, holder.value < b, (a) >> b) == 0);
    EXPECT(third(outer_number < n, outer_number < b, (a) >> b) == 0);
    bool is_less = A < n;
    is_less = is_less && A < n;
    int of_type = has_type::type >> b, of_outer = (a) >> ::outer_number + b;
    EXPECT(is_less && of_type == 0 && of_outer == 0);
    around<sized<2>> deep = {{n}};
    chosen_by<A || five_of<float>> chosen = {n};
    EXPECT(deep.inside.whole == n && chosen.whole == n && chosen_by<A || is_counted<2>>::number == 1);
    divided_by_pair divided = {0};
    divided /= {n, zero};
    EXPECT(divided.quotient == n && of_pack(n).only == n && (out)() == 3 && less_than_value(n, 1) == n - 1);
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
    EXPECT(with_value::type(v) == INT_MAX && as_type_of<with_value>(v) == 2147483648.0f);
    EXPECT(as_out_of<float>(v) == 2147483648.0f && same_of(v) == v);
    const int2 pairs[1] = {{int(v), n}};
    EXPECT(pairs[0].x == INT_MAX && !(A < n && 10 > int(v)) && !is_less_than_ten<int>(v));
    int many[2][2] = {{0, 0}, {n, 0}};
    auto second_of = [](int (*rows)[2]) { return rows[1][0]; };
    auto three_of = [](int) constexpr { return 3; };
    EXPECT(second_of(many) == n && three_of(n) == 3 && calls_variable(v) && returned_beside_lambda(v) == INT_MAX);
    EXPECT(of_default(as_first<int, float>(n)) == 3);
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
    where->y = -v;
    outer_place = v;
    outer_alone = v;
    EXPECT(two.y == INT_MIN && outer_place == INT_MAX && outer_alone == INT_MAX);
    if (n < 0)
        b = 0;
    else
        *at = v;
    EXPECT(b == INT_MAX);
    do
        *at = -v;
    while (n < 0);
    EXPECT(b == INT_MIN);
    if (n > 0) {
        b = 0;
    }
    *at = v;
    int *nowhere = NULL;
    EXPECT(b == INT_MAX && nowhere == NULL);
    if (n > 0)
        int(within [[maybe_unused]]) = n;
    int *next = many[1];
    // clang-format off
    *next++=v;
    // clang-format on
    EXPECT(many[1][0] == INT_MAX && next == many[1] + 1);
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
