/* parts.c - makes a call in two parts, as split(...) permits. */
#include "kernel/parts.h"

#include <stdlib.h>

#include <cuferry.h>

#include "base/runtime.h"
#include "kernel/argument.h"

static int has_parts(const cf_kernel *kernel, uint32_t i)
{
    return argument_is_array(&kernel->params[i]) && cf_param_is_split(kernel, i);
}

/* Returns the number of elements that split(...) divides; 0 without split(...). */
static int64_t count(const cf_kernel *kernel, void *const args[])
{
    cf_section section;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (has_parts(kernel, i) && cf_kernel_section(kernel, i, args, &section) == CF_OK)
            return section.extents[0];
    return 0;
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

static int call_part(const cf_kernel *kernel, void *const args[], int64_t first, int64_t length)
{
    void **changed = calloc(kernel->nparams, sizeof *changed);
    char **pointers = calloc(kernel->nparams, sizeof *pointers);
    int status = changed && pointers ? CF_OK : CF_ENOMEM;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        cf_section section;
        changed[i] = args[i];
        if (!has_parts(kernel, i))
            continue;
        status = cf_kernel_section(kernel, i, args, &section);
        pointers[i] = *(char *const *)args[i];
        if (status == CF_OK && pointers[i])
            pointers[i] += (size_t)first * section.strides[0];
        changed[i] = &pointers[i];
    }
    if (status == CF_OK) {
        changed[cf_kernel_split(kernel)] = &length; /* low bytes come first: any integer type can read them */
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
