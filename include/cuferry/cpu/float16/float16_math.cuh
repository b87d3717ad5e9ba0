/* float16_math.cuh - arithmetic, comparisons and functions of a 16-bit float and of pairs; see float16_type.cuh.
 *
 * Sums, products, quotients and roots are computed in float, which has more than twice the bits. So rounding twice, to
 * float and then to 16 bits, gives the same result as rounding once. */

/* ---- Arithmetic of numbers and of pairs ---- */

#define CF__BINARY(name, name2, value)               \
    CF__FN CF__F16 name(CF__F16 a, CF__F16 b)        \
    {                                                \
        return value;                                \
    }                                                \
    CF__FN CF__F16X2 name2(CF__F16X2 a, CF__F16X2 b) \
    {                                                \
        return {name(a.x, b.x), name(a.y, b.y)};     \
    }
CF__BINARY(__hadd, __hadd2, (float)a + (float)b)
CF__BINARY(__hsub, __hsub2, (float)a - (float)b)
CF__BINARY(__hmul, __hmul2, (float)a *(float)b)
CF__BINARY(__hdiv, __h2div, (float)a / (float)b)
CF__BINARY(__hadd_rn, __hadd2_rn, (float)a + (float)b)
CF__BINARY(__hsub_rn, __hsub2_rn, (float)a - (float)b)
CF__BINARY(__hmul_rn, __hmul2_rn, (float)a *(float)b)
CF__BINARY(__hadd_sat, __hadd2_sat, __saturatef((float)a + (float)b))
CF__BINARY(__hsub_sat, __hsub2_sat, __saturatef((float)a - (float)b))
CF__BINARY(__hmul_sat, __hmul2_sat, __saturatef((float)a *(float)b))

/* min and max ignore a NaN; the forms with _nan return it. */
CF__BINARY(__hmin, __hmin2, min((float)a, (float)b))
CF__BINARY(__hmax, __hmax2, max((float)a, (float)b))
CF__BINARY(__hmin_nan, __hmin2_nan, (float)a != (float)a ? a : (float)b != (float)b ? b : __hmin(a, b))
CF__BINARY(__hmax_nan, __hmax2_nan, (float)a != (float)a ? a : (float)b != (float)b ? b : __hmax(a, b))
#undef CF__BINARY

/* The product is exact in double; only the sum is rounded. */
CF__FN float cf__fma(CF__F16 a, CF__F16 b, CF__F16 c)
{
    return cf__float_odd(cf__sum_odd((double)(float)a * (float)b, (float)c));
}

#define CF__TERNARY(name, name2, value)                           \
    CF__FN CF__F16 name(CF__F16 a, CF__F16 b, CF__F16 c)          \
    {                                                             \
        return value;                                             \
    }                                                             \
    CF__FN CF__F16X2 name2(CF__F16X2 a, CF__F16X2 b, CF__F16X2 c) \
    {                                                             \
        return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)};        \
    }
CF__TERNARY(__hfma, __hfma2, cf__fma(a, b, c))
CF__TERNARY(__hfma_sat, __hfma2_sat, __saturatef(cf__fma(a, b, c)))
CF__TERNARY(__hfma_relu, __hfma2_relu, __hmax_nan(CF__F16(cf__fma(a, b, c)), CF__F16(0.0f)))
#undef CF__TERNARY

#define CF__UNARY(name, name2, value)   \
    CF__FN CF__F16 name(CF__F16 a)      \
    {                                   \
        return value;                   \
    }                                   \
    CF__FN CF__F16X2 name2(CF__F16X2 a) \
    {                                   \
        return {name(a.x), name(a.y)};  \
    }
CF__UNARY(__hneg, __hneg2, CF__F16_RAW{(unsigned short)(a.cf__bits ^ 0x8000)})
CF__UNARY(__habs, __habs2, CF__F16_RAW{(unsigned short)(a.cf__bits & 0x7fff)})
CF__UNARY(hceil, h2ceil, __builtin_ceilf(a))
CF__UNARY(hfloor, h2floor, __builtin_floorf(a))
CF__UNARY(htrunc, h2trunc, __builtin_truncf(a))
CF__UNARY(hrint, h2rint, __builtin_rintf(a))
CF__UNARY(hsqrt, h2sqrt, __builtin_sqrtf(a))
CF__UNARY(hrsqrt, h2rsqrt, 1 / __builtin_sqrt((float)a))
CF__UNARY(hrcp, h2rcp, 1 / (float)a)
CF__UNARY(hexp, h2exp, __builtin_expf(a))
CF__UNARY(hexp2, h2exp2, __builtin_exp2f(a))
CF__UNARY(hexp10, h2exp10, exp10f(a))
CF__UNARY(hlog, h2log, __builtin_logf(a))
CF__UNARY(hlog2, h2log2, __builtin_log2f(a))
CF__UNARY(hlog10, h2log10, __builtin_log10f(a))
CF__UNARY(hsin, h2sin, __builtin_sinf(a))
CF__UNARY(hcos, h2cos, __builtin_cosf(a))
CF__UNARY(htanh, h2tanh, __builtin_tanhf(a))
#undef CF__UNARY

/* ---- Comparisons ----
 *
 * With a NaN the plain forms are false, and the forms with u are true. Comparisons of pairs give one of three results:
 * 1 or 0 for each half, all bits or no bits for each half, or a single result for both halves. */

#define CF__COMPARE(name, condition)                                                        \
    CF__FN bool __h##name(CF__F16 a, CF__F16 b)                                             \
    {                                                                                       \
        const float x = a, y = b;                                                           \
        return condition;                                                                   \
    }                                                                                       \
    CF__FN CF__F16X2 __h##name##2(CF__F16X2 a, CF__F16X2 b)                                 \
    {                                                                                       \
        return {__h##name(a.x, b.x) ? 1.0f : 0.0f, __h##name(a.y, b.y) ? 1.0f : 0.0f};      \
    }                                                                                       \
    CF__FN unsigned int __h##name##2_mask(CF__F16X2 a, CF__F16X2 b)                         \
    {                                                                                       \
        return (__h##name(a.x, b.x) ? 0xffff : 0) | (__h##name(a.y, b.y) ? 0xffff0000 : 0); \
    }                                                                                       \
    CF__FN bool __hb##name##2(CF__F16X2 a, CF__F16X2 b)                                     \
    {                                                                                       \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                  \
    }
CF__COMPARE(eq, x == y)
CF__COMPARE(ne, x<y || x> y)
CF__COMPARE(lt, x < y)
CF__COMPARE(le, x <= y)
CF__COMPARE(gt, x > y)
CF__COMPARE(ge, x >= y)
CF__COMPARE(equ, !(x < y || x > y))
CF__COMPARE(neu, x != y)
CF__COMPARE(ltu, !(x >= y))
CF__COMPARE(leu, !(x > y))
CF__COMPARE(gtu, !(x <= y))
CF__COMPARE(geu, !(x < y))
#undef CF__COMPARE

CF__FN bool __hisnan(CF__F16 a)
{
    return (a.cf__bits & 0x7fff) > CF__F16_FORMAT::infinity;
}

CF__FN CF__F16X2 __hisnan2(CF__F16X2 a)
{
    return {__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f};
}

/* Returns the sign of an infinity, else 0. */
CF__FN int __hisinf(CF__F16 a)
{
    return a.cf__bits == CF__F16_FORMAT::infinity ? 1 : a.cf__bits == (CF__F16_FORMAT::infinity | 0x8000) ? -1 : 0;
}

/* ---- Operators ---- */

#define CF__OPERATORS(T, add, sub, mul, div, eq, ne, lt, le, gt, ge, neg, one) \
    CF__OPERATOR(T, +, add)                                                    \
    CF__OPERATOR(T, -, sub)                                                    \
    CF__OPERATOR(T, *, mul)                                                    \
    CF__OPERATOR(T, /, div)                                                    \
    CF__RELATION(T, ==, eq)                                                    \
    CF__RELATION(T, !=, ne)                                                    \
    CF__RELATION(T, <, lt)                                                     \
    CF__RELATION(T, <=, le)                                                    \
    CF__RELATION(T, >, gt)                                                     \
    CF__RELATION(T, >=, ge)                                                    \
    CF__FN T operator+(const T &a)                                             \
    {                                                                          \
        return a;                                                              \
    }                                                                          \
    CF__FN T operator-(const T &a)                                             \
    {                                                                          \
        return neg(a);                                                         \
    }                                                                          \
    CF__STEP(T, ++, add, one)                                                  \
    CF__STEP(T, --, sub, one)
#define CF__OPERATOR(T, op, function)            \
    CF__FN T operator op(const T &a, const T &b) \
    {                                            \
        return function(a, b);                   \
    }                                            \
    CF__FN T &operator op##=(T &a, const T &b)   \
    {                                            \
        return a = function(a, b);               \
    }
#define CF__RELATION(T, op, function)               \
    CF__FN bool operator op(const T &a, const T &b) \
    {                                               \
        return function(a, b);                      \
    }
#define CF__STEP(T, op, function, one) \
    CF__FN T &operator op(T &a)        \
    {                                  \
        return a = function(a, one);   \
    }                                  \
    CF__FN T operator op(T &a, int)    \
    {                                  \
        const T before = a;            \
        a = function(a, one);          \
        return before;                 \
    }
CF__OPERATORS(CF__F16, __hadd, __hsub, __hmul, __hdiv, __heq, __hneu, __hlt, __hle, __hgt, __hge, __hneg, CF__F16(1.0f))
CF__OPERATORS(CF__F16X2, __hadd2, __hsub2, __hmul2, __h2div, __hbeq2, __hbneu2, __hblt2, __hble2, __hbgt2, __hbge2,
              __hneg2, CF__F16X2(1.0f, 1.0f))
#undef CF__OPERATORS
#undef CF__OPERATOR
#undef CF__RELATION
#undef CF__STEP

/* ---- Atomics ---- */

CF__ATOMIC_ONE(atomicAdd, CF__F16, return cf__atomic(address, [=](CF__F16 old) { return __hadd(old, value); });)
CF__ATOMIC_ONE(atomicAdd, CF__F16X2,
               return CF__F16X2(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y));)

/* ---- Shuffles ---- */

CF__SHUFFLES(CF__F16)
CF__SHUFFLES(CF__F16X2)
