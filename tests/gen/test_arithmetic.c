/* test_arithmetic.c - operations that C++ leaves undefined have the same results as on a GPU, on every device:
 * conversions, shifts, divisions, zeros. */
#include <math.h>

#include "expect_all.h"

#include "arithmetic_kernels.h"

/* ---- Conversions ---- */

/* Results that were measured on an H200, as int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t and
 * uint64_t. */
static const struct {
    float x;
    int64_t results[8];
} of_floats[] = {
    {0, {0, 0, 0, 0, 0, 0, 0, 0}},
    {-0.0f, {0, 0, 0, 0, 0, 0, 0, 0}},
    {0.5f, {0, 0, 0, 0, 0, 0, 0, 0}},
    {-0.5f, {0, 0, 0, 0, 0, 0, 0, 0}},
    {1.5f, {1, 1, 1, 1, 1, 1, 1, 1}},
    {-1.5f, {-1, 0, -1, 0, -1, 0, -1, 0}},
    {127.5f, {127, 127, 127, 127, 127, 127, 127, 127}},
    {128, {-128, 128, 128, 128, 128, 128, 128, 128}},
    {-129, {127, 0, -129, 0, -129, 0, -129, 0}},
    {255.5f, {-1, 255, 255, 255, 255, 255, 255, 255}},
    {300, {44, 44, 300, 300, 300, 300, 300, 300}},
    {-300, {-44, 0, -300, 0, -300, 0, -300, 0}},
    {32767.5f, {-1, 255, 32767, 32767, 32767, 32767, 32767, 32767}},
    {65535.5f, {-1, 255, -1, 65535, 65535, 65535, 65535, 65535}},
    {70000, {112, 112, 4464, 4464, 70000, 70000, 70000, 70000}},
    {-70000, {-112, 0, -4464, 0, -70000, 0, -70000, 0}},
    {3e9f, {-1, 0, -1, 24064, 2147483647, 3000000000, 3000000000, 3000000000}},
    {-3e9f, {0, 0, 0, 0, -2147483648, 0, -3000000000, 0}},
    {5e9f, {-1, 255, -1, 65535, 2147483647, 4294967295, 5000000000, 5000000000}},
    {-5e9f, {0, 0, 0, 0, -2147483648, 0, -5000000000, 0}},
    {1e20f, {-1, 255, -1, 65535, 2147483647, 4294967295, 9223372036854775807, -1}},
    {-1e20f, {0, 0, 0, 0, -2147483648, 0, INT64_MIN, 0}},
    {INFINITY, {-1, 255, -1, 65535, 2147483647, 4294967295, 9223372036854775807, -1}},
    {-INFINITY, {0, 0, 0, 0, -2147483648, 0, INT64_MIN, 0}},
    {NAN, {0, 0, 0, 0, 0, 0, INT64_MIN, INT64_MIN}},
};

static const struct {
    double x;
    int64_t results[8];
} of_doubles[] = {
    {0, {0, 0, 0, 0, 0, 0, 0, 0}},
    {-0.0, {0, 0, 0, 0, 0, 0, 0, 0}},
    {0.5, {0, 0, 0, 0, 0, 0, 0, 0}},
    {-0.5, {0, 0, 0, 0, 0, 0, 0, 0}},
    {1.5, {1, 1, 1, 1, 1, 1, 1, 1}},
    {-1.5, {-1, 0, -1, 0, -1, 0, -1, 0}},
    {127.5, {127, 127, 127, 127, 127, 127, 127, 127}},
    {128, {-128, 128, 128, 128, 128, 128, 128, 128}},
    {-129, {127, 0, -129, 0, -129, 0, -129, 0}},
    {255.5, {-1, 255, 255, 255, 255, 255, 255, 255}},
    {300, {44, 44, 300, 300, 300, 300, 300, 300}},
    {-300, {-44, 0, -300, 0, -300, 0, -300, 0}},
    {32767.5, {-1, 255, 32767, 32767, 32767, 32767, 32767, 32767}},
    {65535.5, {-1, 255, -1, 65535, 65535, 65535, 65535, 65535}},
    {70000, {112, 112, 4464, 4464, 70000, 70000, 70000, 70000}},
    {-70000, {-112, 0, -4464, 0, -70000, 0, -70000, 0}},
    {3e9, {-1, 0, -1, 24064, 2147483647, 3000000000, 3000000000, 3000000000}},
    {-3e9, {0, 0, 0, 0, -2147483648, 0, -3000000000, 0}},
    {5e9, {-1, 255, -1, 65535, 2147483647, 4294967295, 5000000000, 5000000000}},
    {-5e9, {0, 0, 0, 0, -2147483648, 0, -5000000000, 0}},
    {1e20, {-1, 255, -1, 65535, 2147483647, 4294967295, 9223372036854775807, -1}},
    {-1e20, {0, 0, 0, 0, -2147483648, 0, INT64_MIN, 0}},
    {INFINITY, {-1, 255, -1, 65535, 2147483647, 4294967295, 9223372036854775807, -1}},
    {-INFINITY, {0, 0, 0, 0, -2147483648, 0, INT64_MIN, 0}},
    {NAN, {0, 0, 0, 0, -2147483648, 2147483648, INT64_MIN, INT64_MIN}},
};

#define COUNT_OF(array) (int)(sizeof(array) / sizeof *(array))

static void expect_row(double x, const int64_t *results, const int64_t *expected, int wrong)
{
    for (int k = 0; k < 8; k++)
        if (results[k] != expected[k])
            fail_msg("%g as type %d is %lld, not %lld", x, k, (long long)results[k], (long long)expected[k]);
    if (wrong)
        fail_msg("%g: another way to convert gives another value", x);
}

TEST(floats_become_the_integers_of_a_gpu)
{
    enum { COUNT = COUNT_OF(of_floats) };
    float x[COUNT];
    int64_t y[8 * COUNT];
    int wrong[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = of_floats[i].x;
    assert_ok(arithmetic_of_float(x, y, wrong, COUNT));
    for (int i = 0; i < COUNT; i++)
        expect_row((double)x[i], y + 8 * i, of_floats[i].results, wrong[i]);
}

/* Conversions without a cast: in shared memory, named types, arrays in structs, and through addresses. */
TEST(floats_become_integers_in_any_place)
{
    enum { COUNT = COUNT_OF(of_floats), PLACES = 16 };
    float x[COUNT];
    int y[PLACES * COUNT];
    struct counter parts[COUNT];
    memset(parts, 0, sizeof parts);
    for (int i = 0; i < COUNT; i++)
        x[i] = of_floats[i].x;
    assert_ok(arithmetic_of_targets(x, parts, y, COUNT));
    for (int i = 0; i < PLACES * COUNT; i++)
        if (y[i] != of_floats[i / PLACES].results[4])
            fail_msg("%g in place %d is %d", (double)x[i / PLACES], i % PLACES, y[i]);
}

TEST(doubles_become_the_integers_of_a_gpu)
{
    enum { COUNT = COUNT_OF(of_doubles) };
    double x[COUNT];
    int64_t y[8 * COUNT];
    int wrong[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = of_doubles[i].x;
    assert_ok(arithmetic_of_double(x, y, wrong, COUNT));
    for (int i = 0; i < COUNT; i++)
        expect_row(x[i], y + 8 * i, of_doubles[i].results, wrong[i]);
}

/* 16-bit floats saturate at the limits of every integer type, including those of 8 and 16 bits. */
TEST(halves_become_the_integers_of_a_gpu)
{
    static const float x[] = {-0.5f, 1.5f, -1.5f, 300, -300, 1e20f, -1e20f, NAN};
    enum { COUNT = COUNT_OF(x) };
    static const int64_t expected[COUNT][8] = {
        {0},
        {1, 1, 1, 1, 1, 1, 1, 1},
        {-1, 0, -1, 0, -1, 0, -1, 0},
        {127, 255, 300, 300, 300, 300, 300, 300},
        {-128, 0, -300, 0, -300, 0, -300, 0},
        {127, 255, 32767, 65535, INT32_MAX, UINT32_MAX, INT64_MAX, -1},
        {-128, 0, -32768, 0, INT32_MIN, 0, INT64_MIN, 0},
        {0, 0, 0, 0, 0, 0, INT64_MIN, INT64_MIN},
    };
    int64_t y[8 * COUNT], z[8 * COUNT];
    assert_ok(arithmetic_of_halves(x, y, z, COUNT));
    for (int i = 0; i < COUNT; i++) {
        expect_row((double)x[i], y + 8 * i, expected[i], 0);
        expect_row((double)x[i], z + 8 * i, expected[i], 0);
    }
}

/* ---- Shifts and divisions ---- */

static uint64_t left(uint64_t x, unsigned by)
{
    return by < 64 ? x << by : 0;
}

static int64_t right(int64_t x, unsigned by)
{
    return x >> (by < 63 ? by : 63);
}

TEST(shifts_by_any_count_are_those_of_a_gpu)
{
    static const int64_t values[] = {0, 1, -1, 12345, -12345, INT32_MIN, INT32_MAX, INT64_MIN, 0x123456789abcdef0};
    static const int counts[] = {0, 1, 5, 31, 32, 33, 63, 64, 65, 255, 256, -1, -32, INT32_MIN};
    enum { COUNT = COUNT_OF(values) * COUNT_OF(counts) };
    int64_t x[COUNT], y[8 * COUNT];
    int by[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = values[i / COUNT_OF(counts)], by[i] = counts[i % COUNT_OF(counts)];
    assert_ok(arithmetic_shifts(x, by, y, COUNT));
    for (int i = 0; i < COUNT; i++) {
        const unsigned n = (unsigned)by[i], byte = (uint8_t)x[i], few = (uint8_t)by[i];
        const int32_t shifted = (int32_t)left((uint32_t)x[i], n);
        const int64_t expected[] = {
            (int32_t)left((uint32_t)x[i], n),
            right((int32_t)x[i], n),
            (uint32_t)left((uint32_t)x[i], few),
            n < 32 ? (uint32_t)x[i] >> n : 0,
            (int64_t)left((uint64_t)x[i], n),
            right(x[i], n),
            (int64_t)((n < 64 ? (uint64_t)x[i] >> n : 0) + (uint64_t)right(shifted, n)),
            (int32_t)((uint32_t)left(byte, n) + (uint32_t)right((int8_t)byte, n)),
        };
        for (int k = 0; k < 8; k++)
            if (y[8 * i + k] != expected[k])
                fail_msg("shift %d of %lld by %d gives %lld, not %lld", k, (long long)x[i], by[i],
                         (long long)y[8 * i + k], (long long)expected[k]);
    }
}

/* Divisions by 0 and by -1. The results were measured on an H200, with nvcc 13.0 compiling each operation
 * separately. */
TEST(divisions_by_0_are_those_of_a_gpu)
{
    const int64_t low = UINT32_MAX;
    static const int64_t x[] = {7, -7, 0, INT32_MIN, INT64_MIN, (int64_t)1 << 40, INT32_MIN, INT64_MIN};
    static const int64_t by[] = {0, 0, 0, 0, 0, 0, -1, -1};
    enum { COUNT = COUNT_OF(x) };
    const int64_t quotients[COUNT][8] = {
        {-1, low, low, low, 65535, -1, -1, -1},
        {-1, low, -1, -1, 65535, -1, -1, -1},
        {-1, low, low, low, 65535, -1, -1, -1},
        {-1, low, -1, -1, 65535, -1, -1, -1},
        {-1, low, -1, -1, 65535, -1, -1, -1},
        {-1, low, -1, -1, 65535, -1, -1, -1},
        {INT32_MIN, 0, -(int64_t)INT32_MIN, 0, 0, 0, INT32_MIN, -100},
        {0, 0, INT64_MIN, 0, 0, 0, 0, -100},
    };
    const int64_t remainders[COUNT][4] = {
        {-1, low, low, low},
        {-1, low, -1, -1},
        {-1, low, low, low},
        {-1, low, -1, -1},
        {-1, low, -1, -1},
        {-1, low, -1, -1},
        {0, (int64_t)1 << 31, 0, INT32_MIN},
        {0, 0, 0, INT64_MIN},
    };
    int64_t y[8 * COUNT];
    assert_ok(arithmetic_divisions(x, by, y, COUNT));
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 8; k++)
            if (y[8 * i + k] != quotients[i][k])
                fail_msg("quotient %d of %lld and %lld is %lld, not %lld", k, (long long)x[i], (long long)by[i],
                         (long long)y[8 * i + k], (long long)quotients[i][k]);
    assert_ok(arithmetic_remainders(x, by, y, COUNT));
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 4; k++)
            if (y[4 * i + k] != remainders[i][k])
                fail_msg("remainder %d of %lld and %lld is %lld, not %lld", k, (long long)x[i], (long long)by[i],
                         (long long)y[4 * i + k], (long long)remainders[i][k]);
}

/* ---- Zeros ---- */

TEST(zeros_are_ordered)
{
    static const float a[] = {0, -0.0f, 0, -0.0f, 1, -1, NAN, -0.0f, NAN},
                       b[] = {-0.0f, 0, 0, -0.0f, -0.0f, 0, -0.0f, 1, 0};
    enum { COUNT = COUNT_OF(a), ALL = 0xfff, OF_NAN = 0xa00 };
    static const unsigned less[COUNT] = {ALL, ALL, 0, ALL, ALL, ALL, ALL, ALL, 0},
                          more[COUNT] = {0, 0, 0, ALL, 0, 0, ALL, 0, 0};
    unsigned least[COUNT], most[COUNT];
    assert_ok(arithmetic_zeros(a, b, least, most, COUNT));
    for (int i = 0; i < COUNT; i++) {
        const unsigned counted = a[i] == a[i] ? ALL : ALL & ~OF_NAN; /* ignores functions with _nan if a is NaN */
        if (((least[i] ^ less[i]) | (most[i] ^ more[i])) & counted)
            fail_msg("%g and %g: signs %#x and %#x, not %#x and %#x", (double)a[i], (double)b[i], least[i], most[i],
                     less[i], more[i]);
    }
}

/* Operators on bit-fields, packed members, objects, constants and templates must not change. */
TEST(other_operators_are_what_they_were)
{
    expect_all(3, arithmetic_operators, 3, 0);
}

int main(void)
{
    return run_played(&arithmetic_registry, NULL);
}
