/* trace.h - the trace that CF_TRACE=file.json asks for: Chrome's trace events, which Perfetto reads too.
 *
 * A trace sits between the library and its drivers: the table that is used is then one whose functions note what they
 * do and call the real ones. Without CF_TRACE there is no such table, and nothing is paid. What the driver cannot tell,
 * such as the names of kernels and what a plain call decided, the library says by cf__trace_*(), which look at one flag
 * first. */
#ifndef CF__TRACE_H
#define CF__TRACE_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include <cuferry/registry.h>

#include "driver.h"

/* ---- trace.c: the text ---- */

extern int cf__trace_on; /* atomic */

static inline int cf__traces(void)
{
    return __atomic_load_n(&cf__trace_on, __ATOMIC_RELAXED);
}

/* Nanoseconds of the clock that all of a trace's times are of: CLOCK_MONOTONIC. */
int64_t cf__trace_now(void);

/* Opens the file that CF_TRACE names, before a driver comes into use. CF_EINVAL where it cannot be written; CF_OK, no
 * trace and a line in the log where another writer has it. */
int cf__trace_open(void);

/* When a driver has come into use: has the process's end write what is left. */
int cf__trace_at_exit(void);

/* At cf_shutdown(), while the drivers are still in use: writes what is left, and frees everything. */
void cf__trace_close(void);

/* A span of the calling thread: from `begin`, which is what cf__trace_begin() gave, to now. `format` makes the members
 * of a JSON object; NULL: there are none. */
static inline int64_t cf__trace_begin(void)
{
    return cf__traces() ? cf__trace_now() : 0;
}
__attribute__((format(printf, 4, 5))) void cf__trace_end(int64_t begin, const char *category, const char *name,
                                                         const char *format, ...);

/* Writes `text` as the inside of a JSON string, cut where `size` bytes do not hold it; returns `quoted`. */
char *cf__trace_quote(char *quoted, size_t size, const char *text);

/* For fork, inside of all other locks. A child of a process that writes a trace writes none. */
void cf__trace_lock(void);
void cf__trace_unlock(void);
void cf__trace_forget(void); /* in the child, with the lock */

/* ---- trace_driver.c: the table ---- */

/* The table to use in place of `driver`, which works by then; that itself where there is no trace. */
const struct cf__driver *cf__trace_wrap(const struct cf__driver *driver);

/* That a GPU's function is this kernel. */
void cf__trace_kernel(CUfunction function, const cf_kernel *kernel);

void cf__trace_kernels_forget(void);

/* ---- Between the trace's own files ---- */

enum { CF__TRACE_ARGS = 256 }; /* bytes of an event's members, with the closing zero */

/* An event as it is written. */
struct cf__trace_event {
    char phase; /* X: a span; M: a name; s and f: the ends of an arrow; i: an instant */
    const char *category, *name;
    int64_t process, row; /* 0, 0: the calling thread's */
    int64_t begin, end;
    uint64_t arrow;   /* its number */
    const char *args; /* members of a JSON object, or NULL */
};
void cf__trace_write(const struct cf__trace_event *event);

/* Opens the file that `name`, the value of CF_TRACE, stands for, and locks it: returns its descriptor and writes its path.
 * -1 with `errno` on failure; EAGAIN where a living writer has the file. */
int cf__trace_file(const char *name, char path[PATH_MAX]);

/* The calling thread's process and row. */
void cf__trace_thread(int64_t *of_process, int64_t *row);

/* The times of something that was enqueued, by events before and behind it. */
struct cf__timed {
    struct cf__clock *clock; /* NULL: no device times */
    struct cf__pending *pending;
    int64_t begin;
    int is_captured;
};

/* Around a call that enqueues on `stream` in the current context of `driver`, which is a real one. `name` and
 * `category` are of the device's span; they stay valid until the trace is closed. */
void cf__timed_begin(struct cf__timed *timed, const struct cf__driver *driver, CUstream stream);
void cf__timed_end(struct cf__timed *timed, const struct cf__driver *driver, CUresult result, CUstream stream,
                   const char *category, const char *name, const char *args);

/* Writes what has finished in the current context: behind calls that waited. */
void cf__timed_collect(const struct cf__driver *driver);

void cf__timed_stream_gone(const struct cf__driver *driver, CUstream stream);

/* Behind what destroys contexts. */
void cf__timed_contexts_gone(const struct cf__driver *driver);

/* Writes what has finished anywhere; returns how many times have been lost. `is_final`: frees everything, too. */
uint64_t cf__timed_finish(int is_final);

#endif
