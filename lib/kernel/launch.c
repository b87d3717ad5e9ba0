/* launch.c - enqueues a kernel. */
#include <inttypes.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "kernel/launch.h"

#include "base/error.h"
#include "base/fast.h"
#include "model/descriptor.h"
#include "model/overlap.h"
#include "model/size.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "trace/ranges.h"
#include "context/enter.h"
#include "context/inflight.h"
#include "context/last_stream.h"
#include "context/lost.h"
#include "stream/capture.h"
#include "kernel/aligned_args.h"
#include "kernel/image.h"
#include "kernel/operation.h"
#include "kernel/pointer.h"
#include "kernel/scratch_args.h"
#include "kernel/variant.h"

/* ---- Launching ---- */

int cf__launch_fail(const cf_kernel *kernel, const struct cf__driver *driver, const struct cf__loaded *loaded,
                    const uint32_t block[CF_GRID_DIMS], CUresult result, const char *call)
{
    int most = CF_BLOCK_SIZE;
    if (!driver->is_cpu && (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)) {
        int mode = cf__capture_relax(driver);
        if (driver->cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, loaded->function) !=
            CUDA_SUCCESS)
            most = CF_BLOCK_SIZE;
        cf__capture_restore(driver, mode);
    }
    if ((uint64_t)block[0] * block[1] * block[2] <= (uint64_t)most)
        return cf__fail_driver(driver, result, call, "%s", kernel->function);
    return cf__fail_driver(driver, result, call,
                           "%s: its block has %" PRIu32 " x %" PRIu32 " x %" PRIu32 " threads, and its code allows %d",
                           kernel->function, block[0], block[1], block[2], most);
}

/* Writes the attributes of a kernel's launch; returns their number. */
static unsigned int list_attributes(const cf_kernel *kernel, const struct cf__loaded *loaded,
                                    CUlaunchAttribute attributes[3])
{
    const cf_launch_rule *rule = &kernel->launch;
    unsigned int count = 0;
    if (rule->is_cooperative)
        attributes[count++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    if (rule->passes_cluster)
        attributes[count++] = (CUlaunchAttribute){
            .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
            .value.clusterDim = {cf__cluster_size(rule, 0), cf__cluster_size(rule, 1), cf__cluster_size(rule, 2)}};
    if (loaded->is_dependent)
        attributes[count++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                                  .value.programmaticStreamSerializationAllowed = 1};
    return count;
}

/* Fails if a dependent launch is captured with an older driver: its edges in the graph have data, which the capture
 * queries of older drivers cannot return. */
static int check_dependent(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream)
{
    CUstreamCaptureStatus now;
    if (scope->driver->cuStreamGetCaptureInfo_edges)
        return CF_OK;
    int status = cf__capture_status(kernel->function, scope, stream, &now);
    if (status == CF_OK && now != CU_STREAM_CAPTURE_STATUS_NONE)
        return cf__fail(CF_ENOTSUP,
                        "%s: stream %p is being captured, and a dependent kernel in a capture needs a driver for CUDA "
                        "12.3 or newer",
                        kernel->function, (void *)stream);
    return status;
}

static int enqueue_with_attributes(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope,
                                   const struct cf__loaded *loaded, cf_stream stream, void *const args[])
{
    const uint32_t *grid = size->grid, *block = size->block;
    CUlaunchAttribute attributes[3];
    const CUlaunchConfig config = {.gridDimX = grid[0],
                                   .gridDimY = grid[1],
                                   .gridDimZ = grid[2],
                                   .blockDimX = block[0],
                                   .blockDimY = block[1],
                                   .blockDimZ = block[2],
                                   .sharedMemBytes = size->shared,
                                   .hStream = stream,
                                   .attrs = attributes,
                                   .numAttrs = list_attributes(kernel, loaded, attributes)};
    int status = loaded->is_dependent ? check_dependent(kernel, scope, stream) : CF_OK;
    if (status != CF_OK)
        return status;
    struct cf__inflight *note = cf__launch_note(loaded, stream);
    CUresult result = scope->driver->cuLaunchKernelEx(&config, loaded->function, (void **)(uintptr_t)args, NULL);
    cf__inflight_launched(note);
    if (result == CUDA_SUCCESS)
        return CF_OK;
    const char *call = "cuLaunchKernelEx";
    if (result != CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
        return cf__launch_fail(kernel, scope->driver, loaded, block, result, call);
    return cf__fail_driver(scope->driver, result, call,
                           "%s: its grid of %" PRIu64 " blocks does not fit the device at once, as cooperative asks",
                           kernel->function, (uint64_t)grid[0] * grid[1] * grid[2]);
}

int cf__launch_choose_block(const cf_kernel *kernel, const struct cf__scope *scope, void *const args[],
                            cf_launch_size *size)
{
    const uint32_t most = cf__most_threads(&kernel->launch);
    struct cf__loaded *loaded;
    int best = 0;
    if (!kernel->launch.is_block_auto || cf__size_is_empty(size))
        return CF_OK;
    int status = cf__kernel_load(kernel, scope, &loaded);
    if (status == CF_OK)
        status = cf__kernel_auto_block(kernel, scope, loaded, &best);
    return status == CF_OK ? cf__model_size(kernel, args, (uint32_t)best < most ? (uint32_t)best : most, size) : status;
}

int cf__launch_prepare(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope,
                       void *const args[], struct cf__loaded **loaded)
{
    if (cf_kernel_is_operation(kernel))
        return cf__operation_prepare(kernel, scope, loaded);
    if (!*loaded)
        *loaded = cf__kernel_loaded(kernel, scope);
    int status = scope->driver->is_cpu ? cf__model_check_cpu_grid(kernel, args) : CF_OK;
    if (status == CF_OK && !*loaded)
        status = cf__kernel_load(kernel, scope, loaded);
    if (status == CF_OK && size->shared)
        status = cf__kernel_set_shared(kernel, scope, *loaded, (int)size->shared, args);
    return status;
}

static int enqueue_loaded(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope,
                          struct cf__loaded *loaded, cf_stream stream, void *const args[])
{
    if (cf_kernel_is_operation(kernel))
        return cf__operation_enqueue(kernel, scope, loaded, stream, args);
    if (cf__launch_has_attributes(kernel, loaded))
        return enqueue_with_attributes(kernel, size, scope, loaded, stream, args);
    CUresult result = cf__launch_simple(scope->driver, loaded, size->grid, size->block, size->shared, stream, args);
    return result == CUDA_SUCCESS
               ? CF_OK
               : cf__launch_fail(kernel, scope->driver, loaded, size->block, result, "cuLaunchKernel");
}

static int enqueue(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope, cf_stream stream,
                   void *const args[])
{
    struct cf__loaded *loaded = NULL;
    struct cf__scratch_args scratch;
    int status = cf__launch_prepare(kernel, size, scope, args, &loaded);
    if (status == CF_OK && !kernel->nzeros && !cf__has_scratch(kernel))
        return enqueue_loaded(kernel, size, scope, loaded, stream, args);
    if (status == CF_OK)
        status = cf__scratch_args_begin(kernel, scope, loaded->context, stream, args, &scratch);
    if (status != CF_OK)
        return status;
    status = enqueue_loaded(kernel, size, scope, loaded, stream, scratch.args);
    return cf__scratch_args_end(kernel, scope, stream, &scratch, status);
}

/* The copies of arrays are freed as soon as the launch is enqueued, because a launch on the CPU is complete then. */
static int enqueue_aligned(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope,
                           cf_stream stream, void *const args[])
{
    struct cf__aligned_args aligned;
    int status = cf__aligned_args_begin(kernel, scope, stream, args, &aligned);
    if (status == CF_OK) {
        status = enqueue(kernel, size, scope, stream, aligned.args);
        cf__aligned_args_end(kernel, &aligned);
    }
    return status;
}

int cf__launch(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope, cf_stream stream,
               void *const args[])
{
    if (cf__size_is_empty(size)) /* zero(...) results are cleared even if there are no threads */
        return cf__clear_results(kernel, scope, stream, args);
    if (scope->driver->is_cpu && cf__has_aligned_args(kernel))
        return enqueue_aligned(kernel, size, scope, stream, args);
    return enqueue(kernel, size, scope, stream, args);
}

/* Returns 1 if the argument is a pointer to check. A launch within an operation may pass an empty array of the
 * operation to a parameter without an extent; such a pointer is not checked. */
static int needs_check(const cf_param *param, const void *arg)
{
    return param->direction != CF_VALUE && param->direction != CF_SCRATCH &&
           (cf__is_array(param) || !cf__operation_has_empty(*(void *const *)arg));
}

int cf__launch_check_pointers(const cf_kernel *kernel, void *const args[], const struct cf__scope *scope)
{
    int device, status = cf__scope_device(scope, kernel->function, &device);
    struct cf__range_hint hint = {.size = 0};
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        struct cf__pointer pointer;
        if (!needs_check(&kernel->params[i], args[i]))
            continue;
        status = cf__check_pointer(kernel, i, args, scope, device, &hint, &pointer);
        if (status == CF_OK && pointer.is_staged)
            status = cf__fail(CF_EINVAL,
                              "%s: %s is host memory, which the device cannot reach; only the plain call takes it",
                              kernel->function, kernel->params[i].name);
    }
    return status == CF_OK && cf__has_overlap_rules(kernel) ? cf__check_overlap(kernel, args, args) : status;
}

/* ---- The paths of cf_launch() ---- */

/* The slow path: checks everything and reports errors. */
static int launch_checked(const cf_kernel *kernel, cf_stream stream, void *const args[])
{
    cf_launch_size size;
    int status = cf__check_kernel("cf_launch", kernel);
    if (status == CF_OK)
        status = cf__model_size(kernel, args, 0, &size);
    if (status != CF_OK)
        return status;
    struct cf__scope scope;
    status = cf__enter(&scope, kernel->function, stream);
    if (status != CF_OK)
        return status;
    int is_range = cf__range_begin(kernel->function, "_async");
    status = cf__launch_choose_block(kernel, &scope, args, &size);
    if (status == CF_OK && cf__is_slow_path(CF__SLOW_PATH_POINTERS))
        status = cf__launch_check_pointers(kernel, args, &scope);
    if (status == CF_OK)
        status = cf__launch(kernel, &size, &scope, stream, args);
    if (is_range)
        cf__range_pop();
    cf__leave(&scope);
    return status;
}

/* The fast path, for the thread's latest stream and for the default stream. Returns 0 if the call needs another
 * path. */
static inline int launch_fast(const cf_kernel *kernel, const cf_launch_size *size, cf_stream stream, void *const args[],
                              int *status)
{
    unsigned long long id;
    const struct cf__driver *driver = stream ? cf__last_stream_look_up(stream, &id) : cf__default_stream_look_up(&id);
    const struct cf__loaded *loaded = driver ? cf__loaded_in(kernel->state, id) : NULL;
    if (!cf__is_simple_launch(loaded, size))
        return 0;
    CUresult result = cf__launch_simple(driver, loaded, size->grid, size->block, size->shared, stream, args);
    *status = CF_OK;
    if (__builtin_expect(result == CUDA_SUCCESS, 1))
        return 1;
    if (cf__needs_slow_path(result) || result == CUDA_ERROR_INVALID_VALUE) /* the slow path determines the cause */
        return 0;
    cf__error_name_async(kernel->function);
    *status = cf__fail_driver(driver, result, "cuLaunchKernel", "%s", kernel->function);
    cf__error_name_async(NULL);
    return 1;
}

/* Launches in the scope; the compiled checks have passed. */
static inline int launch_sized(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope,
                               cf_stream stream, void *const args[])
{
    const struct cf__loaded *loaded = cf__kernel_loaded(kernel, scope);
    if (!cf__is_simple_launch(loaded, size) || cf__is_slow_path(-1)) {
        int is_range = cf__range_begin(kernel->function, "_async");
        int status = cf__is_slow_path(CF__SLOW_PATH_POINTERS) ? cf__launch_check_pointers(kernel, args, scope) : CF_OK;
        if (status == CF_OK)
            status = cf__launch(kernel, size, scope, stream, args);
        if (is_range)
            cf__range_pop();
        return status;
    }
    CUresult result = cf__launch_simple(scope->driver, loaded, size->grid, size->block, size->shared, stream, args);
    if (result != CUDA_SUCCESS)
        return cf__launch_fail(kernel, scope->driver, loaded, size->block, result, "cuLaunchKernel");
    cf__last_stream_set(stream, scope, loaded->context);
    return CF_OK;
}

static inline int enter_and_launch(const cf_kernel *kernel, const cf_launch_size *size, cf_stream stream,
                                   void *const args[])
{
    struct cf__scope scope;
    int status = cf__enter(&scope, kernel->function, stream);
    if (status != CF_OK)
        return status;
    status = launch_sized(kernel, size, &scope, stream, args);
    if (scope.is_pushed)
        cf__leave(&scope);
    return status;
}

/* Every launch pays for each nanosecond here, so nothing is checked twice. */
CF__HOT int cf_launch(const cf_kernel *kernel, cf_stream stream, void *const args[])
{
    cf_launch_size size;
    int status, is_ok = __builtin_expect(cf__model_quick(kernel, args, &size), 1);
    if (is_ok && launch_fast(kernel, &size, stream, args, &status))
        return status;
    cf__error_name_async(cf__descriptor_ok(kernel) ? kernel->function : NULL);
    status = is_ok                  ? enter_and_launch(kernel, &size, stream, args)
             : cf__is_tuned(kernel) ? cf__variant_run(kernel, stream, args, cf_launch)
                                    : launch_checked(kernel, stream, args);
    cf__error_name_async(NULL);
    return status;
}
