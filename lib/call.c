/* call.c - the plain call: checks everything, stages host arrays, runs the kernel and waits for it. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

/* An argument as the kernel gets it. */
struct argument {
    void *pointer; /* arrays: address on the device */
    void *staged;  /* device copy of a host array, ours to free; NULL where the array is used in place */
    void *host;    /* the array that was staged */
    size_t bytes;  /* to be staged */
};

struct call {
    const cf_kernel *kernel;
    const struct cf__place *place;
    void *const *given;         /* the caller's arguments */
    struct argument *arguments; /* one a parameter */
    void **args;                /* what the kernel is launched with */
    struct cf__size size;
};

/* ---- Pointers ---- */

int cf__check_pointer(const cf_kernel *kernel, uint32_t i, void *const args[], const struct cf__place *place,
                      int device, struct cf__pointer *pointer)
{
    const cf_param *param = &kernel->params[i];
    void *given = *(void *const *)args[i];
    struct cf__array array = {0, 0};
    *pointer = (struct cf__pointer){.usable = given};
    if (param->direction != CF_POINTER) {
        int status = cf__array(kernel, i, args, &array);
        if (status != CF_OK || array.count == 0)
            return status;
    } else if (!given) {
        return CF_OK;
    }
    pointer->bytes = array.bytes;
    if (param->align > 1 && (uintptr_t)given % param->align)
        return cf__fail(CF_EINVAL, "%s: %s = %p is not aligned to its elements' %" PRIu32 " bytes", kernel->function,
                        param->name, given, param->align);

    struct cf__memory memory;
    cf__locate(given, &memory);
    if (memory.is_device && memory.device != device) {
        char here[24] = "CF_HOST";
        if (device != CF_HOST)
            snprintf(here, sizeof here, "device %d", device);
        return cf__fail(CF_EINVAL, "%s: %s is memory of device %d and the call runs on %s", kernel->function,
                        param->name, memory.device, here);
    }
    if (memory.is_bounded && memory.left < array.bytes)
        return cf__fail(CF_EINVAL,
                        "%s: %s has %" PRId64 " elements, %zu bytes, and its allocation ends after %zu bytes",
                        kernel->function, param->name, array.count, array.bytes, memory.left);
    if (place->driver->is_host)
        return CF_OK;
    /* Host memory is used in place where all of it, not only a part, is registered with the GPU's driver. */
    pointer->is_staged = !(memory.driver && !memory.driver->is_host && memory.usable && memory.left >= array.bytes);
    if (!pointer->is_staged)
        pointer->usable = memory.usable;
    else if (param->direction == CF_POINTER)
        return cf__fail(CF_EINVAL, "%s: %s is host memory; it has no declared extent and takes device memory only",
                        kernel->function, param->name);
    return CF_OK;
}

static int driver_failure(const struct call *call, CUresult result, const char *function, uint32_t i)
{
    return cf__fail_driver(call->place->driver, result, function, "%s: staging %s", call->kernel->function,
                           call->kernel->params[i].name);
}

static int stage_in(struct call *call, uint32_t i)
{
    const struct cf__driver *driver = call->place->driver;
    struct argument *argument = &call->arguments[i];
    CUdeviceptr pointer;
    CUresult result = driver->cuMemAlloc(&pointer, argument->bytes);
    if (result != CUDA_SUCCESS)
        return driver_failure(call, result, "cuMemAlloc", i);
    argument->host = argument->pointer;
    argument->pointer = argument->staged = (void *)(uintptr_t)pointer;
    if (call->kernel->params[i].direction == CF_OUT)
        return CF_OK;
    result = cf__copy(call->place, argument->staged, argument->host, argument->bytes, 0, NULL);
    return result == CUDA_SUCCESS ? CF_OK : driver_failure(call, result, "cuMemcpy", i);
}

static int stage_out(struct call *call, uint32_t i)
{
    const struct argument *argument = &call->arguments[i];
    if (!argument->staged || call->kernel->params[i].direction == CF_IN)
        return CF_OK;
    CUresult result = cf__copy(call->place, argument->host, argument->staged, argument->bytes, 0, NULL);
    return result == CUDA_SUCCESS ? CF_OK : driver_failure(call, result, "cuMemcpy", i);
}

/* All pointers are checked before the first array is staged. */
static int prepare(struct call *call)
{
    const cf_kernel *kernel = call->kernel;
    int device, status = cf__place_device(call->place, &device);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        struct argument *argument = &call->arguments[i];
        if (kernel->params[i].direction == CF_VALUE) {
            call->args[i] = call->given[i];
            continue;
        }
        struct cf__pointer pointer;
        status = cf__check_pointer(kernel, i, call->given, call->place, device, &pointer);
        *argument = (struct argument){.pointer = pointer.usable, .bytes = pointer.is_staged ? pointer.bytes : 0};
        call->args[i] = &argument->pointer;
    }
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++)
        if (call->arguments[i].bytes)
            status = stage_in(call, i);
    return status;
}

/* ---- Elements ---- */

/* A bound of an element check as an inclusive one; the type's own limit where it is absent. */
static int bound(const struct call *call, const cf_check *check, int is_upper, int64_t *value)
{
    const cf_expr *expr = is_upper ? &check->upper : &check->lower;
    int64_t step = is_upper ? -1 : 1;
    *value = is_upper ? INT64_MAX : INT64_MIN;
    if (!expr->ops)
        return CF_OK;
    if (cf__evaluate(call->kernel, expr, call->given, value) != CF_OK ||
        ((is_upper ? check->upper_open : check->lower_open) && __builtin_add_overflow(*value, step, value)))
        return cf__fail(CF_EOVERFLOW, "%s: the bound %s in check(%s) overflows", call->kernel->function, expr->text,
                        check->text);
    return CF_OK;
}

/* Writes "[0, 100)", as the annotation has it; "[0, inf)" where a bound is absent. */
static void describe_range(const struct call *call, const cf_check *check, char *text, size_t size)
{
    int64_t value;
    int used = 0;
    if (check->lower.ops && cf__evaluate(call->kernel, &check->lower, call->given, &value) == CF_OK)
        used = snprintf(text, size, "%c%" PRId64 ", ", check->lower_open ? '(' : '[', value);
    else
        used = snprintf(text, size, "(-inf, ");
    if (check->upper.ops && cf__evaluate(call->kernel, &check->upper, call->given, &value) == CF_OK)
        snprintf(text + used, size - (size_t)used, "%" PRId64 "%c", value, check->upper_open ? ')' : ']');
    else
        snprintf(text + used, size - (size_t)used, "inf)");
}

static int report_element(const struct call *call, const cf_check *check, int64_t index)
{
    const cf_kernel *kernel = call->kernel;
    const cf_param *param = &kernel->params[check->array];
    size_t size = param->bytes;
    union {
        int32_t narrow;
        int64_t wide;
    } element = {.wide = 0};
    const char *array = call->arguments[check->array].pointer;
    CUresult result =
        call->place->driver->cuMemcpy((uintptr_t)&element, (uintptr_t)(array + (size_t)index * size), size);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(call->place->driver, result, "cuMemcpy", "%s: reading %s[%" PRId64 "]", kernel->function,
                               param->name, index);
    char range[64];
    describe_range(call, check, range, sizeof range);
    return cf__fail(CF_ERANGE, "%s: %s[%" PRId64 "] = %" PRId64 " is outside %s", kernel->function, param->name, index,
                    param->type == CF_I32 ? element.narrow : element.wide, range);
}

static int check_elements(const struct call *call, const cf_check *check)
{
    const cf_kernel *kernel = call->kernel;
    const struct cf__driver *driver = call->place->driver;
    struct cf__array array;
    int64_t lower, upper;
    int status = cf__array(kernel, (uint32_t)check->array, call->given, &array);
    if (status == CF_OK)
        status = bound(call, check, 0, &lower);
    if (status == CF_OK)
        status = bound(call, check, 1, &upper);
    if (status != CF_OK || array.count == 0)
        return status;

    int64_t first = array.count;
    CUdeviceptr found = 0;
    const char *function = "cuMemAlloc";
    CUresult result = driver->cuMemAlloc(&found, sizeof first);
    if (result == CUDA_SUCCESS) {
        function = "cuMemcpy";
        result = driver->cuMemcpy(found, (uintptr_t)&first, sizeof first);
    }
    if (result == CUDA_SUCCESS) {
        void *found_pointer = (void *)(uintptr_t)found;
        void *const args[] = {&call->arguments[check->array].pointer, &lower, &upper, &found_pointer, &array.count};
        struct cf__size size;
        status = cf__size(check->scan, args, &size);
        if (status == CF_OK)
            status = cf__launch(check->scan, &size, call->place, NULL, args);
        if (status == CF_OK)
            result = driver->cuMemcpy((uintptr_t)&first, found, sizeof first);
    }
    if (result != CUDA_SUCCESS)
        status = cf__fail_driver(driver, result, function, "%s: checking %s", kernel->function, check->text);
    if (found)
        (void)driver->cuMemFree(found);
    if (status == CF_OK && first < array.count)
        status = report_element(call, check, first);
    return status;
}

/* ---- The call ---- */

static int run(struct call *call)
{
    const cf_kernel *kernel = call->kernel;
    int status = prepare(call);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nchecks; i++)
        if (kernel->checks[i].array >= 0)
            status = check_elements(call, &kernel->checks[i]);
    if (status == CF_OK)
        status = cf__launch(kernel, &call->size, call->place, NULL, call->args);
    if (status == CF_OK) {
        CUresult result = call->place->driver->cuStreamSynchronize(NULL);
        if (result != CUDA_SUCCESS)
            status = cf__fail_driver(call->place->driver, result, "cuStreamSynchronize", "%s", kernel->function);
    }
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++)
        status = stage_out(call, i);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (call->arguments[i].staged)
            (void)call->place->driver->cuMemFree((uintptr_t)call->arguments[i].staged);
    return status;
}

int cf_call(const cf_kernel *kernel, void *const args[])
{
    struct cf__place place;
    struct call call = {.kernel = kernel, .place = &place, .given = args};
    int status = cf__check_arguments(kernel, args);
    if (status == CF_OK)
        status = cf__size(kernel, args, &call.size);
    if (status != CF_OK)
        return status;
    status = cf__enter(&place, kernel->function, NULL);
    if (status != CF_OK)
        return status;
    size_t count = kernel->nparams;
    call.arguments = calloc(count + 1, sizeof *call.arguments + sizeof *call.args);
    call.args = (void **)(call.arguments ? call.arguments + count : NULL);
    status = call.arguments ? run(&call) : cf__fail(CF_ENOMEM, "%s: no memory for the call", kernel->function);
    free(call.arguments);
    cf__leave(&place);
    return status;
}
