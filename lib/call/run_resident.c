/* run_resident.c - the fast path of the plain call: if all arrays are resident and no elements are checked, the call is
 * a launch and a wait. Work before the launch delays the caller; work after it overlaps with the GPU. */
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "call/run_resident.h"

#include "base/fast.h"
#include "model/array_table.h"
#include "model/overlap.h"
#include "driver/capture_mode.h"
#include "driver/driver.h"
#include "context/inflight.h"
#include "context/lost.h"
#include "context/scope.h"
#include "stream/stream.h"
#include "memory/allocation_cache.h"
#include "kernel/image.h"
#include "kernel/launch.h"
#include "kernel/pointer.h"
#include "call/element_check.h"
#include "call/plan.h"

/* ---- Pointers ---- */

/* Addresses of an array's first byte and of the byte after its end; both are 0 if it is empty. */
struct range {
    uintptr_t begin, end;
};

static int ranges_overlap(const struct range *one, const struct range *other)
{
    return (one->begin < other->end) & (other->begin < one->end);
}

/* Returns 1 if two arrays overlap, unless `in_place` permits them to begin at the same address. */
static int break_rule(const struct range *one, const struct range *other, int in_place)
{
    return ranges_overlap(one, other) & !(in_place & (one->begin == other->begin));
}

/* Returns 1 if all arrays of the table are device memory and obey the rules of overlap; counts non-empty arrays. */
static int check_table(const struct cf__loaded *loaded, void *const args[], const struct cf__scope *scope,
                       unsigned int *count)
{
    const struct cf__array_table *table = &loaded->table;
    struct cf__range_hint hint = {.size = 0};
    struct range ranges[CF__TABLE_ARRAYS];
    int have_overlap = 0;
    for (int i = 0; i < table->count; i++) {
        const struct cf__table_array *array = &table->arrays[i];
        const void *given = *(void *const *)args[array->pointer], *extent = args[array->extent];
        int64_t elements = array->is_wide ? *(const int64_t *)extent : *(const int32_t *)extent;
        size_t bytes = (size_t)elements * array->bytes;
        ranges[i] = (struct range){0, 0};
        if (elements == 0)
            continue;
        ranges[i] = (struct range){(uintptr_t)given, (uintptr_t)given + bytes};
        if ((uintptr_t)given & array->mask || !(cf__allocation_has(loaded->context, given, bytes) ||
                                                cf__is_on_device(scope, loaded->device, given, bytes, &hint)))
            return 0;
        for (int j = 0; array->apart >> j; j++)
            have_overlap |= array->apart >> j & break_rule(&ranges[i], &ranges[j], array->in_place >> j & 1);
        ++*count;
    }
    return !have_overlap;
}

/* Returns 1 if all arrays of any kernel are device memory and obey the rules of overlap; stores the status of invalid
 * pointers. Returns 0 for overlapping ranges, whose rows may still be disjoint: the slow path determines that. Not
 * inlined because of its large stack. */
__attribute__((noinline)) static int check_arrays(const cf_kernel *kernel, void *const args[],
                                                  const struct cf__scope *scope, int device, unsigned int *count,
                                                  int *status)
{
    enum { MOST = 8 };
    struct cf__range_hint hint = {.size = 0};
    struct range ranges[MOST];
    cf_section sections[MOST + 1]; /* the last entry is for an array that is measured and then not kept */
    uint32_t params[MOST], kept = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        cf_section *section = &sections[kept];
        void *first;
        if (kernel->params[i].direction == CF_VALUE)
            continue;
        *status = cf__measure_argument(kernel, i, args, section, &first);
        if (*status != CF_OK)
            return 0;
        if (!first)
            continue;
        if (!cf__is_on_device(scope, device, first, section->span, &hint))
            return 0;
        const uintptr_t begin = (uintptr_t)first;
        ++*count;
        if (!cf__has_overlap_rules(kernel))
            continue;
        if (kept == MOST)
            return 0;
        params[kept] = i;
        ranges[kept] = (struct range){begin, begin + section->span};
        for (uint32_t j = 0; j < kept; j++) {
            if (!ranges_overlap(&ranges[j], &ranges[kept]))
                continue;
            enum cf__sharing sharing = cf__sharing_of(kernel, i, params[j]);
            if (sharing == CF__SHARE_NONE ||
                (sharing == CF__SHARE_ALL &&
                 !cf__are_same_array(kernel, i, section, begin, params[j], &sections[j], ranges[j].begin)))
                return 0;
        }
        kept++;
    }
    return 1;
}

/* ---- The call ---- */

static int wait_for_kernel(const cf_kernel *kernel, const struct cf__scope *scope)
{
    int mode = cf__capture_relax(scope->driver);
    CUresult result = scope->driver->cuStreamSynchronize(NULL);
    cf__capture_restore(scope->driver, mode);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(scope->driver, result, "cuStreamSynchronize", "%s", kernel->function);
    cf__inflight_waited(scope, NULL);
    return CF_OK;
}

static int launch_and_wait(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope,
                           const struct cf__loaded *loaded, void *const args[], unsigned int count)
{
    CUresult result = cf__launch_simple(scope->driver, loaded, size->grid, size->block, size->shared, NULL, args);
    struct cf__plan *plan = cf__plan_begin(kernel);
    if (result != CUDA_SUCCESS)
        return cf__launch_fail(kernel, scope->driver, loaded, size->block, result, "cuLaunchKernel");
    int status = wait_for_kernel(kernel, scope);
    if (status != CF_OK)
        return status;
    plan->in_place = count;
    plan->device = loaded->device;
    plan->where = CF__PLAN_DEVICE;
    return CF_OK;
}

CF__HOT int cf__run_resident(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope,
                             void *const args[], int *status)
{
    unsigned int count = 0;
    if (scope->driver->is_cpu || cf__gpu_state() != CF__GPU_OURS || cf__is_slow_path(-1))
        return 0;
    const struct cf__loaded *loaded = cf__kernel_loaded(kernel, scope);
    if (!cf__is_simple_launch(loaded, size) || (loaded->table.has_element_checks && cf__element_check_is_on()))
        return 0;
    *status = cf__stream_check_wait(kernel->function, scope, NULL);
    if (*status == CF_OK) {
        int are_resident = loaded->table.count < 0 ? check_arrays(kernel, args, scope, loaded->device, &count, status)
                                                   : check_table(loaded, args, scope, &count);
        if (!are_resident && *status == CF_OK)
            return 0;
    }
    if (*status == CF_OK)
        *status = launch_and_wait(kernel, size, scope, loaded, args, count);
    else
        (void)cf__plan_begin(kernel);
    return 1;
}
