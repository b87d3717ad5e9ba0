/* agreement.h - cf__mpi_agree() in two halves, between which the caller works. */
#ifndef CF__MPI_AGREEMENT_H
#define CF__MPI_AGREEMENT_H

#include <mpi.h>

/* An agreement on its way; it stays where it is until it is finished. */
struct cf__mpi_agreement {
    MPI_Comm comm;
    MPI_Request request;
    int own, any; /* whether a rank failed: this one, and one of all */
    int status;
    char detail[1024];
};

/* Tells the other ranks this rank's status, and waits for none of them. Keeps the detail. */
int cf__mpi_agreement_start(struct cf__mpi_agreement *agreement, MPI_Comm comm, int status);

/* Returns what cf__mpi_agree() returns for the statuses. */
int cf__mpi_agreement_finish(struct cf__mpi_agreement *agreement);

#endif
