/* test_mathematics.c - exponentials, logarithms and hyperbolic tangents of kernels are within the documented errors,
 * exact where the result is special, and the same in every loop and at every place; zeros are ordered and integers
 * saturate, also where kernels have the functions' names; Bessel functions are as on a GPU. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run_group.h"

#include "mathematics_kernels.h"

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

enum { POWER, LOGARITHM, TANGENT, FUNCTIONS };

static const char *const names[] = {"exp", "log", "tanh"};

static float x[COUNT], results[FUNCTIONS][COUNT], others[FUNCTIONS][COUNT];
static double wide_x[COUNT], wide_results[FUNCTIONS][COUNT];

/* Returns the difference of a result from the exact value, in units in the last place of the type with these
 * properties. */
static double error_of(long double result, long double exact, int digits, int least_exponent, long double most)
{
    int exponent;
    if (isnan(exact))
        return isnan(result) ? 0 : INFINITY;
    if (fabsl(exact) > most) /* rounding gives infinity, or the largest number */
        return result == copysignl(INFINITY, exact) ? 0 : INFINITY;
    if (isinf(result))
        return INFINITY;
    if (exact == 0)
        return result == 0 && signbit(result) == signbit(exact) ? 0 : INFINITY;
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

/* Fills the arguments with numbers from the whole range and from where the functions are used most. Another seed gives
 * another order. */
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
    static const double most[] = {1.0, 0.85, 2.0};
    for (int i = 0; i < COUNT; i++) {
        const double exact[] = {exp((double)x[i]), log((double)x[i]), tanh((double)x[i])};
        for (int k = 0; k < FUNCTIONS; k++)
            if (!(error_of_float(results[k][i], exact[k]) <= most[k]))
                fail_msg("%s: %sf(%a) is %a, not %a", form, names[k], (double)x[i], (double)results[k][i], exact[k]);
    }
}

TEST(floats_are_within_their_errors)
{
    for (int seed = 0; seed < 8; seed++) {
        fill(seed);
        assert_ok(mathematics_floats(x, results[POWER], results[LOGARITHM], results[TANGENT], COUNT));
        check_floats("loop");
        assert_ok(mathematics_turned(x, results[POWER], results[LOGARITHM], results[TANGENT], COUNT));
        check_floats("block");
    }
}

TEST(doubles_are_within_their_errors)
{
    static const double most[] = {1.0, 0.85, 2.3};
    for (int seed = 0; seed < 8; seed++) {
        fill(seed);
        assert_ok(
            mathematics_doubles(wide_x, wide_results[POWER], wide_results[LOGARITHM], wide_results[TANGENT], COUNT));
        for (int i = 0; i < COUNT; i++) {
            const long double exact[] = {expl(wide_x[i]), logl(wide_x[i]), tanhl(wide_x[i])};
            for (int k = 0; k < FUNCTIONS; k++)
                if (!(error_of_double(wide_results[k][i], exact[k]) <= most[k]))
                    fail_msg("%s(%a) is %a, not %La", names[k], wide_x[i], wide_results[k][i], exact[k]);
        }
    }
}

/* Checks that the results for `count` elements, beginning with `first`, are the same. Zeros must have the right sign; a
 * NaN may have any. */
static void check_others(int first, int count)
{
    for (int k = 0; k < FUNCTIONS; k++)
        for (int i = 0; i < count; i++) {
            const float a = others[k][i], b = results[k][first + i];
            if (isnan(b) ? !isnan(a) : memcmp(&a, &b, sizeof a) != 0)
                fail_msg("%sf(%a) is %a and %a", names[k], (double)x[first + i], (double)a, (double)b);
        }
}

TEST(results_do_not_depend_on_the_place)
{
    fill(1);
    assert_ok(mathematics_floats(x, results[POWER], results[LOGARITHM], results[TANGENT], COUNT));
    for (int n = 1; n < 80; n++) {
        assert_ok(mathematics_floats(x + n * 13, others[POWER], others[LOGARITHM], others[TANGENT], n));
        check_others(n * 13, n);
    }
}

TEST(names_are_of_the_same_functions)
{
    fill(2);
    assert_ok(mathematics_floats(x, results[POWER], results[LOGARITHM], results[TANGENT], COUNT));
    assert_ok(mathematics_names(x, others[POWER], others[LOGARITHM], others[TANGENT], COUNT));
    check_others(0, COUNT);
}

/* The functions are called, used through pointers, and passed as template arguments, in kernels that have their
 * names. */
TEST(kernels_and_pointers_have_the_names)
{
    enum { N = 1000 };
    float y[N], least[N], most[N];
    double wide[N];
    long nearest[N];
    for (int i = 0; i < N; i++) {
        x[i] = i % 4 < 2 ? 0.0f : -0.0f;
        y[i] = i % 8 < 4 ? 0.0f : -0.0f;
        wide[i] = i % 3 ? i + 0.75 : i % 2 ? 1e300 : -1e300;
    }
    assert_ok(mathematics_fmaxf(x, y, least, most, N));
    assert_ok(mathematics_lrint(wide, nearest, N));
    for (int i = 0; i < N; i++) {
        assert_true(!signbit(least[i]) == (i % 4 < 2 && i % 8 < 4));
        assert_true(!signbit(most[i]) == (i % 4 < 2 || i % 8 < 4));
        assert_true(nearest[i] == (i % 3 ? i + 1 : i % 2 ? LONG_MAX : LONG_MIN));
    }
}

TEST(bessel_functions_of_negative_order_are_nan)
{
    enum { N = 60 };
    double first[N], second[N];
    for (int i = 0; i < N; i++)
        wide_x[i] = 0.5 + i / 4.0;
    assert_ok(mathematics_bessel(wide_x, first, second, N));
    for (int i = 0; i < N; i++) {
        const int order = i % 6 - 3;
        if (order < 0) {
            assert_true(isnan(first[i]) && isnan(second[i]));
            continue;
        }
        assert_true(fabs(first[i] - jn(order, wide_x[i])) < 1e-6);
        assert_true(fabs(second[i] / yn(order, wide_x[i]) - 1) < 1e-4);
    }
}

int main(void)
{
    return run_all_tests(use_cpu, end_library);
}
