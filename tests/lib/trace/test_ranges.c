/* test_ranges.c - NVTX ranges around calls of kernels, which a profiler of the tests records, and calls without a
 * profiler. */
#include "played_gpu.h"

#include <cuferry/kernels.h>

#include <dlfcn.h>
#include <sys/auxv.h>

#include "base/fast.h"
#include "config.h"
#include "nvtx_counter.h"

#define NEEDS_NVTX "needs NVTX's headers, of a CUDA toolkit"

/* Makes NVTX load the profiler: its path must be in the environment before the library is used. */
static struct nvtx_counts *attach(void)
{
    char self[PATH_MAX], fake[PATH_MAX], path[PATH_MAX + 32];
    nvtx_counts_function *counts = NULL;
    if (!CF_CONFIG_NVTX)
        skip_test(NEEDS_NVTX);
    find_paths(self, fake);
    snprintf(path, sizeof path, "%.*s/nvtx_counter.so", (int)(strrchr(self, '/') - self), self);
    assert_int_equal(setenv("NVTX_INJECTION64_PATH", path, 1), 0);
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fail_msg("%s", dlerror());
    *(void **)&counts = dlsym(library, "nvtx_counts");
    assert_non_null(counts);
    return counts();
}

enum { COUNT = 1000 };
static float numbers[COUNT], *x; /* x is in device memory */

static void set_up(void)
{
    assert_ok(cf_mem_alloc((void **)&x, sizeof numbers));
    assert_ok(cf_mem_copy(x, numbers, sizeof numbers));
}

static void tear_down(void)
{
    assert_ok(cf_mem_free(x));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
}

static void expect_ranges(struct nvtx_counts *counts, const char *names)
{
    assert_string_equal(counts->names, names);
    assert_int_equal(counts->depth, 0);
    counts->names[0] = 0;
}

FAKE_TEST(ranges_bear_the_names_of_entry_points, "CF_DRIVER=host")
{
    float sum;
    cf_stream stream;
    struct nvtx_counts *counts = attach();
    assert_int_equal(counts->domains, 0);
    set_up();
    assert_int_equal(counts->domains, 1);
    assert_string_equal(counts->domain, "cuferry");
    expect_ranges(counts, "");
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 2; i++)
        assert_ok(cf_scale_f32_async(stream, 2, x, x, COUNT));
    expect_ranges(counts, "cf_scale_f32_async;cf_scale_f32_async;");
    assert_ok(cf_stream_destroy(stream));
    for (int i = 0; i < 2; i++)
        assert_ok(cf_scale_f32(2, x, x, COUNT));
    expect_ranges(counts, "cf_scale_f32;cf_scale_f32;");
    assert_int_equal(cf_scale_f32(2, NULL, x, COUNT), CF_EINVAL);
    assert_int_equal(counts->depth, 0);
    assert_ok(cf_sum_f32(numbers, &sum, COUNT));
    assert_non_null(strstr(counts->names, "cf_sum_f32;"));
    assert_int_equal(counts->depth, 0);
    tear_down();
    set_up();
    tear_down();
    assert_int_equal(counts->domains, 1);
}

FAKE_TEST(ranges_of_a_gpu_bear_the_names_of_entry_points, "CF_DRIVER=cuda")
{
    ranges_bear_the_names_of_entry_points(state);
}

FAKE_TEST(ranges_cost_launches_nothing_without_a_profiler, "CF_DRIVER=cuda")
{
    assert_int_equal(unsetenv("NVTX_INJECTION64_PATH"), 0);
    set_up();
    assert_ok(cf_scale_f32_async(NULL, 2, x, x, COUNT));
    assert_int_equal(cf__is_slow_path(-1), 0);
    tear_down();
}

/* Runs a copy of this program that belongs to another user and runs with that user's rights. */
static void run_with_other_rights(const char *test)
{
    char self[PATH_MAX], fake[PATH_MAX], folder[] = "/tmp/cf_ranges_XXXXXX", command[2 * PATH_MAX + 512];
    find_paths(self, fake);
    if (geteuid() != 0 || strncmp(self, "/tmp/cf_ranges_", 15) == 0)
        skip_process("needs to be run by root, and programs with the rights of their owner");
    snprintf(command, sizeof command, "env -u LD_LIBRARY_PATH ldd '%s' | grep -q 'not found'", self);
    if (system(command) == 0)
        skip_process("needs CMocka in a folder of the system");
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "cp '%s' '%.*s/nvtx_counter.so' %s && cd %s && chmod 755 . && chown 65534 ./test_ranges && "
             "chmod 4755 ./test_ranges && ./test_ranges %s; status=$?; rm -r %s; exit $status",
             self, (int)(strrchr(self, '/') - self), self, folder, folder, test, folder);
    assert_int_equal(system(command), 0);
}

/* NVTX loads the library that the environment names, which must not happen in such a process. */
FAKE_TEST(process_with_other_rights_loads_no_profiler, "CF_DRIVER=host")
{
    struct nvtx_counts *counts = attach();
    if (!getauxval(AT_SECURE)) {
        if (SANITIZED)
            skip_process(NEEDS_NO_SANITIZER); /* LeakSanitizer cannot inspect such a process */
        run_with_other_rights(__func__);
        return;
    }
    set_up();
    assert_int_equal(counts->domains, 0);
    tear_down();
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, NULL);
}
