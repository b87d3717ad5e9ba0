/* sync.c - waits for everything in a context. */
#include <stdint.h>

#include <cuferry.h>

#include "stream/sync.h"

#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/context.h"
#include "context/enter.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "stream/capture.h"

static CUresult wait_for_all(const struct cf__scope *scope)
{
    if (scope->driver->is_cpu)
        return scope->driver->cuCtxSynchronize();
    uint64_t begun = cf__context_observer.wait_begins();
    cf__inflight_wait_begin(scope->context);
    CUresult result = scope->driver->cuCtxSynchronize();
    cf__inflight_wait_end(scope->context, result == CUDA_SUCCESS);
    if (result == CUDA_SUCCESS)
        cf__context_observer.wait_succeeded(scope->context, begun);
    return result;
}

int cf__sync_context(const char *function, const struct cf__scope *scope, CUresult *result)
{
    struct cf__capture_wait wait;
    int status = cf__capture_wait_begin(function, scope, &wait);
    if (status == CF_OK) {
        *result = wait_for_all(scope);
        cf__capture_wait_end(&wait);
    }
    return status;
}

int cf_device_sync(void)
{
    struct cf__scope scope;
    CUresult result;
    int status = cf__enter(&scope, "cf_device_sync", NULL);
    if (status != CF_OK)
        return status;
    int mode = cf__capture_relax(scope.driver);
    status = cf__sync_context("cf_device_sync", &scope, &result);
    cf__capture_restore(scope.driver, mode);
    if (status == CF_OK && result != CUDA_SUCCESS)
        status = cf__fail_driver(scope.driver, result, "cuCtxSynchronize", "cf_device_sync");
    cf__leave(&scope);
    return status;
}
