/* rounds.c - divides elements that cross into rounds. */
#include "mpi/rounds.h"

size_t cf__mpi_buffer_limit = CF_MPI_BUFFER;

/* Elements that fit a buffer. Each rank may need one more than its share because parts are rounded up. */
static int64_t buffer_capacity(int ranks)
{
    int64_t capacity = (int64_t)(cf__mpi_buffer_limit / CF__MPI_ELEMENT_BYTES);
    return capacity < 2 * (int64_t)ranks ? 2 * (int64_t)ranks : capacity;
}

int64_t cf__mpi_rounds_needed(const struct cf__mpi_side *side, int ranks)
{
    int64_t total = 0, capacity = buffer_capacity(ranks);
    for (int rank = 0; rank < ranks; rank++)
        total += side->counts[rank];
    return total <= capacity ? 1 : (total - 1) / (capacity - ranks) + 1;
}

int64_t cf__mpi_round_part(const struct cf__mpi_side *side, int64_t rounds, int64_t round, int rank)
{
    int64_t part = (side->counts[rank] + rounds - 1) / rounds, rest = side->counts[rank] - round * part;
    return rest < 0 ? 0 : rest < part ? rest : part;
}

int64_t cf__mpi_round_count(const struct cf__mpi_side *side, int64_t rounds, int64_t round, int ranks)
{
    int64_t count = 0;
    for (int rank = 0; rank < ranks; rank++)
        count += cf__mpi_round_part(side, rounds, round, rank);
    return count;
}

int64_t cf__mpi_round_fill(struct cf__mpi_side *side, const struct cf__mpi_comm *comm, int64_t rounds, int64_t round,
                           size_t bytes)
{
    int64_t count = 0;
    side->nmessages = comm->size;
    for (int rank = 0; rank < comm->size; rank++) {
        int64_t part = cf__mpi_round_part(side, rounds, round, rank);
        void *data = side->buffer ? (char *)side->buffer + (size_t)count * bytes : NULL;
        side->messages[(rank - comm->rank - 1 + comm->size) % comm->size] =
            (struct cf__mpi_message){rank, data, (size_t)part * bytes};
        count += part;
    }
    return count;
}
