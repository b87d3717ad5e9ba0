/* runner_cache.c - keeps idle runners with their memory for later launches. */
#include <stdint.h>
#include <stdlib.h>

#include "cpu/runner_cache.h"

#include "cpu/fiber.h"
#include "cpu/runner.h"

/* Only cooperative launches need runners with more threads than this, which are freed after the launch. */
#define CACHED_THREADS 16384

static struct cf__runner *idle_runners[256]; /* idle runners; atomic */

void cf__runner_free(struct cf__runner *runner)
{
    cf__stacks_free(&runner->stacks);
    free(runner->blocks);
    free(runner->warps);
    free(runner->suspended);
    free(runner->fibers);
    free(runner->fiber_of);
    free(runner->states);
    free(runner->arrivals);
    free(runner->ready);
    free(runner->waiters);
    free(runner);
}

struct cf__runner *cf__runner_take(void)
{
    for (size_t i = 0; i < sizeof idle_runners / sizeof *idle_runners; i++) {
        struct cf__runner *runner = __atomic_load_n(&idle_runners[i], __ATOMIC_RELAXED);
        if (runner && (runner = __atomic_exchange_n(&idle_runners[i], NULL, __ATOMIC_ACQUIRE)) != NULL)
            return runner;
    }
    return calloc(1, sizeof(struct cf__runner));
}

void cf__runner_give(struct cf__runner *runner)
{
    const size_t slots = runner->thread_room > CACHED_THREADS ? 0 : sizeof idle_runners / sizeof *idle_runners;
    for (size_t i = 0; i < slots; i++) {
        struct cf__runner *none = NULL;
        if (__atomic_compare_exchange_n(&idle_runners[i], &none, runner, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
    cf__runner_free(runner);
}

void cf__runners_free(void)
{
    for (size_t i = 0; i < sizeof idle_runners / sizeof *idle_runners; i++) {
        struct cf__runner *runner = __atomic_exchange_n(&idle_runners[i], NULL, __ATOMIC_ACQUIRE);
        if (runner)
            cf__runner_free(runner);
    }
}

/* Replaces an array by a larger one that is all zero, and discards its content. */
static void *renew_array(void *array, size_t count, size_t size)
{
    free(array);
    return calloc(count, size);
}

int cf__runner_reserve(struct cf__runner *runner, uint64_t blocks)
{
    uint64_t threads = blocks * runner->block_threads, warps = blocks * runner->block_warps;
    if (blocks > UINT32_MAX / 2 || threads > UINT32_MAX / 2)
        return 0;
    if (threads > runner->thread_room) {
        uint32_t ring = 1;
        while (ring < threads)
            ring *= 2;
        runner->thread_room = (uint32_t)threads;
        runner->ring_mask = ring - 1;
        runner->ready = renew_array(runner->ready, ring, sizeof *runner->ready);
        runner->states = renew_array(runner->states, threads, sizeof *runner->states);
        runner->arrivals = renew_array(runner->arrivals, threads, sizeof *runner->arrivals);
        runner->suspended = renew_array(runner->suspended, threads, sizeof *runner->suspended);
        runner->fibers = renew_array(runner->fibers, threads, sizeof *runner->fibers);
        runner->fiber_of = renew_array(runner->fiber_of, threads, sizeof *runner->fiber_of);
        runner->waiters = renew_array(runner->waiters, threads, sizeof *runner->waiters);
    }
    if (blocks > runner->block_room) {
        runner->block_room = (uint32_t)blocks;
        runner->blocks = renew_array(runner->blocks, blocks, sizeof *runner->blocks);
    }
    if (warps > runner->warp_room) {
        runner->warp_room = (uint32_t)warps;
        runner->warps = renew_array(runner->warps, warps, sizeof *runner->warps);
    }
    return runner->ready && runner->states && runner->arrivals && runner->suspended && runner->fibers &&
           runner->fiber_of && runner->waiters && runner->blocks && runner->warps &&
           cf__stacks_reserve(&runner->stacks, threads);
}
