#include "mpi/agree.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A failure as ranks tell it to others. */
struct failure {
    int status;
    char detail[CF__MPI_DETAIL];
};

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

static int tell_failure(const struct cf__mpi_agreement *agreement)
{
    struct failure failure = {.status = agreement->status};
    if (agreement->rank == agreement->first)
        (void)snprintf(failure.detail, sizeof failure.detail, "rank %d: %s", agreement->rank, agreement->detail);
    int failed = cf__mpi_result(
        MPI_Bcast(&failure, (int)sizeof failure, MPI_BYTE, agreement->first, agreement->comm), "MPI_Bcast");
    return failed ? failed : cf_report(failure.status, failure.detail);
}

int cf__mpi_agree_start(struct cf__mpi_agreement *agreement, MPI_Comm comm, int status)
{
    *agreement = (struct cf__mpi_agreement){.comm = comm, .request = MPI_REQUEST_NULL, .status = status};
    if (status < 0)
        (void)snprintf(agreement->detail, sizeof agreement->detail, "%s", cf_last_error());
    int failed = cf__mpi_result(MPI_Comm_rank(comm, &agreement->rank), "MPI_Comm_rank");
    if (failed)
        return failed;
    agreement->own = status < 0 ? agreement->rank : INT_MAX;
    agreement->first = INT_MAX;
    return cf__mpi_result(
        MPI_Iallreduce(&agreement->own, &agreement->first, 1, MPI_INT, MPI_MIN, comm, &agreement->request),
        "MPI_Iallreduce");
}

int cf__mpi_agree_finish(struct cf__mpi_agreement *agreement)
{
    int failed = cf__mpi_result(MPI_Wait(&agreement->request, MPI_STATUS_IGNORE), "MPI_Wait");
    return failed || agreement->first == INT_MAX ? failed : tell_failure(agreement);
}

int cf__mpi_agree(MPI_Comm comm, int status)
{
    struct cf__mpi_agreement agreement;
    int failed = cf__mpi_agree_start(&agreement, comm, status);
    return failed ? failed : cf__mpi_agree_finish(&agreement);
}
