/* block.c - blocks whose threads wait for one another, on the CPU: a stack for each thread that waits.
 *
 * A fiber runs threads one after the other until one must wait: that stack is this thread's from then on, and a new fiber
 * goes on with the next. So a thread that never waits costs no stack, and none depends on which thread is first. All
 * threads of a block run on one thread of the CPU. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "internal.h"

/* ---- Failing ---- */

static void index_of(const struct cf__runner *runner, uint32_t thread, cf_dim3 *index)
{
    const cf_dim3 size = runner->launch->block;
    *index = (cf_dim3){thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

/* The first failure of a launch is the one that is told. */
static void note_failure(const cf_host_launch *launch, CUresult result, const char *text)
{
    struct cf__host_run *run = launch->run;
    if (__atomic_exchange_n(&run->has_failed, 1, __ATOMIC_ACQ_REL))
        return;
    run->result = result;
    snprintf(run->text, sizeof run->text, "%s", text);
}

void cf__launch_fail(struct cf__runner *runner, CUresult result, const char *format, ...)
{
    char text[480];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    note_failure(runner->launch, result, text);
    runner->has_failed = 1;
    cf__fiber_leave(runner->on, &runner->outside);
    __builtin_unreachable();
}

static void fail(cf_host_block *head, int is_assert, const cf_host_where *where)
{
    const struct cf__block *block = (const struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    cf_dim3 thread;
    index_of(runner, runner->current - block->first, &thread);
    cf__launch_fail(runner, is_assert ? CUDA_ERROR_ASSERT : CUDA_ERROR_LAUNCH_FAILED,
                    "%s:%d: thread (%u, %u, %u) of block (%u, %u, %u): %s", where->file, where->line, thread.x,
                    thread.y, thread.z, head->index.x, head->index.y, head->index.z, where->what);
}

/* Every thread that has not ended waits for another: says how many wait where, and one of each. */
static void fail_at_deadlock(struct cf__runner *runner)
{
    char text[400] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < runner->total && used < sizeof text; i++) {
        const cf_host_where *where = runner->lanes[i].where;
        uint32_t count = 0, is_first = 1;
        for (uint32_t j = 0; j < runner->total && runner->states[i] != CF__LANE_ENDED; j++) {
            const cf_host_where *other = runner->lanes[j].where;
            if (runner->states[j] == CF__LANE_ENDED || other->line != where->line || other->what != where->what ||
                strcmp(other->file, where->file) != 0)
                continue;
            is_first &= j >= i;
            count++;
        }
        if (!count || !is_first)
            continue;
        cf_dim3 thread, block = runner->blocks[i / runner->block_threads].head.index;
        index_of(runner, i % runner->block_threads, &thread);
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s%u of %u threads wait at %s in %s:%d, such as (%u, %u, %u) of block (%u, %u, %u)",
                                 used ? "; " : "", count, runner->total, where->what, where->file, where->line,
                                 thread.x, thread.y, thread.z, block.x, block.y, block.z);
    }
    cf__launch_fail(runner, CUDA_ERROR_LAUNCH_FAILED, "threads wait for each other for ever: %s", text);
}

/* ---- Waiting ---- */

static void run_threads(void *data);

/* The fiber of a thread that may go on; it becomes the one that runs. */
static struct cf__fiber *next(struct cf__runner *runner)
{
    if (runner->head != runner->tail) {
        runner->current = runner->ready[runner->head++ & runner->ring_mask];
        runner->on = runner->lanes[runner->current].fiber;
    } else if (runner->begun < runner->total) {
        uint32_t number = runner->fibers_used++;
        runner->on = &runner->fibers[number];
        cf__fiber_create(runner->on, &runner->stacks, number, run_threads, runner);
    } else {
        fail_at_deadlock(runner);
    }
    return runner->on;
}

void cf__lane_wait(struct cf__runner *runner, enum cf__lane_state state, const cf_host_where *where)
{
    struct cf__fiber *own = runner->on;
    struct cf__lane *lane = &runner->lanes[runner->current];
    runner->states[runner->current] = (uint8_t)state;
    lane->fiber = own;
    lane->where = where;
    struct cf__fiber *other = next(runner);
    if (other != own) /* the thread that stopped may be the next */
        cf__fiber_switch(own, other);
}

/* Marks the running thread as one that stops, for its warp. */
static void stop(struct cf__block *block)
{
    struct cf__runner *runner = block->runner;
    uint32_t thread = runner->current - block->first;
    struct cf__warp *warp = &block->warps[thread / 32];
    warp->stopped |= 1u << thread % 32;
    if (warp->in_active)
        cf__warp_settle(runner, warp, runner->current - thread % 32);
}

/* All threads of a block that live have arrived. */
static void open_barrier(struct cf__block *block)
{
    struct cf__runner *runner = block->runner;
    block->results[CF_HOST_VOTE_COUNT] = block->count;
    block->results[CF_HOST_VOTE_AND] = (uint32_t)block->count == block->arrived;
    block->results[CF_HOST_VOTE_OR] = block->count != 0;
    block->arrived = 0;
    block->count = 0;
    for (uint32_t i = 0; i < runner->block_warps; i++)
        block->warps[i].stopped = block->warps[i].ended;
    for (uint32_t i = 0; i < runner->block_threads; i++)
        if (runner->states[block->first + i] == CF__LANE_BARRIER)
            cf__lane_ready(runner, block->first + i);
}

static int barrier(cf_host_block *head, cf_host_vote vote, int value, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    block->count += value != 0;
    if (++block->arrived == block->alive) {
        open_barrier(block);
    } else {
        stop(block);
        cf__lane_wait(block->runner, CF__LANE_BARRIER, where);
    }
    return block->results[vote];
}

static void open_grid(struct cf__runner *runner)
{
    runner->at_grid = 0;
    for (uint32_t i = 0; i < runner->total / runner->block_threads * runner->block_warps; i++)
        runner->warps[i].stopped = runner->warps[i].ended;
    for (uint32_t i = 0; i < runner->total; i++)
        if (runner->states[i] == CF__LANE_GRID)
            cf__lane_ready(runner, i);
}

static void grid(cf_host_block *head, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    if (!runner->launch->is_cooperative) {
        fail(head, 0, &(cf_host_where){"grid.sync() in a kernel that is not cooperative", where->file, where->line});
    } else if (++runner->at_grid == runner->total - runner->ended) {
        open_grid(runner);
    } else {
        stop(block);
        cf__lane_wait(runner, CF__LANE_GRID, where);
    }
}

static void yield(cf_host_block *head)
{
    static const cf_host_where nowhere = {"__nanosleep()", "", 0};
    struct cf__runner *runner = ((struct cf__block *)head)->runner;
    if (runner->head == runner->tail && runner->begun == runner->total)
        return;
    cf__lane_ready(runner, runner->current);
    cf__lane_wait(runner, CF__LANE_READY, &nowhere);
}

/* ---- Running ---- */

/* Of a thread that has ended, others may have waited. */
static void end_thread(struct cf__runner *runner, struct cf__block *block)
{
    uint32_t thread = runner->current - block->first;
    struct cf__warp *warp = &block->warps[thread / 32];
    runner->states[runner->current] = CF__LANE_ENDED;
    runner->ended++;
    block->alive--;
    warp->ended |= 1u << thread % 32;
    warp->stopped |= 1u << thread % 32;
    if (block->arrived && block->arrived == block->alive)
        open_barrier(block);
    if (runner->at_grid && runner->at_grid == runner->total - runner->ended)
        open_grid(runner);
    if (warp->in_operation || warp->in_active)
        cf__warp_settle(runner, warp, runner->current - thread % 32);
}

/* What a fiber does: begins threads as long as there are any. Behind a thread that had to wait it goes on with others. */
static void run_threads(void *data)
{
    struct cf__runner *runner = data;
    cf__fiber_begun();
    while (runner->begun < runner->total) {
        uint32_t number = runner->begun++;
        struct cf__block *block = &runner->blocks[number / runner->block_threads];
        uint32_t thread = (uint32_t)(((uint64_t)(number % runner->block_threads) * runner->stride + runner->shift) %
                                     runner->block_threads);
        cf_dim3 index;
        index_of(runner, thread, &index);
        runner->current = block->first + thread;
        runner->thread(runner->closure, &block->head, index);
        end_thread(runner, block);
    }
    struct cf__fiber *own = runner->on;
    cf__fiber_leave(own, runner->ended == runner->total ? &runner->outside : next(runner));
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

/* Each variable has memory of its own, as large as it is, so that tools that watch memory see what lies outside. It stays
 * for the next block that runs in this place. */
static void *shared(cf_host_block *head, const void *key, size_t bytes, size_t align)
{
    struct cf__block *block = (struct cf__block *)head;
    for (uint32_t i = 0; i < head->shared_count; i++)
        if (head->shared[i].key == key)
            return head->shared[i].memory;
    if (head->shared_count == block->shared_room) {
        uint32_t room = block->shared_room ? 2 * block->shared_room : 4;
        void *array = realloc((void *)(uintptr_t)head->shared, room * sizeof *head->shared);
        if (!array)
            cf__launch_fail(block->runner, CUDA_ERROR_OUT_OF_MEMORY, "no memory for shared variables");
        head->shared = array;
        block->shared_room = room;
    }
    void *memory;
    if (posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, bytes) != 0)
        cf__launch_fail(block->runner, CUDA_ERROR_OUT_OF_MEMORY, "no memory for a shared variable of %zu bytes", bytes);
    ((cf_host_shared *)(uintptr_t)head->shared)[head->shared_count++] = (cf_host_shared){key, memory};
    return memory;
}

/* ---- Runners ---- */

/* Those that wait for work; atomic. */
static struct cf__runner *idle[64];

static void free_runner(struct cf__runner *runner)
{
    cf__stacks_free(&runner->stacks);
    free(runner->blocks);
    free(runner->warps);
    free(runner->lanes);
    free(runner->fibers);
    free(runner->states);
    free(runner->ready);
    free(runner);
}

static struct cf__runner *take_runner(void)
{
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        struct cf__runner *runner = __atomic_load_n(&idle[i], __ATOMIC_RELAXED);
        if (runner && (runner = __atomic_exchange_n(&idle[i], NULL, __ATOMIC_ACQUIRE)) != NULL)
            return runner;
    }
    return calloc(1, sizeof(struct cf__runner));
}

static void give_runner(struct cf__runner *runner)
{
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        struct cf__runner *none = NULL;
        if (__atomic_compare_exchange_n(&idle[i], &none, runner, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
    free_runner(runner);
}

void cf__runners_free(void)
{
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        struct cf__runner *runner = __atomic_exchange_n(&idle[i], NULL, __ATOMIC_ACQUIRE);
        if (runner)
            free_runner(runner);
    }
}

/* An array for `count` elements in place of a smaller one; what stood there is lost. */
static int make_room(void **array, uint32_t *room, size_t count, size_t size)
{
    if (count <= *room)
        return 1;
    void *larger = malloc(count * size);
    if (!larger)
        return 0;
    free(*array);
    *array = larger;
    *room = (uint32_t)count;
    return 1;
}

/* Room for `blocks` blocks at a time. */
static int reserve(struct cf__runner *runner, uint64_t blocks)
{
    uint64_t threads = blocks * runner->block_threads;
    if (threads > UINT32_MAX / 2)
        return 0;
    if (threads > runner->thread_room) {
        uint32_t ring = 1;
        while (ring < threads)
            ring *= 2;
        uint32_t *ready = malloc(ring * sizeof *ready);
        uint8_t *states = malloc(threads);
        struct cf__lane *lanes = malloc(threads * sizeof *lanes);
        struct cf__fiber *fibers = malloc(threads * sizeof *fibers);
        free(runner->ready);
        free(runner->states);
        free(runner->lanes);
        free(runner->fibers);
        runner->ready = ready;
        runner->states = states;
        runner->lanes = lanes;
        runner->fibers = fibers;
        runner->ring_mask = ring - 1;
        runner->thread_room = ready && states && lanes && fibers ? (uint32_t)threads : 0;
    }
    return threads <= runner->thread_room &&
           make_room((void **)&runner->blocks, &runner->block_room, blocks, sizeof *runner->blocks) &&
           make_room((void **)&runner->warps, &runner->warp_room, blocks * runner->block_warps,
                     sizeof *runner->warps) &&
           cf__stacks_reserve(&runner->stacks, threads);
}

/* Puts blocks in place, whose shared memory is that of those before. */
static void place_blocks(struct cf__runner *runner, uint64_t begin, uint32_t count)
{
    const cf_dim3 grid = runner->launch->grid;
    const uint32_t threads = runner->block_threads;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t b = begin + i;
        struct cf__block *block = &runner->blocks[i];
        block->head.index =
            (cf_dim3){(uint32_t)(b % grid.x), (uint32_t)(b / grid.x % grid.y), (uint32_t)(b / grid.x / grid.y)};
        block->first = i * threads;
        block->alive = threads;
        block->arrived = 0;
        block->count = 0;
        block->warps = &runner->warps[(size_t)i * runner->block_warps];
        for (uint32_t w = 0; w < runner->block_warps; w++) {
            uint32_t rest = threads - 32 * w;
            struct cf__warp *warp = &block->warps[w];
            warp->lanes = rest < 32 ? (1u << rest) - 1 : ~0u;
            warp->ended = warp->stopped = warp->in_operation = warp->in_active = 0;
        }
    }
    runner->total = count * threads;
    runner->begun = runner->ended = runner->at_grid = 0;
    runner->head = runner->tail = 0;
}

static int set_up(struct cf__runner *runner, uint32_t resident)
{
    const cf_host_launch *launch = runner->launch;
    runner->block_threads = launch->block.x * launch->block.y * launch->block.z;
    runner->block_warps = (runner->block_threads + 31) / 32;
    if (!reserve(runner, resident))
        return 0;
    memset(runner->blocks, 0, resident * sizeof *runner->blocks);
    int is_complete = 1;
    for (uint32_t i = 0; i < resident; i++) {
        struct cf__block *block = &runner->blocks[i];
        block->head.ops = launch->ops;
        block->runner = runner;
        is_complete &= posix_memalign(&block->head.dynamic, 128, launch->shared ? launch->shared : 1) == 0;
    }
    return is_complete;
}

static void run(const cf_host_launch *launch, uint64_t begin, uint64_t end, cf_host_thread *thread, void *closure)
{
    struct cf__runner *runner = take_runner();
    uint64_t resident = launch->is_cooperative ? end - begin : 1;
    if (runner) {
        cf__fiber_look();
        runner->launch = launch;
        runner->thread = thread;
        runner->closure = closure;
        runner->has_failed = 0;
        runner->stride = 1;
        runner->shift = 0;
    }
    if (!runner || resident > UINT32_MAX || !set_up(runner, (uint32_t)resident)) {
        note_failure(launch, CUDA_ERROR_OUT_OF_MEMORY, "no memory for the threads of a block");
        if (runner)
            free_runner(runner);
        return;
    }
    for (uint64_t b = begin; b < end && !runner->has_failed && !cf__host_has_failed(launch); b += resident) {
        place_blocks(runner, b, (uint32_t)resident);
        runner->fibers_used = 0;
        cf__fiber_switch(&runner->outside, next(runner));
        for (uint32_t i = 0; cf__fiber_is_watched && i < runner->fibers_used; i++)
            cf__fiber_forget(&runner->fibers[i]);
    }
    for (uint64_t i = 0; i < resident; i++)
        free_shared(&runner->blocks[i]);
    give_runner(runner);
}

const cf_host_ops cf__host_ops = {
    .run = run,
    .barrier = barrier,
    .warp = cf__warp_exchange,
    .active = cf__warp_active,
    .grid = grid,
    .yield = yield,
    .shared = shared,
    .fail = fail,
};

/* Looked up in what libgcc found when the program began. */
static uint32_t processor(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma"))
        return CF_HOST_X86_64_V3;
#endif
    return 0;
}

CUresult cf__host_run(const cf_kernel *kernel, const cf_host_launch *what, int is_serial)
{
    struct cf__host_run run = {.has_failed = 0};
    cf_host_launch launch = *what;
    launch.is_cooperative = kernel->launch.is_cooperative;
    launch.ops = &cf__host_ops;
    launch.run = &run;
    launch.processor = processor();
    if (is_serial || kernel->is_host_whole || launch.is_cooperative)
        kernel->host(&launch, 0, (uint64_t)launch.grid.x * launch.grid.y * launch.grid.z);
    else
        cf__pool_run(kernel->host, &launch);
    if (!run.has_failed)
        return CUDA_SUCCESS;
    cf__note_cause(run.text);
    return run.result;
}
