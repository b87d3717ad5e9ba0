/* direct.c - the plain call whose arrays are the GPU's already: nothing is staged or searched, so that it is a launch
 * and a wait. What is asked before the launch the caller waits for; behind it the GPU is at work. */
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "call/run_resident.h"

#include "base/fast.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/enter.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "stream/stream.h"
#include "memory/allocation_cache.h"
#include "kernel/array_table.h"
#include "kernel/image.h"
#include "kernel/launch.h"
#include "kernel/overlap.h"
#include "kernel/pointer.h"
#include "kernel/section.h"
#include "call/plan.h"

/* ---- Pointers ---- */

/* From an array's first byte to behind its last one; both are 0 where it has no elements. */
struct range {
    uintptr_t begin, end;
};

static int have_common(const struct range *one, const struct range *other)
{
    return (one->begin < other->end) & (other->begin < one->end);
}

/* The same, but for arrays that may begin where another one does. */
static int have_common_part(const struct range *one, const struct range *other, int in_place)
{
    return have_common(one, other) & !(in_place & (one->begin == other->begin));
}

/* Whether all that is described is memory of the device, and apart where it has to be; `count` is of what has
 * elements. */
static int are_described_here(const struct cf__loaded *loaded, void *const args[], const struct cf__scope *scope,
                              unsigned int *count)
{
    const struct cf__arrays *arrays = &loaded->arrays;
    struct cf__range_hint found = {.size = 0};
    struct range ranges[CF__TABLE_ARRAYS];
    int have_any = 0;
    for (int i = 0; i < arrays->count; i++) {
        const struct cf__one_dimension *array = &arrays->arrays[i];
        const void *given = *(void *const *)args[array->pointer], *extent = args[array->extent];
        int64_t elements = array->is_wide ? *(const int64_t *)extent : *(const int32_t *)extent;
        size_t bytes = (size_t)elements * array->bytes;
        ranges[i] = (struct range){0, 0};
        if (elements == 0)
            continue;
        ranges[i] = (struct range){(uintptr_t)given, (uintptr_t)given + bytes};
        if ((uintptr_t)given & array->mask || !(cf__allocation_has(loaded->context, given, bytes) ||
                                                cf__is_on_device(scope, loaded->device, given, bytes, &found)))
            return 0;
        for (int j = 0; array->apart >> j; j++)
            have_any |= array->apart >> j & have_common_part(&ranges[i], &ranges[j], array->in_place >> j & 1);
        ++*count;
    }
    return !have_any;
}

/* The same of any; the status is that of the pointers. Arrays whose ranges meet and that are not one may still be
 * apart, row by row: the long way tells. Its stack is large, and not of those above. */
__attribute__((noinline)) static int are_all_here(const cf_kernel *kernel, void *const args[],
                                                  const struct cf__scope *scope, int device, unsigned int *count,
                                                  int *status)
{
    enum { MOST = 8 };
    struct cf__range_hint found = {.size = 0};
    struct range ranges[MOST];
    struct cf__section sections[MOST + 1]; /* the last one is looked at, and not kept */
    uint32_t params[MOST], seen = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        struct cf__section *section = &sections[seen];
        int is_empty;
        if (kernel->params[i].direction == CF_VALUE)
            continue;
        *status = cf__measure_argument(kernel, i, args, section, &is_empty);
        if (*status != CF_OK)
            return 0;
        if (is_empty)
            continue;
        uintptr_t begin = (uintptr_t)cf__forward(*(void *const *)args[i], section->offset);
        if (!cf__is_on_device(scope, device, (void *)begin, section->span, &found))
            return 0;
        ++*count;
        if (!cf__keeps_apart(kernel))
            continue;
        if (seen == MOST)
            return 0;
        params[seen] = i;
        ranges[seen] = (struct range){begin, begin + section->span};
        for (uint32_t j = 0; j < seen; j++) {
            if (!have_common(&ranges[j], &ranges[seen]))
                continue;
            enum cf__sharing sharing = cf__sharing_of(kernel, i, params[j]);
            if (sharing == CF__SHARE_NONE ||
                (sharing == CF__SHARE_ALL &&
                 !cf__are_one(kernel, i, section, begin, params[j], &sections[j], ranges[j].begin)))
                return 0;
        }
        seen++;
    }
    return 1;
}

/* ---- The call ---- */

static int wait(const cf_kernel *kernel, const struct cf__scope *scope)
{
    int mode = cf__relax(scope->driver);
    CUresult result = scope->driver->cuStreamSynchronize(NULL);
    cf__unrelax(scope->driver, mode);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuStreamSynchronize", "%s", kernel->function);
    cf__inflight_waited(scope, NULL);
    return CF_OK;
}

static int launch(const cf_kernel *kernel, const cf_size *size, const struct cf__scope *scope,
                  const struct cf__loaded *loaded, void *const args[], unsigned int count)
{
    CUresult result = cf__launch_once(scope->driver, loaded, size->grid, size->block, size->shared, NULL, args);
    struct cf__plan *plan = cf__plan_begin(kernel);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuLaunchKernel", "%s", kernel->function);
    int status = wait(kernel, scope);
    if (status != CF_OK)
        return status;
    plan->in_place = count;
    plan->device = loaded->device;
    plan->where = CF__PLAN_DEVICE;
    return CF_OK;
}

CF__HOT int cf__run_resident(const cf_kernel *kernel, const cf_size *size, const struct cf__scope *scope,
                             void *const args[], int *status)
{
    unsigned int count = 0;
    if (scope->driver->is_cpu || cf__gpu_state() != CF__GPU_OURS || cf__is_slow_path(-1))
        return 0;
    const struct cf__loaded *loaded = cf__kernel_loaded(kernel, scope);
    if (!cf__is_one_call(loaded, size) || (loaded->arrays.has_ranges && cf__checks_elements()))
        return 0;
    *status = cf__stream_check_wait(kernel->function, scope, NULL);
    if (*status == CF_OK) {
        int are_here = loaded->arrays.count < 0 ? are_all_here(kernel, args, scope, loaded->device, &count, status)
                                                : are_described_here(loaded, args, scope, &count);
        if (!are_here && *status == CF_OK)
            return 0;
    }
    if (*status == CF_OK)
        *status = launch(kernel, size, scope, loaded, args, count);
    else
        (void)cf__plan_begin(kernel);
    return 1;
}
