/* buffers.h - pinned buffers. */
#ifndef CF__BUFFERS_H
#define CF__BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

struct cf__context;
struct cf__scope;

/* One thread fills 11 GB/s, eight reach what the link carries one way and more do not help. Both ways at once take more. */
#define CF__LANES 8
#define CF__MAX_LANES 12
#define CF__BUFFERS 2

struct cf__buffer {
    void *memory;
    size_t size;
    CUevent copied; /* the stream is past its latest copy */
    int is_busy;    /* nobody has waited for that */
};

struct cf__staging_lane {
    struct cf__buffer buffers[CF__BUFFERS];     /* one way, or in */
    struct cf__buffer out_buffers[CF__BUFFERS]; /* out, where the other way is in use, too */
};

struct cf__staging_set {
    CUstream stream;
    CUstream out_stream;            /* of copies out beside copies in; NULL: not needed yet */
    CUevent copied_in, kernel_done; /* what is copied in; the kernel */
    struct cf__staging_lane lanes[CF__MAX_LANES];
    int in_use;
    int has_stray_copies; /* copies may still be in the buffers that nobody knows of */
    struct cf__staging_sets *owner;
};

/* Sees to it that there is the stream for copies out. */
CUresult cf__staging_add_out_stream(const struct cf__scope *scope, struct cf__staging_set *set);

/* Behind a failure: no copy may use a buffer, or memory, any more. */
void cf__staging_drain(const struct cf__scope *scope, struct cf__staging_set *set);

/* A set of buffers with a stream, of one call at a time. Begin waits for one; `function` is what messages name. */
int cf__staging_acquire(const struct cf__scope *scope, const char *function, struct cf__staging_set **set);
void cf__staging_release(struct cf__staging_set *set);
CUstream cf__staging_stream(const struct cf__staging_set *set);

/* Whether so many bytes go faster through such a set. */
int cf__staging_is_worth(size_t bytes);

/* Let the default stream wait for the set's, and the reverse; `call` is what failed. Wait for what the latter waits
 * for. */
CUresult cf__staging_precede_default(const struct cf__scope *scope, struct cf__staging_set *set, const char **call);
CUresult cf__staging_follow_default(const struct cf__scope *scope, struct cf__staging_set *set, const char **call);
CUresult cf__staging_wait_kernel(const struct cf__scope *scope, struct cf__staging_set *set);

/* Pinned memory that searches of a call write to, which the device reaches at the same address. */
#define CF__CELLS 512
int cf__cells_take(const struct cf__scope *scope, const char *function, uint64_t **cells);
void cf__cells_give(uint64_t *cells);

/* Whether the scope's device reaches pageable host memory by itself. */
int cf__staging_reaches_pageable(const struct cf__scope *scope, const char *function, int device, int *reaches);

/* For cf__defer_free(). */
CUresult cf__free_memory(const struct cf__driver *driver, uintptr_t memory);
CUresult cf__free_pinned(const struct cf__driver *driver, uintptr_t memory);

/* Frees what the driver gave, or keeps it for cf_shutdown(); 0 is fine. */
void cf__free_or_defer(const struct cf__scope *scope, CUresult (*free_it)(const struct cf__driver *, uintptr_t),
                       uintptr_t what);

/* Frees what a context has: `scope` is entered in it, or NULL where the context is gone. */
void cf__staging_free(struct cf__context *context, const struct cf__scope *scope);
void cf__staging_lock(void); /* for fork */
void cf__staging_unlock(void);

#endif
