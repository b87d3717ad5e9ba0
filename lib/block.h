/* block.h - what the files share that run blocks whose threads wait for one another: block.c, warp.c. */
#ifndef CF__BLOCK_H
#define CF__BLOCK_H

#include <cuferry/registry.h>

#include "driver.h"
#include "fiber.h"

/* The outcome of one launch on the CPU. */
struct cf__host_run {
    int has_failed; /* atomic: who sets it first writes the rest */
    CUresult result;
    char text[480];
};

/* Runs all blocks of a launch; what it fails with is told by the thread's next message. `is_serial`: on this thread alone. */
CUresult cf__host_run(const cf_kernel *kernel, const cf_host_launch *what, int is_serial);

/* Whether a part of a launch failed, which ends the rest. */
static inline int cf__host_has_failed(const cf_host_launch *launch)
{
    const struct cf__host_run *run = (const struct cf__host_run *)launch->run;
    return run && __atomic_load_n(&run->has_failed, __ATOMIC_RELAXED);
}

/* What CPU bodies ask for. */
extern const cf_host_ops cf__host_ops;

/* Ends the memory that runs keep for later ones. */
void cf__runners_free(void);

enum cf__lane_state {
    CF__LANE_READY,   /* runs, or may run */
    CF__LANE_BARRIER, /* waits for its block */
    CF__LANE_GRID,    /* for the launch */
    CF__LANE_WARP,    /* for lanes of its warp */
    CF__LANE_ACTIVE,  /* until no lane of its warp can go on without */
    CF__LANE_ENDED
};

/* A CUDA thread that has begun and waits. */
struct cf__lane {
    struct cf__fiber *fiber; /* that it waits on */
    const cf_host_where *where;
};

struct cf__warp {
    uint32_t lanes;   /* that there are */
    uint32_t ended;   /* of them, lanes that have */
    uint32_t stopped; /* that wait for anything, or have ended */
    uint32_t in_operation, in_active;
    uint32_t found[32];        /* by active(), for each lane */
    cf_host_warp *brought[32]; /* by the lanes in_operation */
};

struct cf__block {
    cf_host_block head;
    struct cf__runner *runner;
    uint32_t first; /* number of its first thread among those of the runner */
    uint32_t alive; /* threads that have not ended */
    uint32_t arrived;
    int count;      /* of the values at the barrier that are not 0 */
    int results[3]; /* of the latest barrier */
    uint32_t shared_room;
    struct cf__warp *warps;
};

/* Runs blocks of one launch on one thread of the CPU. It is kept for later ones, with its memory. */
struct cf__runner {
    struct cf__stacks stacks;
    struct cf__block *blocks; /* that are resident */
    struct cf__warp *warps;
    struct cf__lane *lanes;
    struct cf__fiber *fibers; /* one to a stack */
    uint8_t *states;
    uint32_t *ready; /* a ring of threads that may go on */
    uint32_t block_room, warp_room, thread_room, ring_mask;

    const cf_host_launch *launch;
    cf_host_thread *thread;
    void *closure;
    uint32_t block_threads, block_warps;
    uint32_t head, tail;          /* of the ring */
    uint32_t total, begun, ended; /* threads of the resident blocks */
    uint32_t at_grid;             /* of them */
    uint32_t current;             /* the one that runs */
    uint32_t fibers_used;
    uint32_t stride, shift;   /* the i-th to begin in a block is (i * stride + shift) % block_threads */
    struct cf__fiber *on;     /* the fiber that runs */
    struct cf__fiber outside; /* the CPU's thread, which waits meanwhile */
    int has_failed;
};

/* Stops the thread that runs until it is made ready. */
void cf__lane_wait(struct cf__runner *runner, enum cf__lane_state state, const cf_host_where *where);

static inline void cf__lane_ready(struct cf__runner *runner, uint32_t thread)
{
    runner->states[thread] = CF__LANE_READY;
    runner->ready[runner->tail++ & runner->ring_mask] = thread;
}

/* Ends the launch. */
void cf__launch_fail(struct cf__runner *runner, CUresult result, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* ---- warp.c ---- */

void cf__warp_exchange(cf_host_block *block, cf_host_warp *lane);
uint32_t cf__warp_active(cf_host_block *block, const cf_host_where *where);

/* A lane has stopped or ended: what waits for it may be complete. `first` is the number of lane 0. */
void cf__warp_settle(struct cf__runner *runner, struct cf__warp *warp, uint32_t first);

#endif
