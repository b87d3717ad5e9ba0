/* launch.c - checks a kernel's arguments, works out its grid and enqueues it. */
#include <inttypes.h>
#include <stdio.h>

#include "internal.h"

static int extent(const cf_kernel *kernel, const cf_param *param, uint32_t dimension, void *const args[],
                  int64_t *value)
{
    const cf_expr *expr = &param->extents[dimension];
    int status = cf__evaluate(kernel, expr, args, value);
    if (status == CF_OK && *value >= 0)
        return CF_OK;
    char values[160];
    cf__describe(kernel, expr, args, values, sizeof values);
    if (status != CF_OK)
        return cf__fail(status, "%s: the extent %s[%s] overflows or divides by 0 with %s", kernel->function,
                        param->name, expr->text, values);
    return cf__fail(CF_EINVAL, "%s: the extent %s[%s] is negative with %s", kernel->function, param->name, expr->text,
                    values);
}

/* Names every extent of an array and the values that make it too large. */
static int too_large(const cf_kernel *kernel, const cf_param *param, void *const args[])
{
    char extents[160] = "", values[160] = "";
    size_t extents_used = 0, values_used = 0;
    for (uint32_t d = 0; d < param->ndims; d++) {
        char of_extent[160];
        cf__describe(kernel, &param->extents[d], args, of_extent, sizeof of_extent);
        if (extents_used < sizeof extents)
            extents_used +=
                (size_t)snprintf(extents + extents_used, sizeof extents - extents_used, "[%s]", param->extents[d].text);
        if (values_used < sizeof values && *of_extent)
            values_used += (size_t)snprintf(values + values_used, sizeof values - values_used, "%s%s",
                                            values_used ? ", " : "", of_extent);
    }
    return cf__fail(CF_EOVERFLOW, "%s: %s%s has more than 2^63 - 1 bytes with %s", kernel->function, param->name,
                    extents, values);
}

int cf__array(const cf_kernel *kernel, uint32_t i, void *const args[], struct cf__array *array)
{
    const cf_param *param = &kernel->params[i];
    int64_t count = 1, bytes = 0;
    int overflow = 0, empty = 0;
    for (uint32_t d = 0; d < param->ndims; d++) {
        int64_t value;
        int status = extent(kernel, param, d, args, &value);
        if (status != CF_OK)
            return status;
        empty |= value == 0;
        overflow |= __builtin_mul_overflow(count, value, &count);
    }
    if (empty)
        count = overflow = 0;
    overflow |= __builtin_mul_overflow(count, (int64_t)param->bytes, &bytes);
    if (overflow)
        return too_large(kernel, param, args);
    *array = (struct cf__array){count, (size_t)bytes};
    return CF_OK;
}

static int check_condition(const cf_kernel *kernel, const cf_check *check, void *const args[])
{
    int64_t holds = 0;
    int status = cf__evaluate(kernel, &check->condition, args, &holds);
    if (status == CF_OK && holds)
        return CF_OK;
    char values[160];
    cf__describe(kernel, &check->condition, args, values, sizeof values);
    if (status != CF_OK)
        return cf__fail(status, "%s: the check %s overflows or divides by 0 with %s", kernel->function, check->text,
                        values);
    return cf__fail(CF_EINVAL, "%s: the check %s fails with %s", kernel->function, check->text, values);
}

int cf__check_arguments(const cf_kernel *kernel, void *const args[])
{
    if (!kernel)
        return cf__fail(CF_EINVAL, "cf_call, cf_launch: kernel is NULL");
    if (kernel->version != CF_REGISTRY_VERSION || kernel->size < sizeof *kernel)
        return cf__fail(CF_EINVAL,
                        "the kernel's descriptor has version %" PRIu32 ", this library takes %d; build it again",
                        kernel->version, CF_REGISTRY_VERSION);
    if (kernel->nparams && !args)
        return cf__fail(CF_EINVAL, "%s: args is NULL", kernel->function);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (!args[i])
            return cf__fail(CF_EINVAL, "%s: the argument for %s is NULL, and not a pointer to one", kernel->function,
                            kernel->params[i].name);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        if (param->direction == CF_VALUE || param->direction == CF_POINTER)
            continue;
        struct cf__array array;
        int status = cf__array(kernel, i, args, &array);
        if (status != CF_OK)
            return status;
        if (array.count && !*(void *const *)args[i])
            return cf__fail(CF_EINVAL, "%s: %s is NULL and its extent is %" PRId64, kernel->function, param->name,
                            array.count);
    }
    for (uint32_t i = 0; i < kernel->nchecks; i++)
        if (kernel->checks[i].array < 0) {
            int status = check_condition(kernel, &kernel->checks[i], args);
            if (status != CF_OK)
                return status;
        }
    return CF_OK;
}

/* One dimension of the launch rule; 1 where it is absent. */
static int dimension(const cf_kernel *kernel, const cf_expr *expr, const char *what, void *const args[], int64_t *value)
{
    *value = 1;
    if (!expr->ops)
        return CF_OK;
    int status = cf__evaluate(kernel, expr, args, value);
    if (status == CF_OK && *value >= 0)
        return CF_OK;
    char values[160];
    cf__describe(kernel, expr, args, values, sizeof values);
    return cf__fail(status == CF_OK ? CF_EINVAL : status, "%s: %s(%s) %s with %s", kernel->function, what, expr->text,
                    status == CF_OK ? "is negative" : "overflows or divides by 0", values);
}

/* The limits of every device that the driver API knows. */
static const int64_t max_grid[CF_GRID_DIMS] = {INT32_MAX, UINT16_MAX, UINT16_MAX};
#define MAX_BLOCK 1024
static const int64_t max_block[CF_GRID_DIMS] = {MAX_BLOCK, MAX_BLOCK, 64};

static int bad_block(const cf_kernel *kernel, int d, int64_t size, void *const args[])
{
    const cf_expr *expr = &kernel->launch.block[d];
    char values[160];
    cf__describe(kernel, expr, args, values, sizeof values);
    return cf__fail(CF_EINVAL,
                    "%s: %s in block(...) is %" PRId64 "%s%s; a block has 1 to %d threads, and at most %" PRId64
                    " along z",
                    kernel->function, expr->text, size, *values ? " with " : "", values, MAX_BLOCK, max_block[2]);
}

int cf__size(const cf_kernel *kernel, void *const args[], struct cf__size *size)
{
    const cf_launch_rule *rule = &kernel->launch;
    int64_t threads = 1;
    size->is_empty = 0;
    for (int d = 0; d < CF_GRID_DIMS; d++) {
        int64_t count, block;
        int status = dimension(kernel, &rule->block[d], "block", args, &block);
        if (status == CF_OK)
            status = dimension(kernel, &rule->grid[d], rule->counts_blocks ? "blocks" : "grid", args, &count);
        if (status != CF_OK)
            return status;
        if (block < 1 || block > max_block[d] || (threads *= block) > MAX_BLOCK)
            return bad_block(kernel, d, block, args);
        int64_t blocks = rule->counts_blocks ? count : count / block + (count % block != 0);
        if (blocks > max_grid[d])
            return cf__fail(CF_EOVERFLOW, "%s: %s(%s) asks for %" PRId64 " blocks and a grid has at most %" PRId64,
                            kernel->function, rule->counts_blocks ? "blocks" : "grid", rule->grid[d].text, blocks,
                            max_grid[d]);
        size->is_empty |= blocks == 0;
        size->grid[d] = (uint32_t)blocks;
        size->block[d] = (uint32_t)block;
    }
    return CF_OK;
}

int cf__launch(const cf_kernel *kernel, const struct cf__size *size, const struct cf__place *place, cf_stream stream,
               void *const args[])
{
    if (size->is_empty)
        return CF_OK;
    CUfunction function;
    int status = cf__function(kernel, place, &function);
    if (status != CF_OK)
        return status;
    const uint32_t *grid = size->grid, *block = size->block;
    CUresult result = place->driver->cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                                    0, stream, (void **)(uintptr_t)args, NULL);
    return result == CUDA_SUCCESS ? CF_OK
                                  : cf__fail_driver(place->driver, result, "cuLaunchKernel", "%s", kernel->function);
}

/* What CF_CHECK=1 asks of cf_launch(). */
static int check_pointers(const cf_kernel *kernel, void *const args[], const struct cf__place *place)
{
    int device, status = cf__place_device(place, &device);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        struct cf__pointer pointer;
        if (kernel->params[i].direction == CF_VALUE)
            continue;
        status = cf__check_pointer(kernel, i, args, place, device, &pointer);
        if (status == CF_OK && pointer.is_staged)
            status = cf__fail(CF_EINVAL,
                              "%s: %s is host memory, which the device cannot reach; only the plain call takes it",
                              kernel->function, kernel->params[i].name);
    }
    return status;
}

int cf_launch(const cf_kernel *kernel, cf_stream stream, void *const args[])
{
    struct cf__size size;
    int status = cf__check_arguments(kernel, args);
    if (status == CF_OK)
        status = cf__size(kernel, args, &size);
    if (status != CF_OK)
        return status;
    struct cf__place place;
    status = cf__enter(&place, kernel->function, stream);
    if (status != CF_OK)
        return status;
    if (cf__checks_launches())
        status = check_pointers(kernel, args, &place);
    if (status == CF_OK)
        status = cf__launch(kernel, &size, &place, stream, args);
    cf__leave(&place);
    return status;
}
