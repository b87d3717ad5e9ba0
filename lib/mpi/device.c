/* device.c - implements cf_mpi_device(): chooses a device for each rank, and explains the choice. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/mpi.h>

#include "mpi/agree.h"
#include "mpi/choose.h"
#include "mpi/comm.h"
#include "mpi/numa.h"

/* The ranks of one machine, and the choice for all of them. */
struct machine {
    int ranks, rank; /* number of ranks on the machine; number of this rank among them */
    struct cf__mpi_view *views;
    int *choice;
};

/* ---- Views ---- */

static int look_at_gpu(struct cf__mpi_gpu *gpu, int device, const struct cf__mpi_numa *numa)
{
    int64_t node = -1;
    int status = cf_device_uuid(device, gpu->uuid, sizeof gpu->uuid);
    if (status == CF_OK)
        status = cf_device_property(device, CF_PROPERTY_NUMA_NODE, &node);
    gpu->node = (int)node;
    gpu->distance = cf__mpi_numa_distance(numa, gpu->node);
    gpu->is_own = cf__mpi_numa_is_own(numa, gpu->node);
    return status;
}

static int look(struct cf__mpi_view *view, int rank)
{
    struct cf__mpi_processors processors;
    struct cf__mpi_numa numa;
    memset(view, 0, sizeof *view);
    view->rank = rank;
    cf__mpi_numa_processors(&processors);
    cf__mpi_numa_read(&numa, CF__MPI_NUMA_FOLDER, &processors);
    int count = 0, status = cf_device_count(&count);
    for (; view->count < count && view->count < CF__MPI_GPUS && status == CF_OK; view->count++)
        status = look_at_gpu(&view->gpus[view->count], view->count, &numa);
    return status;
}

/* Examines the GPUs and NUMA nodes of the calling rank, and allocates memory for the largest number of ranks on a
 * machine. */
static int prepare(struct machine *machine, const struct cf__mpi_comm *state, struct cf__mpi_view *own)
{
    machine->views = calloc((size_t)state->size, sizeof *machine->views);
    machine->choice = calloc((size_t)state->size, sizeof *machine->choice);
    if (!machine->views || !machine->choice)
        return cf__mpi_fail(CF_ENOMEM, "cf_mpi_device: no memory for the views of %d ranks", state->size);
    return look(own, state->rank);
}

/* Shares the views among the ranks of a machine, so that each rank computes the same choice for all of them. */
static int share_views(struct machine *machine, MPI_Comm comm, const struct cf__mpi_view *own)
{
    int bytes = (int)sizeof *own, result = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_size(comm, &machine->ranks);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_rank(comm, &machine->rank);
    if (result == MPI_SUCCESS)
        result = MPI_Allgather(own, bytes, MPI_BYTE, machine->views, bytes, MPI_BYTE, comm);
    if (result == MPI_SUCCESS)
        cf__mpi_choose(machine->views, machine->ranks, machine->choice);
    return cf__mpi_result(result, "MPI_Allgather");
}

static int choose(struct machine *machine, const struct cf__mpi_comm *state, const struct cf__mpi_view *own)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int result = MPI_Comm_split_type(state->comm, MPI_COMM_TYPE_SHARED, state->rank, MPI_INFO_NULL, &comm);
    if (result != MPI_SUCCESS)
        return cf__mpi_result(result, "MPI_Comm_split_type");
    int status = share_views(machine, comm, own);
    MPI_Comm_free(&comm);
    return status;
}

/* ---- The reason ---- */

struct text {
    char *bytes;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void add_text(struct text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (text->used < text->size) {
        int length = vsnprintf(text->bytes + text->used, text->size - text->used, format, values);
        text->used += length > 0 ? (size_t)length : 0;
    }
    va_end(values);
}

static void name_node(struct text *text, const struct cf__mpi_gpu *gpu)
{
    if (gpu->node >= 0)
        add_text(text, ", on NUMA node %d%s", gpu->node, gpu->is_own ? " like the rank" : ", which is not the rank's");
}

static int has_gpu(const struct machine *machine, int rank, const char *uuid)
{
    int choice = machine->choice[rank];
    return choice >= 0 && strcmp(machine->views[rank].gpus[choice].uuid, uuid) == 0;
}

static void name_sharers(struct text *text, const struct machine *machine, const char *uuid)
{
    int count = 0;
    for (int i = 0; i < machine->ranks; i++)
        count += i != machine->rank && has_gpu(machine, i, uuid);
    const char *before = count == 1 ? ", shared with rank " : ", shared with ranks ";
    for (int i = 0; i < machine->ranks; i++)
        if (i != machine->rank && has_gpu(machine, i, uuid)) {
            add_text(text, "%s%d", before, machine->views[i].rank);
            before = ", ";
        }
}

static void write_reason(struct text *text, const struct cf__mpi_comm *state, const struct machine *machine)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0, choice = machine->choice[machine->rank];
    const struct cf__mpi_view *own = &machine->views[machine->rank];
    if (MPI_Get_processor_name(host, &length) != MPI_SUCCESS)
        host[0] = 0;
    add_text(text, "rank %d of %d on %s: ", state->rank, state->size, host);
    if (choice < 0) {
        add_text(text, "the CPU, as there is no GPU");
        return;
    }
    add_text(text, "GPU %d of %d (GPU-%s)", choice, own->count, own->gpus[choice].uuid);
    name_node(text, &own->gpus[choice]);
    name_sharers(text, machine, own->gpus[choice].uuid);
}

/* ---- The call ---- */

static int use_device(struct machine *machine, const struct cf__mpi_comm *state, int *device)
{
    struct cf__mpi_view own;
    int status = cf__mpi_agree(state->comm, prepare(machine, state, &own));
    if (status != CF_OK)
        return status;
    status = choose(machine, state, &own);
    if (status == CF_OK) {
        *device = machine->choice[machine->rank] < 0 ? CF_HOST : machine->choice[machine->rank];
        status = cf_device_use(*device);
    }
    return cf__mpi_agree(state->comm, status);
}

int cf_mpi_device(MPI_Comm comm, int *device, char *reason, size_t size)
{
    struct cf__mpi_comm *state = NULL;
    struct machine machine = {0};
    struct text text = {.bytes = reason, .size = reason ? size : 0};
    int used = CF_HOST, status = cf__mpi_enter("cf_mpi_device", comm, &state);
    if (status == CF_OK)
        status = use_device(&machine, state, &used);
    if (status == CF_OK)
        write_reason(&text, state, &machine);
    if (status == CF_OK && device)
        *device = used;
    free(machine.views);
    free(machine.choice);
    return status;
}
