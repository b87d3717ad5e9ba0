/* test_driver_cuda.c - the driver table is filled from libcuda.so.1, or it is said why not; all on the driver that
 * plays a GPU, since no machine has every driver that there is. */
#include "on_fake.h"

#define ABSENT 1

/* The table cannot be filled for exactly this reason, and the library is closed again. */
static void expect(int status, const char *reason)
{
    struct cf__driver driver;
    char said[256] = "";
    assert_int_equal(cf__driver_cuda(&driver, said, sizeof said), status);
    assert_string_equal(said, reason);
    assert_null(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
}

static void driver_without_library_is_absent(void **state)
{
    (void)state;
    if (dlopen("libcuda.so.1", RTLD_NOW))
        skip_process("needs a machine without NVIDIA's driver");
    expect(ABSENT, "no NVIDIA driver (libcuda.so.1: cannot open shared object file: No such file or directory)");
}

static void driver_without_device_is_absent(void **state)
{
    (void)state;
    expect(ABSENT, "the driver finds no GPU");
}

static void driver_that_counts_no_device_is_absent(void **state)
{
    (void)state;
    expect(ABSENT, "the driver finds no GPU");
}

static void driver_stub_is_absent(void **state)
{
    (void)state;
    expect(ABSENT, "libcuda.so.1 is the toolkit's stub and no driver");
}

static void driver_of_cuda_11_8_is_too_old(void **state)
{
    (void)state;
    expect(CF_EDRIVER,
           "the NVIDIA driver is for CUDA 11.8 and Cuferry needs one for CUDA 12.0 or newer; update the driver");
}

static void driver_unknown_failure_names_it(void **state)
{
    (void)state;
    expect(CF_EDRIVER, "cuInit returned 999 (CUDA_ERROR_UNKNOWN, unknown error)");
}

static void driver_mismatch_names_it(void **state)
{
    (void)state;
    expect(CF_EDRIVER,
           "cuInit returned 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, system has unsupported display driver / "
           "cuda driver combination)");
}

static void driver_result_without_name_gives_its_number(void **state)
{
    (void)state;
    expect(CF_EDRIVER, "cuInit returned 12345 (unknown result, no text)");
}

/* Each function in turn: the library is closed after a failure, so that the next attempt reads the environment anew. */
static void driver_lacking_a_function_names_it(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int version;
    } functions[] = {
#define ROW(name, version, parameters, names) {#name, version},
        CF__DRIVER_FUNCS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char setting[64], reason[128];
        if (functions[i].version > CF__DRIVER_VERSION)
            continue;
        snprintf(setting, sizeof setting, "lacks=%s", functions[i].name);
        snprintf(reason, sizeof reason, "libcuda.so.1 lacks %s; reinstall the NVIDIA driver", functions[i].name);
        assert_int_equal(setenv("FAKE_CUDA", setting, 1), 0);
        expect(CF_EDRIVER, reason);
    }
}

static void driver_reason_is_cut_to_its_size(void **state)
{
    (void)state;
    struct cf__driver driver;
    char said[] = "0123456789";
    assert_int_equal(cf__driver_cuda(&driver, said, 8), CF_EDRIVER);
    assert_memory_equal(said, "the NVI\00089", sizeof said);
}

/* Fills `driver` with every function of version 12.0; those of newer ones may be absent. */
static void fill(struct cf__driver *driver)
{
    char reason[256] = "untouched";
    memset(driver, 0xff, sizeof *driver);
    assert_int_equal(cf__driver_cuda(driver, reason, sizeof reason), CF_OK);
    assert_string_equal(reason, "untouched");
    assert_int_equal(driver->is_host, 0);
#define ASSERT_FILLED(name, version, parameters, names) \
    if ((version) <= CF__DRIVER_VERSION)                \
        assert_true(driver->name != NULL);
    CF__DRIVER_FUNCS(ASSERT_FILLED)
#undef ASSERT_FILLED
}

static void driver_usable_is_filled_and_stays_open(void **state)
{
    (void)state;
    struct cf__driver driver;
    int version = 0, count = 0;
    fill(&driver);
    assert_true(driver.cuKernelGetParamInfo != NULL);
    assert_int_equal(driver.cuDriverGetVersion(&version), CUDA_SUCCESS);
    assert_int_equal(version, 13000);
    assert_int_equal(driver.cuDeviceGetCount(&count), CUDA_SUCCESS);
    assert_int_equal(count, 2);
    assert_non_null(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
}

static void driver_of_cuda_12_0_lacks_what_is_newer(void **state)
{
    (void)state;
    struct cf__driver driver;
    fill(&driver);
    assert_true(driver.cuKernelGetParamInfo == NULL);
}

static void driver_lacking_what_is_newer_is_filled(void **state)
{
    (void)state;
    struct cf__driver driver;
    fill(&driver);
    assert_true(driver.cuKernelGetParamInfo == NULL);
}

int main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        fake_test(driver_without_library_is_absent, "LD_LIBRARY_PATH"),
        fake_test(driver_without_device_is_absent, "FAKE_CUDA=devices=0"),
        fake_test(driver_that_counts_no_device_is_absent, "FAKE_CUDA=devices=0,init=0"),
        fake_test(driver_stub_is_absent, "FAKE_CUDA=init=34"),
        fake_test(driver_of_cuda_11_8_is_too_old, "FAKE_CUDA=version=11080"),
        fake_test(driver_unknown_failure_names_it, "FAKE_CUDA=init=999"),
        fake_test(driver_mismatch_names_it, "FAKE_CUDA=init=803"),
        fake_test(driver_result_without_name_gives_its_number, "FAKE_CUDA=init=12345"),
        fake_test(driver_lacking_a_function_names_it, "FAKE_CUDA"),
        fake_test(driver_reason_is_cut_to_its_size, "FAKE_CUDA=version=11080"),
        fake_test(driver_usable_is_filled_and_stays_open, "FAKE_CUDA"),
        fake_test(driver_of_cuda_12_0_lacks_what_is_newer, "FAKE_CUDA=version=12000"),
        fake_test(driver_lacking_what_is_newer_is_filled, "FAKE_CUDA=lacks=cuKernelGetParamInfo"),
    };
    return RUN_WITH_FAKE(argc, argv, tests, NULL, NULL);
}
