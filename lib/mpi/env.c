/* env.c - reads environment variables; no other file of lib/mpi calls getenv(). */
#include "mpi/env.h"

#include <stdlib.h>
#include <string.h>

#include <cuferry/mpi.h>

#include "mpi/agree.h"

/* Returns NULL if the variable is unset or empty. */
static const char *get_text(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

int cf__mpi_env_aware(const char *function, int *aware)
{
    const char *text = get_text("CF_MPI_AWARE");
    *aware = -1;
    if (text && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return cf__mpi_fail(CF_EINVAL, "%s: CF_MPI_AWARE=%s: it is 0 or 1", function, text);
    if (text)
        *aware = *text == '1';
    return CF_OK;
}

int cf__mpi_env_transport(const char *function, int *transport)
{
    const char *text = get_text("CF_MPI_TRANSPORT");
    *transport = 0;
    if (!text)
        return CF_OK;
    if (strcmp(text, "mpi") == 0)
        *transport = CF_MPI_TRANSPORT_MPI;
    else if (strcmp(text, "nccl") == 0)
        *transport = CF_MPI_TRANSPORT_NCCL;
    if (*transport)
        return CF_OK;
    return cf__mpi_fail(CF_EINVAL, "%s: CF_MPI_TRANSPORT=%s: it is mpi or nccl", function, text);
}

int cf__mpi_env_cray_gpu(void)
{
    const char *text = get_text("MPICH_GPU_SUPPORT_ENABLED");
    return text && strcmp(text, "1") == 0;
}
