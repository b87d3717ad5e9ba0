/* test_drivers.c - how the default driver is chosen: CF_DRIVER, GPUs that cannot be used, and threads that make the
 * first call at the same time. */
#include "played_gpu.h"
#include "small_calls.h"

#include <pthread.h>
#include <sys/resource.h>

#define THREADS 64

/* ---- Calls ---- */

/* Expects that every call that needs the default device fails with this status and detail. */
static void expect_of_default(int status, const char *detail)
{
    int number;
    void *memory;
    cf_stream stream;
    cf_event event;
    assert_fails(cf_device_count(&number), status, detail);
    assert_fails(cf_device_current(&number), status, detail);
    assert_fails(cf_device_sync(), status, detail);
    assert_fails(cf_mem_alloc(&memory, 16), status, detail);
    assert_fails(cf_stream_create(&stream), status, detail);
    assert_fails(cf_stream_sync(NULL), status, detail);
    assert_fails(cf_event_create(&event), status, detail);
    assert_fails(gather(), status, detail);
    assert_int_equal(cf_last_driver_result(), 0);
}

static void expect_exactly(int result, int status, const char *detail)
{
    assert_int_equal(result, status);
    assert_string_equal(cf_last_error(), detail);
}

TEST(require_what_is_no_requirement_is_invalid)
{
    expect_exactly(cf_require(0), CF_EINVAL, "cf_require: 0 is no requirement; CF_CUDA is");
    expect_exactly(cf_require(-1), CF_EINVAL, "cf_require: -1 is no requirement; CF_CUDA is");
}

TEST(require_cuda_tells_the_driver)
{
    if (gpu_count())
        assert_ok(cf_require(CF_CUDA));
    else
        assert_fails(cf_require(CF_CUDA), CF_ENODEV, "cf_require(CF_CUDA): ");
}

/* ---- CF_DRIVER ---- */

FAKE_TEST(driver_unset_with_gpus_is_cuda, "CF_DRIVER")
{
    char name[64];
    assert_int_equal(gpu_count(), 2);
    assert_int_equal(device_now(), 0);
    assert_ok(cf_device_name(0, name, sizeof name));
    assert_string_equal(name, "Fake GPU 0");
    assert_ok(cf_device_name(1, name, sizeof name));
    assert_string_equal(name, "Fake GPU 1");
    assert_ok(cf_require(CF_CUDA));
    assert_ok(gather());
}

FAKE_TEST(driver_empty_with_gpus_is_cuda, "CF_DRIVER=")
{
    driver_unset_with_gpus_is_cuda(state);
}

FAKE_TEST(driver_cuda_with_gpus_is_cuda, "CF_DRIVER=cuda")
{
    driver_unset_with_gpus_is_cuda(state);
}

static void require_inside(void *status, int level, const char *text)
{
    (void)level;
    if (strcmp(text, "calls run on the CPU by default") == 0)
        *(int *)status = cf_require(CF_CUDA);
}

FAKE_TEST(driver_host_with_gpus_is_the_cpu_alone, "CF_DRIVER=host")
{
    int status_inside = 77;
    cf_set_log(require_inside, &status_inside);
    assert_int_equal(gpu_count(), 0);
    assert_int_equal(device_now(), CF_HOST);
    cf_set_log(NULL, NULL);
    assert_int_equal(status_inside, CF_EINVAL); /* refused while a call is in progress */
    assert_ok(gather());
    expect_exactly(cf_require(CF_CUDA), CF_ENODEV, "cf_require(CF_CUDA): CF_DRIVER=host keeps this process on the CPU");
    expect_exactly(cf_device_use(0), CF_ENODEV,
                   "cf_device_use: device 0: CF_DRIVER=host keeps this process on the CPU");
    assert_null(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
}

FAKE_TEST(driver_that_is_none_is_invalid, "CF_DRIVER=gpu")
{
    const char *detail = "CF_DRIVER=gpu: it is cuda or host";
    expect_of_default(CF_EINVAL, detail);
    expect_exactly(cf_require(CF_CUDA), CF_EINVAL, detail);
    expect_exactly(cf_device_use(0), CF_EINVAL, detail);
    assert_ok(cf_device_use(CF_HOST));
    assert_ok(gather());
}

/* Without a GPU the default is the CPU, and calls that need a GPU report the reason. */
static void expect_cpu(const char *reason)
{
    char detail[256];
    assert_int_equal(gpu_count(), 0);
    assert_int_equal(device_now(), CF_HOST);
    assert_ok(gather());
    snprintf(detail, sizeof detail, "cf_require(CF_CUDA): %s", reason);
    assert_fails(cf_require(CF_CUDA), CF_ENODEV, detail);
    snprintf(detail, sizeof detail, "cf_device_use: device 0: %s", reason);
    assert_fails(cf_device_use(0), CF_ENODEV, detail);
}

FAKE_TEST(driver_unset_without_gpu_is_the_cpu, "FAKE_CUDA=devices=0")
{
    expect_cpu("the driver finds no GPU");
}

FAKE_TEST(driver_unset_with_a_stub_is_the_cpu, "FAKE_CUDA=init=34")
{
    expect_cpu("libcuda.so.1 is the toolkit's stub and no driver");
}

FAKE_TEST(driver_unset_without_driver_is_the_cpu, "LD_LIBRARY_PATH")
{
    if (dlopen("libcuda.so.1", RTLD_NOW))
        skip_process(NEEDS_NO_DRIVER);
    expect_cpu("no NVIDIA driver (");
}

FAKE_TEST(driver_cuda_without_gpu_is_no_device, "CF_DRIVER=cuda", "FAKE_CUDA=devices=0")
{
    expect_of_default(CF_ENODEV, "CF_DRIVER=cuda: the driver finds no GPU");
    expect_exactly(cf_require(CF_CUDA), CF_ENODEV, "cf_require(CF_CUDA): the driver finds no GPU");
    assert_ok(cf_device_use(CF_HOST));
    assert_ok(gather());
}

FAKE_TEST(driver_cuda_without_driver_is_no_device, "CF_DRIVER=cuda", "LD_LIBRARY_PATH")
{
    if (dlopen("libcuda.so.1", RTLD_NOW))
        skip_process(NEEDS_NO_DRIVER);
    expect_of_default(CF_ENODEV, "CF_DRIVER=cuda: no NVIDIA driver (");
}

/* ---- A GPU that exists but cannot be used ---- */

static void expect_unusable(const char *reason)
{
    char detail[256];
    snprintf(detail, sizeof detail, "the GPU cannot be used: %s; CF_DRIVER=host runs on the CPU", reason);
    expect_of_default(CF_EDRIVER, detail);
    expect_of_default(CF_EDRIVER, detail); /* a failure is not cached */
    snprintf(detail, sizeof detail, "cf_require(CF_CUDA): %s", reason);
    expect_exactly(cf_require(CF_CUDA), CF_EDRIVER, detail);
    snprintf(detail, sizeof detail, "cf_device_use: device 0: %s", reason);
    expect_exactly(cf_device_use(0), CF_EDRIVER, detail);
    assert_ok(cf_device_use(CF_HOST)); /* the CPU works when it is chosen */
    assert_ok(gather());
}

FAKE_TEST(gpu_with_old_driver_is_an_error, "FAKE_CUDA=version=11080")
{
    expect_unusable(
        "the NVIDIA driver is for CUDA 11.8 and Cuferry needs one for CUDA 12.0 or newer; update the driver");
}

FAKE_TEST(gpu_that_fails_to_start_is_an_error, "FAKE_CUDA=init=999")
{
    expect_unusable("cuInit returned 999 (CUDA_ERROR_UNKNOWN, unknown error)");
}

FAKE_TEST(gpu_with_incomplete_driver_is_an_error, "CF_DRIVER=cuda", "FAKE_CUDA=lacks=cuMemFree")
{
    expect_unusable("libcuda.so.1 lacks cuMemFree; reinstall the NVIDIA driver");
}

FAKE_TEST(gpu_that_recovers_is_used, "FAKE_CUDA=init=999")
{
    int count;
    assert_int_equal(cf_device_count(&count), CF_EDRIVER);
    assert_int_equal(unsetenv("FAKE_CUDA"), 0);
    assert_int_equal(gpu_count(), 2);
    assert_ok(gather());
}

/* ---- CF_THREADS ---- */

FAKE_TEST(threads_bad_number_is_invalid, "CF_DRIVER=host")
{
    const char *const bad[] = {"0", "-1", "1025", "x", "4x", "2.5", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char detail[96];
        assert_int_equal(setenv("CF_THREADS", bad[i], 1), 0);
        snprintf(detail, sizeof detail, "CF_THREADS=%s: it is a number from 1 to 1024", bad[i]);
        expect_of_default(CF_EINVAL, detail);
    }
    const char *const good[] = {"1", "3", "1024", ""};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(setenv("CF_THREADS", good[i], 1), 0);
        assert_ok(gather());
        assert_ok(cf_shutdown());
    }
}

/* On a GPU, CF_THREADS matters only for copies. */
FAKE_TEST(threads_bad_number_matters_to_a_gpu_where_they_copy, "CF_THREADS=none")
{
    void *memory;
    assert_ok(cf_mem_alloc(&memory, 100));
    assert_ok(cf_mem_fill(memory, 0, 100));
    assert_ok(cf_gather_f32_i32(memory, memory, (float *)memory + 3, 3, 3));
    assert_ok(cf_mem_free(memory));
    assert_fails(gather(), CF_EINVAL, "CF_THREADS=none: it is a number from 1 to 1024");
}

/* ---- Threads that make the first call at the same time ---- */

struct racer {
    pthread_barrier_t *start;
    int number, status;
    char detail[256];
};

static void *race(void *argument)
{
    struct racer *racer = argument;
    int device;
    void *memory;
    pthread_barrier_wait(racer->start);
    switch (racer->number % 4) {
    case 0:
        racer->status = gather();
        break;
    case 1:
        racer->status = cf_device_current(&device);
        break;
    case 2:
        racer->status = cf_mem_alloc(&memory, 100);
        if (racer->status == CF_OK)
            racer->status = cf_mem_free(memory);
        break;
    default:
        racer->status = cf_device_use(racer->number / 4 % 3 - 1); /* the CPU and both GPUs */
        if (racer->status == CF_OK)
            racer->status = gather();
        break;
    }
    if (racer->status == CF_OK)
        racer->status = cf_device_sync(); /* memory is freed in stream order */
    snprintf(racer->detail, sizeof racer->detail, "%s", cf_last_error());
    return NULL;
}

static void run_race(struct racer racers[THREADS])
{
    pthread_barrier_t start;
    pthread_t threads[THREADS];
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){.start = &start, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&start);
}

FAKE_TEST(threads_racing_start_everything_once, "CF_DRIVER")
{
    struct racer racers[THREADS];
    for (int round = 0; round < 20; round++) {
        char text[1024];
        run_race(racers);
        for (int i = 0; i < THREADS; i++)
            if (racers[i].status != CF_OK)
                fail_msg("thread %d: %s", i, racers[i].detail);
        if (count_alive(text, sizeof text) != 5) /* two primary contexts, two pools, and an image */
            fail_msg("these are alive:\n%s", text);
        assert_ok(cf_shutdown());
        assert_nothing_alive();
    }
}

FAKE_TEST(threads_racing_on_a_bad_driver_all_fail, "FAKE_CUDA=init=999")
{
    struct racer racers[THREADS];
    run_race(racers);
    for (int i = 0; i < THREADS; i++)
        if (i % 4 == 3 && i / 4 % 3 == 0)
            assert_int_equal(racers[i].status, CF_OK); /* the thread chose CF_HOST */
        else if (racers[i].status != CF_EDRIVER || !strstr(racers[i].detail, "cuInit returned 999"))
            fail_msg("thread %d: %d, %s", i, racers[i].status, racers[i].detail);
}

/* If the file descriptors run out while the driver is loaded, the library must not choose the CPU for that reason. */
FAKE_TEST(gpu_without_descriptors_is_an_error_until_there_are_some, "CF_DRIVER")
{
    struct rlimit limit, none;
    int lowest = dup(STDOUT_FILENO); /* the lowest free descriptor */
    assert_int_equal(close(lowest), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = (rlim_t)lowest;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    expect_of_default(CF_EDRIVER, "the GPU cannot be used: libcuda.so.1 cannot be searched for: Too many open files; "
                                  "CF_DRIVER=host runs on the CPU");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    driver_unset_with_gpus_is_cuda(state);
}

/* ---- Another library that loads CUDA later ---- */

static int looks; /* number of searches for the driver; atomic */

/* Overrides the C library's dlopen(). */
void *dlopen(const char *file, int mode)
{
    void *(*real)(const char *file, int mode);
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    if (file && strcmp(file, "libcuda.so.1") == 0)
        __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
    return real(file, mode);
}

FAKE_TEST(cuda_that_is_loaded_later_is_found_without_a_search, "CF_DRIVER")
{
    CUcontext context;
    CUdeviceptr memory;
    assert_ok(cf_device_use(CF_HOST));
    for (int i = 0; i < 10; i++)
        assert_ok(gather());
    assert_int_equal(looks, 0);
    const struct cf__driver *driver = other_library();
    assert_int_equal(context_create(&context, 0, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuMemAlloc(&memory, 16), CUDA_SUCCESS);
    assert_ok(cf_mem_free((void *)(uintptr_t)memory));
    assert_int_equal(context_destroy(context), CUDA_SUCCESS);
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, end_library);
}
