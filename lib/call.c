/* call.c - the plain call: checks everything, stages host arrays, runs the kernel and waits for it. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

/* An argument as the kernel gets it. */
struct argument {
    struct cf__pointer pointer; /* as the kernel gets it, once it is staged */
    void *host;                 /* first element of the array that is staged; NULL where it is used in place */
    void *device;               /* first element of the copy */
    CUdeviceptr copy;           /* its memory, ours to free */
};

struct call {
    const cf_kernel *kernel;
    const struct cf__place *place;
    void *const *given;         /* the caller's arguments */
    struct argument *arguments; /* one a parameter */
    void **args;                /* what the kernel is launched with */
};

/* ---- Pointers ---- */

/* An array's pointer need not lie where its elements are: it is moved as a number. */
static void *forward(const void *pointer, size_t bytes)
{
    return (void *)((uintptr_t)pointer + bytes);
}

static void *backward(const void *pointer, size_t bytes)
{
    return (void *)((uintptr_t)pointer - bytes);
}

/* What lies behind the array's first element does not hold all of it. */
static int too_short(const cf_kernel *kernel, const cf_param *param, const struct cf__section *section, size_t left)
{
    if (section->offset == 0)
        return cf__fail(CF_EINVAL,
                        "%s: %s has %" PRId64 " elements, %zu bytes, and its allocation ends after %zu bytes",
                        kernel->function, param->name, section->count, section->span, left);
    return cf__fail(CF_EINVAL,
                    "%s: %s has %" PRId64
                    " elements, from byte %zu to byte %zu, and its allocation ends after %zu bytes",
                    kernel->function, param->name, section->count, section->offset, section->offset + section->span,
                    section->offset + left);
}

static int wrong_device(const cf_kernel *kernel, const cf_param *param, int of_memory, int of_call)
{
    char here[24] = "CF_HOST";
    if (of_call != CF_HOST)
        snprintf(here, sizeof here, "device %d", of_call);
    return cf__fail(CF_EINVAL, "%s: %s is memory of device %d and the call runs on %s", kernel->function, param->name,
                    of_memory, here);
}

int cf__check_pointer(const cf_kernel *kernel, uint32_t i, void *const args[], const struct cf__place *place,
                      int device, struct cf__pointer *pointer)
{
    const cf_param *param = &kernel->params[i];
    void *given = *(void *const *)args[i];
    struct cf__section *section = &pointer->section;
    pointer->usable = given;
    pointer->is_staged = 0;
    section->offset = section->span = 0;
    if (cf__is_array(param)) {
        int status = cf__section(kernel, i, args, section);
        if (status != CF_OK || section->count == 0)
            return status;
    } else if (!given) {
        return CF_OK;
    }
    if (param->align > 1 && (uintptr_t)given % param->align)
        return cf__fail(CF_EINVAL, "%s: %s = %p is not aligned to its elements' %" PRIu32 " bytes", kernel->function,
                        param->name, given, param->align);

    struct cf__memory memory;
    int known = cf__locate(kernel->function, forward(given, section->offset), &memory);
    if (known != CF_OK)
        return known;
    if (memory.is_device && memory.device != device)
        return wrong_device(kernel, param, memory.device, device);
    if (memory.is_bounded && memory.left < section->span)
        return too_short(kernel, param, section, memory.left);
    if (place->driver->is_host)
        return CF_OK;
    /* Host memory is used in place where all of it, not only a part, is registered with the GPU's driver. */
    pointer->is_staged = !(memory.driver && !memory.driver->is_host && memory.usable && memory.left >= section->span);
    if (!pointer->is_staged)
        pointer->usable = backward(memory.usable, section->offset);
    else if (!cf__is_array(param))
        return cf__fail(CF_EINVAL, "%s: %s is host memory; it has no declared extent and takes device memory only",
                        kernel->function, param->name);
    return CF_OK;
}

/* ---- Staging ---- */

static int driver_failure(const struct call *call, CUresult result, const char *function, uint32_t i)
{
    return cf__fail_driver(call->place->driver, result, function, "%s: staging %s", call->kernel->function,
                           call->kernel->params[i].name);
}

static int copy(const struct call *call, uint32_t i, int to_host)
{
    const struct argument *argument = &call->arguments[i];
    CUresult result = cf__copy_section(call->place, &argument->pointer.section, call->kernel->params[i].bytes,
                                       argument->host, argument->device, to_host);
    return result == CUDA_SUCCESS ? CF_OK : driver_failure(call, result, "cuMemcpy", i);
}

/* What cuMemAlloc() aligns to, which kernels that read several elements at once may count on. */
#define ALIGNMENT 256

/* The copy holds what the section spans, and the kernel gets a pointer from which the indices are the same: it is as
 * aligned as if the copy held what lies before the section, too. */
static int stage_in(struct call *call, uint32_t i)
{
    struct argument *argument = &call->arguments[i];
    const struct cf__section *section = &argument->pointer.section;
    size_t before = section->offset % ALIGNMENT;
    CUresult result = call->place->driver->cuMemAlloc(&argument->copy, before + section->span);
    if (result != CUDA_SUCCESS) {
        argument->copy = 0;
        return driver_failure(call, result, "cuMemAlloc", i);
    }
    argument->host = forward(argument->pointer.usable, section->offset);
    argument->device = (void *)(uintptr_t)(argument->copy + before);
    argument->pointer.usable = backward(argument->device, section->offset);
    return call->kernel->params[i].direction == CF_OUT ? CF_OK : copy(call, i, 0);
}

/* All pointers are checked before the first array is staged. */
static int prepare(struct call *call)
{
    const cf_kernel *kernel = call->kernel;
    int device, status = cf__place_device(call->place, &device);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        struct argument *argument = &call->arguments[i];
        call->args[i] = call->given[i];
        if (kernel->params[i].direction == CF_VALUE || kernel->params[i].direction == CF_SCRATCH)
            continue;
        status = cf__check_pointer(kernel, i, call->given, call->place, device, &argument->pointer);
        call->args[i] = &argument->pointer.usable;
    }
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++)
        if (call->arguments[i].pointer.is_staged)
            status = stage_in(call, i);
    return status;
}

static int stage_out(const struct call *call)
{
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < call->kernel->nparams; i++)
        if (call->arguments[i].host && call->kernel->params[i].direction != CF_IN)
            status = copy(call, i, 1);
    return status;
}

static int check_elements(const struct call *call)
{
    const cf_kernel *kernel = call->kernel;
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nchecks; i++) {
        const cf_check *check = &kernel->checks[i];
        if (check->array < 0)
            continue;
        const struct cf__pointer *array = &call->arguments[check->array].pointer;
        status = cf__check_range(kernel, check, call->given, call->place, &array->section,
                                 forward(array->usable, array->section.offset));
    }
    return status;
}

/* ---- The call ---- */

static int run(struct call *call)
{
    const cf_kernel *kernel = call->kernel;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        call->arguments[i].pointer.is_staged = 0;
        call->arguments[i].host = NULL;
        call->arguments[i].copy = 0;
    }
    struct cf__size size;
    int status = cf__size(kernel, call->place, call->given, &size);
    if (status == CF_OK)
        status = prepare(call);
    if (status == CF_OK)
        status = check_elements(call);
    if (status == CF_OK)
        status = cf__launch(kernel, &size, call->place, NULL, call->args);
    if (status == CF_OK) {
        CUresult result = call->place->driver->cuStreamSynchronize(NULL);
        if (result != CUDA_SUCCESS)
            status = cf__fail_driver(call->place->driver, result, "cuStreamSynchronize", "%s", kernel->function);
        else
            cf__note_waited(call->place, NULL);
    }
    if (status == CF_OK)
        status = stage_out(call);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (call->arguments[i].copy)
            (void)call->place->driver->cuMemFree(call->arguments[i].copy);
    return status;
}

int cf_call(const cf_kernel *kernel, void *const args[])
{
    enum { FEW = 8 }; /* what most kernels have: these need no allocation */
    struct argument few_arguments[FEW], *block = NULL;
    void *few_args[FEW];
    struct cf__place place;
    struct call call = {kernel, &place, args, few_arguments, few_args};
    int status = cf__check_arguments(kernel, args);
    if (status != CF_OK)
        return status;
    status = cf__enter(&place, kernel->function, NULL);
    if (status != CF_OK)
        return status;
    size_t count = kernel->nparams;
    if (count > FEW) {
        call.arguments = block = malloc(count * (sizeof *block + sizeof *call.args));
        call.args = block ? (void **)(void *)(block + count) : NULL;
    }
    status = call.arguments ? run(&call) : cf__fail(CF_ENOMEM, "%s: no memory for the call", kernel->function);
    free(block);
    cf__leave(&place);
    return status;
}
