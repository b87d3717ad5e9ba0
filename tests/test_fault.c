/* test_fault.c - every public function, and every kind of kernel, while the driver's calls and the allocators fail, one
 * after the other: exact statuses, data as they were or right, nothing left alive, and the same call works
 * afterwards. */
#include "on_fake.h"

#include <cuferry/registry.h>

#include "fake_ask.h"
#include "fault_kernels.h"
#include "fault_alloc.h"
#include "fault_sweep.h"

/* What host(turn_on_cpu) names. */
void turn_on_cpu(float *x, int n);
void turn_on_cpu(float *x, int n)
{
    for (int i = 0; i < n / 2; i++) {
        float kept = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = kept;
    }
}

/* ---- What scenes share ---- */

enum { N = 400, M = 300, NX = 30, NY = 12, LD = 37, ROWS = NY * LD };
#define OLD (-5.f)

static float x[ROWS], y[ROWS], expected[ROWS];
static int32_t picked[N];
static float *dx, *dy;
static int32_t *dpicked;
static cf_stream stream, other_stream;
static cf_event event, other_event;
static cf_graph graph;
static cf_graph_exec exec;
static void *memory;
static int number, other_number;
static int64_t wide;
static float milliseconds;
static char text[64];

/* An array is as it was or as it has to be, element by element; as it has to be once the call is done. */
static int is_array_right(const float *array, int is_done)
{
    for (int i = 0; i < ROWS; i++)
        if (array[i] != expected[i] && (is_done || array[i] != OLD))
            return 0;
    return 1;
}

static void fill_host(void)
{
    for (int i = 0; i < ROWS; i++) {
        x[i] = (float)(i % 89);
        y[i] = expected[i] = OLD;
    }
    for (int i = 0; i < N; i++)
        picked[i] = (i * 7) % M;
}

static void expect_axpy(void)
{
    fill_host();
    for (int i = 0; i < N; i++)
        expected[i] = OLD + 2 * x[i];
}

static void expect_pick(void)
{
    fill_host();
    for (int i = 0; i < N; i++)
        expected[i] = x[picked[i]];
}

static void expect_rows(void)
{
    fill_host();
    for (int r = 0; r < NY; r++)
        for (int i = 0; i < NX; i++)
            expected[r * LD + i] = 2 * x[r * LD + i];
}

static void expect_mirror(void)
{
    fill_host();
    for (int i = 0; i < N; i++)
        expected[i] = x[N - 1 - i];
}

static void expect_copy(void)
{
    fill_host();
    memcpy(expected, x, N * sizeof *x);
}

static void expect_copy_2d(void)
{
    fill_host();
    for (int r = 0; r < NY; r++)
        memcpy(expected + r * LD, x + r * NX, NX * sizeof *x);
}

static void expect_fill(void)
{
    fill_host();
    memset(expected, 0x11, N * sizeof *expected);
}

/* The arrays on the device, too. */
static void upload(void)
{
    NEED(cf_mem_alloc((void **)&dx, sizeof x));
    NEED(cf_mem_alloc((void **)&dy, sizeof y));
    NEED(cf_mem_alloc((void **)&dpicked, sizeof picked));
    NEED(cf_mem_copy(dx, x, sizeof x));
    NEED(cf_mem_copy(dy, y, sizeof y));
    NEED(cf_mem_copy(dpicked, picked, sizeof picked));
}

static void make_stream(void)
{
    NEED(cf_stream_create(&stream));
}

static void destroy_arrays(void)
{
    NEED(cf_mem_free(dx));
    NEED(cf_mem_free(dy));
    NEED(cf_mem_free(dpicked));
    dx = dy = NULL;
    dpicked = NULL;
}

static void destroy_stream(void)
{
    NEED(cf_stream_destroy(stream));
    stream = NULL;
}

static void destroy_both(void)
{
    if (stream)
        destroy_stream();
    destroy_arrays();
}

static int is_host_right(int is_done)
{
    return is_array_right(y, is_done);
}

static int is_device_right(int is_done)
{
    static float read[ROWS];
    if (stream)
        NEED(cf_stream_sync(stream));
    NEED(cf_mem_copy(read, dy, sizeof read));
    return is_array_right(read, is_done);
}

#define PREPARE(name, ...)           \
    static void prepare_##name(void) \
    {                                \
        __VA_ARGS__;                 \
    }
#define ACT(name, call)         \
    static int act_##name(void) \
    {                           \
        return call;            \
    }
#define RIGHT(name, condition)                \
    static int is_##name##_right(int is_done) \
    {                                         \
        (void)is_done;                        \
        return condition;                     \
    }
#define CLEAN(name, ...)           \
    static void clean_##name(void) \
    {                              \
        __VA_ARGS__;               \
    }

/* ---- Devices ---- */

PREPARE(number, number = other_number = -77)
ACT(device_count, cf_device_count(&number))
RIGHT(device_count, is_done ? number == (on_cuda() ? number >= 1 ? number : -1 : 0) : number == -77)
ACT(device_use, cf_device_use(on_cuda() ? 0 : CF_HOST))
ACT(device_use_host, cf_device_use(CF_HOST))
ACT(device_current, cf_device_current(&number))
RIGHT(device_current, number == (is_done ? on_cuda() ? 0 : CF_HOST : -77))
PREPARE(wide, wide = -77)
ACT(property_memory, cf_device_property(on_cuda() ? 0 : CF_HOST, CF_PROPERTY_MEMORY, &wide))
ACT(property_free, cf_device_property(on_cuda() ? 0 : CF_HOST, CF_PROPERTY_MEMORY_FREE, &wide))
ACT(property_capability, cf_device_property(0, CF_PROPERTY_CAPABILITY, &wide))
ACT(property_threads, cf_device_property(on_cuda() ? 0 : CF_HOST, CF_PROPERTY_THREADS_PER_BLOCK, &wide))
RIGHT(property, is_done ? wide > 0 : wide == -77)
PREPARE(text, memset(text, '#', sizeof text))
ACT(device_name, cf_device_name(on_cuda() ? 0 : CF_HOST, text, sizeof text))
RIGHT(device_name, is_done ? memchr(text, 0, sizeof text) != NULL : 1)
ACT(device_sync, cf_device_sync())
ACT(peer_possible, cf_peer_possible(0, 1, &number))
RIGHT(peer_possible, is_done ? number == 0 || number == 1 : number == -77)
ACT(peer_enable, cf_peer_enable(0, 1))
CLEAN(peer, NEED(cf_peer_disable(0, 1)))
PREPARE(peer_disable, NEED(cf_peer_enable(0, 1)))
ACT(peer_disable, cf_peer_disable(0, 1))
PREPARE(reset, make_stream(); fill_host(); upload())
ACT(device_reset, cf_device_reset(on_cuda() ? 0 : CF_HOST))
ACT(require, cf_require(CF_CUDA))
PREPARE(shutdown, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_pick(); NEED(fault_pick(x, picked, y, M, N));
        NEED(fault_set_factor(1)); make_stream(); NEED(cf_mem_alloc_async(stream, &memory, 1000));
        NEED(cf_mem_free_async(stream, memory)); destroy_stream())
ACT(shutdown, cf_shutdown())

/* ---- Memory ---- */

PREPARE(memory, memory = NULL)
ACT(alloc, cf_mem_alloc(&memory, 1000))
ACT(alloc_pinned, cf_mem_alloc_pinned(&memory, 1000))
RIGHT(alloc, is_done == (memory != NULL))
CLEAN(memory, NEED(cf_mem_free(memory)); memory = NULL)
PREPARE(alloced, NEED(cf_mem_alloc(&memory, 1000)))
PREPARE(alloced_pinned, NEED(cf_mem_alloc_pinned(&memory, 1000)))
PREPARE(alloced_async, make_stream(); NEED(cf_mem_alloc_async(stream, &memory, 1000)); NEED(cf_stream_sync(stream)))
ACT(free, cf_mem_free(memory))
PREPARE(alloc_async, make_stream(); memory = NULL)
ACT(alloc_async, cf_mem_alloc_async(stream, &memory, 1000))
ACT(alloc_async_default, cf_mem_alloc_async(NULL, &memory, 1000))
CLEAN(alloc_async, NEED(cf_mem_free_async(stream, memory)); destroy_stream())
CLEAN(alloc_async_default, NEED(cf_mem_free_async(NULL, memory)))
ACT(free_async, cf_mem_free_async(stream, memory))
PREPARE(trim, make_stream(); NEED(cf_mem_alloc_async(stream, &memory, 1000)); NEED(cf_mem_free_async(stream, memory));
        NEED(cf_stream_sync(stream)))
ACT(trim, cf_mem_trim(0))

PREPARE(copy, expect_copy(); upload())
ACT(copy_in, cf_mem_copy(dy, x, N * sizeof *x))
ACT(copy_within, cf_mem_copy(dy, dx, N * sizeof *x))
PREPARE(copy_out, expect_copy(); upload())
ACT(copy_out, cf_mem_copy(y, dx, N * sizeof *x))
ACT(copy_on_host, cf_mem_copy(y, x, N * sizeof *x))
PREPARE(copy_async, expect_copy(); upload(); make_stream())
ACT(copy_async, cf_mem_copy_async(stream, dy, x, N * sizeof *x))
PREPARE(copy_2d, expect_copy_2d(); upload())
ACT(copy_2d, cf_mem_copy_2d(dy, LD * sizeof *x, x, NX * sizeof *x, NX * sizeof *x, NY))
PREPARE(copy_2d_async, expect_copy_2d(); upload(); make_stream())
ACT(copy_2d_async, cf_mem_copy_2d_async(stream, dy, LD * sizeof *x, dx, NX * sizeof *x, NX * sizeof *x, NY))
PREPARE(fill, expect_fill(); upload())
ACT(fill, cf_mem_fill(dy, 0x11, N * sizeof *y))
PREPARE(fill_async, expect_fill(); upload(); make_stream())
ACT(fill_async, cf_mem_fill_async(stream, dy, 0x11, N * sizeof *y))

/* Between two GPUs. */
static void prepare_copy_peer(void)
{
    expect_copy();
    NEED(cf_device_use(1));
    NEED(cf_mem_alloc((void **)&dx, sizeof x));
    NEED(cf_mem_copy(dx, x, sizeof x));
    NEED(cf_device_use(0));
    NEED(cf_mem_alloc((void **)&dy, sizeof y));
    NEED(cf_mem_copy(dy, y, sizeof y));
}

/* ---- Streams and events ---- */

PREPARE(no_stream, stream = NULL)
ACT(stream_create, cf_stream_create(&stream))
RIGHT(stream_create, is_done == (stream != NULL))
ACT(stream_create_with_priority, cf_stream_create_with_priority(&stream, -1))
PREPARE(stream, make_stream(); number = other_number = -77)
ACT(stream_destroy, cf_stream_destroy(stream))
CLEAN(stream_gone, stream = NULL)
ACT(stream_priorities, cf_stream_priorities(&number, &other_number))
ACT(stream_device, cf_stream_device(stream, &number))
RIGHT(stream_device, number == (is_done ? on_cuda() ? 0 : CF_HOST : -77))
ACT(stream_sync, cf_stream_sync(stream))
ACT(stream_sync_default, cf_stream_sync(NULL))
ACT(stream_query, cf_stream_query(stream))
PREPARE(events, make_stream(); NEED(cf_stream_create(&other_stream)); NEED(cf_event_create(&event));
        NEED(cf_event_create(&other_event)); NEED(cf_event_record(event, stream));
        NEED(cf_event_record(other_event, stream)); NEED(cf_stream_sync(stream)); milliseconds = -77)
CLEAN(events, NEED(cf_stream_destroy(other_stream)); NEED(cf_event_destroy(event)); NEED(cf_event_destroy(other_event));
      destroy_stream())
ACT(stream_wait, cf_stream_wait(other_stream, event))
ACT(event_record, cf_event_record(event, stream))
ACT(event_sync, cf_event_sync(event))
ACT(event_query, cf_event_query(event))
ACT(event_elapsed, cf_event_elapsed(&milliseconds, event, other_event))
RIGHT(event_elapsed, is_done ? milliseconds >= 0 : milliseconds == -77)
PREPARE(no_event, event = NULL)
ACT(event_create, cf_event_create(&event))
RIGHT(event_create, is_done == (event != NULL))
CLEAN(event, NEED(cf_event_destroy(event)))
PREPARE(event, NEED(cf_event_create(&event)))
ACT(event_destroy, cf_event_destroy(event))

static void set_number(void *to)
{
    *(int *)to = 5;
}
ACT(stream_call, cf_stream_call(stream, set_number, &number))
static int is_stream_call_right(int is_done)
{
    NEED(cf_stream_sync(stream));
    return number == (is_done ? 5 : -77);
}

/* ---- Graphs ---- */

PREPARE(capturing, expect_axpy(); upload(); make_stream(); NEED(cf_stream_capture_begin(stream)); graph = NULL;
        number = -77)

/* Whatever became of the capture. */
static void end_capture(void)
{
    int is_capturing = 0;
    NEED(cf_stream_is_capturing(stream, &is_capturing));
    if (is_capturing && cf_stream_capture_end(stream, &graph) != CF_OK)
        graph = NULL;
}
CLEAN(capturing, end_capture(); NEED(cf_graph_destroy(graph)); graph = NULL; destroy_both())
CLEAN(capturing_alone, end_capture(); NEED(cf_graph_destroy(graph)); graph = NULL; destroy_stream())

/* The graph has one node more once the call is done. */
static int is_capture_right(int is_done)
{
    if (!is_done)
        return 1;
    end_capture();
    NEED(cf_graph_instantiate(&exec, graph));
    NEED(cf_graph_launch(exec, stream));
    int is_right = is_device_right(1);
    NEED(cf_graph_exec_destroy(exec));
    return is_right;
}
PREPARE(capture_begin, make_stream(); graph = NULL)
ACT(capture_begin, cf_stream_capture_begin(stream))
PREPARE(capture_end, make_stream(); NEED(cf_stream_capture_begin(stream)); graph = NULL)
ACT(capture_end, cf_stream_capture_end(stream, &graph))
ACT(is_capturing, cf_stream_is_capturing(stream, &number))
RIGHT(is_capturing, number == (is_done ? 1 : -77))
PREPARE(graph, prepare_capturing(); NEED(fault_axpy_async(stream, 2, dx, dy, N));
        NEED(cf_stream_capture_end(stream, &graph)); exec = NULL)
ACT(graph_instantiate, cf_graph_instantiate(&exec, graph))
RIGHT(graph_instantiate, is_done == (exec != NULL))
CLEAN(graph, NEED(cf_graph_exec_destroy(exec)); exec = NULL; NEED(cf_graph_destroy(graph)); graph = NULL;
      destroy_both())
ACT(graph_destroy, cf_graph_destroy(graph))
CLEAN(graph_gone, graph = NULL; destroy_both())
PREPARE(exec, prepare_graph(); NEED(cf_graph_instantiate(&exec, graph)))
ACT(graph_exec_destroy, cf_graph_exec_destroy(exec))
CLEAN(exec_gone, exec = NULL; NEED(cf_graph_destroy(graph)); graph = NULL; destroy_both())
ACT(graph_launch, cf_graph_launch(exec, stream))

/* ---- Kernels ---- */

ACT(axpy, fault_axpy(2, x, y, N))
ACT(pick, fault_pick(x, picked, y, M, N))
ACT(rows, fault_rows(x, y, NX, NY, LD))
ACT(mirror, fault_mirror(x, y, N))
PREPARE(axpy_staged, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_axpy())
PREPARE(pick_staged, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_pick())
PREPARE(rows_staged, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_rows())
PREPARE(mirror_staged, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_mirror())
PREPARE(axpy_on_host, NEED(cf_set_host_data(CF_HOST_DATA_HOST)); expect_axpy())
PREPARE(pick_on_host, NEED(cf_set_host_data(CF_HOST_DATA_HOST)); expect_pick())
PREPARE(axpy_auto, expect_axpy())
CLEAN(host_data, NEED(cf_set_host_data(CF_HOST_DATA_AUTO)))

PREPARE(axpy_device, expect_axpy(); upload())
ACT(axpy_device, fault_axpy(2, dx, dy, N))
PREPARE(pick_device, expect_pick(); upload())
ACT(pick_device, fault_pick(dx, dpicked, dy, M, N))
ACT(pick_mixed, fault_pick(x, dpicked, dy, M, N))
PREPARE(pick_mixed, NEED(cf_set_host_data(CF_HOST_DATA_STAGE)); expect_pick(); upload())
CLEAN(pick_mixed, destroy_arrays(); clean_host_data())

/* Enough to go through pinned chunks. */
enum { LARGE = 200 * 1000 };
static float large_x[LARGE], large_y[LARGE], large_new[LARGE];
static int32_t large_picked[LARGE];

static void fill_large(void)
{
    NEED(cf_set_host_data(CF_HOST_DATA_STAGE));
    for (int i = 0; i < LARGE; i++) {
        large_x[i] = (float)(i % 1009);
        large_y[i] = OLD;
        large_picked[i] = (int32_t)((i * 7919LL) % LARGE);
    }
}

static void prepare_large_axpy(void)
{
    fill_large();
    for (int i = 0; i < LARGE; i++)
        large_new[i] = OLD + 2 * large_x[i];
}

static void prepare_large_pick(void)
{
    fill_large();
    for (int i = 0; i < LARGE; i++)
        large_new[i] = large_x[large_picked[i]];
}

static void prepare_large_copy(void)
{
    fill_large();
    memcpy(large_new, large_x, sizeof large_x);
    NEED(cf_mem_alloc(&memory, sizeof large_x));
    NEED(cf_mem_copy(memory, large_x, sizeof large_x));
}

static void prepare_large_copy_in(void)
{
    prepare_large_copy();
    NEED(cf_mem_copy(memory, large_y, sizeof large_y));
}
ACT(large_axpy, fault_axpy(2, large_x, large_y, LARGE))
ACT(large_pick, fault_pick(large_x, large_picked, large_y, LARGE, LARGE))
ACT(large_copy, cf_mem_copy(large_y, memory, sizeof large_y))
ACT(large_copy_in, cf_mem_copy(memory, large_x, sizeof large_x))
static int is_large_right(int is_done)
{
    for (int i = 0; i < LARGE; i++)
        if (large_y[i] != large_new[i] && (is_done || large_y[i] != OLD))
            return 0;
    return 1;
}
static int is_large_device_right(int is_done)
{
    NEED(cf_mem_copy(large_y, memory, sizeof large_y));
    return is_large_right(is_done);
}
CLEAN(large_copy, clean_memory(); clean_host_data())

/* In pinned memory, which is used in place. */
static float *pinned[2];
static void prepare_pinned(void)
{
    expect_axpy();
    for (int i = 0; i < 2; i++)
        NEED(cf_mem_alloc_pinned((void **)&pinned[i], sizeof x));
    memcpy(pinned[0], x, sizeof x);
    memcpy(pinned[1], y, sizeof y);
}
ACT(pinned, fault_axpy(2, pinned[0], pinned[1], N))
RIGHT(pinned, is_array_right(pinned[1], is_done))
CLEAN(pinned, NEED(cf_mem_free(pinned[0])); NEED(cf_mem_free(pinned[1])))

PREPARE(axpy_async, expect_axpy(); upload(); make_stream())
ACT(axpy_async, fault_axpy_async(stream, 2, dx, dy, N))
ACT(axpy_async_default, fault_axpy_async(NULL, 2, dx, dy, N))
PREPARE(mirror_async, expect_mirror(); upload(); make_stream())
ACT(mirror_async, fault_mirror_async(stream, dx, dy, N))

static void prepare_weigh_async(void)
{
    fill_host();
    for (int i = 0; i < N; i++)
        expected[i] = 3 * OLD;
    upload();
    make_stream();
    NEED(fault_set_factor(3));
}
ACT(weigh_async, fault_weigh_async(stream, dy, N))

static void prepare_turn_async(void)
{
    fill_host();
    y[0] = OLD;
    upload();
    NEED(cf_mem_copy(dy, x, N * sizeof *x));
    for (int i = 0; i < N; i++)
        expected[i] = x[N - 1 - i];
    make_stream();
}
ACT(turn_async, fault_turn_async(stream, dy, N))
static int is_turn_right(int is_done)
{
    if (is_done)
        return is_device_right(1);
    memcpy(expected, x, N * sizeof *x);
    int is_right = is_device_right(1); /* as it was */
    for (int i = 0; i < N; i++)
        expected[i] = x[N - 1 - i];
    return is_right;
}

/* CF_CHECK=1 makes a launch look at its pointers. */
PREPARE(checked, setenv("CF_CHECK", "1", 1); prepare_axpy_async())
CLEAN(checked, unsetenv("CF_CHECK"); destroy_both())

/* In a stream that is being captured. */
ACT(mirror_captured, fault_mirror_async(stream, dx, dy, N))
PREPARE(mirror_captured, prepare_capturing(); expect_mirror())

static const cf_kernel *kernel(const char *name)
{
    return cf_kernel_find(&fault_registry, name);
}

static int act_call(void)
{
    float a = 2;
    int n = N;
    void *of_x = x, *of_y = y;
    void *const args[] = {&a, &of_x, &of_y, &n};
    return cf_call(kernel("axpy"), args);
}

static int act_launch(void)
{
    float a = 2;
    int n = N;
    void *const args[] = {&a, &dx, &dy, &n};
    return cf_launch(kernel("axpy"), stream, args);
}
ACT(preload, cf_preload(&fault_registry))
ACT(kernel_preload, cf_kernel_preload(kernel("weigh")))
ACT(kernel_occupancy, cf_kernel_occupancy(kernel("axpy"), 256, 0, &number))
RIGHT(kernel_occupancy, is_done ? number >= 1 : number == -77)

static int act_evaluate(void)
{
    int n = N;
    void *const args[] = {NULL, NULL, NULL, &n};
    return cf_kernel_evaluate(kernel("axpy"), kernel("axpy")->params[1].extents[0].ops, SIZE_MAX, args, &wide);
}

static int act_evaluate_real(void)
{
    int n = N;
    double real = 0;
    void *const args[] = {NULL, NULL, NULL, &n};
    int status = cf_kernel_evaluate_real(kernel("axpy"), kernel("axpy")->params[1].extents[0].ops, args, &real);
    return status == CF_OK && real != N ? -100 : status;
}

/* The constant is what it was or what it was set to. */
static const cf_symbol *factor(void)
{
    return fault_registry.symbols[0];
}
static const float three = 3;
PREPARE(symbol, fill_host(); upload(); make_stream(); NEED(fault_set_factor(1)))
ACT(symbol_set, cf_symbol_set(factor(), &three))
ACT(symbol_set_async, cf_symbol_set_async(stream, factor(), &three))
static int is_symbol_right(int is_done)
{
    NEED(cf_stream_sync(stream));
    NEED(cf_mem_copy(dy, y, sizeof y));
    NEED(fault_weigh_async(stream, dy, N));
    for (int i = 0; i < N; i++)
        expected[i] = 3 * OLD;
    return is_device_right(is_done);
}
PREPARE(symbol_cold, stream = NULL)

/* ---- What needs no driver ---- */

static int act_names(void)
{
    if (!*cf_status_name(CF_OK) || !*cf_status_text(CF_OK) || !cf_last_error() || !cf_last_plan())
        return -100;
    (void)cf_last_driver_result();
    return cf_version() == CF_VERSION ? CF_OK : -100;
}

static void log_nothing(void *data, int level, const char *line)
{
    (void)data, (void)level, (void)line;
}

static int act_set_log(void)
{
    cf_set_log(log_nothing, NULL);
    cf_set_log(NULL, NULL);
    return CF_OK;
}

static int act_set_check(void)
{
    int status = cf_set_check(CF_CHECK_NONE);
    return status == CF_OK ? cf_set_check(CF_CHECK_ELEMENTS) : status;
}
ACT(set_host_data, cf_set_host_data(CF_HOST_DATA_AUTO))

/* ---- The scenes ---- */

static const struct scene scenes[] = {
    {"cf_status_name", NULL, act_names, NULL, NULL, COLD},
    {"cf_status_text", NULL, act_names, NULL, NULL, COLD},
    {"cf_last_error", NULL, act_names, NULL, NULL, COLD},
    {"cf_last_driver_result", NULL, act_names, NULL, NULL, COLD},
    {"cf_version", NULL, act_names, NULL, NULL, COLD},
    {"cf_last_plan", NULL, act_names, NULL, NULL, COLD},
    {"cf_set_log", NULL, act_set_log, NULL, NULL, 0},
    {"cf_set_check", NULL, act_set_check, NULL, NULL, 0},
    {"cf_set_host_data", NULL, act_set_host_data, NULL, NULL, 0},

    {"cf_device_count", prepare_number, act_device_count, is_device_count_right, NULL, 0},
    {"cf_device_use", NULL, act_device_use, NULL, NULL, 0},
    {"cf_device_use of the CPU", NULL, act_device_use_host, NULL, NULL, 0},
    {"cf_device_current", prepare_number, act_device_current, is_device_current_right, NULL, 0},
    {"cf_device_property memory", prepare_wide, act_property_memory, is_property_right, NULL, 0},
    {"cf_device_property free memory", prepare_wide, act_property_free, is_property_right, NULL, 0},
    {"cf_device_property threads", prepare_wide, act_property_threads, is_property_right, NULL, 0},
    {"cf_device_property capability", prepare_wide, act_property_capability, is_property_right, NULL, CUDA_ONLY},
    {"cf_device_name", prepare_text, act_device_name, is_device_name_right, NULL, 0},
    {"cf_device_sync", NULL, act_device_sync, NULL, NULL, 0},
    {"cf_peer_possible", prepare_number, act_peer_possible, is_peer_possible_right, NULL, TWO},
    {"cf_peer_enable", NULL, act_peer_enable, NULL, clean_peer, TWO},
    {"cf_peer_disable", prepare_peer_disable, act_peer_disable, NULL, NULL, TWO},
    {"cf_device_reset", prepare_reset, act_device_reset, NULL, NULL, FRESH},
    {"cf_require", NULL, act_require, NULL, NULL, CUDA_ONLY},
    {"cf_shutdown", prepare_shutdown, act_shutdown, NULL, clean_host_data, ANY},
    {"cf_shutdown unused", NULL, act_shutdown, NULL, NULL, 0},

    {"cf_mem_alloc", prepare_memory, act_alloc, is_alloc_right, clean_memory, 0},
    {"cf_mem_alloc_pinned", prepare_memory, act_alloc_pinned, is_alloc_right, clean_memory, 0},
    {"cf_mem_free", prepare_alloced, act_free, NULL, NULL, 0},
    {"cf_mem_free pinned memory", prepare_alloced_pinned, act_free, NULL, NULL, 0},
    {"cf_mem_free memory of a stream", prepare_alloced_async, act_free, NULL, destroy_stream, 0},
    {"cf_mem_alloc_async", prepare_alloc_async, act_alloc_async, is_alloc_right, clean_alloc_async, 0},
    {"cf_mem_alloc_async default stream", prepare_memory, act_alloc_async_default, is_alloc_right,
     clean_alloc_async_default, 0},
    {"cf_mem_free_async", prepare_alloced_async, act_free_async, NULL, destroy_stream, 0},
    {"cf_mem_trim", prepare_trim, act_trim, NULL, destroy_stream, 0},
    {"cf_mem_copy in", prepare_copy, act_copy_in, is_device_right, destroy_arrays, 0},
    {"cf_mem_copy within", prepare_copy, act_copy_within, is_device_right, destroy_arrays, 0},
    {"cf_mem_copy out", prepare_copy_out, act_copy_out, is_host_right, destroy_arrays, 0},
    {"cf_mem_copy on the host", expect_copy, act_copy_on_host, is_host_right, NULL, 0},
    {"cf_mem_copy in, in chunks", prepare_large_copy_in, act_large_copy_in, is_large_device_right, clean_large_copy,
     ANY},
    {"cf_mem_copy out, in chunks", prepare_large_copy, act_large_copy, is_large_right, clean_large_copy, ANY},
    {"cf_mem_copy between GPUs", prepare_copy_peer, act_copy_within, is_device_right, destroy_arrays, TWO},
    {"cf_mem_copy_async", prepare_copy_async, act_copy_async, is_device_right, destroy_both, 0},
    {"cf_mem_copy_2d", prepare_copy_2d, act_copy_2d, is_device_right, destroy_arrays, 0},
    {"cf_mem_copy_2d_async", prepare_copy_2d_async, act_copy_2d_async, is_device_right, destroy_both, 0},
    {"cf_mem_fill", prepare_fill, act_fill, is_device_right, destroy_arrays, 0},
    {"cf_mem_fill_async", prepare_fill_async, act_fill_async, is_device_right, destroy_both, 0},

    {"cf_stream_create", prepare_no_stream, act_stream_create, is_stream_create_right, destroy_stream, 0},
    {"cf_stream_create_with_priority", prepare_no_stream, act_stream_create_with_priority, is_stream_create_right,
     destroy_stream, 0},
    {"cf_stream_destroy", prepare_stream, act_stream_destroy, NULL, clean_stream_gone, 0},
    {"cf_stream_priorities", prepare_number, act_stream_priorities, NULL, NULL, 0},
    {"cf_stream_device", prepare_stream, act_stream_device, is_stream_device_right, destroy_stream, 0},
    {"cf_stream_sync", prepare_stream, act_stream_sync, NULL, destroy_stream, 0},
    {"cf_stream_sync default stream", NULL, act_stream_sync_default, NULL, NULL, 0},
    {"cf_stream_query", prepare_stream, act_stream_query, NULL, destroy_stream, 0},
    {"cf_stream_wait", prepare_events, act_stream_wait, NULL, clean_events, 0},
    {"cf_stream_call", prepare_stream, act_stream_call, is_stream_call_right, destroy_stream, 0},
    {"cf_event_create", prepare_no_event, act_event_create, is_event_create_right, clean_event, 0},
    {"cf_event_destroy", prepare_event, act_event_destroy, NULL, NULL, 0},
    {"cf_event_record", prepare_events, act_event_record, NULL, clean_events, 0},
    {"cf_event_sync", prepare_events, act_event_sync, NULL, clean_events, 0},
    {"cf_event_query", prepare_events, act_event_query, NULL, clean_events, 0},
    {"cf_event_elapsed", prepare_events, act_event_elapsed, is_event_elapsed_right, clean_events, 0},

    {"cf_stream_capture_begin", prepare_capture_begin, act_capture_begin, NULL, clean_capturing_alone, 0},
    {"cf_stream_capture_end", prepare_capture_end, act_capture_end, NULL, clean_capturing_alone, FRESH},
    {"cf_stream_is_capturing", prepare_capturing, act_is_capturing, is_is_capturing_right, clean_capturing, 0},
    {"cf_graph_instantiate", prepare_graph, act_graph_instantiate, is_graph_instantiate_right, clean_graph, 0},
    {"cf_graph_destroy", prepare_graph, act_graph_destroy, NULL, clean_graph_gone, 0},
    {"cf_graph_exec_destroy", prepare_exec, act_graph_exec_destroy, NULL, clean_exec_gone, 0},
    {"cf_graph_launch", prepare_exec, act_graph_launch, is_device_right, clean_graph, FRESH},

    {"cf_call", prepare_axpy_staged, act_call, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays, nothing more", prepare_axpy_staged, act_axpy, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays, elements checked", prepare_pick_staged, act_pick, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays, rows", prepare_rows_staged, act_rows, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays, scratch", prepare_mirror_staged, act_mirror, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays, in chunks", prepare_large_axpy, act_large_axpy, is_large_right, clean_host_data,
     FRESH | ANY},
    {"cf_call host arrays, in chunks, elements checked", prepare_large_pick, act_large_pick, is_large_right,
     clean_host_data, FRESH | ANY},
    {"cf_call host arrays on the CPU", prepare_axpy_on_host, act_axpy, is_host_right, clean_host_data, FRESH},
    {"cf_call host arrays on the CPU, elements checked", prepare_pick_on_host, act_pick, is_host_right, clean_host_data,
     FRESH},
    {"cf_call host arrays, where it is faster", prepare_axpy_auto, act_axpy, is_host_right, NULL, FRESH},
    {"cf_call device arrays", prepare_axpy_device, act_axpy_device, is_device_right, destroy_arrays, FRESH},
    {"cf_call device arrays, elements checked", prepare_pick_device, act_pick_device, is_device_right, destroy_arrays,
     FRESH},
    {"cf_call arrays of both", prepare_pick_mixed, act_pick_mixed, is_device_right, clean_pick_mixed, FRESH},
    {"cf_call pinned arrays", prepare_pinned, act_pinned, is_pinned_right, clean_pinned, FRESH},
    {"cf_launch", prepare_axpy_async, act_launch, is_device_right, destroy_both, FRESH},
    {"cf_launch by its own function", prepare_axpy_async, act_axpy_async, is_device_right, destroy_both, FRESH},
    {"cf_launch default stream", prepare_axpy_async, act_axpy_async_default, is_device_right, destroy_both, FRESH},
    {"cf_launch scratch", prepare_mirror_async, act_mirror_async, is_device_right, destroy_both, FRESH},
    {"cf_launch block(auto), constants", prepare_weigh_async, act_weigh_async, is_device_right, destroy_both, FRESH},
    {"cf_launch shared memory", prepare_turn_async, act_turn_async, is_turn_right, destroy_both, FRESH},
    {"cf_launch pointers checked", prepare_checked, act_axpy_async, is_device_right, clean_checked, FRESH},
    {"cf_launch captured", prepare_capturing, act_axpy_async, is_capture_right, clean_capturing, FRESH | CAPTURED},
    {"cf_launch captured, scratch", prepare_mirror_captured, act_mirror_captured, is_capture_right, clean_capturing,
     FRESH | CAPTURED},
    {"cf_launch traced", prepare_axpy_async, act_launch, is_device_right, destroy_both, FRESH | TRACED},
    {"cf_call traced", prepare_pick_staged, act_pick, is_host_right, clean_host_data, FRESH | TRACED},
    {"cf_graph_launch traced", prepare_exec, act_graph_launch, is_device_right, clean_graph, FRESH | TRACED},
    {"cf_device_reset traced", prepare_reset, act_device_reset, NULL, NULL, FRESH | TRACED},
    {"cf_shutdown traced", prepare_shutdown, act_shutdown, NULL, clean_host_data, TRACED},
    {"cf_preload", NULL, act_preload, NULL, NULL, 0},
    {"cf_kernel_preload", NULL, act_kernel_preload, NULL, NULL, 0},
    {"cf_kernel_occupancy", prepare_number, act_kernel_occupancy, is_kernel_occupancy_right, NULL, 0},
    {"cf_kernel_evaluate", NULL, act_evaluate, NULL, NULL, 0},
    {"cf_kernel_evaluate_real", NULL, act_evaluate_real, NULL, NULL, 0},
    {"cf_symbol_set", prepare_symbol, act_symbol_set, is_symbol_right, destroy_both, 0},
    {"cf_symbol_set first", prepare_symbol_cold, act_symbol_set, NULL, NULL, 0},
    {"cf_symbol_set_async", prepare_symbol, act_symbol_set_async, is_symbol_right, destroy_both, 0},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

/* What may fail and the call succeeds all the same. */
static const struct tolerated tolerated[] = {
    {"cuCtxPopCurrent", NULL, "the work is done, and there is nothing to pop only where the context is lost already"},
    {"cuThreadExchangeStreamCaptureMode", NULL, "fails for a wrong argument alone"},
    {"cuGetErrorName", NULL, "a message without the driver's name of its result is still one"},
    {"cuGetErrorString", NULL, "likewise"},
    {"cuMemAllocFromPoolAsync", NULL, "where memory is short, what pools keep is given back, and it is tried again"},
    /* Short ways that are left for long ones, which ask again. */
    {"cuCtxGetId", "cf_launch", "of finding a loaded kernel"},
    {"cuCtxGetId", "cf_call", "likewise"},
    {"cuPointerGetAttributes", "cf_call", "of finding that memory is the device's"},
    {"cuPointerGetAttributes", "cf_launch", "likewise"},
    /* Questions that a copy need not have an answer to. */
    {"cuPointerGetAttributes", "cf_symbol_set", "where registered memory ends: the driver is given all of it"},
    {"cuStreamGetCaptureInfo", "cf_stream_capture_begin", "which streams only take part, when one of them ends it"},
    /* Records of what is running, for messages. */
    {"cuCtxGetId", "cf_graph_launch", "a later fault is not told to be of this graph"},
    /* What is done later. */
    {"cuCtxGetId", "cf_device_reset", "what was loaded in the context is forgotten at cf_shutdown() then"},
    {"cuDevicePrimaryCtxRelease", "cf_device_reset", "the reference is given back at cf_shutdown() then"},
    {"cuDevicePrimaryCtxRetain", "cf_device_reset", "the CPU's context is there without"},
    {"cuCtxGetId", "cf_shutdown", "the context counts as being there, and what fails in it is kept"},
    {"cuMemFreeHost", "cf_call", "a buffer that was too small is kept, and freed at cf_shutdown()"},
    {"cuMemFreeHost", "cf_mem_copy", "likewise"},
    {"cuCtxGetCurrent", "cf_shutdown", "what is freed in a context that cannot be entered, and fails, is kept"},
    {"cuCtxPushCurrent", "cf_shutdown", "likewise"},
    {NULL, NULL, NULL},
};

/* ---- The tests ---- */

static void sweep(void **state)
{
    const struct scene *scene = *state;
    if (scene->flags & (CUDA_ONLY | TWO)) {
        int count = 0;
        assert_ok(cf_device_count(&count));
        assert_ok(cf_shutdown());
        if (count < (scene->flags & TWO ? 2 : 1)) {
            printf("# skip: there are %d GPUs\n", count);
            skip();
        }
    }
    assert_int_equal(fault_sweep(scene, tolerated), 0);
}

/* The text of include/cuferry.h, as it was when this was built. */
__asm__(".pushsection .rodata\n"
        "header_begin: .incbin \"" FAULT_HEADER "\"\n"
        ".byte 0\n"
        ".popsection");
extern const char header_begin[] __attribute__((visibility("hidden")));

static int is_swept(const char *function, size_t length)
{
    for (int i = 0; i < SCENES; i++)
        if (strncmp(scenes[i].name, function, length) == 0 &&
            (!scenes[i].name[length] || scenes[i].name[length] == ' '))
            return 1;
    return 0;
}

/* A declaration begins its line, and what it declares stands in front of the first parenthesis. */
static void header_every_function_is_swept(void **state)
{
    (void)state;
    int count = 0;
    for (const char *line = header_begin; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        const char *open = memchr(line, '(', length), *name = open;
        if (!open || !strchr("Cicv", *line) || strncmp(line, "typedef", 7) == 0)
            continue;
        while (name > line &&
               (name[-1] == '_' || (name[-1] >= '0' && name[-1] <= '9') || (name[-1] >= 'a' && name[-1] <= 'z')))
            name--;
        if (strncmp(name, "cf_", 3) != 0)
            continue;
        count++;
        if (!is_swept(name, (size_t)(open - name)))
            fail_msg("%.*s() has no scene", (int)(open - name), name);
    }
    assert_in_range(count, 60, 200);
}

static void *create_first(void *unused)
{
    cf_stream first = NULL;
    const char *name;
    (void)unused;
    int status = cf_device_use(CF_HOST);
    for (long at = 1; status == CF_OK && !first && at < 100; at++) {
        alloc_fault_arm(at, at % 2 == 0);
        status = cf_stream_create(&first);
        if (!alloc_fault_disarm(&name) || status == CF_OK)
            break;
        status = status == CF_ENOMEM ? CF_OK : status;
    }
    if (status == CF_OK)
        status = cf_stream_destroy(first);
    if (status == CF_OK)
        status = cf_shutdown();
    return status == CF_OK && first ? NULL : strdup(cf_last_error());
}

/* The addresses of the CPU's handles are kept from the first one on: what is left is counted after that. */
static void first_handle_without_memory_is_enomem(void **state)
{
    pthread_t thread;
    void *wrong;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, create_first, NULL), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    if (wrong)
        fail_msg("%s", (const char *)wrong);
}

/* The driver that plays a GPU runs the kernels that it knows of. */
static void tell_fake(void)
{
    fake_cuda_add_function *add = NULL;
    void *library = on_cuda() ? dlopen("libcuda.so.1", RTLD_NOW) : NULL;
    if (library)
        *(void **)&add = dlsym(library, "fake_cuda_add");
    if (add)
        add(&fault_registry);
}

/* With an argument, those alone whose names have it. */
int main(int argc, char *argv[])
{
    static struct CMUnitTest tests[SCENES + 2];
    size_t count = 0;
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(first_handle_without_memory_is_enomem);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(header_every_function_is_swept);
    for (int i = 0; i < SCENES; i++)
        if (argc < 2 || strstr(scenes[i].name, argv[1]))
            tests[count++] = (struct CMUnitTest){scenes[i].name, sweep, NULL, NULL, (void *)(uintptr_t)&scenes[i]};
    setenv("FAKE_CUDA", "dawdle=0", 0);
    tell_fake();
    int failed = run_on_driver("tests", tests, count, NULL, NULL);
    printf("# %ld faults injected, %ld leaks\n", fault_total, leak_total);
    return failed;
}
