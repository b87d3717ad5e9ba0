/* exchange.c - exchanges messages over MPI or NCCL. */
#include "mpi/exchange.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/agree.h"
#include "mpi/nccl.h"
#include "mpi/primary.h"

enum { TAG = 0 };

int64_t cf__mpi_message_space(int64_t count)
{
    return (count + CF__MPI_ALIGNMENT - 1) / CF__MPI_ALIGNMENT * CF__MPI_ALIGNMENT;
}

static int create_requests(const char *function, struct cf__mpi_exchange *exchange, int messages, size_t bytes)
{
    size_t piece = exchange->transport->piece;
    size_t pieces = bytes ? (bytes - 1) / piece + 1 : 1, capacity = (size_t)messages * pieces;
    if (capacity > INT_MAX)
        return cf__mpi_fail(CF_EOVERFLOW, "%s: %d messages of %zu bytes are more than MPI can count", function,
                            messages, bytes);
    exchange->requests = malloc((capacity ? capacity : 1) * sizeof *exchange->requests);
    exchange->capacity = (int)capacity;
    if (!exchange->requests)
        return cf__mpi_fail(CF_ENOMEM, "%s: no memory for %d messages in flight", function, messages);
    return exchange->transport->is_aware ? cf_device_current(&exchange->device) : CF_OK;
}

static int create_events(struct cf__mpi_exchange *exchange)
{
    int status = cf_event_create_with(&exchange->written, CF_EVENT_NO_TIMING);
    return status == CF_OK ? cf_event_create_with(&exchange->received, CF_EVENT_NO_TIMING) : status;
}

int cf__mpi_exchange_create(const char *function, struct cf__mpi_exchange *exchange,
                            struct cf__mpi_transport *transport, cf_stream stream, int messages, size_t bytes)
{
    *exchange = (struct cf__mpi_exchange){.transport = transport, .stream = stream, .device = CF_HOST};
    return transport->is_nccl ? create_events(exchange) : create_requests(function, exchange, messages, bytes);
}

int cf__mpi_exchange_check(const struct cf__mpi_exchange *exchange)
{
    int status = cf_stream_query(exchange->stream);
    if (status != CF_OK && status != CF_ENOTREADY)
        return status;
    return exchange->transport->is_nccl ? cf__mpi_nccl_check(&exchange->transport->nccl) : CF_OK;
}

void cf__mpi_exchange_free(struct cf__mpi_exchange *exchange)
{
    free(exchange->requests);
    (void)!cf_event_destroy(exchange->written);
    (void)!cf_event_destroy(exchange->received);
    *exchange = (struct cf__mpi_exchange){0};
}

/* ---- MPI ---- */

/* Calls MPI_Irecv() or MPI_Isend() for one piece of a message. */
static int begin_piece(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *message, size_t begin,
                       int is_send)
{
    MPI_Comm comm = exchange->transport->object.comm->comm;
    MPI_Request *request = &exchange->requests[exchange->count];
    size_t piece = exchange->transport->piece;
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
    for (int i = 0; i < count && status == CF_OK; i++)
        for (size_t begin = 0; begin < messages[i].bytes && status == CF_OK; begin += exchange->transport->piece)
            status = begin_piece(exchange, &messages[i], begin, is_send);
    return status;
}

/* Starts the messages. Receives wait for the stream too, because kernels may still be reading the messages received
 * before. The messages start even if the work in the stream failed, because other ranks wait for them. */
static int start_mpi(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *sends, int nsends,
                     const struct cf__mpi_message *receives, int nreceives)
{
    int worked = cf_stream_sync(exchange->stream), pushed = cf__mpi_primary_push(exchange->device);
    int status = begin_messages(exchange, receives, nreceives, 0);
    if (status == CF_OK)
        status = begin_messages(exchange, sends, nsends, 1);
    if (!pushed)
        cf__mpi_primary_pop(exchange->device);
    return worked ? worked : pushed ? pushed : status;
}

/* Waits for all requests, even if the context is lost, because MPI is using the buffers. Returns the first error.
 * (MPI_Waitall() is not used, because gcc treats MPICH's MPI_STATUSES_IGNORE as an array without elements.) */
static int finish_mpi(struct cf__mpi_exchange *exchange)
{
    int pushed = cf__mpi_primary_push(exchange->device), status = pushed;
    for (int i = 0; i < exchange->count; i++) {
        int result = MPI_Wait(&exchange->requests[i], MPI_STATUS_IGNORE);
        status = status == CF_OK ? cf__mpi_result(result, "MPI_Wait") : status;
    }
    exchange->count = 0;
    if (!pushed)
        cf__mpi_primary_pop(exchange->device);
    return status;
}

/* ---- NCCL, in its own stream between two events of the caller's ---- */

static int add_messages(struct cf__mpi_nccl *nccl, const struct cf__mpi_message *messages, int count, int is_send)
{
    int status = CF_OK;
    for (const struct cf__mpi_message *each = messages; each < messages + count && status == CF_OK; each++)
        if (each->bytes)
            status = is_send ? cf__mpi_nccl_send(nccl, each->data, each->bytes, each->peer)
                             : cf__mpi_nccl_receive(nccl, each->data, each->bytes, each->peer);
    return status;
}

static int enqueue_messages(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *sends, int nsends,
                            const struct cf__mpi_message *receives, int nreceives)
{
    struct cf__mpi_nccl *nccl = &exchange->transport->nccl;
    int status = cf_event_record(exchange->written, exchange->stream);
    if (status == CF_OK)
        status = cf_stream_wait(nccl->stream, exchange->written);
    if (status == CF_OK)
        status = cf__mpi_nccl_begin(nccl);
    if (status != CF_OK)
        return status;
    status = add_messages(nccl, receives, nreceives, 0);
    if (status == CF_OK)
        status = add_messages(nccl, sends, nsends, 1);
    status = cf__mpi_nccl_end(nccl, status);
    return status == CF_OK ? cf_event_record(exchange->received, nccl->stream) : status;
}

static int start_nccl(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *sends, int nsends,
                      const struct cf__mpi_message *receives, int nreceives)
{
    int status = enqueue_messages(exchange, sends, nsends, receives, nreceives);
    exchange->transport->nccl.is_broken |= status != CF_OK;
    return status;
}

/* Waits for NCCL's messages, and also checks for errors: messages from a rank that has died never arrive, so the event
 * might never complete. */
static int finish_nccl(struct cf__mpi_exchange *exchange)
{
    struct cf__mpi_nccl *nccl = &exchange->transport->nccl;
    int status = CF_OK;
    do {
        status = cf__mpi_nccl_query(nccl);
        if (status == CF_OK)
            status = cf_event_query(exchange->received);
    } while (status == CF_ENOTREADY && sched_yield() == 0);
    return cf__mpi_nccl_abort(nccl, status);
}

/* Aborts NCCL on all ranks if it is broken on one of them, because that rank's messages will never arrive. Ranks of a
 * node have to abort together. */
static void share_abort(const struct cf__mpi_exchange *exchange)
{
    struct cf__mpi_nccl *nccl = &exchange->transport->nccl;
    int own = nccl->is_broken || !nccl->comm, any = 1;
    if (MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, exchange->transport->object.comm->comm) != MPI_SUCCESS || any)
        (void)cf__mpi_nccl_abort(nccl, CF_ECALL);
}

/* ---- Both ---- */

static int start_agreement(struct cf__mpi_exchange *exchange)
{
    MPI_Comm comm = exchange->transport->object.comm->comm;
    exchange->agreement = MPI_REQUEST_NULL;
    return cf__mpi_result(
        MPI_Iallreduce(&exchange->own, &exchange->any, 1, MPI_INT, MPI_MAX, comm, &exchange->agreement),
        "MPI_Iallreduce");
}

void cf__mpi_exchange_start(struct cf__mpi_exchange *exchange, int status, const struct cf__mpi_message *sends,
                            int nsends, const struct cf__mpi_message *receives, int nreceives)
{
    struct cf__mpi_failure earlier = {0};
    (void)cf__mpi_keep(&earlier, status);
    status = exchange->transport->is_nccl ? start_nccl(exchange, sends, nsends, receives, nreceives)
                                          : start_mpi(exchange, sends, nsends, receives, nreceives);
    if (earlier.status)
        status = cf__mpi_recall(&earlier);
    exchange->failure.status = CF_OK;
    (void)cf__mpi_keep(&exchange->failure, status);
    exchange->own = status < 0;
    exchange->any = 0;
    if (exchange->is_background)
        (void)cf__mpi_keep(&exchange->failure, start_agreement(exchange));
}

/* Returns a status that is the same on all ranks: the failure of one rank's start, if there is one. */
static int share_failure(struct cf__mpi_exchange *exchange)
{
    MPI_Comm comm = exchange->transport->object.comm->comm;
    int failed =
        exchange->is_background
            ? cf__mpi_result(MPI_Wait(&exchange->agreement, MPI_STATUS_IGNORE), "MPI_Wait")
            : cf__mpi_result(MPI_Allreduce(&exchange->own, &exchange->any, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
    exchange->is_told = !failed && exchange->any;
    return exchange->is_told ? cf__mpi_agree(comm, cf__mpi_recall(&exchange->failure)) : failed;
}

int cf__mpi_exchange_finish(struct cf__mpi_exchange *exchange)
{
    (void)cf__mpi_keep(&exchange->failure, share_failure(exchange));
    if (exchange->is_told && exchange->transport->is_nccl)
        share_abort(exchange);
    int status = exchange->transport->is_nccl ? finish_nccl(exchange) : finish_mpi(exchange);
    return exchange->failure.status == CF_OK ? status : cf__mpi_recall(&exchange->failure);
}

int cf__mpi_exchange_connect(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *sends, int nsends,
                             const struct cf__mpi_message *receives, int nreceives)
{
    if (!exchange->transport->is_nccl)
        return CF_OK;
    cf__mpi_exchange_start(exchange, CF_OK, sends, nsends, receives, nreceives);
    return cf__mpi_agree(exchange->transport->object.comm->comm, cf__mpi_exchange_finish(exchange));
}
