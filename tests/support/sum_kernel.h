/* sum_kernel.h - a kernel made by hand with two arrays, for plain calls on GPU memory whose driver calls are
 * counted. */
#ifndef SUM_KERNEL_H
#define SUM_KERNEL_H

#include "counting_driver.h"
#include "handmade_kernel.h"
#include "context/enter.h"

enum { X, Y, N, M, PARAMS };

static const cf_expr extent_n = NUMBER("n", N), extent_m = NUMBER("m", M), square[2] = {NUMBER("m", M), NUMBER("m", M)};
static cf_param params[PARAMS];

static inline int sizes(void *const args[], cf_launch_size *size)
{
    *size = (cf_launch_size){{1, 1, 1}, {32, 1, 1}, 0};
    int64_t n = *(const int64_t *)args[N], m = *(const int32_t *)args[M];
    return n >= 0 && m >= 0 && (!n || *(void *const *)args[X]) && (!m || *(void *const *)args[Y]);
}

static inline void body(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    const float *x = *(const float *const *)launch->args[X];
    float sum = 0;
    for (int64_t i = 0; i < *(const int64_t *)launch->args[N]; i++)
        sum += x[i];
    if (begin == 0 && end > 0 && *(const int32_t *)launch->args[M] > 0)
        **(float *const *)launch->args[Y] = sum;
}

static struct made_image image;
static cf_kernel kernel = {MADE_KERNEL("sum", image),
                           .nparams = PARAMS,
                           .params = params,
                           .launch = {.counts_blocks = 1, .grid = {FIXED(1)}, .block = {FIXED(32)}},
                           .cpu_body = body,
                           .is_cpu_whole = 1,
                           .sizes = sizes};
static const cf_kernel *const kernels[] = {&kernel};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 1, .kernels = kernels};

static float *x, *y; /* 64 elements and 16 elements, in memory that cf_mem_alloc() did not allocate */
static struct cf__scope place;

/* Allocates memory as another library in the process would. */
static inline void *allocate(size_t bytes)
{
    CUdeviceptr memory = 0;
    assert_int_equal(place.driver->cuMemAlloc(&memory, bytes), CUDA_SUCCESS);
    return (void *)(uintptr_t)memory;
}

static inline int set_up(void **state)
{
    static const cf_param array = {.type = CF_F32, .lanes = 1, .bytes = 4, .align = 4, .ndims = 1};
    float ones[64];
    (void)state;
    kernel.restricts = kernel.in_place = NULL;
    params[X] = params[Y] = array;
    params[X].name = "x", params[X].ctype = "const float *", params[X].direction = CF_IN, params[X].extents = &extent_n;
    params[Y].name = "y", params[Y].ctype = "float *", params[Y].direction = CF_INOUT, params[Y].extents = &extent_m;
    params[N] = (cf_param)VALUE("n", int64_t, CF_I64);
    params[M] = (cf_param)VALUE("m", int32_t, CF_I32);
    for (int i = 0; i < 64; i++)
        ones[i] = 1;
    assert_ok(cf_set_host_data(CF_HOST_DATA_STAGE));
    assert_ok(cf__enter(&place, "test", NULL)); /* another user of the GPU in the process */
    x = allocate(64 * sizeof *x);
    y = allocate(16 * sizeof *y);
    assert_ok(cf_mem_copy(x, ones, sizeof ones));
    assert_ok(cf_mem_copy(y, ones, 16 * sizeof *y));
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_mem_free(x));
    assert_ok(cf_mem_free(y));
    cf__leave(&place);
    assert_ok(cf_shutdown());
    return 0;
}

static inline int call(const void *in, void *out, int64_t n, int32_t m)
{
    void *const args[] = {&in, &out, &n, &m};
    memset(call_counts, 0, sizeof call_counts);
    return cf_call(&kernel, args);
}

/* Expects the driver calls of a plain call that looks up `lookups` allocations. */
static inline void expect_direct(int lookups)
{
    assert_int_equal(call_counts[CALL_cuPointerGetAttributes], lookups);
    assert_int_equal(call_counts[CALL_cuStreamIsCapturing], 1);
    assert_int_equal(call_counts[CALL_cuThreadExchangeStreamCaptureMode], 2);
    assert_int_equal(call_counts[CALL_cuStreamSynchronize], 1);
    call_counts[CALL_cuPointerGetAttributes] = call_counts[CALL_cuStreamIsCapturing] = 0;
    call_counts[CALL_cuThreadExchangeStreamCaptureMode] = call_counts[CALL_cuStreamSynchronize] = 0;
    expect_calls(0, 1, 1, 1);
}

static inline void expect_y(float expected)
{
    float found = -1;
    assert_ok(cf_mem_copy(&found, y, sizeof found));
    assert_true(found == expected);
}

#define GPU_ONLY()                    \
    do {                              \
        if (!on_cuda()) {             \
            skip_test(NEEDS_ANY_GPU); \
        }                             \
    } while (0)

#endif
