/* blocks.h - sums whose bits do not depend on the number of ranks, over blocks of 65,536 global indices. */
#ifndef CF__MPI_BLOCKS_H
#define CF__MPI_BLOCKS_H

#include "mpi/comm.h"
#include "mpi/value.h"

/* Writes the sum of x, or of its products with y unless y is NULL. `status` is that of the caller's checks of the
 * arrays, and `checksum` has what all ranks have alike; both are agreed on here. */
int cf__mpi_blocks_add(const char *function, struct cf__mpi_comm *state, const cf_mpi_array *x, const cf_mpi_array *y,
                       int status, uint64_t checksum, union cf__mpi_value *result);

#endif
