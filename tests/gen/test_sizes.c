/* test_sizes.c - the compiled checks of kernels agree with their descriptors, and a launch on the fast path makes at
 * most four driver calls. */
#include "counting_driver.h"
#include "handmade_kernel.h"
#include "context/enter.h"

#include <cuferry/kernels.h>

#include "compare_sizes.h"

/* ---- A kernel with compiled checks of its own ---- */

enum { OUT, SHARED, PARAMS };

static const cf_expr one = FIXED(1);
static const cf_param params[PARAMS] = {ARRAY_1D("out", int32_t, CF_I32, CF_OUT, one), VALUE("bytes", int64_t, CF_I64)};

static int sizes_calls, is_in_order;
static cf_launch_size in_order;

static int sizes(void *const args[], cf_launch_size *size)
{
    sizes_calls++;
    *size = in_order;
    size->shared = (uint32_t) * (const int64_t *)args[SHARED];
    return is_in_order;
}

static void blocks_body(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    int32_t *out = *(int32_t *const *)launch->args[OUT];
    if (begin == 0 && end > 0)
        *out = (int32_t)(1000 * launch->grid.x + launch->block.x);
}

static struct made_image image;
static cf_kernel kernel = {
    MADE_KERNEL("blocks", image),
    .nparams = PARAMS,
    .params = params,
    .launch = {.counts_blocks = 1, .grid = {FIXED(3)}, .block = {FIXED(32)}, .shared = NUMBER("bytes", SHARED)},
    .cpu_body = blocks_body,
    .is_cpu_whole = 1,
    .sizes = sizes};
static const cf_expr n_threads = FIXED(100);
static cf_kernel any_block = {
    MADE_KERNEL("any_block", image), .nparams = PARAMS, .params = params, .cpu_body = blocks_body,
    .launch = {.is_block_auto = 1},  .is_cpu_whole = 1};
static const cf_kernel *const kernels[] = {&any_block, &kernel};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 2, .kernels = kernels};

static int32_t *out;

static int set_up(void **state)
{
    (void)state;
    any_block.launch.grid[0] = n_threads;
    sizes_calls = 0;
    is_in_order = 1;
    in_order = (cf_launch_size){{7, 1, 1}, {64, 1, 1}, 0};
    fail_calls(CALL_cuLaunchKernel, CUDA_SUCCESS);
    checks_mode = not_relaxed = 0;
    assert_ok(cf_mem_alloc((void **)&out, sizeof *out));
    memset(call_counts, 0, sizeof call_counts);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_mem_free(out));
    assert_ok(cf_shutdown());
    return 0;
}

static int launch(const cf_kernel *of, cf_stream stream, int64_t bytes)
{
    void *const args[] = {&out, &bytes};
    return cf_launch(of, stream, args);
}

/* Expects that the kernel wrote the size of its launch as this number. */
static void expect_size(int32_t expected)
{
    int32_t size = 0;
    assert_ok(cf_mem_copy(&size, out, sizeof size));
    assert_int_equal(size, expected);
    memset(call_counts, 0, sizeof call_counts);
}

/* ---- Generated functions ---- */

TEST(sizes_bundled_kernels_agree_with_the_interpreter)
{
    char wrong[1024];
    int compiled;
    if (compare_sizes(&cf_registry, 20000, &compiled, wrong, sizeof wrong) != 0)
        fail_msg("%s", wrong);
    int variants = 0;
    for (size_t i = 0; i < cf_registry.count; i++)
        variants += cf_registry.kernels[i]->nvariants ? (int)cf_registry.kernels[i]->nvariants : 1;
    assert_int_equal(compiled, variants);
}

/* ---- The fast path ---- */

TEST_WITH(launch_in_order_takes_the_size_as_it_is, set_up, tear_down)
{
    assert_ok(launch(&kernel, NULL, 0));
    expect_size(7064);
    assert_ok(launch(&kernel, NULL, 0));
    expect_size(7064);
    assert_int_equal(sizes_calls, 2);
}

TEST_WITH(launch_not_in_order_is_interpreted, set_up, tear_down)
{
    is_in_order = 0;
    assert_ok(launch(&kernel, NULL, 0));
    expect_size(3032);
    assert_fails(launch(&kernel, NULL, -1), CF_EINVAL, "made_blocks_async: shared(bytes) is negative with bytes = -1");
    assert_int_equal(sizes_calls, 2);
}

TEST_WITH(launch_in_order_is_four_calls_at_most, set_up, tear_down)
{
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(&kernel, NULL, 0));
    int is_gpu = on_cuda(), device = -2;
    assert_ok(cf_device_current(&device));
    struct cf__scope place;
    assert_ok(cf__enter(&place, "test", stream)); /* a thread that uses a GPU usually has a current context */
    memset(call_counts, 0, sizeof call_counts);
    for (int i = 0; i < 3; i++) {
        int is_known = is_gpu && i > 0; /* known from the thread's latest launch in a created stream */
        assert_ok(launch(&kernel, stream, 0));
        expect_calls(!is_known, !is_known, 1, 1);
        assert_ok(launch(&kernel, NULL, 0));
        expect_calls(0, 1, 1, 1);
        assert_ok(launch(&kernel, (cf_stream)2, 0));
        expect_calls(0, 1, 1, 1);
    }
    if (is_gpu) {
        assert_ok(cf_device_use(device));
        memset(call_counts, 0, sizeof call_counts);
        assert_ok(launch(&kernel, NULL, 0));
        expect_calls(0, 1, 1, 1);
    }
    cf__leave(&place);
    assert_ok(cf_stream_destroy(stream));
}

/* The driver refuses the known handle, which belongs to another stream now. The library then asks the driver. */
TEST_WITH(launch_on_a_known_stream_that_is_refused_asks_again, set_up, tear_down)
{
    cf_stream stream, other;
    need_any_gpu();
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_create(&other));
    assert_ok(launch(&kernel, stream, 0)); /* loads the kernel */
    assert_ok(launch(&kernel, stream, 0));
    memset(call_counts, 0, sizeof call_counts);
    assert_ok(launch(&kernel, stream, 0));
    expect_calls(0, 0, 1, 1);
    fail_calls(CALL_cuLaunchKernel, CUDA_ERROR_INVALID_HANDLE);
    assert_fails(launch(&kernel, stream, 0), CF_EINVAL, "made_blocks_async: cuLaunchKernel returned 400");
    assert_int_equal(call_counts[CALL_cuStreamGetCtx], 1);
    assert_int_equal(call_counts[CALL_cuLaunchKernel], 2);
    fail_calls(CALL_cuLaunchKernel, CUDA_ERROR_INVALID_VALUE); /* an error that has nothing to do with the stream */
    assert_fails(launch(&kernel, stream, 0), CF_EINVAL, "made_blocks_async: cuLaunchKernel returned 1");
    fail_calls(CALL_cuLaunchKernel, CUDA_SUCCESS);
    assert_ok(launch(&kernel, stream, 0));
    assert_ok(launch(&kernel, other, 0));
    memset(call_counts, 0, sizeof call_counts);
    assert_ok(launch(&kernel, other, 0));
    expect_calls(0, 0, 1, 1);
    assert_ok(launch(&kernel, stream, 0));
    assert_int_equal(call_counts[CALL_cuStreamGetCtx], 1);
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_stream_destroy(other));
    assert_ok(cf_stream_destroy(stream));
}

TEST_WITH(launch_in_order_that_fails_names_the_async_form, set_up, tear_down)
{
    assert_ok(launch(&kernel, NULL, 0));
    fail_calls(CALL_cuLaunchKernel, CUDA_ERROR_INVALID_VALUE);
    assert_fails(launch(&kernel, NULL, 0), CF_EINVAL,
                 CALL_OR_TEXT("made_blocks_async: cuLaunchKernel returned 1 (CUDA_ERROR_INV",
                              "made_blocks_async: invalid argument"));
    assert_int_equal(cf_last_driver_result(), CUDA_ERROR_INVALID_VALUE);
    fail_calls(CALL_cuLaunchKernel, CUDA_SUCCESS);
    assert_ok(launch(&kernel, NULL, 0));
}

TEST_WITH(launch_with_null_argument_is_invalid, set_up, tear_down)
{
    void *const args[] = {NULL, NULL};
    is_in_order = 0;
    kernel.sizes = NULL;
    assert_fails(cf_launch(&kernel, NULL, args), CF_EINVAL, "made_blocks_async: the argument for out is NULL");
    kernel.sizes = sizes;
    const cf_kernel *gather = cf_kernel_find(&cf_registry, "gather_f32_i32");
    for (int absent = 0; absent < 5; absent++) {
        int64_t number = 1;
        void *given[] = {&out, &out, &out, &number, &number};
        given[absent] = NULL;
        assert_fails(cf_launch(gather, NULL, given), CF_EINVAL, "is NULL, and not a pointer to one");
    }
}

/* ---- Driver calls of a first launch ---- */

TEST_WITH(launch_with_more_shared_memory_asks_once, set_up, tear_down)
{
    need_any_gpu();
    assert_ok(launch(&kernel, NULL, 100));
    assert_int_equal(call_counts[CALL_cuFuncGetAttribute], 1);
    memset(call_counts, 0, sizeof call_counts);
    assert_ok(launch(&kernel, NULL, 60000));
    assert_int_equal(call_counts[CALL_cuFuncSetAttribute], 1);
    assert_int_equal(call_counts[CALL_cuFuncGetAttribute], 0);
    memset(call_counts, 0, sizeof call_counts);
    assert_ok(launch(&kernel, NULL, 60000));
    assert_ok(launch(&kernel, NULL, 100));
    assert_int_equal(call_counts[CALL_cuFuncSetAttribute] + call_counts[CALL_cuFuncGetAttribute], 0);
    assert_int_equal(call_counts[CALL_cuLaunchKernel], 2);
}

TEST_WITH(launch_first_use_asks_in_the_relaxed_mode, set_up, tear_down)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, before;
    assert_int_equal(counting.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    before = mode;
    checks_mode = 1;
    assert_ok(launch(&kernel, NULL, 60000));
    assert_ok(launch(&any_block, NULL, 0));
    checks_mode = 0;
    assert_int_equal(not_relaxed, 0);
    if (on_cuda()) {
        assert_int_equal(call_counts[CALL_cuFuncSetAttribute], 1);
        assert_int_equal(call_counts[CALL_cuOccupancyMaxPotentialBlockSize], 1);
        assert_int_equal(call_counts[CALL_cuLibraryLoadData], 1);
    }
    mode = before;
    assert_int_equal(counting.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    if (on_cuda())
        assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL); /* the launches have not changed it */
}

int main(int argc, char *argv[])
{
    make_image(&image, 9);
    return run_made(argc, argv, &module, set_up, tear_down);
}
