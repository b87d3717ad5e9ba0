/* agree.h - errors of MPI as statuses, and errors of one rank on all ranks. */
#ifndef CF__MPI_AGREE_H
#define CF__MPI_AGREE_H

#include <stdint.h>

#include <mpi.h>

#include <cuferry.h>

/* Bytes of a detail. */
enum { CF__MPI_DETAIL = 1024 };

/* A failure that is kept, or sent to other ranks. */
struct cf__mpi_failure {
    int status; /* CF_OK: none */
    char detail[CF__MPI_DETAIL];
};

/* Formats the calling thread's detail and returns `status`. */
__attribute__((format(printf, 2, 3))) int cf__mpi_fail(int status, const char *format, ...);

/* Returns CF_OK for MPI_SUCCESS; else CF_ECALL with a detail that has the name of the call and MPI's own text. */
int cf__mpi_result(int result, const char *call);

/* Returns the status of the lowest rank whose `status` is negative, with its detail, on all ranks; else CF_OK. */
int cf__mpi_agree(MPI_Comm comm, int status);

/* The same in one step with a comparison. CF_EINVAL: no rank has failed, but the name of the function or `value` is not
 * the same on all ranks; the detail names two of them. */
int cf__mpi_agree_on(MPI_Comm comm, const char *function, int status, uint64_t value);

/* Keeps a negative `status` with the calling thread's detail for cf__mpi_recall(), and returns it. */
int cf__mpi_keep(struct cf__mpi_failure *failure, int status);

/* Returns the kept status and restores its detail; keeps nothing any more. */
int cf__mpi_recall(struct cf__mpi_failure *failure);

/* Returns the first status that is no success. Its arguments are calls that are all made, so that no rank waits for
 * another that failed. */
static inline int cf__mpi_first(int status, int next)
{
    return status == CF_OK ? next : status;
}

#endif
