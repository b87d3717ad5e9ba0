/* block.c - blocks whose threads wait for one another, on the CPU: each waiting thread has a stack.
 *
 * A fiber runs threads one after the other until one of them has to wait. That thread keeps the fiber's stack, and a
 * new fiber begins the next threads. A thread that never waits needs no stack of its own. All threads of a block run on
 * one CPU thread. */
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/registry.h>

#include "cpu/block.h"

#include "base/text.h"
#include "driver/driver.h"
#include "cpu/barrier.h"
#include "cpu/fiber.h"
#include "cpu/schedule.h"
#include "cpu/team.h"
#include "cpu/warp.h"

/* loop/loop.cuh and groups/large_tiles.cuh of include/cuferry/cpu have these limits as numbers. */
_Static_assert(CF_BLOCK_SIZE == 1024, "limit of threads in a block");
_Static_assert(sizeof((cf_host_block *)NULL)->tiles / sizeof(uint64_t) == CF_BLOCK_SIZE / 32,
               "barriers of large tiles");

/* ---- Failing ---- */

/* Returns to the CPU thread's own stack; all CUDA threads stay where they are. */
__attribute__((noreturn)) static void abandon_launch(struct cf__runner *runner)
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
    abandon_launch(runner);
}

static void fail_thread(cf_host_block *head, int is_assert, const cf_host_where *where)
{
    const struct cf__block *block = (const struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    cf_dim3 thread;
    cf__runner_thread_index(runner, runner->current - block->first, &thread);
    cf__runner_fail(runner, is_assert ? CUDA_ERROR_ASSERT : CUDA_ERROR_LAUNCH_FAILED,
                    "%s:%d: thread (%u, %u, %u) of block (%u, %u, %u): %s", where->file, where->line, thread.x,
                    thread.y, thread.z, head->index.x, head->index.y, head->index.z, where->what);
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

/* Chooses between a thread that has not begun (1) and the first ready thread (0). In a shuffled order, it picks at
 * random and moves a picked ready thread to the head of the ring. */
static int is_fresh_next(struct cf__runner *runner)
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
    if (is_fresh_next(runner))
        return create_fiber(runner);
    runner->current = runner->ready[runner->head++ & runner->ring_mask];
    return &runner->fibers[runner->fiber_of[runner->current]];
}

/* Cache lines of its stack that a thread uses first when it resumes, roughly. */
#define FETCHED 4

/* Makes the first ready thread the running thread, and looks up the stack pointer of the next ready thread. After the
 * last ready thread, the ring holds an old number, which is only prefetched. */
static inline void advance_ring(struct cf__runner *runner)
{
    const uint32_t *ready = runner->ready, mask = runner->ring_mask;
    runner->current = ready[runner->head++ & mask];
    void *later = runner->suspended[ready[runner->head & mask]].sp;
    runner->next_sp = runner->head == runner->tail ? NULL : later;
    /* Stacks in use by turns fall out of the nearest cache: prefetch the next one while this thread runs. The loop is
     * here because gcc would drop a call of a function that only prefetches. */
    for (int line = 0; line < FETCHED; line++)
        __builtin_prefetch((void *)((uintptr_t)later + (uintptr_t)line * 64), 1);
}

/* The stack pointer of the next thread to run, which becomes the running thread; without a sanitizer. */
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

/* Suspends the running thread when the next thread has to be looked up or begun. */
static CF__NOINLINE uint64_t suspend_slowly(struct cf__runner *runner, const uint64_t *result, int is_fresh)
{
    const uint32_t thread = runner->current;
    if (runner->is_plain) {
        void *sp = take_next_stack(runner, is_fresh);
        return sp ? cf__fiber_jump(&runner->suspended[thread].sp, sp, result) : *result; /* NULL: it resumes itself */
    }
    struct cf__fiber *own = &runner->fibers[runner->fiber_of[thread]];
    struct cf__fiber *other = is_fresh ? create_fiber(runner) : take_next_fiber(runner);
    if (other != own)
        cf__fiber_switch(own, other);
    return *result;
}

/* Suspends the running thread. `is_fresh`: a thread that has not begun has to run next. */
static inline uint64_t suspend_thread(struct cf__runner *runner, const cf_host_where *where, const uint64_t *result,
                                      int is_fresh)
{
    struct cf__suspended *own = &runner->suspended[runner->current];
    void *sp = runner->next_sp;
    own->where = where;
    /* NULL marks the running thread, which may be in the ring already: cf__fiber_jump() stores its stack pointer only
     * as it leaves. advance_ring() and take_next_stack() rely on the mark. */
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

/* Makes the threads of a block ready, all of which have arrived at its barrier or ended. */
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
    for (uint32_t i = 0; i < runner->block_threads; i++) {
        const uint32_t thread = runner->seed == CF__ORDER_REVERSE ? end - 1 - i : begin + i;
        if (runner->states[thread] == CF__THREAD_BARRIER) {
            runner->states[thread] = CF__THREAD_READY;
            cf__runner_add_ready(runner, thread);
        }
    }
}

static CF__NOINLINE uint64_t arrive_last(struct cf__block *block, const cf_host_where *where, const uint64_t *result)
{
    open_barrier(block);
    return cf__runner_continue(block->runner, where, result);
}

CF__NOINLINE uint64_t cf__block_settle_and_wait(struct cf__block *block, const cf_host_where *where,
                                                const uint64_t *result)
{
    cf__warp_settle_current(block);
    return cf__runner_suspend(block->runner, where, result);
}

static uint64_t wait_for_block(cf_host_block *head, cf_host_vote vote, int value, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    const uint64_t *result = &block->results[vote];
    block->count += value != 0;
    if (++block->arrived == block->alive)
        return arrive_last(block, where, result);
    runner->states[runner->current] = CF__THREAD_BARRIER;
    return cf__block_wait(block, where, result);
}

/* Waits until the other CPU threads reach the grid's barrier, too, then makes the runner's threads ready. */
static void open_grid(struct cf__runner *runner)
{
    if (!cf__team_wait(runner->launch))
        abandon_launch(runner);
    runner->at_grid = 0;
    for (uint32_t i = 0; i < runner->total; i++)
        if (runner->states[i] == CF__THREAD_GRID) {
            runner->states[i] = CF__THREAD_READY;
            cf__runner_add_ready(runner, i);
        }
}

static void wait_for_all(struct cf__block *block, const cf_host_where *where)
{
    struct cf__runner *runner = block->runner;
    if (++runner->at_grid == runner->total - runner->ended) {
        open_grid(runner);
    } else {
        runner->states[runner->current] = CF__THREAD_GRID;
        cf__block_wait(block, where, &cf__fiber_nothing);
    }
}

/* The blocks of one cluster are all that are resident. */
static void wait_for_cluster(cf_host_block *head, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    if (block->runner->launch->is_cooperative)
        fail_thread(head, 0, &(cf_host_where){"a cluster's sync() in a cooperative kernel", where->file, where->line});
    else
        wait_for_all(block, where);
}

static cf_host_block *find_peer(cf_host_block *head, uint32_t rank)
{
    struct cf__runner *runner = ((struct cf__block *)head)->runner;
    const cf_dim3 cluster = runner->launch->cluster;
    const uint32_t blocks = cluster.x * cluster.y * cluster.z;
    return blocks > 1 && rank < blocks ? &runner->blocks[rank].head : head;
}

static void wait_for_grid(cf_host_block *head, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    if (!runner->launch->is_cooperative) {
        fail_thread(head, 0,
                    &(cf_host_where){"grid.sync() in a kernel that is not cooperative", where->file, where->line});
    } else {
        wait_for_all(block, where);
    }
}

/* The running thread may poll for a write by a thread that has not begun or is on another CPU thread. After a failure,
 * that write may never come. */
static void yield_thread(cf_host_block *head)
{
    static const cf_host_where nowhere = {"__nanosleep()", "", 0};
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    if (cf__cpu_has_failed(runner->launch))
        abandon_launch(runner);
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

/* Other threads may have waited for the thread that ends. */
static void end_thread(struct cf__runner *runner, struct cf__block *block)
{
    uint32_t thread = runner->current - block->first;
    struct cf__warp *warp = &block->warps[thread / 32];
    runner->states[runner->current] = CF__THREAD_ENDED;
    runner->ended++;
    block->alive--;
    warp->ended |= 1u << thread % 32;
    if (block->arrived && block->arrived == block->alive)
        open_barrier(block);
    if (runner->at_grid && runner->at_grid == runner->total - runner->ended)
        open_grid(runner);
    if (warp->in_operation || warp->in_active)
        cf__warp_settle_current(block);
}

static uint64_t reorder(const struct cf__runner *runner, uint64_t i, uint64_t count, uint64_t key)
{
    return runner->seed == CF__ORDER_REVERSE ? count - 1 - i : cf__schedule_shuffle(i, count, key);
}

/* Begins the next thread: blocks and their threads begin in the natural order or another. Returns its block. */
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
        runner->next_block++;
        runner->next_thread = 0;
        runner->next_index = (cf_dim3){0, 0, 0};
    }
    if (runner->seed) {
        thread = (uint32_t)reorder(runner, thread, runner->block_threads, block->key);
        cf__runner_thread_index(runner, thread, index);
    }
    runner->current = block->first + thread;
    return block;
}

/* Entry of a fiber: begins threads while any are left. After a thread that had to wait, it continues with further
 * threads. */
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
    } while (runner->begun < runner->total && (!runner->random || is_fresh_next(runner)));
    struct cf__fiber *own = &runner->fibers[number];
    if (runner->ended == runner->total)
        cf__fiber_leave(own, &runner->outside);
    else if (runner->is_plain)
        cf__fiber_jump(&own->sp, take_next_stack(runner, 0), &cf__fiber_nothing);
    else
        cf__fiber_leave(own, take_next_fiber(runner));
    __builtin_unreachable();
}

static void free_shared(struct cf__block *block)
{
    for (uint32_t i = 0; i < block->head.shared_count; i++)
        free(block->head.shared[i].memory);
    free((void *)(uintptr_t)block->head.shared);
    free(block->head.dynamic);
    block->head.shared = NULL;
    block->head.dynamic = NULL;
    block->head.shared_count = block->shared_room = 0;
}

/* Each variable has an allocation of its exact size, so that memory checkers see accesses outside. The next block that
 * runs in this slot reuses it. */
static void *get_shared(cf_host_block *head, const cf_host_shape *key, size_t bytes, size_t align)
{
    struct cf__block *block = (struct cf__block *)head;
    for (uint32_t i = 0; i < head->shared_count; i++)
        if (head->shared[i].key == key)
            return head->shared[i].memory;
    if (head->shared_count == block->shared_room) {
        uint32_t room = block->shared_room ? 2 * block->shared_room : 4;
        void *array = realloc((void *)(uintptr_t)head->shared, room * sizeof *head->shared);
        if (!array)
            cf__runner_fail(block->runner, CUDA_ERROR_OUT_OF_MEMORY, "no memory for shared variables");
        head->shared = array;
        block->shared_room = room;
    }
    void *memory;
    if (posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, bytes) != 0)
        cf__runner_fail(block->runner, CUDA_ERROR_OUT_OF_MEMORY, "no memory for a shared variable of %zu bytes", bytes);
    ((cf_host_shared *)(uintptr_t)head->shared)[head->shared_count++] = (cf_host_shared){key, memory, bytes};
    return memory;
}

/* ---- Runners ---- */

/* Only cooperative launches need runners with more threads; these are freed after the launch. */
#define CACHED_THREADS 16384

static struct cf__runner *idle_runners[256]; /* atomic */

static void free_runner(struct cf__runner *runner)
{
    cf__stacks_free(&runner->stacks);
    free(runner->blocks);
    free(runner->warps);
    free(runner->suspended);
    free(runner->fibers);
    free(runner->fiber_of);
    free(runner->states);
    free(runner->ready);
    free(runner->waiters);
    free(runner);
}

static struct cf__runner *take_runner(void)
{
    for (size_t i = 0; i < sizeof idle_runners / sizeof *idle_runners; i++) {
        struct cf__runner *runner = __atomic_load_n(&idle_runners[i], __ATOMIC_RELAXED);
        if (runner && (runner = __atomic_exchange_n(&idle_runners[i], NULL, __ATOMIC_ACQUIRE)) != NULL)
            return runner;
    }
    return calloc(1, sizeof(struct cf__runner));
}

static void give_runner(struct cf__runner *runner)
{
    for (size_t i = 0; i < sizeof idle_runners / sizeof *idle_runners; i++) {
        struct cf__runner *none = NULL;
        if (__atomic_compare_exchange_n(&idle_runners[i], &none, runner, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
    free_runner(runner);
}

void cf__runners_free(void)
{
    for (size_t i = 0; i < sizeof idle_runners / sizeof *idle_runners; i++) {
        struct cf__runner *runner = __atomic_exchange_n(&idle_runners[i], NULL, __ATOMIC_ACQUIRE);
        if (runner)
            free_runner(runner);
    }
}

/* Replaces an array by a larger one of zeros; its content is lost. */
static void *renew_array(void *array, size_t count, size_t size)
{
    free(array);
    return calloc(count, size);
}

/* Makes room for `blocks` resident blocks. Returns 0 if there is no memory: the runner can only be freed then. */
static int reserve_threads(struct cf__runner *runner, uint64_t blocks)
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
    return runner->ready && runner->states && runner->suspended && runner->fibers && runner->fiber_of &&
           runner->waiters && runner->blocks && runner->warps && cf__stacks_reserve(&runner->stacks, threads);
}

/* Sets a slot to block `number` of the launch. The slot keeps its shared memory. */
static void place_block(struct cf__runner *runner, uint32_t scope, uint64_t number)
{
    const cf_dim3 each = runner->launch->cluster, blocks = runner->launch->grid;
    const cf_dim3 grid = {blocks.x / each.x, blocks.y / each.y, blocks.z / each.z}; /* of clusters */
    const uint32_t threads = runner->block_threads, all = each.x * each.y * each.z, rank = (uint32_t)(number % all);
    struct cf__block *block = &runner->blocks[scope];
    number /= all;
    if (runner->seed) {
        number = reorder(runner, number, (uint64_t)grid.x * grid.y * grid.z, runner->seed);
        block->key = (number * all + rank) << 32 | runner->seed;
    }
    block->head.index = (cf_dim3){(uint32_t)(number % grid.x) * each.x + rank % each.x,
                                  (uint32_t)(number / grid.x % grid.y) * each.y + rank / each.x % each.y,
                                  (uint32_t)(number / grid.x / grid.y) * each.z + rank / each.x / each.y};
    block->first = scope * threads;
    block->alive = threads;
    block->arrived = 0;
    block->count = 0;
    block->warps = &runner->warps[(size_t)scope * runner->block_warps];
    for (uint32_t w = 0; w < runner->block_warps; w++) {
        uint32_t rest = threads - 32 * w;
        struct cf__warp *warp = &block->warps[w];
        warp->lanes = rest < 32 ? (1u << rest) - 1 : ~0u;
        warp->ended = warp->in_operation = warp->in_active = warp->group_mask = 0;
    }
}

static void place_blocks(struct cf__runner *runner, uint64_t begin, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        place_block(runner, i, begin + i);
    runner->total = count * runner->block_threads;
    memset(runner->states, CF__THREAD_READY, runner->total);
    runner->begun = runner->ended = runner->at_grid = runner->in_memory = runner->in_active = 0;
    runner->head = runner->tail = 0;
    runner->next_sp = NULL;
    runner->next_block = runner->blocks;
    runner->next_thread = 0;
    runner->next_index = (cf_dim3){0, 0, 0};
    runner->fibers_used = 0;
    const int is_random = runner->seed != CF__ORDER_NATURAL && runner->seed != CF__ORDER_REVERSE;
    runner->random = is_random ? cf__schedule_shuffle(begin, UINT64_MAX, runner->seed) | 1 : 0;
}

static int set_up_runner(struct cf__runner *runner, uint64_t resident)
{
    const cf_host_launch *launch = runner->launch;
    runner->block_threads = launch->block.x * launch->block.y * launch->block.z;
    runner->block_warps = (runner->block_threads + 31) / 32;
    if (!reserve_threads(runner, resident))
        return 0;
    memset(runner->blocks, 0, resident * sizeof *runner->blocks);
    int is_complete = 1;
    for (uint64_t i = 0; i < resident; i++) {
        struct cf__block *block = &runner->blocks[i];
        block->head.ops = launch->ops;
        block->head.launch = launch;
        block->runner = runner;
        is_complete &= posix_memalign(&block->head.dynamic, 128, launch->shared ? launch->shared : 1) == 0;
    }
    for (uint64_t i = 0; i < resident && !is_complete; i++)
        free_shared(&runner->blocks[i]);
    return is_complete;
}

static void check_stacks(struct cf__runner *runner)
{
    for (uint32_t i = 0; cf__fiber_is_watched && i < runner->fibers_used; i++)
        cf__fiber_end(&runner->fibers[i]);
    size_t overrun = cf__stacks_overrun(&runner->stacks, runner->fibers_used);
    if (overrun == SIZE_MAX)
        return;
    cf__stacks_free(&runner->stacks);
    runner->has_failed = 1;
    cf__cpu_note_failure(runner->launch, CUDA_ERROR_LAUNCH_FAILED,
                         "a thread needs more than the 640 KiB that a stack has on the CPU");
}

static void run_blocks(struct cf__runner *runner, uint64_t begin, uint64_t end, uint32_t resident)
{
    const cf_host_launch *launch = runner->launch;
    for (uint64_t b = begin; b < end && !runner->has_failed && !cf__cpu_has_failed(launch); b += resident) {
        place_blocks(runner, b, resident);
        cf__fiber_switch(&runner->outside, create_fiber(runner));
        check_stacks(runner);
    }
    for (uint32_t i = 0; cf__fiber_is_watched && i < runner->thread_room; i++)
        cf__fiber_forget(&runner->fibers[i]);
}

static void run_launch(const cf_host_launch *launch, uint64_t begin, uint64_t end, cf_host_thread *thread,
                       void *closure)
{
    struct cf__runner *runner = take_runner();
    const cf_dim3 cluster = launch->cluster;
    uint64_t resident = launch->is_cooperative ? end - begin : (uint64_t)cluster.x * cluster.y * cluster.z;
    if (runner) {
        cf__fiber_detect_sanitizers();
        runner->launch = launch;
        runner->thread = thread;
        runner->closure = closure;
        runner->has_failed = 0;
        memset(runner->waiter_lists, 0, sizeof runner->waiter_lists); /* a failed launch leaves threads there */
        runner->seed = ((const struct cf__cpu_launch *)launch->run)->seed;
        runner->is_plain = !runner->seed && !cf__fiber_is_watched;
    }
    if (!runner || !set_up_runner(runner, resident)) {
        cf__cpu_note_failure(launch, CUDA_ERROR_OUT_OF_MEMORY, "no memory for the threads of a block");
        if (runner)
            free_runner(runner);
        return;
    }
    run_blocks(runner, begin, end, (uint32_t)resident);
    for (uint64_t i = 0; i < resident; i++)
        free_shared(&runner->blocks[i]);
    if (runner->thread_room > CACHED_THREADS)
        free_runner(runner);
    else
        give_runner(runner);
}

const cf_host_ops cf__block_ops = {
    .run = run_launch,
    .barrier = wait_for_block,
    .warp = cf__warp_exchange,
    .active = cf__warp_active,
    .grid = wait_for_grid,
    .yield = yield_thread,
    .shared = get_shared,
    .fail = fail_thread,
    .wait = cf__barrier_wait,
    .wake = cf__barrier_wake,
    .cluster = wait_for_cluster,
    .peer = find_peer,
};
