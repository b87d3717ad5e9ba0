/* parts.c - a call in two parts, as split(...) permits it. */
#include "kernel/parts.h"

#include <stdlib.h>

#include <cuferry.h>

#include "base/runtime.h"
#include "kernel/argument.h"

static int has_parts(const cf_kernel *kernel, uint32_t i)
{
    return argument_is_array(&kernel->params[i]) && cf_param_is_split(kernel, i);
}

/* Number of elements of the split; 0 without split(...). */
static int64_t count(const cf_kernel *kernel, void *const args[])
{
    int64_t elements = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (has_parts(kernel, i) &&
            cf_kernel_evaluate(kernel, kernel->params[i].extents[0].ops, SIZE_MAX, args, &elements) == CF_OK)
            break;
    return elements;
}

int64_t parts_cut(const cf_kernel *kernel, void *const args[], uint32_t k)
{
    static const int64_t multiples[] = {4, 16, 64, 256, 1024, 4096};
    const int64_t elements = count(kernel, args);
    if (elements < 2 || k > sizeof multiples / sizeof *multiples)
        return 0;
    if (k == 0)
        return 1 + (elements - 1) / 3;
    const int64_t multiple = multiples[k - 1];
    return elements <= multiple ? 0 : ((elements - 1) / 3 / multiple + 1) * multiple;
}

/* Bytes of an array per element. */
static int stride_of(const cf_kernel *kernel, const cf_param *param, void *const args[], size_t *bytes)
{
    *bytes = param->bytes;
    for (uint32_t d = 1; d < param->ndims; d++) {
        int64_t extent;
        int status = cf_kernel_evaluate(kernel, param->extents[d].ops, SIZE_MAX, args, &extent);
        if (status != CF_OK)
            return status;
        *bytes *= (size_t)extent;
    }
    return CF_OK;
}

static int call_part(const cf_kernel *kernel, void *const args[], int64_t first, int64_t length)
{
    void **changed = calloc(kernel->nparams, sizeof *changed);
    char **pointers = calloc(kernel->nparams, sizeof *pointers);
    int status = changed && pointers ? CF_OK : CF_ENOMEM;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        size_t stride;
        changed[i] = args[i];
        if (!has_parts(kernel, i))
            continue;
        status = stride_of(kernel, &kernel->params[i], args, &stride);
        pointers[i] = *(char *const *)args[i];
        if (status == CF_OK && pointers[i])
            pointers[i] += (size_t)first * stride;
        changed[i] = &pointers[i];
    }
    if (status == CF_OK) {
        changed[cf_kernel_split(kernel)] = &length; /* the low bytes come first, so that any integer type reads them */
        status = cf_call(kernel, changed);
    }
    free(changed);
    free(pointers);
    return status;
}

int parts_call(const cf_kernel *kernel, void *const args[], int64_t first, struct message *message)
{
    int status = call_part(kernel, args, 0, first);
    if (status == CF_OK)
        status = call_part(kernel, args, first, count(kernel, args) - first);
    if (status != CF_OK)
        runtime_failure(message);
    return status;
}
