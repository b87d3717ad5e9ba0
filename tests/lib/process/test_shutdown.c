/* test_shutdown.c - cf_shutdown() that fails and is called again, shared objects that are closed without it, and
 * processes that end while calls are running. */
#include "open_plugin.h"

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <cuferry/kernels.h>

#include "driver/driver.h"
#include "context/context.h"
#include "driver/deferred_free.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "kernel/image.h"

static int gather(void)
{
    static const float source[] = {1, 2, 3};
    static const int32_t index[] = {2, 0, 1, 2};
    float res[4] = {0};
    int status = cf_gather_f32_i32(source, index, res, 4, 3);
    return status == CF_OK && !(res[0] == 3 && res[1] == 1 && res[2] == 2 && res[3] == 3) ? CF_ECALL : status;
}

/* ---- A driver that can be made to fail ---- */

static CUresult unload_result, release_result, free_result, (*real_unload)(CUlibrary), (*real_release)(CUdevice);

static CUresult unload(CUlibrary library)
{
    return unload_result == CUDA_SUCCESS ? real_unload(library) : unload_result;
}

static CUresult release(CUdevice device)
{
    return release_result == CUDA_SUCCESS ? real_release(device) : release_result;
}

__attribute__((visibility("default"))) const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    static struct cf__driver wrapped;
    if (driver->is_cpu)
        return driver;
    wrapped = *driver;
    real_unload = driver->cuLibraryUnload;
    real_release = driver->cuDevicePrimaryCtxRelease;
    wrapped.cuLibraryUnload = unload;
    wrapped.cuDevicePrimaryCtxRelease = release;
    return &wrapped;
}

static int alive(void)
{
    char text[1024];
    return count_alive(text, sizeof text);
}

FAKE_TEST(shutdown_that_cannot_unload_is_tried_again, "CF_DRIVER=cuda")
{
    assert_ok(gather());
    unload_result = CUDA_ERROR_UNKNOWN;
    assert_fails(cf_shutdown(), CF_ECALL, "cf_shutdown: unloading an image: cuLibraryUnload returned 999 ");
    assert_int_equal(alive(), 1); /* the image of the kernel; the context was released all the same */
    assert_fails(cf_shutdown(), CF_ECALL, "cuLibraryUnload");
    unload_result = CUDA_SUCCESS;
    assert_ok(gather()); /* the call works with the objects that are left */
    assert_ok(cf_shutdown());
    assert_nothing_alive();
}

FAKE_TEST(shutdown_that_cannot_release_is_tried_again, "CF_DRIVER=cuda")
{
    assert_ok(cf_device_use(1));
    assert_ok(gather());
    assert_ok(cf_device_use(0));
    assert_ok(gather());
    release_result = CUDA_ERROR_OUT_OF_MEMORY;
    assert_fails(cf_shutdown(), CF_ENOMEM, "cf_shutdown: device 1: cuDevicePrimaryCtxRelease returned 2 ");
    assert_int_equal(alive(), 2); /* two contexts */
    release_result = CUDA_SUCCESS;
    assert_ok(gather());
    assert_ok(cf_shutdown());
    assert_nothing_alive();
}

/* Shuts down as if the process were ending and the driver had ended before the library. */
static void *shut_down_there(void *unused)
{
    (void)unused;
    return (void *)cf_status_name(cf_shutdown());
}

FAKE_TEST(shutdown_leaves_captures_of_another_library, "CF_DRIVER=cuda")
{
    enum { MANY = 1 << 18 };
    const struct cf__driver *driver = other_library();
    float *numbers = calloc(2 * MANY, sizeof *numbers);
    int32_t *index = calloc(MANY, sizeof *index);
    CUcontext context, popped;
    CUstream stream;
    CUgraph graph;
    pthread_t thread;
    void *name;
    assert_true(numbers && index);
    assert_ok(cf_gather_f32_i32(numbers, index, numbers + MANY, MANY, MANY)); /* this call needs pinned buffers */
    assert_int_equal(driver->cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPushCurrent(context), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    assert_int_equal(pthread_create(&thread, NULL, shut_down_there, NULL), 0);
    assert_int_equal(pthread_join(thread, &name), 0);
    assert_string_equal(name, "CF_OK");
    assert_int_equal(driver->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver->cuGraphDestroy(graph), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamDestroy(stream), CUDA_SUCCESS);
    assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    assert_int_equal(driver->cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
    free(numbers);
    free(index);
}

FAKE_TEST(shutdown_after_the_driver_succeeds, "CF_DRIVER=cuda")
{
    assert_ok(gather());
    unload_result = release_result = CUDA_ERROR_DEINITIALIZED;
    assert_ok(cf_shutdown());
    assert_int_equal(alive(), 3);
    unload_result = release_result = CUDA_SUCCESS;
}

static CUresult free_memory(const struct cf__driver *driver, uintptr_t memory)
{
    return free_result == CUDA_SUCCESS ? driver->cuMemFree(memory) : free_result;
}

/* Allocates memory and frees it while freeing fails, so that the free is deferred. */
static void keep_memory(struct cf__scope *place)
{
    CUdeviceptr memory;
    assert_int_equal(place->driver->cuMemAlloc(&memory, 64), CUDA_SUCCESS);
    cf__defer_free(place->driver, place->context, free_memory, memory);
}

FAKE_TEST(keep_what_could_not_be_freed_is_freed_at_shutdown, "CF_DRIVER=cuda")
{
    struct cf__scope place;
    assert_ok(cf__enter(&place, "test", NULL));
    for (int i = 0; i < 40; i++)
        keep_memory(&place);
    cf__leave(&place);
    assert_int_equal(alive(), 41);
    free_result = CUDA_ERROR_UNKNOWN;
    assert_fails(cf_shutdown(), CF_ECALL, "cf_shutdown: what an earlier call could not free: freeing it returned 999 ");
    free_result = CUDA_SUCCESS;
    assert_ok(gather());
    assert_ok(cf_shutdown());
    assert_int_equal(alive(), 40); /* the memory was destroyed with its context */
}

FAKE_TEST(keep_in_a_context_that_is_gone_is_forgotten, "CF_DRIVER")
{
    CUcontext own, again;
    struct cf__scope place;
    assert_ok(gather());
    assert_int_equal(context_create(&own, 0, 0), CUDA_SUCCESS);
    assert_ok(cf__enter(&place, "test", NULL));
    assert_ptr_equal(place.context, own);
    keep_memory(&place);
    cf__leave(&place);
    assert_int_equal(context_destroy(own), CUDA_SUCCESS);
    assert_int_equal(context_create(&again, 0, 1), CUDA_SUCCESS);
    assert_ok(cf_shutdown()); /* must not touch the new context, even if it has the same address */
    assert_int_equal(context_destroy(again), CUDA_SUCCESS);
}

FAKE_TEST(shutdown_after_many_contexts_keeps_few_records, "CF_DRIVER")
{
    int count = 0;
    assert_non_null(other_library());
    for (int i = 0; i < 300; i++) {
        CUcontext own;
        assert_int_equal(context_create(&own, 0, 0), CUDA_SUCCESS);
        assert_ok(gather());
        assert_int_equal(context_destroy(own), CUDA_SUCCESS);
    }
    for (struct cf__context *context = NULL; (context = cf__context_next(context)) != NULL;)
        count++;
    assert_in_range(count, 1, 3);
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, "gather_f32_i32");
    count = 0;
    for (const struct cf__loaded *node = kernel->state->loaded; node; node = node->next)
        count++;
    assert_in_range(count, 1, 3);
}

/* ---- Shared objects ---- */

/* Returns the number of entries of a folder in /proc/self. */
static int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    int count = 0;
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static int count_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    int count = 0, c;
    assert_non_null(file);
    while ((c = getc(file)) != EOF)
        count += c == '\n';
    fclose(file);
    return count;
}

static long resident_pages(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long size, resident;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
    fclose(file);
    return resident;
}

static void *open_and_find(plugin_use_function **use)
{
    void *library = open_plugin();
    *use = (plugin_use_function *)plugin_function(library, "plugin_use");
    return library;
}

static void open_use_close(int count)
{
    for (int i = 0; i < count; i++) {
        plugin_use_function *use;
        const char *detail;
        void *library = open_and_find(&use);
        if (use(&detail) != CF_OK)
            fail_msg("%s", detail);
        assert_int_equal(dlclose(library), 0);
    }
}

enum { TIMES = SANITIZED ? 50 : 1000 };

FAKE_TEST(close_without_shutdown_leaves_nothing, "CF_DRIVER", "CF_THREADS=4")
{
    open_use_close(20); /* fills the caches of the C library and the driver */
    int threads = count_entries("/proc/self/task"), files = count_entries("/proc/self/fd");
    int mappings = count_mappings();
    long pages = resident_pages();
    open_use_close(TIMES);
    assert_nothing_alive();
    assert_int_equal(count_entries("/proc/self/task"), threads);
    assert_int_equal(count_entries("/proc/self/fd"), files);
    if (SANITIZED)
        return;
    /* With many threads the C library makes a few more heaps and stacks, but far fewer than one in each iteration. */
    assert_in_range(count_mappings(), 1, mappings + TIMES / 10);
    assert_in_range(resident_pages(), 1, pages + 256);
}

static void count_line(void *count, int level, const char *text)
{
    (void)level, (void)text;
    ++*(int *)count;
}

/* The trace reports that it cannot be ended. The log callback must not be called for that, because its code may be in
 * the object that is being closed. */
FAKE_TEST(close_with_a_trace_calls_nothing_and_frees_all, "CF_DRIVER", "CF_THREADS=1")
{
    enum { ROUNDS = 60, WARM = 20, LEAST = 512 }; /* bytes that a round would leave, beside what malloc() caches */
    char path[64];
    struct rlimit any;
    const char *detail;
    size_t before = 0;
    int lines = 0;
    snprintf(path, sizeof path, "/tmp/cf_shutdown_%d.json", (int)getpid());
    assert_int_equal(setenv("CF_TRACE", path, 1), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &any), 0);
    assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    for (int i = 0; i < ROUNDS; i++) {
        plugin_use_function *use;
        void *library = open_and_find(&use);
        ((plugin_set_log_function *)plugin_function(library, "plugin_set_log"))(count_line, &lines);
        if (use(&detail) != CF_OK)
            fail_msg("%s", detail);
        lines = 0;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, any.rlim_max}), 0);
        int closed = dlclose(library);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &any), 0);
        assert_int_equal(closed, 0);
        assert_int_equal(lines, 0);
        assert_int_equal(unlink(path), 0);
        before = i == WARM ? mallinfo2().uordblks : before;
    }
    if (!SANITIZED)
        assert_in_range(mallinfo2().uordblks, 0, before + LEAST * (ROUNDS - WARM));
}

static void *open_and_leave(void *unused)
{
    plugin_use_function *use;
    const char *detail;
    void *library = open_and_find(&use);
    (void)unused;
    if (use(&detail) != CF_OK)
        return (void *)"plugin_use() fails";
    return library ? NULL : (void *)"no library";
}

/* A thread that has used the library ends after the library was closed. No code of the library may be called then. */
static pthread_barrier_t used, closed;

static void *use_and_wait(void *use)
{
    const char *detail;
    int status = (*(plugin_use_function **)use)(&detail);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return status == CF_OK ? NULL : (void *)"plugin_use() fails";
}

FAKE_TEST(close_before_a_thread_ends_is_fine, "CF_DRIVER", "CF_THREADS=4")
{
    pthread_t thread;
    void *wrong;
    plugin_use_function *use;
    void *library = open_and_find(&use);
    assert_int_equal(pthread_barrier_init(&used, NULL, 2), 0);
    assert_int_equal(pthread_barrier_init(&closed, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, use_and_wait, &use), 0);
    pthread_barrier_wait(&used);
    assert_int_equal(dlclose(library), 0);
    assert_nothing_alive();
    pthread_barrier_wait(&closed);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    pid_t child = fork_flushed(); /* must not call a fork handler of the closed library */
    if (child == 0)
        _exit(0);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* While a thread holds a lock of the library, nothing can be freed; still, no code of the closed library may be
 * called. */
static void *use_hold_and_wait(void *library)
{
    const char *detail;
    int status = ((plugin_use_function *)plugin_function(library, "plugin_use"))(&detail);
    ((plugin_hold_function *)plugin_function(library, "plugin_hold"))();
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return status == CF_OK ? NULL : (void *)"plugin_use() fails";
}

FAKE_TEST(close_while_a_thread_has_a_lock_leaves_no_code_to_call, "CF_DRIVER", "CF_THREADS=4")
{
    pthread_t thread;
    void *wrong;
    plugin_use_function *use;
    const char *detail;
    int threads = count_entries("/proc/self/task");
    void *library = open_and_find(&use);
    assert_ok(use(&detail)); /* this thread gets an exit handler, too */
    assert_int_equal(pthread_barrier_init(&used, NULL, 2), 0);
    assert_int_equal(pthread_barrier_init(&closed, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, use_hold_and_wait, library), 0);
    pthread_barrier_wait(&used);
    close_plugin(library, *(void **)&use);
    assert_int_equal(count_entries("/proc/self/task"), threads + 1);
    pid_t child = fork_flushed();
    if (child == 0)
        _exit(0);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    pthread_barrier_wait(&closed);
    assert_int_equal(pthread_join(thread, &wrong), 0);
    assert_null(wrong);
    fflush(NULL);
    _exit(0); /* the rest is freed when the process ends */
}

/* ---- Side effects on the process ---- */

enum { SIGNALS = 65 };

static void read_handlers(struct sigaction actions[SIGNALS])
{
    memset(actions, 0, SIGNALS * sizeof *actions);
    for (int s = 1; s < SIGNALS; s++)
        (void)sigaction(s, NULL, &actions[s]); /* fails for the signals that the C library uses itself */
}

FAKE_TEST(use_prints_nothing_and_handles_no_signals, "CF_DRIVER", "CF_THREADS=4")
{
    static struct sigaction before[SIGNALS], after[SIGNALS];
    const float one = 1;
    const int32_t outside = 7;
    float res;
    sigset_t mask, mask_after;
    FILE *printed = tmpfile();
    assert_non_null(printed);
    fflush(NULL);
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    dup2(fileno(printed), STDOUT_FILENO);
    dup2(fileno(printed), STDERR_FILENO);
    read_handlers(before);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    int wrong = open_and_leave(NULL) != NULL || gather() != CF_OK; /* each call uses both copies of the library */
    wrong += cf_gather_f32_i32(&one, &outside, &res, 1, 1) != CF_ERANGE;
    wrong += cf_shutdown() != CF_OK;
    pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
    read_handlers(after);
    fflush(NULL);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    assert_int_equal(wrong, 0);
    assert_int_equal(lseek(fileno(printed), 0, SEEK_END), 0);
    fclose(printed);
    for (int s = 1; s < SIGNALS; s++) {
        assert_ptr_equal(before[s].sa_handler, after[s].sa_handler);
        assert_int_equal(sigismember(&mask, s), sigismember(&mask_after, s));
    }
}

/* ---- The end of a process ---- */

static void *call_without_end(void *unused)
{
    (void)unused;
    while (gather() == CF_OK)
        ;
    pause(); /* a call may fail as the process ends */
    return NULL;
}

static void end_in_the_middle(int with_library)
{
    pthread_t threads[3];
    if (with_library && open_and_leave(NULL))
        _exit(1);
    for (int t = 0; t < 3; t++)
        if (pthread_create(&threads[t], NULL, call_without_end, NULL) != 0)
            _exit(1);
    if (gather() != CF_OK)
        _exit(1);
    exit(0);
}

static void expect_ends(int with_library)
{
    for (int i = 0; i < 20; i++) {
        int status = -1;
        pid_t child = fork_flushed();
        if (child == 0) {
            alarm(600);
            end_in_the_middle(with_library);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

FAKE_TEST(exit_with_threads_inside_ends, "CF_DRIVER")
{
    expect_ends(0);
}

FAKE_TEST(exit_with_an_open_library_ends, "CF_DRIVER", "CF_THREADS=4")
{
    expect_ends(1);
}

int main(int argc, char *argv[])
{
    RUN_ALSO(close_without_shutdown_leaves_nothing, "CF_DRIVER=host", "CF_THREADS=4");
    RUN_ALSO(use_prints_nothing_and_handles_no_signals, "CF_DRIVER=host", "CF_THREADS=4");
    RUN_ALSO(exit_with_threads_inside_ends, "CF_DRIVER=host", "CF_THREADS=4");
    return run_with_fake(argc, argv, NULL, NULL);
}
