/* stage.h - what stage.c, flow.c and pipeline.c share: a set of pinned buffers. */
#ifndef CF__STAGE_H
#define CF__STAGE_H

#include "internal.h"

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

struct cf__lane {
    struct cf__buffer buffers[CF__BUFFERS];     /* one way, or in */
    struct cf__buffer out_buffers[CF__BUFFERS]; /* out, where the other way is in use, too */
};

struct cf__stage {
    CUstream stream;
    CUstream out_stream;  /* of copies out beside copies in; NULL: not needed yet */
    CUevent arrived, ran; /* what is copied in; the kernel */
    struct cf__lane lanes[CF__MAX_LANES];
    int in_use;
    int is_unsettled; /* copies may still be in the buffers that nobody knows of */
    struct cf__stages *owner;
};

/* Sees to it that a buffer is there and holds so many bytes; its latest copy is waited for where `is_idle` asks for that.
 * On failure `call` is the driver's function. In flow.c. */
CUresult cf__buffer_ready(const struct cf__place *place, struct cf__buffer *buffer, size_t bytes, int is_idle,
                          const char **call);

/* Marks the end of what was enqueued from or to a buffer. In flow.c. */
CUresult cf__buffer_mark(const struct cf__place *place, struct cf__buffer *buffer, CUstream stream);

/* Sees to it that there is the stream for copies out. */
CUresult cf__stage_two_ways(const struct cf__place *place, struct cf__stage *stage);

/* Behind a failure: no copy may use a buffer, or memory, any more. */
void cf__stage_settle(const struct cf__place *place, struct cf__stage *stage);

#endif
