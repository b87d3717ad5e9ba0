/* run_group.h - runs a group of tests on the driver that the environment names, and skips it with the reason if that
 * driver cannot be used. tools/check runs every test program once per driver. */
#ifndef RUN_GROUP_H
#define RUN_GROUP_H

#include "test_case.h"

#include <cuferry.h>

#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"

/* 1 in a program built with a sanitizer, whose locks, quarantine and memory use disturb some tests. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Reasons to skip a test. tools/check adds up tests with the same reason. */
#define NEEDS_GPU "needs a GPU"
#define NEEDS_ANY_GPU "needs a GPU, real or played"
#define NEEDS_TWO_GPUS "needs two GPUs, real or played"
#define NEEDS_PLAYED_GPU "needs the played GPU"
#define NEEDS_CPU "needs the CPU's driver"
#define NEEDS_CPU_OR_PLAYED_GPU "needs the CPU's driver or the played GPU"
#define NEEDS_GPU_MEMORY "needs a GPU with more memory"
#define NEEDS_ADDRESSES "needs more address space"
#define NEEDS_NO_DRIVER "needs a machine without NVIDIA's driver"
#define NEEDS_NVCC "needs nvcc: tools/dev/setup --with-nvcc installs it"
#define NEEDS_NVRTC "needs NVRTC"
#define NEEDS_NVJITLINK "needs NVRTC and nvJitLink"
#define NEEDS_NO_SANITIZER "needs a build without sanitizers"
#define NEEDS_PROCESSOR "needs an aarch64 processor, not an emulator"

static inline void skip_test(const char *reason)
{
    printf("# skip: %s\n", reason);
    skip();
}

/* qemu does not pass on some signals, ends a process with threads when it forks, and reports success for guard pages
 * that it did not make. */
static inline void skip_in_emulator(void)
{
    if (getenv("CHECK_EMULATED"))
        skip_test(NEEDS_PROCESSOR);
}

/* Called before a fork while other threads work. libc ensures that the child's allocator holds no lock. Sanitizers
 * before LLVM 17 do not ensure it, and the child may wait for ever. */
static inline void skip_where_forks_are_unsafe(void)
{
    skip_in_emulator();
    if (SANITIZED)
        skip_test(NEEDS_NO_SANITIZER);
}

/* Flushes the output first: a child that ends by exit() would print its parent's buffered text again. */
static inline pid_t fork_flushed(void)
{
    (void)fflush(stdout);
    (void)fflush(stderr);
    return fork();
}

/* For a loop in which a test makes or compares many elements: ThreadSanitizer should check the library's loops only. */
#define UNWATCHED __attribute__((no_sanitize_thread))

static inline int on_cuda(void)
{
    const char *driver = getenv("CF_DRIVER");
    return driver && strcmp(driver, "cuda") == 0;
}

static inline void need_any_gpu(void)
{
    if (!on_cuda())
        skip_test(NEEDS_ANY_GPU);
}

static inline void need_cpu(void)
{
    if (on_cuda())
        skip_test(NEEDS_CPU);
}

/* The detail of a failed driver call: its name and result on a GPU. The CPU makes no driver call, and the detail is the
 * meaning of the result. */
#define CALL_OR_TEXT(call, text) (on_cuda() ? (call) : (text))

/* Makes plain calls on host arrays use the GPU in tests of a GPU; otherwise the library might run them on the CPU. */
__attribute__((constructor)) static inline void stage_host_data(void)
{
    (void)setenv("CF_HOST_DATA", "stage", 0);
    (void)setenv("CF_TUNING", "", 0); /* ignores measurements of this machine */
    (void)setenv("CF_MACHINE_FILE", "", 0);
}

/* Returns the reason to skip a test that needs a GPU, from the status of cf_require(CF_CUDA). */
static inline const char *why_no_gpu(int status)
{
    return status == CF_ENODEV ? NEEDS_GPU : cf_last_error();
}

/* Returns a function of the GPU's driver that the library does not use, for tests that play an application beside the
 * library; NULL if no driver is loaded or it lacks the function. */
static inline void (*find_driver_function(const char *name, int version))(void)
{
    unsigned int (*lookup)(const char *, void **, int, unsigned long long, int *) = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void (*function)(void) = NULL;
    if (!library)
        return NULL;
    *(void **)&lookup = dlsym(library, "cuGetProcAddress_v2");
    if (lookup && lookup(name, (void **)&function, version, 0, NULL) != 0)
        function = NULL;
    dlclose(library);
    return function;
}

static inline void (*driver_function(const char *name, int version))(void)
{
    void (*function)(void) = find_driver_function(name, version);
    if (!function)
        fail_msg("the driver has no %s", name);
    return function;
}

/* Declares a function of the CPU driver by another name, because its header's types differ from CUDA's headers, which
 * some programs include. */
int exchange_mode_of_cpu(int *mode) __asm__("cf__cpu_cuThreadExchangeStreamCaptureMode");

/* Returns 1 if the calling thread is as it was before the tests: it holds no lock, its capture modes are 0, the
 * drivers' default, and it has the program's locale. */
static inline int is_thread_as_before(void)
{
    int mode = 0, of_cpu = 0,
        (*exchange)(int *) = (int (*)(int *))find_driver_function("cuThreadExchangeStreamCaptureMode", 10010);
    if (exchange && exchange(&mode) != 0)
        mode = 0; /* the driver reports another failure */
    (void)exchange_mode_of_cpu(&of_cpu);
    int has_locale = uselocale((locale_t)0) == LC_GLOBAL_LOCALE;
    int is_same = cf__thread_locks.held == 0 && mode == 0 && of_cpu == 0 && has_locale;
    if (!is_same)
        fprintf(stderr,
                "after the tests their thread holds %d locks of the library, its capture modes are %d and %d, and its "
                "locale is %s\n",
                cf__thread_locks.held, mode, of_cpu, has_locale ? "the program's" : "another one");
    return is_same;
}

/* Runs a group, with a setup and a teardown that may be NULL. Returns the exit status for main(). */
static inline int run_group(const char *group, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                            CMFixtureFunction teardown)
{
    int failed = _cmocka_run_group_tests(group, tests, count, setup, teardown);
    return failed ? failed : !is_thread_as_before();
}

/* Runs a group on the driver that the environment names. */
static inline int run_on_driver(const char *group, const struct CMUnitTest *tests, size_t count,
                                CMFixtureFunction setup, CMFixtureFunction teardown)
{
    int status = on_cuda() ? cf_require(CF_CUDA) : CF_OK;
    if (status != CF_OK) {
        printf("1..%zu\n", count);
        for (size_t i = 0; i < count; i++)
            printf("ok %zu - %s # SKIP %s\n", i + 1, tests[i].name, why_no_gpu(status));
        return 0;
    }
    return run_group(group, tests, count, setup, teardown);
}

#define RUN_ON_DRIVER(tests, setup, teardown) \
    run_on_driver(#tests, tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)

/* Runs all tests of the program on that driver, as a group with this setup and teardown. */
static inline int run_all_tests(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    return run_on_driver("tests", all_tests, test_count, setup, teardown);
}

/* ---- Fixtures ---- */

static inline int end_library(void **state)
{
    (void)state;
    return cf_shutdown();
}

static inline int use_cpu(void **state)
{
    (void)state;
    return cf_device_use(CF_HOST);
}

/* Runs a body on its own thread, because it changes the thread's device and that cannot be undone. The body cannot
 * assert; it returns NULL or an error text. */
static inline void run_beside_a_gpu(void *(*body)(void *))
{
    need_any_gpu();
    pthread_t thread;
    void *wrong;
    assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    if (wrong)
        fail_msg("%s", (char *)wrong);
}

/* Runs a body on several threads at once and passes each its number. The body returns NULL on success. */
static inline void run_threads(int count, void *(*body)(void *))
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    int wrong = 0;
    assert_in_range(count, 1, MOST);
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)(intptr_t)i), 0);
    for (int i = 0; i < count; i++) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        wrong += result != NULL;
    }
    if (wrong)
        fail_msg("%d of %d threads went wrong", wrong, count);
}

/* Assert the status of a call and that its detail contains a text. */
#define assert_ok(call) assert_int_equal(call, CF_OK)
#define assert_fails(call, status, detail)                                                   \
    do {                                                                                     \
        assert_int_equal(call, status);                                                      \
        if (!strstr(cf_last_error(), detail))                                                \
            fail_msg("cf_last_error() is \"%s\" and lacks \"%s\"", cf_last_error(), detail); \
    } while (0)

static inline void need_two_gpus(void)
{
    int count = 0;
    if (on_cuda())
        assert_ok(cf_device_count(&count));
    if (count < 2)
        skip_test(NEEDS_TWO_GPUS);
}

#endif
