/* map.c - runs kernels with split(...) on the ranks' parts of distributed arrays. */
#include <stdlib.h>
#include <string.h>

#include "mpi/agree.h"
#include "mpi/array.h"

static const char function[] = "cf_mpi_map";

/* The call of a kernel on this rank. */
struct call {
    const struct cf__mpi_comm *state;
    const cf_kernel *kernel;
    void *const *args;       /* the caller's arguments */
    const cf_mpi_array *any; /* one of the arrays that are split */
    int device;              /* a GPU if one of the arrays is in its memory, else CF_HOST */
    int64_t count;           /* number of this rank's elements; its first bytes are the kernel's argument */
    void **own;              /* this rank's arguments; the entry of a split array points to an element of `data` */
    void **data;
};

static int check_kernel(const cf_kernel *kernel, void *const args[])
{
    if (!kernel || !args)
        return cf__mpi_fail(CF_EINVAL, "%s: %s is NULL", function, kernel ? "args" : "kernel");
    if (kernel->version != CF_REGISTRY_VERSION)
        return cf__mpi_fail(CF_EINVAL, "%s: the kernel's descriptor has version %u instead of %d", function,
                            (unsigned int)kernel->version, CF_REGISTRY_VERSION);
    if (cf_kernel_split(kernel) < 0)
        return cf__mpi_fail(CF_ENOTSUP, "%s: %s has no split(...) clause", function, kernel->function);
    int split = cf_kernel_split(kernel);
    return args[split] ? CF_OK : cf__mpi_fail(CF_EINVAL, "%s: args[%d] is NULL", function, split);
}

static int is_array(const cf_kernel *kernel, uint32_t i)
{
    return kernel->params[i].direction != CF_SCRATCH && cf_param_is_split(kernel, i);
}

/* Returns the value of an integer parameter. */
static int64_t read_integer(const cf_param *param, const void *at)
{
    uint64_t value = 0;
    unsigned int unused = 64 - 8 * param->bytes;
    memcpy(&value, at, param->bytes);
    return param->type <= CF_I64 ? (int64_t)(value << unused) >> unused : (int64_t)value;
}

static int check_array(const struct call *call, const cf_param *param, const cf_mpi_array *array)
{
    const cf_kernel *kernel = call->kernel;
    const cf_param *split = &kernel->params[cf_kernel_split(kernel)];
    int64_t n = read_integer(split, call->args[cf_kernel_split(kernel)]);
    int status = cf__mpi_array_check(function, call->state, param->name, array);
    if (status != CF_OK)
        return status;
    if (array->type != param->type)
        return cf__mpi_fail(CF_EINVAL, "%s: %s has type %s, and %s takes %s", function, param->name,
                            cf__mpi_type_text(array->type), kernel->function, cf__mpi_type_text(param->type));
    if (array->length != n)
        return cf__mpi_fail(CF_EINVAL, "%s: %s is %jd, and %s.length is %jd", function, split->name, (intmax_t)n,
                            param->name, (intmax_t)array->length);
    if (!call->any || !memcmp(array->offsets, call->any->offsets, (size_t)(call->state->size + 1) * sizeof(int64_t)))
        return CF_OK;
    return cf__mpi_fail(CF_EINVAL, "%s: %s has other offsets than the arrays before it", function, param->name);
}

static int take_array(struct call *call, uint32_t i)
{
    const cf_mpi_array *array = call->args[i];
    int status = check_array(call, &call->kernel->params[i], array);
    if (status != CF_OK)
        return status;
    call->any = array;
    if (call->device == CF_HOST)
        call->device = array->device;
    call->data[i] = array->data;
    call->own[i] = &call->data[i];
    return CF_OK;
}

static int make_call(struct call *call)
{
    uint32_t count = call->kernel->nparams;
    int split = cf_kernel_split(call->kernel), status = CF_OK;
    call->own = calloc((size_t)count * 2, sizeof *call->own);
    if (!call->own)
        return cf__mpi_fail(CF_ENOMEM, "%s: no memory for %u arguments", function, (unsigned int)count);
    call->data = call->own + count;
    memcpy(call->own, call->args, count * sizeof *call->own);
    for (uint32_t i = 0; i < count && status == CF_OK; i++)
        if (is_array(call->kernel, i))
            status = take_array(call, i);
    if (status != CF_OK)
        return status;
    call->count = cf__mpi_array_count(call->state, call->any);
    call->own[split] = &call->count;
    return CF_OK;
}

static int run_call(const struct call *call)
{
    int previous, status = cf__mpi_device_enter(call->device, &previous);
    if (status == CF_OK)
        status = cf_call(call->kernel, call->own);
    return cf__mpi_device_leave(status, call->device, previous);
}

int cf_mpi_map(MPI_Comm comm, const struct cf_kernel *kernel, void *const args[])
{
    struct cf__mpi_comm *state = NULL;
    uint64_t checksum = 0;
    int status = cf__mpi_enter(function, comm, &state);
    if (status != CF_OK)
        return status;
    struct call call = {.state = state, .kernel = kernel, .args = args, .device = CF_HOST};
    status = check_kernel(kernel, args);
    if (status == CF_OK)
        status = make_call(&call);
    if (status == CF_OK) {
        checksum = cf__mpi_mix(0, call.any->offsets, (size_t)(state->size + 1) * sizeof *call.any->offsets);
        status = run_call(&call);
    }
    free(call.own);
    return cf__mpi_agree_on(state->comm, function, status, checksum);
}
