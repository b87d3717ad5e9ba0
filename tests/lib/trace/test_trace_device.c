/* test_trace_device.c - times on the device in traces: the rows of streams, work whose time is unknown, devices and
 * contexts. */
#include "counting_driver.h"
#include "trace_fixture.h"

#include "context/enter.h"

/* ---- Streams ---- */

TEST_WITH(trace_of_the_default_streams_has_a_row_for_each, set_up, tear_down)
{
    struct arrays arrays;
    make(&arrays);
    assert_ok(gather(NULL, &arrays));
    assert_ok(gather((cf_stream)1, &arrays));
    assert_ok(gather((cf_stream)2, &arrays));
    assert_ok(cf_device_sync());
    drop(&arrays);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 3);
    assert_int_equal(count("\"default stream\""), on_cuda() ? 1 : 0);
    assert_int_equal(count("\"default stream of thread "), on_cuda() ? 1 : 0);
}

TEST_WITH(trace_of_more_than_can_wait_loses_device_times_alone, set_up, tear_down)
{
    void *memory;
    cf_stream stream;
    enum { TIMES = 3300 };
    assert_ok(cf_mem_alloc(&memory, 64));
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < TIMES; i++)
        assert_ok(cf_mem_fill_async(stream, memory, 1, 64));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(memory));
    char alive[256];
    int is_fake = count_alive(alive, sizeof alive) >= 0;
    assert_ok(cf_shutdown());
    read_trace(path);
    int on_host = count("\"stream\": \"0x");
    assert_int_equal(on_host, TIMES);
    const char *at = strstr(text, "device times lost");
    int lost = 0;
    if (at)
        assert_int_equal(sscanf(strstr(at, "count"), "count\": %d", &lost), 1);
    if (is_fake)
        assert_true(lost > 0); /* a real GPU may be so fast that no times are lost */
    assert_int_equal(count("\"cat\": \"fill\""), on_cuda() ? 2 * TIMES - lost : TIMES);
}

TEST_WITH(trace_of_a_capture_has_the_graphs_times_alone, set_up, tear_down)
{
    struct arrays arrays;
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    make(&arrays);
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_capture_begin(stream));
    for (int i = 0; i < 4; i++)
        assert_ok(gather(stream, &arrays));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    for (int i = 0; i < 3; i++)
        assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
    drop(&arrays);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count("\"captured\": true"), 4);
    assert_int_equal(count(LAUNCH), 4);
    assert_int_equal(count(KERNEL), 0);
    assert_int_equal(count("\"name\": \"graph\", \"cat\": \"graph\""), 3);
    assert_int_equal(count("\"name\": \"instantiate a graph\""), 1);
    assert_int_equal(count("device times lost"), 0);
}

TEST_WITH(trace_takes_nothing_with_it, set_up, tear_down)
{
    work(50);
    assert_ok(cf_shutdown());
    assert_nothing_alive();
}

/* ---- Devices and contexts of the played GPU ---- */

FAKE_TEST(trace_of_two_gpus_has_a_process_for_each, "CF_DRIVER=cuda")
{
    assert_ok(cf_device_use(1));
    work(4);
    assert_ok(cf_device_use(0));
    work(3);
    assert_ok(cf_device_use(CF_HOST));
    work(2);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count("\"name\": \"GPU 0: "), 1);
    assert_int_equal(count("\"name\": \"GPU 1: "), 1);
    assert_int_equal(count(LAUNCH), 7);
    assert_int_equal(count(KERNEL), 9);
}

FAKE_TEST(trace_of_a_lost_context_tells_what_is_known, "CF_DRIVER=cuda")
{
    struct arrays arrays;
    float here[4];
    make(&arrays);
    assert_ok(gather(NULL, &arrays));
    assert_ok(cf_device_sync());
    assert_ok(cf_gather_f32_i32_async(NULL, here, arrays.index, arrays.res, N, M)); /* host memory, which is a fault */
    assert_int_equal(cf_device_sync(), CF_EFAULT);
    assert_int_equal(gather(NULL, &arrays), CF_EFAULT);
    assert_fails(cf_device_reset(0), CF_EFAULT, "cuDevicePrimaryCtxReset returned");
    int status = cf_shutdown();
    assert_true(status == CF_OK || status == CF_EFAULT);
    read_trace(path);
    assert_true(count(KERNEL) >= 1);
    assert_int_equal(count("device times lost"), 1);
}

FAKE_TEST(trace_of_contexts_that_are_gone_leaves_them_alone, "CF_DRIVER=cuda")
{
    CUcontext context, popped;
    const struct cf__driver *driver = other_library();
    CUdevice device;
    assert_int_equal(driver->cuInit(0), CUDA_SUCCESS);
    assert_int_equal(driver->cuDeviceGet(&device, 0), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(context_create(&context, 0, device), CUDA_SUCCESS);
        work(2);
        assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
        assert_int_equal(context_destroy(context), CUDA_SUCCESS);
    }
    work(2);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 8);
}

/* Nobody waits for this launch, and its times are lost with the device's memory. */
FAKE_TEST(trace_of_a_device_that_is_reset_loses_what_was_in_flight_alone, "CF_DRIVER=cuda", "FAKE_CUDA=reset=1")
{
    struct arrays arrays;
    cf_stream stream;
    work(2);
    make(&arrays);
    assert_ok(cf_stream_create(&stream));
    assert_ok(gather(stream, &arrays));
    assert_ok(cf_device_reset(0));
    work(3);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(LAUNCH), 6);
    assert_int_equal(count(KERNEL), 5);
    const char *lost = strstr(text, "device times lost");
    assert_non_null(lost);
    assert_int_equal(strncmp(strstr(lost, "count"), "count\": 1}", 10), 0);
}

/* Each call that the trace records fails in the driver. */
FAKE_TEST(trace_hands_every_failure_on, "CF_DRIVER=cuda")
{
    struct cf__scope scope;
    const CUlaunchConfig config = {.gridDimX = 1};
    const CUDA_MEMCPY2D rows = {.Height = 1};
    assert_ok(cf__enter(&scope, "test", NULL));
    assert_true(scope.driver != below);
#define EXPECT(name, arguments)                        \
    fail_calls(CALL_##name, CUDA_ERROR_NOT_SUPPORTED); \
    assert_int_equal(scope.driver->name arguments, CUDA_ERROR_NOT_SUPPORTED)
    EXPECT(cuLaunchKernel, (NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(cuLaunchKernelEx, (&config, NULL, NULL, NULL));
    EXPECT(cuGraphLaunch, (NULL, NULL));
    EXPECT(cuLaunchHostFunc, (NULL, NULL, NULL));
    EXPECT(cuMemcpy, (0, 0, 1));
    EXPECT(cuMemcpyAsync, (0, 0, 1, NULL));
    EXPECT(cuMemcpy2D, (&rows));
    EXPECT(cuMemcpy2DAsync, (&rows, NULL));
    EXPECT(cuMemcpyPeerAsync, (0, NULL, 0, NULL, 1, NULL));
    EXPECT(cuMemsetD8Async, (0, 0, 1, NULL));
    EXPECT(cuStreamSynchronize, (NULL));
    EXPECT(cuEventSynchronize, (NULL));
    EXPECT(cuCtxSynchronize, ());
    EXPECT(cuMemAlloc, (NULL, 1));
    EXPECT(cuMemFree, (0));
    EXPECT(cuMemHostAlloc, (NULL, 1, 0));
    EXPECT(cuMemFreeHost, (NULL));
    EXPECT(cuGraphInstantiateWithFlags, (NULL, NULL, 0));
    EXPECT(cuStreamDestroy, (NULL));
    EXPECT(cuDevicePrimaryCtxReset, (0));
#undef EXPECT
    fail_calls(CALL_cuMemcpy, CUDA_SUCCESS);
    cf__leave(&scope);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_true(count("\"result\": 801") >= 17);
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, set_up, tear_down);
}
