/* test_driver_capture.c - capture and graphs of a driver table. The CPU driver, the played GPU and a real GPU's
 * driver must behave the same, because the code above the table is written only once. */
#include "played_gpu.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "driver/driver.h"
#include "driver/driver_cuda.h"
#include "cpu/driver_cpu.h"
#include "cpu/cpu_stream.h"

static const struct cf__driver *driver;
static CUcontext context;
static CUstream origin, other; /* without priority, and not ordered with the default stream */
static CUevent fork_event, join_event;
static CUgraph graph;
static CUgraphExec exec;
static CUdeviceptr memory; /* BYTES bytes, which are 0 at first */
enum { BYTES = 256 };
static unsigned char bytes[BYTES];

#define CALL(call) assert_int_equal(driver->call, CUDA_SUCCESS)
#define GIVES(result, call) assert_int_equal(driver->call, result)

static int set_up_group(void **state)
{
    (void)state;
    static struct cf__driver cuda;
    char reason[256];
    CUdevice device;
    driver = &cf__driver_cpu;
    if (on_cuda()) {
        driver = &cuda;
        if (cf__driver_cuda_fill(&cuda, reason, sizeof reason) != CF_OK)
            return -1;
    }
    return driver->cuInit(0) || driver->cuDeviceGet(&device, 0) || driver->cuDevicePrimaryCtxRetain(&context, device) ||
                   driver->cuCtxPushCurrent(context)
               ? -1
               : 0;
}

static int tear_down_group(void **state)
{
    (void)state;
    if (driver->cuCtxPopCurrent(&context) || driver->cuDevicePrimaryCtxRelease(0))
        return -1;
    if (driver->is_cpu)
        cf__cpu_reset();
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    graph = NULL;
    exec = NULL;
    return driver->cuStreamCreate(&origin, CU_STREAM_NON_BLOCKING) ||
           driver->cuStreamCreate(&other, CU_STREAM_NON_BLOCKING) ||
           driver->cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING) ||
           driver->cuEventCreate(&join_event, CU_EVENT_DISABLE_TIMING) || driver->cuMemAlloc(&memory, BYTES) ||
           driver->cuMemsetD8Async(memory, 0, BYTES, origin) || driver->cuStreamSynchronize(origin);
}

static int tear_down(void **state)
{
    (void)state;
    return (exec && driver->cuGraphExecDestroy(exec)) || (graph && driver->cuGraphDestroy(graph)) ||
           driver->cuStreamDestroy(other) || driver->cuStreamDestroy(origin) || driver->cuEventDestroy(fork_event) ||
           driver->cuEventDestroy(join_event) || driver->cuMemFree(memory);
}

/* ---- Steps ---- */

static void begin(void)
{
    CALL(cuStreamBeginCapture(origin, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
}

static void end(void)
{
    CALL(cuStreamEndCapture(origin, &graph));
    assert_non_null(graph);
}

static void run(CUstream stream)
{
    if (!exec)
        CALL(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL(cuGraphLaunch(exec, stream));
    CALL(cuStreamSynchronize(stream));
}

/* Sets one byte. */
static void put(CUstream stream, int at, unsigned char value)
{
    CALL(cuMemsetD8Async(memory + (CUdeviceptr)at, value, 1, stream));
}

static unsigned char get(int at)
{
    unsigned char value = 0;
    CALL(cuMemcpy((uintptr_t)&value, memory + (CUdeviceptr)at, 1));
    return value;
}

static void expect_status(CUstream stream, CUstreamCaptureStatus expected)
{
    CUstreamCaptureStatus status = 77;
    CALL(cuStreamIsCapturing(stream, &status));
    assert_int_equal(status, expected);
}

/* Expects that a broken capture ends with this result, and that the stream then works as before. */
static void expect_broken(CUresult result)
{
    CUgraph none = (CUgraph)(void *)&none;
    GIVES(result, cuStreamEndCapture(origin, &none));
    assert_null(none);
    expect_status(origin, CU_STREAM_CAPTURE_STATUS_NONE);
    put(origin, 0, 99);
    CALL(cuStreamSynchronize(origin));
    assert_int_equal(get(0), 99);
}

/* ---- One stream ---- */

TEST_WITH(capture_records_and_runs_at_each_launch, set_up, tear_down)
{
    expect_status(origin, CU_STREAM_CAPTURE_STATUS_NONE);
    begin();
    expect_status(origin, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    expect_status(other, CU_STREAM_CAPTURE_STATUS_NONE);
    put(origin, 0, 1);
    CALL(cuMemcpyAsync(memory + 1, memory, 1, origin)); /* runs after the calls before it */
    put(origin, 0, 2);
    end();
    expect_status(origin, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_int_equal(get(0), 0);
    run(origin);
    assert_int_equal(get(0), 2);
    assert_int_equal(get(1), 1);
    put(origin, 1, 7);
    CALL(cuStreamSynchronize(origin));
    run(other); /* a graph can run in any stream */
    assert_int_equal(get(1), 1);
    CALL(cuGraphDestroy(graph)); /* the executable graph is kept */
    graph = NULL;
    put(other, 1, 8);
    run(other);
    assert_int_equal(get(1), 1);
}

TEST_WITH(capture_of_nothing_is_a_graph, set_up, tear_down)
{
    begin();
    end();
    run(origin);
}

/* The graph reads host memory when it runs, but the arguments of calls when they are captured. */
TEST_WITH(capture_reads_host_memory_when_it_runs, set_up, tear_down)
{
    memset(bytes, 1, sizeof bytes);
    begin();
    CALL(cuMemcpyAsync(memory, (uintptr_t)bytes, 8, origin));
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = bytes + 8,
                          .srcPitch = 4,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = memory + 16,
                          .dstPitch = 8,
                          .WidthInBytes = 3,
                          .Height = 2};
    CALL(cuMemcpy2DAsync(&rows, origin));
    memset(&rows, 0, sizeof rows);
    end();
    memset(bytes, 2, sizeof bytes);
    run(origin);
    assert_int_equal(get(0), 2);
    assert_int_equal(get(7), 2);
    assert_int_equal(get(8), 0);
    assert_int_equal(get(16), 2);
    assert_int_equal(get(19), 0);
    assert_int_equal(get(26), 2);
}

static void add_1(void *data)
{
    __atomic_add_fetch((int *)data, 1, __ATOMIC_RELAXED);
}

TEST_WITH(capture_calls_host_functions_when_it_runs, set_up, tear_down)
{
    static int calls;
    calls = 0;
    begin();
    CALL(cuLaunchHostFunc(origin, add_1, &calls));
    end();
    assert_int_equal(calls, 0);
    run(origin);
    run(origin);
    assert_int_equal(calls, 2);
    CALL(cuLaunchHostFunc(origin, add_1, &calls));
    CALL(cuStreamSynchronize(origin));
    assert_int_equal(calls, 3);
}

TEST_WITH(launch_of_one_graph_in_two_streams_runs_in_order, set_up, tear_down)
{
    begin();
    CALL(cuMemcpyAsync(memory + 1, memory, 1, origin));
    CALL(cuMemcpyAsync(memory + 2, memory + 1, 1, origin));
    end();
    CALL(cuGraphInstantiateWithFlags(&exec, graph, 0));
    put(origin, 0, 5);
    CALL(cuGraphLaunch(exec, origin));
    CALL(cuGraphLaunch(exec, other)); /* runs after the first launch is complete */
    CALL(cuStreamSynchronize(other));
    assert_int_equal(get(2), 5);
    CALL(cuStreamSynchronize(origin));
}

static struct {
    int inside, runs, overlaps, is_launching;
} run_state;

/* Makes the first run last until the second launch has had time to begin. */
static void note_run(void *unused)
{
    (void)unused;
    if (__atomic_exchange_n(&run_state.inside, 1, __ATOMIC_ACQ_REL))
        run_state.overlaps++;
    if (__atomic_fetch_add(&run_state.runs, 1, __ATOMIC_ACQ_REL) == 0) {
        while (!__atomic_load_n(&run_state.is_launching, __ATOMIC_ACQUIRE))
            sched_yield();
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    __atomic_store_n(&run_state.inside, 0, __ATOMIC_RELEASE);
}

static void *launch_in_other(void *unused)
{
    while (!__atomic_load_n(&run_state.runs, __ATOMIC_ACQUIRE))
        sched_yield();
    __atomic_store_n(&run_state.is_launching, 1, __ATOMIC_RELEASE);
    const int is_wrong = driver->cuCtxPushCurrent(context) || driver->cuGraphLaunch(exec, other) ||
                         driver->cuStreamSynchronize(other) || driver->cuCtxPopCurrent(&(CUcontext){NULL});
    return is_wrong ? unused : NULL;
}

TEST_WITH(launches_of_one_graph_by_two_threads_do_not_overlap, set_up, tear_down)
{
    pthread_t thread;
    void *wrong;
    memset(&run_state, 0, sizeof run_state);
    begin();
    CALL(cuLaunchHostFunc(origin, note_run, NULL));
    end();
    CALL(cuGraphInstantiateWithFlags(&exec, graph, 0));
    assert_int_equal(pthread_create(&thread, NULL, launch_in_other, &wrong), 0);
    CALL(cuGraphLaunch(exec, origin));
    CALL(cuStreamSynchronize(origin));
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    assert_int_equal(run_state.runs, 2);
    assert_int_equal(run_state.overlaps, 0);
}

/* ---- Several streams ---- */

static void fork_to_other(void)
{
    CALL(cuEventRecord(fork_event, origin));
    CALL(cuStreamWaitEvent(other, fork_event, 0));
}

static void join_to_origin(void)
{
    CALL(cuEventRecord(join_event, other));
    CALL(cuStreamWaitEvent(origin, join_event, 0));
}

static uint64_t id_of(CUstream stream, CUstreamCaptureStatus expected)
{
    CUstreamCaptureStatus status = 77;
    uint64_t id = 0;
    CALL(cuStreamGetCaptureInfo(stream, &status, &id, NULL, NULL, NULL));
    assert_int_equal(status, expected);
    return id;
}

/* A capture's id differs from that of any other capture, and other streams have none. */
TEST_WITH(capture_has_an_id_of_its_own, set_up, tear_down)
{
    uint64_t before = 0;
    for (int round = 0; round < 3; round++) {
        (void)id_of(origin, CU_STREAM_CAPTURE_STATUS_NONE);
        begin();
        uint64_t id = id_of(origin, CU_STREAM_CAPTURE_STATUS_ACTIVE);
        assert_true(id != 0 && id != before);
        CALL(cuEventRecord(fork_event, origin));
        CALL(cuStreamWaitEvent(other, fork_event, 0));
        assert_true(id_of(other, CU_STREAM_CAPTURE_STATUS_ACTIVE) == id);
        CALL(cuEventRecord(join_event, other));
        CALL(cuStreamWaitEvent(origin, join_event, 0));
        end();
        CALL(cuGraphDestroy(graph));
        graph = NULL;
        (void)id_of(other, CU_STREAM_CAPTURE_STATUS_NONE);
        before = id;
    }
    begin();
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(origin));
    (void)id_of(origin, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(origin, &graph));
    graph = NULL;
}

TEST_WITH(capture_takes_streams_that_wait_for_it, set_up, tear_down)
{
    begin();
    put(origin, 0, 1);
    fork_to_other();
    expect_status(other, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CALL(cuMemcpyAsync(memory + 1, memory, 1, other));
    put(origin, 3, 3);
    join_to_origin();
    CALL(cuMemcpyAsync(memory + 2, memory + 1, 1, origin));
    end();
    expect_status(other, CU_STREAM_CAPTURE_STATUS_NONE);
    put(other, 5, 5); /* work in the stream runs at once again */
    CALL(cuStreamSynchronize(other));
    assert_int_equal(get(5), 5);
    assert_int_equal(get(0), 0);
    run(origin);
    assert_int_equal(get(0), 1);
    assert_int_equal(get(1), 1);
    assert_int_equal(get(2), 1);
    assert_int_equal(get(3), 3);
}

TEST_WITH(capture_end_unjoined_work_is_refused, set_up, tear_down)
{
    begin();
    put(origin, 0, 1);
    fork_to_other();
    put(other, 1, 1);
    expect_broken(CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    expect_status(other, CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_WITH(capture_end_work_after_the_join_is_refused, set_up, tear_down)
{
    begin();
    fork_to_other();
    put(other, 1, 1);
    join_to_origin();
    put(other, 2, 1);
    expect_broken(CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

TEST_WITH(capture_end_in_another_stream_is_refused, set_up, tear_down)
{
    CUgraph none;
    begin();
    fork_to_other();
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(other, &none));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(origin, &none));
    expect_status(origin, CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_WITH(capture_waiting_for_work_outside_is_refused, set_up, tear_down)
{
    put(other, 0, 1);
    CALL(cuEventRecord(fork_event, other));
    begin();
    GIVES(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(origin, fork_event, 0));
    expect_broken(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_WITH(capture_waiting_for_another_capture_is_refused, set_up, tear_down)
{
    CUgraph none;
    begin();
    CALL(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CALL(cuEventRecord(fork_event, other));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(origin, fork_event, 0));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(other, &none));
    expect_broken(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

/* An event that was recorded in a capture cannot be queried; the query may break the capture. */
TEST_WITH(event_of_a_capture_cannot_be_queried, set_up, tear_down)
{
    begin();
    CALL(cuEventRecord(fork_event, origin));
    GIVES(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(fork_event));
    (void)driver->cuStreamEndCapture(origin, &graph);
    if (graph)
        CALL(cuGraphDestroy(graph));
    begin();
    CALL(cuEventRecord(fork_event, origin));
    end();
    GIVES(CUDA_ERROR_INVALID_VALUE, cuEventQuery(fork_event));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuEventSynchronize(fork_event));
    CALL(cuEventRecord(fork_event, origin));
    CALL(cuEventSynchronize(fork_event));
    CALL(cuEventQuery(fork_event));
}

/* ---- Calls that break a capture ---- */

TEST_WITH(capture_wait_for_the_stream_breaks_it, set_up, tear_down)
{
    begin();
    put(origin, 0, 1);
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(origin));
    expect_status(origin, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD8Async(memory, 1, 1, origin));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuEventRecord(fork_event, origin));
    expect_broken(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin();
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(origin));
    expect_broken(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_WITH(capture_begin_twice_is_refused, set_up, tear_down)
{
    CUgraph none;
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(origin, &none));
    begin();
    GIVES(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(origin, CU_STREAM_CAPTURE_MODE_RELAXED));
    put(origin, 0, 1);
    end();
    run(origin);
    assert_int_equal(get(0), 1);
}

TEST_WITH(capture_begin_default_stream_is_refused, set_up, tear_down)
{
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
          cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuStreamBeginCapture(origin, 3));
    expect_status(NULL, CU_STREAM_CAPTURE_STATUS_NONE);
}

static void *end_on_thread(void *unused)
{
    CUgraph none;
    (void)unused;
    if (driver->cuCtxPushCurrent(context) != CUDA_SUCCESS)
        return "no context";
    CUresult result = driver->cuStreamEndCapture(origin, &none);
    return result == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD ? NULL : "another result";
}

/* The call fails, but it also ends the capture. */
TEST_WITH(capture_end_on_another_thread_is_refused, set_up, tear_down)
{
    pthread_t thread;
    void *wrong;
    begin();
    put(origin, 0, 1);
    assert_int_equal(pthread_create(&thread, NULL, end_on_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    if (wrong)
        fail_msg("%s", (char *)wrong);
    expect_broken(CUDA_ERROR_ILLEGAL_STATE);
}

TEST_WITH(capture_launch_of_a_graph_breaks_it, set_up, tear_down)
{
    begin();
    put(origin, 1, 1);
    end();
    CALL(cuGraphInstantiateWithFlags(&exec, graph, 0));
    begin();
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphLaunch(exec, origin));
    expect_broken(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_int_equal(get(1), 0);
    run(origin);
    assert_int_equal(get(1), 1);
}

TEST_WITH(exchange_mode_gives_the_one_before, set_up, tear_down)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CALL(cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CALL(cuThreadExchangeStreamCaptureMode(&mode));
    assert_int_equal(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

/* Allocating memory breaks a capture of the same thread, unless the thread is in relaxed mode. The CPU driver permits
 * it. */
TEST_WITH(capture_allocation_of_the_same_thread_breaks_it, set_up, tear_down)
{
    CUdeviceptr more;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    begin();
    CALL(cuThreadExchangeStreamCaptureMode(&mode));
    CALL(cuMemAlloc(&more, 16));
    CALL(cuMemFree(more));
    CALL(cuThreadExchangeStreamCaptureMode(&mode));
    put(origin, 0, 1);
    end();
    if (driver->is_cpu)
        return;
    begin();
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc(&more, 16));
    expect_broken(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_WITH(capture_allocation_in_another_stream_breaks_it, set_up, tear_down)
{
    CUdeviceptr more = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    begin();
    CALL(cuThreadExchangeStreamCaptureMode(&mode));
    CALL(cuMemAllocAsync(&more, 16, other));
    CALL(cuMemFreeAsync(more, other));
    CALL(cuThreadExchangeStreamCaptureMode(&mode));
    put(origin, 0, 1);
    end();
    if (driver->is_cpu)
        return;
    begin();
    GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAllocAsync(&more, 16, other));
    expect_broken(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void *alloc_on_thread(void *expected)
{
    CUdeviceptr more = 0;
    if (driver->cuCtxPushCurrent(context) != CUDA_SUCCESS)
        return "no context";
    CUresult result = driver->cuMemAlloc(&more, 16);
    if (result == CUDA_SUCCESS && driver->cuMemFree(more) != CUDA_SUCCESS)
        return "not freed";
    return result == *(CUresult *)expected ? NULL : "another result";
}

TEST_WITH(capture_allocation_of_another_thread_breaks_a_global_one, set_up, tear_down)
{
    for (CUstreamCaptureMode mode = 0; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        int is_broken = mode == CU_STREAM_CAPTURE_MODE_GLOBAL && !driver->is_cpu;
        CUresult expected = is_broken ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
        pthread_t thread;
        void *wrong;
        CALL(cuStreamBeginCapture(origin, mode));
        assert_int_equal(pthread_create(&thread, NULL, alloc_on_thread, &expected), 0);
        assert_int_equal(pthread_join(thread, &wrong), 0);
        if (wrong)
            fail_msg("mode %u: %s", mode, (char *)wrong);
        if (is_broken) {
            expect_broken(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
            continue;
        }
        end();
        CALL(cuGraphDestroy(graph));
        graph = NULL;
    }
}

/* The default stream cannot be used while a stream that is ordered with it is captured. Queries do not break the
 * capture. */
TEST_WITH(capture_of_a_blocking_stream_forbids_the_default_one, set_up, tear_down)
{
    CUstream blocking;
    CUstreamCaptureStatus status;
    CUgraph none;
    if (driver->is_cpu)
        skip_test(NEEDS_ANY_GPU);
    CALL(cuStreamCreate(&blocking, 0));
    CALL(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    GIVES(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(NULL, &status));
    expect_status(blocking, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    GIVES(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuMemsetD8Async(memory, 1, 1, NULL));
    expect_status(blocking, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &none));
    CALL(cuMemsetD8Async(memory, 1, 1, NULL));
    CALL(cuStreamDestroy(blocking));
}

TEST_WITH(stream_destroy_ends_its_capture, set_up, tear_down)
{
    CUstream third;
    CALL(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
    CALL(cuStreamBeginCapture(third, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CALL(cuMemsetD8Async(memory, 9, 1, third));
    if (on_cuda() && !played_gpu_is_in_use()) {
        CUgraph captured;
        CALL(cuStreamEndCapture(third, &captured));
        CALL(cuGraphDestroy(captured));
    }
    CALL(cuStreamDestroy(third));
    assert_int_equal(get(0), 0);
}

/* ---- Memory of graphs ---- */

TEST_WITH(graph_memory_is_there_while_it_runs, set_up, tear_down)
{
    CUdeviceptr inside = 0;
    begin();
    CALL(cuMemAllocAsync(&inside, BYTES, origin));
    assert_true(inside != 0);
    CALL(cuMemsetD8Async(inside, 6, BYTES, origin));
    CALL(cuMemcpyAsync(memory, inside, BYTES, origin));
    CALL(cuMemFreeAsync(inside, origin));
    end();
    run(origin);
    assert_int_equal(get(BYTES - 1), 6);
    put(origin, BYTES - 1, 0);
    CALL(cuStreamSynchronize(origin));
    run(origin);
    assert_int_equal(get(BYTES - 1), 6);
}

/* If a graph leaves memory allocated, the user must free it before the graph runs again. */
TEST_WITH(graph_memory_that_is_left_is_freed_outside, set_up, tear_down)
{
    CUdeviceptr inside = 0;
    unsigned char value = 0;
    begin();
    CALL(cuMemAllocAsync(&inside, BYTES, origin));
    CALL(cuMemsetD8Async(inside, 6, BYTES, origin));
    end();
    run(origin);
    CALL(cuMemcpy((uintptr_t)&value, inside, 1));
    assert_int_equal(value, 6);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, origin));
    CALL(cuMemFreeAsync(inside, origin));
    run(origin);
    CALL(cuGraphExecDestroy(exec));
    exec = NULL;
    CALL(cuGraphDestroy(graph));
    graph = NULL;
    CALL(cuMemcpy((uintptr_t)&value, inside, 1)); /* the memory is kept when its graph is destroyed */
    assert_int_equal(value, 6);
    CALL(cuMemFree(inside));
}

TEST_WITH(graph_memory_of_another_kind_is_not_freed_in_it, set_up, tear_down)
{
    CUgraph none;
    begin();
    assert_int_not_equal(driver->cuMemFreeAsync(memory, origin), CUDA_SUCCESS);
    (void)driver->cuStreamEndCapture(origin, &none);
    if (none)
        CALL(cuGraphDestroy(none));
    assert_int_equal(get(0), 0);
}

/* ---- Handles ---- */

TEST_WITH(graph_functions_take_live_ones_alone, set_up, tear_down)
{
    if (on_cuda() && !played_gpu_is_in_use())
        skip_test(NEEDS_CPU_OR_PLAYED_GPU);
    begin();
    end();
    CALL(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUgraph old_graph = graph;
    CUgraphExec old_exec = exec;
    CALL(cuGraphDestroy(graph));
    CALL(cuGraphExecDestroy(exec));
    graph = NULL;
    exec = NULL;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(old_graph));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphExecDestroy(old_exec));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(old_exec, origin));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithFlags(&exec, old_graph, 0));
}

/* ---- Threads ---- */

enum { THREADS = 16, ROUNDS = 40 };

static void *capture_and_run(void *unused)
{
    CUstream stream, joined;
    CUevent event;
    CUgraph own = NULL;
    CUgraphExec own_exec = NULL;
    CUdeviceptr own_memory;
    (void)unused;
    CUresult result = driver->cuCtxPushCurrent(context);
    result |= driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    result |= driver->cuStreamCreate(&joined, CU_STREAM_NON_BLOCKING);
    result |= driver->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    result |= driver->cuMemAlloc(&own_memory, 16);
    for (int round = 0; round < ROUNDS && result == CUDA_SUCCESS; round++) {
        unsigned char value = 0;
        result |= driver->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
        result |= driver->cuMemsetD8Async(own_memory, (unsigned char)round, 16, stream);
        result |= driver->cuEventRecord(event, stream);
        result |= driver->cuStreamWaitEvent(joined, event, 0);
        result |= driver->cuMemcpyAsync(own_memory + 8, own_memory, 1, joined);
        result |= driver->cuEventRecord(event, joined);
        result |= driver->cuStreamWaitEvent(stream, event, 0);
        result |= driver->cuStreamEndCapture(stream, &own);
        result |= driver->cuGraphInstantiateWithFlags(&own_exec, own, 0);
        result |= driver->cuGraphLaunch(own_exec, stream);
        result |= driver->cuGraphDestroy(own);
        result |= driver->cuStreamSynchronize(stream);
        result |= driver->cuGraphExecDestroy(own_exec);
        result |= driver->cuMemcpyAsync((uintptr_t)&value, own_memory + 8, 1, stream);
        result |= driver->cuStreamSynchronize(stream);
        if (value != round)
            return "another value";
    }
    result |= driver->cuMemFree(own_memory);
    result |= driver->cuEventDestroy(event);
    result |= driver->cuStreamDestroy(joined);
    result |= driver->cuStreamDestroy(stream);
    return result == CUDA_SUCCESS ? NULL : "a call fails";
}

TEST_WITH(capture_on_16_threads_at_once_is_right, set_up, tear_down)
{
    pthread_t threads[THREADS];
    void *wrong = NULL;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, capture_and_run, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *value;
        assert_int_equal(pthread_join(threads[i], &value), 0);
        wrong = value ? value : wrong;
    }
    if (wrong)
        fail_msg("%s", (char *)wrong);
}

int main(void)
{
    return run_all_tests(set_up_group, tear_down_group);
}
