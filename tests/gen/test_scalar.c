/* test_scalar.c - conversions of floats that C sees as bits: all values and ties. They are compared with the toolkit's
 * own conversions if a toolkit is installed. */
#include <math.h>
#include <stdlib.h>

#include <cuferry/scalar.h>

#include "config.h"
#include "run_group.h"

#if CF_CONFIG_CUDA_TYPEDEFS
#include <cuda_fp8.h>
#endif

static double read_bits(cf_type type, uint32_t bits)
{
    return cf_float_read(type, &bits);
}

static uint32_t write_bits(cf_type type, double number)
{
    uint32_t bits = 0;
    cf_float_write(type, number, &bits);
    return bits;
}

/* Checks two positive neighbours, whose bits are `low` and `low` + 1, and all numbers between them. */
static void check_neighbours(cf_type type, uint32_t low, double number, double next)
{
    const double tie = number + (next - number) / 2;
    const uint32_t sign = 1U << (8 * cf_type_size(type) - 1), even = low + (low & 1);
    assert_true(number < next);
    assert_int_equal(write_bits(type, number), low);
    assert_int_equal(write_bits(type, -number), low | sign);
    assert_int_equal(write_bits(type, nextafter(tie, 0)), low);
    assert_int_equal(write_bits(type, tie), even);
    assert_int_equal(write_bits(type, -tie), even | sign);
    assert_int_equal(write_bits(type, nextafter(tie, INFINITY)), low + 1);
}

TEST(float_of_every_value_and_tie_is_exact)
{
    for (int known = 0; known < CF_TYPE_COUNT; known++) {
        const cf_type type = (cf_type)known;
        if (cf_type_kind(type) != 'f' || cf_type_size(type) >= sizeof(float))
            continue;
        const uint32_t sign = 1U << (8 * cf_type_size(type) - 1);
        uint32_t last = 0;
        while (isfinite(read_bits(type, last + 1))) {
            check_neighbours(type, last, read_bits(type, last), read_bits(type, last + 1));
            assert_true(read_bits(type, last + 1 + sign) == -read_bits(type, last + 1));
            last++;
        }
        /* The number after the largest one becomes infinity, or NaN. */
        check_neighbours(type, last, read_bits(type, last), 2 * read_bits(type, last) - read_bits(type, last - 1));
        assert_int_equal(write_bits(type, INFINITY), last + 1);
        assert_int_equal(write_bits(type, -1e300), (last + 1) | sign);
        assert_int_equal(write_bits(type, 5e-324), 0);
        assert_int_equal(write_bits(type, -0.0), sign);
        for (uint32_t bits = last + 2; bits < sign; bits++) {
            assert_true(isnan(read_bits(type, bits)) && isnan(read_bits(type, bits | sign)));
            assert_true(isnan(read_bits(type, write_bits(type, read_bits(type, bits)))));
        }
    }
}

TEST(float_of_known_bits_is_its_number)
{
    static const struct {
        cf_type type;
        uint32_t bits;
        double number;
    } rows[] = {
        {CF_F16, 0x3555, 0x1.554p-2},
        {CF_F16, 0x7bff, 65504},
        {CF_F16, 0x0001, 0x1p-24},
        {CF_F16, 0xfc00, -INFINITY},
        {CF_BF16, 0x3dcd, 0x1.9ap-4},
        {CF_BF16, 0x0001, 0x1p-133},
        {CF_BF16, 0x7f80, INFINITY},
        {CF_E4M3, 0x38, 1},
        {CF_E4M3, 0x01, 0x1p-9},
        {CF_E4M3, 0x7e, 448},
        {CF_E4M3, 0xc4, -3},
        {CF_E5M2, 0x3c, 1},
        {CF_E5M2, 0x01, 0x1p-16},
        {CF_E5M2, 0x7b, 57344},
        {CF_E5M2, 0xfc, -INFINITY},
        {CF_F32, 0x3fc00000, 1.5},
        {CF_F32, 0xff7fffff, -0x1.fffffep127},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(read_bits(rows[i].type, rows[i].bits) == rows[i].number);
        assert_int_equal(write_bits(rows[i].type, rows[i].number), rows[i].bits);
    }
    assert_int_equal(write_bits(CF_E4M3, 464), 0x7e);
    assert_int_equal(write_bits(CF_E4M3, 465), 0x7f);
    assert_true(isnan(read_bits(CF_E4M3, 0xff)));
    double third = 0;
    cf_float_write(CF_F64, 1.0 / 3, &third);
    assert_true(cf_float_read(CF_F64, &third) == 1.0 / 3);
}

TEST(float_of_another_kind_is_0_and_not_written)
{
    for (int known = 0; known <= CF_TYPE_COUNT; known++)
        if (cf_type_kind((cf_type)known) != 'f') {
            assert_true(read_bits((cf_type)known, 0x3f800000) == 0);
            assert_int_equal(write_bits((cf_type)known, 1), 0);
        }
}

#if CF_CONFIG_CUDA_TYPEDEFS
static void check_toolkit(cf_type type, __nv_fp8_interpretation_t kind)
{
    for (uint32_t bits = 0; bits < 256; bits++) {
        const double number = read_bits(type, bits);
        const __half_raw half = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)bits, kind);
        const double expected = read_bits(CF_F16, half.x);
        assert_true(number == expected || (isnan(number) && isnan(expected)));
        assert_int_equal(write_bits(type, number), __nv_cvt_double_to_fp8(number, __NV_NOSAT, kind));
    }
    srand48(1);
    for (int i = 0; i < 100000; i++) {
        /* Half of the numbers have few digits, so that ties occur. */
        const double digits = i % 2 ? drand48() : (double)(lrand48() % 64) / 32;
        const double number = ldexp(digits, (int)(lrand48() % 40) - 22) * (i % 3 ? 1 : -1);
        assert_int_equal(write_bits(type, number), __nv_cvt_double_to_fp8(number, __NV_NOSAT, kind));
    }
}

TEST(float_of_8_bits_is_the_toolkits)
{
    check_toolkit(CF_E4M3, __NV_E4M3);
    check_toolkit(CF_E5M2, __NV_E5M2);
}
#endif

int main(void)
{
    return run_all_tests(NULL, NULL);
}
