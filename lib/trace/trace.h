/* trace.h - the trace that CF_TRACE=file.json asks for: Chrome trace events, which Perfetto reads too.
 *
 * A traced driver has its own table, whose functions record each call and forward it to the real driver. Without
 * CF_TRACE there is no such table and no cost. The library itself records events that a driver cannot know, such as the
 * decisions of a plain call: cf__trace_span_begin() and cf__trace_span_end() check one flag first. */
#ifndef CF__TRACE_H
#define CF__TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

extern int cf__trace_on; /* atomic */

/* Returns 1 while a trace is recorded. */
static inline int cf__trace_is_on(void)
{
    return __atomic_load_n(&cf__trace_on, __ATOMIC_RELAXED);
}

/* Opens the file that CF_TRACE names, before a driver comes into use. Returns CF_EINVAL if it cannot be written; CF_OK
 * without a trace, and a line in the log, if another writer has it. */
int cf__trace_open(void);

/* Writes the remaining text and closes the file. `is_final`: also frees the memory. */
void cf__trace_close_file(int is_final);

/* Returns 1 in a forked child of a process that wrote a trace. */
int cf__trace_is_child(void);

/* Returns the time at which a span begins, or 0 if there is no trace. */
static inline int64_t cf__trace_span_begin(void)
{
    return cf__trace_is_on() ? cf__now() : 0;
}

/* Writes a span of the calling thread from `begin`, a result of cf__trace_span_begin(), to now; nothing if it is 0.
 * `format` makes the members of a JSON object; NULL: no members. */
__attribute__((format(printf, 4, 5))) void cf__trace_span_end(int64_t begin, const char *category, const char *name,
                                                              const char *format, ...);

/* Writes `text` as the content of a JSON string, cut to `size` bytes; returns `quoted`. */
char *cf__trace_quote(char *quoted, size_t size, const char *text);

/* The trace's lock, for fork; every other lock is taken before it. */
void cf__trace_lock(void);
void cf__trace_unlock(void);

/* Ends the trace in a forked child, which writes none. Caller holds the lock. */
void cf__trace_forget(void);

/* ---- Events, for the other files of the trace ---- */

enum { CF__TRACE_ARGS = 256 }; /* bytes of an event's members, with the closing zero */

struct cf__trace_event {
    char phase; /* X: a span; M: a name; s and f: the ends of an arrow; i: an instant */
    const char *category, *name;
    int64_t process, row; /* 0, 0: the calling thread's */
    int64_t begin, end;   /* in nanoseconds */
    uint64_t arrow;       /* the arrow's number, or 0 */
    const char *args;     /* members of a JSON object, or NULL */
};

/* Writes an event, if there is a trace. */
void cf__trace_write(const struct cf__trace_event *event);

/* Writes the process and row of the calling thread. */
void cf__trace_get_row(int64_t *of_process, int64_t *row);

#endif
