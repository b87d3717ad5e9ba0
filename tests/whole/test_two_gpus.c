/* test_two_gpus.c - two GPUs in one process: preloading on each, arguments on both, a fault on one, and a reset of
 * one. */
#include "counting_driver.h"
#include "handmade_kernel.h"

#include <cuferry/kernels.h>
#include <cuferry/registry.h>

enum { N = 100000, M = 5000 };

static float source[M], res[N];
static int32_t index_of[N];

/* Arrays on one GPU. */
struct arrays {
    void *source, *index, *res;
};

static int fill_data(void **state)
{
    unsigned short seed[3] = {3, 1, 4};
    (void)state;
    for (int i = 0; i < M; i++)
        source[i] = (float)nrand48(seed);
    for (int i = 0; i < N; i++)
        index_of[i] = (int32_t)(nrand48(seed) % M);
    return 0;
}

static void make(struct arrays *arrays, int device)
{
    assert_ok(cf_device_use(device));
    assert_ok(cf_mem_alloc(&arrays->source, sizeof source));
    assert_ok(cf_mem_alloc(&arrays->index, sizeof index_of));
    assert_ok(cf_mem_alloc(&arrays->res, sizeof res));
    assert_ok(cf_mem_copy(arrays->source, source, sizeof source));
    assert_ok(cf_mem_copy(arrays->index, index_of, sizeof index_of));
}

static void destroy(const struct arrays *arrays)
{
    assert_ok(cf_mem_free(arrays->source));
    assert_ok(cf_mem_free(arrays->index));
    assert_ok(cf_mem_free(arrays->res));
}

/* Gathers on the current GPU, and compares all elements. */
static void check_gather(const struct arrays *arrays)
{
    assert_ok(cf_mem_fill(arrays->res, 0xff, sizeof res));
    assert_ok(cf_gather_f32_i32(arrays->source, arrays->index, arrays->res, N, M));
    assert_ok(cf_mem_copy(res, arrays->res, sizeof res));
    for (int i = 0; i < N; i++)
        assert_true(res[i] == source[index_of[i]]);
}

static int count_loads(void)
{
    return call_counts[CALL_cuLibraryLoadData] + call_counts[CALL_cuLibraryGetKernel] +
           call_counts[CALL_cuKernelGetFunction];
}

TEST_WITH(preload_on_each_gpu_leaves_nothing_to_load, NULL, end_library)
{
    struct arrays arrays;
    need_two_gpus();
    for (int device = 0; device < 2; device++) {
        assert_ok(cf_device_use(device));
        assert_ok(cf_preload(&cf_registry));
    }
    assert_true(count_loads() > 0);
    memset(call_counts, 0, sizeof call_counts);
    for (int device = 0; device < 2; device++) {
        make(&arrays, device);
        check_gather(&arrays);
        destroy(&arrays);
    }
    assert_int_equal(count_loads(), 0);
}

TEST_WITH(arguments_on_two_gpus_need_peer_access, NULL, end_library)
{
    struct arrays here, there;
    int possible = 0;
    need_two_gpus();
    make(&there, 1);
    make(&here, 0);
    struct arrays mixed = {there.source, here.index, here.res};
    assert_fails(cf_gather_f32_i32(mixed.source, mixed.index, mixed.res, N, M), CF_EINVAL,
                 "cf_gather_f32_i32: source is memory of device 1 and the call runs on device 0");
    assert_ok(cf_peer_possible(0, 1, &possible));
    if (possible) {
        assert_ok(cf_peer_enable(0, 1));
        check_gather(&mixed);
    }
    destroy(&here);
    destroy(&there);
}

TEST_WITH(reset_of_one_gpu_leaves_the_other, NULL, end_library)
{
    struct arrays of_0, of_1;
    need_two_gpus();
    make(&of_1, 1);
    make(&of_0, 0);
    check_gather(&of_0);
    assert_ok(cf_device_reset(0));
    assert_ok(cf_device_use(1));
    check_gather(&of_1);
    make(&of_0, 0);
    check_gather(&of_0);
    destroy(&of_0);
    destroy(&of_1);
}

/* After the fault, calls on either GPU may fail, and a reset may or may not help. This test comes last, because the
 * GPUs may stay lost. */
TEST(fault_on_one_gpu_is_reported_on_each_lost_gpu)
{
    struct arrays of_0, of_1;
    need_two_gpus();
    make(&of_1, 1);
    make(&of_0, 0);
    assert_ok(cf_gather_f32_i32_async(NULL, (const float *)64, of_0.index, of_0.res, N, M)); /* no memory at 64 */
    assert_int_equal(cf_device_sync(), CF_EFAULT);
    assert_fails(cf_gather_f32_i32(of_0.source, of_0.index, of_0.res, N, M), CF_EFAULT,
                 "device 0's context was lost to a fault while cf_gather_f32_i32 was running");
    assert_ok(cf_device_use(1));
    int is_1_lost = cf_device_sync() != CF_OK;
    if (is_1_lost)
        assert_fails(cf_gather_f32_i32(of_1.source, of_1.index, of_1.res, N, M), CF_EFAULT,
                     "device 1's context was lost to a fault while cf_gather_f32_i32 was running");
    int status = cf_device_reset(0);
    if (status == CF_OK) {
        make(&of_0, 0);
        check_gather(&of_0);
        destroy(&of_0);
    } else {
        assert_fails(status, CF_EFAULT, "cf_device_reset: device 0: ");
        assert_null(strstr(cf_last_error(), "cf_device_reset(1)"));
        assert_ok(cf_device_use(0));
        assert_fails(cf_gather_f32_i32(source, index_of, res, N, M), CF_EFAULT, "lost to a fault");
    }
    assert_ok(cf_device_use(1));
    if (!is_1_lost) {
        check_gather(&of_1);
        destroy(&of_1);
    }
}

int main(void)
{
    return run_all_tests(fill_data, NULL);
}
