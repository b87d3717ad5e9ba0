/* agree.h - errors of MPI as statuses, and errors of one rank on all ranks. */
#ifndef CF__MPI_AGREE_H
#define CF__MPI_AGREE_H

#include <stdint.h>

#include <mpi.h>

#include <cuferry.h>

/* Formats the calling thread's detail and returns `status`. */
__attribute__((format(printf, 2, 3))) int cf__mpi_fail(int status, const char *format, ...);

/* Returns CF_OK for MPI_SUCCESS; else CF_ECALL with a detail that has the name of the call and MPI's own text. */
int cf__mpi_result(int result, const char *call);

/* Returns the status of the lowest rank whose `status` is negative, with its detail, on all ranks; else CF_OK. */
int cf__mpi_agree(MPI_Comm comm, int status);

/* The same in one step with a comparison. CF_EINVAL: no rank has failed, but `value` is not the same on all ranks. */
int cf__mpi_agree_on(MPI_Comm comm, const char *function, int status, uint64_t value);

#endif
