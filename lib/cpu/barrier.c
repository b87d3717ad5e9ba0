/* barrier.c - barriers in a kernel's memory, on the CPU: waiting threads, and the report of a deadlock.
 *
 * Kernels change the word of a barrier themselves: see abi.h. The address of the word selects the list that holds the
 * threads waiting for the barrier's next phase. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cpu/barrier.h"

#include "driver/driver.h"
#include "cpu/runner.h"
#include "cpu/fiber.h"
#include "cpu/team.h"

/* ---- Waiting ---- */

static struct cf__waiter_list *find_list(struct cf__runner *runner, const uint64_t *word)
{
    return &runner->waiter_lists[(uintptr_t)word / sizeof *word % CF__WAITER_LISTS];
}

static void append_thread(struct cf__runner *runner, struct cf__waiter_list *list, uint32_t thread,
                          const uint64_t *word, uint32_t phase)
{
    runner->waiters[thread] = (struct cf__waiter){word, phase, 0};
    if (list->last)
        runner->waiters[list->last - 1].next = thread + 1;
    else
        list->first = thread + 1;
    list->last = thread + 1;
}

/* Replaces the list's ranges by a cf__waiter for each of their threads. */
static void split_ranges(struct cf__runner *runner, struct cf__waiter_list *list)
{
    const struct cf__waiter_list ranges = *list;
    if (!ranges.word)
        return;
    *list = (struct cf__waiter_list){.word = NULL};
    for (uint32_t i = 0; i < ranges.ranges; i++)
        for (uint32_t t = ranges.begin[i], end = i + 1 < ranges.ranges ? ranges.end : ranges.last; t < end; t++)
            append_thread(runner, list, t, ranges.word, ranges.phase);
}

/* Adds a thread that extends neither range of the list, because its number does not follow or its barrier or phase
 * differs. */
static void add_out_of_order(struct cf__runner *runner, struct cf__waiter_list *list, uint32_t thread,
                             const uint64_t *word, uint32_t phase)
{
    if (!list->last) {
        *list =
            (struct cf__waiter_list){.word = word, .phase = phase, .last = thread + 1, .begin = {thread}, .ranges = 1};
    } else if (list->word == word && list->phase == phase && list->ranges == 1) {
        list->end = list->last;
        list->begin[1] = thread;
        list->ranges = 2;
        list->last = thread + 1;
    } else {
        split_ranges(runner, list);
        append_thread(runner, list, thread, word, phase);
    }
}

static void release_range(struct cf__runner *runner, uint32_t begin, uint32_t end)
{
    runner->in_memory -= end - begin;
    memset(runner->states + begin, CF__THREAD_READY, end - begin);
    cf__runner_add_ready_range(runner, begin, end);
}

/* Makes those threads of a list ready whose barriers have entered another phase. */
static void release_list(struct cf__runner *runner, struct cf__waiter_list *list)
{
    uint32_t next = list->first;
    if (list->word) {
        if (__atomic_load_n(list->word, __ATOMIC_ACQUIRE) >> 63 == list->phase)
            return;
        if (list->ranges == 2)
            release_range(runner, list->begin[0], list->end);
        release_range(runner, list->begin[list->ranges - 1], list->last);
        list->word = NULL;
        list->last = 0;
        return;
    }
    list->first = list->last = 0;
    while (next) {
        uint32_t thread = next - 1;
        const struct cf__waiter *waiting = &runner->waiters[thread];
        next = waiting->next;
        if (__atomic_load_n(waiting->word, __ATOMIC_ACQUIRE) >> 63 == waiting->phase) {
            append_thread(runner, list, thread, waiting->word, waiting->phase);
        } else {
            runner->in_memory--;
            runner->states[thread] = CF__THREAD_READY;
            cf__runner_add_ready(runner, thread);
        }
    }
}

static void release_lists(struct cf__runner *runner)
{
    for (uint32_t i = 0; i < CF__WAITER_LISTS; i++)
        if (runner->waiter_lists[i].last)
            release_list(runner, &runner->waiter_lists[i]);
}

static inline void suspend_in_memory(struct cf__block *block, uint32_t own, const cf_host_where *where)
{
    block->runner->states[own] = CF__THREAD_MEMORY;
    block->runner->in_memory++;
    cf__runner_wait(block, where, &cf__fiber_nothing);
}

static CF__NOINLINE void wait_out_of_order(struct cf__block *block, struct cf__waiter_list *list, const uint64_t *word,
                                           uint32_t phase, const cf_host_where *where)
{
    const uint32_t own = block->runner->current;
    add_out_of_order(block->runner, list, own, word, phase);
    suspend_in_memory(block, own, where);
}

void cf__barrier_wait(cf_host_block *head, const uint64_t *word, uint64_t phase, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    struct cf__waiter_list *list = find_list(block->runner, word);
    const uint32_t own = block->runner->current, number = (uint32_t)(phase >> 63);
    if (list->word != word || list->phase != number || list->last != own) {
        wait_out_of_order(block, list, word, number, where);
        return;
    }
    list->last = own + 1;
    suspend_in_memory(block, own, where);
}

/* Returns 1 if a barrier is in the block's own shared memory, which no other block can access. */
static int is_of_block(const cf_host_block *head, const uint64_t *word)
{
    uintptr_t address = (uintptr_t)word;
    if (address - (uintptr_t)head->tiles < sizeof head->tiles ||
        address - (uintptr_t)head->dynamic < head->launch->shared)
        return 1;
    for (uint32_t i = 0; i < head->shared_count; i++)
        if (address - (uintptr_t)head->shared[i].memory < head->shared[i].bytes)
            return 1;
    return 0;
}

void cf__barrier_wake(cf_host_block *head, const uint64_t *word)
{
    struct cf__runner *runner = ((struct cf__block *)head)->runner;
    struct cf__waiter_list *list = find_list(runner, word);
    if (list->last)
        release_list(runner, list);
    if (cf__team_has_others(runner->launch) && !is_of_block(head, word))
        cf__team_notify(runner->launch);
}

/* ---- Deadlocks ---- */

/* Returns 1 if two threads wait at the same line, and for the same barrier if they wait for barriers in memory. */
static int is_same_wait(const struct cf__runner *runner, uint32_t i, uint32_t j)
{
    const cf_host_where *one = runner->suspended[i].where, *other = runner->suspended[j].where;
    if (runner->states[i] != runner->states[j] || one->line != other->line || one->what != other->what ||
        strcmp(one->file, other->file) != 0)
        return 0;
    return runner->states[i] != CF__THREAD_MEMORY || runner->waiters[i].word == runner->waiters[j].word;
}

/* Writes how many arrivals are missing at the barrier that a thread waits for, or an empty text if that is no barrier
 * in memory. */
static void format_lack(const struct cf__runner *runner, uint32_t thread, char *text, size_t size)
{
    *text = 0;
    if (runner->states[thread] != CF__THREAD_MEMORY)
        return;
    uint64_t word = __atomic_load_n(runner->waiters[thread].word, __ATOMIC_RELAXED);
    snprintf(text, size, " for %u more of %u arrivals", CF_HOST_MISSING(word), CF_HOST_EXPECTED(word));
}

/* Counts the threads that wait as `thread` does. Returns 0 unless `thread` is the first of them, so that the caller
 * counts each group once. */
static uint32_t count_waiting(const struct cf__runner *runner, uint32_t thread)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < runner->total; i++)
        if (runner->states[i] != CF__THREAD_ENDED && is_same_wait(runner, i, thread)) {
            if (i < thread)
                return 0;
            count++;
        }
    return count;
}

__attribute__((noreturn)) static void fail_at_deadlock(struct cf__runner *runner)
{
    char text[440] = "", lack[64];
    size_t used = 0;
    for (uint32_t i = 0; i < CF__WAITER_LISTS; i++)
        split_ranges(runner, &runner->waiter_lists[i]);
    for (uint32_t i = 0; i < runner->total && used < sizeof text; i++) {
        uint32_t count = runner->states[i] == CF__THREAD_ENDED ? 0 : count_waiting(runner, i);
        if (!count)
            continue;
        const cf_host_where *where = runner->suspended[i].where;
        cf_dim3 thread, block = runner->blocks[i / runner->block_threads].head.index;
        cf__runner_thread_index(runner, i % runner->block_threads, &thread);
        format_lack(runner, i, lack, sizeof lack);
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s%u of %u threads wait at %s in %s:%d%s, such as (%u, %u, %u) of block (%u, %u, %u)",
                                 used ? "; " : "", count, runner->total, where->what, where->file, where->line, lack,
                                 thread.x, thread.y, thread.z, block.x, block.y, block.z);
    }
    cf__runner_fail(runner, CUDA_ERROR_LAUNCH_FAILED, "threads wait for each other for ever: %s", text);
}

/* ---- Waiting for other CPU threads ---- */

void cf__barriers_poll(struct cf__runner *runner)
{
    if (runner->in_memory)
        release_lists(runner);
}

void cf__barriers_wait_ready(struct cf__runner *runner)
{
    const cf_host_launch *launch = runner->launch;
    for (;;) {
        uint32_t seen = cf__team_notified(launch);
        release_lists(runner);
        if (runner->head != runner->tail)
            return;
        if (runner->in_memory && cf__team_wait_notified(launch, seen))
            continue;
        if (cf__cpu_has_failed(launch))
            cf__runner_fail(runner, CUDA_ERROR_LAUNCH_FAILED, "another thread failed before");
        fail_at_deadlock(runner);
    }
}
