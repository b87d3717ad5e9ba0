/* wait.h - programs for wait.cu: sequences of steps that threads take. */
#ifndef WAIT_H
#define WAIT_H

#include <stdint.h>

enum step_kind {
    /* Steps for the lanes of a warp. */
    STEP_SYNC_WARP,
    STEP_SHUFFLE,
    STEP_SHUFFLE_UP,
    STEP_SHUFFLE_DOWN, /* 64 bits */
    STEP_SHUFFLE_XOR,
    STEP_BALLOT,
    STEP_MATCH_ANY,
    STEP_MATCH_ALL,
    STEP_SUM,
    STEP_LEAST,
    /* Steps for all threads of a block that have not ended. */
    STEP_BARRIER,
    STEP_COUNT,
    STEP_AND,
    STEP_OR,
    STEP_SHARED, /* reads shared memory that other threads wrote */
    /* Steps for some of the threads. */
    STEP_MEET, /* the threads meet at a cuda::barrier */
    STEP_YIELD,
    STEP_ACTIVE, /* __activemask(), then a ballot with that mask */
    STEP_ALONE,
    STEP_END,
    STEP_KINDS
};

/* A step. It is for the threads whose lane is in `lanes` and whose warp is in `warps`. */
struct step {
    uint32_t kind, lanes, warps, mask, argument, width;
};

/* A cuda::barrier, with the threads that arrive there. */
struct meeting {
    uint32_t lanes, warps, count;
};
enum { MEETINGS = 4 };

#endif
