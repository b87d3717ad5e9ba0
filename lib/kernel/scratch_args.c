/* scratch.c - memory that a kernel works in for the time of a launch, and what it expects to be 0. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "kernel/scratch_args.h"

#include "base/error.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/lost.h"
#include "staging/buffers.h"
#include "memory/mempool.h"
#include "memory/scratch_cache.h"
#include "kernel/pointer.h"
#include "kernel/section.h"

/* What allocations are aligned to, and arrays that lie in one, too. */
#define ALIGNMENT 256

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* ---- What is needed ---- */

/* Bytes of each array, in `arrays`, which has zeros, and of all of them behind one another. */
static int measure(const cf_kernel *kernel, void *const args[], struct cf__scratch_array arrays[], size_t *all)
{
    *all = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (kernel->params[i].direction != CF_SCRATCH)
            continue;
        struct cf__section section;
        int status = cf__section_measure(kernel, i, args, &section);
        if (status != CF_OK)
            return status;
        if (section.count == 0)
            continue;
        arrays[i].bytes = section.offset + section.span;
        /* What is past all memory is not known to be so before it is allocated. */
        *all = arrays[i].bytes > CF__SCRATCH_BYTES || *all > CF__SCRATCH_BYTES ? SIZE_MAX
                                                                               : *all + aligned(arrays[i].bytes);
    }
    return CF_OK;
}

/* ---- Memory ---- */

/* In the stream's order. */
static int allocate(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream,
                    struct cf__scratch_array arrays[])
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const char *call;
        if (arrays[i].bytes == 0)
            continue;
        CUresult result = cf__mempool_alloc_async(scope, stream, arrays[i].bytes, &arrays[i].memory, &call);
        if (result != CUDA_SUCCESS)
            return cf__fail_driver(scope->driver, result, call, "%s: %zu bytes for %s", kernel->function,
                                   arrays[i].bytes, kernel->params[i].name);
    }
    return CF_OK;
}

/* Gives it back when the stream is past the launch. What a capture allocated goes with its graph in any case. */
static int release(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream,
                   const struct cf__scratch *scratch, int status)
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const CUdeviceptr memory = scratch->arrays[i].memory;
        const char *call;
        CUresult result = memory ? cf__mempool_free_async(scope, stream, memory, &call) : CUDA_SUCCESS;
        if (result == CUDA_SUCCESS)
            continue;
        if (!scratch->is_captured)
            cf__defer_free(scope->driver, scope->context, cf__free_memory, (uintptr_t)memory);
        if (status == CF_OK)
            status = cf__fail_driver(scope->driver, result, call, "%s: %s", kernel->function, kernel->params[i].name);
    }
    return status;
}

static void lay_out(const cf_kernel *kernel, CUdeviceptr memory, struct cf__scratch_array arrays[])
{
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (arrays[i].bytes) {
            arrays[i].memory = memory;
            memory += aligned(arrays[i].bytes);
        }
}

static int has_scratch(const cf_kernel *kernel)
{
    uint32_t i = 0;
    while (i < kernel->nparams && kernel->params[i].direction != CF_SCRATCH)
        i++;
    return i < kernel->nparams;
}

/* Whether what an operation enqueues works in memory of the stream's itself. */
static int uses_scratch(const cf_kernel *operation)
{
    for (uint32_t i = 0; i < operation->nuses; i++) {
        const cf_kernel *kernel = operation->uses[i];
        if (has_scratch(kernel) || (cf_kernel_is_operation(kernel) && uses_scratch(kernel)))
            return 1;
    }
    return 0;
}

/* A graph may run again, beside its stream: it gets memory of its own. So does an operation whose kernels use that of
 * the stream. */
static int supply(const cf_kernel *kernel, const struct cf__scope *scope, unsigned long long context, cf_stream stream,
                  size_t all, struct cf__scratch *scratch)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = scope->driver->cuStreamIsCapturing(stream, &capture);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuStreamIsCapturing", "%s", kernel->function);
    scratch->is_captured = capture != CU_STREAM_CAPTURE_STATUS_NONE;
    int status = scratch->is_captured || (cf_kernel_is_operation(kernel) && uses_scratch(kernel))
                     ? CF_OK
                     : cf__scratch_take(scope, kernel->function, context, stream, all, &scratch->taken);
    if (status == CF_OK && !scratch->taken.workspace)
        return allocate(kernel, scope, stream, scratch->arrays);
    if (status == CF_OK)
        lay_out(kernel, scratch->taken.memory, scratch->arrays);
    return status;
}

/* ---- Zeros ---- */

int cf__zero_of(const cf_kernel *kernel, const cf_zero *zero, void *const args[], size_t *offset, size_t *bytes)
{
    struct cf__section section;
    int status = cf__section_measure(kernel, zero->array, args, &section);
    return status == CF_OK ? cf__zero(kernel, zero, args, &section, offset, bytes) : status;
}

static const cf_zero *zeros_of(const cf_kernel *kernel, uint32_t param)
{
    for (uint32_t i = 0; i < kernel->nzeros; i++)
        if (kernel->zeros[i].array == param)
            return &kernel->zeros[i];
    return NULL;
}

/* Whether the kernel sets all of its scratch memory to 0 again. */
static int is_rezeroed(const cf_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_zero *zero = kernel->params[i].direction == CF_SCRATCH ? zeros_of(kernel, i) : NULL;
        if (kernel->params[i].direction == CF_SCRATCH && !(zero && zero->is_rezeroed))
            return 0;
    }
    return 1;
}

static int fill(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, CUdeviceptr memory,
                size_t bytes, const char *name)
{
    CUresult result = bytes ? scope->driver->cuMemsetD8Async(memory, 0, bytes, stream) : CUDA_SUCCESS;
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(scope->driver, result, "cuMemsetD8Async", "%s: %zu bytes of %s",
                                                    kernel->function, bytes, name);
}

int cf__clear(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[],
              cf__zero_target_of *spot_of, const void *data)
{
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nzeros; i++) {
        const cf_param *param = &kernel->params[kernel->zeros[i].array];
        const struct cf__zero_target spot = spot_of(data, kernel->zeros[i].array, param);
        size_t offset, bytes;
        if (!spot.array)
            continue;
        status = cf__zero_of(kernel, &kernel->zeros[i], args, &offset, &bytes);
        if (status == CF_OK && spot.is_cpu)
            memset(cf__forward((void *)(uintptr_t)spot.array, offset), 0, bytes);
        else if (status == CF_OK)
            status = fill(kernel, scope, stream, spot.array + offset, bytes, param->name);
    }
    return status;
}

/* Of a launch; in front of it what stays 0 from one to the next has been seen to. */
static struct cf__zero_target spot_in_launch(const void *data, uint32_t i, const cf_param *param)
{
    const struct cf__scratch *scratch = data;
    if (param->direction != CF_SCRATCH)
        return (struct cf__zero_target){(uintptr_t) * (void *const *)scratch->args[i], 0};
    return (struct cf__zero_target){scratch->taken.workspace && scratch->is_rezeroed ? 0 : scratch->arrays[i].memory,
                                    0};
}

/* What stays 0 is cleared before the first of these launches, all of it, for larger ones, too. */
static int clear(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[],
                 const struct cf__scratch *scratch)
{
    const struct cf__scratch_lease *taken = &scratch->taken;
    int status = CF_OK;
    if (taken->workspace && scratch->is_rezeroed && !taken->is_zero)
        status = fill(kernel, scope, stream, taken->memory, taken->bytes, "scratch memory");
    return status == CF_OK ? cf__clear(kernel, scope, stream, args, spot_in_launch, scratch) : status;
}

static struct cf__zero_target spot_of_result(const void *data, uint32_t i, const cf_param *param)
{
    void *const *args = data;
    return (struct cf__zero_target){param->direction == CF_SCRATCH ? 0 : (uintptr_t) * (void *const *)args[i], 0};
}

int cf__clear_results(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[])
{
    return cf__clear(kernel, scope, stream, args, spot_of_result, args);
}

/* ---- A launch ---- */

int cf__scratch_begin(const cf_kernel *kernel, const struct cf__scope *scope, unsigned long long context,
                      cf_stream stream, void *const args[], struct cf__scratch *scratch)
{
    size_t count = kernel->nparams, all;
    scratch->arrays = scratch->few_arrays;
    scratch->args = scratch->few_args;
    scratch->block = NULL;
    scratch->taken.workspace = NULL;
    scratch->is_captured = 0;
    scratch->is_rezeroed = is_rezeroed(kernel);
    if (count > CF__SCRATCH_FEW) {
        scratch->block = malloc(count * (sizeof *scratch->arrays + sizeof *scratch->args));
        if (!scratch->block)
            return cf__fail(CF_ENOMEM, "%s: no memory for the launch", kernel->function);
        scratch->arrays = scratch->block;
        scratch->args = (void **)(void *)(scratch->arrays + count);
    }
    memset(scratch->arrays, 0, count * sizeof *scratch->arrays);
    for (size_t i = 0; i < count; i++)
        scratch->args[i] = kernel->params[i].direction == CF_SCRATCH ? &scratch->arrays[i].memory : args[i];
    int status = measure(kernel, args, scratch->arrays, &all);
    if (status == CF_OK && all)
        status = supply(kernel, scope, context, stream, all, scratch);
    if (status == CF_OK)
        status = clear(kernel, scope, stream, args, scratch);
    return status == CF_OK ? CF_OK : cf__scratch_end(kernel, scope, stream, scratch, status);
}

int cf__scratch_end(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream,
                    const struct cf__scratch *scratch, int status)
{
    const int is_zero = scratch->is_rezeroed && status == CF_OK;
    if (scratch->taken.workspace)
        cf__scratch_give(&scratch->taken, is_zero);
    else
        status = release(kernel, scope, stream, scratch, status);
    free(scratch->block);
    return status;
}
