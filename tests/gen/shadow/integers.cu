/* integers.cu - bit counts, permutations, products, and the bits of floats. */
#include "expect.h"

__global__ void check(int *wrong)
{
    volatile int zero = 0; /* keeps the compiler from evaluating the calls */
    EXPECT(__popc(0xf0f0 + zero) == 8 && __popcll(~0ull - zero) == 64 && __popc(zero) == 0);
    EXPECT(__clz(1 + zero) == 31 && __clz(zero) == 32 && __clz(-1 - zero) == 0 && __clzll(zero) == 64 &&
           __clzll(1) == 63);
    EXPECT(__ffs(zero) == 0 && __ffs(8 + zero) == 4 && __ffs((int)0x80000000) == 32 &&
           __ffsll(1ll << (40 + zero)) == 41);
    EXPECT(__brev(1u + zero) == 0x80000000 && __brev(0x12345678u) == 0x1e6a2c48 && __brevll(2) == 1ull << 62);
    EXPECT(__byte_perm(0x33221100 + zero, 0x77665544, 0x7531) == 0x77553311);
    EXPECT(__byte_perm(0x33228100 + zero, 0x77665544, 0x0009) == 0x00000081);
    EXPECT(__byte_perm(0x33228100 + zero, 0x77665544, 0x889a) == 0x00008122);
    EXPECT(__funnelshift_l(0x89abcdef, 0x01234567, 8 + zero) == 0x23456789);
    EXPECT(__funnelshift_l(0x89abcdef, 0x01234567, 32 + zero) == 0x01234567);
    EXPECT(__funnelshift_lc(0x89abcdef, 0x01234567, 32 + zero) == 0x89abcdef);
    EXPECT(__funnelshift_r(0x89abcdef, 0x01234567, 8 + zero) == 0x6789abcd);
    EXPECT(__funnelshift_r(0x89abcdef, 0x01234567, 40 + zero) == 0x6789abcd);
    EXPECT(__funnelshift_rc(0x89abcdef, 0x01234567, 40 + zero) == 0x01234567);

    EXPECT(__mulhi(-2 + zero, 3) == -1 && __umulhi(0xffffffff - zero, 0xffffffff) == 0xfffffffe);
    EXPECT(__mul64hi(-2 + zero, 3) == -1 && __umul64hi(~0ull - zero, ~0ull) == ~0ull - 1);
    EXPECT(__mul24(-3 + zero, 5) == -15 && __mul24(0x01000002 + zero, 3) == 6 &&
           __mul24(0x800000, 2 + zero) == -16777216);
    EXPECT(__umul24(0xff000003 + zero, 4) == 12);
    EXPECT(__sad(-5 + zero, 7, 10) == 22 && __sad((int)0x80000000 + zero, 0x7fffffff, 0) == 0xffffffff);
    EXPECT(__usad(5 + zero, 7, 10) == 12);
    EXPECT(__hadd(7 + zero, 8) == 7 && __hadd(-7 + zero, -8) == -8 && __rhadd(7 + zero, 8) == 8);
    EXPECT(__uhadd(0xffffffff - zero, 0xffffffff) == 0xffffffff && __urhadd(7 + zero, 8) == 8);
    EXPECT(__dp4a(0x01ff0203 + zero, 0x04050607, 100) == 100 + 4 - 5 + 12 + 21);
    EXPECT(__dp4a(0x01ff0203u + zero, 0x04050607u, 100u) == 100u + 4 + 255 * 5 + 12 + 21);
    EXPECT(__dp4a(make_char4(1, -2, 3, 4), make_char4(5, 6, 7, 8), 1 + zero) == 1 + 5 - 12 + 21 + 32);
    EXPECT(__dp2a_lo(0x0001fffe + zero, 0x7f7f03ff, 10) == 10 + 2 + 3);
    EXPECT(__dp2a_hi(0x0001fffe + zero, 0x03ff7f7f, 10) == 10 + 2 + 3);
    EXPECT(__dp2a_lo(0x0001fffeu + zero, 0x7f7f03ffu, 10u) == 10u + 0xfffe * 0xff + 3);
    EXPECT(__dp2a_hi(make_short2(-3, 4), make_char4(9, 9, -5, 6), 1 + zero) == 1 + 15 + 24);
    EXPECT(__dp2a_lo(make_ushort2(65535, 4), make_uchar4(255, 6, 9, 9), 1u + zero) == 1u + 65535 * 255 + 24);
    EXPECT(__fns(0x80000105 + zero, 0, 2) == 2 && __fns(0x80000105 + zero, 3, 2) == 31);
    EXPECT(__fns(0x80000105 + zero, 8, 1) == 8 && __fns(0x80000105 + zero, 8, -1) == 8);
    EXPECT(__fns(0x80000105 + zero, 9, -3) == 0 && __fns(0x80000105 + zero, 9, -4) == ~0u);
    EXPECT(__fns(0x80000105 + zero, 8, 0) == 8 && __fns(0x80000105 + zero, 9, 0) == ~0u);
    EXPECT(__fns(0x80000105 + zero, 0, 5) == ~0u && __fns(zero, 0, 1) == ~0u);

    EXPECT(__float_as_int(1.0f + zero) == 0x3f800000 && __float_as_uint(-2.0f + zero) == 0xc0000000);
    EXPECT(__int_as_float(0x40490fdb + zero) == 3.14159274f && __uint_as_float(0x80000000 + zero) == 0);
    EXPECT(__double_as_longlong(1.0 + zero) == 0x3ff0000000000000 &&
           __longlong_as_double(0x4000000000000000 + zero) == 2);
    EXPECT(__double2hiint(1.0 + zero) == 0x3ff00000 && __double2loint(1.0 + 0x1p-52 + zero) == 1);
    EXPECT(__hiloint2double(0x3ff00000 + zero, 1) == 1.0 + 0x1p-52);
    EXPECT(__hiloint2double(0x3ff00000 + zero, -1) == 1.0 + 0xffffffff * 0x1p-52);
}

EXPECT_RUN
