/* test_size.c - the parts of a launch rule other than grid and block: items, block(auto), shared memory, attributes of
 * launches, CPU bodies that are called once, and the sizes of parameters that a CPU body declares. */
#include "handmade_kernel.h"

#include "expr_steps.h"
#include "driver/driver.h"
#include "model/size.h"

#include <pthread.h>

/* ---- A kernel that records how it was called ---- */

enum { COUNT, ITEMS, SHARED, BOX, PARAMS };

struct box {
    char name[20];
    int32_t n;
};

static cf_param params[PARAMS] = {
    VALUE("count", int64_t, CF_I64),
    VALUE("items", int32_t, CF_I32),
    VALUE("shared_bytes", int64_t, CF_I64),
    VALUE("box", struct box, CF_OPAQUE),
};
static const uint32_t cpu_bytes[PARAMS] = {8, 4, 8, 24};

static struct {
    pthread_mutex_t lock;
    uint64_t blocks;
    int calls, is_elsewhere; /* is_elsewhere: a call was made on another thread than the launch */
    cf_dim3 grid, block;
    uint32_t shared;
    pthread_t launcher;
    struct box box;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void look(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    pthread_mutex_lock(&seen.lock);
    seen.blocks += end - begin;
    seen.calls++;
    seen.is_elsewhere |= !pthread_equal(pthread_self(), seen.launcher);
    seen.grid = launch->grid;
    seen.block = launch->block;
    seen.shared = launch->shared;
    seen.box = *(const struct box *)launch->args[BOX];
    pthread_mutex_unlock(&seen.lock);
}

static struct made_image image;
static cf_state kernel_state;
static const cf_expr items = NUMBER("items", ITEMS), shared = NUMBER("shared_bytes", SHARED);
static const cf_expr two = FIXED(2), one = FIXED(1);
static const cf_kernel template = {.version = CF_REGISTRY_VERSION,
                                   .name = "look",
                                   .family = "look",
                                   .function = "made_look",
                                   .image = &image.image,
                                   .entry = "look",
                                   .state = &kernel_state,
                                   .nparams = PARAMS,
                                   .params = params,
                                   .launch = {.grid = {NUMBER("count", COUNT)}, .block = {FIXED(64)}},
                                   .cpu_body = look,
                                   .cpu_bytes = cpu_bytes};
static cf_kernel kernel;
static const cf_kernel *const kernels[] = {&template};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 1, .kernels = kernels};

static int set_up(void **unused)
{
    (void)unused;
    kernel = template;
    return 0;
}

static int call(int64_t count, int32_t of_items, int64_t bytes)
{
    struct box box = {"twenty characters...", 7};
    void *const args[] = {&count, &of_items, &bytes, &box};
    seen.blocks = 0;
    seen.calls = seen.is_elsewhere = 0;
    seen.launcher = pthread_self();
    return cf_call(&kernel, args);
}

static void expect_blocks(int64_t count, int32_t of_items, uint64_t blocks)
{
    assert_ok(call(count, of_items, 0));
    assert_int_equal(seen.blocks, blocks);
    if (blocks) {
        assert_int_equal(seen.grid.x, blocks);
        assert_true(memcmp(seen.box.name, "twenty characters...", 20) == 0 && seen.box.n == 7);
    }
}

/* ---- items ---- */

TEST_WITH(rule_items_divide_the_grid_along_x, set_up, end_library_empty)
{
    kernel.launch.items = items;
    expect_blocks(0, 4, 0);
    expect_blocks(1, 4, 1);
    expect_blocks(256, 4, 1);
    expect_blocks(257, 4, 2);
    expect_blocks(1000, 1, 16);
    expect_blocks(INT64_MAX, INT32_MAX, 67108865);
    kernel.launch.grid[1] = two;
    assert_ok(call(512, 4, 0));
    assert_true(seen.grid.x == 2 && seen.grid.y == 2 && seen.blocks == 4);
}

TEST_WITH(rule_items_below_1_are_invalid, set_up, end_library_empty)
{
    kernel.launch.items = items;
    assert_fails(call(10, 0, 0), CF_EINVAL, "made_look: items(items) is 0 with items = 0; a thread takes at least one");
    assert_fails(call(10, -1, 0), CF_EINVAL, "made_look: items(items) is negative with items = -1");
    assert_int_equal(seen.calls, 0);
}

/* ---- block(auto) ---- */

TEST_WITH(rule_block_auto_is_what_the_driver_says, set_up, end_library_empty)
{
    static const cf_expr none = {NULL, NULL};
    unsigned int block = played_gpu_is_in_use() ? FAKE_BEST_BLOCK : 256;
    kernel.launch.block[0] = none;
    kernel.launch.is_block_auto = 1;
    expect_blocks(0, 0, 0);
    assert_null(kernel_state.loaded); /* nothing was loaded */
    expect_blocks(1, 0, 1);
    assert_true(seen.block.x == block && seen.block.y == 1 && seen.block.z == 1);
    expect_blocks(10 * block, 0, 10);
    kernel.launch.max_block = 96;
    expect_blocks(960, 0, 10);
    assert_true(seen.block.x == 96);
    kernel.launch.max_block = 0;
    expect_blocks(10 * block + 1, 0, 11);
    assert_fails(call(INT64_MAX, 0, 0), CF_EOVERFLOW, "made_look: grid(count) asks for ");
}

FAKE_TEST(rule_block_auto_is_queried_once_a_context, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    int before = counts->best_block;
    kernel.launch.is_block_auto = 1;
    for (int i = 0; i < 5; i++)
        assert_ok(call(1000, 0, 0));
    assert_int_equal(counts->best_block - before, 1);
    CUcontext context;
    assert_int_equal(context_create(&context, 0, 0), CUDA_SUCCESS);
    for (int i = 0; i < 5; i++)
        assert_ok(call(1000, 0, 0));
    assert_int_equal(context_destroy(context), CUDA_SUCCESS);
    assert_int_equal(counts->best_block - before, 2);
}

/* ---- shared ---- */

FAKE_TEST(rule_shared_reaches_the_launch, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    kernel.launch.shared = shared;
    int before = counts->set_attribute;
    assert_ok(call(1, 0, 0));
    assert_int_equal(counts->shared, 0);
    assert_ok(call(1, 0, 1000));
    assert_int_equal(counts->shared, 1000);
    assert_ok(call(1, 0, 48 << 10));
    assert_int_equal(counts->shared, 48 << 10);
    assert_int_equal(counts->set_attribute - before, 0);
}

/* A size is requested once, and only if it is larger than all sizes before. */
FAKE_TEST(rule_shared_past_48_kib_is_requested_once, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    static const int sizes[] = {(48 << 10) + 1, 100000, 60000, 1000, 100000, 232448, 232448, 0};
    kernel.launch.shared = shared;
    int before = counts->set_attribute, queries = counts->get_attribute;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_ok(call(1, 0, sizes[i]));
        assert_int_equal(counts->shared, sizes[i]);
    }
    assert_int_equal(counts->set_attribute - before, 3);
    assert_int_equal(counts->get_attribute - queries, 1);
}

FAKE_TEST(rule_without_shared_queries_nothing, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    int calls = counts->get_attribute + counts->set_attribute + counts->best_block + counts->alloc_async;
    assert_ok(call(1, 0, 0));
    assert_int_equal(counts->get_attribute + counts->set_attribute + counts->best_block + counts->alloc_async, calls);
}

TEST_WITH(rule_bad_shared_is_invalid, set_up, end_library_empty)
{
    kernel.launch.shared = shared;
    assert_fails(call(1, 0, -1), CF_EINVAL, "made_look: shared(shared_bytes) is negative with shared_bytes = -1");
    assert_fails(call(1, 0, (int64_t)1 << 31), CF_EINVAL,
                 "made_look: shared(shared_bytes) is 2147483648 with shared_bytes = 2147483648; no device has as much "
                 "shared memory");
    assert_int_equal(seen.calls, 0);
    if (played_gpu_is_in_use())
        assert_fails(call(1, 0, 232449), CF_EINVAL,
                     "made_look: shared(shared_bytes) is 232449 bytes with shared_bytes = 232449, and the device "
                     "has at most 232448 for a block");
    assert_ok(call(1, 0, 1000));
}

FAKE_TEST(rule_shared_past_a_small_device_is_invalid, "FAKE_CUDA=shared=65536")
{
    kernel.launch.shared = shared;
    assert_ok(call(1, 0, 65536));
    assert_fails(call(1, 0, 65537), CF_EINVAL, "the device has at most 65536 for a block");
}

static void *share_on_thread(void *bytes)
{
    struct box box = {"", 0};
    int64_t count = 1, size = (int64_t)(intptr_t)bytes;
    int32_t of_items = 0;
    void *const args[] = {&count, &of_items, &size, &box};
    for (int i = 0; i < 50; i++)
        if (cf_launch(&kernel, NULL, args) != CF_OK)
            return "a launch fails";
    return NULL;
}

/* If one thread needs less memory, it must not reduce the size that another thread has requested. */
TEST_WITH(rule_shared_of_8_threads_is_enough_for_each, set_up, end_library_empty)
{
    pthread_t threads[8];
    kernel.launch.shared = shared;
    for (intptr_t i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, share_on_thread, (void *)(50000 + i * 20000)), 0);
    for (int i = 0; i < 8; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

/* ---- cooperative ---- */

TEST_WITH(rule_cooperative_is_launched_as_such, set_up, end_library_empty)
{
    kernel.launch.is_cooperative = 1;
    expect_blocks(640, 0, 10);
    if (played_gpu_is_in_use()) {
        const struct fake_counts *counts = fake_counts();
        int before = counts->cooperative, others = counts->launch;
        expect_blocks(640, 0, 10);
        assert_int_equal(counts->cooperative - before, 1);
        assert_int_equal(counts->launch - others, 0);
    }
}

FAKE_TEST(rule_cooperative_grid_past_the_device_is_invalid, "FAKE_CUDA=resident=20")
{
    kernel.launch.is_cooperative = 1;
    assert_ok(call(64 * 20, 0, 0));
    assert_fails(call(64 * 20 + 1, 0, 0), CF_EINVAL,
                 "made_look: its grid of 21 blocks does not fit the device at once, as cooperative asks: "
                 "cuLaunchKernelEx returned 720 (CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, ");
    assert_int_equal(seen.calls, 0);
    assert_ok(call(64, 0, 0));
}

/* ---- Clusters ---- */

static void set_cluster(uint32_t x, uint32_t y, int is_passed)
{
    kernel.launch.cluster[0] = x;
    kernel.launch.cluster[1] = y;
    kernel.launch.passes_cluster = (uint8_t)is_passed;
}

FAKE_TEST(rule_cluster_is_told_to_the_driver, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    kernel.launch.grid[1] = two;
    set_cluster(4, 2, 1);
    int launches = counts->launch;
    assert_ok(call(64 * 8, 0, 0));
    assert_true(seen.blocks == 16 && counts->launch == launches);
    assert_true(counts->cluster.x == 4 && counts->cluster.y == 2 && counts->cluster.z == 1);
}

/* The GPU code of the kernel contains the cluster's size, so the launch passes no attribute. */
FAKE_TEST(rule_cluster_of_the_kernel_is_not_told, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    set_cluster(4, 0, 0);
    int launches = counts->launch;
    assert_ok(call(64 * 8, 0, 0));
    assert_true(counts->launch == launches + 1 && counts->cluster.x == 0);
}

FAKE_TEST(rule_cluster_of_more_than_8_blocks_is_requested, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    int requests = counts->set_attribute;
    set_cluster(4, 2, 1);
    kernel.launch.grid[1] = two;
    assert_ok(call(64 * 8, 0, 0));
    assert_int_equal(counts->set_attribute, requests);
    assert_ok(end_library_empty(NULL));
    set_cluster(8, 2, 1);
    assert_ok(call(64 * 8, 0, 0));
    assert_int_equal(counts->set_attribute, requests + 1);
}

TEST_WITH(rule_grid_that_clusters_do_not_divide_is_invalid, set_up, end_library_empty)
{
    for (int is_passed = 0; is_passed < 2; is_passed++) {
        set_cluster(2, 0, is_passed);
        expect_blocks(0, 0, 0);
        expect_blocks(64 * 4, 0, 4);
        assert_fails(call(64 * 3, 0, 0), CF_EINVAL,
                     "made_look: its grid of 3 x 1 x 1 blocks is no multiple of its clusters' 2 x 1 x 1");
        assert_int_equal(seen.calls, 0);
        assert_ok(end_library_empty(NULL));
    }
    set_cluster(1, 2, 1);
    assert_fails(call(64, 0, 0), CF_EINVAL,
                 "made_look: its grid of 1 x 1 x 1 blocks is no multiple of its clusters' 1 x 2 x 1");
}

static const uint16_t targets_80[] = {80, 0};

FAKE_TEST(rule_cluster_before_9_0_is_not_supported, "FAKE_CUDA=cc=80")
{
    image.image.sm = image.image.ptx = targets_80;
    set_cluster(2, 0, 1);
    assert_fails(call(64 * 4, 0, 0), CF_ENOTSUP,
                 "made_look: cluster(...) needs a GPU of compute capability 9.0 or newer, and device 0 has 8.0");
}

/* ---- dependent ---- */

static int launch(cf_stream stream)
{
    int64_t count = 64, bytes = 0;
    int32_t of_items = 0;
    struct box box = {"twenty characters...", 7};
    return cf_launch(&kernel, stream, (void *const[]){&count, &of_items, &bytes, &box});
}

TEST_WITH(rule_dependent_may_begin_early, set_up, end_library_empty)
{
    kernel.launch.is_dependent = 1;
    expect_blocks(640, 0, 10);
    if (played_gpu_is_in_use()) {
        const struct fake_counts *counts = fake_counts();
        int before = counts->dependent, others = counts->launch;
        assert_ok(launch(NULL));
        assert_true(counts->dependent == before + 1 && counts->launch == others);
        assert_ok(cf_stream_sync(NULL));
    }
}

FAKE_TEST(rule_dependent_before_9_0_is_a_simple_launch, "FAKE_CUDA=cc=80")
{
    const struct fake_counts *counts = fake_counts();
    image.image.sm = image.image.ptx = targets_80;
    kernel.launch.is_dependent = 1;
    expect_blocks(640, 0, 10);
    assert_true(counts->dependent == 0 && counts->launch == 1);
}

TEST_WITH(rule_dependent_is_recorded, set_up, end_library_empty)
{
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    kernel.launch.is_dependent = 1;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(launch(stream));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    seen.blocks = 0;
    assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_stream_sync(stream));
    assert_int_equal(seen.blocks, 1);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
}

FAKE_TEST(rule_dependent_in_a_capture_needs_cuda_12_3, "FAKE_CUDA=version=12020")
{
    cf_stream stream;
    cf_graph graph;
    char text[160];
    kernel.launch.is_dependent = 1;
    assert_ok(cf_stream_create(&stream));
    assert_ok(launch(stream));
    assert_ok(cf_stream_capture_begin(stream));
    snprintf(text, sizeof text,
             "made_look_async: stream %p is being captured, and a dependent kernel in a capture needs a driver for "
             "CUDA 12.3 "
             "or newer",
             (void *)stream);
    assert_fails(launch(stream), CF_ENOTSUP, text);
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
}

/* ---- CPU bodies ---- */

static int call_on_cpu(int64_t count)
{
    int device;
    assert_ok(cf_device_current(&device));
    assert_ok(cf_device_use(CF_HOST));
    int status = call(count, 0, 0);
    assert_ok(cf_device_use(device));
    return status;
}

static int sizes_of_six(void *const args[], cf_launch_size *size)
{
    (void)args;
    *size = (cf_launch_size){{2, 3, 5}, {4, 6, 8}, 1000};
    return 1;
}

static void expect_six(int status)
{
    assert_ok(status);
    assert_ok(cf_device_sync());
    assert_int_equal(seen.blocks, 2 * 3 * 5);
    seen.blocks = 0;
    assert_true(seen.grid.x == 2 && seen.grid.y == 3 && seen.grid.z == 5);
    assert_true(seen.block.x == 4 && seen.block.y == 6 && seen.block.z == 8);
    assert_int_equal(seen.shared, 1000);
}

/* The first launch loads the kernel; the next one takes the fast path; with CF_CHECK=1 each launch takes the slow
 * path. */
TEST_WITH(sizes_that_are_compiled_reach_every_launch, set_up, end_library_empty)
{
    kernel.sizes = sizes_of_six;
    seen.blocks = 0;
    for (int checks = 0; checks < 2; checks++) {
        assert_int_equal(setenv("CF_CHECK", checks ? "1" : "0", 1), 0);
        assert_ok(cf_shutdown());
        for (int i = 0; i < 3; i++)
            expect_six(launch(NULL));
        expect_six(call(1, 0, 0));
    }
    assert_int_equal(unsetenv("CF_CHECK"), 0);
}

/* Kernels that have no compiled function for their sizes. */
TEST_WITH(sizes_of_expressions_are_computed_at_once, set_up, end_library_empty)
{
    static const cf_param n_alone[] = {VALUE("n", int32_t, CF_I32)};
    const cf_expr twice = {"2 * n", OPS(CONST(2), PARAM(0), OP(MUL))},
                  more = {"n + 3", OPS(PARAM(0), CONST(3), OP(ADD))}, itself = {"n", OPS(PARAM(0))};
    const cf_kernel made = {
        .name = "made",
        .function = "made",
        .nparams = 1,
        .params = n_alone,
        .launch = {.counts_blocks = 1, .grid = {twice, more, itself}, .block = {more}, .shared = twice}};
    int32_t n = 5;
    void *args[] = {&n};
    cf_launch_size size;
    assert_int_equal(cf__model_interpret(&made, args, &size), 1);
    const cf_launch_size expected = {{10, 8, 5}, {8, 1, 1}, 10};
    for (int d = 0; d < 3; d++) {
        assert_int_equal(size.grid[d], expected.grid[d]);
        assert_int_equal(size.block[d], expected.block[d]);
    }
    assert_int_equal(size.shared, expected.shared);
    n = 0; /* nothing to launch */
    assert_int_equal(cf__model_interpret(&made, args, &size), 0);
}

TEST_WITH(body_of_blocks_is_called_in_parts, set_up, end_library_empty)
{
    assert_ok(call_on_cpu(10000000));
    assert_int_equal(seen.blocks, 156250);
    assert_true(seen.calls > 1);
}

TEST_WITH(body_of_the_whole_is_called_once_by_the_caller, set_up, end_library_empty)
{
    for (int cooperative = 0; cooperative < 2; cooperative++) {
        kernel.is_cpu_whole = 1;
        kernel.launch.is_cooperative = (uint8_t)cooperative;
        assert_ok(call_on_cpu(10000000));
        assert_int_equal(seen.blocks, 156250);
        assert_int_equal(seen.calls, 1);
        assert_false(seen.is_elsewhere);
    }
}

TEST_WITH(body_that_is_not_there_is_not_supported, set_up, end_library_empty)
{
    kernel.cpu_body = NULL;
    assert_int_equal(call_on_cpu(1), CF_ENOTSUP);
    assert_string_equal(
        cf_last_error(),
        "made_look: it has no form for the CPU: its annotation has host(none), or image(...) without host(function)");
}

TEST_WITH(body_with_parameter_of_another_size_names_it, set_up, end_library_empty)
{
    static uint32_t bytes[PARAMS];
    memcpy(bytes, cpu_bytes, sizeof bytes);
    kernel.cpu_bytes = bytes;
    bytes[BOX] = 28;
    for (int i = 0; i < 2; i++) { /* a failure is not cached */
        assert_int_equal(call_on_cpu(1), CF_EIMAGE);
        assert_string_equal(cf_last_error(),
                            "made_look: box has 28 bytes in its form for the CPU and 24 in its descriptor");
    }
    bytes[BOX] = 24;
    params[COUNT].direction = CF_POINTER; /* a pointer always has the same size, whatever it points to */
    params[COUNT].bytes = 1;
    kernel.launch.grid[0] = one;
    int status = call_on_cpu(0);
    params[COUNT] = (cf_param)VALUE("count", int64_t, CF_I64);
    assert_int_equal(status, CF_OK);
    kernel.cpu_bytes = NULL; /* there are no sizes to compare with */
    assert_ok(end_library_empty(NULL));
    assert_ok(call_on_cpu(1));
}

int main(int argc, char *argv[])
{
    make_image(&image, 3);
    return run_made(argc, argv, &module, set_up, end_library_empty);
}
