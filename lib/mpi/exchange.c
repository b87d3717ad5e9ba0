#include "mpi/exchange.h"

#include <limits.h>
#include <stdlib.h>

#include "mpi/agree.h"

/* MPI counts bytes in an int: longer messages go in pieces of this size. */
static const size_t piece = (size_t)1 << 30;
enum { TAG = 0 };

int cf__mpi_exchange_create(struct cf__mpi_exchange *exchange, struct cf__mpi_transport *transport, cf_stream stream,
                            int messages, size_t bytes)
{
    size_t pieces = bytes ? (bytes - 1) / piece + 1 : 1, capacity = (size_t)messages * pieces;
    *exchange = (struct cf__mpi_exchange){.transport = transport, .stream = stream};
    if (capacity > INT_MAX)
        return cf__mpi_fail(CF_EOVERFLOW, "%d messages of %zu bytes are more than MPI can count", messages, bytes);
    exchange->requests = malloc((capacity ? capacity : 1) * sizeof *exchange->requests);
    exchange->capacity = (int)capacity;
    return exchange->requests ? CF_OK : cf__mpi_fail(CF_ENOMEM, "no memory for %d messages in flight", messages);
}

void cf__mpi_exchange_free(struct cf__mpi_exchange *exchange)
{
    free(exchange->requests);
    *exchange = (struct cf__mpi_exchange){0};
}

/* The MPI function for one piece: MPI_Irecv() or MPI_Isend(). */
static int begin_piece(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *message, size_t begin,
                       int is_send)
{
    MPI_Comm comm = exchange->transport->object.comm->comm;
    MPI_Request *request = &exchange->requests[exchange->count];
    int bytes = (int)(message->bytes - begin < piece ? message->bytes - begin : piece);
    char *data = (char *)message->data + begin;
    int result = is_send ? MPI_Isend(data, bytes, MPI_BYTE, message->peer, TAG, comm, request)
                         : MPI_Irecv(data, bytes, MPI_BYTE, message->peer, TAG, comm, request);
    exchange->count += result == MPI_SUCCESS;
    return cf__mpi_result(result, is_send ? "MPI_Isend" : "MPI_Irecv");
}

static int begin_messages(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *messages, int count,
                          int is_send)
{
    int status = CF_OK;
    for (int i = 0; i < count && !status; i++)
        for (size_t begin = 0; begin < messages[i].bytes && !status; begin += piece)
            status = begin_piece(exchange, &messages[i], begin, is_send);
    return status;
}

int cf__mpi_exchange_start(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *sends, int nsends,
                           const struct cf__mpi_message *receives, int nreceives)
{
    int status = begin_messages(exchange, receives, nreceives, 0);
    if (!status)
        status = cf_stream_sync(exchange->stream);
    return status ? status : begin_messages(exchange, sends, nsends, 1);
}

int cf__mpi_exchange_finish(struct cf__mpi_exchange *exchange)
{
    int result = MPI_SUCCESS;
    /* Not MPI_Waitall(): gcc takes MPICH's MPI_STATUSES_IGNORE for an array of no elements. */
    for (int i = 0; i < exchange->count; i++) {
        int done = MPI_Wait(&exchange->requests[i], MPI_STATUS_IGNORE);
        result = result == MPI_SUCCESS ? done : result;
    }
    exchange->count = 0;
    return cf__mpi_result(result, "MPI_Wait");
}
