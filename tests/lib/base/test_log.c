/* test_log.c - the callback of cf_set_log(), which gets a line for every failure and for rare events. */
#include "played_gpu.h"

#include <pthread.h>
#include <signal.h>

#include <cuferry/kernels.h>

#include "base/bounds.h"
#include "base/lock.h"
#include "base/log.h"

struct lines {
    pthread_mutex_t lock;
    char text[1 << 14]; /* "1 detail\n2 information\n" */
    int errors, infos, others;
    int calls_back, called_back; /* statuses of calls from the callback */
};
static struct lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void keep(void *data, int level, const char *text)
{
    struct lines *to = data;
    pthread_mutex_lock(&to->lock);
    size_t used = strlen(to->text);
    snprintf(to->text + used, sizeof to->text - used, "%d %s\n", level, text);
    *(level == CF_LOG_ERROR ? &to->errors : level == CF_LOG_INFO ? &to->infos : &to->others) += 1;
    pthread_mutex_unlock(&to->lock);
}

static int set_up(void **state)
{
    (void)state;
    lines.text[0] = 0;
    lines.errors = lines.infos = lines.others = lines.calls_back = lines.called_back = 0;
    assert_ok(cf_shutdown());
    cf_set_log(keep, &lines);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cf_set_log(NULL, NULL);
    return cf_shutdown();
}

static int gather(void)
{
    const float source[] = {1, 2, 3};
    const int32_t index[] = {2, 0, 1, 2};
    float res[4] = {0};
    return cf_gather_f32_i32(source, index, res, 4, 3);
}

#define assert_line(line)                                            \
    do {                                                             \
        if (!strstr(lines.text, line))                               \
            fail_msg("the log lacks \"%s\":\n%s", line, lines.text); \
    } while (0)

/* ---- Events that are logged ---- */

TEST_WITH(failure_of_an_async_call_is_logged_with_its_name, set_up, tear_down)
{
    assert_fails(cf_gather_f32_i32_async(NULL, NULL, NULL, NULL, 1, 1), CF_EINVAL, "cf_gather_f32_i32_async: ");
    assert_line("1 cf_gather_f32_i32_async: ");
    lines.text[0] = 0;
    assert_fails(cf_gather_f32_i32(NULL, NULL, NULL, 1, 1), CF_EINVAL, "cf_gather_f32_i32: ");
    assert_line("1 cf_gather_f32_i32: ");
    lines.text[0] = 0;
    assert_int_equal(cf_launch(NULL, NULL, NULL), CF_EINVAL);
    assert_null(strstr(lines.text, "_async"));
}

TEST_WITH(failure_is_logged_with_its_detail, set_up, tear_down)
{
    char expected[800];
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_string_equal(lines.text, "1 cf_event_sync: event is NULL\n");
    const int32_t index[] = {3};
    float one = 0, other;
    assert_int_equal(cf_gather_f32_i32(&one, index, &other, 1, 1), CF_ERANGE);
    snprintf(expected, sizeof expected, "1 %s\n", cf_last_error());
    assert_line(expected);
    void *memory;
    assert_int_equal(cf_mem_alloc(&memory, (size_t)PTRDIFF_MAX), CF_ENOMEM);
    snprintf(expected, sizeof expected, "1 %s\n", cf_last_error());
    assert_line(expected);
    assert_int_equal(lines.errors, 3);
    assert_int_equal(lines.others, 0);
    assert_null(strstr(lines.text, "\n\n"));
}

TEST_WITH(success_after_the_first_is_not_logged, set_up, tear_down)
{
    assert_ok(gather());
    assert_true(lines.infos > 0);
    assert_int_equal(lines.errors, 0);
    int before = lines.infos;
    for (int i = 0; i < 10; i++)
        assert_ok(gather());
    assert_int_equal(lines.infos, before);
}

TEST_WITH(first_use_tells_the_device, set_up, tear_down)
{
    int device;
    assert_ok(cf_device_current(&device));
    assert_line(device == CF_HOST ? "2 calls run on the CPU by default\n" : "2 calls run on GPU 0 by default\n");
    assert_ok(cf_shutdown());
    assert_line("2 everything was given back\n");
}

FAKE_TEST(first_use_of_a_gpu_tells_driver_and_images, "CF_DRIVER=cuda")
{
    assert_ok(gather());
    assert_line("2 the NVIDIA driver, for CUDA 13.0, with 2 GPUs\n");
    assert_line("2 cf_gather_f32_i32: its image of ");
}

FAKE_TEST(fault_and_reset_are_logged, "CF_DRIVER=cuda", "FAKE_CUDA=reset=1")
{
    float host[3] = {0};
    const int32_t index[] = {2, 1, 0};
    assert_ok(cf_gather_f32_i32_async(NULL, host, index, host, 3, 3)); /* memory that the GPU cannot access */
    assert_int_equal(cf_device_sync(), CF_EFAULT);
    assert_line("2 the context of device 0 was lost to a fault while cf_gather_f32_i32 was running\n");
    assert_line("1 cf_device_sync: cuCtxSynchronize returned 700 ");
    assert_ok(cf_device_reset(0));
    assert_line("2 device 0 was reset\n");
}

/* ---- The callback itself ---- */

TEST_WITH(callback_of_null_ends_it, set_up, tear_down)
{
    cf_set_log(NULL, &lines);
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_string_equal(lines.text, "");
    cf_set_log(keep, &lines);
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_int_equal(lines.errors, 1);
}

static void keep_other(void *data, int level, const char *text)
{
    (void)level, (void)text;
    ++*(int *)data;
}

TEST_WITH(callback_replaced_gets_no_more, set_up, tear_down)
{
    int other = 0;
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    cf_set_log(keep_other, &other);
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_int_equal(lines.errors, 1);
    assert_int_equal(other, 2);
    cf_set_log(NULL, NULL);
}

TEST_WITH(line_waits_until_the_last_lock_is_given_back, set_up, tear_down)
{
    pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
    lines.text[0] = 0;
    cf__lock(&outer);
    cf__log(CF_LOG_INFO, "first");
    cf__lock(&inner);
    cf__log(CF_LOG_ERROR, "second");
    cf__unlock(&inner);
    assert_string_equal(lines.text, "");
    cf__unlock(&outer);
    assert_string_equal(lines.text, "2 first\n1 second\n");
    cf__log(CF_LOG_INFO, "third");
    assert_string_equal(lines.text, "2 first\n1 second\n2 third\n");
}

TEST_WITH(lines_that_fill_the_room_are_kept, set_up, tear_down)
{
    enum { ROOM = 2048, LONGEST = CF__DETAIL - 1, OF_A_LINE = 2 }; /* each line also has a level and an end */
    pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
    char text[LONGEST + 1];
    memset(text, 'x', LONGEST);
    text[LONGEST] = 0;
    lines.text[0] = 0;
    cf__lock(&outer);
    cf__log(CF_LOG_INFO, "%s", text);
    cf__log(CF_LOG_INFO, "%s", text);
    cf__log(CF_LOG_INFO, "%.*s", ROOM - 2 * (LONGEST + OF_A_LINE) - OF_A_LINE, text);
    cf__log(CF_LOG_INFO, "%s", "");
    cf__unlock(&outer);
    assert_line("x\n2 1 more lines found no room\n");
    assert_int_equal(lines.infos, 4);
    assert_int_equal(strlen(lines.text), ROOM + strlen("2 1 more lines found no room\n") + 3);
}

TEST_WITH(child_of_a_fork_has_no_lines_of_its_parent, set_up, tear_down)
{
    pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
    char long_text[800];
    int status = -1;
    skip_where_forks_are_unsafe();
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    lines.text[0] = 0;
    cf__lock(&outer);
    for (int i = 0; i < 8; i++) /* more lines than can wait */
        cf__log(CF_LOG_INFO, "%s", long_text);
    pid_t child = fork_flushed();
    if (child == 0) {
        cf__unlock(&outer);
        cf__lock(&inner);
        cf__log(CF_LOG_INFO, "of the child");
        cf__unlock(&inner);
        _exit(strcmp(lines.text, "2 of the child\n") != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_string_equal(lines.text, "");
    cf__unlock(&outer);
    assert_int_equal(status, 0);
    int lost = 0, kept = lines.infos - 1; /* does not count the line that gives the number of lost ones */
    const char *count = strrchr(lines.text, 'x');
    assert_non_null(count);
    assert_int_equal(sscanf(count, "x\n2 %d more lines found no room\n", &lost), 1);
    assert_int_equal(kept + lost, 8);
    assert_true(kept > 0 && lost > 0);
}

/* ---- Calls that the callback may make ---- */

/* Runs in a child that the callback forked; returns 0 if it can use the CPU. */
static int use_the_cpu(void)
{
    static const char *const settings[] = {"CF_DRIVER", "CF_CHECK", "CF_THREADS", "CF_TRACE"}; /* some are invalid */
    void *memory;
    alarm(20);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        unsetenv(settings[i]);
    return cf_device_use(CF_HOST) != CF_OK || gather() != CF_OK || cf_mem_alloc(&memory, 1000) != CF_OK ||
           cf_mem_free(memory) != CF_OK || cf_shutdown() != CF_OK;
}

/* Forks a child that uses the CPU, and records its failure. */
static void fork_and_use_the_cpu(void *data, int level, const char *text)
{
    struct lines *to = data;
    int ended = -1;
    keep(data, level, text);
    pid_t child = fork_flushed();
    if (child == 0)
        _exit(use_the_cpu());
    if (child < 0 || waitpid(child, &ended, 0) != child || ended != 0)
        to->called_back = 1;
}

static void *count_devices(void *unused)
{
    int count;
    (void)unused;
    return (void *)(intptr_t)cf_device_count(&count);
}

/* Starts a thread that uses the library, and waits for it. A callback during this wait does not start another
 * thread. */
static void wait_for_a_thread(void *data, int level, const char *text)
{
    static int is_in; /* atomic */
    struct lines *to = data;
    pthread_t thread;
    keep(data, level, text);
    if (__atomic_exchange_n(&is_in, 1, __ATOMIC_ACQ_REL))
        return;
    if (pthread_create(&thread, NULL, count_devices, NULL) != 0 || pthread_join(thread, NULL) != 0)
        to->called_back = 1;
    __atomic_store_n(&is_in, 0, __ATOMIC_RELEASE);
}

/* Causes every kind of log line that needs no particular driver, from calls that hold different locks. */
static void fail_in_many_ways(void)
{
    static const char *const settings[][2] = {
        {"CF_DRIVER", "none"}, {"CF_CHECK", "none"}, {"CF_THREADS", "none"}, {"CF_TRACE", "/nonexistent/trace"}};
    void *memory;
    char name[64];
    int count;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const char *now = getenv(settings[i][0]);
        char before[64];
        snprintf(before, sizeof before, "%s", now ? now : "");
        assert_int_equal(setenv(settings[i][0], settings[i][1], 1), 0);
        assert_ok(cf_shutdown());
        int of_default = cf_device_count(&count), of_cpu = cf_device_name(CF_HOST, name, sizeof name);
        if (of_default != CF_EINVAL && of_cpu != CF_EINVAL)
            fail_msg("%s=%s: %d, %d", settings[i][0], settings[i][1], of_default, of_cpu);
        assert_int_equal(now ? setenv(settings[i][0], before, 1) : unsetenv(settings[i][0]), 0);
        snprintf(before, sizeof before, "%s=%s", settings[i][0], settings[i][1]);
        assert_line(before);
    }
    assert_ok(gather());
    assert_int_equal(cf_mem_alloc(&memory, (size_t)PTRDIFF_MAX), CF_ENOMEM);
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_ok(cf_shutdown());
    assert_line("2 everything was given back");
}

static void call_all(void (*play)(void), cf_log *log)
{
    alarm(100);
    cf_set_log(log, &lines);
    play();
    cf_set_log(NULL, NULL);
    alarm(0);
    assert_int_equal(lines.called_back, 0);
}

TEST_WITH(callback_that_forks_has_a_child_that_uses_the_cpu, set_up, tear_down)
{
    skip_where_forks_are_unsafe();
    call_all(fail_in_many_ways, fork_and_use_the_cpu);
}

TEST_WITH(callback_that_waits_for_a_thread_in_the_library_returns, set_up, tear_down)
{
    call_all(fail_in_many_ways, wait_for_a_thread);
}

/* Causes the other kinds of log lines: a trace file that another process holds, an invalid tuning file, a driver,
 * images, calls that fail while the locks of both drivers are held, a fault, and a reset. */
static void fail_on_a_gpu(void)
{
    static char trace[] = "/tmp/test_log-XXXXXX";
    float host[3] = {0};
    const int32_t index[] = {2, 1, 0};
    int ends[2], descriptor = mkstemp(trace);
    char byte = 0;
    assert_true(descriptor >= 0);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(setenv("CF_TRACE", trace, 1), 0);
    pid_t child = fork_flushed();
    assert_true(child >= 0);
    if (child == 0) { /* the child holds the file until it exits */
        cf_set_log(NULL, NULL);
        byte = cf_device_use(CF_HOST) == CF_OK ? 1 : 2;
        (void)!write(ends[1], &byte, 1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(setenv("CF_TUNING", "/proc/self/status", 1), 0);
    assert_ok(cf_copy_f32(host, host + 1, 1)); /* a tuned kernel */
    assert_line("this process writes no trace: ");
    assert_line("2 /proc/self/status: ");
    assert_ok(gather());
    assert_line("2 the NVIDIA driver, for CUDA ");
    assert_line("2 cf_gather_f32_i32: its image of ");
    assert_int_equal(cf_peer_enable(0, 99), CF_ENODEV);
    assert_ok(cf_gather_f32_i32_async(NULL, host, index, host, 3, 3)); /* memory that the GPU cannot access */
    assert_int_equal(cf_device_sync(), CF_EFAULT);
    assert_ok(cf_device_reset(0));
    assert_line("2 device 0 was reset\n");
    assert_ok(cf_shutdown());
    assert_int_equal(unsetenv("CF_TRACE"), 0);
    assert_int_equal(setenv("CF_TUNING", "", 1), 0);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(close(descriptor), 0);
    assert_int_equal(unlink(trace), 0);
    fail_in_many_ways();
}

FAKE_TEST(callback_that_forks_beside_a_gpu_has_a_child_that_uses_the_cpu, "CF_DRIVER=cuda", "FAKE_CUDA=reset=1")
{
    skip_where_forks_are_unsafe();
    call_all(fail_on_a_gpu, fork_and_use_the_cpu);
}

FAKE_TEST(callback_that_waits_for_a_thread_on_a_gpu_returns, "CF_DRIVER=cuda", "FAKE_CUDA=reset=1")
{
    call_all(fail_on_a_gpu, wait_for_a_thread);
}

/* The callback must not call the library; but if it does, the call must return. */
static void call_back(void *data, int level, const char *text)
{
    struct lines *to = data;
    int count;
    (void)level, (void)text;
    to->calls_back++;
    to->called_back = cf_device_count(&count);
    if (gather() != CF_OK)
        to->called_back = CF_EINVAL;
    if (cf_shutdown() == CF_OK)
        to->others++;
}

TEST_WITH(callback_that_calls_the_library_does_not_hang, set_up, tear_down)
{
    cf_set_log(call_back, &lines);
    alarm(600);
    (void)gather();
    assert_int_equal(cf_event_sync(NULL), CF_EINVAL);
    assert_true(lines.calls_back > 0);
    assert_int_equal(lines.others, 0); /* the callback could not shut the library down */
    cf_set_log(NULL, NULL);
    assert_ok(gather());
    alarm(0);
}

enum { THREADS = 8, ROUNDS = 500 };

static void *fail_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        if (cf_event_sync(NULL) != CF_EINVAL)
            return (void *)"no failure";
    return NULL;
}

static void count_line(void *data, int level, const char *text)
{
    if (level == CF_LOG_ERROR && strcmp(text, "cf_event_sync: event is NULL") == 0)
        __atomic_fetch_add((int *)data, 1, __ATOMIC_RELAXED);
}

TEST_WITH(callback_of_many_threads_gets_every_line, set_up, tear_down)
{
    pthread_t threads[THREADS];
    void *wrong;
    int counts[2] = {0, 0};
    cf_set_log(count_line, &counts[0]);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, fail_often, NULL), 0);
    for (int i = 0; i < 200; i++)
        cf_set_log(count_line, &counts[i % 2]);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], &wrong), 0);
        assert_null(wrong);
    }
    cf_set_log(NULL, NULL);
    assert_int_equal(counts[0] + counts[1], THREADS * ROUNDS);
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, set_up, tear_down);
}
