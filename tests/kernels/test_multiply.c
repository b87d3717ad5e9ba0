/* test_multiply.c - products of arrays and of an array with a number, compared with plain loops. */
#include "elementwise.h"

#include <cuferry/kernels.h>

static number multiply(int type, number a, number x, number y)
{
    (void)a;
    return plain_times(type, x, y);
}

static number scale(int type, number a, number x, number y)
{
    (void)y;
    return plain_times(type, a, x);
}

static struct elementwise of_multiply = {.family = "multiply", .inputs = 2, .op = multiply},
                          of_scale = {.family = "scale", .has_scalar = 1, .inputs = 1, .op = scale};

TEST(multiply_generic_takes_every_type)
{
    float f[] = {3};
    double d[] = {3};
    int32_t i[] = {INT32_MIN};
    int64_t l[] = {INT64_MAX};
    cf_half h[] = {{0x4200}};
    cf_bfloat16 b[] = {{0x4040}};
    assert_ok(cf_multiply(f, f, f, 1));
    assert_ok(cf_multiply(d, d, d, 1));
    assert_ok(cf_multiply(i, i, i, 1));
    assert_ok(cf_multiply(l, l, l, 1));
    assert_ok(cf_multiply(h, h, h, 1));
    assert_ok(cf_multiply(b, b, b, 1));
    assert_true(f[0] == 9 && d[0] == 9 && i[0] == 0 && l[0] == 1 && h[0].bits == 0x4880 && b[0].bits == 0x4110);
    assert_ok(cf_scale(2.f, f, f, 1));
    assert_ok(cf_scale(2., d, d, 1));
    assert_ok(cf_scale(2, i, i, 1));
    assert_ok(cf_scale(INT64_MAX, l, l, 1));
    assert_ok(cf_scale(2.f, h, h, 1));
    assert_ok(cf_scale(2.f, b, b, 1));
    assert_true(f[0] == 18 && d[0] == 18 && i[0] == 0 && l[0] == INT64_MAX && h[0].bits == 0x4c80 &&
                b[0].bits == 0x4190);
}

/* 16-bit floats become infinite or subnormal when the float result is rounded. */
TEST(scale_16_bits_are_rounded_once)
{
    cf_half x[] = {{0x7bff}, {0x0001}, {0x0400}, {0x7e00}}, y[4];
    assert_ok(cf_scale(1.0004883f, x, y, 4)); /* just past half way from 65504 to the next step, which is infinite */
    assert_true(y[0].bits == 0x7c00 && y[1].bits == 1 && y[2].bits == 0x0400 && (y[3].bits & 0x7fff) > 0x7c00);
    assert_ok(cf_scale(0.5f, x, y, 4)); /* ties round to even */
    assert_true(y[0].bits == 0x77ff && y[1].bits == 0 && y[2].bits == 0x0200);
}

TEST(multiply_bad_arguments_are_named)
{
    float x[2] = {1, 2};
    assert_fails(cf_multiply((const float *)NULL, x, x, 2), CF_EINVAL,
                 "cf_multiply_f32: x is NULL and its extent is 2");
    assert_fails(cf_multiply(x, (const float *)NULL, x, 2), CF_EINVAL,
                 "cf_multiply_f32: y is NULL and its extent is 2");
    assert_fails(cf_multiply(x, x, (float *)NULL, 2), CF_EINVAL, "cf_multiply_f32: z is NULL and its extent is 2");
    assert_fails(cf_multiply(x, x, x, -1), CF_EINVAL, "cf_multiply_f32: the extent x[n] is negative with n = -1");
    assert_fails(cf_scale(2.f, x, x, -1), CF_EINVAL, "cf_scale_f32: the extent x[n] is negative with n = -1");
    assert_fails(cf_scale(2.f, x, (float *)NULL, 1), CF_EINVAL, "cf_scale_f32: y is NULL and its extent is 1");
    assert_ok(cf_multiply((float *)NULL, (float *)NULL, (float *)NULL, 0));
    assert_true(x[0] == 1 && x[1] == 2);
}

TEST(descriptors_say_what_they_cost)
{
    expect_costs("multiply", 3, 1);
    expect_costs("scale", 2, 1);
}

int main(void)
{
    ELEMENTWISE_TESTS(multiply, &of_multiply);
    ELEMENTWISE_IN_PLACE_TEST(multiply, &of_multiply);
    ELEMENTWISE_TESTS(scale, &of_scale);
    ELEMENTWISE_IN_PLACE_TEST(scale, &of_scale);
    return run_all_tests(NULL, end_library);
}
