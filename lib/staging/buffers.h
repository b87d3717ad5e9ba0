/* buffers.h - manages sets of pinned buffers, and pinned cells. */
#ifndef CF__BUFFERS_H
#define CF__BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

struct cf__context;
struct cf__scope;

/* Number of threads that copy. One thread fills buffers at 11 GB/s. Eight threads reach the link's rate in one
 * direction, where more threads gain nothing. Simultaneous copies in both directions need more than eight. */
#define CF__CHANNELS 8
#define CF__MAX_CHANNELS 12
#define CF__BUFFERS 2

/* Minimum size of a buffer in bytes; sizes are this times a power of 2. */
#define CF__MIN_BUFFER ((size_t)128 << 10)

struct cf__buffer {
    void *memory;
    size_t size;    /* bytes of the buffer */
    CUevent copied; /* event recorded after the latest copy */
    int is_busy;    /* 1 from the enqueuing of that copy until a thread has waited for it */
};

struct cf__staging_channel {
    struct cf__buffer buffers[CF__BUFFERS];     /* buffers for copies in, or for one direction at a time */
    struct cf__buffer out_buffers[CF__BUFFERS]; /* buffers for copies out that run beside copies in */
};

/* A set of buffers with a stream, which one call at a time uses. */
struct cf__staging_set {
    CUstream stream;
    CUstream out_stream; /* stream of copies out that run beside copies in; NULL until needed */
    CUevent copied_in;   /* event recorded after the copies in */
    CUevent kernel_done; /* event recorded after the kernel */
    struct cf__staging_channel channels[CF__MAX_CHANNELS];
    int is_used;
    int has_stray_copies; /* 1 if copies of a failed call may still be using the buffers */
    struct cf__staging_sets *owner;
};

/* Waits for a free set of the scope's context. Returns a status, whose message names `function`; if it is CF_OK, the
 * caller releases the set later. */
int cf__staging_acquire(const struct cf__scope *scope, const char *function, struct cf__staging_set **set);
void cf__staging_release(struct cf__staging_set *set);

/* Creates the stream for copies out, unless it exists. */
CUresult cf__staging_add_out_stream(const struct cf__scope *scope, struct cf__staging_set *set);

/* Waits for the set's streams after a failure, so that no copy is still using a buffer or an array. */
void cf__staging_drain(const struct cf__scope *scope, struct cf__staging_set *set);

/* Returns 1 if a copy of this many bytes is faster through a set than with the driver's own copy. */
int cf__staging_is_worth(size_t bytes);

/* Make the default stream wait for the set's stream, or the set's stream for the default stream. The latter records
 * `kernel_done` in the default stream. `call` becomes the name of the driver's function, for error messages. */
CUresult cf__staging_precede_default(const struct cf__scope *scope, struct cf__staging_set *set, const char **call);
CUresult cf__staging_follow_default(const struct cf__scope *scope, struct cf__staging_set *set, const char **call);

/* Makes a buffer hold at least `bytes` bytes. Waits for the buffer's latest copy if `is_idle` is set or the memory has
 * to be replaced. `call` becomes the name of the driver's function, for error messages. */
CUresult cf__buffer_prepare(const struct cf__scope *scope, struct cf__buffer *buffer, size_t bytes, int is_idle,
                            const char **call);

/* Records the end of the copies that were enqueued from or to a buffer. */
CUresult cf__buffer_mark(const struct cf__scope *scope, struct cf__buffer *buffer, CUstream stream);

/* Pinned memory for the results of element checks, which has the same address on the device. The caller returns it. */
#define CF__CELLS 512
int cf__cells_acquire(const struct cf__scope *scope, const char *function, uint64_t **cells);
void cf__cells_release(uint64_t *cells);

/* Frees the sets and cells of a context, which `scope` has entered; `scope` is NULL if the context is gone. */
void cf__staging_free(struct cf__context *context, const struct cf__scope *scope);
void cf__staging_lock(void); /* for fork handlers */
void cf__staging_unlock(void);

#endif
