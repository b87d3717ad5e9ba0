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

/* A message begins at a multiple of 16 elements, and therefore of 16 bytes, in its buffer. At other addresses NCCL
 * copies byte by byte. */
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
    int is_background;              /* 1 if the ranks agree on failures while the messages are in flight, 0 if they
                                     * agree at the finish */
    int own, any;                   /* 1 if the start failed on this rank; 1 if it failed on any rank */
    MPI_Request agreement;          /* request of the agreement on `any` in the background */
    struct cf__mpi_failure failure; /* failure of this rank's start; after the agreement, failure of any rank's start */
    int is_told;                    /* 1 if the latest finish returned a failure known to all ranks */
};

/* Creates an exchange of up to `messages` messages (sends plus receives) of up to `bytes` bytes each. Details of
 * failures begin with `function`. */
int cf__mpi_exchange_create(const char *function, struct cf__mpi_exchange *exchange,
                            struct cf__mpi_transport *transport, cf_stream stream, int messages, size_t bytes);

/* Returns CF_OK if messages can be sent, which is the case unless work in the stream or an earlier exchange has broken
 * NCCL or the device. The ranks agree on that before they start. */
int cf__mpi_exchange_check(const struct cf__mpi_exchange *exchange);

/* Frees what the exchange owns; no messages may be in flight. */
void cf__mpi_exchange_free(struct cf__mpi_exchange *exchange);

/* Sends and receives messages, after earlier work in the stream has accessed the buffers. Messages between two ranks
 * match by their order: the k-th that one sends is the k-th that the other receives. Later work in the stream may run
 * meanwhile. `status` is that of the earlier work. After a failure the messages are sent nevertheless, so that no rank
 * waits. If a start over NCCL fails, NCCL is broken on this rank. The caller always calls cf__mpi_exchange_finish(),
 * which returns the failures. */
void cf__mpi_exchange_start(struct cf__mpi_exchange *exchange, int status, const struct cf__mpi_message *sends,
                            int nsends, const struct cf__mpi_message *receives, int nreceives);

/* Waits for the messages. Also waits until all ranks have started (if `is_background`), or until all have called this
 * function, which is faster if they call it immediately. Later work in the stream may read received messages and
 * overwrite sent ones. If one rank's start failed, all ranks return its failure; if that broke NCCL, the others abort
 * NCCL too. */
int cf__mpi_exchange_finish(struct cf__mpi_exchange *exchange);

/* Sends messages with arbitrary content once. NCCL connects two ranks in the first group that has a message between
 * them, and the group waits for the other rank. So this is called on all ranks after they have agreed. Does nothing
 * over MPI. Returns the same status on all ranks. */
int cf__mpi_exchange_connect(struct cf__mpi_exchange *exchange, const struct cf__mpi_message *sends, int nsends,
                             const struct cf__mpi_message *receives, int nreceives);

#endif
