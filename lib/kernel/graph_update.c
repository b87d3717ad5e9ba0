/* graph_update.c - sets new arguments for a launch in an executable graph. */
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "base/error.h"
#include "base/fast.h"
#include "model/descriptor.h"
#include "model/size.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/handle.h"
#include "context/lost.h"
#include "kernel/aligned_args.h"
#include "kernel/image.h"
#include "kernel/launch.h"
#include "kernel/scratch_args.h"

/* Accepts only kernels that become a single node of a graph and whose arguments all come from the caller. */
static int check_kind(const cf_kernel *kernel)
{
    int is_single = !cf_kernel_is_operation(kernel) && kernel->nzeros == 0;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        is_single &= !cf__takes_scratch(&kernel->params[i]);
    return is_single ? CF_OK
                     : cf__fail(CF_ENOTSUP,
                                "%s: a graph is updated by single launches, without scratch memory or memory that the "
                                "library sets to 0",
                                kernel->function);
}

static int fail_origin(const cf_kernel *kernel, cf_graph_exec exec, cf_graph_node node)
{
    return cf__fail(CF_EINVAL, "%s: node %p is not of the graph that exec %p was made of", kernel->function,
                    (void *)node, (void *)exec);
}

static int fail_exec(const cf_kernel *kernel, cf_graph_exec exec)
{
    return cf__fail(CF_EINVAL, "%s: exec %p was destroyed, or was not captured", kernel->function, (void *)exec);
}

static int fail_node(const cf_kernel *kernel, cf_graph_node node)
{
    return cf__fail(CF_EINVAL, "%s: node %p is not of cf_stream_capture_node(), or its graph was destroyed",
                    kernel->function, (void *)node);
}

/* Checks the handles of a GPU, because its driver may crash on invalid ones. The CPU driver checks its own. */
static int check_handles(const cf_kernel *kernel, cf_graph_exec exec, cf_graph_node node)
{
    if (cf__cpu_owns(exec))
        return CF_OK;
    uint64_t of_exec = cf__handle_get_capture(CF__GRAPH_EXEC, exec);
    uint64_t of_node = cf__handle_get_capture(CF__GRAPH_NODE, node);
    if (!of_exec)
        return fail_exec(kernel, exec);
    if (!of_node)
        return fail_node(kernel, node);
    return of_node == of_exec ? CF_OK : fail_origin(kernel, exec, node);
}

/* Finds the function that a node launches. Some drivers return it as a function, others as a kernel of a library. */
static CUresult find_function(const struct cf__driver *driver, cf_graph_node node, CUfunction *function,
                              const char **call)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = NULL};
    *call = "cuGraphKernelNodeGetParams";
    CUresult result = driver->cuGraphKernelNodeGetParams(node, &params);
    *function = params.func;
    if (result != CUDA_SUCCESS || params.func)
        return result;
    *call = "cuKernelGetFunction";
    int mode = cf__capture_relax(driver);
    result = driver->cuKernelGetFunction(function, params.kern);
    cf__capture_restore(driver, mode);
    return result;
}

/* Finds the variant that a node launches. Without tune(...), this is the kernel itself. */
static int find_variant(const cf_kernel *kernel, const struct cf__scope *scope, cf_graph_node node,
                        const cf_kernel **variant, struct cf__loaded **loaded)
{
    CUfunction function;
    const char *call;
    CUresult result = find_function(scope->driver, node, &function, &call);
    if (result == CUDA_ERROR_INVALID_VALUE)
        return fail_node(kernel, node);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, call, "%s: node %p", kernel->function, (void *)node);
    for (uint32_t v = 0; v < (cf__is_tuned(kernel) ? kernel->nvariants : 1); v++) {
        *variant = cf__is_tuned(kernel) ? kernel->variants[v] : kernel;
        int status = cf__kernel_load(*variant, scope, loaded);
        if (status != CF_OK || (*loaded)->function == function)
            return status;
    }
    return cf__fail(CF_EINVAL, "%s: node %p launches another kernel", kernel->function, (void *)node);
}

static int set_arguments(const cf_kernel *kernel, const struct cf__scope *scope, cf_graph_exec exec, cf_graph_node node,
                         const cf_launch_size *size, const struct cf__loaded *loaded, void *const args[])
{
    const CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = loaded->function,
                                               .gridDimX = size->grid[0],
                                               .gridDimY = size->grid[1],
                                               .gridDimZ = size->grid[2],
                                               .blockDimX = size->block[0],
                                               .blockDimY = size->block[1],
                                               .blockDimZ = size->block[2],
                                               .sharedMemBytes = size->shared,
                                               .kernelParams = (void **)(uintptr_t)args};
    int mode = cf__capture_relax(scope->driver);
    CUresult result = scope->driver->cuGraphExecKernelNodeSetParams(exec, node, &params);
    cf__capture_restore(scope->driver, mode);
    if (scope->driver->is_cpu && result == CUDA_ERROR_INVALID_HANDLE)
        return fail_exec(kernel, exec);
    if (scope->driver->is_cpu && result == CUDA_ERROR_INVALID_VALUE)
        return fail_origin(kernel, exec, node);
    return result == CUDA_SUCCESS
               ? CF_OK
               : cf__fail_driver(scope->driver, result, "cuGraphExecKernelNodeSetParams", "%s: exec %p, node %p",
                                 kernel->function, (void *)exec, (void *)node);
}

static int update_node(const cf_kernel *kernel, const struct cf__scope *scope, cf_graph_exec exec, cf_graph_node node,
                       void *const args[])
{
    const cf_kernel *variant = kernel;
    struct cf__loaded *loaded = NULL;
    cf_launch_size size;
    int status = find_variant(kernel, scope, node, &variant, &loaded);
    if (status == CF_OK)
        status = cf__model_size(variant, args, 0, &size);
    if (status == CF_OK)
        status = cf__launch_choose_block(variant, scope, args, &size);
    if (status == CF_OK && cf__size_is_empty(&size))
        status = cf__fail(CF_EINVAL, "%s: a launch in a graph has at least one thread, and this one has none",
                          kernel->function);
    if (status == CF_OK && cf__is_slow_path(CF__SLOW_PATH_POINTERS))
        status = cf__launch_check_pointers(variant, args, scope);
    if (status == CF_OK && scope->driver->is_cpu && cf__has_aligned_args(variant))
        status = cf__aligned_args_check(variant, args);
    if (status == CF_OK)
        status = cf__launch_prepare(variant, &size, scope, args, &loaded);
    struct cf__scratch_args scratch; /* supplies NULL for scratch arrays of constant extent 0 */
    if (status == CF_OK)
        status = cf__scratch_args_begin(variant, scope, loaded->context, NULL, args, &scratch);
    if (status != CF_OK)
        return status;
    status = set_arguments(kernel, scope, exec, node, &size, loaded, scratch.args);
    return cf__scratch_args_end(variant, scope, NULL, &scratch, status);
}

int cf_graph_update(cf_graph_exec exec, cf_graph_node node, const cf_kernel *kernel, void *const args[])
{
    struct cf__scope scope;
    if (!exec || !node)
        return cf__fail(CF_EINVAL, "cf_graph_update: %s is NULL", exec ? "node" : "exec");
    int status = cf__check_kernel("cf_graph_update", kernel);
    if (status == CF_OK)
        status = check_kind(kernel);
    if (status == CF_OK)
        status = cf__model_check(kernel, args);
    if (status == CF_OK)
        status = cf__enter_handle(&scope, kernel->function, "exec", CF__GRAPH_EXEC, exec);
    if (status != CF_OK)
        return status;
    status = check_handles(kernel, exec, node);
    if (status == CF_OK)
        status = update_node(kernel, &scope, exec, node, args);
    cf__leave(&scope);
    return status;
}
