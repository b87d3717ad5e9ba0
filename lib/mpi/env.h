/* env.h - the environment variables of the library over MPI. */
#ifndef CF__MPI_ENV_H
#define CF__MPI_ENV_H

/* Details of failures begin with `function`. */

/* Writes 0 or 1 of CF_MPI_AWARE to `aware`, and -1 if it is not set. CF_EINVAL: it has another value. */
int cf__mpi_env_aware(const char *function, int *aware);

/* Writes the transport of CF_MPI_TRANSPORT to `transport`, and 0 if it is not set. CF_EINVAL: it has another value. */
int cf__mpi_env_transport(const char *function, int *transport);

/* Returns 1 if the MPI library of Cray was told to take pointers to GPU memory (MPICH_GPU_SUPPORT_ENABLED). */
int cf__mpi_env_cray_gpu(void);

#endif
