#include "mpi/agree.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

int cf__mpi_fail(int status, const char *format, ...)
{
    char text[1024];
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

int cf__mpi_agree_start(struct cf__mpi_agreement *agreement, MPI_Comm comm, int status)
{
    int rank = 0, failed = cf__mpi_result(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    *agreement = (struct cf__mpi_agreement){.comm = comm, .request = MPI_REQUEST_NULL, .first = INT_MAX};
    if (failed)
        return failed;
    agreement->own = status < 0 ? rank : INT_MAX;
    agreement->failure.status = status;
    if (status < 0)
        (void)snprintf(agreement->failure.detail, sizeof agreement->failure.detail, "rank %d: %s", rank,
                       cf_last_error());
    return cf__mpi_result(
        MPI_Iallreduce(&agreement->own, &agreement->first, 1, MPI_INT, MPI_MIN, comm, &agreement->request),
        "MPI_Iallreduce");
}

static int tell_failure(struct cf__mpi_agreement *agreement)
{
    struct cf__mpi_failure *failure = &agreement->failure;
    int failed = cf__mpi_result(MPI_Bcast(failure, (int)sizeof *failure, MPI_BYTE, agreement->first, agreement->comm),
                                "MPI_Bcast");
    return failed ? failed : cf_report(failure->status, failure->detail);
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
