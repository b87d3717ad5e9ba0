/* test_reset.c - cf_device_reset(): handles from before the reset are refused, and the device works again if that is
 * possible. */
#include "played_gpu.h"

#include <cuferry/kernels.h>

#include "base/fast.h"
#include "driver/driver.h"
#include "context/enter.h"

/* ---- Objects on a device ---- */

struct things {
    void *memory;
    cf_stream stream;
    cf_event event;
    cf_graph graph;
    cf_graph_exec exec;
};

static int gather(void)
{
    static const float source[] = {1, 2, 3};
    static const int32_t index[] = {2, 0, 1, 2};
    static float res[4];
    memset(res, 0, sizeof res);
    int status = cf_gather_f32_i32(source, index, res, 4, 3);
    return status == CF_OK && !(res[0] == 3 && res[1] == 1 && res[2] == 2 && res[3] == 3) ? CF_ECALL : status;
}

static void make(struct things *things)
{
    assert_ok(cf_mem_alloc(&things->memory, 64));
    assert_ok(cf_stream_create(&things->stream));
    assert_ok(cf_event_create(&things->event));
    assert_ok(cf_event_record(things->event, things->stream));
    assert_ok(cf_stream_capture_begin(things->stream));
    assert_ok(cf_mem_fill_async(things->stream, things->memory, 1, 64));
    assert_ok(cf_stream_capture_end(things->stream, &things->graph));
    assert_ok(cf_graph_instantiate(&things->exec, things->graph));
    void *from_pool;
    assert_ok(cf_mem_alloc_async(things->stream, &from_pool, 64));
    assert_ok(cf_mem_free_async(things->stream, from_pool));
    assert_ok(cf_stream_sync(things->stream));
    assert_ok(gather());
}

static void use_and_destroy(const struct things *things)
{
    char host[64];
    assert_ok(cf_graph_launch(things->exec, things->stream));
    assert_ok(cf_event_record(things->event, things->stream));
    assert_ok(cf_event_sync(things->event));
    assert_ok(cf_mem_copy(host, things->memory, sizeof host));
    assert_int_equal(host[63], 1);
    assert_ok(cf_graph_exec_destroy(things->exec));
    assert_ok(cf_graph_destroy(things->graph));
    assert_ok(cf_event_destroy(things->event));
    assert_ok(cf_stream_destroy(things->stream));
    assert_ok(cf_mem_free(things->memory));
}

/* Expects that each call with one of these handles refuses it. */
static void expect_stale(const struct things *things, const char *detail)
{
    float milliseconds;
    int number;
    void *memory;
    cf_stream stream;
    cf_event event;
    cf_graph graph;
    cf_graph_exec exec;
#define STALE(call) assert_fails(call, CF_EINVAL, detail)
    STALE(cf_stream_sync(things->stream));
    STALE(cf_stream_query(things->stream));
    STALE(cf_stream_device(things->stream, &number));
    STALE(cf_stream_capture_begin(things->stream));
    STALE(cf_stream_capture_end(things->stream, &graph));
    STALE(cf_stream_is_capturing(things->stream, &number));
    STALE(cf_mem_alloc_async(things->stream, &memory, 64));
    STALE(cf_gather_f32_i32_async(things->stream, NULL, NULL, NULL, 0, 0));
    STALE(cf_event_sync(things->event));
    STALE(cf_event_query(things->event));
    STALE(cf_event_record(things->event, NULL));
    STALE(cf_stream_wait(NULL, things->event));
    STALE(cf_graph_instantiate(&exec, things->graph));
    STALE(cf_graph_launch(things->exec, NULL));
    STALE(cf_stream_destroy(things->stream));
    STALE(cf_event_destroy(things->event));
    STALE(cf_graph_destroy(things->graph));
    STALE(cf_graph_exec_destroy(things->exec));
    assert_ok(cf_stream_create(&stream));
    STALE(cf_event_record(things->event, stream));
    STALE(cf_graph_launch(things->exec, stream));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_event_create(&event));
    if (event != things->event) { /* unless the driver has reused the handle */
        STALE(cf_event_elapsed(&milliseconds, things->event, event));
        STALE(cf_event_elapsed(&milliseconds, event, things->event));
    }
    assert_ok(cf_event_destroy(event));
#undef STALE
}

static int fault(void)
{
    static float host[3];
    static const int32_t index[] = {2, 1, 0};
    int status = cf_gather_f32_i32_async(NULL, host, index, host, 3, 3); /* memory that the GPU cannot access */
    return status == CF_OK ? cf_device_sync() : status;
}

static int alive(void)
{
    char text[1024];
    return count_alive(text, sizeof text);
}

/* ---- On a GPU ---- */

FAKE_TEST(reset_takes_everything_away, "CF_DRIVER=cuda")
{
    struct things before, after;
    char detail[96];
    make(&before);
    assert_ok(cf_device_reset(0));
    assert_int_equal(alive(), 2); /* a context, and the image of the kernel, which does not belong to a context */
    snprintf(detail, sizeof detail, "cf_stream_sync: stream %p was of device 0 before its reset",
             (void *)before.stream);
    assert_fails(cf_stream_sync(before.stream), CF_EINVAL, detail);
    expect_stale(&before, " was of device 0 before its reset, and went with that");
    assert_fails(cf_mem_free(before.memory), CF_EINVAL, "cf_mem_free");
    for (int i = 0; i < 3; i++) {
        make(&after);
        use_and_destroy(&after);
        assert_ok(cf_device_reset(0));
    }
}

/* Memory of a pool belongs to no context, so the caller can still free it. */
FAKE_TEST(reset_leaves_memory_of_the_pool_to_the_caller, "CF_DRIVER=cuda")
{
    char host[64];
    void *memory, *plain;
    cf_stream stream;
    assert_ok(cf_mem_alloc_async(NULL, &memory, 64));
    assert_ok(cf_mem_fill(memory, 7, 64));
    assert_ok(cf_device_reset(0));
    assert_ok(cf_mem_alloc(&plain, 64));
    assert_true(plain != memory);
    assert_ok(cf_mem_copy(host, memory, 64));
    assert_int_equal(host[63], 7);
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_fill_async(stream, memory, 8, 64));
    assert_ok(cf_mem_free_async(stream, memory));
    assert_ok(cf_stream_sync(stream));

    assert_ok(cf_mem_alloc_async(stream, &memory, 64));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_device_reset(0));
    assert_ok(cf_mem_free(memory));
    assert_fails(cf_mem_free(memory), CF_EINVAL, "cf_mem_free: ");
}

FAKE_TEST(reset_gives_the_same_address_to_another_context, "CF_DRIVER=cuda")
{
    struct cf__scope before, after;
    unsigned long long id_before, id_after;
    assert_ok(gather());
    assert_ok(cf__enter_device(&before, "test", 0));
    assert_int_equal(before.driver->cuCtxGetId(before.context, &id_before), CUDA_SUCCESS);
    cf__leave(&before);
    assert_ok(cf_device_reset(0));
    assert_ok(gather());
    assert_ok(gather());
    assert_ok(cf__enter_device(&after, "test", 0));
    assert_int_equal(after.driver->cuCtxGetId(after.context, &id_after), CUDA_SUCCESS);
    cf__leave(&after);
    assert_ptr_equal(after.context, before.context);
    assert_true(id_after != id_before);
}

FAKE_TEST(reset_of_one_device_leaves_the_other, "CF_DRIVER=cuda")
{
    struct things of_0, of_1;
    make(&of_0);
    assert_ok(cf_device_use(1));
    make(&of_1);
    assert_ok(cf_device_reset(0));
    use_and_destroy(&of_1);
    assert_ok(gather());
    assert_ok(cf_device_use(0));
    expect_stale(&of_0, "was of device 0 before its reset");
    assert_ok(gather());
    assert_ok(cf_device_use(1));
    make(&of_1);
    assert_ok(cf_device_reset(1));
    expect_stale(&of_1, "was of device 1 before its reset");
}

FAKE_TEST(reset_of_a_device_not_in_use_starts_nothing, "CF_DRIVER")
{
    assert_ok(cf_device_reset(1));
    assert_ok(cf_device_reset(0));
    assert_int_equal(alive(), 0);
    assert_ok(gather());
}

FAKE_TEST(reset_of_another_librarys_context_takes_it_away, "CF_DRIVER")
{
    const struct cf__driver *driver = other_library();
    CUcontext theirs, now;
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&theirs, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPushCurrent(theirs), CUDA_SUCCESS);
    CUdeviceptr memory;
    assert_int_equal(driver->cuMemAlloc(&memory, 64), CUDA_SUCCESS);
    assert_ok(cf_device_use(0));
    assert_ok(cf_device_reset(0));
    assert_int_equal(driver->cuCtxGetCurrent(&now), CUDA_SUCCESS);
    assert_ptr_equal(now, theirs);
    assert_int_not_equal(driver->cuMemFree(memory), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&now), CUDA_SUCCESS);
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS); /* the reset has not released the context */
    assert_int_equal(alive(), 0);
    assert_ok(gather());
}

FAKE_TEST(reset_leaves_the_current_context, "CF_DRIVER")
{
    const struct cf__driver *driver = other_library();
    CUcontext own, now;
    assert_int_equal(context_create(&own, 0, 1), CUDA_SUCCESS);
    assert_ok(cf_device_use(0));
    assert_ok(gather());
    assert_ok(cf_device_reset(0));
    assert_int_equal(driver->cuCtxGetCurrent(&now), CUDA_SUCCESS);
    assert_ptr_equal(now, own);
    assert_int_equal(context_destroy(own), CUDA_SUCCESS);
}

FAKE_TEST(reset_bad_number_is_no_device, "CF_DRIVER")
{
    assert_fails(cf_device_reset(-2), CF_ENODEV, "cf_device_reset: device -2");
    assert_fails(cf_device_reset(2), CF_ENODEV, "cf_device_reset: device 2: there are 2 GPUs");
    assert_fails(cf_device_reset(INT_MAX), CF_ENODEV, "cf_device_reset");
}

/* ---- After a fault ---- */

/* Uses device 1, then device 0. Returns memory on device 1. */
static void *use_both_devices(void)
{
    void *there;
    assert_ok(cf_device_use(1));
    assert_ok(cf_mem_alloc(&there, 64));
    assert_ok(cf_device_use(0));
    return there;
}

static void count_losses(void *count, int level, const char *text)
{
    *(int *)count +=
        level == CF_LOG_INFO && strstr(text, "the context of device 0 was lost to a fault while cf_gather_");
}

FAKE_TEST(reset_after_a_fault_makes_the_device_usable, "CF_DRIVER=cuda", "FAKE_CUDA=reset=1,alone=1")
{
    int losses = 0;
    struct things things;
    void *there = use_both_devices();
    for (int i = 0; i < 3; i++) {
        make(&things);
        cf_set_log(count_losses, &losses);
        assert_int_equal(fault(), CF_EFAULT);
        assert_fails(gather(), CF_EFAULT, "cf_gather_f32_i32: device 0's context was lost to a fault while ");
        cf_set_log(NULL, NULL);
        assert_int_equal(losses, i + 1);
        assert_ok(cf_mem_fill(there, 0, 64)); /* the other device still works */
        assert_ok(cf_device_reset(0));
        expect_stale(&things, "was of device 0 before its reset");
        make(&things);
        use_and_destroy(&things);
    }
    assert_ok(cf_mem_free(there));
}

FAKE_TEST(lost_context_that_another_library_resets_is_gone, "CF_DRIVER=cuda", "FAKE_CUDA=reset=1,alone=1")
{
    struct things things;
    void *there = use_both_devices();
    for (int i = 0; i < 3; i++) {
        make(&things);
        assert_int_equal(fault(), CF_EFAULT);
        assert_fails(cf_stream_sync(things.stream), CF_EFAULT, "lost to a fault");
        assert_int_equal(other_library()->cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
        if (i == 1) /* other calls that may come first */
            assert_ok(cf_mem_fill(there, 0, 64));
        if (i == 2)
            expect_stale(&things, "was of device 0 before");
        assert_ok(gather());
        assert_false(cf__gpu_state() & CF__GPU_LOST);
        if (i < 2)
            expect_stale(&things, "was of device 0 before");
        make(&things);
        use_and_destroy(&things);
    }
    assert_ok(cf_mem_free(there));
}

static void expect_lost(const char *detail)
{
    void *memory;
    char host[8];
    int least, greatest;
    cf_stream stream;
    cf_event event;
    for (int i = 0; i < 2; i++) {
        assert_fails(cf_device_reset(0), CF_EFAULT, detail);
        assert_fails(gather(), CF_EFAULT, "lost to a fault");
        assert_fails(cf_mem_alloc(&memory, 64), CF_EFAULT, "lost to a fault");
        assert_fails(cf_device_sync(), CF_EFAULT, "lost to a fault");
        assert_fails(cf_stream_priorities(&least, &greatest), CF_EFAULT, "lost to a fault");
        assert_fails(cf_stream_create(&stream), CF_EFAULT, "lost to a fault");
        assert_fails(cf_event_create(&event), CF_EFAULT, "lost to a fault");
    }
    assert_ok(cf_device_use(1));
    assert_fails(gather(), CF_EFAULT, "lost to a fault"); /* the fault has made all devices unusable */
    assert_ok(cf_device_use(CF_HOST));
    assert_ok(gather());
    assert_ok(cf_mem_copy(host, "1234567", 8));
}

FAKE_TEST(reset_that_the_driver_refuses_is_a_fault, "CF_DRIVER=cuda")
{
    struct things things;
    make(&things);
    assert_int_equal(fault(), CF_EFAULT);
    expect_lost("cf_device_reset: device 0: cuDevicePrimaryCtxReset returned 700 ");
}

FAKE_TEST(reset_that_does_not_help_is_a_fault, "CF_DRIVER=cuda", "FAKE_CUDA=reset=2")
{
    struct things things;
    make(&things);
    assert_int_equal(fault(), CF_EFAULT);
    expect_lost("cf_device_reset: device 0: cuDevicePrimaryCtxRetain returned 700 ");
}

FAKE_TEST(reset_that_does_not_help_advises_no_other_reset, "CF_DRIVER=cuda", "FAKE_CUDA=reset=2")
{
    struct things things;
    (void)use_both_devices();
    make(&things);
    assert_int_equal(fault(), CF_EFAULT);
    assert_fails(cf_device_reset(0), CF_EFAULT, "cf_device_reset: device 0: cuDevicePrimaryCtxRetain returned 700 ");
    assert_null(strstr(cf_last_error(), "cf_device_reset(1)"));
    expect_lost("; a context of this process was lost to a fault while cf_gather_f32_i32 was running");
    assert_ok(cf_device_use(1));
    assert_fails(gather(), CF_EFAULT, "device 1's context was lost to a fault while cf_gather_f32_i32 was running");
}

/* ---- A lost context ---- */

FAKE_TEST(lost_context_is_reported_by_every_call, "CF_DRIVER=cuda")
{
    struct things things;
    char host[64];
    void *memory;
    int number;
    cf_stream stream;
    cf_event event;
    const char *detail =
        "device 0's context was lost to a fault while cf_gather_f32_i32 was running; cf_device_reset(0) "
        "may make the device usable again, ending the process does";
    make(&things);
    assert_ok(cf_device_sync());
    assert_fails(fault(), CF_EFAULT, detail);
    assert_fails(cf_device_sync(), CF_EFAULT, detail);
    assert_fails(cf_mem_alloc(&memory, 64), CF_EFAULT, detail);
    assert_fails(cf_mem_alloc_pinned(&memory, 64), CF_EFAULT, detail);
    assert_fails(cf_mem_alloc_async(NULL, &memory, 64), CF_EFAULT, detail);
    assert_fails(cf_mem_copy(host, things.memory, 64), CF_EFAULT, "lost to a fault");
    assert_fails(cf_mem_fill(things.memory, 0, 64), CF_EFAULT, "lost to a fault");
    assert_fails(cf_mem_free(things.memory), CF_EFAULT, "lost to a fault");
    assert_fails(gather(), CF_EFAULT, detail);
    assert_fails(cf_gather_f32_i32_async(NULL, things.memory, things.memory, things.memory, 1, 1), CF_EFAULT, detail);
    assert_fails(cf_stream_create(&stream), CF_EFAULT, detail);
    assert_fails(cf_stream_sync(things.stream), CF_EFAULT, detail);
    assert_fails(cf_stream_query(things.stream), CF_EFAULT, detail);
    assert_fails(cf_stream_destroy(things.stream), CF_EFAULT, detail);
    assert_fails(cf_event_create(&event), CF_EFAULT, detail);
    assert_fails(cf_event_sync(things.event), CF_EFAULT, detail);
    assert_fails(cf_event_query(things.event), CF_EFAULT, detail);
    assert_fails(cf_graph_launch(things.exec, things.stream), CF_EFAULT, detail);
    assert_ok(cf_device_current(&number)); /* the device is still the thread's */
    assert_int_equal(number, 0);
    assert_ok(cf_device_use(CF_HOST));
    assert_fails(cf_mem_copy(host, things.memory, 64), CF_EFAULT, "lost to a fault"); /* not CPU memory */
    assert_ok(cf_mem_copy(host, "1234567", 8));
    assert_ok(gather());
    assert_ok(cf_device_use(0));
    assert_fails(gather(), CF_EFAULT, detail);
}

/* ---- On the CPU ---- */

TEST(reset_of_the_cpu_frees_everything)
{
    struct things things, after;
    int before;
    assert_ok(cf_device_current(&before));
    assert_ok(cf_device_use(CF_HOST));
    make(&things);
    assert_ok(cf_device_reset(CF_HOST));
    expect_stale(&things, "");
    assert_fails(cf_mem_free(things.memory), CF_EINVAL, "cf_mem_free");
    make(&after);
    expect_stale(&things, "");
    use_and_destroy(&after);
    assert_ok(cf_device_use(before));
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, end_library_empty);
}
