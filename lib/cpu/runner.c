/* runner.c - CUDA threads take turns on one CPU thread: each waiting thread has a stack.
 *
 * A fiber runs one CUDA thread after another. If a thread has to wait, it keeps the fiber's stack, and a new fiber
 * begins the next threads. A thread that never waits needs no stack of its own. All threads of a block run on the same
 * CPU thread. */
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>

#include "cpu/runner.h"

#include "base/env.h"
#include "base/text.h"
#include "driver/driver.h"
#include "cpu/barrier.h"
#include "cpu/block_sync.h"
#include "cpu/fiber.h"
#include "cpu/schedule.h"
#include "cpu/team.h"
#include "cpu/warp.h"

/* ---- Failing ---- */

void cf__runner_abandon(struct cf__runner *runner)
{
    runner->has_failed = 1;
    cf__fiber_leave(&runner->fibers[runner->fiber_of[runner->current]], &runner->outside);
    __builtin_unreachable();
}

void cf__runner_fail(struct cf__runner *runner, CUresult result, const char *format, ...)
{
    char text[480];
    va_list values;
    va_start(values, format);
    cf__vformat(text, sizeof text, format, values);
    va_end(values);
    cf__cpu_note_failure(runner->launch, result, text);
    cf__runner_abandon(runner);
}

void cf__runner_fail_thread(cf_host_block *head, int is_assert, const cf_host_where *where)
{
    const struct cf__block *block = (const struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    cf_dim3 thread, own = head->index;
    cf__runner_thread_index(runner, runner->current - block->first, &thread);
    if (runner->launch->is_turned) {
        thread = (cf_dim3){thread.y, thread.x, thread.z};
        own = (cf_dim3){own.y, own.x, own.z};
    }
    cf__runner_fail(runner, is_assert ? CUDA_ERROR_ASSERT : CUDA_ERROR_LAUNCH_FAILED,
                    "%s:%d: thread (%u, %u, %u) of block (%u, %u, %u): %s", where->file, where->line, thread.x,
                    thread.y, thread.z, own.x, own.y, own.z, where->what);
}

/* ---- Waiting ---- */

static void run_threads(void *data);

/* Creates a fiber for the threads that have not begun. */
static struct cf__fiber *create_fiber(struct cf__runner *runner)
{
    uint32_t number = runner->fibers_used++;
    cf__fiber_create(&runner->fibers[number], &runner->stacks, number, run_threads, runner);
    return &runner->fibers[number];
}

/* Chooses the next thread. Returns 1 if that thread has not begun, and 0 if it is at the head of the ring. In a
 * shuffled order, a random thread is moved to the head. If no thread is ready, waits for barriers in memory. */
static int choose_next(struct cf__runner *runner)
{
    uint32_t fresh = runner->begun < runner->total;
    if (!fresh && runner->tail == runner->head)
        cf__barriers_wait_ready(runner);
    uint32_t woken = runner->tail - runner->head;
    if (!runner->random || !woken)
        return !woken;
    runner->random = runner->random * 6364136223846793005u + 1442695040888963407u;
    uint32_t pick = (uint32_t)(runner->random >> 33) % (woken + fresh);
    if (pick == woken)
        return 1;
    uint32_t *first = &runner->ready[runner->head & runner->ring_mask];
    uint32_t *picked = &runner->ready[(runner->head + pick) & runner->ring_mask];
    uint32_t thread = *picked;
    *picked = *first;
    *first = thread;
    return 0;
}

static struct cf__fiber *take_next_fiber(struct cf__runner *runner)
{
    if (choose_next(runner))
        return create_fiber(runner);
    runner->current = runner->ready[runner->head++ & runner->ring_mask];
    return &runner->fibers[runner->fiber_of[runner->current]];
}

/* Approximate number of cache lines of its stack that a resumed thread uses first. */
#define FETCHED 4

/* Makes the first ready thread the running thread, and looks up the stack pointer of the next one. If there is no next
 * one, the ring's slot has the number of an earlier thread, whose stack is only prefetched. */
static inline void advance_ring(struct cf__runner *runner)
{
    const uint32_t *ready = runner->ready, mask = runner->ring_mask;
    runner->current = ready[runner->head++ & mask];
    void *later = runner->suspended[ready[runner->head & mask]].sp;
    runner->next_sp = runner->head == runner->tail ? NULL : later;
    /* Stacks that are used in turn fall out of the nearest cache, so prefetch the next one while this thread runs. The
     * loop is inline because gcc drops a call of a function that only prefetches. */
    for (int line = 0; line < FETCHED; line++)
        __builtin_prefetch((void *)((uintptr_t)later + (uintptr_t)line * 64), 1);
}

/* Makes the next ready thread the running thread, and returns its stack pointer; for runs without a sanitizer. */
static void *take_next_stack(struct cf__runner *runner, int is_fresh)
{
    if (is_fresh || runner->head == runner->tail) {
        if (runner->begun < runner->total)
            return create_fiber(runner)->sp;
        cf__barriers_wait_ready(runner);
    }
    void *sp = runner->suspended[runner->ready[runner->head & runner->ring_mask]].sp;
    advance_ring(runner);
    return sp;
}

/* Suspends the running thread where the next thread is not yet known or has not begun. */
static CF__NOINLINE uint64_t suspend_slowly(struct cf__runner *runner, const uint64_t *result, int is_fresh)
{
    const uint32_t thread = runner->current;
    if (runner->is_plain) {
        void *sp = take_next_stack(runner, is_fresh);
        return sp ? cf__fiber_jump(&runner->suspended[thread].sp, sp, result)
                  : *result; /* sp is NULL if the thread resumes itself */
    }
    struct cf__fiber *own = &runner->fibers[runner->fiber_of[thread]];
    struct cf__fiber *other = is_fresh ? create_fiber(runner) : take_next_fiber(runner);
    if (other != own)
        cf__fiber_switch(own, other);
    return *result;
}

/* Suspends the running thread. `is_fresh` means that a thread that has not begun has to run next. */
static inline uint64_t suspend_thread(struct cf__runner *runner, const cf_host_where *where, const uint64_t *result,
                                      int is_fresh)
{
    struct cf__suspended *own = &runner->suspended[runner->current];
    void *sp = runner->next_sp;
    own->where = where;
    /* A stack pointer of NULL marks the running thread, which may already be in the ring. cf__fiber_jump() stores the
     * stack pointer when the thread leaves. advance_ring() and take_next_stack() rely on the mark. */
    own->sp = NULL;
    if (!sp || is_fresh)
        return suspend_slowly(runner, result, is_fresh);
    advance_ring(runner);
    return cf__fiber_jump(&own->sp, sp, result);
}

uint64_t cf__runner_suspend(struct cf__runner *runner, const cf_host_where *where, const uint64_t *result)
{
    return suspend_thread(runner, where, result, 0);
}

uint64_t cf__runner_continue(struct cf__runner *runner, const cf_host_where *where, const uint64_t *result)
{
    if (runner->seed != CF__ORDER_REVERSE)
        return *result;
    cf__runner_add_ready(runner, runner->current);
    return cf__runner_suspend(runner, where, result);
}

CF__NOINLINE uint64_t cf__runner_settle_and_wait(struct cf__block *block, const cf_host_where *where,
                                                 const uint64_t *result)
{
    cf__warp_settle_current(block);
    return cf__runner_suspend(block->runner, where, result);
}

/* Lets other threads run, because the running thread may be polling for a write by a thread that has not begun or that
 * runs on another CPU thread. After a failure, abandons the block: that write may never come. */
void cf__runner_yield(cf_host_block *head)
{
    static const cf_host_where nowhere = {"__nanosleep()", "", 0};
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    if (cf__cpu_has_failed(runner->launch))
        cf__runner_abandon(runner);
    runner->states[runner->current] = CF__THREAD_YIELD;
    if (runner->in_active)
        cf__warp_settle_current(block);
    cf__barriers_poll(runner);
    if (runner->head != runner->tail || runner->begun < runner->total) {
        cf__runner_add_ready(runner, runner->current);
        suspend_thread(runner, &nowhere, &cf__fiber_nothing, runner->begun < runner->total);
    } else {
        sched_yield();
    }
    runner->states[runner->current] = CF__THREAD_READY;
}

/* ---- Running ---- */

/* Ends the running thread; other threads may have been waiting for it. */
static void end_thread(struct cf__runner *runner, struct cf__block *block)
{
    uint32_t thread = runner->current - block->first;
    struct cf__warp *warp = &block->warps[thread / 32];
    runner->states[runner->current] = CF__THREAD_ENDED;
    runner->ended++;
    block->alive--;
    warp->ended |= 1u << thread % 32;
    if (block->arrived || runner->at_grid)
        cf__block_sync_end(block);
    if (warp->in_operation || warp->in_active)
        cf__warp_settle_current(block);
}

uint64_t cf__runner_reorder(const struct cf__runner *runner, uint64_t i, uint64_t count, uint64_t key)
{
    return runner->seed == CF__ORDER_REVERSE ? count - 1 - i : cf__schedule_shuffle(i, count, key);
}

/* Begins the next thread, in the natural or another order of blocks and threads. Returns its block. */
static struct cf__block *begin_thread(struct cf__runner *runner, cf_dim3 *index)
{
    const cf_dim3 size = runner->launch->block;
    struct cf__block *block = runner->next_block;
    uint32_t thread = runner->next_thread++;
    *index = runner->next_index;
    if (++runner->next_index.x == size.x) {
        runner->next_index.x = 0;
        if (++runner->next_index.y == size.y) {
            runner->next_index.y = 0;
            runner->next_index.z++;
        }
    }
    runner->begun++;
    if (runner->next_thread == runner->block_threads) {
        runner->next_block += runner->seed == CF__ORDER_REVERSE ? -1 : 1;
        runner->next_thread = 0;
        runner->next_index = (cf_dim3){0, 0, 0};
    }
    if (runner->seed) {
        thread = (uint32_t)cf__runner_reorder(runner, thread, runner->block_threads, block->key);
        cf__runner_thread_index(runner, thread, index);
    }
    runner->current = block->first + thread;
    return block;
}

/* Entry function of a fiber: begins threads while any are left. A thread may have to wait; after it has ended, the
 * fiber begins further threads. */
static void run_threads(void *data)
{
    struct cf__runner *runner = data;
    uint32_t number = runner->fibers_used - 1;
    cf__fiber_begun();
    do {
        cf_dim3 index;
        struct cf__block *block = begin_thread(runner, &index);
        runner->fiber_of[runner->current] = number;
        runner->thread(runner->closure, &block->head, index);
        end_thread(runner, block);
    } while (runner->begun < runner->total && (!runner->random || choose_next(runner)));
    struct cf__fiber *own = &runner->fibers[number];
    if (runner->ended == runner->total)
        cf__fiber_leave(own, &runner->outside);
    else if (runner->is_plain)
        cf__fiber_jump(&own->sp, take_next_stack(runner, 0), &cf__fiber_nothing);
    else
        cf__fiber_leave(own, take_next_fiber(runner));
    __builtin_unreachable();
}

void cf__runner_run(struct cf__runner *runner)
{
    cf__fiber_switch(&runner->outside, create_fiber(runner));
}
