/* test_plan.c - which device a plain call on host arrays runs on: settings, cases on both sides of the threshold, and
 * the text that explains the choice. */
#include "handmade_kernel.h"

#include <cuferry/kernels.h>
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "comma_locale.h"
#include "driver/driver.h"
#include "cpu/driver_cpu.h"

/* ---- A kernel that adds 1 to n elements and declares the costs that a test sets ---- */

enum { X, Y, I, N, BYTES, FLOPS, PARAMS };

static const cf_expr extent = NUMBER("n", N);
static const cf_expr declared_bytes = NUMBER("bytes", BYTES), declared_flops = NUMBER("flops", FLOPS),
                     absent = {NULL, NULL};

static cf_param params[PARAMS] = {
    ARRAY_1D("x", const float, CF_F32, CF_IN, extent),
    ARRAY_1D("y", float, CF_F32, CF_OUT, extent),
    ARRAY_1D("i", const int32_t, CF_I32, CF_IN, extent),
    VALUE("n", int64_t, CF_I64),
    VALUE("bytes", double, CF_F64),
    VALUE("flops", double, CF_F64),
};
static const cf_check check = {
    .text = "0 <= i[:] < 1000", .array = I, .lower = FIXED(0), .upper = FIXED(1000), .upper_open = 1};

static int64_t count_of(void *const args[])
{
    return *(const int64_t *)args[N];
}

static void add_1(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    const float *x = *(float *const *)launch->args[X];
    float *y = *(float *const *)launch->args[Y];
    uint64_t threads = launch->block.x;
    for (uint64_t i = begin * threads; i < end * threads && i < (uint64_t)count_of(launch->args); i++)
        y[i] = x[i] + 1;
}

static struct made_image image;
static cf_kernel kernel = {MADE_KERNEL("add_1", image), .nparams = PARAMS, .params = params,
                           .launch = {.grid = {NUMBER("n", N)}, .block = {FIXED(256)}}, .cpu_body = add_1};
static const cf_kernel *const kernels[] = {&kernel};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 1, .kernels = kernels};

enum { MOST = 1 << 22 };
static float x[MOST], y[MOST];
static int32_t indices[MOST];

/* Calls the kernel with all arrays in host memory, or with y at `other_y`, and checks the result. */
static void call(int64_t n, double bytes, double flops, float *other_y)
{
    const void *x_ = x, *i_ = indices;
    float *y_ = other_y ? other_y : y;
    void *args[] = {&x_, &y_, &i_, &n, &bytes, &flops};
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)i;
        y[i] = -1;
    }
    assert_ok(cf_call(&kernel, args));
    if (other_y)
        assert_ok(cf_mem_copy(y, other_y, (size_t)n * sizeof *y));
    for (int64_t i = 0; i < n; i++)
        if (y[i] != (float)i + 1)
            fail_msg("y[%d] of %d is %g", (int)i, (int)n, (double)y[i]);
}

/* Returns 1 if the latest call ran on the CPU, which the number of the driver's launches shows; also checks the plan's
 * text. */
static int ran_on_cpu(int64_t n, double bytes, double flops)
{
    int before = fake_counts()->launch;
    size_t in = fake_counts()->bytes_in, out = fake_counts()->bytes_out;
    call(n, bytes, flops, NULL);
    int launches = fake_counts()->launch - before;
    int is_said = strncmp(cf_last_plan(), "made_add_1: on the CPU, ", 24) == 0;
    assert_int_equal(launches, !is_said);
    assert_int_equal(fake_counts()->bytes_in - in, is_said ? 0 : (size_t)n * 8);
    assert_int_equal(fake_counts()->bytes_out - out, is_said ? 0 : (size_t)n * 4);
    return is_said;
}

#define assert_plan(text)                                                                \
    do {                                                                                 \
        if (!strstr(cf_last_plan(), text))                                               \
            fail_msg("cf_last_plan() is \"%s\" and lacks \"%s\"", cf_last_plan(), text); \
    } while (0)

static int reads_environment; /* 1: the tests make no setting, because it would take precedence */

static int set_up(void **state)
{
    (void)state;
    kernel.is_closed = kernel.is_bounded = 1;
    kernel.cpu_body = add_1;
    kernel.bytes = kernel.flops = absent;
    kernel.nchecks = 0;
    kernel.is_cpu_whole = 0;
    kernel.split = 0;
    return reads_environment ? CF_OK : cf_set_host_data(CF_HOST_DATA_AUTO);
}

/* ---- Constants of a fictitious machine, in a machine file ---- */

static char machine_file[64];

/* Writes the machine file for the played GPU and this processor. */
static void use_machine(const char *numbers)
{
    char processor[256], text[2048];
    snprintf(machine_file, sizeof machine_file, "/tmp/cf_plan_%d", (int)getpid());
    assert_int_equal(cf__driver_cpu.cuDeviceGetName(processor, sizeof processor, 0), CUDA_SUCCESS);
    snprintf(text, sizeof text, "cuferry machine 1\ngpu Fake GPU 0\ndriver 13000\nprocessor %s\nthreads 4\n%send\n",
             processor, numbers);
    FILE *file = fopen(machine_file, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(setenv("CF_MACHINE_FILE", machine_file, 1), 0);
}

/* A copy takes 100 us plus the time at 10 GB/s in each direction. The CPU takes 20 us plus the time at 4 GB/s, 4
 * GFlop/s and 100 million random accesses/s; one thread has a quarter of these rates. */
static const char numbers[] = "stage_latency 10e-5\nhost_to_device 10e9\ndevice_to_host 10e9\npool_latency 20e-6\n"
                              "thread_bandwidth 40e8\nthread_flops 10e8\nthread_random 25e6\n"
                              "pool_bandwidth 16e9\npool_flops 40e8\npool_random 10e7\n";

static void forget_machine(void)
{
    assert_int_equal(unlink(machine_file), 0);
}

/* ---- The formula ---- */

FAKE_TEST(plan_runs_where_it_takes_less, "CF_HOST_DATA", "CF_THREADS=4")
{
    use_machine(numbers);
    kernel.bytes = declared_bytes;
    kernel.flops = declared_flops;
    /* 2^20 elements: copying 8 MiB in and 4 MiB out takes 0.1 + 0.839 + 0.419 = 1.358 ms. The CPU moves 21.4 MB in this
     * time. */
    const int64_t n = 1 << 20;
    assert_true(ran_on_cpu(n, 21.3e6, 0));
    assert_plan("1.4 ms expected; staging 12582912 bytes would take 1.4 ms");
    assert_false(ran_on_cpu(n, 21.5e6, 0));
    assert_plan("on device 0, 8388608 bytes copied in and 4194304 out, 1.4 ms expected; the CPU would take 1.4 ms");
    assert_true(ran_on_cpu(n, 0, 5.34e6)); /* at 4 GFlop/s */
    assert_false(ran_on_cpu(n, 0, 5.36e6));
    assert_true(ran_on_cpu(n, 21.3e6, 5.34e6)); /* memory accesses and arithmetic overlap */
    assert_false(ran_on_cpu(n, 21.3e6, 5.36e6));
    assert_false(ran_on_cpu(n, 1e12, 0));
    /* If the number of bytes is invalid, the sizes of the sections are used: 12.6 MB. */
    assert_true(ran_on_cpu(n, NAN, 0));
    assert_true(ran_on_cpu(n, -1, -1));
    assert_true(ran_on_cpu(n, INFINITY, INFINITY));
    forget_machine();
}

/* All dimensions of the grid count. If only x did, this launch would have one block, and so one CPU thread. */
FAKE_TEST(plan_blocks_of_any_dimension_have_all_threads, "CF_HOST_DATA", "CF_THREADS=4")
{
    const cf_expr one = FIXED(1), blocks = FIXED(4096);
    const cf_launch_rule rule = kernel.launch;
    use_machine(numbers);
    kernel.bytes = declared_bytes;
    for (int d = 0; d < 3; d++) {
        for (int other = 0; other < 3; other++)
            kernel.launch.grid[other] = other != d ? one : d ? blocks : rule.grid[0];
        assert_true(ran_on_cpu(1 << 20, 21.3e6, 0));
        assert_plan("1.4 ms expected; staging 12582912 bytes would take 1.4 ms");
    }
    kernel.launch = rule;
    forget_machine();
}

/* A call that is split copies in both directions at once, so only the direction with more bytes counts. */
FAKE_TEST(plan_copies_both_ways_at_once_where_a_call_is_split, "CF_HOST_DATA", "CF_THREADS=4")
{
    use_machine(numbers);
    kernel.bytes = declared_bytes;
    kernel.split = N + 1;
    /* 2^20 elements: 8 MiB in and 4 MiB out at once take 0.1 + 0.839 = 0.939 ms; the CPU moves 14.7 MB in this time. */
    const int64_t n = 1 << 20;
    int launches = fake_counts()->launch;
    assert_true(ran_on_cpu(n, 14.6e6, 0));
    call(n, 14.8e6, 0, NULL);
    assert_int_equal(fake_counts()->launch - launches, 8);
    assert_plan(
        "on device 0, 8388608 bytes copied in and 4194304 out, in 8 chunks, 0.94 ms expected; the CPU would take 0.95");
    /* A call that copies less than 8 MiB is not split, and saves nothing. */
    assert_true(ran_on_cpu(600000, 12.0e6, 0));
    assert_plan("staging 7200000 bytes would take 0.82 ms");
    forget_machine();
}

FAKE_TEST(plan_body_called_once_is_one_thread, "CF_HOST_DATA", "CF_THREADS=4")
{
    use_machine(numbers);
    kernel.bytes = declared_bytes;
    kernel.is_cpu_whole = 1;
    const int64_t n = 1 << 20;
    assert_true(ran_on_cpu(n, 5.42e6, 0)); /* 1.358 ms at 4 GB/s; no other thread is woken */
    assert_false(ran_on_cpu(n, 5.44e6, 0));
    forget_machine();
}

FAKE_TEST(plan_elements_with_a_range_are_random_accesses, "CF_HOST_DATA", "CF_THREADS=4")
{
    use_machine(numbers);
    kernel.checks = &check;
    assert_true(ran_on_cpu(1 << 20, 0, 0)); /* 12.6 MB in 0.8 ms */
    kernel.nchecks = 1;
    assert_false(ran_on_cpu(1 << 20, 0, 0)); /* plus 2^20 random accesses in 10 ms */
    assert_int_equal(cf_set_check(CF_CHECK_NONE), CF_OK);
    assert_false(ran_on_cpu(1 << 20, 0, 0)); /* the accesses count even if elements are not checked */
    assert_int_equal(cf_set_check(CF_CHECK_ELEMENTS), CF_OK);
    assert_true(ran_on_cpu(1 << 15, 0, 0)); /* the array fits into a cache */
    forget_machine();
}

FAKE_TEST(plan_undeclared_work_is_the_sections_or_unknown, "CF_HOST_DATA", "CF_THREADS=4")
{
    use_machine(numbers);
    assert_true(ran_on_cpu(1 << 20, 0, 0));
    kernel.is_bounded = 0; /* a kernel with loops */
    assert_false(ran_on_cpu(1 << 20, 0, 0));
    assert_plan("; the kernel has loops and declares neither bytes nor flops");
    assert_false(ran_on_cpu(10, 0, 0));
    kernel.bytes = declared_bytes;
    assert_true(ran_on_cpu(1 << 20, 1e6, 0));
    kernel.bytes = absent;
    kernel.flops = declared_flops;
    assert_true(ran_on_cpu(1 << 20, 0, 1e6));
    forget_machine();
}

/* ---- The defaults, with 1, 2 and 16 threads ---- */

/* Copying 12.6 MB takes 40 us plus the time at 10 GB/s per thread, at most 20 GB/s. The CPU takes 20 us plus the time
 * at 10 GB/s per thread, at most 120 GB/s. */
FAKE_TEST(plan_without_a_file_goes_by_default_constants, "CF_HOST_DATA", "CF_THREADS=1")
{
    const int threads = atoi(getenv("CF_THREADS"));
    const int64_t n = 1 << 20;
    kernel.bytes = declared_bytes;
    const double border = threads <= 2 ? 12.98e6 : 77.9e6;
    assert_true(ran_on_cpu(n, border * 0.998, 0));
    assert_plan(threads == 1 ? "1.3 ms expected; staging 12582912 bytes would take 1.3 ms, by default constants"
                             : "0.67 ms expected; staging 12582912 bytes would take 0.67 ms, by default constants");
    assert_false(ran_on_cpu(n, border * 1.002, 0));
    assert_plan(threads == 1 ? "1.3 ms expected; the CPU would take 1.3 ms, by default constants"
                             : "0.67 ms expected; the CPU would take 0.67 ms, by default constants");
    assert_true(ran_on_cpu(100, 1200, 0));
    assert_false(ran_on_cpu(n, 1e20, 0));
    kernel.flops = declared_flops;
    assert_false(ran_on_cpu(n, 0, 1e9)); /* a thousand operations per element: 16 ms with 16 threads */
}

/* Gathers a million elements from 512 MiB in random order. One thread was measured to take 10 ms and 16 threads 1.5 ms;
 * staging takes at least 11 ms. Most of the memory is never touched. */
FAKE_TEST(gather_of_large_host_arrays_runs_on_the_cpu, "CF_HOST_DATA", "CF_THREADS=1")
{
    enum { LENGTH = 1 << 27, COUNT = 1 << 20 };
    float *source = calloc(LENGTH, sizeof *source), *res = calloc(COUNT, sizeof *res);
    int32_t *index = calloc(COUNT, sizeof *index);
    assert_true(source && res && index);
    for (int i = 0; i < COUNT; i++)
        index[i] = i % 1021 * 64;
    source[index[COUNT - 1]] = 7;
    assert_ok(cf_gather_f32_i32(source, index, res, COUNT, LENGTH));
    assert_true(res[COUNT - 1] == 7);
    assert_non_null(strstr(cf_last_plan(), "cf_gather_f32_i32: on the CPU, "));
    assert_plan("staging 545259520 bytes would take ");
    assert_plan(", by default constants");
    free(source);
    free(res);
    free(index);
}

/* ---- Calls that cannot run on the CPU ---- */

FAKE_TEST(plan_kernels_that_need_the_gpu_stay_there, "CF_HOST_DATA", "CF_THREADS=4")
{
    assert_ok(cf_set_host_data(CF_HOST_DATA_HOST));
    assert_true(ran_on_cpu(100, 0, 0));
    assert_plan("on the CPU, as cf_set_host_data() asks; nothing was copied");
    kernel.is_closed = 0;
    assert_false(ran_on_cpu(100, 0, 0));
    assert_plan("; the kernel may use data beside its arguments");
}

FAKE_TEST(plan_arrays_of_both_kinds_stay_on_the_gpu, "CF_HOST_DATA", "CF_THREADS=4")
{
    void *there, *pinned;
    assert_ok(cf_set_host_data(CF_HOST_DATA_HOST));
    assert_ok(cf_mem_alloc(&there, 400));
    assert_ok(cf_mem_alloc_pinned(&pinned, 400));
    size_t in = fake_counts()->bytes_in;
    call(100, 0, 0, there);
    assert_plan("made_add_1: on device 0, 800 bytes copied in and 0 out, 1 arrays used in place; not all arrays are");
    assert_int_equal(fake_counts()->bytes_in - in, 800);
    call(100, 0, 0, pinned);
    assert_plan("made_add_1: on device 0, 800 bytes copied in and 0 out, 1 arrays used in place; not all arrays are");
    assert_ok(cf_mem_free(there));
    assert_ok(cf_mem_free(pinned));
}

FAKE_TEST(plan_nothing_to_launch_is_said, "CF_HOST_DATA", "CF_THREADS=4")
{
    call(0, 0, 0, NULL);
    assert_string_equal(cf_last_plan(), "made_add_1: had nothing to launch");
}

/* ---- Settings ---- */

FAKE_TEST(host_data_of_the_environment_is_taken, "CF_HOST_DATA=host")
{
    assert_true(ran_on_cpu(1 << 20, 0, 0)); /* CF_HOST_DATA=host */
    assert_plan("as CF_HOST_DATA asks");
}

FAKE_TEST(host_data_set_goes_before_the_environment, "CF_HOST_DATA=host")
{
    assert_ok(cf_set_host_data(CF_HOST_DATA_STAGE));
    assert_false(ran_on_cpu(100, 0, 0)); /* CF_HOST_DATA=host */
    assert_plan("as cf_set_host_data() asks");
    assert_ok(cf_shutdown());
    assert_false(ran_on_cpu(100, 0, 0)); /* the setting applies to the whole process */
    assert_fails(cf_set_host_data(3), CF_EINVAL, "cf_set_host_data: 3 is none of CF_HOST_DATA_AUTO,");
    assert_fails(cf_set_host_data(-1), CF_EINVAL, "cf_set_host_data: -1 is none of");
    assert_false(ran_on_cpu(100, 0, 0));
}

FAKE_TEST(host_data_that_is_none_is_refused, "CF_HOST_DATA=gpu")
{
    int count;
    assert_fails(cf_device_count(&count), CF_EINVAL, "CF_HOST_DATA=gpu: it is auto, stage or host");
    assert_fails(cf_device_use(CF_HOST), CF_EINVAL, "CF_HOST_DATA=gpu: it is auto, stage or host");
    assert_int_equal(setenv("CF_HOST_DATA", "", 1), 0);
    assert_ok(cf_device_count(&count));
}

/* ---- The text ---- */

static void *plan_of_another_thread(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)(*cf_last_plan() != 0);
}

TEST_WITH(last_plan_is_each_threads_own, set_up, end_library_empty)
{
    pthread_t thread;
    void *is_there;
    call(100, 0, 0, NULL);
    assert_int_equal(pthread_create(&thread, NULL, plan_of_another_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &is_there), 0);
    assert_null(is_there);
    assert_plan(on_cuda() ? "made_add_1: on " : "made_add_1: on the CPU, the thread's device; nothing was copied");
}

TEST_WITH(last_plan_after_a_failure_says_so, set_up, end_library_empty)
{
    int64_t n = -1;
    double none = 0;
    const void *x_ = x, *i_ = indices;
    float *y_ = y;
    void *args[] = {&x_, &y_, &i_, &n, &none, &none};
    call(100, 0, 0, NULL);
    assert_int_equal(cf_call(&kernel, args), CF_EINVAL);
    assert_string_equal(cf_last_plan(), "made_add_1: did not run");
}

FAKE_TEST(last_plan_is_the_same_in_every_locale, "CF_HOST_DATA", "CF_THREADS=4")
{
    kernel.bytes = declared_bytes;
    use_comma_locale();
    assert_true(ran_on_cpu(1 << 20, 25.9e6, 0));
    assert_plan("on the CPU, 0.67 ms expected; staging 12582912 bytes would take 0.67 ms");
    assert_false(ran_on_cpu(1 << 20, 26.1e6, 0));
    assert_plan(" out, 0.67 ms expected; the CPU would take 0.67 ms");
}

int main(int argc, char *argv[])
{
    RUN_ALSO(gather_of_large_host_arrays_runs_on_the_cpu, "CF_HOST_DATA", "CF_THREADS=2");
    RUN_ALSO(gather_of_large_host_arrays_runs_on_the_cpu, "CF_HOST_DATA", "CF_THREADS=16");
    RUN_ALSO(plan_without_a_file_goes_by_default_constants, "CF_HOST_DATA", "CF_THREADS=2");
    RUN_ALSO(plan_without_a_file_goes_by_default_constants, "CF_HOST_DATA", "CF_THREADS=16");
    make_image(&image, 9);
    reads_environment = argc > 1 && strncmp(argv[1], "host_data_", 10) == 0;
    return run_made(argc, argv, &module, set_up, end_library_empty);
}
