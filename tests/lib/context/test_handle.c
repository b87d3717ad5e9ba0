/* test_handle.c - records of handles: who owns a handle that the driver reuses, handles that a reset or cf_shutdown()
 * destroyed, and the devices of other libraries' handles. */
#include "handmade_kernel.h"

#include <pthread.h>

#include "base/fast.h"
#include "driver/driver.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "context/handle.h"

/* ---- A driver that gives a destroyed handle to another thread at once, or fails to destroy a handle ---- */

static CUresult (*real_create)(CUstream *, unsigned int), (*real_destroy)(CUstream);
static CUresult (*real_destroy_event)(CUevent);
static CUstream stash;         /* the stream that cuStreamDestroy() did not destroy */
static int stashes;            /* 1: cuStreamDestroy() stores the stream and runs a thread that creates a stream */
static CUresult destroy_fails; /* not CUDA_SUCCESS: cuStreamDestroy() and cuEventDestroy() only return it */
static cf_stream made_meanwhile;

static CUresult create(CUstream *stream, unsigned int flags)
{
    if (!stash)
        return real_create(stream, flags);
    *stream = stash;
    stash = NULL;
    return CUDA_SUCCESS;
}

static void *create_there(void *unused)
{
    (void)unused;
    return cf_stream_create(&made_meanwhile) == CF_OK ? NULL : (void *)"no stream";
}

static CUresult destroy(CUstream stream)
{
    pthread_t thread;
    void *wrong = NULL;
    if (destroy_fails != CUDA_SUCCESS || !stashes)
        return destroy_fails != CUDA_SUCCESS ? destroy_fails : real_destroy(stream);
    stash = stream;
    return pthread_create(&thread, NULL, create_there, NULL) || pthread_join(thread, &wrong) || wrong
               ? CUDA_ERROR_UNKNOWN
               : CUDA_SUCCESS;
}

static CUresult destroy_event(CUevent event)
{
    return destroy_fails != CUDA_SUCCESS ? destroy_fails : real_destroy_event(event);
}

__attribute__((visibility("default"))) const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    static struct cf__driver wrapped;
    if (driver->is_cpu)
        return driver;
    wrapped = *driver;
    real_create = driver->cuStreamCreate;
    real_destroy = driver->cuStreamDestroy;
    real_destroy_event = driver->cuEventDestroy;
    wrapped.cuStreamCreate = create;
    wrapped.cuStreamDestroy = destroy;
    wrapped.cuEventDestroy = destroy_event;
    return &wrapped;
}

static cf_stream new_stream(void)
{
    cf_stream stream = NULL;
    assert_ok(cf_stream_create(&stream));
    return stream;
}

/* ---- Reused handles ---- */

FAKE_TEST(handle_given_anew_while_it_is_destroyed_is_remembered, "CF_DRIVER=cuda")
{
    cf_stream own = new_stream();
    stashes = 1;
    assert_ok(cf_stream_destroy(own));
    stashes = 0;
    assert_ptr_equal(made_meanwhile, own);
    assert_ok(cf_stream_sync(own));
    assert_ok(cf_device_reset(0)); /* makes a record that the stream is on device 0 */
    assert_fails(cf_stream_sync(own), CF_EINVAL, "was of device 0 before its reset, and went with that");
}

FAKE_TEST(handle_given_anew_after_a_reset_is_fresh, "CF_DRIVER=cuda")
{
    cf_stream before[64], again;
    int is_again = 0;
    for (int i = 0; i < 64; i++)
        assert_ok(cf_stream_create(&before[i]));
    assert_ok(cf_device_reset(0));
    for (int i = 0; i < 64; i++) {
        assert_ok(cf_stream_create(&again));
        assert_ok(cf_stream_sync(again));
        for (int j = 0; j < 64; j++)
            is_again += again == before[j];
        assert_ok(cf_stream_destroy(again));
    }
    assert_true(is_again > 0 || SANITIZED); /* otherwise the test was not effective */
}

FAKE_TEST(handle_that_cannot_be_destroyed_is_remembered, "CF_DRIVER=cuda")
{
    char detail[96];
    cf_event marked;
    cf_stream own = new_stream();
    assert_ok(cf_event_create(&marked));
    destroy_fails = CUDA_ERROR_UNKNOWN;
    snprintf(detail, sizeof detail, "cf_stream_destroy: stream %p: cuStreamDestroy returned 999 ", (void *)own);
    assert_fails(cf_stream_destroy(own), CF_ECALL, detail);
    snprintf(detail, sizeof detail, "cf_event_destroy: event %p: cuEventDestroy returned 999 ", (void *)marked);
    assert_fails(cf_event_destroy(marked), CF_ECALL, detail);
    destroy_fails = CUDA_SUCCESS;
    assert_ok(cf_device_reset(0));
    assert_fails(cf_stream_sync(own), CF_EINVAL, "was of device 0 before its reset");
    assert_fails(cf_event_sync(marked), CF_EINVAL, "was of device 0 before its reset");
}

/* The graph's device counts, not the thread's device at the time of the instantiation. */
FAKE_TEST(executable_graph_is_of_the_graphs_device, "CF_DRIVER=cuda")
{
    cf_graph graph;
    cf_graph_exec exec;
    cf_stream here = new_stream();
    assert_ok(cf_device_use(1));
    cf_stream there = new_stream();
    assert_ok(cf_stream_capture_begin(there));
    assert_ok(cf_stream_capture_end(there, &graph));
    assert_ok(cf_device_use(0));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_device_reset(0));
    assert_fails(cf_stream_sync(here), CF_EINVAL, "was of device 0 before its reset");
    assert_ok(cf_graph_launch(exec, there));
    assert_ok(cf_stream_sync(there));
    assert_ok(cf_device_reset(1));
    char detail[96];
    snprintf(detail, sizeof detail, "cf_graph_launch: exec %p was of device 1 before its reset", (void *)exec);
    assert_fails(cf_graph_launch(exec, NULL), CF_EINVAL, detail);
    assert_fails(cf_graph_exec_destroy(exec), CF_EINVAL, "was of device 1 before its reset");
}

/* ---- The table of records ---- */

static char addresses[1 << 16];
static struct CUctx_st {
    int unused;
} context;
static const struct cf__driver no_driver; /* never called */
static const struct cf__scope place = {.driver = &no_driver, .context = &context};

TEST(record_of_a_later_owner_stays)
{
    char *handle = addresses;
    assert_ptr_equal(cf__handle_add(&place, CF__STREAM, handle), handle);
    unsigned int serial = cf__handle_serial(CF__STREAM, handle);
    assert_int_not_equal(serial, 0);
    cf__handle_add(&place, CF__STREAM, handle); /* the record of the handle's next owner */
    assert_int_not_equal(cf__handle_serial(CF__STREAM, handle), serial);
    cf__handle_remove(CF__STREAM, handle, serial);
    assert_int_not_equal(cf__handle_serial(CF__STREAM, handle), 0);
    cf__handle_remove(CF__STREAM, handle, cf__handle_serial(CF__STREAM, handle));
    assert_int_equal(cf__handle_serial(CF__STREAM, handle), 0);
    cf__handle_remove(CF__STREAM, handle, 0); /* this call removes nothing */
    cf__handle_remove(CF__STREAM, handle, serial);
    cf__handle_add(&place, CF__STREAM, handle);
    cf__handle_remove(CF__STREAM, handle, 0); /* serial 0 means that there was no record, so this one must be kept */
    assert_int_not_equal(cf__handle_serial(CF__STREAM, handle), 0);
    cf__handle_remove(CF__STREAM, handle, cf__handle_serial(CF__STREAM, handle));
}

TEST(record_of_another_kind_at_the_same_address_stays)
{
    char *handle = addresses;
    cf__handle_add(&place, CF__GRAPH_EXEC, handle);
    cf__handles_reset(&context, 0);
    cf__handle_add(&place, CF__STREAM, handle);
    assert_fails(cf__handle_check("f", "h", CF__GRAPH_EXEC, handle), CF_EINVAL, "was of device 0 before its reset");
    assert_ok(cf__handle_check("f", "h", CF__STREAM, handle));
    cf__handle_remove(CF__STREAM, handle, cf__handle_serial(CF__STREAM, handle));
    assert_fails(cf__handle_check("f", "h", CF__GRAPH_EXEC, handle), CF_EINVAL, "was of device 0 before its reset");
    cf__handle_remove(CF__GRAPH_EXEC, handle, cf__handle_serial(CF__GRAPH_EXEC, handle));
    assert_ok(cf__handle_check("f", "h", CF__GRAPH_EXEC, handle));
}

/* Compares the table with a list while the table grows and has runs of adjacent records. */
TEST(records_many_are_each_found)
{
    enum { COUNT = 5000 };
    static unsigned int serials[COUNT];
    static unsigned short seed[3] = {1, 2, 3};
    for (int round = 0; round < 60000; round++) {
        int i = (int)(nrand48(seed) % COUNT);
        char *handle = addresses + 8 * i;
        assert_int_equal(cf__handle_serial(CF__STREAM, handle), serials[i]);
        if (serials[i] && round % 3) {
            cf__handle_remove(CF__STREAM, handle, serials[i]);
            serials[i] = 0;
        } else {
            cf__handle_add(&place, CF__STREAM, handle);
            serials[i] = cf__handle_serial(CF__STREAM, handle);
        }
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(cf__handle_serial(CF__STREAM, addresses + 8 * i), serials[i]);
        cf__handle_remove(CF__STREAM, addresses + 8 * i, serials[i]);
    }
}

TEST(records_of_memory_hold_its_range)
{
    cf__handle_add_memory(&place, addresses + 100, 50);
    cf__handle_add(&place, CF__STREAM, addresses + 200);
    for (int i = 0; i < 300; i++)
        assert_int_equal(cf__handle_is_memory(addresses + i), i >= 100 && i < 150);
    cf__handle_remove(CF__PAGE_LOCKED, addresses + 100, cf__handle_serial(CF__PAGE_LOCKED, addresses + 100));
    cf__handle_remove(CF__STREAM, addresses + 200, cf__handle_serial(CF__STREAM, addresses + 200));
    assert_int_equal(cf__handle_is_memory(addresses + 120), 0);
}

/* All handles of the latest reset are recorded. Handles of earlier resets are kept only up to the limit of the
 * table. */
FAKE_TEST(handles_that_went_with_resets_do_not_pile_up, "CF_DRIVER=cuda")
{
    enum { EACH = 1500, RESETS = 20, MOST = 8192 };
    assert_ok(cf_require(CF_CUDA));
    for (int reset = 0; reset < RESETS; reset++) {
        for (int i = 0; i < EACH; i++)
            cf__handle_add(&place, CF__STREAM, addresses + reset * EACH + i);
        assert_int_equal(cf__gpu_state(), reset ? CF__GPU_OURS | CF__GPU_RESET : CF__GPU_OURS);
        cf__handles_reset(&context, 1);
        int known = 0;
        for (int i = 0; i < (reset + 1) * EACH; i++)
            known += cf__handle_serial(CF__STREAM, addresses + i) != 0;
        assert_true(known <= MOST);
        for (int i = 0; i < EACH; i++)
            assert_fails(cf__handle_check("test", "stream", CF__STREAM, addresses + reset * EACH + i), CF_EINVAL,
                         "was of device 1 before");
    }
    /* Once all of these handles have new owners, no call has to look for destroyed handles. */
    for (int i = 0; i < RESETS * EACH; i++)
        cf__handle_add(&place, CF__STREAM, addresses + i);
    assert_int_equal(cf__gpu_state(), CF__GPU_OURS);
    for (int i = 0; i < RESETS * EACH; i++)
        cf__handle_remove(CF__STREAM, addresses + i, cf__handle_serial(CF__STREAM, addresses + i));
}

enum { THREADS = 64, OWN = 128, SHARED = 8 };

/* Each thread adds and removes addresses of its own and addresses that all threads share. */
static void *keep_and_drop(void *number)
{
    char *own = addresses + (uintptr_t)number * OWN, *shared = addresses + THREADS * OWN;
    unsigned short seed[3] = {(unsigned short)(uintptr_t)number, 2, 3};
    unsigned int serials[OWN] = {0};
    for (int round = 0; round < 4000; round++) {
        int i = (int)(nrand48(seed) % OWN);
        if (cf__handle_serial(CF__STREAM, own + i) != serials[i])
            return (void *)"a record is not the one that was made";
        if (serials[i])
            cf__handle_remove(CF__STREAM, own + i, serials[i]);
        else
            cf__handle_add(&place, CF__STREAM, own + i);
        serials[i] = serials[i] ? 0 : cf__handle_serial(CF__STREAM, own + i);
        if (i < SHARED) {
            unsigned int before = cf__handle_serial(CF__STREAM, shared + i);
            cf__handle_add(&place, CF__STREAM, shared + i);
            cf__handle_remove(CF__STREAM, shared + i, before);
            if (cf__handle_check("test", "stream", CF__STREAM, shared + i) != CF_OK)
                return (void *)"a record that is not stale is refused";
        }
    }
    for (int i = 0; i < OWN; i++)
        cf__handle_remove(CF__STREAM, own + i, serials[i]);
    return NULL;
}

TEST(records_under_64_threads_are_each_ones_own)
{
    pthread_t threads[THREADS];
    void *wrong;
    for (uintptr_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, keep_and_drop, (void *)t), 0);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], &wrong), 0);
        if (wrong)
            fail_msg("%s", (char *)wrong);
    }
    for (int i = 0; i < THREADS * OWN; i++)
        assert_int_equal(cf__handle_serial(CF__STREAM, addresses + i), 0);
}

/* ---- Handles and memory on another device must not initialize the thread's device ---- */

struct foreign {
    CUcontext context;
    CUstream stream;
    CUevent start, stop;
    CUgraph graph;
};

static int is_started(int device)
{
    unsigned int flags;
    int is_active = -1;
    assert_int_equal(other_library()->cuDevicePrimaryCtxGetState(device, &flags, &is_active), CUDA_SUCCESS);
    return is_active;
}

FAKE_TEST(own_handles_of_another_device_start_none, "CF_DRIVER=cuda")
{
    cf_event start, stop;
    cf_graph graph;
    cf_graph_exec exec;
    void *allocated, *pooled;
    float elapsed;
    char host[64];
    assert_ok(cf_device_use(1));
    cf_stream there = new_stream();
    assert_ok(cf_event_create(&start));
    assert_ok(cf_event_create(&stop));
    assert_ok(cf_mem_alloc(&allocated, 64));
    assert_ok(cf_mem_alloc_async(there, &pooled, 64));
    assert_ok(cf_device_use(0));
    assert_ok(cf_stream_capture_begin(there));
    assert_ok(cf_mem_fill_async(there, allocated, 7, 64));
    assert_ok(cf_stream_capture_end(there, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_event_record(start, there));
    assert_ok(cf_graph_launch(exec, there));
    assert_ok(cf_event_record(stop, there));
    assert_ok(cf_event_sync(stop));
    assert_ok(cf_event_query(start));
    assert_ok(cf_event_elapsed(&elapsed, start, stop));
    assert_ok(cf_mem_copy(pooled, allocated, 64));
    assert_ok(cf_mem_copy(host, pooled, 64));
    assert_int_equal(host[63], 7);
    assert_ok(cf_mem_fill(pooled, 0, 64));
    assert_ok(cf_mem_free(pooled));
    assert_ok(cf_mem_free(allocated));
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_event_destroy(start));
    assert_ok(cf_event_destroy(stop));
    assert_ok(cf_stream_destroy(there));
    assert_int_equal(is_started(0), 0);
    assert_int_equal(is_started(1), 1);
}

static struct foreign make_foreign(int device);
static void use_and_destroy_foreign(const struct foreign *foreign);

/* The library has not used the device yet, and the thread has no current context. */
FAKE_TEST(foreign_handles_of_another_device_start_none, "CF_DRIVER=cuda")
{
    const struct foreign foreign = make_foreign(1);
    assert_ok(cf_device_use(0));
    use_and_destroy_foreign(&foreign);
    assert_int_equal(is_started(0), 0);
    assert_int_equal(other_library()->cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

/* Memory of a pool belongs to a device. It is used in the current context if that context is on the device, unless the
 * thread has chosen a device. */
FAKE_TEST(pooled_memory_is_used_in_the_current_context, "CF_DRIVER=cuda")
{
    const struct cf__driver *driver = other_library();
    CUcontext own;
    CUdeviceptr pooled;
    char host[64];
    assert_ok(cf_require(CF_CUDA));
    for (int chosen = 0; chosen < 2; chosen++) {
        assert_int_equal(context_create(&own, 0, 0), CUDA_SUCCESS);
        assert_int_equal(driver->cuMemAllocAsync(&pooled, sizeof host, NULL), CUDA_SUCCESS);
        assert_int_equal(driver->cuStreamSynchronize(NULL), CUDA_SUCCESS);
        if (chosen)
            assert_ok(cf_device_use(0));
        assert_ok(cf_mem_fill((void *)(uintptr_t)pooled, 7, sizeof host));
        assert_ok(cf_mem_copy(host, (void *)(uintptr_t)pooled, sizeof host));
        assert_int_equal(host[63], 7);
        assert_ok(cf_mem_free((void *)(uintptr_t)pooled));
        assert_int_equal(is_started(0), chosen);
        assert_int_equal(context_destroy(own), CUDA_SUCCESS);
    }
}

FAKE_TEST(handle_of_destroyed_context_is_reported_by_its_function, "CF_DRIVER=cuda")
{
    CUcontext own;
    cf_event of_own;
    assert_ok(cf_require(CF_CUDA));
    assert_int_equal(context_create(&own, 0, 0), CUDA_SUCCESS);
    assert_ok(cf_event_create(&of_own));
    assert_int_equal(other_library()->cuEventDestroy(of_own), CUDA_SUCCESS);
    assert_int_equal(context_destroy(own), CUDA_SUCCESS);
    assert_fails(cf_event_query(of_own), CF_EINVAL, "cf_event_query: cuCtxPushCurrent returned 201 ");
}

/* ---- Other libraries' handles while a device is lost ---- */

static int32_t unreachable;

static void write_one(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    (void)begin, (void)end;
    **(int32_t *const *)launch->args[0] += 1;
}

static const cf_expr one_element = FIXED(1);
static const cf_param params[] = {ARRAY_1D("y", int32_t, CF_I32, CF_INOUT, one_element)};
static struct made_image image;
#define K(kernel_name)                                                                                              \
    {                                                                                                               \
        MADE_KERNEL(kernel_name, image), .nparams = 1, .params = params,                                            \
                                         .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .cpu_body = write_one \
    }
static cf_state states[2];
static cf_kernel one = K("one"), two = K("two");
static const cf_kernel *const list[] = {&one, &two};
static cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 2, .kernels = list};

static int launch(const cf_kernel *kernel, cf_stream on, void *pointer)
{
    void *const args[] = {&pointer};
    return cf_launch(kernel, on, args);
}

static void lose_device_0(void)
{
    assert_ok(cf_device_use(0));
    assert_ok(launch(&one, NULL, &unreachable));
    assert_fails(cf_device_sync(), CF_EFAULT, "device 0's context was lost to a fault");
}

static struct foreign make_foreign(int device)
{
    struct foreign foreign;
    const struct cf__driver *driver = other_library();
    CUcontext popped;
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&foreign.context, device), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPushCurrent(foreign.context), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamCreate(&foreign.stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(driver->cuEventCreate(&foreign.start, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(driver->cuEventCreate(&foreign.stop, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(driver->cuEventRecord(foreign.start, foreign.stream), CUDA_SUCCESS);
    assert_int_equal(driver->cuEventRecord(foreign.stop, foreign.stream), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamBeginCapture(foreign.stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamEndCapture(foreign.stream, &foreign.graph), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    return foreign;
}

static void use_and_destroy_foreign(const struct foreign *foreign)
{
    cf_graph_exec exec;
    float elapsed = -1;
    assert_ok(cf_event_sync(foreign->stop));
    assert_ok(cf_event_query(foreign->start));
    assert_ok(cf_event_elapsed(&elapsed, foreign->start, foreign->stop));
    assert_true(elapsed >= 0);
    assert_ok(cf_graph_instantiate(&exec, foreign->graph));
    assert_ok(cf_graph_launch(exec, foreign->stream));
    assert_ok(cf_stream_sync(foreign->stream));
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(foreign->graph));
    assert_ok(cf_event_destroy(foreign->start));
    assert_ok(cf_event_destroy(foreign->stop));
    assert_ok(cf_stream_destroy(foreign->stream));
}

/* The thread's device is lost, but the library also uses the other device. */
FAKE_TEST(foreign_handles_of_a_device_in_use_outlive_a_fault_elsewhere, "CF_DRIVER=cuda", "FAKE_CUDA=alone=1")
{
    const struct foreign foreign = make_foreign(1);
    void *there;
    assert_ok(cf_device_use(1));
    assert_ok(cf_mem_alloc(&there, 64));
    assert_ok(cf_mem_free(there));
    lose_device_0();
    assert_fails(cf_device_sync(), CF_EFAULT, "cf_device_sync: device 0's context was lost");
    use_and_destroy_foreign(&foreign);
    assert_fails(cf_device_sync(), CF_EFAULT, "cf_device_sync: device 0's context was lost");
    assert_int_equal(other_library()->cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

/* The context of the other library is current on the thread, and Cuferry does not use the other device. */
FAKE_TEST(foreign_handles_of_the_current_context_outlive_a_fault_elsewhere, "CF_DRIVER=cuda", "FAKE_CUDA=alone=1")
{
    const struct cf__driver *driver = other_library();
    const struct foreign foreign = make_foreign(1);
    CUcontext now;
    lose_device_0();
    assert_int_equal(driver->cuCtxPushCurrent(foreign.context), CUDA_SUCCESS);
    use_and_destroy_foreign(&foreign);
    assert_int_equal(driver->cuCtxPopCurrent(&now), CUDA_SUCCESS);
    assert_ptr_equal(now, foreign.context);
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

/* All contexts that the library knows are lost, so the driver decides. */
FAKE_TEST(foreign_event_is_the_drivers_to_judge, "CF_DRIVER=cuda", "FAKE_CUDA=alone=1")
{
    const struct cf__driver *driver = other_library();
    const struct foreign lost = make_foreign(0), foreign = make_foreign(1);
    CUcontext popped;
    lose_device_0();
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPushCurrent(lost.context), CUDA_SUCCESS);
    assert_ok(cf_event_sync(foreign.stop));
    assert_ok(cf_event_query(foreign.stop));
    assert_fails(cf_event_sync(lost.stop), CF_EFAULT, "cuEventSynchronize returned 700");
    assert_fails(cf_event_sync(lost.stop), CF_EFAULT, "device 0's context was lost to a fault");
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    assert_ptr_equal(popped, lost.context);
    assert_ok(cf_device_use(1));
    use_and_destroy_foreign(&foreign);
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

/* ---- A fault's message does not name work that is known to be complete ---- */

static cf_stream stream;
static cf_event event;
static char *memory; /* device memory */

static void make_all(void)
{
    assert_ok(cf_event_create(&event));
    stream = new_stream();
    assert_ok(cf_mem_alloc((void **)&memory, 64));
    assert_ok(launch(&one, NULL, memory));
    assert_ok(launch(&two, NULL, memory)); /* loads both kernels; loading waits for enqueued work */
    assert_ok(cf_device_sync());
}

static void expect_fault_while(const char *running)
{
    char text[128];
    assert_ok(launch(&two, stream, &unreachable));
    snprintf(text, sizeof text, "device 0's context was lost to a fault while %s running; ", running);
    assert_fails(cf_device_sync(), CF_EFAULT, text);
}

FAKE_TEST(event_wait_means_that_what_is_before_it_is_done, "CF_DRIVER=cuda")
{
    make_all();
    assert_ok(launch(&one, stream, memory));
    assert_ok(cf_event_record(event, stream));
    assert_ok(cf_event_sync(event));
    expect_fault_while("made_two was");
}

FAKE_TEST(event_query_means_that_what_is_before_it_is_done, "CF_DRIVER=cuda")
{
    make_all();
    assert_ok(launch(&one, NULL, memory));
    assert_ok(cf_event_record(event, NULL));
    while (cf_event_query(event) == CF_ENOTREADY)
        ;
    expect_fault_while("made_two was");
}

FAKE_TEST(event_wait_completes_no_later_launch, "CF_DRIVER=cuda")
{
    make_all();
    assert_ok(cf_event_record(event, stream));
    assert_ok(launch(&one, stream, memory));
    assert_ok(cf_event_sync(event));
    expect_fault_while("one of made_one, made_two was");
}

FAKE_TEST(event_wait_says_nothing_of_other_streams, "CF_DRIVER=cuda")
{
    make_all();
    assert_ok(launch(&one, new_stream(), memory));
    assert_ok(cf_event_record(event, stream));
    assert_ok(cf_event_sync(event));
    expect_fault_while("one of made_one, made_two was");
}

static void *record_there(void *on)
{
    return cf_event_record(event, on) == CF_OK ? NULL : (void *)"the event is not recorded";
}

FAKE_TEST(event_that_another_thread_has_recorded_says_nothing, "CF_DRIVER=cuda")
{
    pthread_t thread;
    void *wrong;
    make_all();
    assert_ok(launch(&one, stream, memory));
    assert_ok(cf_event_record(event, stream));
    assert_int_equal(pthread_create(&thread, NULL, record_there, new_stream()), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    assert_ok(cf_event_sync(event));
    expect_fault_while("one of made_one, made_two was");
}

FAKE_TEST(copy_means_that_what_is_before_it_is_done, "CF_DRIVER=cuda")
{
    char host[64];
    make_all();
    assert_ok(launch(&one, NULL, memory));
    assert_ok(cf_mem_copy(host, memory, sizeof host));
    expect_fault_while("made_two was");
}

FAKE_TEST(large_copy_means_that_what_is_before_it_is_done, "CF_DRIVER=cuda")
{
    enum { LARGE = 4 << 20 };
    void *large;
    char *host = calloc(1, LARGE);
    assert_non_null(host);
    make_all();
    assert_ok(cf_mem_alloc(&large, LARGE));
    assert_ok(launch(&one, NULL, memory));
    assert_ok(cf_mem_copy(large, host, LARGE)); /* this copy goes through pinned buffers */
    expect_fault_while("made_two was");
    free(host);
}

FAKE_TEST(copy_2d_means_that_what_is_before_it_is_done, "CF_DRIVER=cuda")
{
    char host[64];
    make_all();
    assert_ok(launch(&one, NULL, memory));
    assert_ok(cf_mem_copy_2d(host, 8, memory, 8, 4, 8));
    expect_fault_while("made_two was");
}

FAKE_TEST(fill_means_that_what_is_before_it_is_done, "CF_DRIVER=cuda")
{
    make_all();
    assert_ok(launch(&one, NULL, memory));
    assert_ok(cf_mem_fill(memory, 0, 64));
    expect_fault_while("made_two was");
}

/* Without a pool, the asynchronous free waits for the stream; with a pool, cf_mem_free() waits for the device. */
FAKE_TEST(free_means_that_what_is_before_it_is_done, "CF_DRIVER=cuda")
{
    void *pooled;
    make_all();
    assert_ok(cf_mem_alloc_async(stream, &pooled, 64));
    assert_ok(launch(&one, stream, pooled));
    if (getenv("FAKE_CUDA"))
        assert_ok(cf_mem_free_async(stream, pooled));
    else
        assert_ok(cf_mem_free(pooled));
    expect_fault_while("made_two was");
}

/* ---- Handles of the CPU after cf_shutdown() ---- */

struct things {
    cf_stream stream;
    cf_event event;
    cf_graph graph;
    cf_graph_exec exec;
};

static void make_on_cpu(struct things *things)
{
    things->stream = new_stream();
    assert_ok(cf_event_create(&things->event));
    assert_ok(cf_stream_capture_begin(things->stream));
    assert_ok(cf_stream_capture_end(things->stream, &things->graph));
    assert_ok(cf_graph_instantiate(&things->exec, things->graph));
}

static void expect_given_back(const struct things *things)
{
    char detail[128];
    int number;
    float elapsed;
    cf_graph_exec exec;
    snprintf(detail, sizeof detail, "cf_stream_sync: stream %p was of CF_HOST, and was given back by cf_shutdown()",
             (void *)things->stream);
    assert_fails(cf_stream_sync(things->stream), CF_EINVAL, detail);
#define PAST(call) assert_fails(call, CF_EINVAL, " was of CF_HOST, and was given back by cf_shutdown()")
    PAST(cf_stream_query(things->stream));
    PAST(cf_stream_device(things->stream, &number));
    PAST(cf_stream_is_capturing(things->stream, &number));
    PAST(cf_stream_destroy(things->stream));
    PAST(cf_mem_fill_async(things->stream, &number, 0, sizeof number));
    PAST(cf_event_record(things->event, NULL));
    PAST(cf_event_sync(things->event));
    PAST(cf_event_query(things->event));
    PAST(cf_event_elapsed(&elapsed, things->event, things->event));
    assert_ptr_not_equal(strstr(cf_last_error(), "cf_event_elapsed: stop 0x"), NULL);
    PAST(cf_event_destroy(things->event));
    PAST(cf_stream_wait(NULL, things->event));
    assert_ptr_not_equal(strstr(cf_last_error(), "cf_stream_wait: event 0x"), NULL);
    PAST(cf_graph_instantiate(&exec, things->graph));
    PAST(cf_graph_launch(things->exec, NULL));
    assert_ptr_not_equal(strstr(cf_last_error(), "cf_graph_launch: exec 0x"), NULL);
    PAST(cf_graph_exec_destroy(things->exec));
    PAST(cf_graph_destroy(things->graph));
#undef PAST
}

static void *use_after_shutdown(void *unused)
{
    struct things before, again;
    (void)unused;
    assert_ok(cf_device_use(CF_HOST));
    make_on_cpu(&before);
    for (int i = 0; i < 3; i++) /* each slot has had several owners */
        assert_ok(cf_stream_destroy(new_stream()));
    for (int i = 0; i < 5; i++) {
        assert_ok(cf_shutdown());
        expect_given_back(&before);
        assert_ok(cf_device_use(CF_HOST));
        expect_given_back(&before);
        make_on_cpu(&again); /* these objects use the same slots */
        expect_given_back(&before);
        assert_ok(cf_stream_sync(again.stream));
        assert_ok(cf_event_record(again.event, again.stream));
        assert_ok(cf_graph_launch(again.exec, again.stream));
        assert_ok(cf_stream_destroy(again.stream));
        assert_fails(cf_stream_sync(again.stream), CF_EINVAL,
                     ": invalid resource handle"); /* another error: no record is left */
        before = again;
        before.stream = new_stream();
    }
    assert_ok(cf_shutdown());
    expect_given_back(&before);
    return NULL;
}

FAKE_TEST(handles_of_the_cpu_after_shutdown_are_refused, "CF_DRIVER=cuda")
{
    int device;
    assert_ok(cf_device_current(&device));
    (void)use_after_shutdown(NULL);
    assert_ok(cf_device_use(device));
}

int main(int argc, char *argv[])
{
    one.state = &states[0];
    two.state = &states[1];
    RUN_ALSO(free_means_that_what_is_before_it_is_done, "CF_DRIVER=cuda", "FAKE_CUDA=pools=0");
    RUN_ALSO(handles_of_the_cpu_after_shutdown_are_refused, "CF_DRIVER=host");
    make_image(&image, 11);
    return run_made(argc, argv, &module, NULL, end_library_empty);
}
