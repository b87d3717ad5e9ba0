/* cpu_launch.c - runs one launch on the CPU. */
#include <stdint.h>

#include <cuferry/registry.h>

#include "cpu/cpu_launch.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "model/descriptor.h"
#include "threads/pool.h"
#include "driver/driver.h"
#include "cpu/block.h"
#include "cpu/schedule.h"
#include "cpu/team.h"

static void run_cooperative(const cf_kernel *kernel, const cf_host_launch *launch, uint64_t blocks)
{
    uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    int most = cf__schedule_is_alone(kernel->cpu_body, blocks, threads) ? 1 : cf__pool_size();
    if ((uint64_t)most > blocks)
        most = (int)blocks;
    if (most > 1) {
        cf__team_run(kernel, launch, blocks, most);
        return;
    }
    /* All blocks of a cooperative launch run at the same time from the start, so only the next launch can use more CPU
     * threads. */
    int64_t begin = cf__now();
    kernel->cpu_body(launch, 0, blocks);
    cf__schedule_note(kernel->cpu_body, blocks * threads, cf__now() - begin);
}

/* Reads the processor's extensions, which libgcc detects when the program starts. */
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
    launch.cluster = (cf_dim3){cf__cluster_size(&kernel->launch, 0), cf__cluster_size(&kernel->launch, 1),
                               cf__cluster_size(&kernel->launch, 2)};
    launch.is_ordered = run.seed != 0;
    launch.ops = &cf__block_ops;
    launch.run = &run;
    launch.processor = find_processor();
    if (is_serial || kernel->is_cpu_whole || launch.is_ordered) /* only a single thread can follow an order */
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
