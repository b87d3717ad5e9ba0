/* transport.c - chooses between MPI and NCCL, with the same result on all ranks. */
#include "mpi/transport.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/agree.h"
#include "mpi/aware.h"
#include "mpi/env.h"
#include "mpi/primary.h"

static const size_t PIECE = (size_t)1 << 30;

/* The properties of one rank that affect the choice. */
struct offer {
    int request;   /* value of CF_MPI_TRANSPORT; 0: not set */
    char uuid[40]; /* UUID of the rank's GPU; empty on the CPU */
};

/* The transport that a rank chooses. All ranks have the same offers, so they choose the same. */
struct choice {
    const char *function;
    int ranks, request, is_nccl, version;
    struct offer *offers;
    char reason[512];
};

/* ---- Offers ---- */

static int make_offer(const char *function, struct offer *offer)
{
    int device = CF_HOST, status = cf__mpi_env_transport(function, &offer->request);
    if (status == CF_OK)
        status = cf_device_current(&device);
    return status == CF_OK ? cf_device_uuid(device, offer->uuid, sizeof offer->uuid) : status;
}

static int share_offers(struct choice *choice, struct cf__mpi_transport *transport)
{
    MPI_Comm comm = transport->object.comm->comm;
    struct offer own = {0};
    choice->offers = calloc((size_t)choice->ranks, sizeof *choice->offers);
    int status = choice->offers
                     ? make_offer(choice->function, &own)
                     : cf__mpi_fail(CF_ENOMEM, "%s: no memory for the offers of all ranks", choice->function);
    status = cf__mpi_share_aware(choice->function, comm, status, &transport->is_aware);
    if (status != CF_OK)
        return status;
    int bytes = (int)sizeof own, result = MPI_Allgather(&own, bytes, MPI_BYTE, choice->offers, bytes, MPI_BYTE, comm);
    return cf__mpi_result(result, "MPI_Allgather");
}

/* ---- The choice ---- */

/* Stores the reason not to use NCCL. */
__attribute__((format(printf, 2, 3))) static void refuse(struct choice *choice, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)vsnprintf(choice->reason, sizeof choice->reason, format, values);
    va_end(values);
    choice->is_nccl = 0;
}

static int read_requests(struct choice *choice)
{
    static const char *const names[] = {"", "mpi", "nccl"};
    int first = 0;
    while (first < choice->ranks - 1 && !choice->offers[first].request)
        first++;
    choice->request = choice->offers[first].request;
    for (int i = first; i < choice->ranks; i++)
        if (choice->offers[i].request && choice->offers[i].request != choice->request)
            return cf__mpi_fail(CF_EINVAL, "%s: CF_MPI_TRANSPORT is %s on rank %d and %s on rank %d", choice->function,
                                names[choice->request], first, names[choice->offers[i].request], i);
    choice->is_nccl = choice->request != CF_MPI_TRANSPORT_MPI;
    if (!choice->is_nccl)
        refuse(choice, "CF_MPI_TRANSPORT=mpi");
    return CF_OK;
}

static void compare_devices(struct choice *choice)
{
    for (int i = 0; i < choice->ranks && choice->is_nccl; i++) {
        if (!choice->offers[i].uuid[0])
            refuse(choice, "the device of rank %d is the CPU", i);
        for (int k = 0; k < i && choice->is_nccl; k++)
            if (strcmp(choice->offers[k].uuid, choice->offers[i].uuid) == 0)
                refuse(choice, "ranks %d and %d share a GPU", k, i);
    }
}

/* ---- NCCL ---- */

static int prepare_nccl(struct cf__mpi_transport *transport, int *version, struct cf__mpi_nccl_id *id)
{
    int status = cf__mpi_nccl_load(version);
    if (status == CF_OK && transport->object.comm->rank == 0)
        status = cf__mpi_nccl_make_id(id);
    return status == CF_OK ? cf__mpi_nccl_create(&transport->nccl) : status;
}

/* Waits until all ranks have completed a step of joining, or until one has failed: the other ranks' NCCL would wait for
 * it forever. `status` is the result of starting the step. */
static int wait_for_ranks(MPI_Comm comm, const struct cf__mpi_nccl *nccl, int status)
{
    enum { DONE, BUSY, FAILED };
    const struct timespec pause = {.tv_nsec = 1000000};
    for (;;) {
        if (status == CF_OK)
            status = cf__mpi_nccl_query(nccl);
        int own = status == CF_OK ? DONE : status == CF_ENOTREADY ? BUSY : FAILED, most = FAILED;
        int failed = cf__mpi_result(MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
        if (failed)
            return failed;
        if (own == BUSY)
            status = CF_OK;
        if (most != BUSY)
            return cf__mpi_agree(comm, status);
        (void)nanosleep(&pause, NULL);
    }
}

static int meet_ranks(struct cf__mpi_transport *transport, struct cf__mpi_nccl_id *id, int status)
{
    const struct cf__mpi_comm *state = transport->object.comm;
    status = cf__mpi_agree(state->comm, status);
    if (status != CF_OK)
        return status;
    status = cf__mpi_result(MPI_Bcast(id, (int)sizeof *id, MPI_BYTE, 0, state->comm), "MPI_Bcast");
    if (status == CF_OK)
        status = cf__mpi_nccl_join(&transport->nccl, id, state->size, state->rank);
    status = wait_for_ranks(state->comm, &transport->nccl, status);
    if (status == CF_OK)
        status = wait_for_ranks(state->comm, &transport->nccl, cf__mpi_nccl_split(&transport->nccl, state->rank));
    return cf__mpi_agree(state->comm, status == CF_OK ? cf__mpi_nccl_settle(&transport->nccl) : status);
}

/* Joins the ranks. An error of one rank is returned on all ranks, because they agree on errors before joining and while
 * they join. */
static int join_nccl(struct cf__mpi_transport *transport, int *version)
{
    struct cf__mpi_nccl_id id = {""};
    int status = prepare_nccl(transport, version, &id);
    int pushed = status == CF_OK ? cf__mpi_primary_push(transport->nccl.device) : status;
    status = meet_ranks(transport, &id, pushed);
    if (!pushed)
        cf__mpi_primary_pop(transport->nccl.device);
    return status;
}

static void try_nccl(struct choice *choice, struct cf__mpi_transport *transport)
{
    if (choice->is_nccl && cf__mpi_nccl_abort(&transport->nccl, join_nccl(transport, &choice->version)) != CF_OK) {
        cf__mpi_nccl_destroy(&transport->nccl);
        refuse(choice, "%s", cf_last_error());
    }
}

/* ---- The transport ---- */

static int keep_choice(const struct choice *choice, struct cf__mpi_transport *transport)
{
    char *reason = transport->reason;
    int version = choice->version;
    transport->is_nccl = choice->is_nccl;
    if (!choice->is_nccl && choice->request == CF_MPI_TRANSPORT_NCCL)
        return cf__mpi_fail(CF_ENOTSUP, "%s: CF_MPI_TRANSPORT=nccl: %s", choice->function, choice->reason);
    if (choice->is_nccl)
        (void)snprintf(reason, sizeof transport->reason, "NCCL %d.%d.%d: every rank has a GPU of its own",
                       version / 10000, version / 100 % 100, version % 100);
    else
        (void)snprintf(reason, sizeof transport->reason, "MPI: %.500s", choice->reason);
    return CF_OK;
}

static int choose(const char *function, struct cf__mpi_transport *transport)
{
    struct choice choice = {.function = function, .ranks = transport->object.comm->size};
    int status = share_offers(&choice, transport);
    if (status == CF_OK)
        status = read_requests(&choice);
    if (status == CF_OK) {
        compare_devices(&choice);
        try_nccl(&choice, transport);
        status = keep_choice(&choice, transport);
    }
    free(choice.offers);
    return status;
}

static void destroy_transport(struct cf__mpi_object *object)
{
    struct cf__mpi_transport *transport = (struct cf__mpi_transport *)object;
    if (transport->is_nccl)
        cf__mpi_nccl_destroy(&transport->nccl);
    free(transport);
}

static int create_transport(const char *function, struct cf__mpi_comm *state, struct cf__mpi_transport **transport)
{
    *transport = calloc(1, sizeof **transport);
    int status = *transport ? CF_OK : cf__mpi_fail(CF_ENOMEM, "%s: no memory for the transport", function);
    status = cf__mpi_agree(state->comm, status);
    if (status == CF_OK) {
        (*transport)->object =
            (struct cf__mpi_object){.kind = CF__MPI_TRANSPORT, .comm = state, .destroy = destroy_transport};
        (*transport)->piece = PIECE;
        status = choose(function, *transport);
    }
    if (status == CF_OK)
        cf__mpi_object_add(&(*transport)->object);
    else
        free(*transport);
    return status;
}

int cf__mpi_transport_enter(const char *function, struct cf__mpi_comm *state, struct cf__mpi_transport **transport)
{
    *transport = (struct cf__mpi_transport *)cf__mpi_object_find(state, CF__MPI_TRANSPORT);
    return *transport ? CF_OK : create_transport(function, state, transport);
}

int cf__mpi_buffer_alloc(const char *function, const struct cf__mpi_transport *transport, void **buffer, size_t bytes)
{
    int device = CF_HOST, status = cf_device_current(&device);
    if (status != CF_OK)
        return status;
    if (transport->is_nccl && device != transport->nccl.device)
        return cf__mpi_fail(CF_EINVAL, "%s: the calling thread's device is %d; NCCL of the communicator is for GPU %d",
                            function, device, transport->nccl.device);
    return transport->is_aware || transport->is_nccl ? cf_mem_alloc(buffer, bytes) : cf_mem_alloc_pinned(buffer, bytes);
}

int cf_mpi_transport(MPI_Comm comm, int *transport, char *text, size_t size)
{
    struct cf__mpi_comm *state = NULL;
    struct cf__mpi_transport *found = NULL;
    int status = cf__mpi_enter("cf_mpi_transport", comm, &state);
    if (status == CF_OK)
        status = cf__mpi_transport_enter("cf_mpi_transport", state, &found);
    if (status != CF_OK)
        return status;
    if (transport)
        *transport = found->is_nccl ? CF_MPI_TRANSPORT_NCCL : CF_MPI_TRANSPORT_MPI;
    if (text && size)
        (void)snprintf(text, size, "%s", found->reason);
    return CF_OK;
}
