/* runner.h - the state of the blocks resident on one CPU thread, and functions with which their threads take turns. */
#ifndef CF__RUNNER_H
#define CF__RUNNER_H

#include <stdint.h>

#include <cuferry/cpu/abi.h>

#include "base/env.h"
#include "driver/driver.h"
#include "cpu/fiber.h"

enum cf__thread_state {
    CF__THREAD_READY,   /* runs, is ready to run, or waits for its warp */
    CF__THREAD_BARRIER, /* waits at the barrier of its block */
    CF__THREAD_GRID,    /* waits at the barrier of the cooperative launch or the cluster */
    CF__THREAD_MEMORY,  /* waits for a barrier in the kernel's memory */
    CF__THREAD_YIELD,   /* yields to the other threads */
    CF__THREAD_ENDED
};

/* A CUDA thread that has begun and is suspended. */
struct cf__suspended {
    void *sp;                   /* stack pointer to resume with; unused while a sanitizer tracks fibers */
    const cf_host_where *where; /* source location of the wait */
};

/* A thread that waits for a barrier in memory. */
struct cf__waiter {
    const uint64_t *word;
    uint32_t phase; /* phase whose end the thread waits for, 0 or 1 */
    uint32_t next;  /* number of the next thread in the list plus 1, or 0 */
};

#define CF__WAITER_LISTS 64

/* Threads that wait for barriers whose words hash to the same list. Usually consecutive threads wait for one barrier
 * and form two ranges, [begin[0], end) and [begin[1], last), or a single one, [begin[0], last). In any other case each
 * thread has a cf__waiter. */
struct cf__waiter_list {
    const uint64_t *word; /* barrier that all threads of the ranges wait for; NULL: there are no ranges */
    uint32_t phase;
    uint32_t last; /* number of the last thread plus 1; 0: no thread waits */
    uint32_t begin[2], end, ranges;
    uint32_t first; /* number of the first thread that has a cf__waiter, plus 1 */
};

struct cf__warp {
    uint32_t lanes;         /* mask of the lanes that exist */
    uint32_t ended;         /* mask of the lanes that have ended */
    uint32_t in_operation;  /* mask of the lanes that wait in an operation */
    uint32_t in_active;     /* mask of the lanes that wait in active() */
    uint32_t group_mask;    /* mask of the group that the latest lane joined; 0: the group is complete */
    uint32_t group_arrived; /* mask of the group's lanes that have arrived */
    struct cf__arrival {
        uint32_t mask;
        uint8_t kind, width, argument; /* same as in cf_host_warp, with the low five bits of the argument */
    } arrivals[32];                    /* latest arrival of each lane */
    uint64_t value[32];                /* latest value of each lane */
    uint64_t result[32];               /* result of each lane's latest operation or active() */
};

struct cf__block {
    cf_host_block head;
    struct cf__runner *runner;
    struct cf__warp *warps;
    uint32_t first;       /* number of the block's first thread among the runner's threads */
    uint32_t alive;       /* number of threads that have not ended */
    uint32_t arrived;     /* number of threads that wait at the block's barrier */
    int count;            /* number of arrived threads with a nonzero value */
    uint64_t results[3];  /* results of the latest barrier, indexed by cf_host_vote */
    uint32_t shared_room; /* capacity of head.shared, in variables */
    uint64_t key;         /* key of the shuffled order of the block's threads */
};

/* Runs blocks of one launch on one CPU thread. Later launches reuse the runner and its memory. */
struct cf__runner {
    /* The fields that every wait uses are adjacent. */
    struct cf__suspended *suspended;
    uint8_t *states;
    uint32_t *ready; /* ring of the threads that are ready */
    uint32_t ring_mask, head, tail;
    void *next_sp;      /* stack pointer of the ring's first thread; NULL: unknown, no thread, or the running thread */
    uint32_t current;   /* number of the running thread */
    uint32_t in_active; /* number of lanes that wait in active() */
    uint32_t total;     /* number of threads of the resident blocks */
    uint32_t begun;     /* number of threads that have begun */
    int is_plain;       /* 1 if no sanitizer tracks fibers and the order is the natural one */

    uint32_t ended;     /* number of threads that have ended */
    uint32_t at_grid;   /* live threads that have arrived at the barrier of the launch or the cluster */
    uint8_t grid_phase; /* phase of that barrier, 0 or 1 */
    uint8_t *arrivals;  /* phase plus 1 for each thread that has arrived at that barrier without waiting yet, else 0 */
    uint32_t in_memory; /* number of threads that wait for barriers in memory */
    uint32_t block_threads, block_warps;
    struct cf__block *next_block; /* block of the thread that begins next */
    uint32_t next_thread;         /* number of that thread in its block */
    cf_dim3 next_index;           /* index of that thread */
    uint32_t fibers_used;
    uint32_t seed;            /* seed of the order of blocks and threads; 0: natural order */
    uint64_t random;          /* state of the generator that picks the next thread; 0: natural order */
    struct cf__fiber outside; /* the CPU thread's own stack */
    int has_failed;

    const cf_host_launch *launch;
    cf_host_thread *thread;
    void *closure;

    struct cf__stacks stacks;
    struct cf__block *blocks;                    /* the resident blocks */
    struct cf__warp *warps;                      /* warps of all resident blocks */
    struct cf__fiber *fibers;                    /* one fiber per stack */
    uint32_t *fiber_of;                          /* number of each thread's fiber */
    uint32_t block_room, warp_room, thread_room; /* capacities of the arrays, in elements */
    struct cf__waiter *waiters;                  /* one waiter per thread, for lists without ranges */
    struct cf__waiter_list waiter_lists[CF__WAITER_LISTS];
};

/* Suspends the running thread until another thread makes it ready. Returns the value that `result` points to then. */
uint64_t cf__runner_suspend(struct cf__runner *runner, const cf_host_where *where, const uint64_t *result);

/* A wait ends in a tail call, so that the stack of a suspended thread has no frame of the library except that of
 * cf__fiber_jump(): every cache line of a stack costs time. Code that needs a frame is in CF__NOINLINE functions. */
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

/* Ends an operation of the running thread, which has made the other threads ready. The thread continues at once, except
 * in the descending order: there, the last thread to arrive is the lowest and continues last. Returns the value that
 * `result` points to. */
uint64_t cf__runner_continue(struct cf__runner *runner, const cf_host_where *where, const uint64_t *result);

/* Suspends the running thread, which is in `block`. Lanes of its warp that were waiting in active() for this thread
 * alone get their results first. */
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

/* Runs the threads of the resident blocks, none of which has begun. */
void cf__runner_run(struct cf__runner *runner);

/* Returns the i-th of the numbers 0 to count - 1 in the order that the runner's seed gives; `key` selects a shuffled
 * order. */
uint64_t cf__runner_reorder(const struct cf__runner *runner, uint64_t i, uint64_t count, uint64_t key);

/* Switches to the CPU thread's own stack and abandons all CUDA threads. */
void cf__runner_abandon(struct cf__runner *runner) __attribute__((noreturn));

/* Fails the launch with a driver result and a text, and abandons the running thread. */
void cf__runner_fail(struct cf__runner *runner, CUresult result, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* Fails the launch like cf__runner_fail(). The text has the source location `where` and the index of the running thread
 * of `block`. */
void cf__runner_fail_thread(cf_host_block *block, int is_assert, const cf_host_where *where);

#endif
