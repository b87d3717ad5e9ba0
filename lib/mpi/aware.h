/* aware.h - determines whether MPI accepts pointers to GPU memory. */
#ifndef CF__MPI_AWARE_H
#define CF__MPI_AWARE_H

#include <mpi.h>

/* Agrees on `status` first. Then writes 1 to `aware` if MPI accepts pointers to GPU memory on all ranks, according to
 * the MPI library or the environment. Collective. The detail of a failure begins with `function`. */
int cf__mpi_share_aware(const char *function, MPI_Comm comm, int status, int *aware);

#endif
