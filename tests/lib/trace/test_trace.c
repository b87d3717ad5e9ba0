/* test_trace.c - CF_TRACE: the contents of the file, which is readable whatever happens to the process.
 *
 * `test_trace work FILE` does the work that tests/lib/trace/test_trace.py looks for in the trace. */
#include "trace_fixture.h"
#include "trace/trace_driver.h"
#include "trace/trace.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "comma_locale.h"

/* ---- Contents ---- */

TEST_WITH(without_a_name_there_is_no_trace, set_up, tear_down)
{
    setenv("CF_TRACE", "", 1);
    work(1);
    assert_false(cf__trace_is_on());
    assert_ok(cf_shutdown());
    unsetenv("CF_TRACE");
    work(1);
    assert_false(cf__trace_is_on());
    struct cf__driver driver = {.is_cpu = 1};
    assert_ptr_equal(cf__trace_wrap(&driver), &driver); /* no wrapper, so no cost */
}

TEST_WITH(trace_has_every_launch, set_up, tear_down)
{
    work(20);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 20);
    assert_int_equal(count(LAUNCH), on_cuda() ? 20 : 0);
    assert_int_equal(count("\"grid\": [2, 1, 1], \"block\": [256, 1, 1], \"shared\": 0"), on_cuda() ? 40 : 20);
    assert_int_equal(count("\"name\": \"cf_gather_f32_i32\", \"cat\": \"load\""), 1);
    assert_int_equal(count("\"name\": \"process_name\""), on_cuda() ? 2 : 1);
    assert_int_equal(count("device times lost"), 0);
}

TEST_WITH(trace_has_copies_and_fills_with_their_bytes, set_up, tear_down)
{
    void *memory;
    char bytes[1000] = {0};
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_alloc(&memory, 4000));
    assert_ok(cf_mem_copy(memory, bytes, 1000));
    assert_ok(cf_mem_copy_async(stream, bytes, memory, 900));
    assert_ok(cf_mem_copy_async(stream, (char *)memory + 2000, memory, 800));
    assert_ok(cf_mem_fill_async(stream, memory, 7, 4000));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(memory));
    assert_ok(cf_shutdown());
    read_trace(path);
    int sides = on_cuda() ? 2 : 1;
    assert_int_equal(count("\"bytes\": 1000"), sides);
    assert_int_equal(count("\"bytes\": 900"), sides);
    assert_int_equal(count("\"bytes\": 800"), sides);
    assert_int_equal(count("\"bytes\": 4000, \"value\": 7"), sides);
    assert_int_equal(count("copy host to device"), on_cuda() ? 2 : 0);
    assert_int_equal(count("copy device to host"), on_cuda() ? 2 : 0);
    assert_int_equal(count("copy device to device"), on_cuda() ? 2 : 0);
    assert_int_equal(count("\"name\": \"wait for a stream\""), on_cuda() ? 2 : 2);
}

static void *work_of_a_thread(void *unused)
{
    (void)unused;
    work(100);
    return NULL;
}

TEST_WITH(trace_of_many_threads_has_all_of_each, set_up, tear_down)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work_of_a_thread, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 100 * THREADS);
}

TEST_WITH(trace_of_a_plain_call_has_its_plan, set_up, tear_down)
{
    assert_true(works());
    float from[3] = {1, 2, 3}, to[2];
    int32_t at[2] = {7, 0};
    assert_fails(cf_gather_f32_i32(from, at, to, 2, 3), CF_ERANGE, "index[0] = 7");
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count("\"cat\": \"call\""), 2);
    assert_int_equal(count("\"plan\": \"cf_gather_f32_i32: "), 2);
    assert_int_equal(count("\"plan\": \"cf_gather_f32_i32: did not run\", \"status\": \"CF_ERANGE\""), 1);
}

/* ---- Failures of the file or the process ---- */

TEST_WITH(file_can_be_read_while_it_is_written, set_up, tear_down)
{
    int seen = 0;
    for (int i = 0; i < 10; i++) {
        work(300);
        read_trace(path);
        assert_true(count(KERNEL) >= seen);
        seen = count(KERNEL);
    }
    assert_true(seen >= 2000);
}

static void is_killed(void)
{
    work(1000);
    raise(SIGKILL);
}

TEST_WITH(file_of_a_killed_process_can_be_read, set_up, tear_down)
{
    int status = in_a_process("is_killed");
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    read_trace(path);
    assert_true(count(KERNEL) >= 500);
}

TEST_WITH(file_of_a_process_that_exits_is_complete, set_up, tear_down)
{
    assert_int_equal(in_a_process("exits"), 0);
    read_trace(path);
    assert_int_equal(count(KERNEL), 7);
}

static pthread_barrier_t all_are_made;

/* Works until a call fails. A call may fail while the process exits, because a GPU's driver shuts down while threads
 * still work. */
static void *launches_on(void *is_exiting)
{
    struct arrays arrays;
    cf_stream stream;
    int status = CF_OK;
    make(&arrays);
    if (cf_stream_create(&stream) != CF_OK)
        _exit(5);
    pthread_barrier_wait(&all_are_made);
    while (status == CF_OK) {
        for (int i = 0; i < 3 && status == CF_OK; i++)
            status = gather(stream, &arrays);
        if (status == CF_OK)
            status = cf_stream_sync(stream);
    }
    if (!__atomic_load_n((int *)is_exiting, __ATOMIC_SEQ_CST))
        _exit(6);
    return NULL;
}

static void exits_beside_others(void)
{
    static int is_exiting;
    enum { THREADS = 4 };
    pthread_t thread;
    pthread_barrier_init(&all_are_made, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, launches_on, &is_exiting) != 0)
            _exit(4);
    pthread_barrier_wait(&all_are_made);
    work(20);
    __atomic_store_n(&is_exiting, 1, __ATOMIC_SEQ_CST);
    exit(0);
}

TEST_WITH(file_of_a_process_that_exits_while_threads_work_can_be_read, set_up, tear_down)
{
    for (int i = 0; i < 5; i++) {
        assert_int_equal(in_a_process("exits_beside_others"), 0);
        read_trace(path);
        assert_true(count(KERNEL) >= 20);
    }
}

static int ends;

static void note_end(void *data, int level, const char *line)
{
    (void)data;
    ends += level == CF_LOG_INFO && strstr(line, ": the trace ends here: File too large") != NULL;
}

static void is_ended(int number)
{
    (void)number;
    _exit(7);
}

/* Returns 0 if the trace ended at the limit of the file's size, 3 if no trace could begin. The handler notices a signal
 * that would otherwise end the process. */
static void meets_a_limit(void)
{
    const rlim_t bytes = strtoul(getenv("TEST_LIMIT"), NULL, 10);
    void *memory;
    sigset_t blocked, waiting;
    signal(SIGXFSZ, is_ended);
    if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes}) != 0)
        _exit(4);
    cf_set_log(note_end, NULL);
    if (cf_mem_alloc(&memory, 10) != CF_OK)
        exit(strstr(cf_last_error(), ": the file cannot be written: File too large") ? 3 : 4);
    if (cf_mem_free(memory) != CF_OK)
        _exit(4);
    work(bytes < 100000 ? 300 : 2000);
    if (!works() || cf_shutdown() != CF_OK || cf__trace_is_on() || pthread_sigmask(SIG_SETMASK, NULL, &blocked) != 0 ||
        sigpending(&waiting) != 0 || sigismember(&blocked, SIGXFSZ) || sigismember(&waiting, SIGXFSZ))
        _exit(5);
    exit(ends == 1 ? 0 : 6);
}

static void expect_limit(rlim_t bytes)
{
    char limit[24];
    struct stat found;
    snprintf(limit, sizeof limit, "%lu", (unsigned long)bytes);
    setenv("TEST_LIMIT", limit, 1);
    unlink(path);
    int status = in_a_process("meets_a_limit");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3) {
        assert_true(bytes < 1000);
        assert_int_equal(stat(path, &found), -1); /* no file is left */
        return;
    }
    if (status != 0)
        fail_msg("with a limit of %s bytes it ended with %#x", limit, (unsigned)status);
    read_trace(path);
    assert_int_equal(stat(path, &found), 0);
    assert_true((rlim_t)found.st_size <= bytes);
}

TEST_WITH(file_that_cannot_grow_ends_the_trace_and_nothing_else, set_up, tear_down)
{
    expect_limit(200000);
    assert_true(count(KERNEL) > 100);
    for (rlim_t bytes = 0; bytes < 400; bytes += 13)
        expect_limit(bytes);
    for (rlim_t bytes = 64000; bytes < 66000; bytes += 189)
        expect_limit(bytes);
    unsetenv("TEST_LIMIT");
}

static int writes_left = -1; /* number of writes until the process is killed; negative: no limit */

/* Replaces the C library's function. When the process is killed, it acts as the system does: it completes a page. */
ssize_t pwrite(int descriptor, const void *bytes, size_t count_, off_t at)
{
    static ssize_t (*real)(int descriptor, const void *bytes, size_t count, off_t at);
    size_t page = 4096 - (size_t)(at % 4096);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    if (writes_left < 0 || writes_left-- > 0)
        return real(descriptor, bytes, count_, at);
    if (count_ > 4)
        (void)real(descriptor, bytes, page < count_ ? page : count_, at);
    raise(SIGKILL);
    return -1;
}

static void is_killed_in_a_write(void)
{
    writes_left = atoi(getenv("TEST_WRITES"));
    work(2000);
    exit(cf_shutdown());
}

TEST_WITH(file_of_a_process_that_is_killed_in_a_write_can_be_read, set_up, tear_down)
{
    int most = 0;
    for (int i = 0; i < 70; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        setenv("TEST_WRITES", number, 1);
        unlink(path);
        int status = in_a_process("is_killed_in_a_write");
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        read_trace(path);
        most = count("\"ph\": \"X\"") > most ? count("\"ph\": \"X\"") : most;
    }
    assert_true(most > 100);
    unsetenv("TEST_WRITES");
}

static void traces_on(void)
{
    for (;;)
        work(50);
}

/* The process may be stopped at any point outside a write. */
TEST_WITH(file_of_a_stopped_process_can_be_read, set_up, tear_down)
{
    int status, seen = 0;
    struct stat found = {.st_size = 0};
    pid_t child = start_process("traces_on");
    while (stat(path, &found) != 0 || found.st_size < 1000)
        usleep(1000);
    for (int i = 0; i < 30; i++) {
        usleep((unsigned)i * 211);
        assert_int_equal(kill(child, SIGSTOP), 0);
        assert_int_equal(waitpid(child, &status, WUNTRACED), child);
        assert_true(WIFSTOPPED(status));
        read_trace(path);
        assert_true(count(KERNEL) >= seen);
        seen = count(KERNEL);
        assert_int_equal(kill(child, i < 29 ? SIGCONT : SIGKILL), 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && seen > 0);
    read_trace(path);
    assert_int_equal(count(KERNEL), seen);
}

/* Closes all descriptors and opens others with the same numbers, as a daemon does. */
static void closes_descriptors(void)
{
    char other[sizeof path + 8];
    snprintf(other, sizeof other, "%s.other", getenv("CF_TRACE"));
    work(300);
    for (int i = 3; i < 64; i++)
        close(i);
    for (int i = 3; i < 64; i++)
        if (open(other, O_RDWR | O_CREAT, 0600) < 0)
            _exit(4);
    if (write(9, "own", 3) != 3)
        _exit(4);
    work(1000);
    exit(cf_shutdown() == CF_OK ? 0 : 5);
}

TEST_WITH(files_of_the_application_are_left_alone, set_up, tear_down)
{
    char other[sizeof path + 8];
    struct stat found;
    snprintf(other, sizeof other, "%s.other", path);
    assert_int_equal(in_a_process_of_no_gpu("closes_descriptors"), 0);
    read_trace(path);
    assert_int_equal(stat(other, &found), 0);
    assert_int_equal(found.st_size, 3);
    unlink(other);
}

static void has_no_standard_descriptors(void)
{
    close(0);
    close(1);
    close(2);
    work(5);
    if (open("/dev/null", O_RDWR) != 0 || open("/dev/null", O_RDWR) != 1 || open("/dev/null", O_RDWR) != 2)
        _exit(4);
    exit(0);
}

TEST_WITH(standard_descriptors_are_left_to_the_application, set_up, tear_down)
{
    assert_int_equal(in_a_process_of_no_gpu("has_no_standard_descriptors"), 0);
    read_trace(path);
    assert_int_equal(count(KERNEL), 5);
}

/* ---- Fork ---- */

static void forks(void)
{
    work(10);
    int status = -1;
    pid_t child = fork_flushed();
    if (child == 0) {
        if (cf_device_use(CF_HOST) != CF_OK || !works() || cf__trace_is_on())
            _exit(4);
        if (cf_shutdown() != CF_OK || !works() || cf__trace_is_on())
            _exit(5);
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(6);
    work(10);
    exit(0);
}

/* The child must not wait for locks of the trace that other threads held at the fork. */
static void forks_beside_others(void)
{
    static int is_exiting;
    enum { THREADS = 3 };
    pthread_t thread;
    pthread_barrier_init(&all_are_made, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, launches_on, &is_exiting) != 0)
            _exit(4);
    pthread_barrier_wait(&all_are_made);
    for (int i = 0; i < 40; i++) {
        int status = -1;
        pid_t child = fork_flushed();
        if (child == 0) {
            alarm(600);
            if (cf_device_use(CF_HOST) != CF_OK || !works() || cf__trace_is_on() || cf_shutdown() != CF_OK || !works())
                _exit(7);
            exit(0);
        }
        if (waitpid(child, &status, 0) != child || status != 0)
            _exit(8);
    }
    work(20);
    __atomic_store_n(&is_exiting, 1, __ATOMIC_SEQ_CST);
    exit(0);
}

TEST_WITH(fork_while_others_write_the_trace_leaves_it_whole, set_up, tear_down)
{
    skip_where_forks_are_unsafe();
    assert_int_equal(in_a_process("forks_beside_others"), 0);
    read_trace(path);
    assert_true(count(KERNEL) >= 20);
}

TEST_WITH(fork_leaves_the_trace_to_the_parent, set_up, tear_down)
{
    assert_int_equal(in_a_process("forks"), 0);
    read_trace(path);
    assert_int_equal(count(KERNEL), 20);
}

/* ---- Text ---- */

TEST(quote_gives_what_json_can_hold)
{
    static const char *const pairs[][2] = {
        {"", ""},
        {"cf_gather", "cf_gather"},
        {"a \"b\" \\c", "a \\\"b\\\" \\\\c"},
        {"\n\t\x01\x7f", "\\u000a\\u0009\\u0001\\u007f"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xff", "\\ufffd"},
        {"\xc3", "\\ufffd"},
        {"\xc0\x80", "\\ufffd\\ufffd"},
        {"\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd"},
        {"\xe2\x82", "\\ufffd\\ufffd"},
        {"\xf5\x80\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"},
    };
    char quoted[64];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(cf__trace_quote(quoted, sizeof quoted, pairs[i][0]), pairs[i][1]);
    assert_string_equal(cf__trace_quote(quoted, 6, "abcd\"e"), "abcd");
    assert_string_equal(cf__trace_quote(quoted, 7, "abcd\"e"), "abcd\\\"");
    assert_string_equal(cf__trace_quote(quoted, 5, "abc\xc3\xbc"), "abc");
    assert_string_equal(cf__trace_quote(quoted, 1, "abc"), "");
}

TEST_WITH(numbers_are_those_of_json_in_any_locale, set_up, tear_down)
{
    use_comma_locale();
    work(3);
    int status = cf_shutdown();
    setlocale(LC_NUMERIC, "C");
    assert_ok(status);
    read_trace(path);
}

/* ---- For tests/lib/trace/test_trace.py ---- */

static void *scripted(void *number)
{
    struct arrays arrays;
    cf_stream stream;
    make(&arrays);
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 10 * *(int *)number; i++) {
        assert_ok(gather(stream, &arrays));
        assert_ok(cf_mem_copy_async(stream, arrays.to, arrays.res, sizeof arrays.to));
        assert_ok(cf_mem_fill_async(stream, arrays.res, 1, 100));
    }
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_stream_destroy(stream));
    drop(&arrays);
    return NULL;
}

/* Makes a plain call with so much data that several threads stage it. */
static int works_on_much(void)
{
    enum { MUCH = 1 << 20 };
    float *from = malloc(MUCH * sizeof *from), *to = malloc(MUCH * sizeof *to);
    int32_t *at = malloc(MUCH * sizeof *at);
    int right = from && to && at;
    for (int i = 0; right && i < MUCH; i++) {
        from[i] = (float)i;
        at[i] = MUCH - 1 - i;
    }
    right = right && cf_gather_f32_i32(from, at, to, MUCH, MUCH) == CF_OK;
    for (int i = 0; right && i < MUCH; i++)
        right = to[i] == (float)(MUCH - 1 - i);
    free(from);
    free(to);
    free(at);
    return right;
}

static int scripted_work(const char *name)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int numbers[THREADS];
    setenv("CF_TRACE", name, 1);
    int status = on_cuda() ? cf_require(CF_CUDA) : CF_OK;
    if (status != CF_OK) {
        puts(why_no_gpu(status));
        return SKIPPED;
    }
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        pthread_create(&threads[i], NULL, scripted, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return works() && works_on_much() && cf_shutdown() == CF_OK ? 0 : 1;
}

static const struct process processes[] = {
    PROCESS(is_killed),
    PROCESS(exits),
    PROCESS(exits_beside_others),
    PROCESS(meets_a_limit),
    PROCESS(is_killed_in_a_write),
    PROCESS(traces_on),
    PROCESS(closes_descriptors),
    PROCESS(has_no_standard_descriptors),
    PROCESS(forks),
    PROCESS(forks_beside_others),
};

int main(int argc, char *argv[])
{
    run_process(argc, argv, processes, sizeof processes / sizeof *processes);
    if (argc == 3 && strcmp(argv[1], "work") == 0)
        return scripted_work(argv[2]);
    return run_with_fake(argc, argv, set_up, tear_down);
}
