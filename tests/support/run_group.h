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

/* 1 in a program with a sanitizer: its locks, its quarantine and its own memory disturb some tests. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Reasons to skip a test. tools/check counts equal ones together. */
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

/* qemu keeps some signals to itself, ends a process with threads after its fork, and says of guard pages that it has
 * made them. */
static inline void skip_in_emulator(void)
{
    if (getenv("CHECK_EMULATED"))
        skip_test(NEEDS_PROCESSOR);
}

/* Called before a fork beside working threads. libc ensures that no lock of its allocator is held in the child.
 * Sanitizers before LLVM 17 do not, and the child may wait for ever. */
static inline void skip_where_forks_are_unsafe(void)
{
    skip_in_emulator();
    if (SANITIZED)
        skip_test(NEEDS_NO_SANITIZER);
}

/* A child that ends by exit() would print its parent's buffered text again. */
static inline pid_t fork_flushed(void)
{
    (void)fflush(stdout);
    (void)fflush(stderr);
    return fork();
}

/* For loops in which a test makes or compares many elements: ThreadSanitizer has to watch the library's loops only. */
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

/* The detail of a failed driver call: its name and result. The CPU has no driver call, and the detail is the meaning of
 * the result. */
#define CALL_OR_TEXT(call, text) (on_cuda() ? (call) : (text))

/* Keeps tests of a GPU from running on the CPU, unless they ask for it. */
__attribute__((constructor)) static inline void stage_host_data(void)
{
    (void)setenv("CF_HOST_DATA", "stage", 0);
    (void)setenv("CF_TUNING", "", 0); /* nor do measurements of this machine count */
    (void)setenv("CF_MACHINE_FILE", "", 0);
}

/* The reason to skip a test that needs a GPU, from the status of cf_require(CF_CUDA). */
static inline const char *why_no_gpu(int status)
{
    return status == CF_ENODEV ? NEEDS_GPU : cf_last_error();
}

/* A function of the GPU's driver outside the library's list, for tests that play an application beside the library.
 * NULL if no driver is loaded or it lacks the function. */
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

/* The CPU driver's function by another name: its header would bring the library's types, which differ from those of
 * CUDA's headers in some programs. */
int exchange_mode_of_cpu(int *mode) __asm__("cf__cpu_cuThreadExchangeStreamCaptureMode");

/* Returns 1 if the calling thread is as it was before the tests: a lock that it gave back but never took counts as
 * -1, its capture modes are the drivers' default, 0, and it has the program's locale. */
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

/* Runs a group whose setup and teardown may be NULL. Returns the exit status for main(). */
static inline int run_group(const char *group, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                            CMFixtureFunction teardown)
{
    int failed = _cmocka_run_group_tests(group, tests, count, setup, teardown);
    return failed ? failed : !is_thread_as_before();
}

/* Does the same on the driver that the environment names. */
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

/* Runs all tests of the program on that driver; the setup and teardown are those of the group. */
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

/* Runs a body that changes its thread's device, which cannot be undone, on its own thread. The body cannot assert; it
 * returns NULL or an error text. */
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

/* Runs a body on several threads at once, each with its number; it returns NULL if all is right. */
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
