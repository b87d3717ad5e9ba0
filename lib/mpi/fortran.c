/* fortran.c - accepts Fortran communicators for the functions of <cuferry/mpi.h>. */
#include "mpi/fortran.h"

#include "mpi/agree.h"
#include "mpi/array.h"

/* ---- Types of values ---- */

static const char *name_kind(cf_type type)
{
    return type == CF_F32   ? "real(c_float)"
           : type == CF_F64 ? "real(c_double)"
           : type == CF_I32 ? "integer(c_int32_t)"
                            : "integer(c_int64_t)";
}

/* Fails because `values` do not have the type of x. Takes part in the first agreement of the call, so that the call
 * fails on all ranks. */
static int refuse_values(const char *function, MPI_Comm comm, const cf_mpi_array *x, const char *values, cf_type type)
{
    struct cf__mpi_comm *state = NULL;
    int status = cf__mpi_enter(function, comm, &state);
    if (status != CF_OK)
        return status;
    status = cf__mpi_array_check_number(function, state, "x", x);
    if (status == CF_OK)
        status = cf__mpi_fail(CF_EINVAL, "%s: %s %s, and x has type %s", function, values, name_kind(type),
                              cf__mpi_type_text(x->type));
    return cf__mpi_agree_on(state->comm, function, status, 0);
}

/* ---- Functions ---- */

int cf_mpi_device_f(MPI_Fint comm, int *device, char *reason, size_t size)
{
    return cf_mpi_device(MPI_Comm_f2c(comm), device, reason, size);
}

int cf_mpi_aware_f(MPI_Fint comm, int *aware)
{
    return cf_mpi_aware(MPI_Comm_f2c(comm), aware);
}

int cf_mpi_transport_f(MPI_Fint comm, int *transport, char *text, size_t size)
{
    return cf_mpi_transport(MPI_Comm_f2c(comm), transport, text, size);
}

int cf_mpi_plan_create_f(cf_mpi_plan **plan, MPI_Fint comm, const int64_t *offsets, const int64_t *index, int64_t count)
{
    return cf_mpi_plan_create(plan, MPI_Comm_f2c(comm), offsets, index, count);
}

int cf_mpi_sum_f(MPI_Fint comm, const cf_mpi_array *x, void *result, cf_type type, unsigned int flags)
{
    if (type != x->type)
        return refuse_values("cf_mpi_sum", MPI_Comm_f2c(comm), x, "result is", type);
    return cf_mpi_sum(MPI_Comm_f2c(comm), x, result, flags);
}

int cf_mpi_dot_f(MPI_Fint comm, const cf_mpi_array *x, const cf_mpi_array *y, void *result, cf_type type,
                 unsigned int flags)
{
    if (type != x->type)
        return refuse_values("cf_mpi_dot", MPI_Comm_f2c(comm), x, "result is", type);
    return cf_mpi_dot(MPI_Comm_f2c(comm), x, y, result, flags);
}

int cf_mpi_min_f(MPI_Fint comm, const cf_mpi_array *x, void *result, cf_type type)
{
    if (type != x->type)
        return refuse_values("cf_mpi_min", MPI_Comm_f2c(comm), x, "result is", type);
    return cf_mpi_min(MPI_Comm_f2c(comm), x, result);
}

int cf_mpi_max_f(MPI_Fint comm, const cf_mpi_array *x, void *result, cf_type type)
{
    if (type != x->type)
        return refuse_values("cf_mpi_max", MPI_Comm_f2c(comm), x, "result is", type);
    return cf_mpi_max(MPI_Comm_f2c(comm), x, result);
}

int cf_mpi_exclusive_scan_f(MPI_Fint comm, const cf_mpi_array *x, cf_mpi_array *y)
{
    return cf_mpi_exclusive_scan(MPI_Comm_f2c(comm), x, y);
}

int cf_mpi_histogram_f(MPI_Fint comm, const cf_mpi_array *x, int64_t *counts, int64_t bins, const void *lower,
                       const void *upper, cf_type type)
{
    if (type != x->type)
        return refuse_values("cf_mpi_histogram", MPI_Comm_f2c(comm), x, "lower and upper are", type);
    return cf_mpi_histogram(MPI_Comm_f2c(comm), x, counts, bins, lower, upper);
}

int cf_mpi_halo_create_f(cf_mpi_halo **halo, MPI_Fint comm, cf_type type, const int64_t *extents, int64_t width,
                         unsigned int flags)
{
    return cf_mpi_halo_create(halo, MPI_Comm_f2c(comm), type, extents, width, flags);
}

int cf_mpi_map_f(MPI_Fint comm, const struct cf_kernel *kernel, void *const args[])
{
    return cf_mpi_map(MPI_Comm_f2c(comm), kernel, args);
}
