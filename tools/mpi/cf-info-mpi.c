/* cf-info-mpi.c - prints the devices and the transport that the ranks of an MPI program would use. `cf-info --mpi`
 * executes it, so that cf-info itself needs no MPI. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry/mpi.h>

#include "base/message.h"
#include "base/writer.h"

enum { LINE = 512 };

/* A rank's device and the reason for it. */
struct place {
    int device;
    char reason[LINE];
};

/* Answers of all ranks, collected from MPI_COMM_WORLD. */
struct world {
    int rank, size, transport, aware;
    char library[MPI_MAX_LIBRARY_VERSION_STRING], reason[LINE];
    struct place *places; /* devices of all ranks; only on rank 0 */
};

/* ---- Answers ---- */

static int is_good(int status, struct message *message)
{
    return status == CF_OK || (message_set(message, "%s", cf_last_error()), 0);
}

static int is_done(int result, const char *call, struct message *message)
{
    return result == MPI_SUCCESS || (message_set(message, "%s failed", call), 0);
}

static int ask(struct world *world, struct message *message)
{
    struct place own = {.device = CF_HOST};
    int length = 0, bytes = (int)sizeof own;
    if (!is_good(cf_mpi_device(MPI_COMM_WORLD, &own.device, own.reason, sizeof own.reason), message) ||
        !is_good(cf_mpi_aware(MPI_COMM_WORLD, &world->aware), message) ||
        !is_good(cf_mpi_transport(MPI_COMM_WORLD, &world->transport, world->reason, sizeof world->reason), message))
        return -1;
    if (world->rank == 0 && !(world->places = calloc((size_t)world->size, sizeof *world->places)))
        return message_set(message, "no memory for the answers of %d ranks", world->size);
    if (!is_done(MPI_Get_library_version(world->library, &length), "MPI_Get_library_version", message) ||
        !is_done(MPI_Gather(&own, bytes, MPI_BYTE, world->places, bytes, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Gather",
                 message))
        return -1;
    world->library[strcspn(world->library, "\n")] = 0;
    for (char *tab; (tab = strchr(world->library, '\t'));)
        *tab = ' ';
    return 0;
}

/* ---- Output ---- */

static void write_place(struct writer *writer, const struct world *world, int rank)
{
    const struct place *place = &world->places[rank];
    if (writer->is_json) {
        writer_begin(writer, NULL, NULL);
        writer_number(writer, "device", place->device, NULL);
        writer_text(writer, "reason", place->reason);
        writer_end(writer);
    } else {
        char key[32];
        const char *reason = strstr(place->reason, " on "); /* skip the beginning, which repeats the rank */
        snprintf(key, sizeof key, "rank %d", rank);
        writer_text(writer, key, reason ? reason + 1 : place->reason);
    }
}

static void write_world(struct writer *writer, const struct world *world)
{
    char text[32];
    snprintf(text, sizeof text, "%d", world->size);
    writer_begin(writer, NULL, "MPI");
    writer_text(writer, "library", world->library);
    writer_number(writer, "ranks", world->size, text);
    writer_number(writer, "aware", world->aware,
                  world->aware ? "1: it takes pointers to GPU memory" : "0: it takes no pointers to GPU memory");
    if (writer->is_json)
        writer_text(writer, "transport", world->transport == CF_MPI_TRANSPORT_NCCL ? "nccl" : "mpi");
    writer_text(writer, writer->is_json ? "reason" : "transport", world->reason);
    if (writer->is_json)
        writer_begin_list(writer, "devices", NULL);
    for (int i = 0; i < world->size; i++)
        write_place(writer, world, i);
    if (writer->is_json)
        writer_end_list(writer);
    writer_end(writer);
}

static int run(struct world *world, int is_json, struct message *message)
{
    struct writer writer = {.file = stdout, .is_json = is_json};
    if (!is_good(cf_mpi_init(), message))
        return -1;
    if (!is_done(MPI_Comm_rank(MPI_COMM_WORLD, &world->rank), "MPI_Comm_rank", message) ||
        !is_done(MPI_Comm_size(MPI_COMM_WORLD, &world->size), "MPI_Comm_size", message) || ask(world, message) != 0)
        return -1;
    if (world->rank == 0)
        write_world(&writer, world);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : message_set(message, "stdout: %s", strerror(errno));
}

int main(int argc, char **argv)
{
    struct world world = {.rank = 0};
    struct message message = {""};
    int is_running = 0, status = run(&world, argc > 1 && strcmp(argv[1], "--json") == 0, &message);
    free(world.places);
    MPI_Initialized(&is_running);
    if (is_running)
        MPI_Finalize();
    /* All ranks have the same status, so that only rank 0 prints the message. */
    if (status != 0 && world.rank == 0)
        message_print("cf-info", &message);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
