/* test_trace.c - CF_TRACE: what is in the file, and that it can be read whatever happens to the process.
 *
 * `test_trace work FILE` does the work that tests/test_trace.py then looks for in the trace. */
#include "on_fake.h"

#include <cuferry/kernels.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <locale.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "closing.h"
#include "trace.h"

/* ---- Reading a trace ---- */

static char path[64];
static char *text; /* the file */

/* The end of the JSON value that begins at `at`; NULL where none does. */
static const char *skip_value(const char *at, int depth);

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \n");
}

static const char *skip_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++)
        if ((unsigned char)*at < 0x20 || (*at == '\\' && !strchr("\"\\u", *++at)))
            return NULL;
    return at + 1;
}

static const char *skip_list(const char *at, char close, int depth)
{
    at = skip_blanks(at + 1);
    if (*at == close)
        return at + 1;
    for (;; at = skip_blanks(at + 1)) {
        if (close == '}') {
            at = skip_string(at);
            if (!at || *(at = skip_blanks(at)) != ':')
                return NULL;
            at = skip_blanks(at + 1);
        }
        at = skip_value(at, depth + 1);
        if (!at)
            return NULL;
        at = skip_blanks(at);
        if (*at == close)
            return at + 1;
        if (*at != ',')
            return NULL;
    }
}

static const char *skip_value(const char *at, int depth)
{
    if (depth > 8)
        return NULL;
    if (*at == '{')
        return skip_list(at, '}', depth);
    if (*at == '[')
        return skip_list(at, ']', depth);
    if (*at == '"')
        return skip_string(at);
    if (strncmp(at, "true", 4) == 0)
        return at + 4;
    size_t digits = strspn(at, "0123456789");
    if (digits == 0)
        return NULL;
    at += digits;
    if (*at == '.') {
        digits = strspn(++at, "0123456789");
        at = digits ? at + digits : NULL;
    }
    return at;
}

/* Reads the file, which has to be one JSON array. */
static void read_trace(const char *name)
{
    FILE *file = fopen(name, "r");
    struct stat found;
    if (!file || fstat(fileno(file), &found) != 0)
        fail_msg("%s: %s", name, strerror(errno));
    free(text);
    text = malloc((size_t)found.st_size + 1);
    assert_non_null(text);
    size_t size = fread(text, 1, (size_t)found.st_size, file);
    fclose(file);
    text[size] = 0;
    const char *end = *text == '[' ? skip_value(text, 0) : NULL;
    if (!end || *skip_blanks(end) || strlen(text) != size)
        fail_msg("%s is no JSON array; it ends with\n%s", name, size > 600 ? text + size - 600 : text);
}

static int count(const char *what)
{
    int found = 0;
    size_t length = strlen(what);
    for (const char *at = text; *at; at++)
        found += *at == *what && strncmp(at, what, length) == 0;
    return found;
}

/* ---- Work ---- */

enum { N = 2000, M = 300 }; /* two blocks of gather */

struct arrays {
    void *source, *index, *res;
    float from[M], to[N];
    int32_t at[N];
};

static void make(struct arrays *arrays)
{
    for (int i = 0; i < M; i++)
        arrays->from[i] = (float)i;
    for (int i = 0; i < N; i++)
        arrays->at[i] = i * 7 % M;
    assert_ok(cf_mem_alloc(&arrays->source, sizeof arrays->from));
    assert_ok(cf_mem_alloc(&arrays->index, sizeof arrays->at));
    assert_ok(cf_mem_alloc(&arrays->res, sizeof arrays->to));
    assert_ok(cf_mem_copy(arrays->source, arrays->from, sizeof arrays->from));
    assert_ok(cf_mem_copy(arrays->index, arrays->at, sizeof arrays->at));
}

static int gather(cf_stream stream, const struct arrays *arrays)
{
    return cf_gather_f32_i32_async(stream, arrays->source, arrays->index, arrays->res, N, M);
}

static void drop(struct arrays *arrays)
{
    assert_ok(cf_mem_free(arrays->source));
    assert_ok(cf_mem_free(arrays->index));
    assert_ok(cf_mem_free(arrays->res));
}

/* Whether the library works: a plain call. */
static int works(void)
{
    float from[3] = {1, 2, 3}, to[2] = {0, 0};
    int32_t at[2] = {2, 0};
    return cf_gather_f32_i32(from, at, to, 2, 3) == CF_OK && to[0] == 3 && to[1] == 1;
}

/* Launches `times` gathers in a stream of their own, and waits. */
static void work(int times)
{
    struct arrays arrays;
    cf_stream stream;
    make(&arrays);
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < times; i++)
        assert_ok(gather(stream, &arrays));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_mem_copy(arrays.to, arrays.res, sizeof arrays.to));
    for (int i = 0; i < N; i++)
        if (arrays.to[i] != (float)arrays.at[i])
            fail_msg("element %d is %g", i, (double)arrays.to[i]);
    assert_ok(cf_stream_destroy(stream));
    drop(&arrays);
}

#define KERNEL "\"name\": \"cf_gather_f32_i32\", \"cat\": \"kernel\""
#define LAUNCH "\"name\": \"cf_gather_f32_i32\", \"cat\": \"launch\""

static int set_up(void **state)
{
    (void)state;
    assert_ok(cf_shutdown());
    snprintf(path, sizeof path, "/tmp/test_trace.%d.json", (int)getpid());
    unlink(path);
    return setenv("CF_TRACE", path, 1);
}

/* Calls a function, which may be NULL, for each trace beside the one at `path`; gives their number. */
static int for_others(void (*function)(const char *name))
{
    char pattern[sizeof path + 8];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%.*s.*", (int)strlen(path) - 5, path);
    int number = 0;
    if (glob(pattern, 0, NULL, &found) != 0)
        return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (strcmp(found.gl_pathv[i], path) == 0)
            continue;
        number++;
        if (function)
            function(found.gl_pathv[i]);
    }
    globfree(&found);
    return number;
}

static void remove_other(const char *name)
{
    unlink(name);
}

static int tear_down(void **state)
{
    (void)state;
    int status = cf_shutdown();
    for_others(remove_other);
    unlink(path);
    unsetenv("CF_TRACE");
    free(text);
    text = NULL;
    return status;
}

/* Runs one of the functions below that are a process's, and gives what waitpid() says of that. A new program: GPUs that
 * were in use before a fork are not for the child. */
static pid_t latest; /* such process */

static int in_a_process(const char *name)
{
    static char self[PATH_MAX], fake[PATH_MAX];
    int status = -1;
    find_paths(self, fake);
    fflush(stdout);
    pid_t child = latest = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        execl(self, self, "process", name, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* What it does with descriptors is not for a real GPU's driver, which has some of its own: there it is on the CPU. */
static int in_a_process_of_no_gpu(const char *name)
{
    int is_real = on_cuda() && !dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_cuda_alive");
    if (is_real)
        setenv("CF_DRIVER", "host", 1);
    int status = in_a_process(name);
    if (is_real)
        setenv("CF_DRIVER", "cuda", 1);
    return status;
}

/* ---- What is in it ---- */

static void trace_has_every_launch(void **state)
{
    (void)state;
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

static void trace_has_copies_and_fills_with_their_bytes(void **state)
{
    (void)state;
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

static void trace_of_the_default_streams_has_a_row_for_each(void **state)
{
    (void)state;
    struct arrays arrays;
    make(&arrays);
    assert_ok(gather(NULL, &arrays));
    assert_ok(gather((cf_stream)1, &arrays));
    assert_ok(gather((cf_stream)2, &arrays));
    assert_ok(cf_device_sync());
    drop(&arrays);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 3);
    assert_int_equal(count("\"default stream\""), on_cuda() ? 1 : 0);
    assert_int_equal(count("\"default stream of thread "), on_cuda() ? 1 : 0);
}

static void *work_of_a_thread(void *unused)
{
    (void)unused;
    work(100);
    return NULL;
}

static void trace_of_many_threads_has_all_of_each(void **state)
{
    (void)state;
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

static void trace_of_more_than_can_wait_loses_device_times_alone(void **state)
{
    (void)state;
    void *memory;
    cf_stream stream;
    enum { TIMES = 3300 };
    assert_ok(cf_mem_alloc(&memory, 64));
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < TIMES; i++)
        assert_ok(cf_mem_fill_async(stream, memory, 1, 64));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(memory));
    char alive[256];
    int is_fake = count_alive(alive, sizeof alive) >= 0;
    assert_ok(cf_shutdown());
    read_trace(path);
    int on_host = count("\"stream\": \"0x");
    assert_int_equal(on_host, TIMES);
    const char *at = strstr(text, "device times lost");
    int lost = 0;
    if (at)
        assert_int_equal(sscanf(strstr(at, "count"), "count\": %d", &lost), 1);
    if (is_fake)
        assert_true(lost > 0); /* a GPU may be quick enough */
    assert_int_equal(count("\"cat\": \"fill\""), on_cuda() ? 2 * TIMES - lost : TIMES);
}

static void trace_of_a_capture_has_the_graphs_times_alone(void **state)
{
    (void)state;
    struct arrays arrays;
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    make(&arrays);
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_capture_begin(stream));
    for (int i = 0; i < 4; i++)
        assert_ok(gather(stream, &arrays));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    for (int i = 0; i < 3; i++)
        assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
    drop(&arrays);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count("\"captured\": true"), 4);
    assert_int_equal(count(LAUNCH), 4);
    assert_int_equal(count(KERNEL), 0);
    assert_int_equal(count("\"name\": \"graph\", \"cat\": \"graph\""), 3);
    assert_int_equal(count("\"name\": \"instantiate a graph\""), 1);
    assert_int_equal(count("device times lost"), 0);
}

static void trace_of_a_plain_call_has_its_plan(void **state)
{
    (void)state;
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

static void trace_takes_nothing_with_it(void **state)
{
    (void)state;
    work(50);
    assert_ok(cf_shutdown());
    assert_nothing_alive();
}

/* ---- The file ---- */

static void without_a_name_there_is_no_trace(void **state)
{
    (void)state;
    setenv("CF_TRACE", "", 1);
    work(1);
    assert_false(cf__traces());
    assert_ok(cf_shutdown());
    unsetenv("CF_TRACE");
    work(1);
    assert_false(cf__traces());
    struct cf__driver driver = {.is_host = 1};
    assert_ptr_equal(cf__trace_wrap(&driver), &driver); /* what costs nothing */
}

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

static void file_can_be_read_while_it_is_written(void **state)
{
    (void)state;
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

static void file_of_a_killed_process_can_be_read(void **state)
{
    (void)state;
    int status = in_a_process("is_killed");
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    read_trace(path);
    assert_true(count(KERNEL) >= 500);
}

static void exits(void)
{
    work(7);
    exit(0);
}

static void file_of_a_process_that_exits_is_complete(void **state)
{
    (void)state;
    assert_int_equal(in_a_process("exits"), 0);
    read_trace(path);
    assert_int_equal(count(KERNEL), 7);
}

static pthread_barrier_t all_are_made;

/* Until something fails, which it may do once the process exits: a GPU's driver goes while threads still work. */
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

static void file_of_a_process_that_exits_while_threads_work_can_be_read(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(in_a_process("exits_beside_others"), 0);
        read_trace(path);
        assert_true(count(KERNEL) >= 20);
    }
}

static void meets_a_limit(void)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {200000, 200000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(4);
    work(2000);
    if (cf__traces() || !works() || cf_shutdown() != CF_OK)
        _exit(5);
    exit(0);
}

static void file_that_cannot_grow_ends_the_trace_and_nothing_else(void **state)
{
    (void)state;
    assert_int_equal(in_a_process("meets_a_limit"), 0);
    read_trace(path);
    assert_true(count(KERNEL) > 100);
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    assert_true(found.st_size <= 200000);
}

/* A daemon's way: closes all descriptors, and opens its own in their place. */
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

static void files_of_the_application_are_left_alone(void **state)
{
    (void)state;
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

static void standard_descriptors_are_left_to_the_application(void **state)
{
    (void)state;
    assert_int_equal(in_a_process_of_no_gpu("has_no_standard_descriptors"), 0);
    read_trace(path);
    assert_int_equal(count(KERNEL), 5);
}

/* ---- Fork ---- */

static void forks(void)
{
    work(10);
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        if (cf_device_use(CF_HOST) != CF_OK || !works() || cf__traces())
            _exit(4);
        if (cf_shutdown() != CF_OK || !works() || cf__traces())
            _exit(5);
        exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(6);
    work(10);
    exit(0);
}

static void fork_leaves_the_trace_to_the_parent(void **state)
{
    (void)state;
    assert_int_equal(in_a_process("forks"), 0);
    read_trace(path);
    assert_int_equal(count(KERNEL), 20);
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
    alarm(60);
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

/* ---- Text ---- */

static void quote_gives_what_json_can_hold(void **state)
{
    (void)state;
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

static void numbers_are_those_of_json_in_any_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "es_ES.UTF-8", "de_DE", "fr_FR"};
    size_t i = 0;
    while (i < sizeof names / sizeof *names && !setlocale(LC_NUMERIC, names[i]))
        i++;
    if (i == sizeof names / sizeof *names) {
        puts("# skip: no locale with a decimal comma is installed");
        skip();
    }
    work(3);
    int status = cf_shutdown();
    setlocale(LC_NUMERIC, "C");
    assert_ok(status);
    read_trace(path);
}

/* ---- What the driver that plays a GPU shows ---- */

static void trace_of_two_gpus_has_a_process_for_each(void **state)
{
    (void)state;
    assert_ok(cf_device_use(1));
    work(4);
    assert_ok(cf_device_use(0));
    work(3);
    assert_ok(cf_device_use(CF_HOST));
    work(2);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count("\"name\": \"GPU 0: "), 1);
    assert_int_equal(count("\"name\": \"GPU 1: "), 1);
    assert_int_equal(count(LAUNCH), 7);
    assert_int_equal(count(KERNEL), 9);
}

static void trace_of_a_lost_context_tells_what_is_known(void **state)
{
    (void)state;
    struct arrays arrays;
    float here[4];
    make(&arrays);
    assert_ok(gather(NULL, &arrays));
    assert_ok(cf_device_sync());
    assert_ok(cf_gather_f32_i32_async(NULL, here, arrays.index, arrays.res, N, M)); /* host memory: a fault */
    assert_int_equal(cf_device_sync(), CF_EFAULT);
    assert_int_equal(gather(NULL, &arrays), CF_EFAULT);
    int status = cf_shutdown();
    assert_true(status == CF_OK || status == CF_EFAULT);
    read_trace(path);
    assert_true(count(KERNEL) >= 1);
    assert_int_equal(count("device times lost"), 1);
}

static void trace_of_contexts_that_are_gone_leaves_them_alone(void **state)
{
    (void)state;
    CUcontext context, popped;
    const struct cf__driver *driver = other_library();
    CUdevice device;
    assert_int_equal(driver->cuInit(0), CUDA_SUCCESS);
    assert_int_equal(driver->cuDeviceGet(&device, 0), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(context_create(&context, 0, device), CUDA_SUCCESS);
        work(2);
        assert_int_equal(driver->cuCtxPopCurrent(&popped), CUDA_SUCCESS);
        assert_int_equal(context_destroy(context), CUDA_SUCCESS);
    }
    work(2);
    assert_ok(cf_shutdown());
    read_trace(path);
    assert_int_equal(count(KERNEL), 8);
}

/* ---- For tests/test_trace.py ---- */

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

/* A plain call of enough data for several threads to stage. */
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
    if (on_cuda() && cf_require(CF_CUDA) != CF_OK) {
        puts(cf_last_error());
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

static const struct {
    const char *name;
    void (*body)(void);
} processes[] = {
#define PROCESS(function)   \
    {                       \
#function, function \
    }
    PROCESS(is_killed),
    PROCESS(exits),
    PROCESS(exits_beside_others),
    PROCESS(meets_a_limit),
    PROCESS(closes_descriptors),
    PROCESS(has_no_standard_descriptors),
    PROCESS(forks),
    PROCESS(forks_first),
};

int main(int argc, char *argv[])
{
    for (size_t i = 0; argc == 3 && strcmp(argv[1], "process") == 0 && i < sizeof processes / sizeof *processes; i++)
        if (strcmp(processes[i].name, argv[2]) == 0)
            processes[i].body();
    if (argc == 3 && strcmp(argv[1], "work") == 0)
        return scripted_work(argv[2]);
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(trace_has_every_launch),
        TEST(trace_has_copies_and_fills_with_their_bytes),
        TEST(trace_of_the_default_streams_has_a_row_for_each),
        TEST(trace_of_many_threads_has_all_of_each),
        TEST(trace_of_more_than_can_wait_loses_device_times_alone),
        TEST(trace_of_a_capture_has_the_graphs_times_alone),
        TEST(trace_of_a_plain_call_has_its_plan),
        TEST(trace_takes_nothing_with_it),
        TEST(without_a_name_there_is_no_trace),
        TEST(file_that_cannot_be_written_is_invalid),
        TEST(name_that_is_too_long_is_invalid),
        TEST(name_with_percent_p_has_the_process),
        TEST(file_goes_on_after_shutdown),
        TEST(file_that_was_taken_away_is_written_anew),
        TEST(file_can_be_read_while_it_is_written),
        TEST(file_of_a_killed_process_can_be_read),
        TEST(file_of_a_process_that_exits_is_complete),
        TEST(file_of_a_process_that_exits_while_threads_work_can_be_read),
        TEST(file_that_cannot_grow_ends_the_trace_and_nothing_else),
        TEST(files_of_the_application_are_left_alone),
        TEST(standard_descriptors_are_left_to_the_application),
        TEST(fork_leaves_the_trace_to_the_parent),
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
        cmocka_unit_test(quote_gives_what_json_can_hold),
        TEST(numbers_are_those_of_json_in_any_locale),
        fake_test(trace_of_two_gpus_has_a_process_for_each, "CF_DRIVER=cuda"),
        fake_test(trace_of_a_lost_context_tells_what_is_known, "CF_DRIVER=cuda"),
        fake_test(trace_of_contexts_that_are_gone_leaves_them_alone, "CF_DRIVER=cuda"),
    };
    return RUN_WITH_FAKE(argc, argv, tests, set_up, tear_down);
}
