/* cpu_launch.c - one launch on the CPU. */
#include <stdint.h>
#include <stdio.h>

#include <cuferry/registry.h>

#include "cpu/cpu_launch.h"

#include "base/env.h"
#include "base/error.h"
#include "threads/pool.h"
#include "driver/driver.h"
#include "cpu/block.h"
#include "cpu/schedule.h"
#include "cpu/team.h"

/* Writes the blocks of a cluster along each axis to the launch. Returns 0 and notes the cause if clusters do not divide
 * the grid. */
static int find_cluster(const cf_kernel *kernel, cf_host_launch *launch)
{
    const uint32_t *cluster = kernel->launch.cluster;
    const cf_dim3 grid = launch->grid;
    launch->cluster = (cf_dim3){1, 1, 1};
    if (!cluster[0])
        return 1;
    const cf_dim3 each = {cluster[0], cluster[1] ? cluster[1] : 1, cluster[2] ? cluster[2] : 1};
    launch->cluster = each;
    if (grid.x % each.x == 0 && grid.y % each.y == 0 && grid.z % each.z == 0)
        return 1;
    char text[160];
    snprintf(text, sizeof text, "its grid of %u x %u x %u blocks is no multiple of its clusters' %u x %u x %u", grid.x,
             grid.y, grid.z, each.x, each.y, each.z);
    cf__error_note_cause(text);
    return 0;
}

static void run_cooperative(const cf_kernel *kernel, const cf_host_launch *launch, uint64_t blocks)
{
    uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    int most = cf__schedule_is_small(blocks, threads) ? 1 : cf__pool_size();
    if ((uint64_t)most > blocks)
        most = (int)blocks;
    if (most > 1)
        cf__team_run(kernel, launch, blocks, most);
    else
        kernel->cpu_body(launch, 0, blocks);
}

/* Finds the extensions of the processor, which libgcc has determined at the program's start. */
static uint32_t find_processor(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma"))
        return CF_HOST_X86_64_V3;
#endif
    return 0;
}

CUresult cf__cpu_run(const cf_kernel *kernel, const cf_host_launch *request, int is_serial)
{
    struct cf__cpu_launch run = {.seed = __atomic_load_n(&cf__env.host_order, __ATOMIC_RELAXED)};
    cf_host_launch launch = *request;
    uint64_t blocks = (uint64_t)launch.grid.x * launch.grid.y * launch.grid.z;
    launch.is_cooperative = kernel->launch.is_cooperative;
    if (!find_cluster(kernel, &launch))
        return CUDA_ERROR_INVALID_VALUE;
    launch.is_ordered = run.seed != 0;
    launch.ops = &cf__block_ops;
    launch.run = &run;
    launch.processor = find_processor();
    if (is_serial || kernel->is_cpu_whole || launch.is_ordered) /* only one thread can follow an order */
        kernel->cpu_body(&launch, 0, blocks);
    else if (launch.is_cooperative)
        run_cooperative(kernel, &launch, blocks);
    else
        cf__schedule_run(kernel->cpu_body, &launch);
    if (!run.has_failed)
        return CUDA_SUCCESS;
    cf__error_note_cause(run.text);
    return run.result;
}
