/* primary.h - the CUDA context of a device as the calling thread's current one, as MPI and NCCL need it. */
#ifndef CF__MPI_PRIMARY_H
#define CF__MPI_PRIMARY_H

/* Makes the primary context of a GPU current; does nothing for CF_HOST. CF_ECALL: the driver refused. */
int cf__mpi_primary_push(int device);

/* Undoes a push that succeeded. */
void cf__mpi_primary_pop(int device);

#endif
