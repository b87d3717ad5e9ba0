/* test_axpy.c - y = a x + y and w = a x + y through every entry point, compared with plain loops. */
#include "elementwise.h"

#include <math.h>

#include <cuferry/kernels.h>
#include <cuferry/registry.h>

enum { MOST = 100003, EXTRA = 16 };

static number axpy(int type, number a, number x, number y)
{
    return plain_plus(type, plain_times(type, a, x), y);
}

static struct elementwise of_axpy = {.family = "axpy",
                                     .has_scalar = 1,
                                     .inputs = 1,
                                     .is_inout = 1,
                                     .is_small = 1,
                                     .op = axpy},
                          of_waxpy = {.family = "waxpy", .has_scalar = 1, .inputs = 2, .is_small = 1, .op = axpy};

/* Returns numbers whose products and sums are exact, with or without fused multiply-add. */
static int small(unsigned short seed[])
{
    return (int)(nrand48(seed) % 2001) - 1000;
}

#define TESTS(T, name)                                                                                        \
    static T name##_x[MOST + EXTRA], name##_y[MOST + EXTRA], name##_expected[MOST + EXTRA];                   \
                                                                                                              \
    static void name##_fill(T a, int64_t n, unsigned short seed[])                                            \
    {                                                                                                         \
        for (int64_t i = 0; i < MOST + EXTRA; i++) {                                                          \
            name##_x[i] = (T)small(seed);                                                                     \
            name##_y[i] = name##_expected[i] = (T)small(seed);                                                \
        }                                                                                                     \
        for (int64_t i = 0; i < n; i++)                                                                       \
            name##_expected[i] = a * name##_x[i] + name##_y[i];                                               \
    }                                                                                                         \
                                                                                                              \
    TEST(axpy_##name##_host_arrays_are_right)                                                                 \
    {                                                                                                         \
        unsigned short seed[3] = {1, 2, 3};                                                                   \
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {                                           \
            T a = (T)small(seed);                                                                             \
            name##_fill(a, sizes[s], seed);                                                                   \
            assert_ok(s % 2 ? cf_axpy_##name(a, name##_x, name##_y, sizes[s])                                 \
                            : cf_axpy(a, name##_x, name##_y, sizes[s]));                                      \
            assert_memory_equal(name##_y, name##_expected, sizeof name##_y);                                  \
        }                                                                                                     \
    }                                                                                                         \
                                                                                                              \
    TEST(axpy_##name##_async_is_right)                                                                        \
    {                                                                                                         \
        unsigned short seed[3] = {4, 5, 6};                                                                   \
        void *x, *y;                                                                                          \
        cf_stream stream;                                                                                     \
        assert_ok(cf_stream_create(&stream));                                                                 \
        assert_ok(cf_mem_alloc(&x, sizeof name##_x));                                                         \
        assert_ok(cf_mem_alloc(&y, sizeof name##_y));                                                         \
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {                                           \
            T a = (T)small(seed);                                                                             \
            name##_fill(a, sizes[s], seed);                                                                   \
            assert_ok(cf_mem_copy(x, name##_x, sizeof name##_x));                                             \
            assert_ok(cf_mem_copy(y, name##_y, sizeof name##_y));                                             \
            assert_ok(cf_axpy_async(stream, a, (const T *)x, (T *)y, sizes[s]));                              \
            assert_ok(cf_stream_sync(stream));                                                                \
            assert_ok(cf_mem_copy(name##_y, y, sizeof name##_y));                                             \
            assert_memory_equal(name##_y, name##_expected, sizeof name##_y);                                  \
        }                                                                                                     \
        assert_ok(cf_mem_free(x));                                                                            \
        assert_ok(cf_mem_free(y));                                                                            \
        assert_ok(cf_stream_destroy(stream));                                                                 \
    }                                                                                                         \
                                                                                                              \
    /* Special values go through the same arithmetic. */                                                      \
    TEST(axpy_##name##_special_values_are_ieee)                                                               \
    {                                                                                                         \
        T x[] = {0, -0., (T)INFINITY, (T)-INFINITY, (T)NAN, 1, (T)1e30},                                      \
          y[] = {-0., -0., 1, (T)INFINITY, 1, (T)NAN, 0};                                                     \
        assert_ok(cf_axpy(-1, x, y, 7));                                                                      \
        assert_true(y[0] == 0 && signbit(y[0]) && y[1] == 0 && !signbit(y[1]));                               \
        assert_true(y[2] == -INFINITY && y[3] == INFINITY && isnan(y[4]) && isnan(y[5]) && y[6] == (T)-1e30); \
    }                                                                                                         \
                                                                                                              \
    TEST(axpy_##name##_of_itself_is_right)                                                                    \
    {                                                                                                         \
        void *both;                                                                                           \
        T values[3] = {1, -2, 3};                                                                             \
        assert_ok(cf_mem_alloc(&both, sizeof values));                                                        \
        assert_ok(cf_mem_copy(both, values, sizeof values));                                                  \
        assert_ok(cf_axpy(2, (const T *)both, (T *)both, 3));                                                 \
        assert_ok(cf_mem_copy(values, both, sizeof values));                                                  \
        assert_true(values[0] == 3 && values[1] == -6 && values[2] == 9);                                     \
        assert_ok(cf_mem_free(both));                                                                         \
    }
TESTS(float, f32)
TESTS(double, f64)

/* Results are within the tolerance of the annotation. */
TEST(axpy_any_numbers_are_within_the_tolerance)
{
    unsigned short seed[3] = {7, 8, 9};
    const cf_kernel *single = cf_kernel_find(&cf_registry, "axpy_f32"),
                    *both = cf_kernel_find(&cf_registry, "axpy_f64");
    void *const args[] = {NULL, NULL, NULL, NULL};
    double of_single, of_double;
    assert_ok(cf_kernel_evaluate_real(single, single->tolerance.ops, args, &of_single));
    assert_ok(cf_kernel_evaluate_real(both, both->tolerance.ops, args, &of_double));
    assert_true(of_single > of_double && of_double > 0);
    float a = 1.f / 3;
    for (int i = 0; i < MOST; i++) {
        f64_x[i] = f32_x[i] = (float)erand48(seed);
        f64_y[i] = f32_y[i] = (float)erand48(seed);
        f64_expected[i] = (double)a * f64_x[i] + f64_y[i];
    }
    assert_ok(cf_axpy(a, f32_x, f32_y, MOST));
    assert_ok(cf_axpy((double)a, f64_x, f64_y, MOST));
    for (int i = 0; i < MOST; i++) {
        double most = fmax(1, fabs(f64_expected[i]));
        assert_true(fabs((double)f32_y[i] - f64_expected[i]) <= of_single * most);
        assert_true(fabs(f64_y[i] - f64_expected[i]) <= of_double * most);
    }
}

/* Integers have no tolerance, even if they are large; floats still have theirs. */
TEST(axpy_integers_have_no_tolerance)
{
    static const char *const families[] = {"axpy", "waxpy"};
    for (int i = 0; i < 2; i++)
        for (int type = 0; type < TYPES; type++) {
            const cf_kernel *kernel = find(families[i], type, "");
            void *const args[] = {NULL, NULL, NULL, NULL, NULL};
            double tolerance = -1;
            assert_ok(cf_kernel_evaluate_real(kernel, kernel->tolerance.ops, args, &tolerance));
            assert_true(type == I32 || type == I64 ? tolerance == 0 : tolerance > 0);
        }
}

TEST(axpy_bad_arguments_are_named)
{
    float y[2] = {1, 2};
    assert_fails(cf_axpy(1.f, (const float *)NULL, y, 2), CF_EINVAL, "cf_axpy_f32: x is NULL and its extent is 2");
    assert_fails(cf_axpy(1.f, y, (float *)NULL, 2), CF_EINVAL, "cf_axpy_f32: y is NULL and its extent is 2");
    assert_fails(cf_axpy(1.f, y, y, -1), CF_EINVAL, "cf_axpy_f32: the extent x[n] is negative with n = -1");
    assert_fails(cf_axpy_async(NULL, 1., (const double *)NULL, (double *)NULL, 1), CF_EINVAL,
                 "cf_axpy_f64_async: x is NULL and its extent is 1");
    assert_ok(cf_axpy(1.f, (const float *)NULL, (float *)NULL, 0));
    assert_true(y[0] == 1 && y[1] == 2);
}

TEST(axpy_integers_wrap)
{
    int32_t x[] = {INT32_MAX, 7}, y[] = {INT32_MAX, 1}, w[2];
    int64_t lx[] = {INT64_MIN}, ly[] = {-1};
    assert_ok(cf_waxpy(2, x, y, w, 2));
    assert_true(w[0] == INT32_MAX - 2 && w[1] == 15 && y[1] == 1);
    assert_ok(cf_axpy(2, x, y, 2));
    assert_true(y[0] == INT32_MAX - 2 && y[1] == 15);
    assert_ok(cf_axpy(INT64_C(-1), lx, ly, 1));
    assert_true(ly[0] == INT64_MAX);
}

TEST(waxpy_bad_arguments_are_named)
{
    double x[2] = {1, 2};
    assert_fails(cf_waxpy(1., x, x, (double *)NULL, 2), CF_EINVAL, "cf_waxpy_f64: w is NULL and its extent is 2");
    assert_fails(cf_waxpy(1., x, (const double *)NULL, x, 2), CF_EINVAL, "cf_waxpy_f64: y is NULL and its extent is 2");
    assert_fails(cf_waxpy(1., x, x, x, -7), CF_EINVAL, "cf_waxpy_f64: the extent x[n] is negative with n = -7");
    double w[4] = {1, 2, 3, 4};
    assert_fails(cf_waxpy(1., w + 1, w + 2, w, 2), CF_EINVAL,
                 "cf_waxpy_f64: x and w overlap by 8 bytes; in place they have to be one array, and x begins 8 bytes");
    assert_fails(cf_waxpy(1., w, w + 1, w, 3), CF_EINVAL,
                 "cf_waxpy_f64: y and w overlap by 16 bytes; in place they have to be one array, and y begins 8 bytes");
    assert_ok(cf_waxpy(1., w, w + 1, x, 2)); /* arrays that are only read may be anywhere */
    assert_true(x[0] == 3 && x[1] == 5 && w[0] == 1 && w[1] == 2 && w[2] == 3);
}

TEST(axpy_descriptor_says_what_it_costs)
{
    expect_costs("axpy", 3, 2);
    expect_costs("waxpy", 3, 2);
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, "axpy_f64");
    assert_non_null(kernel);
    assert_int_equal(kernel->is_bounded, 1);
    assert_int_equal(kernel->is_closed, 1);
    assert_non_null(kernel->sizes);
    int64_t n = 1000;
    void *const args[] = {NULL, NULL, NULL, &n};
    double value;
    assert_ok(cf_kernel_evaluate_real(kernel, kernel->bytes.ops, args, &value));
    assert_true(value == 24000);
    assert_ok(cf_kernel_evaluate_real(kernel, kernel->flops.ops, args, &value));
    assert_true(value == 2000);
}

int main(void)
{
    ELEMENTWISE_TESTS(axpy, &of_axpy);
    ELEMENTWISE_IN_PLACE_TEST(axpy, &of_axpy);
    ELEMENTWISE_TESTS(waxpy, &of_waxpy);
    ELEMENTWISE_IN_PLACE_TEST(waxpy, &of_waxpy);
    return run_all_tests(NULL, end_library);
}
