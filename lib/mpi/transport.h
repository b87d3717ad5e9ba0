/* transport.h - chooses how messages of a communicator are sent: over MPI or NCCL, from device memory or from pinned
 * buffers. */
#ifndef CF__MPI_TRANSPORT_H
#define CF__MPI_TRANSPORT_H

#include "mpi/comm.h"
#include "mpi/nccl.h"

/* The communicator's transport, which is chosen at its first use. */
struct cf__mpi_transport {
    struct cf__mpi_object object;
    int is_aware;             /* 1 if MPI accepts pointers to GPU memory */
    int is_nccl;              /* 1 if messages are sent over NCCL */
    struct cf__mpi_nccl nccl; /* NCCL's state; without NCCL its stream is NULL */
    size_t piece;             /* maximum bytes of one MPI message, because MPI counts them in an int */
    char reason[512];
};

/* Writes the communicator's transport, which is chosen at the first call. Collective. */
int cf__mpi_transport_enter(const char *function, struct cf__mpi_comm *state, struct cf__mpi_transport **transport);

/* Allocates a buffer for messages that kernels of the calling thread's device also access. It is device memory if the
 * transport accepts that, else pinned memory. The caller frees it with cf_mem_free(). Returns CF_EINVAL if NCCL was
 * joined for another device. Details of failures begin with `function`. */
int cf__mpi_buffer_alloc(const char *function, const struct cf__mpi_transport *transport, void **buffer, size_t bytes);

#endif
