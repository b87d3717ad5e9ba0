/* test_capture.c - capture of streams: the threads that begin and end it, the streams that take part, and calls that
 * must not break it. */
#include "context/handle.h"
#include "graph_fixture.h"

/* ---- Arguments and states ---- */

TEST_WITH(stream_capture_states_are_reported, set_up, tear_down)
{
    cf_graph graph = NULL;
    expect_capturing(stream, 0);
    assert_fails(cf_stream_capture_end(stream, &graph), CF_EINVAL, "is not being captured");
    assert_null(graph);
    assert_ok(cf_stream_capture_begin(stream));
    expect_capturing(stream, 1);
    expect_capturing(other, 0);
    assert_fails(cf_stream_capture_begin(stream), CF_ECAPTURE, "is being captured already");
    expect_capturing(stream, 1);
    graph = end();
    expect_capturing(stream, 0);
    assert_ok(cf_graph_destroy(graph));
    assert_int_equal(cf_stream_capture_end(stream, &graph), CF_EINVAL);
}

static cf_stream stream_end_there;

static void *end_there(void *graph)
{
    return (void *)(intptr_t)cf_stream_capture_end(stream_end_there, graph);
}

TEST_WITH(stream_capture_end_in_another_thread_is_ecapture, set_up, tear_down)
{
    cf_graph graph = NULL;
    pthread_t thread;
    void *status;
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(gather(stream));
    stream_end_there = stream;
    assert_int_equal(pthread_create(&thread, NULL, end_there, &graph), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((int)(intptr_t)status, CF_ECAPTURE);
    assert_null(graph);
    expect_capturing(stream, 1);
    assert_fails(cf_device_sync(), CF_ECAPTURE, "cf_device_sync: stream");
    cf_graph_exec exec = end_and_instantiate();
    run(exec, stream);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(exec));
}

static void *begin_there(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)cf_stream_capture_begin(stream);
}

/* No thread can end such a capture any more. It must not block the device for ever. */
TEST_WITH(stream_capture_of_a_thread_that_is_gone_is_lost, set_up, tear_down)
{
    cf_graph graph = NULL;
    pthread_t thread;
    void *status;
    assert_int_equal(pthread_create(&thread, NULL, begin_there, NULL), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((int)(intptr_t)status, CF_OK);
    assert_ok(gather(stream));
    assert_int_equal(cf_device_sync(), CF_ECAPTURE);
    /* For a moment after a thread was joined, the kernel may still list it. */
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(cf_stream_capture_end(stream, &graph), CF_ECAPTURE);
        if (!strstr(cf_last_error(), "begun in another thread"))
            break;
        usleep(100);
    }
    assert_non_null(strstr(cf_last_error(), CALL_OR_TEXT("cuStreamEndCapture returned 908", "from another thread")));
    assert_null(graph);
    expect_capturing(stream, 0);
    assert_ok(cf_device_sync());
    expect_result(0);
    assert_ok(gather(stream));
    assert_ok(cf_stream_sync(stream));
    expect_result(1);
}

/* ---- More than one stream ---- */

TEST_WITH(stream_capture_joined_streams_are_part_of_it, set_up, tear_down)
{
    cf_event forked, joined;
    float out[COUNT];
    memset(out, 0, sizeof out);
    assert_ok(cf_event_create(&forked));
    assert_ok(cf_event_create(&joined));
    for (int round = 0; round < 2; round++) {
        assert_ok(cf_stream_capture_begin(stream));
        assert_ok(gather(stream));
        assert_ok(cf_event_record(forked, stream));
        assert_ok(cf_stream_wait(other, forked));
        expect_capturing(other, 1);
        assert_ok(cf_mem_copy_async(other, out, result, sizeof out));
        assert_ok(cf_event_record(joined, other));
        assert_ok(cf_stream_wait(stream, joined));
        assert_ok(cf_mem_fill_async(stream, result, 0, BYTES));
        cf_graph_exec exec = end_and_instantiate();
        expect_capturing(other, 0);
        assert_true(out[COUNT - 1] == 0);
        run(exec, stream);
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] == (float)order[i]);
        expect_result(0);
        memset(out, 0, sizeof out);
        assert_ok(cf_graph_exec_destroy(exec));
    }
    /* After the capture the events can be used as before. */
    assert_ok(cf_event_record(forked, stream));
    assert_ok(cf_event_sync(forked));
    assert_ok(cf_event_destroy(forked));
    assert_ok(cf_event_destroy(joined));
}

/* Ending the capture through a joined stream fails on any thread; the capture remains open. */
TEST_WITH(stream_capture_end_of_a_joined_stream_is_invalid, set_up, tear_down)
{
    cf_event forked;
    cf_graph graph = NULL;
    pthread_t thread;
    void *status;
    char detail[128];
    assert_ok(cf_event_create(&forked));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_event_record(forked, stream));
    assert_ok(cf_stream_wait(other, forked));
    assert_ok(gather(other));
    snprintf(detail, sizeof detail,
             "cf_stream_capture_end: stream %p takes part in the capture that was begun in stream %p", (void *)other,
             (void *)stream);
    assert_fails(cf_stream_capture_end(other, &graph), CF_EINVAL, detail);
    stream_end_there = other;
    assert_int_equal(pthread_create(&thread, NULL, end_there, &graph), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((int)(intptr_t)status, CF_EINVAL);
    assert_null(graph);
    expect_capturing(stream, 1);
    expect_capturing(other, 1);
    assert_ok(cf_event_record(forked, other));
    assert_ok(cf_stream_wait(stream, forked));
    cf_graph_exec exec = end_and_instantiate();
    expect_capturing(other, 0);
    run(exec, stream);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(exec));
    /* It is not possible to wait for an event that was last recorded in a capture. */
    snprintf(detail, sizeof detail,
             "cf_stream_wait: event %p was last recorded in a capture that has ended; record it again", (void *)forked);
    assert_fails(cf_stream_wait(stream, forked), CF_EINVAL, detail);
    assert_ok(cf_event_record(forked, other));
    assert_ok(cf_stream_wait(stream, forked));
    /* Afterwards the joined stream can be captured itself. */
    assert_ok(cf_stream_capture_begin(other));
    assert_ok(cf_stream_capture_end(other, &graph));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_event_destroy(forked));
}

TEST_WITH(stream_capture_unjoined_stream_loses_it_and_next_works, set_up, tear_down)
{
    cf_event forked;
    cf_graph graph = NULL;
    assert_ok(cf_event_create(&forked));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_event_record(forked, stream));
    assert_ok(cf_stream_wait(other, forked));
    assert_ok(cf_mem_fill_async(other, result, 1, BYTES));
    assert_fails(cf_stream_capture_end(stream, &graph), CF_ECAPTURE,
                 CALL_OR_TEXT("cuStreamEndCapture returned 904", ": capturing stream has unjoined work"));
    assert_null(graph);
    expect_capturing(stream, 0);
    expect_capturing(other, 0);
    expect_result(0);
    assert_ok(cf_device_sync());
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(gather(stream));
    cf_graph_exec exec = end_and_instantiate();
    run(exec, other);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_event_destroy(forked));
}

/* ---- Calls that must not break a capture ---- */

TEST_WITH(stream_functions_of_a_captured_stream_are_ecapture, set_up, tear_down)
{
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(gather(stream));
    assert_fails(cf_stream_sync(stream), CF_ECAPTURE, "cf_stream_sync: stream");
    assert_fails(cf_stream_query(stream), CF_ECAPTURE, "cf_stream_query: stream");
    assert_fails(cf_stream_destroy(stream), CF_ECAPTURE, "cf_stream_destroy: stream");
    assert_fails(cf_device_sync(), CF_ECAPTURE, "cf_device_sync: stream");
    cf_graph_exec exec = end_and_instantiate();
    assert_ok(cf_device_sync());
    run(exec, stream);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(exec));
}

/* Makes all calls that are allowed during a capture, on its own thread or another one. Returns the line of a failure,
 * or 0. */
static int do_everything_else(void)
{
    cf_stream own = NULL;
    cf_event event = NULL;
    cf_graph graph = NULL;
    cf_graph_exec exec = NULL;
    void *memory = NULL, *pinned = NULL, *pooled = NULL;
    int64_t value;
    int status;
    char bytes[100] = {1}, read[100] = {0};
#define TRY(call)            \
    do {                     \
        if ((call) != CF_OK) \
            return __LINE__; \
    } while (0)
    TRY(cf_stream_create(&own));
    TRY(cf_event_create(&event));
    TRY(cf_mem_alloc(&memory, 100000));
    TRY(cf_mem_alloc_pinned(&pinned, 100000));
    TRY(cf_mem_alloc_async(own, &pooled, 100000));
    TRY(cf_mem_copy(memory, bytes, sizeof bytes));
    TRY(cf_mem_fill((char *)memory + 50, 3, 50));
    TRY(cf_mem_copy_2d(read, 10, memory, 10, 5, 10));
    if (read[0] != 1 || read[5] != 0 || read[90] != 3)
        return __LINE__;
    TRY(cf_mem_copy_async(own, pooled, memory, 1000));
    TRY(cf_event_record(event, own));
    while ((status = cf_event_query(event)) == CF_ENOTREADY)
        continue;
    TRY(status);
    TRY(cf_event_sync(event));
    TRY(cf_stream_query(own));
    TRY(cf_stream_sync(own));
    TRY(cf_stream_sync(NULL));
    TRY(cf_gather_f32_i32_async(own, source, index_, memory, COUNT, COUNT));
    TRY(cf_gather_f32_i32(source, index_, memory, COUNT, COUNT));
    TRY(cf_gather_f64_i32_async(own, memory, index_, pinned, 1, 1));
    TRY(cf_stream_sync(own));
    for (int i = 0; i < 2; i++) /* the second call takes the fast path of launches and waits */
        TRY(cf_axpy_f32(1, memory, (float *)memory + 1000, 100));
    TRY(cf_axpy_f32(1, pinned, (float *)pinned + 1000, 100));
    TRY(cf_stream_call(own, count_call, &calls));
    TRY(cf_stream_sync(own));
    TRY(cf_device_property(on_cuda() ? 0 : CF_HOST, CF_PROPERTY_MEMORY_FREE, &value));
    TRY(cf_mem_trim(0));
    TRY(cf_stream_capture_begin(own));
    TRY(cf_mem_fill_async(own, memory, 1, 10));
    TRY(cf_stream_capture_end(own, &graph));
    TRY(cf_graph_instantiate(&exec, graph));
    TRY(cf_graph_destroy(graph));
    TRY(cf_graph_launch(exec, own));
    TRY(cf_stream_sync(own));
    TRY(cf_graph_exec_destroy(exec));
    TRY(cf_mem_free_async(own, pooled));
    TRY(cf_stream_sync(own));
    TRY(cf_mem_free(memory));
    TRY(cf_mem_free(pinned));
    TRY(cf_event_destroy(event));
    TRY(cf_stream_destroy(own));
#undef TRY
    return 0;
}

static void *do_it_there(void *unused)
{
    (void)unused;
    return (void *)(intptr_t)do_everything_else();
}

static void expect_all_works_there(void)
{
    pthread_t thread;
    void *line;
    assert_int_equal(pthread_create(&thread, NULL, do_it_there, NULL), 0);
    assert_int_equal(pthread_join(thread, &line), 0);
    if (line)
        fail_msg("in another thread, line %d fails", (int)(intptr_t)line);
}

TEST_WITH(stream_capture_all_else_does_not_break_it, set_up, tear_down)
{
    assert_ok(cf_stream_capture_begin(stream));
    int line = do_everything_else();
    if (line)
        fail_msg("line %d fails: %s", line, cf_last_error());
    expect_all_works_there();
    assert_ok(gather(stream));
    cf_graph_exec exec = end_and_instantiate();
    run(exec, stream);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(exec));
}

/* The other library captures in CUDA's default mode, in which driver calls of other threads can break the capture. */
TEST_WITH(stream_capture_of_another_library_is_not_broken, set_up, tear_down)
{
    need_any_gpu();
    const struct cf__driver *driver = other_library();
    cf_graph graph = NULL;
    cf_graph_exec exec;
    assert_int_equal(driver->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    expect_all_works_there();
    int line = do_everything_else();
    if (line)
        fail_msg("line %d fails: %s", line, cf_last_error());
    assert_ok(gather(stream));
    assert_int_equal(driver->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    run(exec, stream);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(exec));
}

TEST_WITH(nodes_of_a_capture_that_another_library_ends_are_forgotten, set_up, tear_down)
{
    need_any_gpu();
    const struct cf__driver *driver = other_library();
    for (int is_begun_again = 0; is_begun_again < 2; is_begun_again++) {
        cf_graph graph = NULL;
        cf_graph_node node;
        assert_ok(cf_stream_capture_begin(stream));
        assert_ok(gather(stream));
        assert_ok(cf_stream_capture_node(stream, &node));
        assert_true(cf__handle_get_capture(CF__GRAPH_NODE, node) != 0);
        assert_int_equal(driver->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
        if (is_begun_again) {
            assert_ok(cf_stream_capture_begin(stream));
            assert_ok(cf_graph_destroy(end()));
        } else
            assert_int_equal(cf_stream_capture_end(stream, &graph), CF_EINVAL);
        assert_true(cf__handle_get_capture(CF__GRAPH_NODE, node) == 0);
        assert_ok(cf_graph_destroy(graph));
    }
}

/* Launching a graph may break that capture, as a driver's launch does; no other call may. */
TEST_WITH(graph_launch_in_a_capture_of_another_library_is_ecapture, set_up, tear_down)
{
    need_any_gpu();
    const struct cf__driver *driver = other_library();
    cf_graph graph = NULL;
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(gather(stream));
    cf_graph_exec exec = end_and_instantiate();
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        run(exec, stream);
        assert_int_equal(driver->cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode), CUDA_SUCCESS);
        assert_ok(cf_mem_fill_async(stream, result, 0, BYTES));
        assert_int_equal(cf_graph_launch(exec, stream), CF_ECAPTURE);
        CUresult ended = driver->cuStreamEndCapture(stream, &graph);
        if (ended == CUDA_SUCCESS)
            assert_ok(cf_graph_destroy(graph));
        else
            assert_int_equal(ended, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        assert_ok(cf_mem_fill(result, 0, BYTES));
        run(exec, stream);
        expect_result(1);
    }
    assert_ok(cf_graph_exec_destroy(exec));
}

/* The library remembers the stream, in which it has launched before. */
TEST_WITH(graph_launch_in_a_capture_leaves_it_as_it_is, set_up, tear_down)
{
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(gather(stream));
    cf_graph_exec exec = end_and_instantiate(), captured;
    run(exec, stream);
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_mem_fill_async(stream, result, 0, BYTES));
    assert_fails(cf_graph_launch(exec, stream), CF_ECAPTURE, "graphs are not launched in graphs");
    run(exec, other);
    expect_result(1);
    captured = end_and_instantiate();
    run(captured, stream);
    expect_result(0);
    assert_ok(cf_graph_exec_destroy(captured));
    assert_ok(cf_graph_exec_destroy(exec));
}

/* Another library destroys the stream and its context, and creates a context that gets the same address. */
TEST_WITH(capture_in_a_context_that_is_gone_keeps_nobody_waiting, set_up, tear_down)
{
    need_any_gpu();
    CUcontext gone, again;
    cf_stream inside;
    cf_graph graph;
    assert_int_equal(context_create(&gone, 0, 0), CUDA_SUCCESS);
    assert_ok(cf_stream_create(&inside));
    assert_ok(cf_stream_capture_begin(inside));
    assert_fails(cf_device_sync(), CF_ECAPTURE, "is being captured");
    assert_int_equal(other_library()->cuStreamDestroy(inside), CUDA_SUCCESS);
    assert_int_equal(context_destroy(gone), CUDA_SUCCESS);
    assert_int_equal(context_create(&again, 0, 0), CUDA_SUCCESS);
    assert_ok(cf_device_sync());
    assert_ok(cf_stream_create(&inside));
    assert_ok(cf_stream_capture_begin(inside));
    assert_fails(cf_device_sync(), CF_ECAPTURE, "is being captured");
    assert_ok(cf_stream_capture_end(inside, &graph));
    assert_ok(cf_device_sync());
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(inside));
    assert_int_equal(context_destroy(again), CUDA_SUCCESS);
}

/* Makes a driver call that breaks the captures of this thread, even in the mode that the library uses. */
static void break_captures(void)
{
    CUdeviceptr memory = 0;
    assert_int_equal(other_library()->cuMemAlloc(&memory, 8), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

static int device_of(cf_stream on)
{
    int device = -1;
    assert_ok(cf_stream_device(on, &device));
    return device;
}

/* For a stream with a broken capture, the driver does not report the context; the thread's own context is another
 * one. */
TEST_WITH(stream_whose_capture_is_broken_is_ended_from_another_device, set_up, tear_down)
{
    int device = -1;
    cf_graph graph = NULL;
    need_two_gpus();
    const struct cf__driver *driver = other_library();
    cf_stream ours, theirs;
    CUcontext context;
    assert_int_equal(context_create(&context, 0, 1), CUDA_SUCCESS);
    assert_ok(cf_stream_create(&ours));
    assert_int_equal(driver->cuStreamCreate(&theirs, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_ok(cf_stream_capture_begin(ours));
    assert_int_equal(driver->cuStreamBeginCapture(theirs, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    break_captures();
    assert_int_equal(driver->cuCtxPopCurrent(&context), CUDA_SUCCESS);

    assert_int_equal(device_of(ours), 1);
    assert_fails(cf_stream_device(theirs, &device), CF_ECAPTURE, "cf_stream_device: stream");
    assert_int_equal(device, -1);
    const cf_stream both[] = {ours, theirs};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cf_stream_sync(both[i]), CF_ECAPTURE);
        assert_int_equal(cf_mem_fill_async(both[i], result, 0, BYTES), CF_ECAPTURE);
        assert_fails(cf_stream_capture_end(both[i], &graph), CF_ECAPTURE, "cuStreamEndCapture returned 901");
        assert_null(graph);
        expect_capturing(both[i], 0);
        assert_int_equal(device_of(both[i]), 1);
        assert_ok(cf_stream_sync(both[i]));
        assert_ok(cf_stream_destroy(both[i]));
    }
    assert_int_equal(context_destroy(context), CUDA_SUCCESS);
}

/* Captures a blocking stream, such as cudaStreamCreate() makes. Meanwhile the default stream cannot be used. */
TEST_WITH(stream_capture_of_a_blocking_stream_keeps_plain_calls_out, set_up, tear_down)
{
    need_any_gpu();
    CUstream blocking;
    struct cf__driver const *driver = other_library();
    CUcontext context, popped;
    int is_capturing = 77;
    float read[COUNT];
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPushCurrent(context), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamCreate(&blocking, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    assert_ok(cf_stream_capture_begin(stream));
    cf_graph_exec exec = end_and_instantiate();
    run(exec, NULL);
    assert_ok(cf_stream_capture_begin(blocking));
    const char *why = "the default stream cannot be used while a stream that is ordered with it is captured";
    assert_fails(cf_mem_copy(read, result, BYTES), CF_ECAPTURE, why);
    assert_fails(cf_mem_copy_2d(read, 10, result, 10, 5, 10), CF_ECAPTURE, why);
    assert_fails(cf_mem_fill(result, 1, BYTES), CF_ECAPTURE, why);
    assert_fails(cf_stream_sync(NULL), CF_ECAPTURE, why);
    assert_fails(cf_stream_query(NULL), CF_ECAPTURE, why);
    assert_int_equal(cf_stream_is_capturing(NULL, &is_capturing), CF_ECAPTURE);
    assert_int_equal(is_capturing, 77);
    assert_int_equal(cf_graph_launch(exec, NULL), CF_ECAPTURE);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(gather(blocking));
    cf_graph graph;
    assert_ok(cf_stream_capture_end(blocking, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    run(exec, NULL);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_stream_destroy(blocking));
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

/* Captures a graph, runs it and checks the result; returns the number of errors. */
static void *capture_and_run(void *unused)
{
    intptr_t wrong = 0;
    (void)unused;
    for (int round = 0; round < 20; round++) {
        cf_stream own = NULL;
        cf_graph graph = NULL;
        cf_graph_exec exec = NULL;
        void *memory = NULL;
        unsigned char read[300] = {0};
        wrong += cf_mem_alloc(&memory, sizeof read) != CF_OK || cf_stream_create(&own) != CF_OK;
        wrong += cf_stream_capture_begin(own) != CF_OK;
        wrong += cf_mem_fill_async(own, memory, (unsigned char)(round + 1), sizeof read) != CF_OK;
        wrong += cf_mem_copy_async(own, read, memory, sizeof read) != CF_OK;
        wrong += cf_stream_capture_end(own, &graph) != CF_OK || cf_graph_instantiate(&exec, graph) != CF_OK;
        wrong += read[0] != 0;
        wrong += cf_graph_launch(exec, own) != CF_OK || cf_stream_sync(own) != CF_OK;
        for (size_t i = 0; i < sizeof read; i++)
            wrong += read[i] != round + 1;
        wrong += cf_graph_exec_destroy(exec) != CF_OK || cf_graph_destroy(graph) != CF_OK;
        wrong += cf_stream_destroy(own) != CF_OK || cf_mem_free(memory) != CF_OK;
    }
    return (void *)wrong;
}

TEST_WITH(stream_capture_8_threads_at_once_are_apart, set_up, tear_down)
{
    run_threads(8, capture_and_run);
}

/* If a reset ended a capture, the capture must not block the device afterwards. */
TEST_WITH(device_reset_ends_captures, set_up, tear_down)
{
    int device;
    assert_ok(cf_device_current(&device));
    assert_ok(cf_stream_capture_begin(stream));
    assert_int_equal(cf_device_sync(), CF_ECAPTURE);
    assert_ok(cf_device_reset(device));
    assert_ok(cf_device_sync());
    source = result = NULL; /* the reset has freed them, too */
    index_ = NULL;
    stream = other = NULL;
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, nothing, end_library_empty);
}
