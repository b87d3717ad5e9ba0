/* nccl.h - messages between GPUs through libnccl.so.2, which is loaded at run time. */
#ifndef CF__MPI_NCCL_H
#define CF__MPI_NCCL_H

#include <stddef.h>

#include <cuferry.h>

/* NCCL's side of a communicator. */
struct cf__mpi_nccl {
    int device;
    struct ncclComm *comm;  /* NULL: not made, or aborted after an error */
    struct ncclComm *first; /* the one from which it is made */
    int is_broken;          /* an error of this rank, of which other ranks learn before all of them abort */
    cf_stream stream;       /* NCCL sends and receives in it */
};

struct cf__mpi_nccl_id {
    char bytes[128];
};

/* Loads the library and writes its version, 22703 for 2.27.3. CF_ENOTSUP: it was not found, or is older
 * than 2.18. */
int cf__mpi_nccl_load(int *version);

/* Makes an id, by which the ranks of a communicator find one another. */
int cf__mpi_nccl_make_id(struct cf__mpi_nccl_id *id);

/* Makes the stream on the calling thread's device, which is a GPU. */
int cf__mpi_nccl_create(struct cf__mpi_nccl *nccl);

/* Join the other ranks, in two steps. A step is done when a query returns CF_OK on all ranks. The first one makes a
 * communicator that is never waited for, so that a rank can abort it if another rank failed. Its groups would each
 * start a thread. The second step therefore splits off a communicator of the usual kind. The device's primary context
 * is current. */
int cf__mpi_nccl_join(struct cf__mpi_nccl *nccl, const struct cf__mpi_nccl_id *id, int ranks, int rank);
int cf__mpi_nccl_split(struct cf__mpi_nccl *nccl, int rank);

/* Returns CF_ENOTREADY while the latest step is on its way, or an error of it or of messages on their way. */
int cf__mpi_nccl_query(const struct cf__mpi_nccl *nccl);

/* Frees the first communicator after both steps, on the thread of the split, for which NCCL keeps its state. */
int cf__mpi_nccl_settle(struct cf__mpi_nccl *nccl);

/* Ends NCCL's work if `status` is an error, after which it would wait for other ranks forever. Returns `status`. */
int cf__mpi_nccl_abort(struct cf__mpi_nccl *nccl, int status);

/* Frees everything after a create, also one that failed; settle or abort has freed the first communicator. */
void cf__mpi_nccl_destroy(struct cf__mpi_nccl *nccl);

/* Messages between a begin that succeeded and its end are sent together, in the stream, and to the GPU's memory.
 * `status` is that of the messages. */
int cf__mpi_nccl_begin(struct cf__mpi_nccl *nccl);
int cf__mpi_nccl_send(struct cf__mpi_nccl *nccl, const void *data, size_t bytes, int peer);
int cf__mpi_nccl_receive(struct cf__mpi_nccl *nccl, void *data, size_t bytes, int peer);
int cf__mpi_nccl_end(struct cf__mpi_nccl *nccl, int status);

/* Returns CF_ECALL if messages on their way failed, or NCCL is broken or was aborted. */
int cf__mpi_nccl_check(const struct cf__mpi_nccl *nccl);

#endif
