/* test_call.c - plain calls: host and device arrays in any combination, the message of each check, and outputs that a
 * failure leaves untouched. */
#include "gather_calls.h"

#include <inttypes.h>
#include <pthread.h>

/* ---- Results ---- */

static void check_instances(int way)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 100003};
    unsigned short seed[3] = {1, 2, (unsigned short)way};
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int mix = 0; mix < MIXES; mix++) {
                if (sizes[s] == 100003 && (mix + (int)i + way) % 4)
                    continue; /* the largest size is run in a quarter of the cases, but with each mix */
                struct data data;
                assert_true(make(&data, &instances[i], sizes[s], 1 + nrand48(seed) % 3000, mix, seed));
                assert_ok(call(&data, way));
                if (!is_right(&data))
                    fail_msg("gather_%s of %d elements, mix %d, is wrong", instances[i].name, (int)sizes[s], mix);
                assert_true(release(&data));
            }
}

TEST(gather_typed_function_every_mix_is_right)
{
    check_instances(0);
}

TEST(gather_generic_every_mix_is_right)
{
    check_instances(1);
}

TEST(call_registered_kernel_every_mix_is_right)
{
    check_instances(2);
}

TEST(gather_large_arrays_are_right)
{
    unsigned short seed[3] = {6, 5, 5};
    static const int64_t sizes[] = {16383, 16384, 16385, 65536, 1000003};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int mix = 0; mix < MIXES; mix += MIXES - 1) {
            struct data data;
            assert_true(make(&data, &instances[(s + (size_t)mix) % INSTANCE_COUNT], sizes[s], 200000, mix, seed));
            assert_ok(call(&data, 1));
            assert_true(is_right(&data));
            assert_true(release(&data));
        }
}

TEST(gather_source_of_const_is_taken)
{
    const double source[] = {1, 2};
    double writable[] = {1, 2};
    const int32_t index[] = {1};
    double res = 0;
    assert_ok(cf_gather(source, index, &res, 1, 2));
    assert_true(res == 2);
    assert_ok(cf_gather(writable, index, &res, 1, 2));
    assert_true(res == 2);
}

/* ---- Scalars and pointers ---- */

TEST(gather_bad_scalar_is_refused)
{
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        for (int mix = 0; mix < MIXES; mix += MIXES - 1) {
            unsigned short seed[3] = {7, 7, 7};
            struct data data;
            assert_true(make(&data, &instances[i], 40, 50, mix, seed));
            expect_refusal(&data, -1, 50, CF_EINVAL, "the extent index[N] is negative with N = -1");
            expect_refusal(&data, 40, INT64_MIN, CF_EINVAL,
                           "the extent source[M] is negative with M = -9223372036854775808");
            expect_refusal(&data, 40, INT64_MAX, CF_EOVERFLOW,
                           "source[M] has more than 2^63 - 1 bytes with M = 9223372036854775807");
            expect_refusal(&data, 40, INT64_MAX / (int64_t)data.instance->element + 1, CF_EOVERFLOW,
                           "source[M] has more than 2^63 - 1 bytes");
            expect_refusal(&data, INT64_MAX / (int64_t)data.instance->index + 1, 50, CF_EOVERFLOW,
                           "index[N] has more than 2^63 - 1 bytes");
            assert_true(is_untouched(&data));
            assert_ok(call(&data, 0));
            assert_true(is_right(&data));
            assert_true(release(&data));
        }
}

/* The error names the entry point that was called, even if the computed size itself cannot exist. */
TEST(gather_grid_past_the_limit_overflows)
{
    need_cpu();
    for (size_t i = 0; i < INSTANCE_COUNT; i++) {
        unsigned short seed[3] = {7, 7, 7};
        struct data data;
        assert_true(make(&data, &instances[i], 40, 50, 0, seed));
        expect_refusal(&data, (int64_t)1024 * INT32_MAX + 1, 50, CF_EOVERFLOW,
                       "grid(N) asks for 2147483648 blocks and a grid has at most 2147483647");
        assert_true(is_untouched(&data));
        assert_true(release(&data));
    }
}

TEST(gather_null_with_extent_is_invalid)
{
    static const int64_t zeros[4];
    int64_t res = 7;
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        for (int way = 0; way < WAYS; way++) {
            gather_call *gather = instances[i].ways[way];
            assert_fails(gather(NULL, zeros, &res, 1, 2), CF_EINVAL, ": source is NULL and its extent is 2");
            assert_fails(gather(zeros, NULL, &res, 1, 2), CF_EINVAL, ": index is NULL and its extent is 1");
            assert_fails(gather(zeros, zeros, NULL, 1, 2), CF_EINVAL, ": res is NULL and its extent is 1");
            assert_fails(gather(NULL, NULL, NULL, 0, 3), CF_EINVAL, ": source is NULL and its extent is 3");
        }
    assert_int_equal(res, 7);
}

TEST(gather_null_without_extent_succeeds)
{
    static const int64_t zeros[4];
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        for (int way = 0; way < WAYS; way++) {
            assert_ok(instances[i].ways[way](NULL, NULL, NULL, 0, 0));
            assert_ok(instances[i].ways[way](zeros, NULL, NULL, 0, 3));
        }
}

TEST(gather_host_array_larger_than_the_gpu_is_enomem)
{
    need_any_gpu();
    unsigned short seed[3] = {8, 8, 9};
    struct data data;
    assert_true(make(&data, &instances[0], 100, 50, 0, seed));
    unsigned char *source = data.source;
    data.source = data.res + 4096; /* comes after res, so that source cannot overlap it; it is never read */
    expect_refusal(&data, 100, INT64_MAX / 4, CF_ENOMEM, "staging source: cuMemAllocFromPoolAsync returned 2");
    assert_int_equal(cf_last_driver_result(), 2);
    data.source = source;
    assert_true(is_untouched(&data));
    assert_ok(call(&data, 0));
    assert_true(is_right(&data));
    assert_true(release(&data));
}

/* ---- Arrays that are read and written ---- */

TEST(outside_every_mix_lowers_first)
{
    unsigned short seed[3] = {3, 3, 3};
    static const int64_t sizes[] = {1, 32, 257, 16385, 100003};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int mix = 0; mix < 4; mix++) {
            int64_t n = sizes[s], at = nrand48(seed) % n, first = n, *found = &first;
            int64_t *values = malloc((size_t)n * sizeof *values), *x = values;
            assert_non_null(values);
            for (int64_t i = 0; i < n; i++)
                values[i] = i < at || i % 3 ? 100 + nrand48(seed) % 100 : 99 - nrand48(seed) % 100;
            values[at] = s % 2 ? INT64_MIN : 200;
            if (mix & 1)
                x = upload(values, (size_t)n * sizeof *values);
            if (mix & 2)
                found = upload(&first, sizeof first);
            assert_true(x && found);
            assert_ok(cf_outside(x, 100, 199, found, n));
            assert_ok(cf_mem_copy(&first, found, sizeof first));
            assert_int_equal(first, at);
            first = 0; /* lower than what the kernel finds, so it must stay */
            assert_ok(cf_mem_copy(found, &first, mix & 2 ? sizeof first : 0));
            assert_ok(cf_outside(x, 100, 199, found, n));
            assert_ok(cf_mem_copy(&first, found, mix & 2 ? sizeof first : 0));
            assert_int_equal(first, 0);
            assert_ok(cf_mem_free(mix & 1 ? x : NULL));
            assert_ok(cf_mem_free(mix & 2 ? found : NULL));
            free(values);
        }
}

TEST(descending_lowers_first_to_the_lowest_descent)
{
    static const int8_t x[] = {-5, -5, 7, 6, 100, -100}, none[] = {3};
    static const uint16_t wide[] = {1, 2, 65535, 65534, 0};
    int64_t first = 6;
    assert_ok(cf_descending(x, &first, 6));
    assert_int_equal(first, 3);
    assert_ok(cf_descending(x + 3, &first, 3)); /* begins with a lower value */
    assert_int_equal(first, 2);
    first = 5;
    assert_ok(cf_descending(wide, &first, 3));
    assert_int_equal(first, 5);
    assert_ok(cf_descending(wide, &first, 5));
    assert_int_equal(first, 3);
    first = 1;
    assert_ok(cf_descending(none, &first, 1));
    assert_ok(cf_descending_i32(NULL, &first, 0));
    assert_int_equal(first, 1);
}

TEST(outside_bounds_at_the_limits_are_inside)
{
    static const int32_t x[] = {INT32_MIN, INT32_MAX, 0, -1};
    static const uint64_t wide[] = {UINT64_MAX, 0, (uint64_t)1 << 63};
    int64_t first = 4;
    assert_ok(cf_outside(x, INT32_MIN, INT32_MAX, &first, 4));
    assert_int_equal(first, 4);
    assert_ok(cf_outside(x, INT32_MIN, INT32_MAX - 1, &first, 4));
    assert_int_equal(first, 1);
    assert_ok(cf_outside_i32(x, 0, 0, &first, 0)); /* nothing to read; first is unchanged */
    assert_int_equal(first, 1);
    first = 3;
    assert_ok(cf_outside(wide, 0, UINT64_MAX, &first, 3));
    assert_int_equal(first, 3);
    assert_ok(cf_outside(wide, 0, UINT64_MAX - 1, &first, 3));
    assert_int_equal(first, 0);
}

/* The padding between rows has values that are out of range; it must not be checked. */
TEST(outside_rows_counts_the_elements_alone)
{
    static const int8_t x[] = {1, 2, 3, 99, 4, 5, 6, 99, 7, 8, 9};
    int64_t first = 100;
    assert_ok(cf_outside_rows(x, 1, 9, &first, 3, 3, 4));
    assert_int_equal(first, 100);
    assert_ok(cf_outside_rows(x, 1, 7, &first, 3, 3, 4));
    assert_int_equal(first, 7);
    assert_ok(cf_outside_rows(x, 1, 3, &first, 3, 3, 4));
    assert_int_equal(first, 3);
    assert_ok(cf_outside_rows((const int8_t *)NULL, 1, 3, &first, 3, 0, 4));
    assert_int_equal(first, 3);
}

/* ---- Leaks ---- */

/* Staged arrays are freed when a call succeeds, when a check fails, and when memory runs out. */
TEST(gather_any_outcome_leaks_nothing)
{
    char text[1024];
    unsigned short seed[3] = {2, 3, 4};
    struct data warm_up; /* loads the images, and allocates the memory that searches need */
    assert_true(make(&warm_up, &instances[0], 10, 10, MIXES - 1, seed));
    assert_ok(call(&warm_up, 0));
    assert_true(release(&warm_up));
    expect_usable();
    assert_ok(cf_device_sync());
    int before = count_alive(text, sizeof text);
    if (before < 0)
        skip_test(NEEDS_CPU_OR_PLAYED_GPU);
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        for (int mix = 0; mix < MIXES; mix++) {
            struct data data;
            assert_true(make(&data, &instances[i], 3000, 100, mix, seed));
            assert_ok(call(&data, 0));
            assert_int_equal(instances[i].ways[0](data.source, data.index, data.res, 3000, 0), CF_ERANGE);
            /* A source of this size would overlap the memory that follows it. */
            int is_over = (uintptr_t)data.res > (uintptr_t)data.source;
            int status = mix & SOURCE_THERE || is_over ? CF_EINVAL : CF_ENOMEM;
            assert_int_equal(instances[i].ways[0](data.source, data.index, data.res, 3000, INT64_MAX / 8), status);
            assert_true(release(&data));
        }
    assert_ok(cf_device_sync()); /* memory is freed in stream order */
    int after = count_alive(text, sizeof text);
    if (after != before)
        fail_msg("%d were alive before, now these %d:\n%s", before, after, text);
}

/* ---- Threads ---- */

/* Returns the number of calls that failed. */
static void *call_on_thread(void *number)
{
    unsigned short seed[3] = {21, 22, (unsigned short)(uintptr_t)number};
    intptr_t wrong = 0;
    for (int round = 0; round < 24; round++) {
        struct data data;
        int64_t N = 1 + nrand48(seed) % 40000;
        wrong +=
            !make(&data, &instances[nrand48(seed) % INSTANCE_COUNT], N, 1 + nrand48(seed) % 1000, round % MIXES, seed);
        if (round % 3 == 2) { /* each thread has its own latest error */
            char said[64];
            int64_t at = nrand48(seed) % N;
            set_index(&data, at, -5);
            snprintf(said, sizeof said, ": index[%" PRId64 "] = -5 is outside", at);
            wrong += !refresh(&data) || call(&data, 0) != CF_ERANGE || !strstr(cf_last_error(), said);
            wrong += !is_untouched(&data);
        } else {
            wrong += call(&data, round % 3) != CF_OK || !is_right(&data);
        }
        wrong += !release(&data);
    }
    return (void *)wrong;
}

TEST(gather_8_threads_at_once_are_right)
{
    assert_ok(cf_shutdown()); /* the first thread loads the images again */
    run_threads(8, call_on_thread);
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
