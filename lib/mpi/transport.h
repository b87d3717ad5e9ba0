/* transport.h - how messages of a communicator travel: over MPI or NCCL, from device memory or from pinned buffers. */
#ifndef CF__MPI_TRANSPORT_H
#define CF__MPI_TRANSPORT_H

#include "mpi/comm.h"
#include "mpi/nccl.h"

/* An object of the communicator, chosen once. */
struct cf__mpi_transport {
    struct cf__mpi_object object;
    int is_aware;             /* MPI takes pointers to GPU memory */
    int is_nccl;              /* messages travel over NCCL */
    struct cf__mpi_nccl nccl; /* for a transport over NCCL; else its stream is NULL */
    size_t piece;             /* MPI counts bytes in an int: it gets longer messages in pieces of this size */
    char reason[512];
};

/* Writes the communicator's transport, and chooses it at the first call. Collective. */
int cf__mpi_transport_enter(const char *function, struct cf__mpi_comm *state, struct cf__mpi_transport **transport);

/* Allocates a buffer for messages, which kernels of the calling thread's device access, too: device memory if the
 * transport takes it, else pinned memory. The caller frees it with cf_mem_free(). CF_EINVAL: NCCL is for another
 * device. Details of failures begin with `function`. */
int cf__mpi_buffer_alloc(const char *function, const struct cf__mpi_transport *transport, void **buffer, size_t bytes);

#endif
