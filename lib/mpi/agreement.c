#include "mpi/agreement.h"

#include <stdio.h>

#include "mpi/agree.h"

int cf__mpi_agreement_start(struct cf__mpi_agreement *agreement, MPI_Comm comm, int status)
{
    *agreement = (struct cf__mpi_agreement){.comm = comm, .request = MPI_REQUEST_NULL, .status = status};
    agreement->own = status < 0;
    if (status < 0)
        (void)snprintf(agreement->detail, sizeof agreement->detail, "%s", cf_last_error());
    return cf__mpi_result(
        MPI_Iallreduce(&agreement->own, &agreement->any, 1, MPI_INT, MPI_MAX, comm, &agreement->request),
        "MPI_Iallreduce");
}

int cf__mpi_agreement_finish(struct cf__mpi_agreement *agreement)
{
    int failed = cf__mpi_result(MPI_Wait(&agreement->request, MPI_STATUS_IGNORE), "MPI_Wait");
    if (failed || !agreement->any)
        return failed;
    return cf__mpi_agree(agreement->comm, agreement->own ? cf_report(agreement->status, agreement->detail) : CF_OK);
}
