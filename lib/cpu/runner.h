/* runner.h - the blocks that are resident on one CPU thread, and the turns of their threads. */
#ifndef CF__RUNNER_H
#define CF__RUNNER_H

#include <stdint.h>

#include <cuferry/cpu/abi.h>

#include "base/env.h"
#include "driver/driver.h"
#include "cpu/fiber.h"

enum cf__thread_state {
    CF__THREAD_READY,   /* runs, may run, or waits for its warp */
    CF__THREAD_BARRIER, /* waits for its block */
    CF__THREAD_GRID,    /* waits for the launch or the cluster */
    CF__THREAD_MEMORY,  /* waits for a barrier in the kernel's memory */
    CF__THREAD_YIELD,   /* lets other threads run first */
    CF__THREAD_ENDED
};

/* A CUDA thread that has begun and is suspended. */
struct cf__suspended {
    void *sp;                   /* stack pointer to resume with; unused while a sanitizer watches */
    const cf_host_where *where; /* place in the source that it waits at */
};

/* A thread that waits for a barrier in memory. */
struct cf__waiter {
    const uint64_t *word;
    uint32_t phase; /* 0 or 1, which the barrier has to leave */
    uint32_t next;  /* number of the next thread in the list, plus 1; 0: none */
};

#define CF__WAITER_LISTS 64

/* Threads that wait for barriers whose words hash to one list. Mostly consecutive threads wait for the same barrier:
 * two ranges hold them, [begin[0], end) and [begin[1], last), or one, [begin[0], last). Otherwise each thread has a
 * cf__waiter. */
struct cf__waiter_list {
    const uint64_t *word; /* the barrier that all wait for; NULL: single threads */
    uint32_t phase;
    uint32_t last; /* number of the last thread, plus 1; 0: no thread waits */
    uint32_t begin[2], end, ranges;
    uint32_t first; /* number of the first single thread, plus 1 */
};

struct cf__warp {
    uint32_t lanes;         /* mask of the lanes that exist */
    uint32_t ended;         /* mask of the lanes that have ended */
    uint32_t in_operation;  /* mask of the lanes that wait in an operation */
    uint32_t in_active;     /* mask of the lanes that wait in active() */
    uint32_t group_mask;    /* mask of the group that the latest lane joined; 0: that group is complete */
    uint32_t group_arrived; /* mask of the lanes of that group that have arrived */
    struct cf__arrival {
        uint32_t mask;
        uint8_t kind, width, argument; /* as in cf_host_warp; the low five bits of the argument */
    } arrivals[32];                    /* each lane's latest */
    uint64_t value[32];                /* each lane's latest */
    uint64_t result[32];               /* of each lane's latest operation or active() */
};

struct cf__block {
    cf_host_block head;
    struct cf__runner *runner;
    struct cf__warp *warps;
    uint32_t first;       /* number of its first thread among the runner's threads */
    uint32_t alive;       /* threads that have not ended */
    uint32_t arrived;     /* threads that wait at the block's barrier */
    int count;            /* arrived threads whose value is not 0 */
    uint64_t results[3];  /* of the latest barrier, by cf_host_vote */
    uint32_t shared_room; /* capacity of head.shared, in variables */
    uint64_t key;         /* of the order of its threads, if that is shuffled */
};

/* Runs blocks of one launch on one CPU thread. Later launches reuse it with its memory. */
struct cf__runner {
    /* Fields that each wait uses are adjacent. */
    struct cf__suspended *suspended;
    uint8_t *states;
    uint32_t *ready; /* ring of threads that may run */
    uint32_t ring_mask, head, tail;
    void *next_sp;      /* of the first thread in the ring; NULL: unknown, no thread, or the running thread */
    uint32_t current;   /* number of the running thread */
    uint32_t in_active; /* lanes that wait in active() */
    uint32_t total;     /* threads of the resident blocks */
    uint32_t begun;     /* threads of them that have begun */
    int is_plain;       /* no sanitizer watches, and the order is the natural one */

    uint32_t ended;     /* threads that have ended */
    uint32_t at_grid;   /* threads that have not ended and have arrived at the barrier of the launch or the cluster */
    uint8_t grid_phase; /* of that barrier, 0 or 1 */
    uint8_t *arrivals;  /* of each thread that arrived there and has not waited: the phase, plus 1; else 0 */
    uint32_t in_memory; /* threads that wait for barriers in memory */
    uint32_t block_threads, block_warps;
    struct cf__block *next_block; /* block of the thread that begins next */
    uint32_t next_thread;         /* number of that thread in its block */
    cf_dim3 next_index;           /* and its index */
    uint32_t fibers_used;
    uint32_t seed;            /* of the order of blocks and threads; 0: the natural order */
    uint64_t random;          /* state of the generator that picks the next thread; 0: natural order */
    struct cf__fiber outside; /* the CPU thread's own stack */
    int has_failed;

    const cf_host_launch *launch;
    cf_host_thread *thread;
    void *closure;

    struct cf__stacks stacks;
    struct cf__block *blocks;                    /* the resident blocks */
    struct cf__warp *warps;                      /* of all resident blocks */
    struct cf__fiber *fibers;                    /* one per stack */
    uint32_t *fiber_of;                          /* number of each thread's fiber */
    uint32_t block_room, warp_room, thread_room; /* capacities of the arrays, in elements */
    struct cf__waiter *waiters;                  /* one per thread, for threads in lists without ranges */
    struct cf__waiter_list waiter_lists[CF__WAITER_LISTS];
};

/* Suspends the running thread until another thread makes it ready. Returns the value at `result` at that time. */
uint64_t cf__runner_suspend(struct cf__runner *runner, const cf_host_where *where, const uint64_t *result);

/* A wait ends in a tail call, so that a suspended thread's stack has no frame of the library but that of
 * cf__fiber_jump(): each cache line of a stack counts. Code that needs a frame is in functions that are not inlined. */
#define CF__NOINLINE __attribute__((noinline))

/* Adds a thread to the ring of ready threads. */
static inline void cf__runner_add_ready(struct cf__runner *runner, uint32_t thread)
{
    runner->ready[runner->tail++ & runner->ring_mask] = thread;
}

/* Adds threads `begin` to `end` - 1, in the order of the launch. */
static inline void cf__runner_add_ready_range(struct cf__runner *runner, uint32_t begin, uint32_t end)
{
    uint32_t *ready = runner->ready, mask = runner->ring_mask, tail = runner->tail;
    runner->tail += end - begin;
    while (runner->seed == CF__ORDER_REVERSE && begin < end)
        ready[tail++ & mask] = --end;
    while (begin < end)
        ready[tail++ & mask] = begin++;
}

/* Ends an operation of the running thread, which has made the others ready. It continues at once, but in the descending
 * order after the others: the last to arrive is the lowest thread then. Returns the value at `result`. */
uint64_t cf__runner_continue(struct cf__runner *runner, const cf_host_where *where, const uint64_t *result);

/* Suspends the running thread, which is in this block. Lanes of its warp that wait in active() may have waited for this
 * thread alone: they get their results first. */
uint64_t cf__runner_settle_and_wait(struct cf__block *block, const cf_host_where *where, const uint64_t *result);
static inline uint64_t cf__runner_wait(struct cf__block *block, const cf_host_where *where, const uint64_t *result)
{
    if (block->runner->in_active)
        return cf__runner_settle_and_wait(block, where, result);
    return cf__runner_suspend(block->runner, where, result);
}

/* Computes a thread's index from its number in its block. */
static inline void cf__runner_thread_index(const struct cf__runner *runner, uint32_t thread, cf_dim3 *index)
{
    const cf_dim3 size = runner->launch->block;
    *index = (cf_dim3){thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

/* Lets other threads of the runner run before the running thread continues. */
void cf__runner_yield(cf_host_block *block);

/* Runs the threads of the resident blocks, all of which have to begin. */
void cf__runner_run(struct cf__runner *runner);

/* Returns the element number i of 0 to count - 1 in the order of the runner's seed; `key` selects a shuffled one. */
uint64_t cf__runner_reorder(const struct cf__runner *runner, uint64_t i, uint64_t count, uint64_t key);

/* Returns to the CPU thread's own stack; all CUDA threads stay where they are. */
void cf__runner_abandon(struct cf__runner *runner) __attribute__((noreturn));

/* Fails the launch with a driver result and a text, and leaves the running thread for good. */
void cf__runner_fail(struct cf__runner *runner, CUresult result, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* The same for a place in the kernel and the running thread, which is in `block`. */
void cf__runner_fail_thread(cf_host_block *block, int is_assert, const cf_host_where *where);

#endif
