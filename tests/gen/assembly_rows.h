/* assembly_rows.h - the instructions of assembly.cu, with their results in plain C, for test_assembly.c. */
#ifndef ASSEMBLY_ROWS_H
#define ASSEMBLY_ROWS_H

/* One operand of 32 bits, a. */
#define ROWS_1(X)                                 \
    X("popc.b32", bit_count(a))                   \
    X("clz.b32", leading_zeros(a, 32))            \
    X("brev.b32", reversed(a, 32))                \
    X("not.b32", ~a)                              \
    X("neg.s32", 0 - a)                           \
    X("abs.s32", a >> 31 ? 0 - a : a)             \
    X("bfind.u32", find_bit(a, 32, 0))            \
    X("bfind.s32", find_bit(a, 32, 1))            \
    X("bfind.shiftamt.u32", find_shift(a, 32, 0)) \
    X("bfind.shiftamt.s32", find_shift(a, 32, 1)) \
    X("mov.u32", a)                               \
    X("mov.b32", a)                               \
    X("cvt.u32.s32", a)

/* Two operands, a and b. */
#define ROWS_2(X)                                                       \
    X("and.b32", a &b)                                                  \
    X("or.b32", a | b)                                                  \
    X("xor.b32", a ^ b)                                                 \
    X("shl.b32", b > 31 ? 0 : a << b)                                   \
    X("shr.u32", b > 31 ? 0 : a >> b)                                   \
    X("shr.b32", b > 31 ? 0 : a >> b)                                   \
    X("shr.s32", (uint32_t)((int64_t)(int32_t)a >> (b > 31 ? 31 : b)))  \
    X("add.u32", a + b)                                                 \
    X("add.s32", a + b)                                                 \
    X("sub.s32", a - b)                                                 \
    X("sub.u32", a - b)                                                 \
    X("mul.lo.u32", a *b)                                               \
    X("mul.lo.s32", a *b)                                               \
    X("mul.hi.u32", (uint32_t)((uint64_t)a * b >> 32))                  \
    X("mul.hi.s32", (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32)) \
    X("min.u32", a < b ? a : b)                                         \
    X("max.u32", a < b ? b : a)                                         \
    X("min.s32", (int32_t)a < (int32_t)b ? a : b)                       \
    X("max.s32", (int32_t)a < (int32_t)b ? b : a)

/* Three operands, a, b and c. */
#define ROWS_3(X)                                                           \
    X("bfe.u32", (uint32_t)field(a, b, c, 32, 0))                           \
    X("bfe.s32", (uint32_t)field(a, b, c, 32, 1))                           \
    X("prmt.b32", permuted(a, b, c))                                        \
    X("shf.l.wrap.b32", (uint32_t)(pair(a, b) << (c & 31) >> 32))           \
    X("shf.r.wrap.b32", (uint32_t)(pair(a, b) >> (c & 31)))                 \
    X("shf.l.clamp.b32", c > 31 ? a : (uint32_t)(pair(a, b) << c >> 32))    \
    X("shf.r.clamp.b32", c > 31 ? b : (uint32_t)(pair(a, b) >> c))          \
    X("mad.lo.u32", a *b + c)                                               \
    X("mad.lo.s32", a *b + c)                                               \
    X("mad.hi.u32", (uint32_t)((uint64_t)a * b >> 32) + c)                  \
    X("mad.hi.s32", (uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32) + c) \
    X("dp4a.u32.u32", c + dot(a, b, 4, 0, 0))                               \
    X("dp4a.s32.s32", c + dot(a, b, 4, 1, 1))                               \
    X("dp4a.u32.s32", c + dot(a, b, 4, 0, 1))                               \
    X("dp2a.lo.s32.u32", c + dot(a, b, 2, 1, 0))                            \
    X("dp2a.hi.u32.s32", c + dot(a, b >> 16, 2, 0, 1))                      \
    X("dp2a.hi.s32.s32", c + dot(a, b >> 16, 2, 1, 1))

/* Comparisons of a and b. */
#define ROWS_COMPARE(X)                        \
    X("setp.eq.b32", a == b)                   \
    X("setp.ne.s32", a != b)                   \
    X("setp.lt.u32", a < b)                    \
    X("setp.le.u32", a <= b)                   \
    X("setp.gt.s32", (int32_t)a > (int32_t)b)  \
    X("setp.ge.s32", (int32_t)a >= (int32_t)b) \
    X("setp.lo.u32", a < b)                    \
    X("setp.ls.u32", a <= b)                   \
    X("setp.hi.u32", a > b)                    \
    X("setp.hs.u32", a >= b)

/* Comparisons of x and y, which may be NaN. */
#define ROWS_COMPARE_FLOAT(X)                         \
    X("setp.eq.f32", x == y)                          \
    X("setp.ne.f32", x<y || x> y)                     \
    X("setp.lt.f32", x < y)                           \
    X("setp.ge.ftz.f32", x >= y)                      \
    X("setp.equ.f32", !(x < y || x > y))              \
    X("setp.neu.f32", x != y)                         \
    X("setp.ltu.f32", x < y || isnan(x) || isnan(y))  \
    X("setp.leu.f32", x <= y || isnan(x) || isnan(y)) \
    X("setp.gtu.f32", x > y || isnan(x) || isnan(y))  \
    X("setp.geu.f32", x >= y || isnan(x) || isnan(y)) \
    X("setp.num.f32", !isnan(x) && !isnan(y))         \
    X("setp.nan.f32", isnan(x) || isnan(y))

/* Results that saturate. */
#define ROWS_SATURATED(X)                                                                       \
    X("add.sat.s32", (uint32_t)clamped((int64_t)(int32_t)a + (int32_t)b, INT32_MIN, INT32_MAX)) \
    X("sub.sat.s32", (uint32_t)clamped((int64_t)(int32_t)a - (int32_t)b, INT32_MIN, INT32_MAX))

/* The bits of the smaller or larger of two numbers, which may be NaN; LACKING on GPUs before compute capability 8.6. */
#define LACKING 0xdeadbeefu
#define ROWS_EXTREME(X)                                                            \
    X("max.NaN.f32", isnan(x) || isnan(y) ? 0x7fffffff : bits_of(fmaxf(x, y)))     \
    X("min.ftz.NaN.f32", isnan(x) || isnan(y) ? 0x7fffffff : bits_of(fminf(x, y))) \
    X("max.xorsign.abs.f32", signed_bits(fmaxf(fabsf(x), fabsf(y)), x, y))         \
    X("min.xorsign.abs.f32", signed_bits(fminf(fabsf(x), fabsf(y)), x, y))         \
    X("max.NaN.xorsign.abs.f32", signed_bits(x + y != x + y ? NAN : fmaxf(fabsf(x), fabsf(y)), x, y))

/* 64 bits, from p and q. */
#define ROWS_1_WIDE(X)                \
    X("brev.b64", reversed(p, 64))    \
    X("not.b64", ~p)                  \
    X("neg.s64", 0 - p)               \
    X("abs.s64", p >> 63 ? 0 - p : p) \
    X("mov.u64", p)

#define ROWS_2_WIDE(X)                                                          \
    X("and.b64", p &q)                                                          \
    X("or.b64", p | q)                                                          \
    X("xor.b64", p ^ q)                                                         \
    X("add.u64", p + q)                                                         \
    X("add.s64", p + q)                                                         \
    X("sub.s64", p - q)                                                         \
    X("mul.lo.u64", p *q)                                                       \
    X("mul.lo.s64", p *q)                                                       \
    X("mul.hi.u64", high_product(p, q))                                         \
    X("mul.hi.s64", high_product(p, q) - (p >> 63 ? q : 0) - (q >> 63 ? p : 0)) \
    X("min.u64", p < q ? p : q)                                                 \
    X("max.s64", (int64_t)p < (int64_t)q ? q : p)

/* 64 bits, from p of 64 and b of 32 bits. */
#define ROWS_SHIFT(X)                 \
    X("shl.b64", b > 63 ? 0 : p << b) \
    X("shr.u64", b > 63 ? 0 : p >> b) \
    X("shr.s64", (uint64_t)((int64_t)p >> (b > 63 ? 63 : b)))

/* 32 bits, from p of 64 bits. */
#define ROWS_COUNT(X)                             \
    X("popc.b64", bit_count(p))                   \
    X("clz.b64", leading_zeros(p, 64))            \
    X("bfind.u64", find_bit(p, 64, 0))            \
    X("bfind.s64", find_bit(p, 64, 1))            \
    X("bfind.shiftamt.s64", find_shift(p, 64, 1)) \
    X("cvt.u32.u64", (uint32_t)p)                 \
    X("cvt.s16.s64", (uint32_t)(int16_t)p)

/* 64 bits, from a and b of 32 bits. */
#define ROWS_PRODUCT(X)               \
    X("mul.wide.u32", (uint64_t)a *b) \
    X("mul.wide.s32", (uint64_t)((int64_t)(int32_t)a * (int32_t)b))

/* Functions of the numbers x, y and z. The last column is the permitted error, relative and absolute. */
#define ROWS_FLOAT_1(X)                       \
    X("neg.f32", -x, 0)                       \
    X("abs.f32", fabsf(x), 0)                 \
    X("rcp.rn.f32", 1 / x, 0)                 \
    X("sqrt.rn.f32", sqrtf(fabsf(x)), 0)      \
    X("ex2.approx.ftz.f32", exp2f(x), 1e-6)   \
    X("lg2.approx.f32", log2f(x), 1e-5)       \
    X("rcp.approx.ftz.f32", 1 / x, 1e-6)      \
    X("rsqrt.approx.f32", 1 / sqrtf(x), 1e-6) \
    X("sqrt.approx.ftz.f32", sqrtf(x), 1e-6)  \
    X("sin.approx.f32", sinf(x), 1e-5)        \
    X("cos.approx.f32", cosf(x), 1e-5)        \
    X("tanh.approx.f32", tanhf(x), 1e-3)

#define ROWS_FLOAT_2(X)                                 \
    X("add.rn.f32", x + y, 0)                           \
    X("sub.f32", x - y, 0)                              \
    X("mul.rn.ftz.f32", x *y, 0)                        \
    X("mul.rz.f32", product_toward(x, y, 0), 0)         \
    X("mul.rm.f32", product_toward(x, y, -INFINITY), 0) \
    X("mul.rp.f32", product_toward(x, y, INFINITY), 0)  \
    X("div.rn.f32", x / y, 0)                           \
    X("div.full.f32", x / y, 1e-6)                      \
    X("min.f32", fminf(x, y), 0)                        \
    X("max.ftz.f32", fmaxf(x, y), 0)

#define ROWS_DOUBLE(X)          \
    X("add.rn.f64", u + v, 0)   \
    X("sub.rn.f64", u - v, 0)   \
    X("mul.rn.f64", u *v, 0)    \
    X("div.rn.f64", u / v, 0)   \
    X("min.f64", fmin(u, v), 0) \
    X("max.f64", fmax(u, v), 0)

#define ONE_MORE(...) +1
#define COUNT_ROWS(list) (0 list(ONE_MORE))

#endif
