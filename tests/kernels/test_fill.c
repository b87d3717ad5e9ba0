/* test_fill.c - kernels that fill and copy arrays, compared with plain loops. */
#include "elementwise.h"

#include <cuferry/kernels.h>

static number fill(int type, number a, number x, number y)
{
    (void)type, (void)x, (void)y;
    return a;
}

static number copy(int type, number a, number x, number y)
{
    (void)type, (void)a, (void)y;
    return x;
}

static struct elementwise of_fill = {.family = "fill", .has_scalar = 1, .op = fill},
                          of_copy = {.family = "copy", .inputs = 1, .op = copy};

TEST(fill_generic_takes_every_type)
{
    float f[2] = {0};
    double d[2] = {0};
    int32_t i[2] = {0};
    int64_t l[2] = {0};
    cf_half h[2] = {{0}, {0}};
    cf_bfloat16 b[2] = {{0}, {0}};
    assert_ok(cf_fill(1.5f, f, 1));
    assert_ok(cf_fill(2.5, d, 1));
    assert_ok(cf_fill(3, i, 1));
    assert_ok(cf_fill(INT64_C(1) << 40, l, 1));
    assert_ok(cf_fill(1.f, h, 1));
    assert_ok(cf_fill(1.f, b, 1));
    assert_true(f[0] == 1.5f && f[1] == 0 && d[0] == 2.5 && d[1] == 0 && i[0] == 3 && i[1] == 0);
    assert_true(l[0] == INT64_C(1) << 40 && l[1] == 0);
    assert_true(h[0].bits == 0x3c00 && h[1].bits == 0 && b[0].bits == 0x3f80 && b[1].bits == 0);
}

TEST(fill_bad_arguments_are_named)
{
    float y[2] = {1, 2};
    assert_fails(cf_fill(1.f, (float *)NULL, 2), CF_EINVAL, "cf_fill_f32: y is NULL and its extent is 2");
    assert_fails(cf_fill(1.f, y, -1), CF_EINVAL, "cf_fill_f32: the extent y[n] is negative with n = -1");
    assert_fails(cf_fill_async(NULL, 1.f, y, -1), CF_EINVAL, "cf_fill_f32_async: the extent y[n] is negative");
    assert_fails(cf_fill(1.f, y, INT64_MAX), CF_EOVERFLOW, "cf_fill_f32: y[n] has more than 2^63 - 1 bytes");
    assert_ok(cf_fill(1.f, (float *)NULL, 0));
    assert_true(y[0] == 1 && y[1] == 2);
}

TEST(copy_bad_arguments_are_named)
{
    double x[4] = {1, 2, 3, 4};
    assert_fails(cf_copy((const double *)NULL, x, 2), CF_EINVAL, "cf_copy_f64: x is NULL and its extent is 2");
    assert_fails(cf_copy(x, x + 2, -3), CF_EINVAL, "cf_copy_f64: the extent x[n] is negative with n = -3");
    assert_fails(cf_copy(x, x + 1, 2), CF_EINVAL, "cf_copy_f64: x and y overlap by 8 bytes");
    assert_fails(cf_copy(x, x, 4), CF_EINVAL, "cf_copy_f64: x and y overlap by 32 bytes");
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3 && x[3] == 4);
    assert_ok(cf_copy(x, x, 0));
    assert_ok(cf_copy(x, x + 2, 2));
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 1 && x[3] == 2);
}

TEST(descriptors_say_what_they_cost)
{
    expect_costs("fill", 1, 0);
    expect_costs("copy", 2, 0);
}

int main(void)
{
    ELEMENTWISE_TESTS(fill, &of_fill);
    ELEMENTWISE_TESTS(copy, &of_copy);
    return run_all_tests(NULL, end_library);
}
