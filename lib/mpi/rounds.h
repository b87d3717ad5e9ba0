/* rounds.h - divides the elements that are sent between ranks into rounds that fit the buffers. */
#ifndef CF__MPI_ROUNDS_H
#define CF__MPI_ROUNDS_H

#include "mpi/exchange.h"

/* Maximum bytes of a buffer for elements of the largest size; CF_MPI_BUFFER, unless a test lowers it. */
extern size_t cf__mpi_buffer_limit;

/* Bytes of the largest elements. Rounds are computed for that size, so that elements of every size have the same
 * rounds. A batch consists of as many rounds as fit the buffers, and is sent in one exchange. For the largest elements,
 * a batch is a single round. */
enum { CF__MPI_ELEMENT_BYTES = 16 };

/* Elements that are sent between this rank and others in one direction. Each round has an equal part of each rank's
 * elements, except that the last rounds may have less: all ranks need the same number of rounds. */
struct cf__mpi_side {
    int64_t *counts;                  /* number of elements per rank */
    void *buffer;                     /* elements of a batch, by round and rank */
    struct cf__mpi_message *messages; /* messages of a batch: one per round and rank */
    int nmessages;
};

/* Returns how many rounds the elements need. */
int64_t cf__mpi_rounds_needed(const struct cf__mpi_side *side, int ranks);

/* Returns the end of the batch that begins with round `begin`, for elements of `bytes` bytes. */
int64_t cf__mpi_batch_end(int64_t rounds, int64_t begin, size_t bytes);

/* Returns how many elements of a rank are sent in a round. */
int64_t cf__mpi_round_part(const struct cf__mpi_side *side, int64_t rounds, int64_t round, int rank);

/* Return how much space in a buffer, in elements, a rank's part of a round needs, or all parts of rounds [begin, end).
 * The space includes gaps that keep messages aligned. */
int64_t cf__mpi_round_space(const struct cf__mpi_side *side, int64_t rounds, int64_t round, int rank);
int64_t cf__mpi_batch_space(const struct cf__mpi_side *side, int64_t rounds, int64_t begin, int64_t end, int ranks);

/* Fills in the messages of the batch that begins with round `begin`, for elements of `bytes` bytes. Each rank begins
 * with the rank after it, so that not all begin with the same one. Returns how many elements of the buffer the batch
 * takes. */
int64_t cf__mpi_batch_fill(struct cf__mpi_side *side, const struct cf__mpi_comm *comm, int64_t rounds, int64_t begin,
                           size_t bytes);

#endif
