/* test_operation.c - operations of several launches, which operation.cu declares: all ways to call them, the devices on
 * which their launches run, and the messages of failures. */
#include "played_gpu.h"

#include <cuferry/registry.h>

#include "operation_kernels_internal.h"

/* ---- The operations, written as users write them ---- */

#define NORMALISE(tag, T)                                                                           \
    int operation__enqueue_normalise_##tag(cf_stream stream, const T *x, T *y, T *total, int64_t n) \
    {                                                                                               \
        int status = operation_add_up_##tag##_async(stream, x, total, n);                           \
        return status == CF_OK ? operation_divide_##tag##_async(stream, x, total, y, n) : status;   \
    }
NORMALISE(f32, float)
NORMALISE(f64, double)

int operation__enqueue_normalise_some(cf_stream stream, const float *x, const int32_t *index, float *y, float *all,
                                      int64_t N, int64_t M)
{
    int status = operation_normalise_async(stream, x, all, M);
    return status == CF_OK ? operation_pick_async(stream, all, index, y, N, M) : status;
}

/* Things that fill_often does in addition to filling. */
enum { NOTHING, NO_STATUS, A_STATUS, AGAIN, A_PLAIN_CALL, FAULTS };
static int depth, calls;

int operation__enqueue_fill_often(cf_stream stream, int32_t *x, int32_t *device, int32_t *a, int32_t *b, int32_t first,
                                  int32_t count, int32_t what, int64_t n)
{
    int where, status = cf_stream_device(stream, &where);
    calls++;
    assert_true((a != NULL) == (n != 0) && !b);
    for (int32_t i = 0; i < count && status == CF_OK; i++)
        status = operation_fill_up_async(stream, i % 2 ? a : x, first + i, n);
    if (status == CF_OK && n)
        status = cf_mem_copy_async(stream, x, count % 2 ? x : a, (size_t)n * sizeof *x);
    if (status == CF_OK)
        status = operation_fill_up_async(stream, device, where, 1);
    if (status != CF_OK || what == NOTHING)
        return status;
    if (what == FAULTS)
        return operation_fault_async(stream, device);
    if (what == AGAIN) {
        depth++;
        return operation_fill_often_async(stream, x, device, first, count, what, n);
    }
    return what == A_PLAIN_CALL ? operation_fill_up(x, 1, n) : what == NO_STATUS ? 7 : CF_ENOTSUP;
}

int operation__enqueue_only_on_gpus(cf_stream stream, int32_t *x)
{
    return operation_on_gpus_async(stream, x);
}

int operation__enqueue_step_once(cf_stream stream, int32_t *x)
{
    return operation_add_step_async(stream, x);
}

/* ---- Data ---- */

enum { N = 1000, SOME = 300, OLD = -7 };
static float x[N], y[N], *dx, *dy;
static int32_t filled[N], where, *dfilled, *dwhere;

static int set_up(void **state)
{
    (void)state;
    played_gpu_add(&operation_registry);
    calls = depth = 0;
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i % 8);
        y[i] = OLD;
        filled[i] = OLD;
    }
    where = OLD;
    assert_ok(cf_mem_alloc((void **)&dx, sizeof x));
    assert_ok(cf_mem_alloc((void **)&dy, sizeof y));
    assert_ok(cf_mem_alloc((void **)&dfilled, sizeof filled));
    assert_ok(cf_mem_alloc((void **)&dwhere, sizeof where));
    assert_ok(cf_mem_copy(dx, x, sizeof x));
    assert_ok(cf_mem_copy(dy, y, sizeof y));
    assert_ok(cf_mem_copy(dfilled, filled, sizeof filled));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_set_host_data(CF_HOST_DATA_STAGE));
    assert_ok(cf_mem_free(dx));
    assert_ok(cf_mem_free(dy));
    assert_ok(cf_mem_free(dfilled));
    assert_ok(cf_mem_free(dwhere));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

static void expect_normalised(const float *given)
{
    float total = 0;
    for (int i = 0; i < N; i++)
        total += x[i];
    for (int i = 0; i < N; i++)
        assert_true(given[i] == x[i] / total);
}

static void expect_filled(int value, int device)
{
    for (int i = 0; i < N; i++)
        assert_int_equal(filled[i], value);
    assert_int_equal(where, device);
}

static void download(void)
{
    assert_ok(cf_mem_copy(y, dy, sizeof y));
    assert_ok(cf_mem_copy(filled, dfilled, sizeof filled));
    assert_ok(cf_mem_copy(&where, dwhere, sizeof where));
}

static const cf_kernel *find(const char *name)
{
    const cf_kernel *kernel = cf_kernel_find(&operation_registry, name);
    assert_non_null(kernel);
    return kernel;
}

/* ---- Calls ---- */

TEST_WITH(plain_call_takes_host_arrays, set_up, tear_down)
{
    double large[N], out[N];
    assert_ok(operation_normalise(x, y, N));
    expect_normalised(y);
    for (int i = 0; i < N; i++)
        large[i] = 2;
    assert_ok(operation_normalise(large, out, N));
    for (int i = 0; i < N; i++)
        assert_true(out[i] == 0.001);
    assert_non_null(
        strstr(cf_last_plan(), on_cuda() ? "operation_normalise_f64: on device 0, 8000 bytes copied in and 8000 out"
                                         : "operation_normalise_f64: on the CPU, the thread's device"));
}

TEST_WITH(plain_call_takes_device_arrays, set_up, tear_down)
{
    assert_ok(operation_normalise(dx, dy, N));
    download();
    expect_normalised(y);
    assert_non_null(
        strstr(cf_last_plan(), on_cuda() ? "on device 0, 2 arrays used in place; nothing was copied" : "CPU"));
    assert_ok(operation_normalise(dx, dx, N));
    assert_ok(cf_mem_copy(y, dx, sizeof y));
    expect_normalised(y);
}

TEST_WITH(plain_call_takes_mixed_arrays, set_up, tear_down)
{
    assert_ok(operation_normalise(dx, y, N));
    expect_normalised(y);
}

TEST_WITH(async_runs_in_the_order_of_its_stream, set_up, tear_down)
{
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 2; i++) {
        cf_stream used = i ? NULL : stream;
        assert_ok(cf_mem_fill_async(used, dy, 0, sizeof y));
        assert_ok(operation_normalise_async(used, dx, dy, N));
        assert_ok(operation_fill_often_async(used, dfilled, dwhere, 5 + i, 3 + i, NOTHING, N));
        assert_ok(cf_stream_sync(used));
        download();
        expect_normalised(y);
        expect_filled(i ? 9 : 7, on_cuda() ? 0 : CF_HOST);
    }
    assert_ok(cf_stream_destroy(stream));
}

TEST_WITH(call_by_the_registry_is_the_same, set_up, tear_down)
{
    const float *from = dx;
    float *to = dy;
    int64_t n = N;
    void *const args[] = {&from, &to, NULL, &n};
    const cf_kernel *kernel = find("normalise_f32");
    assert_true(cf_kernel_is_operation(kernel) && !cf_kernel_is_internal(kernel));
    assert_ok(cf_launch(kernel, NULL, args));
    assert_ok(cf_device_sync());
    download();
    expect_normalised(y);
    assert_ok(cf_mem_fill(dy, 0, sizeof y));
    assert_ok(cf_call(kernel, args));
    download();
    expect_normalised(y);
}

TEST_WITH(call_without_elements_still_runs, set_up, tear_down)
{
    assert_ok(operation_normalise_f32(NULL, NULL, 0));
    assert_ok(operation_fill_often(NULL, &where, 1, 3, NOTHING, 0));
    assert_int_equal(calls, 1);
    assert_int_equal(where, on_cuda() ? 0 : CF_HOST);
}

TEST_WITH(operation_within_an_operation_runs, set_up, tear_down)
{
    int32_t index[SOME];
    for (int i = 0; i < SOME; i++)
        index[i] = N - 1 - 2 * i;
    assert_ok(operation_normalise_some(x, index, y, SOME, N));
    for (int i = 0; i < SOME; i++)
        assert_true(y[i] == x[N - 1 - 2 * i] / 3500);
    assert_float_equal(y[SOME], OLD, 0);
}

/* ---- Devices ---- */

TEST_WITH(host_arrays_of_a_gpu_thread_may_be_used_by_the_cpu, set_up, tear_down)
{
    int device;
    assert_ok(cf_set_host_data(CF_HOST_DATA_HOST));
    assert_ok(operation_fill_often(filled, &where, 3, 2, NOTHING, N));
    expect_filled(4, CF_HOST);
    assert_ok(operation_normalise(x, y, N));
    expect_normalised(y);
    assert_non_null(strstr(cf_last_plan(), on_cuda() ? "on the CPU, as cf_set_host_data() asks" : "on the CPU"));
    /* The thread's device is restored. */
    assert_ok(cf_device_current(&device));
    assert_int_equal(device, on_cuda() ? 0 : CF_HOST);
    assert_fails(operation_fill_often(filled, &where, 13, 1, NOTHING, N), CF_EINVAL, "operation_fill_often: in ");
    assert_ok(cf_device_current(&device));
    assert_int_equal(device, on_cuda() ? 0 : CF_HOST);
    assert_ok(operation_fill_often_async(NULL, dfilled, dwhere, 5, 1, NOTHING, N));
    download();
    expect_filled(5, device);
}

static void *use_host_and_device_1(void *unused)
{
    (void)unused;
    if (cf_device_use(CF_HOST) != CF_OK || operation_fill_often(filled, &where, 1, 2, NOTHING, N) != CF_OK ||
        where != CF_HOST || filled[N - 1] != 2)
        return "on the CPU";
    if (cf_device_use(1) != CF_OK || operation_fill_often(filled, &where, 1, 3, NOTHING, N) != CF_OK || where != 1 ||
        filled[N - 1] != 3)
        return "on device 1";
    return NULL;
}

TEST_WITH(device_of_the_thread_is_that_of_its_launches, set_up, tear_down)
{
    need_two_gpus();
    run_beside_a_gpu(use_host_and_device_1);
}

TEST_WITH(operation_that_is_not_closed_is_staged, set_up, tear_down)
{
    int32_t one = 1, step;
    assert_ok(cf_set_host_data(CF_HOST_DATA_HOST));
    for (step = 1; step < 3; step++) {
        assert_ok(operation_set_step(step));
        assert_ok(operation_step_once(&one));
    }
    assert_ok(operation_set_step(1));
    assert_int_equal(one, 4);
    assert_non_null(strstr(cf_last_plan(), on_cuda() ? "the kernel may use data beside its arguments" : "on the CPU"));
}

/* ---- Graphs ---- */

TEST_WITH(capture_takes_its_launches, set_up, tear_down)
{
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(operation_normalise_async(stream, dx, dy, N));
    assert_ok(operation_fill_often_async(stream, dfilled, dwhere, 1, 2, NOTHING, N));
    assert_fails(operation_fill_often_async(stream, dfilled, dwhere, 13, 1, NOTHING, N), CF_EINVAL,
                 "in operation_fill_up_async");
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    download();
    assert_true(y[0] == OLD && filled[0] == OLD);
    for (int i = 0; i < 3; i++) {
        assert_ok(cf_mem_fill_async(stream, dy, 0, sizeof y));
        assert_ok(cf_graph_launch(exec, stream));
        assert_ok(cf_stream_sync(stream));
        download();
        expect_normalised(y); /* in each run the sum begins at 0 */
        expect_filled(2, on_cuda() ? 0 : CF_HOST);
    }
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
}

/* ---- Failures ---- */

TEST_WITH(scalar_check_fails_before_anything_is_enqueued, set_up, tear_down)
{
    assert_fails(operation_normalise(x, y, 13), CF_EINVAL,
                 "operation_normalise_f32: the check N != 13 fails with N = 13");
    assert_fails(operation_normalise_async(NULL, dx, dy, 13), CF_EINVAL,
                 "operation_normalise_f32_async: the check N != 13 fails");
    assert_fails(operation_normalise_f32(NULL, y, N), CF_EINVAL,
                 "operation_normalise_f32: x is NULL and its extent is 1000");
    assert_fails(operation_fill_often(filled, &where, 1, 1, NOTHING, -1), CF_EINVAL, "operation_fill_often: ");
    assert_int_equal(calls, 0);
    assert_true(y[0] == OLD);
}

TEST_WITH(arrays_are_kept_apart_as_of_kernels, set_up, tear_down)
{
    assert_fails(operation_normalise(dx, dx + 1, N - 1), CF_EINVAL, "operation_normalise_f32: ");
    assert_non_null(strstr(cf_last_error(), "overlap"));
}

TEST_WITH(element_check_fails_before_anything_is_enqueued, set_up, tear_down)
{
    int32_t index[SOME] = {0}, *dindex;
    index[SOME - 1] = N;
    const char *said = "operation_normalise_some: index[299] = 1000 is outside [0, 1000)";
    assert_fails(operation_normalise_some(x, index, y, SOME, N), CF_ERANGE, said);
    assert_true(y[0] == OLD);
    assert_ok(cf_mem_alloc((void **)&dindex, sizeof index));
    assert_ok(cf_mem_copy(dindex, index, sizeof index));
    assert_fails(operation_normalise_some(dx, dindex, dy, SOME, N), CF_ERANGE, said);
    download();
    assert_true(y[0] == OLD);
    assert_ok(cf_mem_free(dindex));
}

TEST_WITH(inner_failure_is_reported_with_both_names, set_up, tear_down)
{
    const char *why = "in operation_fill_up_async: the check value != 13 fails with value = 13";
    char said[200];
    snprintf(said, sizeof said, "operation_fill_often: %s", why);
    assert_fails(operation_fill_often(filled, &where, 12, 3, NOTHING, N), CF_EINVAL, said);
    assert_ptr_equal(strstr(cf_last_error(), said), cf_last_error());
    assert_int_equal(filled[0], on_cuda() ? OLD : 12); /* on the CPU the array is used in place */
    snprintf(said, sizeof said, "operation_fill_often_async: %s", why);
    assert_fails(operation_fill_often_async(NULL, dfilled, dwhere, 12, 3, NOTHING, N), CF_EINVAL, said);
    assert_ptr_equal(strstr(cf_last_error(), said), cf_last_error());
    assert_fails(operation_fill_often(dfilled, dwhere, 12, 3, NOTHING, N), CF_EINVAL, "operation_fill_often: in ");
    /* The message must not contain the text of an earlier failure. */
    assert_fails(operation_fill_often(filled, &where, 1, 1, A_STATUS, N), CF_ENOTSUP,
                 "operation_fill_often: its function returned CF_ENOTSUP (not supported here)");
    assert_fails(operation_fill_often(filled, &where, 1, 1, NO_STATUS, N), CF_EINVAL,
                 "operation_fill_often: its function returned 7, which is no status");
    assert_ok(operation_fill_often(filled, &where, 1, 2, NOTHING, N));
    expect_filled(2, on_cuda() ? 0 : CF_HOST);
}

TEST_WITH(operations_that_do_not_end_are_refused, set_up, tear_down)
{
    assert_fails(operation_fill_often_async(NULL, dfilled, dwhere, 1, 1, AGAIN, N), CF_EINVAL,
                 "operation_fill_often_async: in operation_fill_often_async: in operation_fill_often_async: in ");
    assert_non_null(strstr(cf_last_error(), "it is in 4 operations that enqueue one another, and no more are taken"));
    assert_int_equal(depth, 4);
    assert_ok(operation_fill_often_async(NULL, dfilled, dwhere, 1, 1, NOTHING, N));
}

TEST_WITH(plain_call_within_an_operation_is_refused, set_up, tear_down)
{
    assert_fails(
        operation_fill_often(filled, &where, 1, 1, A_PLAIN_CALL, N), CF_EINVAL,
        "operation_fill_often: in operation_fill_up: it waits, within the operation operation_fill_often, which must "
        "not; there is operation_fill_up_async()");
    assert_ok(operation_fill_up(filled, 1, N));
}

TEST_WITH(kernel_without_a_form_for_the_cpu_is_named, set_up, tear_down)
{
    int32_t one = 1;
    const cf_kernel *kernel = find("only_on_gpus");
    assert_false(cf_kernel_has_host(kernel));
    assert_true(cf_kernel_has_host(find("normalise_some")));
    if (on_cuda()) {
        assert_int_equal(operation_only_on_gpus(&one), played_gpu_is_in_use() ? CF_ENOTSUP : CF_OK); /* no CPU code */
        assert_int_equal(one, played_gpu_is_in_use() ? 1 : 2);
        return;
    }
    assert_fails(operation_only_on_gpus(&one), CF_ENOTSUP,
                 "operation_only_on_gpus: in operation_on_gpus: it has no form for the CPU: its annotation has "
                 "host(none), or image(...) without host(function)");
}

static int elsewhere(const cf_kernel *kernel, cf_stream stream, void *const args[])
{
    (void)kernel, (void)stream, (void)args;
    return CF_OK;
}

TEST_WITH(operation_of_another_runtime_is_refused, set_up, tear_down)
{
    cf_kernel kernel = *find("step_once");
    void *const args[] = {&dfilled};
    kernel.runtime = elsewhere;
    assert_fails(cf_launch(&kernel, NULL, args), CF_ENOTSUP,
                 "operation_step_once_async: what it is made of would be launched by another copy of Cuferry");
}

TEST_WITH(occupancy_is_that_of_kernels, set_up, tear_down)
{
    int blocks;
    assert_fails(
        cf_kernel_occupancy(find("normalise_f32"), 256, 0, &blocks), CF_EINVAL,
        "cf_kernel_occupancy: operation_normalise_f32 is made of several launches; ask for the kernels that it uses");
}

/* ---- Loading ---- */

TEST_WITH(preloading_loads_what_it_uses, set_up, tear_down)
{
    const cf_kernel *some = find("normalise_some");
    assert_int_equal(some->nuses, 2);
    assert_ptr_equal(some->uses[0], find("normalise_f32"));
    assert_ptr_equal(some->uses[1], find("pick"));
    assert_true(cf_kernel_is_internal(some->uses[1]));
    assert_ptr_equal(some->uses[0]->uses[0], find("add_up_f32"));
    assert_null(find("add_up_f32")->state->loaded);
    assert_ok(cf_kernel_preload(some));
    assert_non_null(find("add_up_f32")->state->loaded);
    assert_non_null(find("divide_f32")->state->loaded);
    assert_non_null(find("pick")->state->loaded);
    assert_null(find("add_up_f64")->state->loaded);
    assert_ok(cf_preload(&operation_registry));
    assert_non_null(find("add_up_f64")->state->loaded);
}

TEST_WITH(what_is_not_internal_is_in_the_public_header_alone, set_up, tear_down)
{
    for (size_t i = 0; i < operation_registry.count; i++) {
        const cf_kernel *kernel = operation_registry.kernels[i];
        const char *family = kernel->family;
        int is_public = cf_kernel_is_operation(kernel) || strcmp(family, "divide") == 0;
        assert_int_equal(cf_kernel_is_internal(kernel), !is_public);
        assert_int_equal(cf_kernel_is_operation(kernel), kernel->nuses != 0);
    }
}

/* ---- The trace ---- */

static char *read_trace(const char *path)
{
    static char text[1 << 18];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t used = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[used] = 0;
    return text;
}

TEST_WITH(trace_shows_the_operation_around_its_launches, set_up, tear_down)
{
    char path[] = "/tmp/test_operation-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    (void)tear_down(state);
    assert_int_equal(setenv("CF_TRACE", path, 1), 0);
    (void)set_up(state);
    assert_ok(operation_normalise_async(NULL, dx, dy, N));
    assert_ok(cf_device_sync());
    assert_fails(operation_fill_often_async(NULL, dfilled, dwhere, 13, 1, NOTHING, N), CF_EINVAL,
                 "in operation_fill_up");
    (void)tear_down(state);
    assert_int_equal(unsetenv("CF_TRACE"), 0);
    const char *text = read_trace(path);
    assert_int_equal(unlink(path), 0);
    const char *outer = strstr(text, "\"cat\": \"operation\"");
    if (!outer)
        fail_msg("%.2000s", text);
    assert_non_null(strstr(text, "operation_normalise_f32"));
    assert_non_null(strstr(text, "operation_add_up_f32"));
    assert_non_null(strstr(text, "operation_divide_f32"));
    assert_non_null(strstr(text, "\"status\": \"CF_EINVAL\""));
    (void)set_up(state);
}

/* ---- Faults ---- */

FAKE_TEST(fault_names_the_kernel_and_the_operation, "CF_DRIVER=cuda")
{
    assert_ok(operation_fill_often_async(NULL, dfilled, dwhere, 1, 1, NOTHING, N));
    assert_ok(cf_device_sync());
    assert_fails(operation_fill_often(dfilled, dwhere, 1, 1, FAULTS, N), CF_EFAULT, "operation_fill_often: ");
    assert_non_null(
        strstr(cf_last_error(), "while one of operation_fault, operation_fill_often, operation_fill_up was running"));
}

static int tear_down_fault(void **state)
{
    (void)state;
    assert_ok(cf_shutdown());
    return 0;
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, set_up, tear_down_fault);
}
