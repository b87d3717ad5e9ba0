/* nccl.h - messages between GPUs through libnccl.so.2, which is loaded at run time. */
#ifndef CF__MPI_NCCL_H
#define CF__MPI_NCCL_H

#include <stddef.h>

#include <cuferry.h>

/* NCCL's communicators and stream for a communicator of MPI. */
struct cf__mpi_nccl {
    int device;
    struct ncclComm *comm;  /* communicator; NULL: not created, or aborted after an error */
    struct ncclComm *first; /* communicator from which `comm` is split off */
    int is_broken;          /* 1 after an error of this rank, until all ranks abort */
    cf_stream stream;       /* stream in which NCCL sends and receives */
};

struct cf__mpi_nccl_id {
    char bytes[128];
};

/* Loads the library and writes its version, for example 22703 for 2.27.3. Returns CF_ENOTSUP if there is none, or if it
 * is older than 2.18. */
int cf__mpi_nccl_load(int *version);

/* Creates an id with which the ranks of a communicator find one another. */
int cf__mpi_nccl_make_id(struct cf__mpi_nccl_id *id);

/* Creates the stream on the calling thread's device, which is a GPU. */
int cf__mpi_nccl_create(struct cf__mpi_nccl *nccl);

/* Join the other ranks in two steps. A step is complete when a query returns CF_OK on all ranks. The first step creates
 * a nonblocking communicator, which a rank can abort if another rank failed. But each group on such a communicator
 * would start a thread, so the second step splits off a blocking one. The device's primary context is current. */
int cf__mpi_nccl_join(struct cf__mpi_nccl *nccl, const struct cf__mpi_nccl_id *id, int ranks, int rank);
int cf__mpi_nccl_split(struct cf__mpi_nccl *nccl, int rank);

/* Returns CF_ENOTREADY while the latest step is in progress, or an error of the step or of messages in flight. */
int cf__mpi_nccl_query(const struct cf__mpi_nccl *nccl);

/* Frees the first communicator after both steps. The thread that made the split has to call this, because NCCL keeps
 * state for that thread. */
int cf__mpi_nccl_settle(struct cf__mpi_nccl *nccl);

/* Aborts NCCL's work if `status` is an error, because it would wait for other ranks forever. Returns `status`. */
int cf__mpi_nccl_abort(struct cf__mpi_nccl *nccl, int status);

/* Frees everything after cf__mpi_nccl_create(), even if that failed. The first communicator has already been freed, by
 * settle or abort. */
void cf__mpi_nccl_destroy(struct cf__mpi_nccl *nccl);

/* Messages between a successful begin and its end are sent together, in the stream, from and to GPU memory. The
 * `status` for the end is that of the messages. */
int cf__mpi_nccl_begin(struct cf__mpi_nccl *nccl);
int cf__mpi_nccl_send(struct cf__mpi_nccl *nccl, const void *data, size_t bytes, int peer);
int cf__mpi_nccl_receive(struct cf__mpi_nccl *nccl, void *data, size_t bytes, int peer);
int cf__mpi_nccl_end(struct cf__mpi_nccl *nccl, int status);

/* Returns CF_ECALL if messages in flight have failed, or if NCCL is broken or aborted. */
int cf__mpi_nccl_check(const struct cf__mpi_nccl *nccl);

#endif
