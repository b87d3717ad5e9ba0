/* test_symbol.c - data in __constant__ memory: cf_symbol_set() sets it only on the device of the call. */
#include "counting_driver.h"
#include "handmade_kernel.h"

/* ---- Two symbols, and a kernel that reads them: y[i] = scale * coeff[i] ---- */

static double scale = 1; /* the CPU's copies */
static float coeff[2][3];
static void *host_scale = &scale, *host_coeff = coeff;
static const int64_t extents[] = {2, 3};
static const uint32_t bytes_of_scale = sizeof scale, bytes_of_coeff = sizeof coeff;

static struct made_image image;
static cf_state scale_state, coeff_state;
static const cf_symbol scale_template = {.version = CF_REGISTRY_VERSION,
                                         .name = "scale",
                                         .function = "made_set_scale",
                                         .ctype = "double",
                                         .type = CF_F64,
                                         .lanes = 1,
                                         .bytes = 8,
                                         .align = 8,
                                         .image = &image.image,
                                         .entry = "scale",
                                         .cpu_data = &host_scale,
                                         .cpu_bytes = &bytes_of_scale,
                                         .state = &scale_state};
static const cf_symbol coeff_template = {.version = CF_REGISTRY_VERSION,
                                         .name = "coeff",
                                         .function = "made_set_coeff",
                                         .ctype = "float",
                                         .type = CF_F32,
                                         .lanes = 1,
                                         .bytes = 4,
                                         .align = 4,
                                         .ndims = 2,
                                         .extents = extents,
                                         .image = &image.image,
                                         .entry = "coeff",
                                         .cpu_data = &host_coeff,
                                         .cpu_bytes = &bytes_of_coeff,
                                         .state = &coeff_state};
static cf_symbol of_scale, of_coeff;

static const cf_expr six = FIXED(6);
static const cf_param params[] = {ARRAY_1D("y", double, CF_F64, CF_OUT, six)};

static void multiply(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    double *y = *(double *const *)launch->args[0];
    (void)begin, (void)end;
    for (int i = 0; i < 6; i++)
        y[i] = scale * (double)coeff[i / 3][i % 3];
}

static const cf_kernel kernel = {MADE_KERNEL("multiply", image), .nparams = 1, .params = params,
                                 .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .cpu_body = multiply};
static const cf_kernel *const kernels[] = {&kernel};
static const cf_symbol *const symbols[] = {&coeff_template, &scale_template};
static const cf_module module = {.version = CF_REGISTRY_VERSION,
                                 .prefix = "made",
                                 .count = 1,
                                 .kernels = kernels,
                                 .nsymbols = 2,
                                 .symbols = symbols};

static int set_up(void **state)
{
    (void)state;
    of_scale = scale_template;
    of_coeff = coeff_template;
    scale = 1;
    memset(coeff, 0, sizeof coeff);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    assert_null(scale_state.loaded);
    return 0;
}

static const float values[2][3] = {{1, 2, 3}, {4, 5, 6}};

static void expect_products(double factor)
{
    double y[6], *pointer = y;
    void *const args[] = {&pointer};
    assert_ok(cf_call(&kernel, args));
    for (int i = 0; i < 6; i++)
        assert_true(y[i] == factor * (i + 1));
}

/* ---- Results ---- */

TEST_WITH(symbol_set_is_read_by_the_next_call, set_up, tear_down)
{
    double two = 2, three = 3;
    assert_ok(cf_symbol_set(&of_coeff, values));
    assert_ok(cf_symbol_set(&of_scale, &two));
    expect_products(2);
    assert_ok(cf_symbol_set(&of_scale, &three));
    expect_products(3);
    assert_true(scale == (on_cuda() ? 1 : 3)); /* the CPU's copy is set only by calls on the CPU */
}

TEST_WITH(symbol_set_from_device_memory_is_read, set_up, tear_down)
{
    double two = 2;
    void *there = upload(values, sizeof values), *also = upload(&two, sizeof two);
    assert_ok(cf_symbol_set(&of_coeff, there));
    assert_ok(cf_symbol_set_async(NULL, &of_scale, also));
    expect_products(2);
    assert_fails(cf_symbol_set(&of_coeff, (char *)there + 4), CF_EINVAL,
                 "made_set_coeff: coeff has 24 bytes, and the allocation of the value ends after 20 bytes");
    expect_products(2);
    assert_ok(cf_mem_free(there));
    assert_ok(cf_mem_free(also));
}

/* The library must not take this memory for host memory: reading it would crash. */
TEST_WITH(symbol_set_from_memory_that_was_freed_is_invalid, set_up, tear_down)
{
    need_any_gpu();
    void *freed = upload(values, sizeof values);
    assert_ok(cf_mem_free(freed));
    assert_fails(cf_symbol_set(&of_coeff, freed), CF_EINVAL, "made_set_coeff: the value = ");
    assert_fails(cf_symbol_set(&of_scale, freed), CF_EINVAL, "made_set_scale: the value = ");
    assert_fails(cf_symbol_set_async(NULL, &of_scale, freed), CF_EINVAL, "made_set_scale_async: the value = ");
    assert_non_null(strstr(cf_last_error(), " is no memory: "));
}

/* The copy is done in stream order, but a small value is read at once, so that the caller may change it afterwards. */
TEST_WITH(symbol_set_async_is_in_the_order_of_the_stream, set_up, tear_down)
{
    double factors[] = {2, 3}, y[2][6] = {{0}};
    void *there[2] = {upload(y, 48), upload(y, 48)};
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_symbol_set_async(stream, &of_coeff, values));
    for (int i = 0; i < 2; i++) {
        void *const args[] = {&there[i]};
        double factor = factors[i];
        assert_ok(cf_symbol_set_async(stream, &of_scale, &factor));
        factor = -1;
        assert_ok(cf_launch(&kernel, stream, args));
        assert_ok(cf_mem_copy_async(stream, y[i], there[i], 48));
    }
    assert_ok(cf_stream_sync(stream));
    for (int i = 0; i < 12; i++)
        assert_true(y[i / 6][i % 6] == factors[i / 6] * (i % 6 + 1));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there[0]));
    assert_ok(cf_mem_free(there[1]));
}

FAKE_TEST(symbol_of_each_device_is_its_own, "CF_DRIVER")
{
    double factor;
    for (int device = CF_HOST; device < 2; device++) {
        factor = 5 + device;
        assert_ok(cf_device_use(device));
        assert_ok(cf_symbol_set(&of_coeff, values));
        assert_ok(cf_symbol_set(&of_scale, &factor));
    }
    for (int device = CF_HOST; device < 2; device++) {
        assert_ok(cf_device_use(device));
        expect_products(5 + device);
    }
}

FAKE_TEST(symbol_of_a_second_context_is_its_own, "CF_DRIVER")
{
    double two = 2, nine = 9;
    CUcontext context;
    assert_ok(cf_symbol_set(&of_coeff, values));
    assert_ok(cf_symbol_set(&of_scale, &two));
    assert_int_equal(context_create(&context, 0, 0), CUDA_SUCCESS);
    assert_ok(cf_symbol_set(&of_coeff, values));
    assert_ok(cf_symbol_set(&of_scale, &nine));
    expect_products(9);
    assert_int_equal(context_destroy(context), CUDA_SUCCESS);
    expect_products(2);
}

/* ---- Errors ---- */

TEST_WITH(symbol_set_null_is_invalid, set_up, tear_down)
{
    double two = 2;
    assert_fails(cf_symbol_set(NULL, &two), CF_EINVAL, "cf_symbol_set: symbol is NULL");
    assert_fails(cf_symbol_set_async(NULL, NULL, &two), CF_EINVAL, "cf_symbol_set_async: symbol is NULL");
    assert_fails(cf_symbol_set(&of_scale, NULL), CF_EINVAL, "made_set_scale: scale is NULL");
}

TEST_WITH(symbol_of_another_version_is_invalid, set_up, tear_down)
{
    double two = 2;
    of_scale.version = 1;
    assert_fails(cf_symbol_set(&of_scale, &two), CF_EINVAL, "descriptor has version 1, this library takes 9");
}

TEST_WITH(symbol_of_too_many_bytes_overflows, set_up, tear_down)
{
    static const int64_t many[] = {(int64_t)1 << 32, (int64_t)1 << 32}, negative[] = {2, -3};
    of_coeff.extents = many;
    assert_fails(cf_symbol_set(&of_coeff, values), CF_EOVERFLOW, "made_set_coeff: coeff has more than 2^63 - 1 bytes");
    of_coeff.extents = negative;
    assert_int_equal(cf_symbol_set(&of_coeff, values), CF_EOVERFLOW);
}

TEST_WITH(symbol_without_form_for_the_device_says_so, set_up, tear_down)
{
    double two = 2;
    void *nothing = NULL;
    if (on_cuda()) {
        of_scale.image = NULL;
        assert_fails(cf_symbol_set(&of_scale, &two), CF_ENOCODE,
                     "made_set_scale: it was built for the CPU alone; build it where nvcc is");
        return;
    }
    of_scale.cpu_data = NULL;
    assert_fails(cf_symbol_set(&of_scale, &two), CF_ENOTSUP, "made_set_scale: scale has no form for the CPU");
    of_scale.cpu_data = &nothing;
    assert_fails(cf_symbol_set(&of_scale, &two), CF_ENOTSUP, "made_set_scale: scale has no form for the CPU");
    assert_true(scale == 1);
}

TEST_WITH(symbol_of_another_size_is_no_image, set_up, tear_down)
{
    static const int64_t fewer[] = {2, 2};
    of_coeff.extents = fewer;
    assert_fails(cf_symbol_set(&of_coeff, values), CF_EIMAGE,
                 on_cuda() ? "made_set_coeff: coeff has 24 bytes in its image and 16 in its descriptor"
                           : "made_set_coeff: coeff has 24 bytes in its form for the CPU and 16 in its descriptor");
    of_coeff.extents = extents;
    assert_ok(cf_symbol_set(&of_coeff, values)); /* the failure was not cached */
}

FAKE_TEST(symbol_unknown_to_its_image_names_the_entry, "CF_DRIVER")
{
    double two = 2;
    of_scale.entry = "nonsense";
    assert_fails(cf_symbol_set(&of_scale, &two), CF_EIMAGE,
                 "made_set_scale: finding nonsense: cuLibraryGetGlobal returned 500 (CUDA_ERROR_NOT_FOUND");
}

FAKE_TEST(symbol_of_a_damaged_image_says_so, "CF_DRIVER")
{
    double two = 2;
    cf_image damaged = image.image;
    damaged.crc32++;
    of_scale.image = &damaged;
    assert_fails(cf_symbol_set(&of_scale, &two), CF_EIMAGE, "made_set_scale: its image of 32 bytes is damaged");
}

FAKE_TEST(symbol_set_on_the_cpu_takes_no_gpu_memory, "CF_DRIVER")
{
    double two = 2;
    void *there = upload(&two, sizeof two);
    assert_ok(cf_device_use(CF_HOST));
    assert_fails(cf_symbol_set(&of_scale, there), CF_EINVAL,
                 "made_set_scale: the value is memory of device 0 and the call runs on CF_HOST");
    assert_ok(cf_mem_free(there));
    assert_ok(cf_device_use(0));
    assert_ok(cf_mem_alloc_pinned(&there, sizeof two));
    memcpy(there, &two, sizeof two);
    assert_ok(cf_device_use(CF_HOST));
    assert_ok(cf_symbol_set(&of_scale, there)); /* the library reads this memory on the CPU */
    assert_ok(cf_mem_free(there));
}

/* A copy would break the capture, so the call is refused. */
FAKE_TEST(symbol_set_while_a_blocking_stream_is_captured_is_refused, "CF_DRIVER")
{
    const struct cf__driver *driver = other_library();
    double two = 2;
    CUcontext context;
    CUstream stream;
    CUgraph graph;
    assert_int_equal(context_create(&context, 0, 0), CUDA_SUCCESS);
    assert_ok(cf_symbol_set(&of_scale, &two)); /* loads the image */
    assert_int_equal(driver->cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    assert_fails(
        cf_symbol_set(&of_scale, &two), CF_ECAPTURE,
        "made_set_scale: the default stream cannot be used while a stream that is ordered with it is captured");
    assert_int_equal(driver->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver->cuGraphDestroy(graph), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamDestroy(stream), CUDA_SUCCESS);
    assert_ok(cf_symbol_set(&of_scale, &two));
    assert_int_equal(context_destroy(context), CUDA_SUCCESS);
}

FAKE_TEST(symbol_set_where_the_driver_fails_is_no_success, "CF_DRIVER")
{
    static const struct {
        enum driver_call call;
        const char *name;
    } calls[] = {{CALL_cuCtxGetDevice, "cuCtxGetDevice returned 999"},
                 {CALL_cuPointerGetAttributes, "cuPointerGetAttributes returned 999"}};
    double two = 2, three = 3;
    CUcontext context;
    assert_ok(cf_symbol_set(&of_scale, &two));
    /* The library does not know this context, and asks the driver for its device. */
    assert_int_equal(context_create(&context, 0, 0), CUDA_SUCCESS);
    void *there = upload(&three, sizeof three);
    assert_ok(cf_symbol_set(&of_coeff, values));
    assert_ok(cf_symbol_set(&of_scale, &two));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        fail_calls(calls[i].call, CUDA_ERROR_UNKNOWN);
        int status = cf_symbol_set(&of_scale, there);
        assert_non_null(strstr(cf_last_error(), calls[i].name));
        assert_memory_equal(cf_last_error(), "made_set_scale: ", 16);
        assert_int_equal(cf_symbol_set_async(NULL, &of_scale, there), status);
        fail_calls(calls[i].call, CUDA_SUCCESS);
        assert_int_equal(status, CF_ECALL);
    }
    expect_products(2);
    assert_ok(cf_mem_free(there));
    assert_int_equal(context_destroy(context), CUDA_SUCCESS);
}

int main(int argc, char *argv[])
{
    make_image(&image, 5);
    return run_made(argc, argv, &module, set_up, tear_down);
}
