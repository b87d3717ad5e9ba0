/* symbol.c - sets symbols, which are data of kernels in __constant__ memory. */
#include <inttypes.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "kernel/symbol.h"

#include "base/error.h"
#include "model/descriptor.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "stream/stream.h"
#include "memory/copy.h"
#include "memory/locate.h"
#include "kernel/image.h"

static int check_symbol(const char *function, const cf_symbol *symbol, const void *value, size_t *bytes)
{
    if (!symbol)
        return cf__fail(CF_EINVAL, "%s: symbol is NULL", function);
    int status = cf__check_descriptor("symbol", symbol->version);
    if (status != CF_OK)
        return status;
    if (!value)
        return cf__fail(CF_EINVAL, "%s: %s is NULL", symbol->function, symbol->name);
    return cf__symbol_size(symbol, bytes);
}

int cf__symbol_locate(const cf_symbol *symbol, const struct cf__scope *scope, size_t bytes, void **target)
{
    if (!scope->driver->is_cpu) {
        struct cf__loaded *loaded;
        int status = cf__symbol_load(symbol, scope, &loaded);
        if (status == CF_OK)
            *target = (void *)(uintptr_t)loaded->address;
        return status;
    }
    if (!symbol->cpu_data || !*symbol->cpu_data)
        return cf__fail(CF_ENOTSUP, "%s: %s has no form for the CPU", symbol->function, symbol->name);
    if (*symbol->cpu_bytes != bytes)
        return cf__fail(CF_EIMAGE, "%s: %s has %" PRIu32 " bytes in its form for the CPU and %zu in its descriptor",
                        symbol->function, symbol->name, *symbol->cpu_bytes, bytes);
    *target = *symbol->cpu_data;
    return CF_OK;
}

static int is_read_at_once(const struct cf__memory *memory, size_t bytes)
{
    return bytes <= CF_SYMBOL_AT_ONCE && (!memory->is_device || memory->driver->is_cpu);
}

/* The value may be in any memory that the device can read. */
static int check_value(const cf_symbol *symbol, const struct cf__scope *scope, const void *value, size_t bytes,
                       int is_async, struct cf__memory *memory)
{
    int device, status = cf__scope_device(scope, symbol->function, &device);
    if (status != CF_OK)
        return status;
    status = cf__locate(symbol->function, value, memory);
    if (status != CF_OK)
        return status;
    /* Graph memory whose capture is still open may not be readable yet, and only an asynchronous copy may read it. */
    if (!memory->driver && device != CF_HOST && (!is_async || is_read_at_once(memory, bytes)) &&
        !cf__is_readable(value))
        return cf__fail_no_memory(symbol->function, "the value", value);
    if (memory->is_device && memory->device != device && device == CF_HOST)
        return cf__fail(CF_EINVAL, "%s: the value is memory of device %d and the call runs on CF_HOST",
                        symbol->function, memory->device);
    if (memory->is_bounded && memory->left < bytes)
        return cf__fail(CF_EINVAL, "%s: %s has %zu bytes, and the allocation of the value ends after %zu bytes",
                        symbol->function, symbol->name, bytes, memory->left);
    return CF_OK;
}

/* Enqueues the bytes of a small value as fills, one for each run of equal bytes, so that a captured graph stores the
 * bytes and not the address of the value. */
static CUresult enqueue_fills(const struct cf__scope *scope, char *target, const unsigned char *value, size_t bytes,
                              cf_stream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t begin = 0, end; begin < bytes && result == CUDA_SUCCESS; begin = end) {
        for (end = begin + 1; end < bytes && value[end] == value[begin];)
            end++;
        result = scope->driver->cuMemsetD8Async((uintptr_t)target + begin, value[begin], end - begin, stream);
    }
    return result;
}

static int set_symbol(const char *function, cf_stream stream, const cf_symbol *symbol, const void *value, int is_async)
{
    size_t bytes;
    int status = check_symbol(function, symbol, value, &bytes);
    struct cf__scope scope;
    if (status == CF_OK)
        status = cf__enter(&scope, symbol->function, stream);
    if (status != CF_OK)
        return status;
    void *target = NULL;
    struct cf__memory memory;
    status = check_value(symbol, &scope, value, bytes, is_async, &memory);
    if (status == CF_OK)
        status = cf__symbol_locate(symbol, &scope, bytes, &target);
    if (status == CF_OK && !is_async)
        status = cf__stream_check_wait(symbol->function, &scope, NULL);
    int mode = is_async ? -1 : cf__capture_relax(scope.driver);
    if (status == CF_OK) {
        int at_once = is_async && is_read_at_once(&memory, bytes);
        const char *call = at_once ? "cuMemsetD8Async" : is_async ? "cuMemcpyAsync" : "cuMemcpy";
        CUresult result = at_once ? enqueue_fills(&scope, target, value, bytes, stream)
                                  : cf__copy(&scope, target, value, bytes, is_async, stream);
        /* A copy within a device returns before it is complete, so wait for it. */
        if (result == CUDA_SUCCESS && !is_async) {
            call = "cuStreamSynchronize";
            result = scope.driver->cuStreamSynchronize(NULL);
            if (result == CUDA_SUCCESS)
                cf__inflight_waited(&scope, NULL);
        }
        if (result != CUDA_SUCCESS)
            status = cf__fail_driver(scope.driver, result, call, "%s: %zu bytes of %s", symbol->function, bytes,
                                     symbol->name);
    }
    cf__capture_restore(scope.driver, mode);
    cf__leave(&scope);
    return status;
}

int cf_symbol_set(const cf_symbol *symbol, const void *value)
{
    return set_symbol("cf_symbol_set", NULL, symbol, value, 0);
}

int cf_symbol_set_async(cf_stream stream, const cf_symbol *symbol, const void *value)
{
    int is_known = symbol && symbol->version == CF_REGISTRY_VERSION;
    cf__error_name_async(is_known ? symbol->function : NULL);
    int status = set_symbol("cf_symbol_set_async", stream, symbol, value, 1);
    cf__error_name_async(NULL);
    return status;
}
