/* trace.h - the trace that CF_TRACE=file.json asks for: Chrome's trace events, which Perfetto reads too.
 *
 * A trace sits between the library and its drivers: the table that is used is then one whose functions note what they
 * do and call the real ones. Without CF_TRACE there is no such table, and nothing is paid. What the driver cannot tell,
 * such as the names of kernels and what a plain call decided, the library says by cf__trace_*(), which look at one flag
 * first. */
#ifndef CF__TRACE_H
#define CF__TRACE_H

#include <stddef.h>
#include <stdint.h>

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

/* Writes what is left and closes the file. `is_final`: frees the text, too. */
void cf__trace_end_file(int is_final);

/* A forked child of a process that wrote a trace. */
int cf__trace_is_child(void);

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

/* ---- Events, for the other files of the trace ---- */

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

/* The calling thread's process and row. */
void cf__trace_thread(int64_t *of_process, int64_t *row);

#endif
