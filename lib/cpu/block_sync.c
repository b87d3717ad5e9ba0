/* block_sync.c - waits for all threads of a block, a cluster or a grid, on the CPU. */
#include <stdint.h>
#include <string.h>

#include "cpu/block_sync.h"

#include "cpu/fiber.h"
#include "cpu/runner.h"
#include "cpu/team.h"

/* Makes those of the `count` threads from `begin` on ready that are in `state`, in the order of the launch. */
static void release_threads(struct cf__runner *runner, uint32_t begin, uint32_t count, enum cf__thread_state state)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t thread = begin + (runner->seed == CF__ORDER_REVERSE ? count - 1 - i : i);
        if (runner->states[thread] == state) {
            runner->states[thread] = CF__THREAD_READY;
            cf__runner_add_ready(runner, thread);
        }
    }
}

/* Opens the barrier of a block whose threads have all arrived or ended. */
static void open_barrier(struct cf__block *block)
{
    struct cf__runner *runner = block->runner;
    uint32_t begin = block->first, end = begin + runner->block_threads;
    block->results[CF_HOST_VOTE_COUNT] = (uint32_t)block->count;
    block->results[CF_HOST_VOTE_AND] = (uint32_t)block->count == block->arrived;
    block->results[CF_HOST_VOTE_OR] = block->count != 0;
    block->arrived = 0;
    block->count = 0;
    if (block->alive == runner->block_threads) {
        memset(runner->states + begin, CF__THREAD_READY, end - begin);
        cf__runner_add_ready_range(runner, begin, runner->current);
        cf__runner_add_ready_range(runner, runner->current + 1, end);
        return;
    }
    release_threads(runner, begin, runner->block_threads, CF__THREAD_BARRIER);
}

static CF__NOINLINE uint64_t arrive_last(struct cf__block *block, const cf_host_where *where, const uint64_t *result)
{
    open_barrier(block);
    return cf__runner_continue(block->runner, where, result);
}

uint64_t cf__block_sync(cf_host_block *head, cf_host_vote vote, int value, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    const uint64_t *result = &block->results[vote];
    block->count += value != 0;
    if (++block->arrived == block->alive)
        return arrive_last(block, where, result);
    runner->states[runner->current] = CF__THREAD_BARRIER;
    return cf__runner_wait(block, where, result);
}

/* Waits until the other CPU threads also reach the grid's barrier, then makes the runner's threads ready. */
static void open_grid(struct cf__runner *runner)
{
    if (!cf__team_wait(runner->launch))
        cf__runner_abandon(runner);
    runner->at_grid = 0;
    runner->grid_phase ^= 1;
    release_threads(runner, 0, runner->total, CF__THREAD_GRID);
}

/* Waits at the barrier of all resident threads, which are the threads of a cluster or of a cooperative launch. */
static void sync_all(struct cf__block *block, int steps, const cf_host_where *where)
{
    struct cf__runner *runner = block->runner;
    uint8_t *arrival = &runner->arrivals[runner->current];
    if (steps & CF_HOST_ARRIVE) {
        *arrival = 1 + runner->grid_phase;
        if (++runner->at_grid == runner->total - runner->ended)
            open_grid(runner);
    }
    if (steps & CF_HOST_WAIT) {
        const int is_open = *arrival != 1 + runner->grid_phase;
        *arrival = 0;
        if (is_open) {
            cf__runner_continue(runner, where, &cf__fiber_nothing);
            return;
        }
        runner->states[runner->current] = CF__THREAD_GRID;
        cf__runner_wait(block, where, &cf__fiber_nothing);
    }
}

void cf__block_sync_cluster(cf_host_block *head, int steps, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    const struct cf__runner *runner = block->runner;
    const char *mistake = NULL;
    if (runner->launch->is_cooperative)
        mistake = "a barrier of a cluster in a cooperative kernel: take grid.sync(), or remove `cooperative` from the "
                  "annotation";
    else if (steps & CF_HOST_ARRIVE && runner->arrivals[runner->current])
        mistake = "a thread arrives at its cluster's barrier again, without barrier_wait() after barrier_arrive()";
    else if (steps == CF_HOST_WAIT && !runner->arrivals[runner->current])
        mistake = "barrier_wait() of a cluster without barrier_arrive() before it: call barrier_arrive() first";
    if (mistake)
        cf__runner_fail_thread(head, 0, &(cf_host_where){mistake, where->file, where->line});
    else
        sync_all(block, steps, where);
}

void cf__block_sync_grid(cf_host_block *head, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    if (!block->runner->launch->is_cooperative)
        cf__runner_fail_thread(
            head, 0,
            &(cf_host_where){"grid.sync() in a kernel that is not cooperative: add `cooperative` to the annotation",
                             where->file, where->line});
    else
        sync_all(block, CF_HOST_ARRIVE | CF_HOST_WAIT, where);
}

void cf__block_sync_end(struct cf__block *block)
{
    struct cf__runner *runner = block->runner;
    if (block->arrived && block->arrived == block->alive)
        open_barrier(block);
    if (runner->arrivals[runner->current] == 1 + runner->grid_phase)
        runner->at_grid--;
    if (runner->at_grid && runner->at_grid == runner->total - runner->ended)
        open_grid(runner);
}
