/* aware.c - determines whether MPI accepts pointers to GPU memory, from the MPI library or the environment. */
#include "mpi/aware.h"

#include <cuferry/mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "mpi/agree.h"
#include "mpi/comm.h"
#include "mpi/env.h"

/* Returns the answer of the MPI library itself: Open MPI and MPICH have a query function, and Cray's MPICH also needs
 * an environment variable. */
static int ask_library(void)
{
    int aware = 0;
#if defined OPEN_MPI && defined OMPI_HAVE_MPI_EXT_CUDA
    aware = MPIX_Query_cuda_support();
#elif defined MPIX_GPU_SUPPORT_CUDA
    if (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &aware) != MPI_SUCCESS)
        aware = 0;
#endif
#ifdef CRAY_MPICH_VERSION
    aware = cf__mpi_env_cray_gpu();
#endif
    return aware != 0;
}

int cf__mpi_share_aware(const char *function, MPI_Comm comm, int status, int *aware)
{
    int own = 0;
    if (status == CF_OK)
        status = cf__mpi_env_aware(function, &own);
    if (status == CF_OK && own < 0)
        own = ask_library();
    status = cf__mpi_agree(comm, status);
    return status == CF_OK ? cf__mpi_result(MPI_Allreduce(&own, aware, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce")
                           : status;
}

int cf_mpi_aware(MPI_Comm comm, int *aware)
{
    struct cf__mpi_comm *state = NULL;
    int all = 0, status = cf__mpi_enter("cf_mpi_aware", comm, &state);
    if (status != CF_OK)
        return status;
    status = aware ? CF_OK : cf__mpi_fail(CF_EINVAL, "cf_mpi_aware: aware is NULL");
    status = cf__mpi_share_aware("cf_mpi_aware", state->comm, status, &all);
    if (status == CF_OK)
        *aware = all;
    return status;
}
