/* test_fork.c - a forked child can always use the CPU. It can use a GPU only if its parent did not. */
#include "played_gpu.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include <cuferry/find.h>
#include <cuferry/kernels.h>

/* ---- Children ---- */

/* For a child, which cannot use assertions: prints the error and exits. */
#define EXPECT(call, status, detail)                                                                            \
    do {                                                                                                        \
        int got_ = (call);                                                                                      \
        if (got_ != (status) || (got_ != CF_OK && !strstr(cf_last_error(), detail))) {                          \
            printf("# line %d: %s gives %s, \"%s\"\n", __LINE__, #call, cf_status_name(got_), cf_last_error()); \
            fflush(stdout);                                                                                     \
            _exit(1);                                                                                           \
        }                                                                                                       \
    } while (0)
#define EXPECT_OK(call) EXPECT(call, CF_OK, "")
#define EXPECT_FORK(call) EXPECT(call, CF_EFORK, "this process was forked from one that used a GPU")

static void expect_child(pid_t child)
{
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        fail_msg("the child ended with status 0x%x", (unsigned int)status);
}

static void run_child(void (*body)(void))
{
    pid_t child = fork_flushed();
    if (child == 0) {
        alarm(600); /* ends a child that hangs */
        body();
        _exit(0);
    }
    expect_child(child);
}

/* Objects that the parent has made, on its GPU or on the CPU. */
static struct {
    void *memory;
    cf_stream stream;
    cf_event event;
    cf_graph graph;
    cf_graph_exec exec;
} made;

static int gather(cf_stream stream, int is_async)
{
    static const float source[] = {1, 2, 3};
    static const int32_t index[] = {2, 0, 1, 2};
    static float res[4];
    memset(res, 0, sizeof res);
    int status = is_async ? cf_gather_f32_i32_async(stream, source, index, res, 4, 3)
                          : cf_gather_f32_i32(source, index, res, 4, 3);
    return status == CF_OK && !(res[0] == 3 && res[1] == 1 && res[2] == 2 && res[3] == 3) ? CF_ECALL : status;
}

static void make_everything(void)
{
    assert_ok(cf_mem_alloc(&made.memory, 64));
    assert_ok(cf_stream_create(&made.stream));
    assert_ok(cf_event_create(&made.event));
    assert_ok(cf_event_record(made.event, made.stream));
    assert_ok(cf_stream_capture_begin(made.stream));
    assert_ok(cf_mem_fill_async(made.stream, made.memory, 1, 64));
    assert_ok(cf_stream_capture_end(made.stream, &made.graph));
    assert_ok(cf_graph_instantiate(&made.exec, made.graph));
    assert_ok(gather(NULL, 0));
}

static void destroy_everything(void)
{
    assert_ok(cf_graph_launch(made.exec, made.stream));
    assert_ok(cf_stream_sync(made.stream));
    assert_ok(cf_graph_exec_destroy(made.exec));
    assert_ok(cf_graph_destroy(made.graph));
    assert_ok(cf_event_destroy(made.event));
    assert_ok(cf_stream_destroy(made.stream));
    assert_ok(cf_mem_free(made.memory));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
}

/* Calls every function that needs the GPU, through a device, a handle or a pointer. */
static void expect_no_gpu(void)
{
    int number;
    int64_t value;
    char host[64], name[64];
    void *memory;
    cf_stream stream;
    cf_event event;
    EXPECT_FORK(cf_require(CF_CUDA));
    EXPECT_FORK(cf_device_count(&number));
    EXPECT_FORK(cf_device_current(&number));
    EXPECT_FORK(cf_device_use(0));
    EXPECT_FORK(cf_device_name(1, name, sizeof name));
    EXPECT_FORK(cf_device_uuid(1, name, sizeof name));
    EXPECT_FORK(cf_device_pci(1, name, sizeof name));
    EXPECT_FORK(cf_device_property(0, CF_PROPERTY_MEMORY, &value));
    EXPECT_FORK(cf_device_sync());
    EXPECT_FORK(cf_device_reset(0));
    EXPECT_FORK(cf_peer_enable(0, 1));
    EXPECT_FORK(cf_mem_alloc(&memory, 64));
    EXPECT_FORK(cf_mem_alloc_pinned(&memory, 64));
    EXPECT_FORK(cf_mem_trim(0));
    EXPECT_FORK(cf_stream_create(&stream));
    EXPECT_FORK(cf_event_create(&event));
    EXPECT_FORK(cf_stream_sync(NULL));
    EXPECT_FORK(gather(NULL, 0));
    EXPECT_FORK(gather(NULL, 1));
    EXPECT_FORK(cf_mem_fill(made.memory, 0, 64));
    EXPECT_FORK(cf_mem_copy(host, made.memory, 64));
    EXPECT_FORK(cf_mem_free(made.memory));
    EXPECT_FORK(gather(made.stream, 1));
    EXPECT_FORK(cf_stream_sync(made.stream));
    EXPECT_FORK(cf_stream_query(made.stream));
    EXPECT_FORK(cf_stream_destroy(made.stream));
    EXPECT_FORK(cf_mem_fill_async(made.stream, made.memory, 0, 64));
    EXPECT_FORK(cf_mem_alloc_async(made.stream, &memory, 64));
    EXPECT_FORK(cf_event_sync(made.event));
    EXPECT_FORK(cf_event_destroy(made.event));
    EXPECT_FORK(cf_graph_launch(made.exec, made.stream));
    EXPECT_FORK(cf_graph_exec_destroy(made.exec));
    EXPECT_FORK(cf_graph_destroy(made.graph));
}

static void expect_cpu(void)
{
    void *memory;
    cf_stream stream;
    char host[64];
    float res[4];
    int device;
    EXPECT_OK(cf_device_use(CF_HOST));
    EXPECT_OK(cf_device_current(&device));
    EXPECT_OK(gather(NULL, 0));
    EXPECT_OK(gather(NULL, 1));
    EXPECT_OK(cf_mem_alloc(&memory, sizeof host));
    EXPECT_OK(cf_mem_fill(memory, 7, sizeof host));
    EXPECT_OK(cf_mem_copy(host, memory, sizeof host));
    EXPECT_OK(cf_mem_free(memory));
    EXPECT_OK(cf_stream_create(&stream));
    EXPECT_OK(gather(stream, 1));
    EXPECT_OK(cf_stream_destroy(stream));
    if (on_cuda()) { /* memory of the GPU must not be taken for CPU memory */
        EXPECT_FORK(cf_mem_copy(host, made.memory, sizeof host));
        EXPECT_FORK(cf_gather_f32_i32(made.memory, (const int32_t[]){0}, res, 1, 1));
        EXPECT_FORK(cf_mem_free(made.memory));
    }
}

static void child_of_gpu_user(void)
{
    expect_no_gpu();
    expect_cpu();
    EXPECT_OK(cf_shutdown());
    EXPECT_FORK(cf_require(CF_CUDA));
    EXPECT_FORK(cf_device_use(0));
    expect_cpu();
    EXPECT_OK(cf_shutdown());
    EXPECT_OK(cf_shutdown());
    (void)setenv("CF_CHECK", "none", 1); /* the library reads the environment again at the next use */
    EXPECT(cf_device_use(CF_HOST), CF_EINVAL, "CF_CHECK=none");
}

static void child_of_gpu_user_asks_default(void)
{
    EXPECT_OK(cf_shutdown());
    EXPECT_FORK(gather(NULL, 0)); /* reads the environment again, and must not use the CPU instead of the GPU */
    expect_cpu();
    pid_t grandchild = fork_flushed();
    if (grandchild == 0) {
        EXPECT_FORK(cf_device_use(0));
        expect_cpu();
        _exit(0);
    }
    int status = -1;
    if (waitpid(grandchild, &status, 0) != grandchild || status != 0)
        _exit(1);
}

FAKE_TEST(fork_after_gpu_use_child_has_the_cpu_alone, "CF_DRIVER=cuda")
{
    make_everything();
    run_child(child_of_gpu_user);
    run_child(child_of_gpu_user_asks_default);
    destroy_everything(); /* the children have not changed the parent's objects */
}

static void child_that_ends(void)
{
    exit(0); /* also runs destructors */
}

FAKE_TEST(fork_after_gpu_use_child_ends_in_peace, "CF_DRIVER=cuda")
{
    make_everything();
    run_child(child_that_ends);
    destroy_everything();
}

static void child_of_shut_down(void)
{
    EXPECT_FORK(gather(NULL, 0));
    EXPECT_FORK(cf_device_use(0));
    EXPECT_OK(cf_device_use(CF_HOST));
    EXPECT_OK(gather(NULL, 0));
}

/* cf_shutdown() does not end the driver: the parent still counts as a process that has used a GPU. */
FAKE_TEST(fork_after_shutdown_child_has_the_cpu_alone, "CF_DRIVER")
{
    assert_ok(gather(NULL, 0));
    assert_ok(cf_shutdown());
    run_child(child_of_shut_down);
    assert_ok(gather(NULL, 0));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
}

/* clone() does not run fork handlers, but the library must notice the child. */
FAKE_TEST(clone_after_gpu_use_child_is_seen, "CF_DRIVER=cuda")
{
    if (SANITIZED)
        skip_process(NEEDS_NO_SANITIZER);
    make_everything();
    for (int i = 0; i < 20; i++) {
        pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
        if (child == 0) {
            EXPECT_FORK(cf_stream_sync(made.stream));
            EXPECT_FORK(gather(NULL, 1));
            EXPECT_OK(cf_device_use(CF_HOST));
            EXPECT_OK(gather(NULL, 0));
            _exit(0);
        }
        expect_child(child);
    }
    destroy_everything();
}

static void child_that_uses_gpu(void)
{
    EXPECT_OK(cf_require(CF_CUDA));
    EXPECT_OK(gather(NULL, 0));
    EXPECT_OK(cf_shutdown());
}

FAKE_TEST(fork_before_use_child_has_everything, "CF_DRIVER")
{
    run_child(child_that_uses_gpu);
    assert_ok(gather(NULL, 0));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
}

static void child_on_the_cpu(void)
{
    expect_cpu();
    EXPECT(cf_require(CF_CUDA), CF_ENODEV, "");
    EXPECT_OK(cf_shutdown());
    EXPECT_OK(gather(NULL, 0));
}

/* If no GPU could be used, the parent does not count as having used one. */
FAKE_TEST(fork_without_gpu_child_goes_on, "CF_DRIVER", "FAKE_CUDA=devices=0")
{
    assert_ok(gather(NULL, 0));
    run_child(child_on_the_cpu);
    assert_ok(gather(NULL, 0));
    assert_ok(cf_shutdown());
}

/* ---- Fork during other threads' calls ---- */

enum { THREADS = 4, LENGTH = 1 << 16 };
static int stop;
static float source[LENGTH];
static int32_t reversed[LENGTH];

static int gather_long(float res[LENGTH])
{
    int status = cf_gather_f32_i32(source, reversed, res, LENGTH, LENGTH);
    for (int i = 0; status == CF_OK && i < LENGTH; i++)
        if (res[i] != source[LENGTH - 1 - i])
            status = CF_ECALL;
    return status;
}

static void *keep_busy(void *number)
{
    float *res = malloc(LENGTH * sizeof *res);
    int status = res ? CF_OK : CF_ENOMEM;
    if (status == CF_OK && (uintptr_t)number % 2)
        status = cf_device_use(CF_HOST);
    while (status == CF_OK && !__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        void *memory = NULL;
        cf_stream stream;
        status = gather_long(res);
        if (status == CF_OK)
            status = cf_mem_alloc(&memory, 1000);
        if (status == CF_OK)
            status = cf_stream_create(&stream);
        if (status == CF_OK)
            status = cf_mem_fill_async(stream, memory, 1, 1000);
        if (status == CF_OK)
            status = cf_stream_sync(stream);
        if (status == CF_OK)
            status = cf_stream_destroy(stream);
        if (status == CF_OK)
            status = cf_mem_free(memory);
        if (status == CF_OK && cf_mem_free(&stop) != CF_EINVAL) /* the log callback gets this error */
            status = CF_ECALL;
    }
    free(res);
    return status == CF_OK ? NULL : strdup(cf_last_error());
}

static void child_of_busy(void)
{
    static float res[LENGTH];
    EXPECT_OK(cf_device_use(CF_HOST));
    for (int i = 0; i < 3; i++)
        EXPECT_OK(gather_long(res));
    EXPECT_OK(cf_shutdown());
    EXPECT_OK(gather_long(res));
}

static void ignore(void *data, int level, const char *text)
{
    (void)data, (void)level, (void)text;
}

FAKE_TEST(fork_in_the_middle_child_works_on_the_cpu, "CF_DRIVER")
{
    skip_where_forks_are_unsafe();
    pthread_t threads[THREADS];
    void *wrong;
    for (int i = 0; i < LENGTH; i++) {
        source[i] = (float)i;
        reversed[i] = LENGTH - 1 - i;
    }
    cf_set_log(ignore, NULL);
    for (uintptr_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, keep_busy, (void *)t), 0);
    for (int i = 0; i < 60; i++)
        run_child(child_of_busy);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], &wrong), 0);
        if (wrong)
            fail_msg("%s", (char *)wrong);
    }
    cf_set_log(NULL, NULL);
    assert_ok(cf_shutdown());
}

/* ---- Forks while threads search for loaded libraries ---- */

static int searches;          /* number of threads in dl_iterate_phdr(); atomic */
static int are_searches_slow; /* atomic */

/* Replaces the C library's function for calls of the library, but not for those of a sanitizer as it starts. */
#if !SANITIZED
int dl_iterate_phdr(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data)
{
    int (*original)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    void *address = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    memcpy(&original, &address, sizeof original);
    (void)__atomic_fetch_add(&searches, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&are_searches_slow, __ATOMIC_RELAXED))
        usleep(20000);
    int result = original(callback, data);
    (void)__atomic_fetch_sub(&searches, 1, __ATOMIC_SEQ_CST);
    return result;
}
#endif

static void *search_until_stopped(void *unused)
{
    (void)unused;
    const char *path;
    int status = cf_device_use(CF_HOST);
    while (status == CF_OK && !__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        status = gather(NULL, 0);
        if (status == CF_OK)
            status = cf_find("libcuda", &path);
    }
    return (void *)(intptr_t)status;
}

/* A search may hold a lock of the C library. If a fork came then, the lock would stay locked in the child. */
static void child_of_searching(void)
{
    if (__atomic_load_n(&searches, __ATOMIC_SEQ_CST)) {
        printf("# a fork came in the middle of a search\n");
        fflush(stdout);
        _exit(1);
    }
}

FAKE_TEST(fork_waits_for_searches, "CF_DRIVER")
{
    skip_where_forks_are_unsafe();
    pthread_t thread;
    void *status;
    __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&are_searches_slow, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_create(&thread, NULL, search_until_stopped, NULL), 0);
    for (int i = 0; i < 5; i++) {
        while (!__atomic_load_n(&searches, __ATOMIC_SEQ_CST))
            usleep(100);
        run_child(child_of_searching);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, &status), 0);
    __atomic_store_n(&are_searches_slow, 0, __ATOMIC_RELAXED);
    assert_int_equal((int)(intptr_t)status, CF_OK);
}

int main(int argc, char *argv[])
{
    RUN_ALSO(fork_in_the_middle_child_works_on_the_cpu, "CF_DRIVER=host");
    return run_with_fake(argc, argv, NULL, end_library);
}
