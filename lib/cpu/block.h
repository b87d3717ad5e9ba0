/* block.h - the threads of a block. */
#ifndef CF__BLOCK_H
#define CF__BLOCK_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/driver.h"
#include "cpu/fiber.h"

/* What CPU bodies ask for. */
extern const cf_host_ops cf__cpu_ops;

/* Ends the memory that runs keep for later ones. */
void cf__runners_free(void);

enum cf__lane_state {
    CF__LANE_READY,   /* runs, or may run, or waits for its warp */
    CF__LANE_BARRIER, /* waits for its block */
    CF__LANE_GRID,    /* for the launch */
    CF__LANE_MEMORY,  /* for a barrier in the kernel's memory */
    CF__LANE_YIELD,   /* for nothing, but lets others run first */
    CF__LANE_ENDED
};

/* A CUDA thread that has begun and waits: where its stack goes on, unless a sanitizer watches, and what for. */
struct cf__lane {
    void *sp;
    const cf_host_where *where;
};

/* A thread that waits for a barrier in memory to leave a phase, 0 or 1, and who is next in its list: a number plus 1. */
struct cf__waiting {
    const uint64_t *word;
    uint32_t phase, next;
};

#define CF__WAITING_LISTS 64

/* Threads that wait for barriers whose words have one place in a table. Mostly all wait for one, and follow one another: then two
 * ranges tell of them, [begin[0], end) and [begin[1], last), or [begin[0], last) alone. Else each has its cf__waiting. */
struct cf__waiting_list {
    const uint64_t *word; /* NULL: not ranges */
    uint32_t phase;
    uint32_t last; /* plus 1, as is `first`; 0: no thread waits */
    uint32_t begin[2], end, ranges;
    uint32_t first;
};

struct cf__warp {
    uint32_t lanes;        /* that there are */
    uint32_t ended;        /* of them, lanes that have */
    uint32_t in_operation; /* lanes that wait in one, */
    uint32_t in_active;    /* and in active() */
    /* Of the group of lanes that a lane came to last: their mask, 0 where they are complete, and those that have come. */
    uint32_t group_mask, group_arrived;
    struct cf__arrival {
        uint32_t mask;
        uint8_t kind, width, argument; /* as in cf_host_warp, the low five bits of the argument */
    } arrivals[32];                    /* the latest of each lane, as is its value */
    uint64_t value[32];
    uint64_t result[32]; /* of the lane's latest operation, or active() */
};

struct cf__block {
    cf_host_block head;
    struct cf__runner *runner;
    struct cf__warp *warps;
    uint32_t first; /* number of its first thread among those of the runner */
    uint32_t alive; /* threads that have not ended */
    uint32_t arrived;
    int count;           /* of the values at the barrier that are not 0 */
    uint64_t results[3]; /* of the latest barrier */
    uint32_t shared_room;
    uint64_t key; /* of the order of its threads */
};

/* Runs blocks of one launch on one thread of the CPU. It is kept for later ones, with its memory. */
struct cf__runner {
    /* What each wait looks at stands together. */
    struct cf__lane *lanes;
    uint8_t *states;
    uint32_t *ready; /* a ring of threads that may go on */
    uint32_t ring_mask, head, tail;
    void *next_sp;    /* of the first in the ring; NULL: not looked up, there is none, or it is the thread that runs */
    uint32_t current; /* the thread that runs */
    uint32_t asking;  /* lanes that wait in active() */
    uint32_t total, begun; /* threads of the resident blocks */
    int is_plain;          /* no sanitizer watches, and the order is the natural one */

    uint32_t ended, at_grid, in_memory; /* of them */
    uint32_t block_threads, block_warps;
    struct cf__block *next_block; /* of the thread that begins next; and its number in there */
    uint32_t next_thread;
    cf_dim3 next_index;
    uint32_t fibers_used;
    uint32_t seed;            /* of the order of blocks and threads; 0: the natural one */
    uint64_t random;          /* state of what then picks the next thread */
    struct cf__fiber outside; /* the CPU's thread, which waits meanwhile */
    int has_failed;

    const cf_host_launch *launch;
    cf_host_thread *thread;
    void *closure;

    struct cf__stacks stacks;
    struct cf__block *blocks; /* that are resident */
    struct cf__warp *warps;
    struct cf__fiber *fibers; /* one to a stack */
    uint32_t *fiber_of;       /* the number of a thread's */
    uint32_t block_room, warp_room, thread_room;
    struct cf__waiting *waiting; /* of each thread in a list that is not of ranges */
    struct cf__waiting_list waiting_lists[CF__WAITING_LISTS];
};

/* Stops the thread that runs until it is made ready. Gives what then stands at `result`. */
uint64_t cf__lane_wait(struct cf__runner *runner, const cf_host_where *where, const uint64_t *result);

/* Waits end in tail calls where the compiler makes them, but for yield(): a thread that has stopped then has no frame of the
 * library's on its stack but that of cf__fiber_jump(). Of stacks that are used by turns each line counts. What would need a frame
 * is in functions of its own. */
#define CF__NOINLINE __attribute__((noinline))

static inline void cf__lane_ready(struct cf__runner *runner, uint32_t thread)
{
    runner->ready[runner->tail++ & runner->ring_mask] = thread;
}

/* The same for threads `begin` to `end` - 1. */
static inline void cf__lanes_ready(struct cf__runner *runner, uint32_t begin, uint32_t end)
{
    uint32_t *ready = runner->ready, mask = runner->ring_mask, tail = runner->tail;
    runner->tail += end - begin;
    while (begin < end)
        ready[tail++ & mask] = begin++;
}

/* Stops the thread that runs, which is one of this block. Where lanes wait in active(), this may have been the last one of the
 * warp that could go on without: they are told before it stops. */
uint64_t cf__block_settle_and_wait(struct cf__block *block, const cf_host_where *where, const uint64_t *result);
static inline uint64_t cf__block_wait(struct cf__block *block, const cf_host_where *where, const uint64_t *result)
{
    if (block->runner->asking)
        return cf__block_settle_and_wait(block, where, result);
    return cf__lane_wait(block->runner, where, result);
}

/* The index of a thread of a block, by its number. */
static inline void cf__index_of(const struct cf__runner *runner, uint32_t thread, cf_dim3 *index)
{
    const cf_dim3 size = runner->launch->block;
    *index = (cf_dim3){thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

/* Ends the launch. */
void cf__launch_fail(struct cf__runner *runner, CUresult result, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

#endif
