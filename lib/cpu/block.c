/* block.c - sets up the blocks of a launch on a CPU thread, with memory for their threads, and runs them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/registry.h>

#include "cpu/block.h"

#include "base/env.h"
#include "driver/driver.h"
#include "cpu/barrier.h"
#include "cpu/block_sync.h"
#include "cpu/fiber.h"
#include "cpu/runner.h"
#include "cpu/runner_cache.h"
#include "cpu/schedule.h"
#include "cpu/team.h"
#include "cpu/warp.h"

/* loop/loop.cuh and groups/large_tiles.cuh of include/cuferry/cpu repeat these limits as numbers. */
_Static_assert(CF_BLOCK_SIZE == 1024, "limit of threads in a block");
_Static_assert(sizeof((cf_host_block *)NULL)->tiles / sizeof(uint64_t) == CF_BLOCK_SIZE / 32,
               "barriers of large tiles");

/* ---- Shared memory ---- */

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

/* Each variable has an allocation of exactly its size, so that memory checkers detect accesses out of bounds. The next
 * block that runs in this slot reuses the allocation. */
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

/* ---- Running ---- */

static cf_host_block *find_peer(cf_host_block *head, uint32_t rank)
{
    struct cf__runner *runner = ((struct cf__block *)head)->runner;
    const cf_dim3 cluster = runner->launch->cluster;
    const uint32_t blocks = cluster.x * cluster.y * cluster.z;
    return blocks > 1 && rank < blocks ? &runner->blocks[rank].head : head;
}

/* Assigns block `number` of the launch to a slot, which keeps its shared memory. */
static void place_block(struct cf__runner *runner, uint32_t scope, uint64_t number)
{
    const cf_dim3 each = runner->launch->cluster, blocks = runner->launch->grid;
    const cf_dim3 grid = {blocks.x / each.x, blocks.y / each.y, blocks.z / each.z}; /* size of the grid in clusters */
    const uint32_t threads = runner->block_threads, all = each.x * each.y * each.z;
    uint32_t rank = (uint32_t)(number % all);
    struct cf__block *block = &runner->blocks[scope];
    number /= all;
    if (runner->seed == CF__ORDER_REVERSE)
        rank = all - 1 - rank;
    if (runner->seed) {
        number = cf__runner_reorder(runner, number, (uint64_t)grid.x * grid.y * grid.z, runner->seed);
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
    const int is_reverse = runner->seed == CF__ORDER_REVERSE;
    /* Slots hold ascending blocks even in the reverse order, because a block finds the other blocks of its cluster by
     * their ranks. */
    for (uint32_t i = 0; i < count; i++)
        place_block(runner, is_reverse ? count - 1 - i : i, begin + i);
    runner->total = count * runner->block_threads;
    memset(runner->states, CF__THREAD_READY, runner->total);
    memset(runner->arrivals, 0, runner->total);
    runner->begun = runner->ended = runner->at_grid = runner->in_memory = runner->in_active = 0;
    runner->head = runner->tail = 0;
    runner->next_sp = NULL;
    runner->next_block = &runner->blocks[is_reverse ? count - 1 : 0];
    runner->next_thread = 0;
    runner->next_index = (cf_dim3){0, 0, 0};
    runner->fibers_used = 0;
    const int is_random = runner->seed != CF__ORDER_NATURAL && !is_reverse;
    runner->random = is_random ? cf__schedule_shuffle(begin, UINT64_MAX, runner->seed) | 1 : 0;
}

static int set_up_runner(struct cf__runner *runner, uint64_t resident)
{
    const cf_host_launch *launch = runner->launch;
    runner->block_threads = launch->block.x * launch->block.y * launch->block.z;
    runner->block_warps = (runner->block_threads + 31) / 32;
    if (!cf__runner_reserve(runner, resident))
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
        cf__runner_run(runner);
        check_stacks(runner);
    }
    for (uint32_t i = 0; cf__fiber_is_watched && i < runner->thread_room; i++)
        cf__fiber_forget(&runner->fibers[i]);
}

static void run_launch(const cf_host_launch *launch, uint64_t begin, uint64_t end, cf_host_thread *thread,
                       void *closure)
{
    struct cf__runner *runner = cf__runner_take();
    const cf_dim3 cluster = launch->cluster;
    uint64_t resident = launch->is_cooperative ? end - begin : (uint64_t)cluster.x * cluster.y * cluster.z;
    if (runner) {
        cf__fiber_detect_sanitizers();
        runner->launch = launch;
        runner->thread = thread;
        runner->closure = closure;
        runner->has_failed = 0;
        memset(runner->waiter_lists, 0, sizeof runner->waiter_lists); /* a failed launch may have left threads in the
                                                                       * lists */
        runner->seed = ((const struct cf__cpu_launch *)launch->run)->seed;
        runner->is_plain = !runner->seed && !cf__fiber_is_watched;
    }
    if (!runner || !set_up_runner(runner, resident)) {
        cf__cpu_note_failure(launch, CUDA_ERROR_OUT_OF_MEMORY, "no memory for the threads of a block");
        if (runner)
            cf__runner_free(runner);
        return;
    }
    run_blocks(runner, begin, end, (uint32_t)resident);
    for (uint64_t i = 0; i < resident; i++)
        free_shared(&runner->blocks[i]);
    cf__runner_give(runner);
}

const cf_host_ops cf__block_ops = {
    .run = run_launch,
    .barrier = cf__block_sync,
    .warp = cf__warp_exchange,
    .active = cf__warp_active,
    .grid = cf__block_sync_grid,
    .yield = cf__runner_yield,
    .shared = get_shared,
    .fail = cf__runner_fail_thread,
    .wait = cf__barrier_wait,
    .wake = cf__barrier_wake,
    .cluster = cf__block_sync_cluster,
    .peer = find_peer,
};
