/* exchange.h - exchanges messages between ranks while the caller works. */
#ifndef CF__MPI_EXCHANGE_H
#define CF__MPI_EXCHANGE_H

#include "mpi/agree.h"
#include "mpi/transport.h"

/* A message: bytes at `data`, in a buffer of cf__mpi_buffer_alloc(), to or from a rank. Messages of 0 bytes are not
 * sent. */
struct cf__mpi_message {
    int peer;
    void *data;
    size_t bytes;
};

/* A message begins at a multiple of 16 elements of its buffer, and so of 16 bytes, because NCCL copies byte by byte at
 * other addresses. */
enum { CF__MPI_ALIGNMENT = 16 };

/* Returns `count` rounded up to CF__MPI_ALIGNMENT, which is the distance to the next message in elements. */
int64_t cf__mpi_message_space(int64_t count);

/* Messages in flight. */
struct cf__mpi_exchange {
    struct cf__mpi_transport *transport;
    cf_stream stream; /* stream of the kernels that access the buffers */
    int device;       /* device whose context MPI needs, or CF_HOST */
    int count;        /* number of requests in flight */
    int capacity;
    MPI_Request *requests;
    cf_event written, received;     /* NCCL only: events recorded before and after the messages */
    int is_background;              /* 1 if the ranks agree on failures from the start on, 0 if they do at the finish */
    int own, any;                   /* 1 if the start failed on this rank, and on any rank */
    MPI_Request agreement;          /* background agreement on `any` */
    struct cf__mpi_failure failure; /* failure of the start on this rank, then of any rank */
    int is_told;                    /* 1 if the latest finish returned a failure known to all ranks */
};

/* Creates an exchange of up to `messages` messages (sends plus receives) of up to `bytes` bytes each. Details of
 * failures begin with `function`. */
int cf__mpi_exchange_create(const char *function, struct cf__mpi_exchange *exchange,
                            struct cf__mpi_transport *transport, cf_stream stream, int messages, size_t bytes);

/* Returns CF_OK if messages can be sent, that is, if neither work in the stream nor an earlier exchange has ended NCCL
 * or the device. The ranks agree on that before they start. */
int cf__mpi_exchange_check(const struct cf__mpi_exchange *exchange);

/* Frees what the exchange owns; no messages may be in flight. */
void cf__mpi_exchange_free(struct cf__mpi_exchange *exchange);

/* Sends and receives messages, after earlier work in the stream has accessed the buffers. The k-th message to a rank is
 * the k-th that it receives from here. Later work in the stream may run meanwhile. `status` is that of the earlier
 * work; after a failure the messages are sent nevertheless, so that no rank waits. A start that fails over NCCL ends it
 * on this rank. The caller always calls finish, which returns the failures. */
void cf__mpi_exchange_start(struct cf__mpi_exchange *exchange, int status, const struct cf__mpi_message *sends,
                            int nsends, const struct cf__mpi_message *receives, int nreceives);

/* Waits for the messages, and until all ranks have started (`is_background`) or have called finish, which is faster if
 * they call it at once. Later work in the stream may read received messages and overwrite sent ones. All ranks return a
 * failure of one rank's start; if that ended NCCL, the others end it, too. */
int cf__mpi_exchange_finish(struct cf__mpi_exchange *exchange);

/* Sends messages with arbitrary content once, on all ranks, after they have agreed: NCCL connects two ranks in their
 * first group, which waits for the other rank. Does nothing over MPI. Returns the same status on all ranks. */
int cf__mpi_exchange_connect(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *sends, int nsends,
                             const struct cf__mpi_message *receives, int nreceives);

#endif
