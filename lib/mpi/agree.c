#include "mpi/agree.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DETAIL_BYTES = 1024 };

/* A failure as ranks tell it to others. */
struct failure {
    int status;
    char detail[DETAIL_BYTES];
};

int cf__mpi_fail(int status, const char *format, ...)
{
    char text[DETAIL_BYTES];
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

static struct failure describe_failure(const struct cf__mpi_comm *state, int status)
{
    struct failure failure = {.status = status};
    (void)snprintf(failure.detail, sizeof failure.detail, "rank %d: %s", state->rank, cf_last_error());
    return failure;
}

int cf__mpi_agree(struct cf__mpi_comm *state, int status)
{
    int own = status < 0 ? state->rank : INT_MAX, first = INT_MAX;
    int failed = cf__mpi_result(MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, state->comm), "MPI_Allreduce");
    if (failed || first == INT_MAX)
        return failed;
    struct failure failure = describe_failure(state, status);
    failed = cf__mpi_result(MPI_Bcast(&failure, (int)sizeof failure, MPI_BYTE, first, state->comm), "MPI_Bcast");
    return failed ? failed : cf_report(failure.status, failure.detail);
}
