/* test_inflight.c - the kernels that a fault's message names: those that may have been running, and no others. A fault
 * makes devices unusable for the whole process, so each test has its own process. */
#include "stream/sync.h"
#include "handmade_kernel.h"

#include "open_plugin.h"

#include <pthread.h>

#include "driver/driver.h"
#include "context/context.h"
#include "context/enter.h"
#include "context/inflight.h"

/* ---- Kernels that write through their pointer, which is a fault if the GPU cannot access the memory ---- */

enum { KERNELS = 12 };
static const cf_expr one_element = FIXED(1);
static const cf_param params[] = {ARRAY_1D("y", int32_t, CF_I32, CF_INOUT, one_element)};

static void write_one(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    (void)begin, (void)end;
    **(int32_t *const *)launch->args[0] += 1;
}

static struct made_image image;
#define K(letter)                                                                                               \
    {                                                                                                           \
        MADE_KERNEL(#letter, image), .nparams = 1, .params = params,                                            \
                                     .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .cpu_body = write_one \
    }
static cf_kernel kernels[KERNELS] = {K(a), K(b), K(c), K(d), K(e), K(f), K(g), K(h), K(i), K(j), K(k), K(l)};
static const cf_kernel *list[KERNELS];
static cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = KERNELS, .kernels = list};

static void *good; /* memory that the GPU can access */

static int launch(int k, cf_stream stream)
{
    void *const args[] = {&good};
    return cf_launch(&kernels[k], stream, args);
}

static int launch_bad(int k, cf_stream stream)
{
    static int32_t elsewhere;
    void *bad = &elsewhere;
    void *const args[] = {&bad};
    return cf_launch(&kernels[k], stream, args);
}

static cf_stream new_stream(void)
{
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    return stream;
}

/* Expects that the next wait reports a fault with this text. */
static void expect_fault_while(const char *running)
{
    char text[400];
    snprintf(text, sizeof text, "device 0's context was lost to a fault while %s running; cf_device_reset(0) ",
             running);
    assert_fails(cf_device_sync(), CF_EFAULT, text);
    assert_non_null(strstr(cf_last_error(), "cf_device_sync: cuCtxSynchronize returned 700 "));
    assert_int_equal(cf_last_driver_result(), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_fails(cf_device_sync(), CF_EFAULT, text); /* later calls report the same */
    assert_memory_equal(cf_last_error(), "cf_device_sync: device 0's", 26);
}

static int set_up(void **state)
{
    int32_t zero = 0;
    (void)state;
    good = upload(&zero, sizeof zero);
    for (int k = KERNELS; k-- > 0;) /* loads the kernels; loading waits for enqueued work */
        assert_ok(launch(k, NULL));
    assert_ok(cf_device_sync());
    return 0;
}

/* ---- One thread ---- */

FAKE_TEST(fault_of_the_only_kernel_is_named, "CF_DRIVER=cuda")
{
    assert_ok(launch_bad(0, NULL));
    expect_fault_while("made_a was");
}

FAKE_TEST(fault_reported_by_a_plain_call_is_named, "CF_DRIVER=cuda")
{
    void *const args[] = {&good};
    assert_ok(launch_bad(0, NULL));
    assert_fails(cf_call(&kernels[1], args), CF_EFAULT, "while one of made_a, made_b was running; cf_device_reset(0)");
    assert_memory_equal(cf_last_error(), "made_b: ", 8);
    assert_fails(cf_call(&kernels[1], args), CF_EFAULT, "made_b: device 0's context was lost to a fault while one of ");
}

FAKE_TEST(fault_among_several_lists_them, "CF_DRIVER=cuda")
{
    assert_ok(launch(0, NULL));
    assert_ok(launch(2, NULL));
    assert_ok(launch(0, NULL));
    assert_ok(launch_bad(1, NULL));
    expect_fault_while("one of made_a, made_b, made_c was");
}

FAKE_TEST(fault_after_a_wait_for_the_stream_leaves_out_what_is_done, "CF_DRIVER=cuda")
{
    cf_stream first = new_stream(), second = new_stream();
    assert_ok(launch(0, first));
    assert_ok(launch(1, second));
    assert_ok(cf_stream_sync(first));
    assert_ok(launch_bad(2, first));
    expect_fault_while("one of made_b, made_c was");
}

FAKE_TEST(fault_after_a_query_that_is_done_leaves_out_what_is_done, "CF_DRIVER=cuda")
{
    cf_stream stream = new_stream();
    assert_ok(launch(0, stream));
    while (cf_stream_query(stream) == CF_ENOTREADY)
        ;
    assert_ok(launch_bad(1, stream));
    expect_fault_while("made_b was");
}

FAKE_TEST(fault_after_a_plain_call_leaves_it_out, "CF_DRIVER=cuda")
{
    int32_t on_host = 5, *pointer = &on_host;
    void *const args[] = {&pointer};
    assert_ok(cf_call(&kernels[0], args));
    assert_int_equal(on_host, 6);
    assert_ok(launch_bad(1, NULL));
    expect_fault_while("made_b was");
}

FAKE_TEST(fault_after_a_wait_for_the_device_leaves_out_all, "CF_DRIVER=cuda")
{
    for (int k = 0; k < KERNELS; k++) /* uses more streams than there are slots */
        assert_ok(launch(k, k % 2 ? NULL : new_stream()));
    assert_ok(cf_device_sync());
    assert_ok(launch_bad(11, NULL));
    expect_fault_while("made_l was");
}

FAKE_TEST(fault_among_too_many_says_so, "CF_DRIVER=cuda")
{
    for (int k = 0; k < KERNELS; k++)
        assert_ok(k == KERNELS - 1 ? launch_bad(k, NULL) : launch(k, NULL));
    assert_fails(cf_device_sync(), CF_EFAULT, "was lost to a fault while one of made_");
    assert_fails(cf_device_sync(), CF_EFAULT, " or others was running; ");
}

FAKE_TEST(fault_of_a_graph_is_named_so, "CF_DRIVER=cuda")
{
    cf_stream stream = new_stream();
    cf_graph graph;
    cf_graph_exec exec;
    assert_ok(launch(0, stream)); /* loads the kernel */
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(launch_bad(0, stream));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_device_sync());
    assert_ok(cf_graph_launch(exec, stream));
    expect_fault_while("a graph was");
}

/* Launches made_b on device 1, and made_a, which faults, on device 0. Returns memory of device 1. */
static void *fault_beside_device_1(void)
{
    void *there;
    assert_ok(cf_device_use(1));
    assert_ok(cf_mem_alloc(&there, 4));
    void *const args[] = {&there};
    assert_ok(cf_launch(&kernels[1], NULL, args));
    assert_ok(cf_device_use(0));
    assert_ok(launch_bad(0, NULL));
    return there;
}

FAKE_TEST(fault_on_one_device_does_not_name_the_others_kernels, "CF_DRIVER=cuda", "FAKE_CUDA=alone=1")
{
    void *there = fault_beside_device_1();
    expect_fault_while("made_a was");
    assert_ok(cf_device_use(1));
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_free(there));
}

/* The driver does not say on which device the fault was. */
FAKE_TEST(fault_that_loses_all_devices_names_the_kernels_of_all, "CF_DRIVER=cuda")
{
    (void)fault_beside_device_1();
    expect_fault_while("one of made_a, made_b was");
    assert_ok(cf_device_use(1));
    assert_fails(cf_device_sync(), CF_EFAULT,
                 "device 1's context was lost to a fault while one of made_a, made_b was running; cf_device_reset(1) ");
}

static void *sync_in(void *context)
{
    const struct cf__driver *driver = other_library();
    CUcontext popped;
    int is_right = driver->cuCtxPushCurrent(context) == CUDA_SUCCESS && cf_device_sync() == CF_EFAULT &&
                   strstr(cf_last_error(), "device 1's context was lost to a fault while made_a was running; ");
    return is_right && driver->cuCtxPopCurrent(&popped) == CUDA_SUCCESS ? NULL : context;
}

/* After the fault, another library's context on device 1 is used, and device 2. */
FAKE_TEST(fault_noticed_later_elsewhere_names_the_kernels, "CF_DRIVER=cuda", "FAKE_CUDA=devices=3")
{
    const struct cf__driver *driver = other_library();
    CUcontext created, popped;
    pthread_t thread;
    void *wrong;
    assert_int_equal(context_create(&created, 0, 1), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    assert_ok(launch_bad(0, NULL));
    expect_fault_while("made_a was");
    assert_int_equal(pthread_create(&thread, NULL, sync_in, created), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    assert_ok(cf_device_use(2));
    assert_fails(cf_mem_alloc(&good, 4), CF_EFAULT,
                 "cuDevicePrimaryCtxRetain returned 700 (CUDA_ERROR_ILLEGAL_ADDRESS, an illegal memory access was "
                 "encountered); a context of this process was lost to a fault while made_a was running");
    assert_int_equal(context_destroy(created), CUDA_SUCCESS);
}

/* The new context uses the same record as the context that was reset. */
FAKE_TEST(fault_beside_a_device_that_was_reset_is_named, "CF_DRIVER=cuda", "FAKE_CUDA=alone=1")
{
    assert_ok(cf_device_use(1));
    assert_ok(launch_bad(1, NULL));
    assert_ok(cf_device_use(0));
    assert_ok(cf_device_reset(0));
    assert_ok(cf_mem_alloc(&good, 4));
    assert_ok(launch(0, NULL));
    assert_ok(cf_device_sync());
    assert_ok(cf_device_use(1));
    assert_fails(cf_device_sync(), CF_EFAULT, "device 1's context was lost to a fault while made_b was running");
    assert_ok(cf_device_use(0));
    assert_ok(cf_mem_free(good));
}

FAKE_TEST(fault_of_nobodys_kernel_says_so, "CF_DRIVER=cuda")
{
    CUcontext context;
    assert_ok(launch(0, NULL));
    assert_ok(cf_device_sync());
    assert_ok(launch_bad(0, NULL));
    struct cf__scope place;
    assert_ok(cf__enter(&place, "test", NULL));
    cf__inflight_waited(&place, NULL); /* simulates a launch by another library */
    assert_int_equal(place.driver->cuCtxGetCurrent(&context), CUDA_SUCCESS);
    cf__leave(&place);
    expect_fault_while("no kernel of Cuferry's was");
}

FAKE_TEST(fault_reported_by_another_devices_event_names_the_right_device, "CF_DRIVER=cuda", "FAKE_CUDA=alone=1")
{
    cf_event event;
    assert_ok(cf_event_create(&event));
    assert_ok(launch_bad(0, NULL));
    assert_ok(cf_event_record(event, NULL));
    assert_ok(cf_device_use(1));
    assert_fails(cf_event_sync(event), CF_EFAULT, "device 0's context was lost to a fault while made_a was running");
    assert_ok(cf_device_sync()); /* device 1 still works */
    assert_ok(cf_device_use(0));
    assert_fails(cf_device_sync(), CF_EFAULT, "cf_device_sync: device 0's context");
}

FAKE_TEST(fault_of_a_closed_objects_kernel_is_named, "CF_DRIVER=cuda")
{
    static float elsewhere[3], *data = elsewhere;
    static const int32_t order[] = {2, 1, 0}, *index = order;
    int64_t count = 3;
    void *const args[] = {&data, (void *)(uintptr_t)&index, &data, &count, &count};
    void *library = open_plugin();
    plugin_module_function *module_of_plugin = (plugin_module_function *)plugin_function(library, "plugin_module");
    const cf_kernel *gather = cf_kernel_find(module_of_plugin(), "gather_f32_i32");
    assert_ok(cf_launch(gather, NULL, args));
    close_plugin(library, gather);
    expect_fault_while("cf_gather_f32_i32 was");
    assert_fails(launch(0, NULL), CF_EFAULT, "while cf_gather_f32_i32 was running");
}

/* First device 0 is lost, then device 1; device 2 is current and works. The library does not know the device of the
 * event. */
FAKE_TEST(fault_reported_on_a_working_device_names_the_one_lost_last, "CF_DRIVER=cuda", "FAKE_CUDA=devices=3,alone=1")
{
    const struct cf__driver *driver = other_library();
    struct cf__scope place;
    CUevent event;
    assert_ok(launch_bad(0, NULL));
    expect_fault_while("made_a was");
    assert_ok(cf_device_use(1));
    assert_ok(launch_bad(1, NULL));
    assert_ok(cf__enter_device(&place, "test", 1));
    assert_int_equal(driver->cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(driver->cuEventRecord(event, NULL), CUDA_SUCCESS);
    cf__leave(&place);
    assert_ok(cf_device_use(2));
    assert_ok(cf_device_sync());
    assert_fails(cf_event_sync(event), CF_EFAULT, "device 1's context was lost to a fault while made_b was running");
    /* From here on the fault may have been on either device. */
    assert_fails(cf_event_sync(event), CF_EFAULT, "700 (CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_non_null(strstr(cf_last_error(), "; a context of this process was lost to a fault"));
    assert_ok(cf_device_sync());
    assert_ok(cf_device_use(0));
    assert_fails(cf_device_sync(), CF_EFAULT, "device 0's context was lost to a fault while made_a was running");
    assert_ok(cf_device_use(1));
    assert_fails(cf_device_sync(), CF_EFAULT, "device 1's context was lost to a fault while made_b was running");
    assert_ok(cf_device_use(0));
}

/* Another library created the context in which Cuferry was used. */
FAKE_TEST(fault_in_a_created_context_names_its_device, "CF_DRIVER=cuda", "FAKE_CUDA=alone=1")
{
    const struct cf__driver *driver = other_library();
    CUcontext created, popped;
    CUevent event;
    assert_int_equal(context_create(&created, 0, 1), CUDA_SUCCESS);
    assert_ok(launch_bad(1, NULL));
    assert_int_equal(driver->cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    assert_int_equal(driver->cuEventRecord(event, NULL), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    assert_ok(cf_device_use(0));
    assert_fails(cf_event_sync(event), CF_EFAULT, "device 1's context was lost to a fault while made_b was running");
    assert_ok(cf_device_sync());
    assert_int_equal(context_destroy(created), CUDA_SUCCESS);
    assert_ok(cf_mem_free(good));
}

/* ---- Several threads ---- */

static void *launch_b_elsewhere(void *stream)
{
    return launch(1, stream) == CF_OK ? NULL : (void *)"the launch failed";
}

static void run_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    void *wrong;
    assert_int_equal(pthread_create(&thread, NULL, body, argument), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
}

/* The device of the thread itself is lost. */
FAKE_TEST(fault_on_one_device_leaves_handles_and_captures_of_another, "CF_DRIVER=cuda", "FAKE_CUDA=alone=1")
{
    const struct cf__driver *driver = other_library();
    void *pooled;
    char read[4];
    cf_event event;
    cf_graph graph;
    cf_graph_exec exec;
    CUgraph captured;
    assert_ok(cf_device_use(1));
    cf_stream stream = new_stream(), other = new_stream();
    assert_ok(cf_event_create(&event));
    assert_ok(cf_event_record(event, stream));
    assert_ok(cf_mem_alloc_async(stream, &pooled, sizeof read));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_int_equal(driver->cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    assert_ok(cf_device_use(0));
    assert_ok(launch_bad(0, NULL));
    expect_fault_while("made_a was");
    assert_int_equal(driver->cuStreamEndCapture(other, &captured), CUDA_SUCCESS);
    assert_int_equal(driver->cuGraphDestroy(captured), CUDA_SUCCESS);
    assert_ok(cf_event_sync(event));
    assert_ok(cf_event_query(event));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_event_destroy(event));
    assert_ok(cf_mem_copy(read, pooled, sizeof read));
    assert_ok(cf_mem_free(pooled));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_stream_destroy(other));
}

FAKE_TEST(fault_with_another_thread_lists_its_kernels, "CF_DRIVER=cuda")
{
    cf_stream stream = new_stream();
    assert_ok(launch(0, NULL));
    run_thread(launch_b_elsewhere, stream);
    assert_ok(launch_bad(0, NULL));
    assert_ok(cf_stream_sync(stream)); /* another thread launched in the stream, and perhaps in other streams, too */
    expect_fault_while("one of made_a, made_b was");
}

FAKE_TEST(fault_after_a_wait_for_the_device_leaves_out_other_threads, "CF_DRIVER=cuda")
{
    run_thread(launch_b_elsewhere, new_stream());
    assert_ok(cf_device_sync());
    assert_ok(launch_bad(0, NULL));
    expect_fault_while("made_a was");
}

/* Threads launch and wait at random. The message must always name the kernel that faults. */
enum { THREADS = 8, ROUNDS = 300 };
static int stop;

static void *launch_and_wait(void *number)
{
    unsigned int random = (unsigned int)(uintptr_t)number;
    cf_stream stream = NULL;
    int status = cf_stream_create(&stream);
    for (int i = 0; i < ROUNDS && !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        random = random * 1103515245 + 12345;
        if (status == CF_OK)
            status = launch(random >> 16 & 3, random >> 20 & 1 ? stream : NULL);
        if (status == CF_OK && (random >> 24 & 3) == 0)
            status = cf_device_sync();
        else if (status == CF_OK && (random >> 24 & 3) == 1)
            status = cf_stream_sync(stream);
        if (status == CF_EFAULT)
            return strstr(cf_last_error(), "made_l") ? NULL : strdup(cf_last_error());
        if (status != CF_OK)
            return strdup(cf_last_error());
    }
    return NULL;
}

FAKE_TEST(fault_among_threads_always_names_it, "CF_DRIVER=cuda")
{
    pthread_t threads[THREADS];
    void *wrong;
    for (uintptr_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, launch_and_wait, (void *)(t + 1)), 0);
    int status = launch_bad(11, new_stream());
    while (status == CF_OK)
        status = cf_device_sync();
    assert_int_equal(status, CF_EFAULT);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], &wrong), 0);
        if (wrong)
            fail_msg("%s", (char *)wrong);
    }
}

/* Counts all records, beginning with the record of a new thread, which comes first. Leaves that record with a launch in
 * flight. */
static void *count_records(void *count)
{
    *(int *)count = 0;
    if (launch(1, NULL) != CF_OK)
        return (void *)"the launch failed";
    for (const struct cf__inflight *node = cf__inflight_latest; node; node = node->next)
        ++*(int *)count;
    return NULL;
}

FAKE_TEST(threads_without_end_share_what_is_kept, "CF_DRIVER=cuda")
{
    int count;
    for (int i = 0; i < 200; i++) {
        run_thread(count_records, &count);
        assert_int_equal(count, 2);
    }
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_free(good));
}

static pthread_barrier_t have_launched;

/* While the threads live, each of them has a record of its own. */
static void *launch_and_wait_together(void *unused)
{
    (void)unused;
    cf_stream stream = NULL;
    int status = cf_stream_create(&stream);
    if (status == CF_OK)
        status = launch(1, stream);
    pthread_barrier_wait(&have_launched);
    if (status == CF_OK)
        status = cf_stream_sync(stream);
    pthread_barrier_wait(&have_launched);
    return status == CF_OK && cf_stream_destroy(stream) == CF_OK ? NULL : (void *)"a call failed";
}

FAKE_TEST(threads_that_end_after_a_wait_leave_nothing, "CF_DRIVER=cuda")
{
    pthread_t threads[4];
    void *wrong;
    int count;
    assert_int_equal(pthread_barrier_init(&have_launched, NULL, 4), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_and_wait_together, NULL), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    run_thread(count_records, &count);
    assert_int_equal(count, 2);
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_free(good));
    pthread_barrier_destroy(&have_launched);
}

/* The thread has records for both devices. After cf_shutdown() it gets one again. */
FAKE_TEST(shutdown_leaves_no_records, "CF_DRIVER=cuda")
{
    void *there;
    int count;
    assert_ok(cf_device_use(1));
    assert_ok(cf_mem_alloc(&there, 4));
    void *const args[] = {&there};
    assert_ok(cf_launch(&kernels[1], NULL, args));
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_free(there));
    assert_ok(cf_device_use(0));
    assert_ok(cf_mem_free(good));
    assert_ok(cf_shutdown());
    assert_ok(cf_mem_alloc(&good, 4));
    assert_ok(launch(0, NULL));
    run_thread(count_records, &count);
    assert_int_equal(count, 2);
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_free(good));
}

/* ---- The text ---- */

FAKE_TEST(text_of_long_names_is_cut_between_them, "CF_DRIVER=cuda")
{
    char text[64];
    struct cf__scope place;
    struct cf__context *context;
    assert_ok(cf_mem_free(good));
    CUresult result;
    assert_ok(cf__enter(&place, "test", NULL));
    assert_ok(cf__scope_context(&place, "test", &context));
    cf__inflight_launched(cf__inflight_note(context->id, context->handle, "a_kernel_of_24_characters", NULL));
    cf__inflight_launched(cf__inflight_note(context->id, context->handle, "a_kernel_of_25_characters_", NULL));
    cf__inflight_text(&context->id, 1, text, sizeof text);
    assert_string_equal(text, "one of a_kernel_of_24_characters or others was");
    assert_ok(cf__sync_context("test", &place, &result));
    assert_int_equal(result, CUDA_SUCCESS);
    cf__inflight_text(&context->id, 1, text, sizeof text);
    assert_string_equal(text, "no kernel of Cuferry's was");
    cf__leave(&place);
}

int main(int argc, char *argv[])
{
    for (int i = 0; i < KERNELS; i++) {
        static cf_state states[KERNELS];
        kernels[i].state = &states[i];
        list[i] = &kernels[i];
    }
    make_image(&image, 9);
    return run_made(argc, argv, &module, set_up, end_library_empty);
}
