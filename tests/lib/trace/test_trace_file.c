/* test_trace_file.c - the file of a trace: its name, and which process writes it. */
#include "trace_fixture.h"
#include "trace/trace.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "plugin.h"

/* ---- Its name and its previous contents ---- */

TEST_WITH(file_that_cannot_be_written_is_invalid, set_up, tear_down)
{
    void *memory;
    const char *const names[] = {"/tmp", "/tmp/there/is/no/such/folder.json", "/dev/full", path};
    assert_int_equal(mkfifo(path, 0600), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char begins[128];
        setenv("CF_TRACE", names[i], 1);
        snprintf(begins, sizeof begins, "CF_TRACE=%s: the file cannot be written: ", names[i]);
        assert_fails(cf_mem_alloc(&memory, 10), CF_EINVAL, begins);
        assert_fails(cf_device_use(CF_HOST), CF_EINVAL, begins);
    }
    unsetenv("CF_TRACE");
    assert_true(works());
}

TEST_WITH(name_that_is_too_long_is_invalid, set_up, tear_down)
{
    void *memory;
    char *name = calloc(1, PATH_MAX + 1);
    assert_non_null(name);
    memset(name, 'x', PATH_MAX);
    setenv("CF_TRACE", name, 1);
    assert_fails(cf_mem_alloc(&memory, 10), CF_EINVAL, "CF_TRACE=xxxx");
    free(name);
}

TEST_WITH(name_with_percent_p_has_the_process, set_up, tear_down)
{
    char name[128];
    setenv("CF_TRACE", "/tmp/test_trace.%p.50%%.json", 1);
    work(1);
    assert_ok(cf_shutdown());
    snprintf(name, sizeof name, "/tmp/test_trace.%d.50%%.json", (int)getpid());
    read_trace(name);
    assert_int_equal(count(KERNEL), 1);
    unlink(name);
}

TEST_WITH(file_goes_on_after_shutdown, set_up, tear_down)
{
    for (int i = 1; i <= 3; i++) {
        work(5);
        assert_ok(cf_shutdown());
        read_trace(path);
        assert_int_equal(count(KERNEL), 5 * i);
        assert_int_equal(count("\"process_name\""), on_cuda() ? 1 + i : 1);
    }
}

TEST_WITH(file_that_was_taken_away_is_written_anew, set_up, tear_down)
{
    work(5);
    assert_ok(cf_shutdown());
    assert_int_equal(unlink(path), 0);
    work(2);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 2);
    assert_int_equal(truncate(path, 100), 0);
    work(3);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 3);
}

/* ---- A file that other processes write ---- */

static int has_no_locks;

/* Replaces the C library's function. */
int fcntl(int descriptor, int command, ...)
{
    static int (*real)(int descriptor, int command, ...);
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "fcntl");
    if (has_no_locks && command == F_OFD_SETLK) {
        errno = ENOLCK;
        return -1;
    }
    return real(descriptor, command, argument);
}

/* The log lines about traces. */
static char logged[1024];
static int lines;

static void note(void *data, int level, const char *line)
{
    (void)data;
    if (level != CF_LOG_INFO || !strstr(line, "CF_TRACE"))
        return;
    lines++;
    snprintf(logged, sizeof logged, "%s", line);
}

static void watch_log(void)
{
    lines = 0;
    cf_set_log(note, NULL);
}

static void expect_refused(const char *name)
{
    char begins[256];
    cf_set_log(NULL, NULL);
    assert_int_equal(lines, 1);
    snprintf(begins, sizeof begins, "CF_TRACE=%s: this process writes no trace: ", name);
    if (strncmp(logged, begins, strlen(begins)) != 0)
        fail_msg("%s", logged);
}

/* Opens a shared object with a copy of the library in it. */
static void *open_copy(plugin_use_function **use)
{
    static char self[PATH_MAX], fake[PATH_MAX], name[PATH_MAX];
    find_paths(self, fake);
    *strrchr(self, '/') = 0;
    assert_true(snprintf(name, sizeof name, "%s/plugin.so", self) < PATH_MAX);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    *(void **)use = dlsym(library, "plugin_use");
    assert_non_null(*use);
    return library;
}

static void use_copy(plugin_use_function *use)
{
    const char *detail;
    if (use(&detail) != CF_OK)
        fail_msg("%s", detail);
}

TEST_WITH(copy_of_the_library_leaves_the_file_to_the_first, set_up, tear_down)
{
    plugin_use_function *use;
    work(5);
    void *library = open_copy(&use);
    use_copy(use);
    work(3);
    assert_int_equal(dlclose(library), 0);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 8);
    assert_int_equal(count_others(), 0);
}

TEST_WITH(file_of_a_copy_that_was_closed_is_written_anew, set_up, tear_down)
{
    plugin_use_function *use;
    void *library = open_copy(&use);
    use_copy(use);
    assert_int_equal(dlclose(library), 0);
    read_trace(path);
    assert_true(count(KERNEL) > 0);
    work(4);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 4);
}

/* The copy fails before it has used a driver. */
TEST_WITH(file_of_a_copy_that_cannot_be_used_is_closed_with_it, set_up, tear_down)
{
    const char *detail;
    plugin_use_function *use;
    setenv("CF_THREADS", "none", 1);
    void *library = open_copy(&use);
    assert_int_equal(use(&detail), CF_EINVAL);
    assert_non_null(strstr(detail, "CF_THREADS=none"));
    assert_int_equal(dlclose(library), 0);
    unsetenv("CF_THREADS");
    work(5);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 5);
    assert_int_equal(count_others(), 0);
}

TEST_WITH(file_that_another_process_writes_is_left_to_it, set_up, tear_down)
{
    work(5);
    assert_int_equal(in_a_process("exits"), 0);
    work(5);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 10);
    assert_int_equal(count_others(), 0);
}

TEST_WITH(file_that_another_process_wrote_is_written_anew, set_up, tear_down)
{
    assert_int_equal(in_a_process("exits"), 0);
    read_trace(path);
    assert_int_equal(count(KERNEL), 7);
    work(5);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 5);
    assert_int_equal(count_others(), 0);
}

enum { FORKS = 4 };

/* All children write at the same time. */
static void forks_first(void)
{
    pthread_barrier_t *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t shared;
    if (all == MAP_FAILED || pthread_barrierattr_init(&shared) != 0 ||
        pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) != 0 ||
        pthread_barrier_init(all, &shared, FORKS) != 0)
        _exit(4);
    int is_parent = 1;
    for (int i = 1; i < FORKS && is_parent; i++)
        is_parent = fork_flushed() != 0;
    alarm(600);
    pthread_barrier_wait(all);
    work(50);
    pthread_barrier_wait(all);
    for (int i = 1, status; i < FORKS && is_parent; i++)
        if (wait(&status) < 0 || status != 0)
            _exit(5);
    exit(0);
}

TEST_WITH(one_of_processes_that_begin_at_once_writes_the_file, set_up, tear_down)
{
    for (int i = 0; i < 5; i++) {
        assert_int_equal(in_a_process("forks_first"), 0);
        read_trace(path);
        assert_int_equal(count(KERNEL), 50);
        assert_int_equal(count_others(), 0);
    }
}

/* Makes a file with contents, and locks it. */
static int hold(const char *name)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int descriptor = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, "held", 4), 4);
    assert_int_equal(fcntl(descriptor, F_OFD_SETLK, &whole), 0);
    return descriptor;
}

static void assert_held(const char *name, int descriptor)
{
    char found[8] = "";
    assert_int_equal(pread(descriptor, found, sizeof found, 0), 4);
    assert_string_equal(found, "held");
    close(descriptor);
    unlink(name);
}

TEST_WITH(library_that_finds_a_held_file_logs_it_once_and_works, set_up, tear_down)
{
    int descriptor = hold(path);
    watch_log();
    work(1);
    assert_false(cf__trace_is_on());
    assert_true(works());
    expect_refused(path);
    watch_log();
    assert_ok(cf_shutdown());
    work(1);
    expect_refused(path); /* meanwhile the library has started again */
    assert_held(path, descriptor);
    assert_ok(cf_shutdown());
    work(2);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 2);
}

/* If files cannot be locked, any existing file may be in use. */
TEST_WITH(file_without_locks_is_never_written_over, set_up, tear_down)
{
    has_no_locks = 1;
    work(3);
    assert_ok(cf_shutdown());
    watch_log();
    work(2);
    has_no_locks = 0;
    assert_ok(cf_shutdown());
    expect_refused(path);
    read_trace(path);
    assert_int_equal(count(KERNEL), 3);
}

static const struct process processes[] = {
    PROCESS(exits),
    PROCESS(forks_first),
};

int main(int argc, char *argv[])
{
    run_process(argc, argv, processes, sizeof processes / sizeof *processes);
    return run_with_fake(argc, argv, set_up, tear_down);
}
