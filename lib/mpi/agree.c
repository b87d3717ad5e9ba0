/* agree.c - converts errors of MPI to statuses, and makes all ranks agree on one status. */
#include "mpi/agree.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int cf__mpi_fail(int status, const char *format, ...)
{
    char text[CF__MPI_DETAIL];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return cf_report(status, text);
}

int cf__mpi_result(int result, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (result == MPI_SUCCESS)
        return CF_OK;
    if (MPI_Error_string(result, text, &length) != MPI_SUCCESS || !text[0])
        (void)snprintf(text, sizeof text, "error %d", result);
    return cf__mpi_fail(CF_ECALL, "%s: %s", call, text);
}

/* Returns 1 if the detail already names a rank, because all ranks have agreed on it before. */
static int names_rank(const char *detail)
{
    int length = 0;
    (void)sscanf(detail, "rank %*d: %n", &length);
    return length > 0;
}

static int tell_failure(MPI_Comm comm, int rank, int first, int status)
{
    struct cf__mpi_failure failure = {.status = status};
    const char *detail = cf_last_error();
    if (rank == first && names_rank(detail))
        (void)snprintf(failure.detail, sizeof failure.detail, "%s", detail);
    else if (rank == first)
        (void)snprintf(failure.detail, sizeof failure.detail, "rank %d: %s", rank, detail);
    int failed = cf__mpi_result(MPI_Bcast(&failure, (int)sizeof failure, MPI_BYTE, first, comm), "MPI_Bcast");
    return failed ? failed : cf_report(failure.status, failure.detail);
}

static uint64_t mix_name(uint64_t value, const char *name)
{
    for (; *name; name++)
        value = (value ^ (unsigned char)*name) * 0x100000001b3; /* FNV-1a hash */
    return value;
}

/* One rank's contribution to an agreement. */
struct part {
    char function[64];
    uint64_t value;
};

static const char *name_function(const struct part *part)
{
    return *part->function ? part->function : "another function";
}

/* Fails with a detail that names rank 0 and the lowest rank whose part differs from rank 0's. */
static int tell_difference(MPI_Comm comm, int rank, const char *function, uint64_t value)
{
    struct part first = {.value = value}, own, other;
    int differs, lowest = 0, bytes = (int)sizeof first;
    (void)snprintf(first.function, sizeof first.function, "%s", function);
    own = other = first;
    int failed = cf__mpi_result(MPI_Bcast(&first, bytes, MPI_BYTE, 0, comm), "MPI_Bcast");
    if (failed)
        return failed;
    differs = own.value == first.value ? INT_MAX : rank;
    failed = cf__mpi_result(MPI_Allreduce(&differs, &lowest, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
    if (!failed)
        failed = cf__mpi_result(MPI_Bcast(&other, bytes, MPI_BYTE, lowest, comm), "MPI_Bcast");
    if (failed)
        return failed;
    if (strcmp(first.function, other.function) != 0)
        return cf__mpi_fail(CF_EINVAL, "rank 0 calls %s, and rank %d calls %s", name_function(&first), lowest,
                            name_function(&other));
    return cf__mpi_fail(CF_EINVAL, "%s: ranks 0 and %d differ in a length, offsets, a type or options", first.function,
                        lowest);
}

int cf__mpi_agree_on(MPI_Comm comm, const char *function, int status, uint64_t value)
{
    int rank = 0, failed = cf__mpi_result(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    if (failed)
        return failed;
    value = mix_name(value, function);
    /* One reduction finds three values: the lowest rank that failed, the smallest value, and the largest value, which
     * is the complement of the smallest complement. */
    int64_t own[3] = {status < 0 ? rank : INT_MAX, (int64_t)value, (int64_t)~value}, least[3] = {0};
    failed = cf__mpi_result(MPI_Allreduce(own, least, 3, MPI_INT64_T, MPI_MIN, comm), "MPI_Allreduce");
    if (failed)
        return failed;
    if (least[0] != INT_MAX)
        return tell_failure(comm, rank, (int)least[0], status);
    return least[1] == ~least[2] ? CF_OK : tell_difference(comm, rank, function, value);
}

int cf__mpi_agree(MPI_Comm comm, int status)
{
    return cf__mpi_agree_on(comm, "", status, 0);
}

int cf__mpi_keep(struct cf__mpi_failure *failure, int status)
{
    if (status >= 0)
        return status;
    failure->status = status;
    (void)snprintf(failure->detail, sizeof failure->detail, "%s", cf_last_error());
    return status;
}

int cf__mpi_recall(struct cf__mpi_failure *failure)
{
    int status = failure->status;
    failure->status = CF_OK;
    return status == CF_OK ? CF_OK : cf_report(status, failure->detail);
}
