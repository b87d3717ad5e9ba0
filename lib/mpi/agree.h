/* agree.h - converts errors of MPI to statuses, and makes all ranks agree on one status. */
#ifndef CF__MPI_AGREE_H
#define CF__MPI_AGREE_H

#include <stdint.h>

#include <mpi.h>

#include <cuferry.h>

/* Size of a detail in bytes. */
enum { CF__MPI_DETAIL = 1024 };

/* A failure that is kept for later, or sent to other ranks. */
struct cf__mpi_failure {
    int status; /* status; CF_OK: no failure */
    char detail[CF__MPI_DETAIL];
};

/* Formats the calling thread's detail and returns `status`. */
__attribute__((format(printf, 2, 3))) int cf__mpi_fail(int status, const char *format, ...);

/* Returns CF_OK for MPI_SUCCESS, and otherwise CF_ECALL, with the name of the call and MPI's own text in the detail. */
int cf__mpi_result(int result, const char *call);

/* Returns on all ranks the status of the lowest rank whose `status` is negative, with its detail, or CF_OK if there is
 * none. */
int cf__mpi_agree(MPI_Comm comm, int status);

/* Returns a status like cf__mpi_agree(), and also compares the function's name and `value` between the ranks. If no
 * rank has failed but these differ, returns CF_EINVAL on all ranks, with a detail that names two ranks that differ. */
int cf__mpi_agree_on(MPI_Comm comm, const char *function, int status, uint64_t value);

/* Keeps a negative `status` with the calling thread's detail for cf__mpi_recall(), and returns it. */
int cf__mpi_keep(struct cf__mpi_failure *failure, int status);

/* Returns the kept status, restores its detail, and forgets both. */
int cf__mpi_recall(struct cf__mpi_failure *failure);

/* Returns the first status that is not CF_OK. The second call is evaluated even if the first failed, because other
 * ranks may wait for it. */
static inline int cf__mpi_first(int status, int next)
{
    return status == CF_OK ? next : status;
}

#endif
