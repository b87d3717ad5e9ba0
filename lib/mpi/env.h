/* env.h - reads the environment variables of the library over MPI. */
#ifndef CF__MPI_ENV_H
#define CF__MPI_ENV_H

/* Details of failures begin with `function`. */

/* Writes CF_MPI_AWARE, 0 or 1, to `aware`, or -1 if it is not set. Returns CF_EINVAL for any other value. */
int cf__mpi_env_aware(const char *function, int *aware);

/* Writes the transport that CF_MPI_TRANSPORT names to `transport`, or 0 if it is not set. Returns CF_EINVAL for any
 * other value. */
int cf__mpi_env_transport(const char *function, int *transport);

/* Returns 1 if MPICH_GPU_SUPPORT_ENABLED tells Cray's MPI library to accept pointers to GPU memory. */
int cf__mpi_env_cray_gpu(void);

#endif
