/* test_image.c - images are loaded once, and their kernels are found. An image that is damaged or does not fit causes
 * an error that names it, and does not affect the next call. The descriptors are copies of gather's with one change. */
#include "open_plugin.h"

#include <pthread.h>

#include <cuferry/kernels.h>
#include <cuferry/registry.h>

#define THREADS 16

static const uint16_t no_target[] = {0};

/* gather_f32_i32 without its check, which would need a second image. Only these copies are loaded. */
static cf_kernel kernel;
static cf_image image;
static cf_state kernel_state, image_state;

static int set_up(void **state)
{
    (void)state;
    kernel = *cf_kernel_find(&cf_registry, "gather_f32_i32");
    kernel.nchecks = 0;
    kernel.state = &kernel_state;
    if (kernel.image) {
        image = *kernel.image;
        image.state = &image_state;
        kernel.image = &image;
    }
    return 0;
}

/* The states above belong to the library until it is shut down. */
static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    assert_null(kernel_state.loaded);
    assert_null(image_state.loaded);
    return 0;
}

/* Calls the kernel with host arrays, checks the result if it succeeds, and returns the status. */
static int run(const cf_kernel *of)
{
    const float source[] = {1, 2, 3}, *source_pointer = source;
    const int32_t index[] = {2, 0, 1, 2}, *index_pointer = index;
    float res[4] = {0}, *res_pointer = res;
    int64_t N = 4, M = 3, extra = 0; /* the last one is for descriptors with one parameter too many */
    void *const args[] = {(void *)&source_pointer, (void *)&index_pointer, &res_pointer, &N, &M, &extra};
    int status = cf_call(of, args);
    if (status == CF_OK && !(res[0] == 3 && res[1] == 1 && res[2] == 2 && res[3] == 3))
        return INT_MIN;
    return status;
}

/* Expects this error from the changed copy, twice. After that the bundled kernel must run, and so must the restored
 * copy. */
static void expect_refused(int status, int driver_result, const char *detail)
{
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(&kernel), status);
        assert_string_equal(cf_last_error(), detail);
        assert_int_equal(cf_last_driver_result(), driver_result);
        assert_null(kernel_state.loaded);
    }
    assert_ok(run(cf_kernel_find(&cf_registry, "gather_f32_i32")));
    assert_ok(set_up(NULL));
    assert_ok(run(&kernel));
}

static void needs_gpu(void)
{
    int count = 0;
    if (cf_device_count(&count) != CF_OK || count == 0)
        skip_test(NEEDS_ANY_GPU);
}

static int capability(void)
{
    int major = 0, minor = 0;
    assert_int_equal(other_library()->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0), 0);
    assert_int_equal(other_library()->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0), 0);
    return 10 * major + minor;
}

static int driver_version(void)
{
    int version = 0;
    assert_int_equal(other_library()->cuDriverGetVersion(&version), CUDA_SUCCESS);
    return version;
}

/* ---- Loading ---- */

TEST_WITH(image_intact_loads_and_runs, set_up, tear_down)
{
    assert_ok(run(&kernel));
    assert_non_null(kernel_state.loaded);
    assert_int_equal(image_state.loaded != NULL, on_cuda());
    assert_ok(run(&kernel));
}

TEST_WITH(image_leaves_the_capture_mode_of_the_thread, set_up, tear_down)
{
    needs_gpu();
    CUstreamCaptureMode mode = 1; /* the thread's own capture mode */
    const struct cf__driver *driver = other_library();
    assert_int_equal(driver->cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    assert_ok(run(&kernel));
    kernel.entry = "nonsense";
    kernel.state = &(cf_state){NULL};
    assert_int_equal(run(&kernel), CF_EIMAGE);
    assert_int_equal(driver->cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    assert_int_equal(mode, 1);
}

struct racer {
    pthread_barrier_t *start;
    int status;
};

static void *race(void *argument)
{
    struct racer *racer = argument;
    pthread_barrier_wait(racer->start);
    racer->status = run(&kernel);
    return NULL;
}

/* Returns the number of lines in a report of live objects that begin with `kind`. */
static int count_of(const char *report, const char *kind)
{
    int count = 0;
    for (const char *line = report; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        count += strncmp(line, kind, strlen(kind)) == 0;
    return count;
}

TEST_WITH(image_loaded_by_16_threads_loads_once, set_up, tear_down)
{
    for (int round = 0; round < 20; round++) {
        pthread_barrier_t start;
        pthread_t threads[THREADS];
        struct racer racers[THREADS];
        char text[1024];
        assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
        for (int i = 0; i < THREADS; i++) {
            racers[i] = (struct racer){&start, -1};
            assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(racers[i].status, CF_OK);
        }
        pthread_barrier_destroy(&start);
        int alive = count_alive(text, sizeof text);
        if (alive >= 0 && on_cuda() && (count_of(text, "library") != 1 || count_of(text, "primary context") != 1))
            fail_msg("these are alive:\n%s", text);
        if (round < 19) {
            assert_ok(tear_down(state));
            if (alive < 0 && on_cuda())
                break; /* restarting a real GPU takes long */
        }
    }
}

/* Loaded functions are found by the id of the context, because a new context may have the address of an old one. */
TEST_WITH(image_in_contexts_that_come_and_go_runs, set_up, tear_down)
{
    needs_gpu();
    for (int i = 0; i < 3; i++) {
        CUcontext context;
        assert_int_equal(context_create(&context, 0, 0), CUDA_SUCCESS);
        assert_ok(run(&kernel));
        assert_int_equal(context_destroy(context), CUDA_SUCCESS);
    }
    assert_ok(run(&kernel));
}

FAKE_TEST(image_on_two_gpus_loads_once, "CF_DRIVER")
{
    char text[1024];
    for (int device = 0; device < 2; device++) {
        assert_ok(cf_device_use(device));
        assert_ok(run(&kernel));
    }
    assert_true(count_alive(text, sizeof text) >= 3);
    assert_int_equal(count_of(text, "library"), 1);
    assert_int_equal(count_of(text, "primary context"), 2);
}

/* ---- Descriptors of a shared object that is closed ---- */

static const cf_kernel *kernel_of(void *library)
{
    plugin_module_function *module = (plugin_module_function *)plugin_function(library, "plugin_module");
    return cf_kernel_find(module(), "gather_f32_i32");
}

/* The object's kernels run through this program's copy of the library, which is shut down after the object is
 * closed. */
TEST_WITH(image_of_a_closed_object_is_given_back, set_up, tear_down)
{
    for (int i = 0; i < 5; i++) { /* most probably the object gets the same address each time */
        void *library = open_plugin();
        const cf_kernel *theirs = kernel_of(library);
        assert_null(theirs->state->loaded);
        assert_ok(run(theirs));
        assert_non_null(theirs->state->loaded);
        close_plugin(library, theirs);
        assert_ok(run(cf_kernel_find(&cf_registry, "gather_f32_i32")));
    }
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    assert_ok(run(&kernel));
}

/* When the object is opened again at the same address, it loads its own image, whatever the first one did. */
TEST_WITH(image_of_an_object_opened_again_is_another, set_up, tear_down)
{
    void *library = open_plugin();
    const cf_kernel *before = kernel_of(library);
    assert_ok(run(before));
    close_plugin(library, before);
    library = open_plugin();
    const cf_kernel *again = kernel_of(library);
    assert_null(again->state->loaded);
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    assert_ok(run(again));
    assert_ok(cf_shutdown()); /* meanwhile the object is still open */
    assert_nothing_alive();
    assert_null(again->state->loaded);
    assert_ok(run(again));
    close_plugin(library, again);
}

/* ---- Damaged images ---- */

/* CRC-32 by its definition, one bit at a time. */
static uint32_t crc32(const unsigned char *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < 8 * size; i++) {
        uint32_t bit = (crc ^ (uint32_t)bytes[i / 8] >> i % 8) & 1;
        crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
    }
    return ~crc;
}

static void expect_damaged(void)
{
    char detail[160];
    size_t size = (size_t)(image.end - image.begin);
    snprintf(detail, sizeof detail,
             "cf_gather_f32_i32: its image of %zu bytes is damaged: its checksum is %08x and not %08x", size,
             (unsigned int)crc32(image.begin, size), (unsigned int)image.crc32);
    expect_refused(CF_EIMAGE, 0, detail);
}

TEST_WITH(image_empty_is_damaged, set_up, tear_down)
{
    needs_gpu();
    image.end = image.begin;
    expect_damaged();
    image.end = image.begin;
    image.crc32 = 0; /* the CRC of an empty image */
    image.state = &(cf_state){NULL};
    kernel.state = &(cf_state){NULL};
    assert_int_equal(run(&kernel), CF_EIMAGE);
}

TEST_WITH(image_cut_short_is_damaged, set_up, tear_down)
{
    needs_gpu();
    image.end--;
    expect_damaged();
}

TEST_WITH(image_too_long_is_damaged, set_up, tear_down)
{
    needs_gpu();
    image.end++; /* now also covers the byte after the image */
    expect_damaged();
}

/* Flips one bit in the magic number, in a size in the header, in the middle, and at the end. */
TEST_WITH(image_with_a_flipped_bit_is_damaged, set_up, tear_down)
{
    needs_gpu();
    const cf_image good = image;
    size_t size = (size_t)(good.end - good.begin);
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    const size_t places[] = {0, 8, size / 2, size - 1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        memcpy(copy, good.begin, size);
        copy[places[i]] ^= 0x10;
        image.begin = copy;
        image.end = copy + size;
        expect_damaged();
        assert_ok(tear_down(NULL));
    }
    free(copy);
}

/* ---- Devices and drivers that the image does not support ---- */

static void expect_no_code(const char *targets)
{
    char detail[200];
    int sm = capability();
    snprintf(detail, sizeof detail,
             "cf_gather_f32_i32: its image has code for %s and device 0 is sm_%d; build with --targets=%d", targets, sm,
             sm);
    expect_refused(CF_ENOCODE, 0, detail);
}

TEST_WITH(image_for_other_devices_has_no_code, set_up, tear_down)
{
    needs_gpu();
    image.sm = (const uint16_t[]){10, 20, 0};
    image.ptx = no_target;
    expect_no_code("sm_10 sm_20");
}

/* Code for a minor version runs only on that minor version and later ones. */
TEST_WITH(image_for_a_later_minor_version_has_no_code, set_up, tear_down)
{
    needs_gpu();
    char targets[16];
    uint16_t sm = (uint16_t)(capability() + 1);
    if (sm / 10 != capability() / 10)
        skip_test("needs a GPU of another architecture");
    snprintf(targets, sizeof targets, "sm_%d", sm);
    image.sm = (const uint16_t[]){sm, 0};
    image.ptx = no_target;
    expect_no_code(targets);
}

TEST_WITH(image_with_ptx_of_a_later_target_has_no_code, set_up, tear_down)
{
    needs_gpu();
    char targets[32];
    uint16_t later = (uint16_t)(capability() + 1);
    snprintf(targets, sizeof targets, "sm_10 compute_%d", later);
    image.sm = (const uint16_t[]){10, 0};
    image.ptx = (const uint16_t[]){later, 0};
    expect_no_code(targets);
}

FAKE_TEST(image_for_an_earlier_minor_version_runs, "FAKE_CUDA=cc=95")
{
    assert_int_equal(capability(), 95);
    image.ptx = no_target;
    image.sm = (const uint16_t[]){80, 90, 0};
    assert_ok(run(&kernel));
}

FAKE_TEST(image_with_ptx_of_an_earlier_target_runs, "FAKE_CUDA=cc=121,version=13990")
{
    assert_int_equal(capability(), 121);
    image.sm = (const uint16_t[]){80, 90, 0};
    image.ptx = (const uint16_t[]){90, 0};
    assert_ok(run(&kernel));
    assert_ok(tear_down(NULL));
    image.ptx = no_target;
    expect_no_code("sm_80 sm_90");
}

#define A(number) ((number) | CF_TARGET_EXACT)
#define F(number) ((number) | CF_TARGET_FAMILY)

/* Makes an image with one target for machine code and one for PTX; 0 stands for none. */
static void expect_targets(uint16_t sm, uint16_t ptx, const char *refused)
{
    image.sm = (const uint16_t[]){sm, 0};
    image.ptx = (const uint16_t[]){ptx, 0};
    if (refused) {
        expect_no_code(refused);
        assert_ok(tear_down(NULL));
        return;
    }
    assert_ok(run(&kernel));
    assert_ok(tear_down(NULL));
}

FAKE_TEST(image_for_90a_runs_on_9_0, "FAKE_CUDA=cc=90")
{
    assert_int_equal(capability(), 90);
    expect_targets(A(90), 0, NULL);
    expect_targets(0, A(90), NULL);
    expect_targets(A(100), A(100), "sm_100a compute_100a");
}

/* The library takes the next image that runs. If there is none, the error names the device and all targets. */
FAKE_TEST(image_for_90a_does_not_run_on_10_0, "FAKE_CUDA=cc=100,version=13990")
{
    assert_int_equal(capability(), 100);
    expect_targets(A(90), 0, "sm_90a");
    expect_targets(A(90), A(90), "sm_90a compute_90a");
    expect_targets(A(90), 80, NULL);
    expect_targets(A(90), F(100), NULL);
    expect_targets(F(103), 0, "sm_103f");
    expect_targets(A(100), 0, NULL);
}

FAKE_TEST(image_for_100f_runs_on_10_3, "FAKE_CUDA=cc=103,version=13990")
{
    assert_int_equal(capability(), 103);
    expect_targets(F(100), 0, NULL);
    expect_targets(0, F(100), NULL);
    expect_targets(F(103), 0, NULL);
    expect_targets(A(100), A(100), "sm_100a compute_100a");
}

FAKE_TEST(image_for_100f_does_not_run_on_12_0, "FAKE_CUDA=cc=120,version=13990")
{
    assert_int_equal(capability(), 120);
    expect_targets(F(100), F(100), "sm_100f compute_100f");
    expect_targets(F(100), 100, NULL);
    expect_targets(F(120), 0, NULL);
}

/* Each device is checked separately: the image has code for the first device but not for the second. */
FAKE_TEST(image_for_one_device_of_two_runs_there, "FAKE_CUDA=cc1=75")
{
    image.sm = (const uint16_t[]){80, 90, 0};
    image.ptx = (const uint16_t[]){90, 0};
    assert_ok(run(&kernel));
    assert_ok(cf_device_use(1));
    assert_int_equal(run(&kernel), CF_ENOCODE);
    assert_string_equal(cf_last_error(),
                        "cf_gather_f32_i32: its image has code for sm_80 sm_90 compute_90 and device 1 "
                        "is sm_75; build with --targets=75");
    assert_ok(cf_device_use(0));
    assert_ok(run(&kernel));
}

TEST_WITH(image_of_a_later_toolkit_names_both_versions, set_up, tear_down)
{
    needs_gpu();
    char detail[200];
    int version = driver_version();
    image.toolkit = 99010;
    snprintf(
        detail, sizeof detail,
        "cf_gather_f32_i32: its image is of CUDA 99.1 and the driver is for CUDA %d.%d; update the driver, or build "
        "with an older toolkit",
        version / 1000, version % 1000 / 10);
    expect_refused(CF_EDRIVER, 0, detail);
}

TEST_WITH(image_of_a_later_minor_toolkit_runs, set_up, tear_down)
{
    needs_gpu();
    image.toolkit = (uint32_t)driver_version() / 1000 * 1000 + 990;
    assert_ok(run(&kernel));
}

/* ---- Kernels that their image lacks ---- */

TEST_WITH(kernel_unknown_to_its_image_names_the_entry, set_up, tear_down)
{
    needs_gpu();
    kernel.entry = "nonsense";
    expect_refused(CF_EIMAGE, CUDA_ERROR_NOT_FOUND,
                   "cf_gather_f32_i32: finding nonsense: cuLibraryGetKernel returned 500 (CUDA_ERROR_NOT_FOUND, named "
                   "symbol not found)");
}

TEST_WITH(kernel_of_another_image_names_the_entry, set_up, tear_down)
{
    needs_gpu();
    char detail[200];
    kernel.entry = cf_kernel_find(&cf_registry, "outside_i32")->entry;
    snprintf(
        detail, sizeof detail,
        "cf_gather_f32_i32: finding %s: cuLibraryGetKernel returned 500 (CUDA_ERROR_NOT_FOUND, named symbol not found)",
        kernel.entry);
    expect_refused(CF_EIMAGE, CUDA_ERROR_NOT_FOUND, detail);
}

TEST_WITH(kernel_without_image_says_so, set_up, tear_down)
{
    needs_gpu();
    kernel.image = NULL;
    expect_refused(CF_ENOCODE, 0, "cf_gather_f32_i32: it was built for the CPU alone; build it where nvcc is");
}

TEST_WITH(kernel_without_cpu_body_says_so, set_up, tear_down)
{
    int device;
    assert_ok(cf_device_current(&device));
    assert_ok(cf_device_use(CF_HOST));
    kernel.cpu_body = NULL;
    expect_refused(CF_ENOTSUP, 0,
                   "cf_gather_f32_i32: it has no form for the CPU: its annotation has host(none), or image(...) "
                   "without host(function)");
    assert_ok(cf_device_use(device));
}

TEST_WITH(kernel_without_cpu_body_runs_on_a_gpu, set_up, tear_down)
{
    needs_gpu();
    kernel.cpu_body = NULL;
    assert_ok(run(&kernel));
}

/* ---- Parameters ---- */

static void needs_param_info(void)
{
    needs_gpu();
    if (!other_library()->cuKernelGetParamInfo)
        skip_test("needs a driver of CUDA 12.4 or newer");
}

TEST_WITH(kernel_with_parameter_of_another_size_names_it, set_up, tear_down)
{
    needs_param_info();
    cf_param params[5];
    memcpy(params, kernel.params, sizeof params);
    params[3].bytes = 4;
    kernel.params = params;
    expect_refused(CF_EIMAGE, 0, "cf_gather_f32_i32: N has 8 bytes in its image and 4 in its descriptor");
}

TEST_WITH(kernel_with_value_for_a_pointer_names_it, set_up, tear_down)
{
    needs_param_info();
    cf_param params[5];
    memcpy(params, kernel.params, sizeof params);
    params[0].direction = CF_VALUE;
    kernel.params = params;
    expect_refused(CF_EIMAGE, 0, "cf_gather_f32_i32: source has 8 bytes in its image and 4 in its descriptor");
}

TEST_WITH(kernel_with_more_parameters_than_its_image_names_the_first, set_up, tear_down)
{
    needs_param_info();
    cf_param params[6];
    memcpy(params, kernel.params, 5 * sizeof *params);
    params[5] = (cf_param){.name = "extra", .ctype = "int64_t", .type = CF_I64, .direction = CF_VALUE};
    kernel.params = params;
    kernel.nparams = 6;
    kernel.restricts = NULL; /* it would otherwise need one element more */
    assert_int_equal(run(&kernel), CF_EIMAGE);
    assert_string_equal(cf_last_error(),
                        "cf_gather_f32_i32: its image does not know extra, parameter 5 of its descriptor");
    assert_null(kernel_state.loaded);
    assert_ok(set_up(NULL));
    assert_ok(run(&kernel));
}

/* Drivers before CUDA 12.4 do not report the sizes of parameters, so nothing is compared, and a correct kernel runs. */
FAKE_TEST(kernel_on_a_driver_that_tells_no_sizes_runs, "FAKE_CUDA=version=12030")
{
    image.toolkit = 12000;
    assert_true(other_library()->cuKernelGetParamInfo == NULL);
    assert_ok(run(&kernel));
}

/* ---- Errors from the driver itself ---- */

static void expect_load_fails(int status, int result, const char *text)
{
    char detail[200];
    for (int i = 0; i < 2; i++) {
        snprintf(detail, sizeof detail, "cf_gather_f32_i32: loading its image: cuLibraryLoadData returned %d (%s)",
                 result, text);
        assert_int_equal(run(&kernel), status);
        assert_string_equal(cf_last_error(), detail);
        assert_int_equal(cf_last_driver_result(), result);
        assert_null(kernel_state.loaded);
        assert_null(image_state.loaded);
    }
    assert_ok(cf_device_use(CF_HOST));
    assert_ok(run(&kernel));
}

FAKE_TEST(image_that_the_driver_finds_no_code_in_has_none, "FAKE_CUDA=load=209")
{
    expect_load_fails(CF_ENOCODE, CUDA_ERROR_NO_BINARY_FOR_GPU,
                      "CUDA_ERROR_NO_BINARY_FOR_GPU, no kernel image is available for execution on the device");
}

FAKE_TEST(image_with_ptx_of_a_later_toolkit_has_no_code, "FAKE_CUDA=load=222")
{
    expect_load_fails(
        CF_ENOCODE, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION, the provided PTX was compiled with an unsupported toolchain.");
}

FAKE_TEST(image_that_the_driver_cannot_read_is_no_image, "FAKE_CUDA=load=200")
{
    expect_load_fails(CF_EIMAGE, CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE, device kernel image is invalid");
}

FAKE_TEST(image_that_the_driver_has_no_memory_for_is_enomem, "FAKE_CUDA=load=2")
{
    expect_load_fails(CF_ENOMEM, CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY, out of memory");
}

FAKE_TEST(image_that_fails_for_no_known_reason_is_a_failed_call, "FAKE_CUDA=load=999")
{
    expect_load_fails(CF_ECALL, CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN, unknown error");
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, set_up, tear_down);
}
