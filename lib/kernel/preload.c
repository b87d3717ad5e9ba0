/* preload.c - loads kernels before their first launch, and reports how many blocks of a kernel can be resident at
 * once. */
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>

#include "kernel/preload.h"

#include "base/error.h"
#include "model/descriptor.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/lost.h"
#include "kernel/image.h"

/* Loads the variants that launches in the scope may run. */
static int load_variants(const cf_kernel *kernel, const struct cf__scope *scope, const struct cf__choice *choice)
{
    struct cf__loaded *loaded;
    int status = CF_OK;
    for (int c = 0; status == CF_OK && c < CF_TUNING_CLASSES; c++)
        status = cf__load_all(kernel->variants[cf__choice_variant(choice, c)], scope, &loaded);
    return status == CF_OK ? cf__load_all(kernel->variants[0], scope, &loaded) : status;
}

/* Loads the operation's own node last: if it exists, everything is loaded. */
static int load_operation(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded **loaded)
{
    int status = CF_OK;
    if ((*loaded = cf__kernel_loaded(kernel, scope)) != NULL)
        return CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nuses; i++)
        status = cf__load_all(kernel->uses[i], scope, loaded);
    return status == CF_OK ? cf__kernel_load(kernel, scope, loaded) : cf__fail_within(kernel->function, status);
}

int cf__load_all(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded **loaded)
{
    int block;
    if (cf_kernel_is_operation(kernel))
        return load_operation(kernel, scope, loaded);
    int status = cf__kernel_load(kernel, scope, loaded);
    if (status == CF_OK && cf__is_tuned(kernel))
        return load_variants(kernel, scope, &(*loaded)->choice);
    return status == CF_OK && kernel->launch.is_block_auto ? cf__kernel_auto_block(kernel, scope, *loaded, &block)
                                                           : status;
}

/* Loads the kernel, and also the scan kernels by which the plain call checks elements. */
static int load_with_scans(const cf_kernel *kernel, const struct cf__scope *scope)
{
    struct cf__loaded *loaded;
    int status = cf__load_all(kernel, scope, &loaded);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nchecks; i++)
        if (kernel->checks[i].array >= 0 && kernel->checks[i].scan)
            status = cf__kernel_load(kernel->checks[i].scan, scope, &loaded);
    return status;
}

int cf_kernel_preload(const cf_kernel *kernel)
{
    struct cf__scope scope;
    int status = cf__check_kernel("cf_kernel_preload", kernel);
    if (status == CF_OK)
        status = cf__enter(&scope, "cf_kernel_preload", NULL);
    if (status != CF_OK)
        return status;
    status = load_with_scans(kernel, &scope);
    cf__leave(&scope);
    return status;
}

int cf_preload(const cf_module *module)
{
    if (!module)
        return cf__fail(CF_EINVAL, "cf_preload: module is NULL");
    struct cf__scope scope;
    int status = cf__check_descriptor("module", module->version);
    if (status == CF_OK)
        status = cf__enter(&scope, "cf_preload", NULL);
    if (status != CF_OK)
        return status;
    for (size_t i = 0; status == CF_OK && i < module->count; i++) {
        const cf_kernel *kernel = module->kernels[i];
        status = cf__check_kernel("cf_preload", kernel);
        if (status == CF_OK && (!scope.driver->is_cpu || cf_kernel_has_host(kernel)))
            status = load_with_scans(kernel, &scope);
    }
    cf__leave(&scope);
    return status;
}

/* If the device has less than `shared` bytes of shared memory, no block can be resident. This is not a failure. */
static int query_occupancy(const cf_kernel *kernel, const struct cf__scope *scope, int threads, size_t shared,
                           int *blocks)
{
    struct cf__loaded *loaded;
    int status = cf__kernel_load(kernel, scope, &loaded);
    if (status != CF_OK)
        return status;
    int resident = 0;
    const char *call;
    CUresult result = shared > INT32_MAX ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && shared)
        status = cf__kernel_try_shared(kernel, scope, loaded, (int)shared, &result, &call);
    if (status != CF_OK)
        return status;
    if (result == CUDA_SUCCESS) {
        int mode = cf__capture_relax(scope->driver);
        call = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
        result =
            scope->driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, loaded->function, threads, shared);
        cf__capture_restore(scope->driver, mode);
        if (result != CUDA_SUCCESS)
            return cf__fail_driver(scope->driver, result, call, "%s: %d threads", kernel->function, threads);
    } else if (result != CUDA_ERROR_INVALID_VALUE) {
        return cf__fail_driver(scope->driver, result, call, "%s: %zu bytes of shared memory", kernel->function, shared);
    }
    *blocks = resident;
    return CF_OK;
}

int cf_kernel_occupancy(const cf_kernel *kernel, int threads, size_t shared, int *blocks)
{
    int status = cf__check_kernel("cf_kernel_occupancy", kernel);
    if (status != CF_OK)
        return status;
    if (!blocks)
        return cf__fail(CF_EINVAL, "cf_kernel_occupancy: blocks is NULL");
    if (cf_kernel_is_operation(kernel))
        return cf__fail(CF_EINVAL,
                        "cf_kernel_occupancy: %s is made of several launches; ask for the kernels that it uses",
                        kernel->function);
    if (cf__is_tuned(kernel))
        return cf__fail(CF_EINVAL,
                        "cf_kernel_occupancy: %s runs one of its variants; ask for that: cf_tuning_variant() gives it",
                        kernel->function);
    if (threads < 1 || threads > CF_BLOCK_SIZE)
        return cf__fail(CF_EINVAL, "cf_kernel_occupancy: threads is %d; a block has 1 to %d", threads, CF_BLOCK_SIZE);
    struct cf__scope scope;
    status = cf__enter(&scope, "cf_kernel_occupancy", NULL);
    if (status != CF_OK)
        return status;
    status = query_occupancy(kernel, &scope, threads, shared, blocks);
    cf__leave(&scope);
    return status;
}
