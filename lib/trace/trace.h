/* trace.h - the trace that CF_TRACE=file.json requests, in Chrome's trace event format, which Perfetto also reads.
 *
 * A traced driver has its own table, whose functions record each call and forward it to the real driver. Without
 * CF_TRACE there is no such table and no cost. The library itself records events that a driver cannot know, such as the
 * decisions of a plain call: cf__trace_span_begin() and cf__trace_span_end() check one flag first. */
#ifndef CF__TRACE_H
#define CF__TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

extern int cf__trace_on; /* nonzero while a trace is recorded; atomic */

/* Returns 1 while a trace is recorded. */
static inline int cf__trace_is_on(void)
{
    return __atomic_load_n(&cf__trace_on, __ATOMIC_RELAXED);
}

/* Opens the file that CF_TRACE names, before a driver comes into use. Returns CF_EINVAL if the file cannot be written.
 * If another writer has the file, reports that to the log and returns CF_OK without a trace. */
int cf__trace_open(void);

/* Writes the remaining text and closes the file; also frees the memory if `is_final`. */
void cf__trace_close_file(int is_final);

/* Returns 1 in a forked child of a process that wrote a trace. */
int cf__trace_is_child(void);

/* Returns the time at which a span begins, or 0 if there is no trace. */
static inline int64_t cf__trace_span_begin(void)
{
    return cf__trace_is_on() ? cf__now() : 0;
}

/* Writes a span of the calling thread, from `begin` (a result of cf__trace_span_begin()) to now; writes nothing if
 * `begin` is 0. `format` gives the members of a JSON object, or is NULL. */
__attribute__((format(printf, 4, 5))) void cf__trace_span_end(int64_t begin, const char *category, const char *name,
                                                              const char *format, ...);

/* Writes `text` as the content of a JSON string, truncated to `size` bytes; returns `quoted`. */
char *cf__trace_quote(char *quoted, size_t size, const char *text);

/* The trace's lock, for fork handlers; it is taken after every other lock. */
void cf__trace_lock(void);
void cf__trace_unlock(void);

/* Ends the trace in a forked child, which writes none. The caller holds the lock. */
void cf__trace_forget(void);

/* ---- Events, for the other files of the trace ---- */

enum { CF__TRACE_ARGS = 256 }; /* bytes of an event's members, with the closing zero */

struct cf__trace_event {
    char phase; /* X: a span; M: a name; s and f: start and finish of an arrow; i: an instant */
    const char *category, *name;
    int64_t process, row; /* process and row of the event; 0, 0: those of the calling thread */
    int64_t begin, end;   /* times in nanoseconds */
    uint64_t arrow;       /* number of the arrow, or 0 */
    const char *args;     /* members of a JSON object, or NULL */
};

/* Writes an event, if there is a trace. */
void cf__trace_write(const struct cf__trace_event *event);

/* Writes the process and row of the calling thread. */
void cf__trace_get_row(int64_t *of_process, int64_t *row);

#endif
