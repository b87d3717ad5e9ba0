/* test_pointer.c - pointer arguments of a kernel: memory of every kind is used in place or staged. A pointer is
 * refused, and named, if it is misaligned, its memory is too short, or its memory is on another device. */
#include "counting_driver.h"
#include "gather_calls.h"

#include <inttypes.h>

#include <cuferry/kernels.h>

#include "driver/driver.h"
#include "context/enter.h"
#include "any_arguments.h"

/* ---- Position in an allocation ---- */

TEST(gather_misaligned_pointer_is_invalid)
{
    for (size_t i = 0; i < INSTANCE_COUNT; i++)
        for (int mix = 0; mix < MIXES; mix += MIXES - 1) {
            unsigned short seed[3] = {7, 8, 7};
            char said[64];
            struct data data, shifted;
            assert_true(make(&data, &instances[i], 40, 50, mix, seed));
            shifted = data;
            shifted.source = data.source + 1;
            snprintf(said, sizeof said, "source = %p is not aligned to its elements' %zu bytes", (void *)shifted.source,
                     data.instance->element);
            expect_refusal(&shifted, 10, 10, CF_EINVAL, said);
            shifted = data;
            shifted.index = data.index + data.instance->index / 2;
            snprintf(said, sizeof said, "index = %p is not aligned to its elements' %zu bytes", (void *)shifted.index,
                     data.instance->index);
            expect_refusal(&shifted, 10, 10, CF_EINVAL, said);
            shifted = data;
            shifted.res = data.res + data.instance->element - 1;
            expect_refusal(&shifted, 10, 10, CF_EINVAL, "res = ");
            assert_true(is_untouched(&data));
            assert_true(release(&data));
        }
}

TEST(gather_pointer_into_an_allocation_is_right)
{
    unsigned short seed[3] = {7, 8, 9};
    struct data data, shifted;
    assert_true(make(&data, &instances[0], 1000, 100, MIXES - 1, seed));
    shifted = data; /* the last 600 indices, and their results */
    shifted.index += 400 * sizeof(int32_t);
    shifted.res += 400 * sizeof(float);
    shifted.N = 600;
    memset(data.expected, POISON, 400 * sizeof(float));
    assert_ok(call(&shifted, 0));
    assert_true(is_right(&data));
    assert_true(release(&data));
}

TEST(gather_short_allocation_is_invalid)
{
    unsigned short seed[3] = {8, 8, 8};
    struct data data, shorter;
    assert_true(make(&data, &instances[0], 100, 50, MIXES - 1, seed));
    shorter = data;
    shorter.source = upload(data.host_source, 199);
    expect_refusal(&shorter, 100, 50, CF_EINVAL,
                   "source has 50 elements, 200 bytes, and its allocation ends after 199 bytes");
    assert_ok(cf_mem_free(shorter.source));
    shorter = data;
    shorter.index = upload(data.host_index, 396);
    expect_refusal(&shorter, 100, 50, CF_EINVAL,
                   "index has 100 elements, 400 bytes, and its allocation ends after 396 bytes");
    assert_ok(cf_mem_free(shorter.index));
    shorter = data;
    shorter.res = data.res + GUARD + 4;
    expect_refusal(&shorter, 100, 50, CF_EINVAL,
                   "res has 100 elements, 400 bytes, and its allocation ends after 396 bytes");
    expect_refusal(&data, 100, INT64_MAX / 4, CF_EINVAL, "source has 2305843009213693951 elements");
    assert_true(is_untouched(&data));
    assert_ok(call(&data, 0));
    assert_true(is_right(&data));
    assert_true(release(&data));
}

/* ---- Two devices in one process ---- */

static void *call_on_host(void *unused)
{
    unsigned short seed[3] = {4, 4, 4};
    struct data here, there;
    void *wrong = NULL;
    (void)unused;
    if (!make(&there, &instances[0], 1000, 100, SOURCE_THERE, seed) || cf_device_use(CF_HOST) != CF_OK ||
        !make(&here, &instances[0], 20000, 100, MIXES - 1, seed))
        return (void *)"the data cannot be made";
    if (call(&here, 0) != CF_OK || !is_right(&here))
        wrong = (void *)"the CPU's results are wrong";
    else if (call(&there, 0) != CF_EINVAL ||
             !strstr(cf_last_error(), "source is memory of device 0 and the call runs on CF_HOST"))
        wrong = (void *)"memory of a GPU is taken for a call on the CPU";
    else if (!is_untouched(&there))
        wrong = (void *)"a refused call wrote its output";
    if (!release(&here) || !release(&there))
        wrong = (void *)"the memory cannot be freed";
    return wrong;
}

TEST(gather_on_the_cpu_beside_a_gpu_takes_its_own_memory)
{
    run_beside_a_gpu(call_on_host);
}

static void *call_with_memory_of_host(void *unused)
{
    unsigned short seed[3] = {4, 4, 5};
    struct data data;
    void *wrong = NULL;
    (void)unused;
    if (cf_device_use(CF_HOST) != CF_OK || !make(&data, &instances[0], 1000, 100, MIXES - 1, seed))
        return (void *)"the data cannot be made";
    if (cf_device_use(0) != CF_OK || call(&data, 0) != CF_OK || !is_right(&data))
        wrong = (void *)"memory of CF_HOST is not staged";
    else if (cf_gather_f32_i32((void *)data.source, (void *)data.index, (void *)data.res, 1000, 101) != CF_EINVAL ||
             !strstr(cf_last_error(), "source has 101 elements, 404 bytes, and its allocation ends after 400 bytes"))
        wrong = (void *)"memory of CF_HOST is read past the end of its allocation";
    if (!release(&data))
        wrong = (void *)"the memory cannot be freed";
    return wrong;
}

TEST(gather_on_a_gpu_with_memory_of_the_cpu_checks_its_size)
{
    run_beside_a_gpu(call_with_memory_of_host);
}

/* ---- Memory that another part of the program allocated with the driver ---- */

enum { PAGE = 4096 };

/* Returns host memory whose first `registered` bytes are registered with the driver. */
static unsigned char *half_registered(size_t bytes, size_t registered)
{
    int (*host_register)(void *, size_t, unsigned int) =
        (int (*)(void *, size_t, unsigned int))driver_function("cuMemHostRegister", 6050);
    unsigned char *memory = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    struct cf__scope place;
    assert_non_null(memory);
    assert_ok(cf__enter(&place, "test", NULL));
    assert_int_equal(host_register(memory, registered, 0), 0);
    cf__leave(&place);
    return memory;
}

static void unregister(unsigned char *memory)
{
    int (*host_unregister)(void *) = (int (*)(void *))driver_function("cuMemHostUnregister", 4000);
    struct cf__scope place;
    assert_ok(cf__enter(&place, "test", NULL));
    assert_int_equal(host_unregister(memory), 0);
    cf__leave(&place);
    free(memory);
}

TEST(gather_host_memory_registered_in_part_or_whole_is_right)
{
    need_any_gpu();
    enum { N = 5 * PAGE, M = 3 * PAGE };
    static const size_t parts[] = {PAGE, 2 * PAGE, 0}; /* 0: all bytes */
    unsigned short seed[3] = {7, 7, 1};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        float *source = (void *)half_registered(M * sizeof(float), parts[p] ? parts[p] : M * sizeof(float));
        int32_t *index = (void *)half_registered(N * sizeof(int32_t), parts[p] ? parts[p] : N * sizeof(int32_t));
        float *res = (void *)half_registered(N * sizeof(float), parts[p] ? parts[p] : N * sizeof(float));
        for (int i = 0; i < M; i++)
            source[i] = (float)nrand48(seed);
        for (int i = 0; i < N; i++)
            index[i] = (int32_t)(nrand48(seed) % M);
        memset(res, POISON, N * sizeof(float));
        assert_ok(cf_gather(source, index, res, N, M));
        for (int i = 0; i < N; i++)
            assert_memory_equal(&res[i], &source[index[i]], sizeof(float));
        unregister((void *)source);
        unregister((void *)index);
        unregister((void *)res);
    }
}

TEST(gather_managed_memory_is_right_and_bounded)
{
    need_any_gpu();
    enum { N = 1000, M = 100 };
    int (*alloc_managed)(CUdeviceptr *, size_t, unsigned int) =
        (int (*)(CUdeviceptr *, size_t, unsigned int))driver_function("cuMemAllocManaged", 6000);
    CUdeviceptr memory = 0;
    struct cf__scope place;
    assert_ok(cf__enter(&place, "test", NULL));
    assert_int_equal(alloc_managed(&memory, M * sizeof(float), 1), 0); /* 1: may be used in any stream */
    float *source = (void *)(uintptr_t)memory, res[N];
    float expected[M];
    int32_t index[N];
    for (int i = 0; i < M; i++)
        expected[i] = (float)i * 0.5f;
    for (int i = 0; i < N; i++)
        index[i] = i * 7 % M;
    assert_ok(cf_mem_copy(source, expected, sizeof expected));
    assert_ok(cf_gather(source, index, res, N, M));
    for (int i = 0; i < N; i++)
        assert_true(res[i] == expected[index[i]]);
    assert_fails(cf_gather(source, index, res, N, M + 1), CF_EINVAL,
                 "source has 101 elements, 404 bytes, and its allocation ends after 400 bytes");
    assert_int_equal(place.driver->cuMemFree(memory), 0);
    cf__leave(&place);
}

/* ---- A GPU that reaches ordinary memory ---- */

/* Sets each integer to its index, which is valid as an index, as an offset of a row and as a sorted key. Floats are
 * small, so that their sums are exact. */
static void set_values(const cf_param *param, void *array, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        char *to = (char *)array + (size_t)i * param->bytes;
        const float single = (float)(i % 16);
        const double real = (double)(i % 16);
        if (param->type == CF_F32)
            memcpy(to, &single, sizeof single);
        else if (param->type == CF_F64)
            memcpy(to, &real, sizeof real);
        else
            memcpy(to, &i, param->bytes);
    }
}

/* Calls the kernel on a device, with arrays of its own; copies what the arrays then contain to `results`. */
static void run_in_reach(struct made_call *call, int device, void *results[])
{
    for (uint32_t p = 0; p < call->kernel->nparams; p++) {
        const cf_param *param = &call->kernel->params[p];
        const int64_t count = is_given_array(param) ? elements_of(call, p) : 0;
        results[p] = NULL;
        if (!count)
            continue;
        results[p] = calloc((size_t)count, param->bytes);
        assert_non_null(results[p]);
        set_values(param, results[p], count);
        call->values[p].pointer = results[p];
    }
    assert_ok(cf_device_use(device));
    if (cf_call(call->kernel, call->args) != CF_OK)
        fail_msg("%s, device %d: %s", call->kernel->function, device, cf_last_error());
}

static int has_at_most(const struct made_call *call, int64_t most)
{
    int64_t largest = 0;
    for (uint32_t p = 0; p < call->kernel->nparams; p++)
        if (is_given_array(&call->kernel->params[p]) && elements_of(call, p) > largest)
            largest = elements_of(call, p);
    return largest <= most;
}

/* Compares the kernel's results on both devices; returns 0 without doing so if its arrays are too large. */
static int check_in_reach(const cf_kernel *kernel, int64_t n)
{
    struct made_call call;
    void *on_gpu[MADE_PARAMS], *on_cpu[MADE_PARAMS];
    make_scalars(&call, kernel, n);
    if (!has_at_most(&call, 100000))
        return 0;
    run_in_reach(&call, 0, on_gpu);
    if (!strstr(cf_last_plan(), "used in place; nothing was copied"))
        fail_msg("%s", cf_last_plan());
    run_in_reach(&call, CF_HOST, on_cpu);
    for (uint32_t p = 0; p < kernel->nparams; p++) {
        if (on_gpu[p] && memcmp(on_gpu[p], on_cpu[p], (size_t)elements_of(&call, p) * kernel->params[p].bytes) != 0)
            fail_msg("%s: %s differs, n = %" PRId64, kernel->function, kernel->params[p].name, n);
        free(on_gpu[p]);
        free(on_cpu[p]);
    }
    return 1;
}

FAKE_TEST(call_in_reach_of_pageable_memory_uses_it_in_place_for_every_kernel, "CF_DRIVER", "FAKE_CUDA=pageable=1")
{
    int tried = 0;
    for (size_t i = 0; i < cf_registry.count; i++)
        for (int64_t n = 40; n < 100000 && !cf_kernel_is_internal(cf_registry.kernels[i]); n *= 150)
            tried += check_in_reach(cf_registry.kernels[i], n);
    assert_true(tried > 300);
}

/* The driver fails when it is asked about a pointer: the library must not take host arrays for GPU memory. */
FAKE_TEST(pointer_that_the_driver_cannot_answer_for_is_no_success, "CF_DRIVER")
{
    static const struct {
        enum driver_call call;
        const char *name;
    } calls[] = {{CALL_cuPointerGetAttributes, "cuPointerGetAttributes returned 999"},
                 {CALL_cuDeviceGet, "cuDeviceGet returned 999"},
                 {CALL_cuDeviceGetAttribute, "cuDeviceGetAttribute returned 999"}};
    const float source[] = {1, 2, 3};
    float target[3] = {7};
    void *memory;
    assert_ok(cf_mem_alloc(&memory, 4)); /* loads the driver */
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        fail_calls(calls[i].call, CUDA_ERROR_UNKNOWN);
        int status = cf_copy_f32(source, target, 3);
        fail_calls(calls[i].call, CUDA_SUCCESS);
        assert_int_equal(status, CF_ECALL);
        assert_memory_equal(cf_last_error(), "cf_copy_f32: ", 13);
        assert_non_null(strstr(cf_last_error(), calls[i].name));
        assert_true(target[0] == 7);
    }
    assert_ok(cf_copy_f32(source, target, 3));
    assert_true(target[0] == 1 && target[2] == 3);
    assert_ok(cf_mem_free(memory));
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, end_library);
}
