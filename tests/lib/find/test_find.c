/* test_find.c - where the library finds parts of CUDA, in which order it searches, and what it reports about a missing
 * part. */
#include "played_gpu.h"

#include <sys/stat.h>

#include <cuferry/find.h>

#include "find/find.h"

/* Asserts the status of a call and its whole detail. */
#define assert_says(call, status, detail)             \
    do {                                              \
        assert_int_equal(call, status);               \
        assert_string_equal(cf_last_error(), detail); \
    } while (0)

static char root[64]; /* folder with the toolkits that the tests make */

static void run_shell(const char *format, ...)
{
    char command[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(command, sizeof command, format, values);
    va_end(values);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
    (void)state;
    static const char *const variables[] = {"CF_CUDA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    snprintf(root, sizeof root, "/tmp/cf_find_XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    run_shell("rm -rf %s", root);
    return 0;
}

static void place_file(const char *path)
{
    run_shell("mkdir -p $(dirname '%s/%s') && touch '%s/%s'", root, path, root, path);
}

static void set_variable(const char *name, const char *below)
{
    char value[128];
    snprintf(value, sizeof value, "%s/%s", root, below);
    setenv(name, value, 1);
}

static void expect_found(const char *name, const char *below)
{
    char expected[256];
    const char *path = NULL;
    snprintf(expected, sizeof expected, "%s/%s", root, below);
    assert_ok(cf_find(name, &path));
    assert_string_equal(path, expected);
}

/* Uses parts of CUDA 12, because fewer machines have them in the folders of the dynamic linker. */
TEST_WITH(places_are_searched_in_order, set_up, tear_down)
{
    static const struct {
        const char *variable, *folder, *file;
    } places[] = {{"CUDA_PATH", "path", "path/lib64/libcublas.so.12"},
                  {"CUDA_HOME", "home", "home/lib/libcublas.so.12"},
                  {"CONDA_PREFIX", "conda", "conda/lib/libcublas.so.12"},
                  {"CONDA_PREFIX", "conda", "conda/lib/python3.9/site-packages/nvidia/cublas/lib/libcublas.so.12"},
                  {"VIRTUAL_ENV", "venv", "venv/lib/python3.9/site-packages/nvidia/cublas/lib/libcublas.so.12"},
                  {"VIRTUAL_ENV", "venv", "venv/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12"},
                  {"CF_CUDA_HOME", "own", "own/lib/libcublas.so.12"}};
    char path[CF__PATH], expected[CF__PATH];
    if (cf__find_part("test", "cublas", 12, path) == CF_OK)
        skip_test("needs a machine without cuBLAS of CUDA 12");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        place_file(places[i].file);
        set_variable(places[i].variable, places[i].folder);
        snprintf(expected, sizeof expected, "%s/%s", root, places[i].file);
        assert_ok(cf__find_part("test", "cublas", 12, path));
        assert_string_equal(path, expected);
    }
    setenv("CF_CUDA_HOME", "", 1); /* an empty value counts as unset */
    expect_found("cublas", "venv/lib/python3.11/site-packages/nvidia/cublas/lib/libcublas.so.12");
    place_file("venv/lib/python3.9/site-packages/nvidia/cu13/lib/libcublas.so.13");
    expect_found("cublas", "venv/lib/python3.9/site-packages/nvidia/cu13/lib/libcublas.so.13");
}

/* The name of a folder may contain the special characters of glob()'s patterns. */
TEST_WITH(folder_with_brackets_is_found, set_up, tear_down)
{
    place_file("a[1]*/lib/libnvrtc.so.12");
    set_variable("CF_CUDA_HOME", "a[1]*");
    expect_found("nvrtc", "a[1]*/lib/libnvrtc.so.12");
}

TEST_WITH(header_is_found_as_its_folder, set_up, tear_down)
{
    place_file("own/include/cublas_v2.h");
    place_file("venv/lib/python3.11/site-packages/nvidia/nccl/include/nccl.h");
    set_variable("CF_CUDA_HOME", "own");
    set_variable("VIRTUAL_ENV", "venv");
    expect_found("cublas_v2.h", "own/include");
    expect_found("nccl.h", "venv/lib/python3.11/site-packages/nvidia/nccl/include");
}

TEST_WITH(newer_major_is_left_out, set_up, tear_down)
{
    char path[CF__PATH], expected[128];
    place_file("own/lib/libnvrtc.so.13");
    place_file("own/lib/libnvrtc.so.12");
    place_file("own/lib/libcusparse.so.12");
    set_variable("CF_CUDA_HOME", "own");
    assert_ok(cf__find_part("test", "nvrtc", 13, path));
    snprintf(expected, sizeof expected, "%s/own/lib/libnvrtc.so.13", root);
    assert_string_equal(path, expected);
    assert_ok(cf__find_part("test", "nvrtc", 12, path));
    expected[strlen(expected) - 1] = '2';
    assert_string_equal(path, expected);
    assert_ok(cf__find_part("test", "cusparse", 12, path)); /* not the number of a toolkit */
    expect_found("cusparse", "own/lib/libcusparse.so.12");
}

TEST_WITH(loaded_library_is_found_before_wheels, set_up, tear_down)
{
    run_shell("echo 'int x;' >%s/x.c && mkdir %s/loaded && cc -shared -fPIC -Wl,-soname,libnccl.so.2 %s/x.c -o "
              "%s/loaded/libnccl.so.2.99",
              root, root, root, root);
    place_file("venv/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2");
    set_variable("VIRTUAL_ENV", "venv");
    expect_found("nccl", "venv/lib/python3.11/site-packages/nvidia/nccl/lib/libnccl.so.2");
    char path[128];
    snprintf(path, sizeof path, "%s/loaded/libnccl.so.2.99", root);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    expect_found("nccl", "loaded/libnccl.so.2.99");
    dlclose(library);
}

TEST_WITH(newest_loaded_library_is_found, set_up, tear_down)
{
    void *libraries[2];
    char path[128];
    run_shell("echo 'int x;' >%s/x.c && mkdir %s/loaded", root, root);
    for (int i = 0; i < 2; i++) { /* the older one is loaded first */
        snprintf(path, sizeof path, "%s/loaded/libcudart.so.%d", root, 12 + i);
        run_shell("cc -shared -fPIC -Wl,-soname,%s %s/x.c -o %s", strrchr(path, '/') + 1, root, path);
        libraries[i] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        assert_non_null(libraries[i]);
    }
    expect_found("cudart", "loaded/libcudart.so.13");
    for (int i = 0; i < 2; i++)
        dlclose(libraries[i]);
}

/* Tests cannot add a folder to the linker's folders of a process, so a library of the system plays the part of CUDA. */
TEST_WITH(driver_of_the_linker_is_found_and_no_toolkit, set_up, tear_down)
{
    const char *path;
    place_file("own/lib/libcuda.so.1");
    set_variable("CF_CUDA_HOME", "own");
    if (on_cuda()) {
        assert_ok(cf_find("libcuda", &path));
        assert_null(strstr(path, root));
    } else if (cf_find("libcuda", &path) == CF_OK) {
        assert_null(strstr(path, root));
    } else {
        assert_string_equal(
            cf_last_error(),
            "cf_find: libcuda.so.1 was not found in the loaded libraries, the dynamic linker's folders; "
            "CF_CUDA_HOME may name a toolkit's folder");
    }
}

/* The driver's folder is in LD_LIBRARY_PATH, but no call has loaded the driver. */
FAKE_TEST(library_of_the_linker_is_found_before_it_is_loaded, "CF_DRIVER=host")
{
    char self[PATH_MAX], fake[PATH_MAX], path[CF__PATH];
    find_paths(self, fake);
    assert_ok(cf__find_part("test", "libcuda", 13, path));
    assert_int_equal(strncmp(path, fake, strlen(fake)), 0);
    assert_string_equal(path + strlen(fake), "/libcuda.so.1");
}

TEST_WITH(missing_part_is_reported_with_the_places, set_up, tear_down)
{
    char path[CF__PATH];
    set_variable("CF_CUDA_HOME", "none");
    set_variable("VIRTUAL_ENV", "venv");
    if (cf__find_part("cf_test", "cublas", 12, path) == CF_OK)
        skip_test("needs a machine without cuBLAS of CUDA 12");
    assert_int_equal(cf__find_part("cf_test", "cublas", 12, path), CF_ENOTSUP);
    static const char *const parts[] = {"cf_test: libcublas.so.12 was not found in ",
                                        "/none/{lib64,lib,targets/",
                                        ", the loaded libraries, ",
                                        "/venv/lib/python*/site-packages/nvidia/*/lib, the dynamic linker's folders, ",
                                        "/usr/local/cuda/{lib64,lib,",
                                        "; CF_CUDA_HOME may name a toolkit's folder"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(cf_last_error(), parts[i]))
            fail_msg("'%s' is not in: %s", parts[i], cf_last_error());
}

TEST(bad_arguments_are_refused)
{
    const char *path;
    assert_says(cf_find(NULL, &path), CF_EINVAL, "cf_find: name is NULL");
    assert_says(cf_find("nvrtc", NULL), CF_EINVAL, "cf_find: path is NULL");
    assert_says(cf_find("cudnn", &path), CF_EINVAL,
                "cf_find: 'cudnn' is no part of CUDA; the parts are libcuda, cuda.h, nvrtc, nvrtc.h, nvJitLink, "
                "nvJitLink.h, nccl, nccl.h, cudart, cuda_runtime.h, cublas, cublas_v2.h, cusparse, cusparse.h");
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, NULL);
}
