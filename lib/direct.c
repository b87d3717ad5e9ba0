/* direct.c - the plain call whose arrays are the GPU's already: nothing is staged or searched, so that it is a launch
 * and a wait. What is asked before the launch the caller waits for; behind it the GPU is at work. */
#include <stdint.h>

#include "internal.h"

/* Whether each pointer can be used where it is, and their number; the status is that of a section. */
static int are_here(const cf_kernel *kernel, void *const args[], const struct cf__place *place, int device,
                    unsigned int *count, int *status)
{
    struct cf__found found = {.size = 0};
    *count = 0;
    *status = CF_OK;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        if (param->direction == CF_VALUE)
            continue;
        const void *given = *(void *const *)args[i];
        struct cf__section section;
        section.offset = section.span = 0;
        if (cf__is_array(param)) {
            *status = cf__section(kernel, i, args, &section);
            if (*status != CF_OK)
                return 0;
            if (section.count == 0)
                continue;
        } else if (!given) {
            continue;
        }
        if ((param->align > 1 && (uintptr_t)given % param->align) ||
            !cf__is_here(place, device, cf__forward(given, section.offset), section.span, &found))
            return 0;
        ++*count;
    }
    return 1;
}

static int has_ranges(const cf_kernel *kernel)
{
    uint32_t i = 0;
    while (i < kernel->nchecks && kernel->checks[i].array < 0)
        i++;
    return i < kernel->nchecks && cf__checks_elements();
}

static int wait(const cf_kernel *kernel, const struct cf__place *place)
{
    int mode = cf__relax(place->driver);
    CUresult result = place->driver->cuStreamSynchronize(NULL);
    cf__unrelax(place->driver, mode);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuStreamSynchronize", "%s", kernel->function);
    cf__note_waited(place, NULL);
    return CF_OK;
}

static int launch(const cf_kernel *kernel, const cf_size *size, const struct cf__place *place,
                  const struct cf__loaded *loaded, void *const args[], unsigned int count)
{
    CUresult result = cf__launch_once(place->driver, loaded, size->grid, size->block, size->shared, NULL, args);
    struct cf__plan *plan = cf__plan_begin(kernel);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuLaunchKernel", "%s", kernel->function);
    int status = wait(kernel, place);
    if (status != CF_OK)
        return status;
    plan->in_place = count;
    plan->device = loaded->owner->device;
    plan->where = CF__PLAN_DEVICE;
    return CF_OK;
}

static int call(const cf_kernel *kernel, const cf_size *size, const struct cf__place *place, void *const args[],
                int *status)
{
    unsigned int count;
    const struct cf__loaded *loaded = cf__kernel_loaded(kernel, place);
    if (!cf__is_one_call(loaded, size))
        return 0;
    *status = cf__check_wait(kernel->function, place, NULL);
    if (*status == CF_OK && !are_here(kernel, args, place, loaded->owner->device, &count, status) && *status == CF_OK)
        return 0;
    if (*status == CF_OK)
        *status = launch(kernel, size, place, loaded, args, count);
    else
        (void)cf__plan_begin(kernel);
    return 1;
}

int cf__call_direct(const cf_kernel *kernel, const cf_size *size, void *const args[], int *status)
{
    struct cf__place place;
    if (cf__gpu_state() != CF__GPU_OURS || !cf__cuda_in_use() || cf__watches(-1) || has_ranges(kernel))
        return 0;
    *status = cf__enter(&place, kernel->function, NULL);
    if (*status != CF_OK) {
        (void)cf__plan_begin(kernel);
        return 1;
    }
    int is_done = place.driver->is_host ? 0 : call(kernel, size, &place, args, status);
    cf__leave(&place);
    return is_done;
}
