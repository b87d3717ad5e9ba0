/* scratch_args.c - supplies scratch arrays for the duration of a launch, and clears arrays that the kernel expects to
 * be 0. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "kernel/scratch_args.h"

#include "base/error.h"
#include "model/expr.h"
#include "model/section.h"
#include "driver/deferred_free.h"
#include "driver/driver.h"
#include "context/lost.h"
#include "context/scope.h"
#include "stream/capture.h"
#include "memory/mempool.h"
#include "memory/scratch_cache.h"
#include "kernel/pointer.h"

#define ALIGNMENT 256 /* alignment in bytes of the driver's allocations, and of arrays that share a block */

static size_t align_size(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* ---- Sizes ---- */

/* Sets the bytes of each scratch array in `arrays`, which is all zero; `all` is their sum, including gaps for
 * alignment. */
static int measure_arrays(const cf_kernel *kernel, void *const args[], struct cf__scratch_array arrays[], size_t *all)
{
    *all = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (kernel->params[i].direction != CF_SCRATCH)
            continue;
        cf_section section;
        int status = cf__section_measure(kernel, i, args, &section);
        if (status != CF_OK)
            return status;
        if (section.count == 0)
            continue;
        arrays[i].bytes = section.offset + section.span;
        /* A huge size must not overflow the sum; the allocation of the array will fail later. */
        *all = arrays[i].bytes > CF__SCRATCH_BYTES || *all > CF__SCRATCH_BYTES ? SIZE_MAX
                                                                               : *all + align_size(arrays[i].bytes);
    }
    return CF_OK;
}

/* ---- Memory ---- */

/* Allocates each array in the order of the stream. */
static int allocate_arrays(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream,
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

/* Frees each array after the launch in the order of the stream. Memory of a captured graph is freed with the graph. */
static int free_arrays(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream,
                       const struct cf__scratch_args *scratch, int status)
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

/* Places all arrays in one block of memory. */
static void place_arrays(const cf_kernel *kernel, CUdeviceptr memory, struct cf__scratch_array arrays[])
{
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (arrays[i].bytes) {
            arrays[i].memory = memory;
            memory += align_size(arrays[i].bytes);
        }
}

int cf__has_scratch(const cf_kernel *kernel)
{
    uint32_t i = 0;
    while (i < kernel->nparams && kernel->params[i].direction != CF_SCRATCH)
        i++;
    return i < kernel->nparams;
}

/* Returns 1 if a kernel of the operation also leases the stream's scratch block. */
static int uses_scratch(const cf_kernel *operation)
{
    for (uint32_t i = 0; i < operation->nuses; i++) {
        const cf_kernel *kernel = operation->uses[i];
        if (cf__has_scratch(kernel) || (cf_kernel_is_operation(kernel) && uses_scratch(kernel)))
            return 1;
    }
    return 0;
}

/* Leases the scratch block of the stream, or allocates memory. A graph needs its own memory, because it may run
 * concurrently with the stream. An operation whose kernels lease the block also needs its own. */
static int supply_memory(const cf_kernel *kernel, const struct cf__scope *scope, unsigned long long context,
                         cf_stream stream, size_t all, struct cf__scratch_args *scratch)
{
    CUstreamCaptureStatus capture;
    int status = cf__capture_status(kernel->function, scope, stream, &capture);
    if (status != CF_OK)
        return status;
    scratch->is_captured = capture != CU_STREAM_CAPTURE_STATUS_NONE;
    status = scratch->is_captured || (cf_kernel_is_operation(kernel) && uses_scratch(kernel))
                 ? CF_OK
                 : cf__scratch_lease_block(scope, kernel->function, context, stream, all, &scratch->lease);
    if (status == CF_OK && !scratch->lease.block)
        return allocate_arrays(kernel, scope, stream, scratch->arrays);
    if (status == CF_OK)
        place_arrays(kernel, scratch->lease.memory, scratch->arrays);
    return status;
}

/* ---- Zeros ---- */

static const cf_zero *find_zero(const cf_kernel *kernel, uint32_t param)
{
    for (uint32_t i = 0; i < kernel->nzeros; i++)
        if (kernel->zeros[i].array == param)
            return &kernel->zeros[i];
    return NULL;
}

/* Returns 1 if the kernel leaves 0 in all of its scratch memory. */
static int is_rezeroed(const cf_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_zero *zero = kernel->params[i].direction == CF_SCRATCH ? find_zero(kernel, i) : NULL;
        if (kernel->params[i].direction == CF_SCRATCH && !(zero && zero->is_rezeroed))
            return 0;
    }
    return 1;
}

static int clear_bytes(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, CUdeviceptr memory,
                       size_t bytes, const char *name)
{
    CUresult result = bytes ? scope->driver->cuMemsetD8Async(memory, 0, bytes, stream) : CUDA_SUCCESS;
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(scope->driver, result, "cuMemsetD8Async", "%s: %zu bytes of %s",
                                                    kernel->function, bytes, name);
}

int cf__clear_arrays(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[],
                     cf__find_zero_target *find_target, const void *data)
{
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nzeros; i++) {
        const cf_param *param = &kernel->params[kernel->zeros[i].array];
        const struct cf__zero_target target = find_target(data, kernel->zeros[i].array, param);
        size_t offset, bytes;
        if (!target.array)
            continue;
        status = cf__section_zero(&(struct cf__operands){kernel, args}, &kernel->zeros[i], &offset, &bytes);
        if (status == CF_OK && target.is_cpu)
            memset(cf__forward((void *)(uintptr_t)target.array, offset), 0, bytes);
        else if (status == CF_OK)
            status = clear_bytes(kernel, scope, stream, target.array + offset, bytes, param->name);
    }
    return status;
}

/* Finds the array to clear for parameter `i` of a launch. The arrays of a rezeroed block are excluded: clear_arrays()
 * clears the whole block. */
static struct cf__zero_target find_launch_target(const void *data, uint32_t i, const cf_param *param)
{
    const struct cf__scratch_args *scratch = data;
    if (param->direction != CF_SCRATCH)
        return (struct cf__zero_target){(uintptr_t) * (void *const *)scratch->args[i], 0};
    return (struct cf__zero_target){scratch->lease.block && scratch->is_rezeroed ? 0 : scratch->arrays[i].memory, 0};
}

/* Clears the arrays of a launch. A block that is leased for a `rezero` kernel is cleared as a whole and only once: such
 * kernels leave it all zero, for larger launches too. */
static int clear_arrays(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[],
                        const struct cf__scratch_args *scratch)
{
    const struct cf__scratch_lease *lease = &scratch->lease;
    int status = CF_OK;
    if (lease->block && scratch->is_rezeroed && !lease->is_zero)
        status = clear_bytes(kernel, scope, stream, lease->memory, lease->bytes, "scratch memory");
    return status == CF_OK ? cf__clear_arrays(kernel, scope, stream, args, find_launch_target, scratch) : status;
}

static struct cf__zero_target find_result_target(const void *data, uint32_t i, const cf_param *param)
{
    void *const *args = data;
    return (struct cf__zero_target){param->direction == CF_SCRATCH ? 0 : (uintptr_t) * (void *const *)args[i], 0};
}

int cf__clear_results(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[])
{
    return cf__clear_arrays(kernel, scope, stream, args, find_result_target, args);
}

/* ---- A launch ---- */

int cf__scratch_args_begin(const cf_kernel *kernel, const struct cf__scope *scope, unsigned long long context,
                           cf_stream stream, void *const args[], struct cf__scratch_args *scratch)
{
    size_t count = kernel->nparams, all;
    scratch->arrays = scratch->few_arrays;
    scratch->args = scratch->few_args;
    scratch->heap = NULL;
    scratch->lease.block = NULL;
    scratch->is_captured = 0;
    scratch->is_rezeroed = is_rezeroed(kernel);
    if (count > CF__SCRATCH_FEW) {
        scratch->heap = malloc(count * (sizeof *scratch->arrays + sizeof *scratch->args));
        if (!scratch->heap)
            return cf__fail(CF_ENOMEM, "%s: no memory for the launch", kernel->function);
        scratch->arrays = scratch->heap;
        scratch->args = (void **)(void *)(scratch->arrays + count);
    }
    memset(scratch->arrays, 0, count * sizeof *scratch->arrays);
    for (size_t i = 0; i < count; i++)
        scratch->args[i] = kernel->params[i].direction == CF_SCRATCH ? &scratch->arrays[i].memory : args[i];
    int status = measure_arrays(kernel, args, scratch->arrays, &all);
    if (status == CF_OK && all)
        status = supply_memory(kernel, scope, context, stream, all, scratch);
    if (status == CF_OK)
        status = clear_arrays(kernel, scope, stream, args, scratch);
    return status == CF_OK ? CF_OK : cf__scratch_args_end(kernel, scope, stream, scratch, status);
}

int cf__scratch_args_end(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream,
                         const struct cf__scratch_args *scratch, int status)
{
    const int is_zero = scratch->is_rezeroed && status == CF_OK;
    if (scratch->lease.block)
        cf__scratch_return(&scratch->lease, is_zero);
    else
        status = free_arrays(kernel, scope, stream, scratch, status);
    free(scratch->heap);
    return status;
}
