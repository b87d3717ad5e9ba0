/* test_device.c - the device and context in which a call runs: cf_device_use(), the thread's context and its streams.
 * Also tests that cf_shutdown() frees everything. */
#include "played_gpu.h"
#include "small_calls.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 64

/* ---- Calls ---- */

static void expect_exactly(int result, int status, const char *detail)
{
    assert_int_equal(result, status);
    assert_string_equal(cf_last_error(), detail);
}

/* ---- Device numbers, on any driver ---- */

TEST(device_count_null_is_invalid)
{
    assert_fails(cf_device_count(NULL), CF_EINVAL, "cf_device_count: count is NULL");
}

TEST(device_count_of_the_driver_is_right)
{
    assert_int_equal(gpu_count() > 0, on_cuda());
}

TEST(device_current_null_is_invalid)
{
    assert_fails(cf_device_current(NULL), CF_EINVAL, "cf_device_current: device is NULL");
}

TEST(device_current_at_the_start_is_the_default)
{
    assert_int_equal(device_now(), gpu_count() ? 0 : CF_HOST);
}

TEST(device_name_of_every_device_is_there)
{
    for (int device = CF_HOST; device < gpu_count(); device++) {
        char name[256] = "";
        assert_ok(cf_device_name(device, name, sizeof name));
        assert_true(strlen(name) > 1 && !strchr(name, '\n'));
    }
}

TEST(device_name_is_cut_to_its_size)
{
    for (int device = CF_HOST; device < gpu_count(); device++) {
        char name[256], cut[4] = "\1\1\1";
        assert_ok(cf_device_name(device, name, sizeof name));
        assert_ok(cf_device_name(device, cut, 3));
        assert_memory_equal(cut, ((char[]){name[0], name[1], 0, 0}), sizeof cut);
        assert_ok(cf_device_name(device, cut, 1));
        assert_string_equal(cut, "");
    }
}

TEST(device_name_without_room_is_invalid)
{
    char name[8];
    expect_exactly(cf_device_name(CF_HOST, NULL, 8), CF_EINVAL, "cf_device_name: name is NULL");
    expect_exactly(cf_device_name(CF_HOST, name, 0), CF_EINVAL, "cf_device_name: size is 0");
}

TEST(device_addresses_are_written_where_there_are_some)
{
    char text[64] = "#";
    assert_ok(cf_device_uuid(CF_HOST, text, sizeof text));
    assert_string_equal(text, "");
    memcpy(text, "#", 2);
    assert_ok(cf_device_pci(CF_HOST, text, sizeof text));
    assert_string_equal(text, "");
    for (int device = 0; device < gpu_count(); device++) {
        unsigned domain, bus, slot;
        assert_ok(cf_device_uuid(device, text, sizeof text));
        assert_int_equal(strlen(text), 36);
        assert_int_equal(strspn(text, "0123456789abcdef-"), 36);
        assert_true(text[8] == '-' && text[13] == '-' && text[18] == '-' && text[23] == '-');
        assert_ok(cf_device_uuid(device, text, 9));
        assert_int_equal(strlen(text), 8);
        assert_ok(cf_device_pci(device, text, sizeof text));
        assert_int_equal(sscanf(text, "%4x:%2x:%2x.0", &domain, &bus, &slot), 3);
        assert_ok(cf_device_pci(device, text, 3));
        assert_int_equal(strlen(text), 2);
    }
}

TEST(device_addresses_without_room_are_invalid)
{
    char text[8];
    expect_exactly(cf_device_uuid(CF_HOST, NULL, 8), CF_EINVAL, "cf_device_uuid: text is NULL");
    expect_exactly(cf_device_uuid(CF_HOST, text, 0), CF_EINVAL, "cf_device_uuid: size is 0");
    expect_exactly(cf_device_pci(CF_HOST, NULL, 8), CF_EINVAL, "cf_device_pci: text is NULL");
    expect_exactly(cf_device_pci(CF_HOST, text, 0), CF_EINVAL, "cf_device_pci: size is 0");
}

/* Expects an error that states the device number and which devices exist. */
static void expect_no_device(int result, int device)
{
    char detail[96];
    if (device >= 0 && gpu_count())
        snprintf(detail, sizeof detail, "device %d: there are %d GPUs, from 0, and CF_HOST", device, gpu_count());
    else
        snprintf(detail, sizeof detail, "device %d: ", device);
    assert_fails(result, CF_ENODEV, detail);
}

/* Runs on a thread of its own. It must not assert, and so cannot use gather(): a failure would jump to the main
 * thread. */
static void *first_use(void *unused)
{
    const float source[] = {1, 2, 3};
    const int32_t index[] = {2, 0, 1, 2};
    float res[4] = {0};
    (void)unused;
    return cf_gather_f32_i32(source, index, res, 4, 3) == CF_OK && res[0] == 3 ? NULL : (void *)"gather failed";
}

/* Forks while other threads make their first calls, at random points. */
TEST(fork_during_first_use_child_works)
{
    skip_where_forks_are_unsafe();
    need_cpu();
    for (int round = 0; round < 200; round++) {
        pthread_t threads[3];
        void *wrong;
        int status = -1;
        assert_ok(cf_shutdown());
        for (int t = 0; t < 3; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, first_use, NULL), 0);
        pid_t child = fork_flushed();
        if (child == 0) {
            alarm(600); /* ends a child that hangs */
            _exit(first_use(NULL) != NULL);
        }
        for (int t = 0; t < 3; t++) {
            assert_int_equal(pthread_join(threads[t], &wrong), 0);
            assert_null(wrong);
        }
        assert_true(child > 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

TEST(device_bad_number_is_no_device)
{
    int before = device_now();
    const int bad[] = {-2, gpu_count(), INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char name[8] = "kept";
        expect_no_device(cf_device_use(bad[i]), bad[i]);
        assert_int_equal(device_now(), before);
        expect_no_device(cf_device_name(bad[i], name, sizeof name), bad[i]);
        expect_no_device(cf_device_uuid(bad[i], name, sizeof name), bad[i]);
        expect_no_device(cf_device_pci(bad[i], name, sizeof name), bad[i]);
        assert_string_equal(name, "kept");
    }
}

TEST(device_use_of_every_device_takes_effect)
{
    int before = device_now();
    for (int device = CF_HOST; device < gpu_count(); device++) {
        void *memory;
        assert_ok(cf_device_use(device));
        assert_int_equal(device_now(), device);
        assert_ok(gather());
        assert_ok(cf_device_sync());
        assert_ok(cf_mem_alloc(&memory, 64));
        assert_ok(cf_mem_free(memory));
    }
    assert_ok(cf_device_use(before));
}

/* Reports its device, then switches to a device other than that of the thread that created it. */
static void *device_of_a_new_thread(void *device)
{
    if (cf_device_current(device) != CF_OK || cf_device_use(*(int *)device) != CF_OK)
        *(int *)device = INT_MIN;
    return NULL;
}

TEST(device_use_is_of_its_thread_alone)
{
    pthread_t thread;
    int before = device_now(), there;
    assert_ok(cf_device_use(CF_HOST));
    assert_int_equal(pthread_create(&thread, NULL, device_of_a_new_thread, &there), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(there, before);
    assert_int_equal(device_now(), CF_HOST);
    assert_ok(cf_device_use(before));
}

TEST(shutdown_again_and_again_starts_anew)
{
    for (int i = 0; i < 3; i++) {
        assert_ok(gather());
        assert_ok(cf_shutdown());
        assert_nothing_alive();
        assert_ok(cf_shutdown());
    }
    assert_ok(gather());
}

/* ---- Contexts ---- */

struct counts {
    int good, bad; /* number of calls that returned the expected status, and of others */
};

static void count(struct counts *counts, int status, int expected)
{
    if (status == expected)
        counts->good++;
    else
        counts->bad++;
}

/* Calls every function that enters a device, with arguments that succeed and with arguments that fail. */
static void call_everything(struct counts *counts)
{
    char host[64] = "", name[64];
    void *memory = NULL;
    cf_stream stream = NULL;
    cf_event start = NULL, stop = NULL;
    float milliseconds;
    int device;
    const int32_t outside = 9;
    count(counts, cf_device_count(&device), CF_OK);
    count(counts, cf_device_current(&device), CF_OK);
    count(counts, cf_device_name(0, name, sizeof name), CF_OK);
    count(counts, cf_device_name(7, name, sizeof name), CF_ENODEV);
    count(counts, cf_device_use(7), CF_ENODEV);
    count(counts, cf_device_sync(), CF_OK);
    count(counts, cf_require(CF_CUDA), CF_OK);
    count(counts, cf_mem_alloc(&memory, SIZE_MAX), CF_ENOMEM);
    count(counts, cf_mem_alloc(&memory, sizeof host), CF_OK);
    count(counts, cf_mem_copy(memory, host, sizeof host), CF_OK);
    count(counts, cf_mem_copy(host, memory, sizeof host + 1), CF_EINVAL);
    count(counts, cf_mem_fill(memory, 1, sizeof host), CF_OK);
    count(counts, cf_stream_create(&stream), CF_OK);
    count(counts, cf_event_create(&start), CF_OK);
    count(counts, cf_event_create(&stop), CF_OK);
    count(counts, cf_event_elapsed(&milliseconds, start, stop), CF_EINVAL);
    count(counts, cf_event_record(start, stream), CF_OK);
    count(counts, cf_mem_fill_async(stream, memory, 2, sizeof host), CF_OK);
    count(counts, cf_mem_copy_async(stream, host, memory, sizeof host), CF_OK);
    count(counts, cf_stream_wait(stream, start), CF_OK);
    count(counts, cf_event_record(stop, stream), CF_OK);
    count(counts, cf_stream_sync(stream), CF_OK);
    count(counts, cf_stream_query(stream), CF_OK);
    count(counts, cf_event_sync(stop), CF_OK);
    count(counts, cf_event_query(stop), CF_OK);
    count(counts, cf_event_elapsed(&milliseconds, start, stop), CF_OK);
    count(counts, cf_event_destroy(start), CF_OK);
    count(counts, cf_event_destroy(stop), CF_OK);
    count(counts, cf_stream_destroy(stream), CF_OK);
    count(counts, cf_mem_free(host), CF_EINVAL);
    count(counts, cf_mem_free(memory), CF_OK);
    count(counts, gather(), CF_OK);
    count(counts, cf_gather_f32_i32((const float *)(void *)host, &outside, (float *)(void *)host + 4, 1, 4), CF_ERANGE);
    count(counts, cf_gather_f32_i32_async(NULL, NULL, NULL, NULL, -1, 0), CF_EINVAL);
    count(counts, cf_gather_f32_i32_async(NULL, NULL, NULL, NULL, 0, 0), CF_OK);
}

static void assert_context_stays(const struct cf__driver *driver, CUcontext context)
{
    CUcontext now;
    struct counts counts = {0, 0};
    call_everything(&counts);
    assert_int_equal(counts.bad, 0);
    assert_int_equal(driver->cuCtxGetCurrent(&now), CUDA_SUCCESS);
    assert_ptr_equal(now, context);
}

static void pop(const struct cf__driver *driver, CUcontext expected)
{
    CUcontext context;
    assert_int_equal(driver->cuCtxPopCurrent(&context), CUDA_SUCCESS);
    assert_ptr_equal(context, expected);
}

/* A context that the application has pushed takes precedence over the thread's device. */
FAKE_TEST(context_of_the_thread_stays_current, "CF_DRIVER")
{
    const struct cf__driver *driver = other_library();
    CUcontext primary, own, none;
    assert_context_stays(driver, NULL);
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&primary, 1), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPushCurrent(primary), CUDA_SUCCESS);
    assert_context_stays(driver, primary);
    assert_int_equal(context_create(&own, 0, 0), CUDA_SUCCESS); /* the call also makes the context current */
    assert_context_stays(driver, own);
    const int devices[] = {0, 1, CF_HOST};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        assert_ok(cf_device_use(devices[i]));
        assert_context_stays(driver, own);
    }
    pop(driver, own);
    assert_int_equal(context_destroy(own), CUDA_SUCCESS);
    pop(driver, primary);
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&none), CUDA_ERROR_INVALID_CONTEXT);
}

/* Returns the context in which a call without a stream allocates. */
static CUcontext context_of_memory(const struct cf__driver *driver)
{
    void *memory;
    CUcontext context;
    CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_CONTEXT;
    void *data = &context;
    assert_ok(cf_mem_alloc(&memory, 4));
    assert_int_equal(driver->cuPointerGetAttributes(1, &attribute, &data, (uintptr_t)memory), CUDA_SUCCESS);
    assert_ok(cf_mem_free(memory));
    return context;
}

FAKE_TEST(context_of_the_thread_is_where_calls_run, "CF_DRIVER")
{
    const struct cf__driver *driver = other_library();
    char text[1024];
    CUcontext own, primary;
    assert_int_equal(gpu_count(), 2);
    assert_int_equal(context_create(&own, 0, 1), CUDA_SUCCESS);
    assert_int_equal(device_now(), 1);
    assert_ptr_equal(context_of_memory(driver), own);
    assert_ok(gather());
    assert_true(count_alive(text, sizeof text) > 0);
    assert_null(strstr(text, "primary")); /* no primary context was needed */

    assert_ok(cf_device_use(1)); /* the chosen device takes precedence over the context */
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&primary, 1), CUDA_SUCCESS);
    assert_ptr_equal(context_of_memory(driver), primary);
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
    assert_int_equal(context_destroy(own), CUDA_SUCCESS);
}

FAKE_TEST(context_of_no_thread_is_the_primary_of_device_0, "CF_DRIVER")
{
    const struct cf__driver *driver = other_library();
    CUcontext primary;
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
    assert_ptr_equal(context_of_memory(driver), primary);
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

/* ---- Two GPUs ---- */

static void *upload(const void *data, size_t bytes)
{
    void *memory;
    assert_ok(cf_mem_alloc(&memory, bytes));
    assert_ok(cf_mem_copy(memory, data, bytes));
    return memory;
}

/* All data are on device 1, while the thread's device varies. */
FAKE_TEST(stream_of_a_device_goes_before_the_threads, "CF_DRIVER")
{
    const float source[] = {5, 6, 7};
    const int32_t index[] = {2, 1, 0};
    cf_stream stream;
    assert_ok(cf_device_use(1));
    assert_ok(cf_stream_create(&stream));
    float *source_there = upload(source, sizeof source), *res_there = upload(source, sizeof source);
    int32_t *index_there = upload(index, sizeof index);
    const int devices[] = {0, CF_HOST, 1};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        float res[3] = {0};
        cf_event event;
        assert_ok(cf_device_use(devices[i]));
        assert_ok(cf_mem_fill_async(stream, res_there, 0, sizeof res));
        assert_ok(cf_gather_f32_i32_async(stream, source_there, index_there, res_there, 3, 3));
        assert_ok(cf_mem_copy_async(stream, res, res_there, sizeof res));
        assert_ok(cf_stream_sync(stream));
        assert_memory_equal(res, ((float[]){7, 6, 5}), sizeof res);
        assert_ok(cf_device_use(1));
        assert_ok(cf_event_create(&event));
        assert_ok(cf_device_use(devices[i]));
        assert_ok(cf_event_record(event, stream));
        assert_ok(cf_event_sync(event));
        assert_ok(cf_event_destroy(event));
        assert_int_equal(device_now(), devices[i]);
    }
    assert_ok(cf_device_use(0));
    assert_ok(cf_mem_free(source_there)); /* the memory is on another device than the thread's */
    assert_ok(cf_mem_free(index_there));
    assert_ok(cf_mem_free(res_there));
    assert_ok(cf_stream_destroy(stream));
}

FAKE_TEST(devices_two_hold_memory_of_their_own, "CF_DRIVER")
{
    const float source[] = {5, 6, 7};
    const int32_t index[] = {2, 1, 0};
    float res[3];
    float *there[2];
    for (int device = 0; device < 2; device++) {
        assert_ok(cf_device_use(device));
        there[device] = upload(source, sizeof source);
    }
    assert_ok(cf_gather_f32_i32(there[1], index, res, 3, 3));
    assert_memory_equal(res, ((float[]){7, 6, 5}), sizeof res);
    expect_exactly(cf_gather_f32_i32(there[0], index, res, 3, 3), CF_EINVAL,
                   "cf_gather_f32_i32: source is memory of device 0 and the call runs on device 1");
    assert_ok(cf_mem_fill(there[0], 0, sizeof res));
    assert_ok(cf_mem_copy(there[1], there[0], sizeof res));
    assert_ok(cf_mem_copy(res, there[1], sizeof res));
    assert_memory_equal(res, ((float[]){0, 0, 0}), sizeof res);
    for (int device = 0; device < 2; device++)
        assert_ok(cf_mem_free(there[device]));
}

/* ---- Shutdown ---- */

FAKE_TEST(shutdown_before_any_call_succeeds, "CF_DRIVER")
{
    assert_ok(cf_shutdown());
    assert_null(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
}

FAKE_TEST(device_use_second_gpu_starts_that_one_alone, "CF_DRIVER")
{
    char text[1024];
    cf_stream stream;
    cf_event start, stop;
    float elapsed;
    assert_ok(cf_device_use(1));
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_event_create(&start));
    assert_ok(cf_event_create(&stop));
    assert_ok(cf_event_record(start, stream));
    assert_ok(cf_event_record(stop, stream));
    assert_ok(cf_event_sync(stop));
    assert_ok(cf_event_query(stop));
    assert_ok(cf_event_elapsed(&elapsed, start, stop));
    assert_ok(cf_event_destroy(start));
    assert_ok(cf_event_destroy(stop));
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(count_alive(text, sizeof text), 1); /* the primary context of GPU 1; GPU 0 has none */
}

FAKE_TEST(shutdown_gives_everything_back, "CF_DRIVER")
{
    char text[1024];
    for (int round = 0; round < 3; round++) {
        void *memory;
        for (int device = 1; device >= CF_HOST; device--) {
            assert_ok(cf_device_use(device));
            assert_ok(gather());
            assert_ok(cf_device_sync()); /* memory is freed in stream order */
        }
        assert_ok(cf_mem_alloc(&memory, 100)); /* CPU memory, which cf_shutdown() frees */
        /* Two primary contexts, two pools, and the image of gather. */
        assert_int_equal(count_alive(text, sizeof text), 5);
        assert_ok(cf_shutdown());
        assert_nothing_alive();
        assert_ok(gather()); /* the thread's device is still CF_HOST, but its memory is no longer known */
        assert_fails(cf_mem_free(memory), CF_EINVAL, "is not from cf_mem_alloc()");
        assert_ok(cf_shutdown());
    }
}

FAKE_TEST(shutdown_leaves_contexts_of_others_alone, "CF_DRIVER")
{
    const struct cf__driver *driver = other_library();
    CUcontext primary, own, now;
    char text[1024];
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
    assert_int_equal(context_create(&own, 0, 0), CUDA_SUCCESS);
    assert_ok(gather());
    assert_ok(cf_device_use(0));
    assert_ok(gather());
    assert_ok(cf_shutdown());
    assert_int_equal(driver->cuCtxGetCurrent(&now), CUDA_SUCCESS);
    assert_ptr_equal(now, own);
    assert_int_equal(count_alive(text, sizeof text), 2);
    assert_ok(gather());
    assert_ok(cf_shutdown());
    assert_int_equal(context_destroy(own), CUDA_SUCCESS);
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    assert_nothing_alive();
}

/* After a fault the GPU is lost until the process ends; with alone=1 the other devices still work. */
FAKE_TEST(shutdown_after_a_fault_gives_everything_back, "CF_DRIVER", "FAKE_CUDA=alone=1")
{
    float host[3] = {0};
    const int32_t index[] = {2, 1, 0};
    const char *detail = "cf_device_sync: cuCtxSynchronize returned 700 (CUDA_ERROR_ILLEGAL_ADDRESS, "
                         "an illegal memory access was encountered)";
    assert_ok(gather());
    assert_ok(cf_gather_f32_i32_async(NULL, host, index, host, 3, 3)); /* memory that the GPU cannot access */
    assert_fails(cf_device_sync(), CF_EFAULT, detail);
    assert_int_equal(cf_last_driver_result(), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_fails(cf_device_sync(), CF_EFAULT, "cf_device_sync: device 0's context was lost to a fault while ");
    assert_int_equal(gather(), CF_EFAULT);
    assert_int_equal(device_now(), 0);
    assert_ok(cf_device_use(1));
    assert_ok(gather());
    assert_ok(cf_device_use(CF_HOST));
    assert_ok(gather());
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    assert_ok(cf_device_use(0));
    assert_int_equal(gather(), CF_EFAULT);
    assert_ok(cf_device_use(1));
    assert_ok(gather());
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, end_library);
}
