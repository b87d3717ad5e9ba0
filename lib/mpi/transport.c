#include "mpi/transport.h"

#include <stdlib.h>

#include "mpi/agree.h"

static void destroy_transport(struct cf__mpi_object *object)
{
    free(object);
}

static int create_transport(const char *function, struct cf__mpi_comm *state, struct cf__mpi_transport **transport)
{
    *transport = calloc(1, sizeof **transport);
    int status = *transport ? CF_OK : cf__mpi_fail(CF_ENOMEM, "%s: no memory for the transport", function);
    status = cf__mpi_agree(state->comm, status);
    if (status) {
        free(*transport);
        return status;
    }
    (*transport)->object =
        (struct cf__mpi_object){.kind = CF__MPI_TRANSPORT, .comm = state, .destroy = destroy_transport};
    cf__mpi_object_add(&(*transport)->object);
    return CF_OK;
}

int cf__mpi_transport_enter(const char *function, struct cf__mpi_comm *state, struct cf__mpi_transport **transport)
{
    *transport = (struct cf__mpi_transport *)cf__mpi_object_find(state, CF__MPI_TRANSPORT);
    return *transport ? CF_OK : create_transport(function, state, transport);
}

int cf__mpi_buffer_alloc(const struct cf__mpi_transport *transport, void **buffer, size_t bytes)
{
    return transport->is_aware ? cf_mem_alloc(buffer, bytes) : cf_mem_alloc_pinned(buffer, bytes);
}
