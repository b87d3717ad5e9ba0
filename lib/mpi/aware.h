/* aware.h - pointers to GPU memory in calls of MPI. */
#ifndef CF__MPI_AWARE_H
#define CF__MPI_AWARE_H

#include <mpi.h>

/* Agrees on `status` first. Then writes 1 to `aware` if the MPI library of all ranks takes such pointers, by its own
 * answer or the environment's. Collective. The detail of a failure of its own begins with `function`. */
int cf__mpi_share_aware(const char *function, MPI_Comm comm, int status, int *aware);

#endif
