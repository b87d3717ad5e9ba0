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

/* A failure as a rank tells it to others. */
struct cf__mpi_failure {
    int status;
    char detail[1024];
};

/* An agreement that is on its way while the caller works; it stays where it is until it is finished. */
struct cf__mpi_agreement {
    MPI_Comm comm;
    MPI_Request request;
    int own, first; /* ranks that failed: this one, or INT_MAX; the lowest of all */
    struct cf__mpi_failure failure;
};

/* The two halves of cf__mpi_agree(). The first one waits for no rank, and keeps the detail for the second. */
int cf__mpi_agree_start(struct cf__mpi_agreement *agreement, MPI_Comm comm, int status);
int cf__mpi_agree_finish(struct cf__mpi_agreement *agreement);

#endif
