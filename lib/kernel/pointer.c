/* pointer.c - checks that the memory of a kernel's pointer arguments is valid and that the device can use it. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "kernel/pointer.h"

#include "base/error.h"
#include "base/fast.h"
#include "model/descriptor.h"
#include "model/section.h"
#include "driver/driver.h"
#include "context/backend.h"
#include "context/property.h"
#include "context/scope.h"
#include "memory/locate.h"
#include "memory/peer.h"

/* Fails for an array that is longer than its allocation. `left` is the number of bytes from its first element to the
 * end of the allocation. */
static int fail_too_short(const cf_kernel *kernel, const cf_param *param, const cf_section *section, size_t left)
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

static int fail_wrong_device(const cf_kernel *kernel, const cf_param *param, int of_memory, int of_call)
{
    char here[24] = "CF_HOST";
    if (of_call != CF_HOST)
        snprintf(here, sizeof here, "device %d", of_call);
    return cf__fail(CF_EINVAL, "%s: %s is memory of device %d and the call runs on %s", kernel->function, param->name,
                    of_memory, here);
}

static int range_holds(const struct cf__range_hint *hint, const void *pointer, size_t bytes)
{
    CUdeviceptr before = (uintptr_t)pointer - hint->begin;
    return before < hint->size && hint->size - before >= bytes;
}

/* Queries only those attributes from the driver that the answer needs. */
CF__HOT int cf__is_on_device(const struct cf__scope *scope, int device, const void *pointer, size_t bytes,
                             struct cf__range_hint *hint)
{
    enum { COUNT = 4 };
    unsigned int type = 0;
    int ordinal = device;
    static CUpointer_attribute attributes[COUNT] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    if (scope->driver->is_cpu)
        return 0;
    if (range_holds(hint, pointer, bytes))
        return 1;
    struct cf__range_hint range = {.size = 0};
    void *data[COUNT] = {&type, &range.begin, &range.size, &ordinal};
    unsigned int count = cf__is_only_gpu() ? COUNT - 1 : COUNT;
    if (scope->driver->cuPointerGetAttributes(count, attributes, data, (uintptr_t)pointer) != CUDA_SUCCESS ||
        type != CU_MEMORYTYPE_DEVICE || ordinal != device || !range_holds(&range, pointer, bytes))
        return 0;
    *hint = range;
    return 1;
}

int cf__measure_argument(const cf_kernel *kernel, uint32_t i, void *const args[], cf_section *section, void **begin)
{
    const cf_param *param = &kernel->params[i];
    void *given = *(void *const *)args[i];
    section->offset = section->span = 0;
    *begin = given;
    if (cf__is_array(param)) {
        int status = cf__section_measure(kernel, i, args, section);
        if (status != CF_OK)
            return status;
        *begin = section->count ? cf__forward(given, section->offset) : NULL;
    }
    if (*begin && param->align > 1 && (uintptr_t)given % param->align)
        return cf__fail(CF_EINVAL, "%s: %s = %p is not aligned to its elements' %" PRIu32 " bytes", kernel->function,
                        param->name, given, param->align);
    return CF_OK;
}

int cf__check_pointer(const cf_kernel *kernel, uint32_t i, void *const args[], const struct cf__scope *scope,
                      int device, struct cf__range_hint *hint, struct cf__pointer *pointer)
{
    const cf_param *param = &kernel->params[i];
    void *given = *(void *const *)args[i];
    cf_section *section = &pointer->section;
    pointer->usable = given;
    pointer->is_staged = pointer->is_pinned = 0;
    void *begin;
    int status = cf__measure_argument(kernel, i, args, section, &begin);
    if (status != CF_OK || !begin)
        return status;
    if (cf__is_on_device(scope, device, begin, section->span, hint))
        return CF_OK;
    struct cf__memory memory;
    status = cf__locate(kernel->function, begin, &memory);
    if (status != CF_OK)
        return status;
    int is_near = memory.device == device || (device != CF_HOST && cf__peer_enabled(device, memory.device));
    if (memory.is_device && !is_near)
        return fail_wrong_device(kernel, param, memory.device, device);
    if (memory.is_bounded && memory.left < section->span)
        return fail_too_short(kernel, param, section, memory.left);
    if (scope->driver->is_cpu)
        return CF_OK;
    /* The GPU uses host memory in place only if the whole array is registered with its driver. */
    if (memory.driver && !memory.driver->is_cpu && memory.usable && memory.left >= section->span) {
        pointer->usable = cf__backward(memory.usable, section->offset);
        pointer->is_pinned = memory.is_pinned;
        return CF_OK;
    }
    /* Staging a pointer to freed GPU memory would crash the process, so check that the memory can be read. */
    if (!memory.driver && !cf__is_readable(begin))
        return cf__fail_no_memory(kernel->function, param->name, given);
    int has_access;
    status = cf__property_pageable_access(scope, kernel->function, device, &has_access);
    if (status != CF_OK)
        return status;
    pointer->is_staged = !has_access;
    if (pointer->is_staged && !cf__is_array(param))
        return cf__fail(CF_EINVAL, "%s: %s is host memory; it has no declared extent and takes device memory only",
                        kernel->function, param->name);
    return CF_OK;
}
