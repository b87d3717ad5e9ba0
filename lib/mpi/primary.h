/* primary.h - makes the primary context of a device current, as MPI and NCCL need it. */
#ifndef CF__MPI_PRIMARY_H
#define CF__MPI_PRIMARY_H

/* Makes the primary context of a GPU current; does nothing for CF_HOST. Returns CF_ECALL if the driver fails. */
int cf__mpi_primary_push(int device);

/* Undoes a successful push. */
void cf__mpi_primary_pop(int device);

#endif
