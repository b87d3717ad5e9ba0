/* exchange.h - messages between ranks, which travel while the caller works. */
#ifndef CF__MPI_EXCHANGE_H
#define CF__MPI_EXCHANGE_H

#include "mpi/agree.h"
#include "mpi/transport.h"

/* Bytes at `data`, in a buffer of cf__mpi_buffer_alloc(), to or from a rank. Messages of 0 bytes are not sent. */
struct cf__mpi_message {
    int peer;
    void *data;
    size_t bytes;
};

/* A message begins at a multiple of 16 elements of its buffer, and so of 16 bytes. NCCL copies byte by byte at other
 * addresses. */
enum { CF__MPI_ALIGNMENT = 16 };

/* Returns `count` rounded up to CF__MPI_ALIGNMENT: the distance to the next message, in elements. */
int64_t cf__mpi_message_space(int64_t count);

/* Messages in flight. */
struct cf__mpi_exchange {
    struct cf__mpi_transport *transport;
    cf_stream stream; /* the stream of the kernels that write and read the buffers */
    int device;       /* whose context MPI needs; CF_HOST: none */
    int count;        /* requests in flight */
    int capacity;
    MPI_Request *requests;
    cf_event written, received;     /* with NCCL: the buffers before and after the messages */
    int is_background;              /* ranks agree on failures of the start from then on, not when they finish */
    int own, any;                   /* 1 if the start failed on this rank, and on any rank; else 0 */
    MPI_Request agreement;          /* on `any`, in the background */
    struct cf__mpi_failure failure; /* of the start on this rank, then of any rank */
    int is_told;                    /* the latest finish returned a failure that all ranks know */
};

/* Makes an exchange of up to `messages` messages, sends and receives together, with up to `bytes` bytes each. Details
 * of failures begin with `function`. */
int cf__mpi_exchange_create(const char *function, struct cf__mpi_exchange *exchange,
                            struct cf__mpi_transport *transport, cf_stream stream, int messages, size_t bytes);

/* Returns CF_OK if messages can travel: no work in the stream and no earlier exchange has ended NCCL or the device.
 * Ranks agree on it before they start. */
int cf__mpi_exchange_check(const struct cf__mpi_exchange *exchange);

/* Frees what the exchange owns. No messages are in flight. */
void cf__mpi_exchange_free(struct cf__mpi_exchange *exchange);

/* Sends and receives messages, after earlier work in the stream has written and read the buffers. The k-th message to a
 * rank is the k-th one that this rank receives from here. Later work in the stream may run while they travel. `status`
 * is that of the earlier work: if it failed, the messages travel nevertheless, so that no rank waits. A start that
 * fails over NCCL ends it on this rank. Failures are returned by finish, which the caller calls in any case. */
void cf__mpi_exchange_start(struct cf__mpi_exchange *exchange, int status, const struct cf__mpi_message *sends,
                            int nsends, const struct cf__mpi_message *receives, int nreceives);

/* Waits for the messages. With `is_background` it also waits until all ranks have started, else until all have called
 * finish: that is faster if they call it at once. Later work in the stream finds those received, and may overwrite
 * those that were sent. All ranks return a failure of one rank's start, and if it has ended NCCL, the others end it,
 * too. */
int cf__mpi_exchange_finish(struct cf__mpi_exchange *exchange);

/* Sends messages once whose bytes do not matter, on all ranks, after they agreed: NCCL connects two ranks in their
 * first group, which waits for the other rank. Does nothing over MPI. Returns the same status on all ranks. */
int cf__mpi_exchange_connect(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *sends, int nsends,
                             const struct cf__mpi_message *receives, int nreceives);

#endif
