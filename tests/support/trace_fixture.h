/* trace_fixture.h - shared by tests of traces: a reader of trace files, work to trace, and functions that run in a
 * process of their own. */
#ifndef TRACE_FIXTURE_H
#define TRACE_FIXTURE_H

#include "played_gpu.h"

#include <cuferry/kernels.h>

#include <errno.h>
#include <glob.h>
#include <sys/stat.h>

/* ---- Reading a trace ---- */

static char path[64];
static char *text; /* content of the file */

/* The end of the JSON value at `at`; NULL if there is none. */
static inline const char *skip_value(const char *at, int depth);

static inline const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \n");
}

static inline const char *skip_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++)
        if ((unsigned char)*at < 0x20 || (*at == '\\' && !strchr("\"\\u", *++at)))
            return NULL;
    return at + 1;
}

static inline const char *skip_list(const char *at, char close, int depth)
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

static inline const char *skip_value(const char *at, int depth)
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

/* Reads the file and checks that it is one JSON array. */
static inline void read_trace(const char *name)
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

static inline int count(const char *what)
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

static inline void make(struct arrays *arrays)
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

static inline int gather(cf_stream stream, const struct arrays *arrays)
{
    return cf_gather_f32_i32_async(stream, arrays->source, arrays->index, arrays->res, N, M);
}

static inline void drop(struct arrays *arrays)
{
    assert_ok(cf_mem_free(arrays->source));
    assert_ok(cf_mem_free(arrays->index));
    assert_ok(cf_mem_free(arrays->res));
}

/* Returns 1 if a plain call works. */
static inline int works(void)
{
    float from[3] = {1, 2, 3}, to[2] = {0, 0};
    int32_t at[2] = {2, 0};
    return cf_gather_f32_i32(from, at, to, 2, 3) == CF_OK && to[0] == 3 && to[1] == 1;
}

/* Launches `times` gathers in their own stream, and waits. */
static inline void work(int times)
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

static inline int set_up(void **state)
{
    (void)state;
    assert_ok(cf_shutdown());
    snprintf(path, sizeof path, "/tmp/test_trace.%d.json", (int)getpid());
    unlink(path);
    return setenv("CF_TRACE", path, 1);
}

/* Returns the number of other files whose names begin with the name at `path`. */
static inline int count_others(void)
{
    char pattern[sizeof path + 8];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%.*s.*", (int)strlen(path) - 5, path);
    int number = glob(pattern, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
    globfree(&found);
    return number - (access(path, F_OK) == 0);
}

static inline int tear_down(void **state)
{
    (void)state;
    int status = cf_shutdown();
    unlink(path);
    unsetenv("CF_TRACE");
    free(text);
    text = NULL;
    return status;
}

/* Starts a process that runs one of the functions below. It executes the program anew, because a forked child cannot
 * use GPUs that its parent used. */
static pid_t latest; /* the latest process */

static inline pid_t start_process(const char *name)
{
    static char self[PATH_MAX], fake[PATH_MAX];
    find_paths(self, fake);
    pid_t child = latest = fork_flushed();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(600);
        execl(self, self, "process", name, (char *)NULL);
        _exit(127);
    }
    return child;
}

/* Runs the process and returns its wait status. */
static inline int in_a_process(const char *name)
{
    int status = -1;
    pid_t child = start_process(name);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* For functions that close or check file descriptors: the driver of a real GPU opens some of its own, so the process
 * runs on the CPU instead. */
static inline int in_a_process_of_no_gpu(const char *name)
{
    int is_real = on_cuda() && !played_gpu_is_in_use();
    if (is_real)
        setenv("CF_DRIVER", "host", 1);
    int status = in_a_process(name);
    if (is_real)
        setenv("CF_DRIVER", "cuda", 1);
    return status;
}

static inline void exits(void)
{
    work(7);
    exit(0);
}

/* A function that runs in a process of its own. */
struct process {
    const char *name;
    void (*body)(void);
};
#define PROCESS(function)   \
    {                       \
#function, function \
    }

/* Runs the function if the program was started as such a process, and does not return in that case. */
static inline void run_process(int argc, char *argv[], const struct process *processes, size_t count_)
{
    for (size_t i = 0; argc == 3 && strcmp(argv[1], "process") == 0 && i < count_; i++)
        if (strcmp(processes[i].name, argv[2]) == 0)
            processes[i].body();
}

#endif
