/* test_peer.c - GPUs that reach one another's memory. */
#include "handmade_kernel.h"

#include <time.h>

#include <cuferry/kernels.h>

#include "driver/driver.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "memory/peer.h"

/* ---- A driver that can be made to fail ---- */

static CUresult share_result, disable_result; /* returned instead of calling the driver */
static void (*meanwhile)(void);               /* called while the next attempt to give access fails */
static const struct cf__driver *below;

static CUresult share_pool(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    CUresult result = share_result;
    void (*then)(void) = meanwhile;
    meanwhile = NULL;
    share_result = CUDA_SUCCESS;
    if (then)
        then();
    return result == CUDA_SUCCESS ? below->cuMemPoolSetAccess(pool, access, count) : result;
}

static CUresult disable_access(CUcontext peer)
{
    return disable_result == CUDA_SUCCESS ? below->cuCtxDisablePeerAccess(peer) : disable_result;
}

const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    static struct cf__driver wrapped;
    if (driver->is_cpu)
        return driver;
    below = driver;
    wrapped = *driver;
    wrapped.cuMemPoolSetAccess = share_pool;
    wrapped.cuCtxDisablePeerAccess = disable_access;
    return &wrapped;
}

static void need_peers(void)
{
    int possible = 0;
    need_two_gpus();
    assert_ok(cf_peer_possible(0, 1, &possible));
    if (!possible)
        skip_test(NEEDS_TWO_GPUS);
}

TEST_WITH(peer_functions_bad_arguments_are_named, NULL, end_library_empty)
{
    int possible = 77;
    assert_fails(cf_peer_possible(CF_HOST, CF_HOST, NULL), CF_EINVAL, "cf_peer_possible: possible is NULL");
    assert_fails(cf_peer_possible(-2, CF_HOST, &possible), CF_ENODEV, "cf_peer_possible: device -2");
    assert_fails(cf_peer_possible(CF_HOST, 1000, &possible), CF_ENODEV, "cf_peer_possible: device 1000");
    assert_fails(cf_peer_enable(CF_HOST, -2), CF_ENODEV, "cf_peer_enable: device -2");
    assert_fails(cf_peer_enable(1000, CF_HOST), CF_ENODEV, "cf_peer_enable: device 1000");
    assert_fails(cf_peer_disable(-5, CF_HOST), CF_ENODEV, "cf_peer_disable: device -5");
    assert_int_equal(possible, 77);
}

TEST_WITH(peer_functions_a_device_reaches_itself, NULL, end_library_empty)
{
    int count = 0, possible;
    assert_ok(cf_device_count(&count));
    for (int device = CF_HOST; device < count; device++) {
        possible = 77;
        assert_ok(cf_peer_possible(device, device, &possible));
        assert_int_equal(possible, 1);
        assert_ok(cf_peer_enable(device, device));
        assert_true(cf__peer_enabled(device, device));
        assert_ok(cf_peer_disable(device, device));
        assert_true(cf__peer_enabled(device, device));
    }
}

TEST_WITH(peer_functions_cpu_and_gpu_do_not_reach_each_other, NULL, end_library_empty)
{
    int possible = 77;
    need_any_gpu();
    assert_ok(cf_peer_possible(0, CF_HOST, &possible));
    assert_int_equal(possible, 0);
    possible = 77;
    assert_ok(cf_peer_possible(CF_HOST, 0, &possible));
    assert_int_equal(possible, 0);
    assert_fails(cf_peer_enable(CF_HOST, 0), CF_ENOTSUP,
                 "cf_peer_enable: device -1 does not reach the memory of device 0");
    assert_fails(cf_peer_enable(0, CF_HOST), CF_ENOTSUP, "device 0 does not reach the memory of device -1");
    assert_ok(cf_peer_disable(0, CF_HOST));
    assert_false(cf__peer_enabled(0, CF_HOST) || cf__peer_enabled(CF_HOST, 0));
}

/* Runs a kernel on device 0 with data in memory of device 1; returns the status. */
static int gather_from(void *source, void *index, void *result)
{
    assert_ok(cf_device_use(0));
    int status = cf_gather_f32_i32_async(NULL, source, index, result, 100, 100);
    return status == CF_OK ? cf_stream_sync(NULL) : status;
}

static void *allocate(int device, int is_async, size_t bytes)
{
    void *memory = NULL;
    assert_ok(cf_device_use(device));
    assert_ok(is_async ? cf_mem_alloc_async(NULL, &memory, bytes) : cf_mem_alloc(&memory, bytes));
    assert_ok(cf_stream_sync(NULL));
    assert_ok(cf_device_use(0));
    return memory;
}

static void check_gather(int is_async)
{
    float data[100], read[100] = {0};
    int32_t numbers[100];
    for (int i = 0; i < 100; i++) {
        data[i] = (float)i * 3;
        numbers[i] = (int32_t)(i * 37 % 100);
    }
    void *source = allocate(1, is_async, sizeof data), *index = allocate(0, is_async, sizeof numbers);
    void *result = allocate(1, is_async, sizeof data);
    assert_ok(cf_mem_copy(source, data, sizeof data));
    assert_ok(cf_mem_copy(index, numbers, sizeof numbers));
    assert_ok(gather_from(source, index, result));
    assert_ok(cf_mem_copy(read, result, sizeof read));
    for (int i = 0; i < 100; i++)
        assert_true(read[i] == (float)(i * 37 % 100 * 3));
    assert_ok(cf_mem_free(source));
    assert_ok(cf_mem_free(index));
    assert_ok(cf_mem_free(result));
}

/* The peer reaches memory of pools, whether it was allocated before or after access was enabled. */
TEST_WITH(peer_enable_lets_kernels_reach_all_memory, NULL, end_library_empty)
{
    need_peers();
    void *before = allocate(1, 1, 1000);
    assert_false(cf__peer_enabled(0, 1));
    assert_ok(cf_peer_enable(0, 1));
    assert_true(cf__peer_enabled(0, 1));
    assert_false(cf__peer_enabled(1, 0));
    assert_ok(cf_peer_enable(0, 1));
    check_gather(0);
    check_gather(1);
    assert_ok(cf_mem_free(before));
    assert_ok(cf_shutdown()); /* also frees pools that were created while access was enabled */
    assert_ok(cf_device_use(0));
    assert_ok(cf_peer_enable(0, 1));
    check_gather(1);
}

TEST_WITH(peer_disable_takes_it_back, NULL, end_library_empty)
{
    need_peers();
    assert_ok(cf_peer_disable(0, 1));
    assert_ok(cf_peer_enable(0, 1));
    assert_ok(cf_peer_enable(1, 0));
    assert_ok(cf_peer_disable(0, 1));
    assert_false(cf__peer_enabled(0, 1));
    assert_true(cf__peer_enabled(1, 0));
    assert_ok(cf_peer_disable(0, 1));
    assert_ok(cf_peer_enable(0, 1));
    check_gather(0);
}

FAKE_TEST(without_peers_a_kernel_does_not_reach_the_memory, "CF_DRIVER=cuda")
{
    void *source = allocate(1, 0, 400), *index = allocate(0, 0, 400), *result = allocate(0, 0, 400);
    assert_ok(cf_mem_fill(index, 0, 400));
    assert_ok(cf_peer_enable(0, 1));
    assert_ok(gather_from(source, index, result));
    assert_ok(cf_peer_disable(0, 1));
    assert_int_equal(gather_from(source, index, result), CF_EFAULT);
    _exit(0); /* the device and everything on it is lost */
}

FAKE_TEST(without_peers_a_kernel_does_not_reach_the_pool, "CF_DRIVER=cuda")
{
    void *source = allocate(1, 1, 400), *index = allocate(0, 0, 400), *result = allocate(0, 0, 400);
    assert_ok(cf_mem_fill(index, 0, 400));
    assert_ok(cf_peer_enable(0, 1));
    assert_ok(gather_from(source, index, result));
    assert_ok(cf_peer_disable(0, 1));
    assert_int_equal(gather_from(source, index, result), CF_EFAULT);
    _exit(0);
}

FAKE_TEST(peer_enable_where_it_is_not_possible_is_enotsup, "CF_DRIVER=cuda", "FAKE_CUDA=peer=0")
{
    int possible = 77;
    assert_ok(cf_peer_possible(0, 1, &possible));
    assert_int_equal(possible, 0);
    assert_fails(cf_peer_enable(0, 1), CF_ENOTSUP, "cf_peer_enable: device 0 does not reach the memory of device 1");
    assert_false(cf__peer_enabled(0, 1));
    assert_ok(cf_peer_disable(0, 1));
}

TEST_WITH(peer_enable_beside_another_library_leaves_its_doing, NULL, end_library_empty)
{
    need_peers();
    const struct cf__driver *driver = other_library();
    CUcontext first, second, popped;
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&first, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&second, 1), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPushCurrent(first), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxEnablePeerAccess(second, 0), CUDA_SUCCESS);
    assert_ok(cf_peer_enable(0, 1));
    assert_true(cf__peer_enabled(0, 1));
    check_gather(0);
    check_gather(1);
    assert_ok(cf_peer_disable(0, 1));
    assert_int_equal(driver->cuCtxEnablePeerAccess(second, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    assert_ok(cf_peer_enable(0, 1));
    assert_ok(cf_shutdown());
    assert_false(cf__peer_enabled(0, 1));
    /* Cuferry enabled access in the other direction, so it disables it, although the contexts remain. */
    assert_ok(cf_peer_enable(1, 0));
    assert_ok(cf_shutdown());
    assert_int_equal(driver->cuCtxPushCurrent(second), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxDisablePeerAccess(first), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    /* If another library has already disabled the access, disabling it is no failure. */
    assert_int_equal(driver->cuCtxDisablePeerAccess(second), CUDA_SUCCESS);
    assert_ok(cf_peer_enable(0, 1));
    assert_int_equal(driver->cuCtxDisablePeerAccess(second), CUDA_SUCCESS);
    assert_ok(cf_peer_disable(0, 1));
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
}

/* Enables and disables access; returns the number of errors. */
static void *toggle(void *unused)
{
    intptr_t wrong = 0;
    (void)unused;
    for (int round = 0; round < 200; round++) {
        void *memory = NULL;
        wrong += cf_peer_enable(0, 1) != CF_OK || cf_peer_enable(1, 0) != CF_OK;
        wrong += cf_mem_alloc_async(NULL, &memory, 64) != CF_OK || cf_mem_free_async(NULL, memory) != CF_OK;
    }
    return (void *)wrong;
}

TEST_WITH(peer_enable_8_threads_at_once_all_succeed, NULL, end_library_empty)
{
    need_peers();
    run_threads(8, toggle);
    assert_true(cf__peer_enabled(0, 1) && cf__peer_enabled(1, 0));
    check_gather(1);
}

TEST_WITH(peer_enable_after_another_library_has_undone_it_does_it_again, NULL, end_library_empty)
{
    need_peers();
    struct cf__scope peer, place;
    assert_ok(cf_peer_enable(0, 1));
    assert_ok(cf__enter_device(&peer, "test", 1));
    cf__leave(&peer);
    assert_ok(cf__enter_device(&place, "test", 0));
    assert_int_equal(other_library()->cuCtxDisablePeerAccess(peer.context), CUDA_SUCCESS);
    assert_ok(cf_peer_enable(0, 1));
    assert_int_equal(other_library()->cuCtxEnablePeerAccess(peer.context, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    cf__leave(&place);
    check_gather(0);
    check_gather(1);
}

TEST_WITH(peer_functions_that_fail_leave_it_as_it_was, NULL, end_library_empty)
{
    need_peers();
    assert_ok(cf_mem_free(allocate(1, 1, 1000))); /* the call makes the library create a pool */
    share_result = CUDA_ERROR_UNKNOWN;
    assert_fails(cf_peer_enable(0, 1), CF_ECALL, "cf_peer_enable: device 0, peer 1: cuMemPoolSetAccess returned 999 ");
    assert_false(cf__peer_enabled(0, 1));
    assert_ok(cf_peer_enable(0, 1));
    share_result = CUDA_ERROR_UNKNOWN;
    assert_fails(cf_peer_enable(0, 1), CF_ECALL, "cuMemPoolSetAccess returned 999 ");
    assert_true(cf__peer_enabled(0, 1));
    check_gather(0);
    check_gather(1);
    share_result = CUDA_ERROR_UNKNOWN;
    assert_fails(cf_peer_disable(0, 1), CF_ECALL,
                 "cf_peer_disable: device 0, peer 1: cuMemPoolSetAccess returned 999 ");
    check_gather(1);
    disable_result = CUDA_ERROR_UNKNOWN;
    assert_fails(cf_peer_disable(0, 1), CF_ECALL, "device 0, peer 1: cuCtxDisablePeerAccess returned 999 ");
    assert_true(cf__peer_enabled(0, 1));
    check_gather(0);
    check_gather(1);
    disable_result = CUDA_SUCCESS;
    assert_ok(cf_peer_disable(0, 1));
    assert_false(cf__peer_enabled(0, 1));
}

/* One thread fails to enable access, while the driver tells another thread that access is enabled. */
static pthread_t second;
static int second_status, is_second_early;

static void *enable_too(void *unused)
{
    second_status = cf_peer_enable(0, 1);
    return unused;
}

static void start_second(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += 100000000; /* a second thread that did not wait would end within this time */
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    is_second_early =
        pthread_create(&second, NULL, enable_too, NULL) != 0 || pthread_timedjoin_np(second, NULL, &end) == 0;
}

TEST_WITH(peer_enable_beside_one_that_fails_holds, NULL, end_library_empty)
{
    need_peers();
    assert_ok(cf_mem_free(allocate(1, 1, 1000)));
    share_result = CUDA_ERROR_UNKNOWN;
    meanwhile = start_second;
    assert_fails(cf_peer_enable(0, 1), CF_ECALL, "cuMemPoolSetAccess returned 999 ");
    assert_false(is_second_early);
    assert_int_equal(pthread_join(second, NULL), 0);
    assert_ok(second_status);
    assert_true(cf__peer_enabled(0, 1));
    check_gather(0);
    check_gather(1);
}

/* Several threads enable and disable access at the same time. The last call decides. */
static void *enable_and_disable(void *unused)
{
    intptr_t wrong = 0;
    (void)unused;
    for (int round = 0; round < 100; round++)
        wrong += cf_peer_enable(0, 1) != CF_OK || cf_peer_disable(0, 1) != CF_OK;
    return (void *)wrong;
}

TEST_WITH(peer_functions_8_threads_at_once_end_as_the_last_one, NULL, end_library_empty)
{
    need_peers();
    run_threads(8, enable_and_disable);
    assert_false(cf__peer_enabled(0, 1));
    assert_ok(cf_peer_enable(0, 1));
    check_gather(0);
    check_gather(1);
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, end_library_empty);
}
