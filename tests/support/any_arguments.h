/* any_arguments.h - arguments for any bundled kernel, for tests that call all kernels. */
#ifndef ANY_ARGUMENTS_H
#define ANY_ARGUMENTS_H

#include "run_group.h"

#include <cuferry/registry.h>

enum { MADE_PARAMS = 16 };

struct made_call {
    const cf_kernel *kernel;
    union {
        int64_t whole;
        float single;
        double real;
        void *pointer;
    } values[MADE_PARAMS];
    void *args[MADE_PARAMS];
};

/* Returns 1 if the parameter is an array that the caller passes (scratch arrays are not). */
static inline int is_given_array(const cf_param *param)
{
    return param->direction != CF_VALUE && param->direction != CF_SCRATCH;
}

/* Sets all scalars, such as extents, to `n`. Exceptions are `lower`, which is 0, and `bins` and `upper`, which are at
 * least 1: kernels refuse an empty interval. */
static inline void make_scalars(struct made_call *call, const cf_kernel *kernel, int64_t n)
{
    assert_in_range(kernel->nparams, 1, MADE_PARAMS);
    memset(call, 0, sizeof *call);
    call->kernel = kernel;
    for (uint32_t p = 0; p < kernel->nparams; p++) {
        const cf_param *param = &kernel->params[p];
        const int is_positive = strcmp(param->name, "bins") == 0 || strcmp(param->name, "upper") == 0;
        const int64_t value = strcmp(param->name, "lower") == 0 ? 0 : n == 0 && is_positive ? 1 : n;
        call->args[p] = &call->values[p];
        if (param->direction != CF_VALUE)
            continue;
        if (param->type == CF_F32)
            call->values[p].single = (float)value;
        else if (param->type == CF_F64)
            call->values[p].real = (double)value;
        else if (param->bytes == 1)
            call->values[p].whole = value != 0;
        else
            call->values[p].whole = value;
    }
}

/* Returns the number of elements of an array. */
static inline int64_t elements_of(const struct made_call *call, uint32_t p)
{
    cf_section section;
    assert_ok(cf_kernel_section(call->kernel, p, call->args, &section));
    return section.count;
}

#endif
