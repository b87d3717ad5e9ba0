/* agree.h - errors of MPI as statuses, and errors of one rank on all ranks. */
#ifndef CF__MPI_AGREE_H
#define CF__MPI_AGREE_H

#include <mpi.h>

#include <cuferry.h>

/* Formats the calling thread's detail and returns `status`. */
__attribute__((format(printf, 2, 3))) int cf__mpi_fail(int status, const char *format, ...);

/* Returns CF_OK for MPI_SUCCESS; else CF_ECALL with a detail that has the name of the call and MPI's own text. */
int cf__mpi_result(int result, const char *call);

/* Returns the status of the lowest rank whose `status` is negative, with its detail, on all ranks; else CF_OK. */
int cf__mpi_agree(MPI_Comm comm, int status);

#endif
