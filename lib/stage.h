/* stage.h - what stage.c and flow.c share: a set of pinned buffers. */
#ifndef CF__STAGE_H
#define CF__STAGE_H

#include "internal.h"

/* One thread fills 11 GB/s, eight reach what the link carries and more do not help. */
#define CF__LANES 8
#define CF__BUFFERS 2

struct cf__buffer {
    void *memory;
    size_t size;
    CUevent copied; /* the stream is past its latest copy */
    int is_busy;    /* nobody has waited for that */
};

struct cf__lane {
    struct cf__buffer buffers[CF__BUFFERS];
};

struct cf__stage {
    CUstream stream;
    CUevent arrived, ran; /* what is copied in; the kernel */
    struct cf__lane lanes[CF__LANES];
    int in_use;
    int cancel;       /* of the thread that has it, to be restored */
    int is_unsettled; /* copies may still be in the buffers that nobody knows of */
    struct cf__stages *owner;
};

#endif
