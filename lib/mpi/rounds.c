/* rounds.c - divides the elements that are sent between ranks into rounds. */
#include "mpi/rounds.h"

size_t cf__mpi_buffer_limit = CF_MPI_BUFFER;

/* Returns how many elements of the largest size fit a buffer. */
static int64_t buffer_capacity(int ranks)
{
    int64_t capacity = (int64_t)(cf__mpi_buffer_limit / CF__MPI_ELEMENT_BYTES);
    int64_t least = 2 * CF__MPI_ALIGNMENT * (int64_t)ranks;
    return capacity < least ? least : capacity;
}

int64_t cf__mpi_rounds_needed(const struct cf__mpi_side *side, int ranks)
{
    int64_t total = 0, room = buffer_capacity(ranks) - CF__MPI_ALIGNMENT * (int64_t)ranks;
    for (int rank = 0; rank < ranks; rank++)
        total += side->counts[rank];
    return total <= room ? 1 : (total - 1) / room + 1;
}

int64_t cf__mpi_batch_end(int64_t rounds, int64_t begin, size_t bytes)
{
    int64_t end = begin + CF__MPI_ELEMENT_BYTES / (int64_t)bytes;
    return end < rounds ? end : rounds;
}

int64_t cf__mpi_round_part(const struct cf__mpi_side *side, int64_t rounds, int64_t round, int rank)
{
    int64_t part = (side->counts[rank] + rounds - 1) / rounds, rest = side->counts[rank] - round * part;
    return rest < 0 ? 0 : rest < part ? rest : part;
}

int64_t cf__mpi_round_space(const struct cf__mpi_side *side, int64_t rounds, int64_t round, int rank)
{
    return cf__mpi_message_space(cf__mpi_round_part(side, rounds, round, rank));
}

int64_t cf__mpi_batch_space(const struct cf__mpi_side *side, int64_t rounds, int64_t begin, int64_t end, int ranks)
{
    int64_t space = 0;
    for (int64_t round = begin; round < end; round++)
        for (int rank = 0; rank < ranks; rank++)
            space += cf__mpi_round_space(side, rounds, round, rank);
    return space;
}

int64_t cf__mpi_batch_fill(struct cf__mpi_side *side, const struct cf__mpi_comm *comm, int64_t rounds, int64_t begin,
                           size_t bytes)
{
    int64_t space = 0, end = cf__mpi_batch_end(rounds, begin, bytes);
    struct cf__mpi_message *messages = side->messages;
    for (int64_t round = begin; round < end; round++, messages += comm->size)
        for (int rank = 0; rank < comm->size; rank++) {
            int64_t part = cf__mpi_round_part(side, rounds, round, rank);
            void *data = side->buffer ? (char *)side->buffer + (size_t)space * bytes : NULL;
            messages[(rank - comm->rank - 1 + comm->size) % comm->size] =
                (struct cf__mpi_message){rank, data, (size_t)part * bytes};
            space += cf__mpi_round_space(side, rounds, round, rank);
        }
    side->nmessages = (int)(messages - side->messages);
    return space;
}
