/* test_trace_file.c - the file that a trace goes to: its name, and that nobody else writes to it. */
#include "on_trace.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "closing.h"

/* ---- Its name, and what is in it already ---- */

static void file_that_cannot_be_written_is_invalid(void **state)
{
    (void)state;
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

static void name_that_is_too_long_is_invalid(void **state)
{
    (void)state;
    void *memory;
    char *name = calloc(1, PATH_MAX + 1);
    assert_non_null(name);
    memset(name, 'x', PATH_MAX);
    setenv("CF_TRACE", name, 1);
    assert_fails(cf_mem_alloc(&memory, 10), CF_EINVAL, "CF_TRACE=xxxx");
    free(name);
}

static void name_with_percent_p_has_the_process(void **state)
{
    (void)state;
    char name[128];
    setenv("CF_TRACE", "/tmp/test_trace.%p.50%%.json", 1);
    work(1);
    assert_ok(cf_shutdown());
    snprintf(name, sizeof name, "/tmp/test_trace.%d.50%%.json", (int)getpid());
    read_trace(name);
    assert_int_equal(count(KERNEL), 1);
    unlink(name);
}

static void file_goes_on_after_shutdown(void **state)
{
    (void)state;
    for (int i = 1; i <= 3; i++) {
        work(5);
        assert_ok(cf_shutdown());
        read_trace(path);
        assert_int_equal(count(KERNEL), 5 * i);
        assert_int_equal(count("\"run\": \""), 1);
    }
}

static void file_that_was_taken_away_is_written_anew(void **state)
{
    (void)state;
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

/* ---- A file that others write to ---- */

static int has_no_locks;

/* Stands before the C library's. */
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

static const char *beside(const char *format, ...)
{
    static char name[128];
    va_list values;
    int length = snprintf(name, sizeof name, "%.*s", (int)strlen(path) - 5, path);
    va_start(values, format);
    vsnprintf(name + length, sizeof name - (size_t)length, format, values);
    va_end(values);
    return name;
}

/* A shared object with a copy of the library in it; another each time where it `is_another`. */
static void *open_copy(closing_use_function **use, int is_another)
{
    static char self[PATH_MAX], fake[PATH_MAX], name[PATH_MAX], command[3 * PATH_MAX];
    find_paths(self, fake);
    *strrchr(self, '/') = 0;
    assert_true(snprintf(name, sizeof name, "%s/closing.so", self) < PATH_MAX);
    if (is_another) {
        snprintf(command, sizeof command, "cp '%s' %s", name, beside(".copy"));
        assert_int_equal(system(command), 0);
        snprintf(name, sizeof name, "%s", beside(".copy"));
    }
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    *(void **)use = dlsym(library, "closing_use");
    assert_non_null(*use);
    return library;
}

static void use_copy(closing_use_function *use)
{
    const char *detail;
    if (use(&detail) != CF_OK)
        fail_msg("%s", detail);
}

static void open_use_close(void)
{
    closing_use_function *use;
    void *library = open_copy(&use, 0);
    use_copy(use);
    assert_int_equal(dlclose(library), 0);
}

static void copies_of_the_library_write_files_of_their_own(void **state)
{
    (void)state;
    closing_use_function *use, *use_another;
    work(5);
    void *library = open_copy(&use, 0), *another = open_copy(&use_another, 1);
    use_copy(use);
    use_copy(use_another);
    work(3);
    assert_int_equal(dlclose(library), 0);
    assert_int_equal(dlclose(another), 0);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 8);
    read_trace(beside(".%d.json", (int)getpid()));
    int kernels = count(KERNEL), names = count("\"run\": \"");
    assert_true(kernels > 0);
    assert_int_equal(names, 1);
    read_trace(beside(".%d.2.json", (int)getpid()));
    assert_int_equal(count(KERNEL), kernels);
    assert_int_equal(for_others(NULL), 3); /* and the shared object */
}

/* The numbers behind each `key` of the trace; each is to be there once. */
static void assert_each_once(const char *key)
{
    enum { MOST = 10000 };
    static long long numbers[MOST];
    int found = 0;
    for (const char *at = text; (at = strstr(at, key)) != NULL && found < MOST; at += strlen(key)) {
        const char *number = strstr(at, "\"id\": ");
        assert_non_null(number);
        numbers[found++] = atoll(number + 6);
    }
    for (int i = 0; i < found; i++)
        for (int k = 0; k < i; k++)
            if (numbers[i] == numbers[k])
                fail_msg("arrow %lld is there twice", numbers[i]);
    assert_true(found > 0 || !on_cuda());
}

static void file_goes_on_with_other_copies_of_the_library(void **state)
{
    (void)state;
    open_use_close();
    read_trace(path);
    int kernels = count(KERNEL);
    assert_true(kernels > 0);
    work(4);
    assert_ok(cf_shutdown());
    open_use_close();
    read_trace(path);
    assert_int_equal(count(KERNEL), 2 * kernels + 4);
    assert_int_equal(count("\"run\": \""), 1);
    assert_each_once("{\"ph\": \"s\"");
    assert_int_equal(for_others(NULL), 0);
}

/* No driver came into use there. */
static void file_of_a_copy_that_cannot_be_used_is_closed_with_it(void **state)
{
    const char *detail;
    closing_use_function *use;
    (void)state;
    setenv("CF_THREADS", "none", 1);
    void *library = open_copy(&use, 0);
    assert_int_equal(use(&detail), CF_EINVAL);
    assert_non_null(strstr(detail, "CF_THREADS=none"));
    assert_int_equal(dlclose(library), 0);
    unsetenv("CF_THREADS");
    work(5);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 5);
    assert_int_equal(for_others(NULL), 0);
}

static void file_that_another_process_writes_is_left_to_it(void **state)
{
    (void)state;
    work(5);
    assert_int_equal(in_a_process("exits"), 0);
    work(5);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 10);
    read_trace(beside(".%d.json", (int)latest));
    assert_int_equal(count(KERNEL), 7);
    assert_int_equal(for_others(NULL), 1);
}

static void file_that_another_process_wrote_is_written_anew(void **state)
{
    (void)state;
    assert_int_equal(in_a_process("exits"), 0);
    read_trace(path);
    assert_int_equal(count(KERNEL), 7);
    work(5);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 5);
    assert_int_equal(for_others(NULL), 0);
}

enum { FORKS = 4 };

/* All of them write at the same time. */
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
        is_parent = fork() != 0;
    alarm(600);
    pthread_barrier_wait(all);
    work(50);
    pthread_barrier_wait(all);
    for (int i = 1, status; i < FORKS && is_parent; i++)
        if (wait(&status) < 0 || status != 0)
            _exit(5);
    exit(0);
}

static int kernels_of_others;

static void read_other(const char *name)
{
    read_trace(name);
    assert_int_equal(count("\"run\": \""), 1);
    kernels_of_others += count(KERNEL) == 50;
}

static void processes_that_begin_at_once_write_files_of_their_own(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(in_a_process("forks_first"), 0);
        read_trace(path);
        assert_int_equal(count(KERNEL), 50);
        kernels_of_others = 0;
        assert_int_equal(for_others(read_other), FORKS - 1);
        assert_int_equal(kernels_of_others, FORKS - 1);
        for_others(remove_other);
    }
}

/* What a test holds, with something in it. */
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

/* Folders' dots are no suffix's, and neither is one that a name begins with. */
static void name_beside_a_held_file_keeps_the_suffix(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"trace", "trace.%d"},
        {"trace.json", "trace.%d.json"},
        {"trace.of.all.json", "trace.of.all.%d.json"},
        {".trace", ".trace.%d"},
    };
    char folder[64], held[128], format[128], name[160];
    snprintf(folder, sizeof folder, "/tmp/test_trace.d.%d", (int)getpid());
    assert_int_equal(mkdir(folder, 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(held, sizeof held, "%s/%s", folder, names[i][0]);
        snprintf(format, sizeof format, "%s/%s", folder, names[i][1]);
        int descriptor = hold(held);
        setenv("CF_TRACE", held, 1);
        work(1);
        assert_ok(cf_shutdown());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(name, sizeof name, format, (int)getpid());
#pragma GCC diagnostic pop
        read_trace(name);
        unlink(name);
        assert_held(held, descriptor);
    }
    assert_int_equal(rmdir(folder), 0);
}

static void name_with_percent_p_beside_a_held_file_has_a_number(void **state)
{
    (void)state;
    char name[128];
    snprintf(name, sizeof name, "/tmp/test_trace.%d.p.json", (int)getpid());
    int descriptor = hold(name);
    setenv("CF_TRACE", "/tmp/test_trace.%p.p.json", 1);
    work(1);
    assert_ok(cf_shutdown());
    assert_held(name, descriptor);
    read_trace(beside(".p.2.json"));
    assert_int_equal(count(KERNEL), 1);
}

static char logged[1024];

static void note(void *data, int level, const char *line)
{
    (void)data;
    if (level == CF_LOG_INFO && strstr(line, "CF_TRACE"))
        snprintf(logged, sizeof logged, "%s", line);
}

static void log_says_where_the_trace_goes(void **state)
{
    (void)state;
    char expected[256];
    cf_set_log(note, NULL);
    int descriptor = hold(path);
    work(1);
    assert_ok(cf_shutdown());
    cf_set_log(NULL, NULL);
    snprintf(expected, sizeof expected, "CF_TRACE=%s: others write there: the trace goes to %s", path,
             beside(".%d.json", (int)getpid()));
    assert_string_equal(logged, expected);
    assert_held(path, descriptor);
}

/* There a file that exists may be anybody's. */
static void file_without_locks_is_never_written_over(void **state)
{
    (void)state;
    has_no_locks = 1;
    work(3);
    assert_ok(cf_shutdown());
    work(2);
    assert_ok(cf_shutdown());
    work(1);
    has_no_locks = 0;
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 3);
    read_trace(beside(".%d.json", (int)getpid()));
    assert_int_equal(count(KERNEL), 2);
    read_trace(beside(".%d.2.json", (int)getpid()));
    assert_int_equal(count(KERNEL), 1);
}

static const struct process processes[] = {
    PROCESS(exits),
    PROCESS(forks_first),
};

int main(int argc, char *argv[])
{
    run_process(argc, argv, processes, sizeof processes / sizeof *processes);
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(file_that_cannot_be_written_is_invalid),
        TEST(name_that_is_too_long_is_invalid),
        TEST(name_with_percent_p_has_the_process),
        TEST(file_goes_on_after_shutdown),
        TEST(file_that_was_taken_away_is_written_anew),
        TEST(copies_of_the_library_write_files_of_their_own),
        TEST(file_goes_on_with_other_copies_of_the_library),
        TEST(file_of_a_copy_that_cannot_be_used_is_closed_with_it),
        TEST(file_that_another_process_writes_is_left_to_it),
        TEST(file_that_another_process_wrote_is_written_anew),
        TEST(processes_that_begin_at_once_write_files_of_their_own),
        TEST(name_beside_a_held_file_keeps_the_suffix),
        TEST(name_with_percent_p_beside_a_held_file_has_a_number),
        TEST(log_says_where_the_trace_goes),
        TEST(file_without_locks_is_never_written_over),
    };
#undef TEST
    return RUN_WITH_FAKE(argc, argv, tests, set_up, tear_down);
}
