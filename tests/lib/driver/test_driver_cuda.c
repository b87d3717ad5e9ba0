/* test_driver_cuda.c - how the driver table is filled from libcuda.so.1, and why that can fail. All tests use the
 * played GPU, because no machine has every version of the driver. */
#include <link.h>

#include "played_gpu.h"

#include <sys/resource.h>
#include <sys/stat.h>

#define ABSENT 1

/* Expects that filling the table fails with exactly this reason, and that the library is closed again. */
static void expect(int status, const char *reason)
{
    struct cf__driver driver;
    char said[256] = "";
    assert_int_equal(cf__driver_cuda_fill(&driver, said, sizeof said), status);
    assert_string_equal(said, reason);
    assert_null(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
}

FAKE_TEST(driver_without_library_is_absent, "LD_LIBRARY_PATH")
{
    if (dlopen("libcuda.so.1", RTLD_NOW))
        skip_process(NEEDS_NO_DRIVER);
    expect(ABSENT, "no NVIDIA driver (libcuda.so.1: cannot open shared object file: No such file or directory)");
}

/* ---- Files that cannot be loaded ---- */

/* The dynamic linker searches the current folder, in which the tests create libcuda.so.1. */
#define HERE "LD_LIBRARY_PATH=/proc/self/cwd"

static char made[] = "/tmp/cuferry-driver-XXXXXX";

static void take_away(void)
{
    (void)unlink("libcuda.so.1");
    (void)rmdir("libcuda.so.1");
    (void)rmdir(made);
}

static void go_to_an_empty_folder(void)
{
    assert_non_null(mkdtemp(made));
    assert_int_equal(chdir(made), 0);
    assert_int_equal(atexit(take_away), 0);
}

/* Creates libcuda.so.1 with the first `size` of these bytes. */
static void make(const char *bytes, size_t size)
{
    FILE *file = fopen("libcuda.so.1", "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void expect_cannot_be_loaded(const char *because)
{
    struct cf__driver driver;
    char said[256] = "";
    assert_int_equal(cf__driver_cuda_fill(&driver, said, sizeof said), CF_EDRIVER);
    if (strncmp(said, "libcuda.so.1 cannot be loaded: ", 31) != 0 || !strstr(said, because))
        fail_msg("it says \"%s\" and not \"%s\"", said, because);
}

/* Returns the bytes of the shared object that plays a GPU. */
static char *read_fake(size_t *size)
{
    static char self[PATH_MAX], fake[PATH_MAX], path[PATH_MAX + 16], bytes[64 << 20];
    find_paths(self, fake);
    snprintf(path, sizeof path, "%s/libcuda.so.1", fake);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    *size = fread(bytes, 1, sizeof bytes, file);
    assert_in_range(*size, 1000, sizeof bytes - 1);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

/* Returns how many bytes the loader maps; debug information comes after them. */
static size_t mapped_bytes(const char *bytes)
{
    const ElfW(Ehdr) *header = (const void *)bytes;
    const ElfW(Phdr) *segments = (const void *)(bytes + header->e_phoff);
    size_t end = 0;
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset + segments[i].p_filesz > end)
            end = segments[i].p_offset + segments[i].p_filesz;
    return end;
}

FAKE_TEST(driver_file_that_is_none_is_an_error, HERE)
{
    size_t size;
    const char *bytes = read_fake(&size);
    go_to_an_empty_folder();
    make("", 0);
    expect_cannot_be_loaded("libcuda.so.1");
    make("not a library\n", 14);
    expect_cannot_be_loaded("libcuda.so.1");
    make(bytes, 100); /* truncated in the header, or in the segments */
    expect_cannot_be_loaded("libcuda.so.1");
    make(bytes, 4096);
    expect_cannot_be_loaded("the file is cut off");
    make(bytes, mapped_bytes(bytes) / 2);
    expect_cannot_be_loaded("the file is cut off");
    assert_int_equal(unlink("libcuda.so.1"), 0);
    assert_int_equal(mkdir("libcuda.so.1", 0700), 0);
    expect_cannot_be_loaded("libcuda.so.1");
}

FAKE_TEST(driver_file_that_needs_another_one_is_an_error, HERE)
{
    size_t size;
    char *bytes = read_fake(&size), *needed = memmem(bytes, size, "\0libc.so.6", 11);
    if (!needed)
        skip_process("needs a C library whose name is libc.so.6");
    memcpy(needed, "\0none.so.6", 11);
    go_to_an_empty_folder();
    make(bytes, size);
    expect_cannot_be_loaded("none.so.6");
    expect_cannot_be_loaded("No such file or directory");
}

FAKE_TEST(driver_file_of_another_class_is_an_error, HERE)
{
    size_t size;
    char *bytes = read_fake(&size);
    bytes[4] = bytes[4] == 1 ? 2 : 1; /* claims the other class, 32 or 64 bits */
    go_to_an_empty_folder();
    if (dlopen("libcuda.so.1", RTLD_NOW))
        skip_process(NEEDS_NO_DRIVER);
    make(bytes, size);
    expect_cannot_be_loaded("ELF");
}

FAKE_TEST(driver_link_to_nowhere_is_absent, HERE)
{
    go_to_an_empty_folder();
    if (dlopen("libcuda.so.1", RTLD_NOW))
        skip_process(NEEDS_NO_DRIVER);
    assert_int_equal(symlink("nowhere", "libcuda.so.1"), 0);
    expect(ABSENT, "no NVIDIA driver (libcuda.so.1: cannot open shared object file: No such file or directory)");
}

/* ---- Too few resources to load it ---- */

static void limit(int resource, rlim_t most)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(resource, &limit), 0);
    limit.rlim_cur = most;
    assert_int_equal(setrlimit(resource, &limit), 0);
}

static void expect_usable(void)
{
    struct cf__driver driver;
    char said[256] = "";
    if (cf__driver_cuda_fill(&driver, said, sizeof said) != CF_OK)
        fail_msg("it says \"%s\"", said);
}

FAKE_TEST(driver_without_descriptors_is_an_error, "FAKE_CUDA")
{
    struct rlimit before;
    int lowest = dup(STDOUT_FILENO); /* the lowest free descriptor */
    assert_int_equal(close(lowest), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit(RLIMIT_NOFILE, (rlim_t)lowest);
    expect(CF_EDRIVER, "libcuda.so.1 cannot be searched for: Too many open files");
    limit(RLIMIT_NOFILE, before.rlim_cur);
    expect_usable();
    limit(RLIMIT_NOFILE, (rlim_t)lowest);
    expect_usable(); /* the library is already loaded */
    limit(RLIMIT_NOFILE, before.rlim_cur);
}

FAKE_TEST(driver_without_address_space_is_an_error, "FAKE_CUDA")
{
    long pages = 0;
    struct rlimit before;
    if (SANITIZED)
        skip_process(NEEDS_NO_SANITIZER);
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pages), 1);
    assert_int_equal(fclose(file), 0);
    rlim_t used = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit(RLIMIT_AS, used);
    expect(CF_EDRIVER, "libcuda.so.1 cannot be searched for: Cannot allocate memory");
    limit(RLIMIT_AS, used + (1 << 20));
    expect_cannot_be_loaded("libcuda.so.1");
    limit(RLIMIT_AS, before.rlim_cur);
    expect_usable();
}

FAKE_TEST(driver_without_device_is_absent, "FAKE_CUDA=devices=0")
{
    expect(ABSENT, "the driver finds no GPU");
}

FAKE_TEST(driver_that_counts_no_device_is_absent, "FAKE_CUDA=devices=0,init=0")
{
    expect(ABSENT, "the driver finds no GPU");
}

FAKE_TEST(driver_stub_is_absent, "FAKE_CUDA=init=34")
{
    expect(ABSENT, "libcuda.so.1 is the toolkit's stub and no driver");
}

FAKE_TEST(driver_of_cuda_11_8_is_too_old, "FAKE_CUDA=version=11080")
{
    expect(CF_EDRIVER,
           "the NVIDIA driver is for CUDA 11.8 and Cuferry needs one for CUDA 12.0 or newer; update the driver");
}

FAKE_TEST(driver_unknown_failure_names_it, "FAKE_CUDA=init=999")
{
    expect(CF_EDRIVER, "cuInit returned 999 (CUDA_ERROR_UNKNOWN, unknown error)");
}

FAKE_TEST(driver_mismatch_names_it, "FAKE_CUDA=init=803")
{
    expect(CF_EDRIVER,
           "cuInit returned 803 (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, system has unsupported display driver / "
           "cuda driver combination)");
}

FAKE_TEST(driver_result_without_name_gives_its_number, "FAKE_CUDA=init=12345")
{
    expect(CF_EDRIVER, "cuInit returned 12345 (unknown result, no text)");
}

/* Removes each function in turn. After the failure the library is closed, so the next attempt reads the environment
 * anew. */
FAKE_TEST(driver_lacking_a_function_names_it, "FAKE_CUDA")
{
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

FAKE_TEST(driver_reason_is_cut_to_its_size, "FAKE_CUDA=version=11080")
{
    struct cf__driver driver;
    char said[] = "0123456789";
    assert_int_equal(cf__driver_cuda_fill(&driver, said, 8), CF_EDRIVER);
    assert_memory_equal(said, "the NVI\00089", sizeof said);
}

/* Fills `driver`, and expects all functions of version 12.0; those of newer versions may be missing. */
static void fill(struct cf__driver *driver)
{
    char reason[256] = "untouched";
    memset(driver, 0xff, sizeof *driver);
    assert_int_equal(cf__driver_cuda_fill(driver, reason, sizeof reason), CF_OK);
    assert_string_equal(reason, "untouched");
    assert_int_equal(driver->is_cpu, 0);
#define ASSERT_FILLED(name, version, parameters, names) \
    if ((version) <= CF__DRIVER_VERSION)                \
        assert_true(driver->name != NULL);
    CF__DRIVER_FUNCS(ASSERT_FILLED)
#undef ASSERT_FILLED
}

FAKE_TEST(driver_usable_is_filled_and_stays_open, "FAKE_CUDA")
{
    struct cf__driver driver;
    int version = 0, count = 0;
    fill(&driver);
    assert_true(driver.cuKernelGetParamInfo != NULL);
    assert_true(driver.cuStreamGetCaptureInfo_edges != NULL);
    assert_true((void (*)(void))driver.cuStreamGetCaptureInfo_edges != (void (*)(void))driver.cuStreamGetCaptureInfo);
    assert_int_equal(driver.cuDriverGetVersion(&version), CUDA_SUCCESS);
    assert_int_equal(version, 13000);
    assert_int_equal(driver.cuDeviceGetCount(&count), CUDA_SUCCESS);
    assert_int_equal(count, 2);
    assert_non_null(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
}

FAKE_TEST(driver_of_cuda_12_0_lacks_what_is_newer, "FAKE_CUDA=version=12000")
{
    struct cf__driver driver;
    fill(&driver);
    assert_true(driver.cuKernelGetParamInfo == NULL);
    assert_true(driver.cuStreamGetCaptureInfo_edges == NULL);
}

FAKE_TEST(driver_lacking_what_is_newer_is_filled, "FAKE_CUDA=lacks=cuKernelGetParamInfo")
{
    struct cf__driver driver;
    fill(&driver);
    assert_true(driver.cuKernelGetParamInfo == NULL);
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, NULL);
}
