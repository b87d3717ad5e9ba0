/* test_element_check_gather.c - the checked indices of cf_gather() in every kind of plain call: the error names the
 * lowest bad index, and a failed call does not write its outputs. */
#include "gather_calls.h"

#include <inttypes.h>

#include "expr_steps.h"

/* ---- The range of the elements ---- */

/* Sets some indices to bad values, and expects an error that names the lowest one. */
static void expect_outside(struct data *data, const int64_t at[], const int64_t values[], int count)
{
    char said[256];
    for (int i = 0; i < count; i++)
        set_index(data, at[i], values[i]);
    assert_true(refresh(data));
    snprintf(said, sizeof said, "cf_gather_%s: index[%" PRId64 "] = %" PRId64 " is outside [0, %" PRId64 ")",
             data->instance->name, at[0], values[0], data->M);
    for (int way = 0; way < WAYS; way++) {
        assert_int_equal(call(data, way), CF_ERANGE);
        assert_string_equal(cf_last_error(), said);
        assert_true(is_untouched(data));
    }
    assert_int_equal(cf_last_driver_result(), 0);
    for (int i = 0; i < count; i++)
        set_index(data, at[i], 0);
    assert_true(refresh(data));
}

TEST(gather_one_index_outside_is_named)
{
    static const int64_t sizes[] = {1, 33, 257, 30011};
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int mix = 0; mix < MIXES; mix++) {
                unsigned short seed[3] = {9, (unsigned short)s, (unsigned short)mix};
                struct data data;
                int64_t N = sizes[s], M = 1 + nrand48(seed) % 100000;
                if (N == 30011 && mix != 0 && mix != MIXES - 1)
                    continue;
                int is_wide = instances[i].index == sizeof(int64_t);
                const int64_t bad[] = {M,
                                       -1,
                                       M + 1,
                                       is_wide ? INT64_MAX : INT32_MAX,
                                       is_wide ? INT64_MIN : INT32_MIN,
                                       is_wide ? (int64_t)1 << 32 : M}; /* valid if truncated to 32 bits */
                const int64_t places[] = {0, N - 1, N / 2};
                assert_true(make(&data, &instances[i], N, M, mix, seed));
                for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
                    expect_outside(&data, &places[b % 3], &bad[b], 1);
                assert_true(release(&data));
            }
    expect_usable();
}

TEST(gather_several_indices_outside_lowest_is_named)
{
    unsigned short seed[3] = {9, 9, 9};
    for (int round = 0; round < 24; round++) {
        enum { COUNT = 20 };
        struct data data;
        int64_t N = round % 2 ? 100003 : 300, at[COUNT], values[COUNT];
        assert_true(make(&data, &instances[(size_t)round % INSTANCE_COUNT], N, 1000, round % MIXES, seed));
        for (int i = 0; i < COUNT; i++) {
            at[i] = nrand48(seed) % N;
            values[i] = i % 2 ? 1000 + i : -i - 1;
        }
        for (int i = 1; i < COUNT; i++) /* moves the lowest bad index closer to the beginning */
            if (at[i] <= at[0]) {
                int64_t value = values[0], place = at[0];
                at[0] = at[i], values[0] = values[i];
                at[i] = place == at[i] ? N - 1 : place, values[i] = value;
            }
        if (at[0] == N - 1)
            at[0] = 0;
        expect_outside(&data, at, values, COUNT);
        assert_ok(call(&data, 0)); /* all bad indices are 0 now */
        assert_true(release(&data));
    }
}

TEST(gather_exact_bounds_are_inside)
{
    static const float source[] = {10, 20, 30};
    static const int32_t narrow[] = {0, 2, 0, 2};
    static const int64_t wide[] = {2, 0, 2, 0};
    float res[4] = {0};
    assert_ok(cf_gather(source, narrow, res, 4, 3));
    assert_true(res[0] == 10 && res[1] == 30 && res[2] == 10 && res[3] == 30);
    assert_ok(cf_gather(source, wide, res, 4, 3));
    assert_true(res[0] == 30 && res[1] == 10 && res[2] == 30 && res[3] == 10);
}

TEST(gather_from_no_elements_is_outside)
{
    static const int32_t index[] = {0, 0};
    float res[] = {9, 9};
    assert_int_equal(cf_gather_f32_i32(NULL, index, res, 2, 0), CF_ERANGE);
    assert_string_equal(cf_last_error(), "cf_gather_f32_i32: index[0] = 0 is outside [0, 0)");
    assert_true(res[0] == 9 && res[1] == 9);
}

/* ---- Checks of elements, with descriptors derived from the first instance ---- */

static void expect_bounds(cf_check *check, int64_t value, const char *detail)
{
    cf_kernel kernel = *cf_kernel_find(&cf_registry, "gather_f32_i32");
    static const float elements[200];
    int32_t index[] = {5, 5, 5, (int32_t)value};
    float results[] = {9, 9, 9, 9};
    const void *source = elements, *indices = index;
    void *res = results;
    int64_t N = 4, M = 200;
    void *const args[] = {(void *)&source, (void *)&indices, (void *)&res, &N, &M};
    check->array = 1;
    check->scan = cf_kernel_find(&cf_registry, "outside_i32");
    kernel.checks = check;
    kernel.nchecks = 1;
    if (detail) {
        assert_fails(cf_call(&kernel, args), CF_ERANGE, detail);
        for (int i = 0; i < 4; i++)
            assert_true(results[i] == 9);
    } else {
        assert_ok(cf_call(&kernel, args));
        for (int i = 0; i < 4; i++)
            assert_true(results[i] == 0);
    }
}

TEST(call_open_and_closed_bounds_differ)
{
    cf_check check = {.lower = {"3", OPS(CONST(3))}, .upper = {"9", OPS(CONST(9))}};
    check.text = "3 <= index[:] <= 9";
    expect_bounds(&check, 3, NULL);
    expect_bounds(&check, 9, NULL);
    expect_bounds(&check, 2, "index[3] = 2 is outside [3, 9]");
    expect_bounds(&check, 10, "index[3] = 10 is outside [3, 9]");
    check.text = "3 < index[:] < 9";
    check.lower_open = check.upper_open = 1;
    expect_bounds(&check, 4, NULL);
    expect_bounds(&check, 8, NULL);
    expect_bounds(&check, 3, "index[3] = 3 is outside (3, 9)");
    expect_bounds(&check, 9, "index[3] = 9 is outside (3, 9)");
}

TEST(call_bound_that_overflows_is_refused)
{
    cf_kernel kernel = *cf_kernel_find(&cf_registry, "gather_f32_i32");
    const cf_check check = {.text = "0 <= index[:] < M / 0",
                            .array = 1,
                            .lower = {"0", OPS(CONST(0))},
                            .upper = {"M / 0", OPS({CF_OP_PARAM, 4}, CONST(0), {CF_OP_DIV, 0})},
                            .upper_open = 1,
                            .scan = cf_kernel_find(&cf_registry, "outside_i32")};
    float element = 1, result = 9;
    int32_t zero = 0;
    void *source = &element, *index = &zero, *res = &result;
    int64_t N = 1, M = 1;
    void *const args[] = {&source, &index, &res, &N, &M};
    kernel.checks = &check;
    assert_fails(cf_call(&kernel, args), CF_EOVERFLOW, "the bound M / 0 in check(0 <= index[:] < M / 0) overflows");
    assert_true(result == 9);
}

/* registry.h allows a check to lack one of its bounds. */
TEST(call_element_below_the_only_bound_is_named)
{
    cf_check check = {.text = "0 <= index[:]", .lower = {"0", OPS(CONST(0))}};
    expect_bounds(&check, 150, NULL);
    expect_bounds(&check, -3, "cf_gather_f32_i32: index[3] = -3 is outside [0, inf)");
}

TEST(call_element_above_the_only_bound_is_named)
{
    cf_check check = {.text = "index[:] < 100", .upper = {"100", OPS(CONST(100))}, .upper_open = 1};
    expect_bounds(&check, 99, NULL);
    expect_bounds(&check, 100, "cf_gather_f32_i32: index[3] = 100 is outside (-inf, 100)");
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
