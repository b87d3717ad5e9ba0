/* blocks.h - computes sums over blocks of 65,536 global indices, which are bitwise independent of the number of
 * ranks. */
#ifndef CF__MPI_BLOCKS_H
#define CF__MPI_BLOCKS_H

#include "mpi/comm.h"
#include "mpi/value.h"

/* Writes the sum of x, or the inner product of x and y unless y is NULL. `status` is the result of the caller's checks,
 * and `checksum` covers what all ranks must have in common; the ranks agree on both first. */
int cf__mpi_blocks_add(const char *function, struct cf__mpi_comm *state, const cf_mpi_array *x, const cf_mpi_array *y,
                       int status, uint64_t checksum, union cf__mpi_value *result);

#endif
