/* aware.h - pointers to GPU memory in calls of MPI. */
#ifndef CF__MPI_AWARE_H
#define CF__MPI_AWARE_H

/* Writes 1 to `aware` if the calling rank's MPI library takes such pointers, by its own answer or the environment's. The
 * detail of a failure begins with `function`. */
int cf__mpi_ask_aware(const char *function, int *aware);

#endif
