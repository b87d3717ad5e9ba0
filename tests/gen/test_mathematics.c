/* test_mathematics.c - exponentials and logarithms of kernels are within the documented errors, exact where the result is
 * special, and the same in every loop and at every place. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "run_group.h"

#include "mathematics_kernels.h"

static int set_up(void **state)
{
    (void)state;
    return cf_device_use(CF_HOST);
}

static int tear_down(void **state)
{
    (void)state;
    return cf_shutdown();
}

enum { COUNT = 20011 };

static const double special[] = {
    0,
    -0.0,
    1,
    -1,
    INFINITY,
    -INFINITY,
    NAN,
    DBL_MAX,
    -DBL_MAX,
    DBL_MIN,
    5e-324,
    -5e-324,
    FLT_MAX,
    FLT_MIN,
    1e-45,
    -1e-45,
    1e-40,
    88.72283,
    88.72284,
    -103.97,
    -103.98,
    -87.4,
    709.7827,
    709.7828,
    -708.5,
    -745.13,
    -745.14,
    104,
    -105,
    1e10,
    -1e10,
    0.5,
    2,
    0.70710677,
    0.70710678118654752,
    1.4142135,
    1.41421356237309505,
    0.99999994,
    1.0000001,
};
enum { SPECIAL = sizeof special / sizeof *special };

static float x[COUNT], power[COUNT], logarithm[COUNT], other_power[COUNT], other_logarithm[COUNT];
static double wide_x[COUNT], wide_power[COUNT], wide_logarithm[COUNT];

/* The difference of a result from the exact value, in units in the last place of a type with these properties. */
static double error_of(long double result, long double exact, int digits, int least_exponent, long double most)
{
    int exponent;
    if (isnan(exact))
        return isnan(result) ? 0 : INFINITY;
    if (fabsl(exact) > most) /* rounding it gives infinity, or the largest number */
        return result == copysignl(INFINITY, exact) ? 0 : INFINITY;
    if (isinf(result))
        return INFINITY;
    if (exact == 0)
        return result == 0 ? 0 : INFINITY;
    (void)frexpl(exact, &exponent);
    if (exponent < least_exponent)
        exponent = least_exponent;
    return (double)(fabsl(result - exact) / ldexpl(1, exponent - digits));
}

static double error_of_float(float result, double exact)
{
    return error_of(result, exact, FLT_MANT_DIG, FLT_MIN_EXP, 0x1.ffffffp127L);
}

static double error_of_double(double result, long double exact)
{
    return error_of(result, exact, DBL_MANT_DIG, DBL_MIN_EXP, 0x1.fffffffffffff8p1023L);
}

/* Arguments from all of the range and from where the functions are used most, in another order for another seed. */
static void fill(int seed)
{
    unsigned short state[3] = {1, 2, (unsigned short)seed};
    for (int i = 0; i < COUNT; i++) {
        const double unit = 2 * erand48(state) - 1;
        wide_x[i] = i % 4 == 0   ? unit * 750
                    : i % 4 == 1 ? unit * 2
                    : i % 4 == 2 ? ldexp(unit, (int)(unit * 1e4) % 1070)
                                 : fabs(unit) * 100;
        if (i % 97 < SPECIAL)
            wide_x[i] = special[i % 97];
        x[i] = (float)wide_x[i];
        if (i % 4 == 2)
            x[i] = ldexpf((float)unit, (int)(unit * 1e4) % 149);
        else if (i % 4 == 0)
            x[i] /= 7;
    }
}

static void check_floats(const char *form)
{
    for (int i = 0; i < COUNT; i++) {
        const double exact[] = {exp((double)x[i]), log((double)x[i])};
        const double errors[] = {error_of_float(power[i], exact[0]), error_of_float(logarithm[i], exact[1])};
        if (!(errors[0] <= 1.0) || !(errors[1] <= 0.85))
            fail_msg("%s: expf(%a) is %a, not %a; logf() is %a, not %a", form, (double)x[i], (double)power[i], exact[0],
                     (double)logarithm[i], exact[1]);
    }
}

static void floats_are_within_their_errors(void **state)
{
    (void)state;
    for (int seed = 0; seed < 8; seed++) {
        fill(seed);
        assert_ok(mathematics_floats(x, power, logarithm, COUNT));
        check_floats("loop");
        assert_ok(mathematics_turned(x, power, logarithm, COUNT));
        check_floats("block");
    }
}

static void doubles_are_within_their_errors(void **state)
{
    (void)state;
    for (int seed = 0; seed < 8; seed++) {
        fill(seed);
        assert_ok(mathematics_doubles(wide_x, wide_power, wide_logarithm, COUNT));
        for (int i = 0; i < COUNT; i++) {
            const long double exact[] = {expl(wide_x[i]), logl(wide_x[i])};
            if (!(error_of_double(wide_power[i], exact[0]) <= 1.0) ||
                !(error_of_double(wide_logarithm[i], exact[1]) <= 0.85))
                fail_msg("exp(%a) is %a, not %La; log() is %a, not %La", wide_x[i], wide_power[i], exact[0],
                         wide_logarithm[i], exact[1]);
        }
    }
}

static void results_do_not_depend_on_the_place(void **state)
{
    (void)state;
    fill(1);
    assert_ok(mathematics_floats(x, power, logarithm, COUNT));
    for (int n = 1; n < 80; n++) {
        const int first = n * 13;
        assert_ok(mathematics_floats(x + first, other_power, other_logarithm, n));
        assert_memory_equal(other_power, power + first, (size_t)n * sizeof *power);
        for (int i = 0; i < n; i++) /* a NaN's sign may differ */
            assert_true(other_logarithm[i] == logarithm[first + i] || other_logarithm[i] != other_logarithm[i]);
    }
}

static void names_are_of_the_same_functions(void **state)
{
    (void)state;
    fill(2);
    assert_ok(mathematics_floats(x, power, logarithm, COUNT));
    assert_ok(mathematics_names(x, other_power, other_logarithm, COUNT));
    for (int i = 0; i < COUNT; i++) {
        assert_true(other_power[i] == power[i] || (power[i] != power[i] && other_power[i] != other_power[i]));
        assert_true(other_logarithm[i] == logarithm[i] ||
                    (logarithm[i] != logarithm[i] && other_logarithm[i] != other_logarithm[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_within_their_errors),
        cmocka_unit_test(doubles_are_within_their_errors),
        cmocka_unit_test(results_do_not_depend_on_the_place),
        cmocka_unit_test(names_are_of_the_same_functions),
    };
    return RUN_ON_DRIVER(tests, set_up, tear_down);
}
