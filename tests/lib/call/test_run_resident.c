/* test_run_resident.c - calls on resident memory make only the necessary driver calls on the fast path; all other calls
 * take the slow path. */
#include "sum_kernel.h"

TEST_WITH(call_on_the_gpus_arrays_asks_what_it_must, set_up, tear_down)
{
    GPU_ONLY();
    assert_ok(call(x, y, 64, 16)); /* loads the kernel */
    for (int n = 64; n > 60; n--) {
        assert_ok(call(x, y, n, 16));
        expect_direct(2);
        expect_y((float)n);
        assert_ptr_not_equal(strstr(cf_last_plan(), "on device 0, 2 arrays used in place; nothing was copied"), NULL);
    }
    assert_ok(call(y + 1, y, 8, 1)); /* both arrays in one allocation */
    expect_direct(1);
    expect_y(8);
    assert_ok(call(NULL, y, 0, 16));
    expect_direct(1);
    expect_y(0);
    assert_ptr_not_equal(strstr(cf_last_plan(), "1 array"), NULL);
}

TEST_WITH(call_with_worked_out_extents_asks_no_more, set_up, tear_down)
{
    GPU_ONLY();
    params[Y].extents = square;
    params[Y].ndims = 2;
    assert_ok(call(x, y, 64, 4));
    assert_ok(call(x, y, 63, 4));
    expect_direct(2);
    expect_y(63);
    assert_fails(call(x, y, 64, 5), CF_EINVAL, "made_sum: y has 25 elements, 100 bytes, and its allocation ends after");
}

TEST_WITH(call_that_cannot_be_direct_goes_the_long_way, set_up, tear_down)
{
    float host[16] = {0, 1, 2, 3}, sum[16] = {0};
    GPU_ONLY();
    assert_ok(call(x, y, 64, 16));
    assert_ok(call(host, y, 4, 16));
    expect_y(6);
    assert_ok(call(x, sum, 60, 16));
    assert_true(sum[0] == 60);
    assert_ptr_not_equal(strstr(cf_last_plan(), "bytes copied in"), NULL);
    assert_fails(call((char *)x + 1, y, 4, 1), CF_EINVAL, "made_sum: x = 0x");
    assert_fails(call(x, y, 65, 1), CF_EINVAL, "made_sum: x has 65 elements, 260 bytes, and its allocation ends after");
    assert_fails(call(x, y, -1, 1), CF_EINVAL, "the extent x[n] is negative with n = -1");
    assert_fails(call(NULL, y, 1, 1), CF_EINVAL, "x is NULL");
    assert_int_equal(call_counts[CALL_cuLaunchKernel], 0);
    assert_ok(call(x, y, 64, 16));
    expect_direct(2);
}

/* The address is odd, but 16-bit elements must be aligned. */
TEST_WITH(call_on_an_odd_address_is_refused, set_up, tear_down)
{
    GPU_ONLY();
    params[X].align = 2;
    assert_ok(call(x, y, 64, 16)); /* loads the kernel */
    assert_fails(call((char *)x + 1, y, 4, 1), CF_EINVAL, "made_sum: x = 0x");
}

/* The kernel requires arrays that do not overlap. These arrays do not, and checking that takes no further driver
 * call. */
static void call_with_arrays_kept_apart_is_direct_where_they_are(void **state)
{
    static const uint8_t restricts[PARAMS] = {[Y] = 1};
    int is_2d = *state != NULL;
    GPU_ONLY();
    kernel.restricts = restricts;
    if (is_2d) {
        params[Y].extents = square;
        params[Y].ndims = 2;
    }
    assert_ok(call(x, y, 64, 1)); /* loads the kernel */
    assert_ok(call(x, y, 63, 1));
    expect_direct(2);
    assert_ok(call(y + 1, y, 8, 1)); /* adjacent arrays in one allocation */
    expect_direct(1);
    assert_ok(call(y, y + 8, 8, 1));
    expect_direct(1);
    assert_ok(call(y + 1, y, 0, 2)); /* empty arrays do not overlap */
    expect_direct(1);
    assert_ok(call(y, y + 1, 8, 0));
    expect_direct(1);
    const char *detail = "made_sum: x and y overlap by 4 bytes; the kernel declares y __restrict__";
    assert_fails(call(y, y, 1, 1), CF_EINVAL, detail);
    assert_fails(call(y, y + 7, 8, 1), CF_EINVAL, detail);
    assert_fails(call(y + 3, y, 8, is_2d ? 2 : 4), CF_EINVAL, detail);
    assert_int_equal(call_counts[CALL_cuLaunchKernel], 0);
}

/* Two arrays that are only read may be the same array, even if the kernel declares them as restrict. */
static void call_with_arrays_kept_apart_reads_one_twice(void **state)
{
    static const uint8_t restricts[PARAMS] = {[X] = 1, [Y] = 1};
    GPU_ONLY();
    kernel.restricts = restricts;
    params[Y].direction = CF_IN;
    if (*state) {
        params[Y].extents = square;
        params[Y].ndims = 2;
    }
    assert_ok(call(y, y, 8, 0));
    assert_ok(call(y, y, 8, 1));
    expect_direct(1);
}

/* Calls in place also take the fast path, for 1D arrays and for 2D arrays, which are checked in another way. */
static void call_in_place_is_direct_where_arrays_are_one(void **state)
{
    static const uint8_t lists[PARAMS] = {[X] = 1, [Y] = 1};
    int is_2d = *state != NULL;
    GPU_ONLY();
    kernel.in_place = lists;
    if (is_2d) {
        params[X].extents = params[Y].extents = square;
        params[X].ndims = params[Y].ndims = 2;
    }
    assert_ok(call(x, y, 16, 3)); /* loads the kernel */
    assert_ok(call(y, y, 9, 3));
    expect_direct(1);
    assert_ok(call(y, y, 16, 4));
    expect_direct(1);
    assert_ok(call(y + 4, y, 4, 2)); /* adjacent arrays */
    expect_direct(1);
    const char *detail =
        is_2d ? "made_sum: x and y overlap by 32 bytes; in place they have to be one array, and x begins "
                "4 bytes after y"
              : "made_sum: x and y overlap by 8 bytes; in place they have to be one array, and x begins "
                "4 bytes after y";
    assert_fails(call(y + 1, y, 9, 3), CF_EINVAL, detail);
    assert_fails(call(y, y + 1, 9, 3), CF_EINVAL, "y begins 4 bytes after x");
    assert_int_equal(call_counts[CALL_cuLaunchKernel], 0);
}

TEST_WITH(call_in_place_of_two_results_is_refused, set_up, tear_down)
{
    static const uint8_t lists[PARAMS] = {[X] = 1, [Y] = 1};
    GPU_ONLY();
    kernel.in_place = lists;
    params[X].direction = params[Y].direction = CF_OUT;
    assert_ok(call(x, y, 16, 3));
    assert_fails(call(y, y, 9, 3), CF_EINVAL, "both are results");
    assert_int_equal(call_counts[CALL_cuLaunchKernel], 0);
}

/* Arrays whose elements have different sizes cannot be used in place. */
TEST_WITH(call_in_place_of_other_elements_is_refused, set_up, tear_down)
{
    static const uint8_t lists[PARAMS] = {[X] = 1, [Y] = 1};
    GPU_ONLY();
    kernel.in_place = lists;
    params[X].bytes = 8;
    assert_ok(call(x, y, 4, 3));
    assert_fails(call(y, y, 4, 3), CF_EINVAL,
                 "overlap by 12 bytes; in place they have to be one array, and their elements "
                 "have 8 and 4 bytes");
    assert_int_equal(call_counts[CALL_cuLaunchKernel], 0);
}

TEST_WITH(call_whose_launch_fails_says_so, set_up, tear_down)
{
    GPU_ONLY();
    assert_ok(call(x, y, 64, 16));
    fail_calls(CALL_cuLaunchKernel, CUDA_ERROR_INVALID_VALUE);
    int status = call(x, y, 64, 16);
    fail_calls(CALL_cuLaunchKernel, CUDA_SUCCESS);
    assert_fails(status, CF_EINVAL, "made_sum: cuLaunchKernel returned 1");
    assert_int_equal(call_counts[CALL_cuLaunchKernel], 1);
    assert_ptr_equal(strstr(cf_last_plan(), "used in place"), NULL);
    assert_ok(call(x, y, 64, 16));
}

TEST_WITH(call_of_a_thread_without_a_context_is_lent_one, set_up, tear_down)
{
    GPU_ONLY();
    CUcontext context = NULL;
    cf__leave(&place);
    assert_ok(call(x, y, 64, 16));
    assert_ok(call(x, y, 63, 16));
    assert_int_equal(call_counts[CALL_cuCtxPushCurrent], 1);
    assert_int_equal(call_counts[CALL_cuCtxPopCurrent], 1);
    call_counts[CALL_cuCtxPushCurrent] = call_counts[CALL_cuCtxPopCurrent] = 0;
    expect_direct(2);
    assert_int_equal(below->cuCtxGetCurrent(&context), CUDA_SUCCESS);
    assert_null(context);
    expect_y(63);
}

int main(int argc, char *argv[])
{
    make_image(&image, 9);
    add_test((struct CMUnitTest){"call_with_arrays_kept_apart_is_direct_where_they_are of rows",
                                 call_with_arrays_kept_apart_is_direct_where_they_are, set_up, tear_down, NULL});
    add_test((struct CMUnitTest){"call_with_arrays_kept_apart_is_direct_where_they_are of squares",
                                 call_with_arrays_kept_apart_is_direct_where_they_are, set_up, tear_down, (void *)1});
    add_test((struct CMUnitTest){"call_with_arrays_kept_apart_reads_one_twice of rows",
                                 call_with_arrays_kept_apart_reads_one_twice, set_up, tear_down, NULL});
    add_test((struct CMUnitTest){"call_with_arrays_kept_apart_reads_one_twice of squares",
                                 call_with_arrays_kept_apart_reads_one_twice, set_up, tear_down, (void *)1});
    add_test((struct CMUnitTest){"call_in_place_is_direct_where_arrays_are_one of rows",
                                 call_in_place_is_direct_where_arrays_are_one, set_up, tear_down, NULL});
    add_test((struct CMUnitTest){"call_in_place_is_direct_where_arrays_are_one of squares",
                                 call_in_place_is_direct_where_arrays_are_one, set_up, tear_down, (void *)1});
    return run_made(argc, argv, &module, set_up, tear_down);
}
