/* fake_nccl.c - a libnccl.so.2 that sends its messages over MPI, so that the code for NCCL can be tested without it.
 *
 * It needs a GPU, which may be the played one, and is as strict as NCCL: a communicator belongs to the device that was
 * current when it was made, a message waits until its receiver joins the group, and both sides state the same size.
 * Received data is written in the order of the stream, after the call. Values of the environment variable FAKE_NCCL:
 * join: rank 1 does not join; group: the end of each group fails; lone: it fails on rank 1 only, whose messages are
 * never sent; late: a group ends without an error, and the messages fail a moment later. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#define EXPORT __attribute__((visibility("default")))
enum {
    SUCCESS,
    UNHANDLED_CUDA_ERROR,
    SYSTEM_ERROR,
    INTERNAL_ERROR,
    INVALID_ARGUMENT,
    INVALID_USAGE,
    REMOTE_ERROR,
    IN_PROGRESS
};
enum { MESSAGES = 4096, RANKS = 256, VERSION = 22703, BYTE = 1, FIRST_TAG = 20000 };

/* The rank in MPI_COMM_WORLD that made the id, and the number that the rank gave it. */
struct id {
    int world, number;
    char rest[120];
};

/* A buffer for a message; it lives as long as the communicator. */
struct staging {
    struct staging *next;
    void *memory;
};

struct config {
    size_t size;
    unsigned int magic, version;
    int is_blocking, cluster;
};

struct comm {
    int device, ranks, rank, tag;
    int worlds[RANKS]; /* the ranks' numbers in MPI_COMM_WORLD */
    struct staging *stagings;
    int is_blocking;
    int maker;                    /* rank in MPI_COMM_WORLD that made the id */
    int own[2], others[RANKS][2]; /* rank, and number in MPI_COMM_WORLD */
    MPI_Request meeting[RANKS];   /* the maker receives from each rank; another rank sends, and receives once */
    int meetings;
    int has_met;
    struct comm **split; /* the place where the next communicator of a split is written */
};

struct message {
    struct comm *comm;
    void *stream;
    uintptr_t data;
    void *staged;
    size_t bytes;
    int peer, is_send;
};

EXPORT int ncclGetVersion(int *version);
EXPORT int ncclGetUniqueId(struct id *id);
EXPORT int ncclCommInitRankConfig(struct comm **comm, int ranks, struct id id, int rank, struct config *config);
EXPORT int ncclCommSplit(struct comm *comm, int color, int key, struct comm **made, struct config *config);
EXPORT int ncclCommDestroy(struct comm *comm);
EXPORT int ncclCommAbort(struct comm *comm);
EXPORT int ncclCommGetAsyncError(struct comm *comm, int *error);
EXPORT int ncclGroupStart(void);
EXPORT int ncclGroupEnd(void);
EXPORT int ncclSend(const void *data, size_t count, int type, int peer, struct comm *comm, void *stream);
EXPORT int ncclRecv(void *data, size_t count, int type, int peer, struct comm *comm, void *stream);
EXPORT const char *ncclGetErrorString(int result);

/* Each thread has its own group. */
static _Thread_local struct message group[MESSAGES];
static _Thread_local MPI_Request requests[MESSAGES];
static _Thread_local int count, depth;
static _Thread_local int sent, asked; /* number of groups, and of queries for errors since the last group */

static int is_told_to_fail(const char *where)
{
    const char *given = getenv("FAKE_NCCL");
    return given && strcmp(given, where) == 0;
}

/* ---- The driver ---- */

static struct {
    int (*cuCtxGetDevice)(int *device);
    int (*cuStreamSynchronize)(void *stream);
    int (*cuMemcpyAsync)(uintptr_t target, uintptr_t source, size_t bytes, void *stream);
    int (*cuMemHostAlloc)(void **pointer, size_t bytes, unsigned int flags);
    int (*cuMemFreeHost)(void *pointer);
} cuda;

static void load_cuda(void)
{
    int (*get)(const char *name, void *function, int version, uint64_t flags, int *found) = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library)
        *(void **)&get = dlsym(library, "cuGetProcAddress_v2");
    if (!get || get("cuCtxGetDevice", &cuda.cuCtxGetDevice, 2000, 0, NULL) ||
        get("cuStreamSynchronize", &cuda.cuStreamSynchronize, 2000, 0, NULL) ||
        get("cuMemcpyAsync", &cuda.cuMemcpyAsync, 4000, 0, NULL) ||
        get("cuMemHostAlloc", &cuda.cuMemHostAlloc, 2020, 0, NULL) ||
        get("cuMemFreeHost", &cuda.cuMemFreeHost, 2000, 0, NULL))
        abort();
}

/* ---- Communicators ---- */

EXPORT int ncclGetVersion(int *version)
{
    *version = VERSION;
    return SUCCESS;
}

EXPORT const char *ncclGetErrorString(int result)
{
    static const char *const texts[] = {"no error",
                                        "unhandled cuda error",
                                        "unhandled system error",
                                        "internal error",
                                        "invalid argument",
                                        "invalid usage",
                                        "remote process exited or there was a network error"};
    return texts[result];
}

EXPORT int ncclGetUniqueId(struct id *id)
{
    static _Atomic int number;
    memset(id, 0, sizeof *id);
    id->number = ++number;
    return MPI_Comm_rank(MPI_COMM_WORLD, &id->world) == MPI_SUCCESS ? SUCCESS : SYSTEM_ERROR;
}

/* Each rank sends its number in MPI_COMM_WORLD to the rank that made the id, which sends all numbers to every rank. */
static void begin_meeting(struct comm *comm)
{
    comm->own[0] = comm->rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &comm->own[1]);
    comm->meetings = comm->own[1] == comm->maker ? comm->ranks - 1 : 2;
    comm->worlds[comm->rank] = comm->own[1];
    if (comm->own[1] == comm->maker) {
        for (int i = 0; i < comm->meetings; i++)
            MPI_Irecv(comm->others[i], 2, MPI_INT, MPI_ANY_SOURCE, comm->tag, MPI_COMM_WORLD, &comm->meeting[i]);
        return;
    }
    MPI_Isend(comm->own, 2, MPI_INT, comm->maker, comm->tag, MPI_COMM_WORLD, &comm->meeting[0]);
    MPI_Irecv(comm->worlds, RANKS, MPI_INT, comm->maker, comm->tag, MPI_COMM_WORLD, &comm->meeting[1]);
}

/* Does not use MPI_Testall(), because gcc takes MPICH's MPI_STATUSES_IGNORE for an array of no elements. */
static int meet(struct comm *comm)
{
    int is_maker = comm->own[1] == comm->maker, is_over = 1;
    if (comm->has_met)
        return SUCCESS;
    for (int i = 0, is_done; i < comm->meetings; i++) {
        MPI_Test(&comm->meeting[i], &is_done, MPI_STATUS_IGNORE);
        is_over &= is_done;
    }
    if (!is_over)
        return IN_PROGRESS;
    for (int i = 0; i < comm->meetings && is_maker; i++)
        comm->worlds[comm->others[i][0]] = comm->others[i][1];
    for (int i = 0; i < comm->ranks && is_maker; i++)
        if (i != comm->rank)
            MPI_Send(comm->worlds, RANKS, MPI_INT, comm->worlds[i], comm->tag, MPI_COMM_WORLD);
    comm->has_met = 1;
    return SUCCESS;
}

static int check_config(const struct config *config)
{
    return config->size == sizeof *config && config->magic == 0xcafebeef && config->version >= 21400 &&
           config->version <= VERSION && config->cluster < 0;
}

/* While it is being made, a communicator can be aborted only if it waits for no other rank. */
EXPORT int ncclCommInitRankConfig(struct comm **comm, int ranks, struct id id, int rank, struct config *config)
{
    static pthread_once_t loaded = PTHREAD_ONCE_INIT;
    int device;
    if (pthread_once(&loaded, load_cuda) != 0)
        return SYSTEM_ERROR;
    if (cuda.cuCtxGetDevice(&device) != 0)
        return UNHANDLED_CUDA_ERROR;
    if (ranks > RANKS || rank < 0 || rank >= ranks || !check_config(config) || config->is_blocking)
        return INVALID_ARGUMENT;
    struct comm *made = calloc(1, sizeof *made);
    if (!made || (rank == 1 && is_told_to_fail("refuse"))) {
        free(made);
        return SYSTEM_ERROR;
    }
    *made =
        (struct comm){.device = device, .ranks = ranks, .rank = rank, .tag = FIRST_TAG + id.number, .maker = id.world};
    if (rank != 1 || !is_told_to_fail("join"))
        begin_meeting(made);
    *comm = made;
    return IN_PROGRESS;
}

/* The new communicator has the same ranks. It is complete at the next query for errors. */
EXPORT int ncclCommSplit(struct comm *comm, int color, int key, struct comm **made, struct config *config)
{
    if (!comm->has_met || color != 0 || key != comm->rank || !check_config(config) || !config->is_blocking)
        return INVALID_ARGUMENT;
    comm->split = made;
    return IN_PROGRESS;
}

static int split(struct comm *comm)
{
    if (comm->ranks > 1 && is_told_to_fail("split"))
        return comm->rank == 1 ? REMOTE_ERROR : IN_PROGRESS;
    struct comm *made = malloc(sizeof *made);
    if (!made)
        return SYSTEM_ERROR;
    *made = *comm;
    made->is_blocking = 1;
    made->split = NULL;
    *comm->split = made;
    comm->split = NULL;
    return SUCCESS;
}

EXPORT int ncclCommDestroy(struct comm *comm)
{
    int device, result = cuda.cuCtxGetDevice(&device) != 0 || device != comm->device ? UNHANDLED_CUDA_ERROR : SUCCESS;
    for (struct staging *each = comm->stagings, *next; each; each = next) {
        next = each->next;
        cuda.cuMemFreeHost(each->memory);
        free(each);
    }
    free(comm);
    return result;
}

EXPORT int ncclCommAbort(struct comm *comm)
{
    for (int i = 0; i < comm->meetings && !comm->has_met; i++)
        if (comm->meeting[i] != MPI_REQUEST_NULL) {
            MPI_Cancel(&comm->meeting[i]);
            MPI_Wait(&comm->meeting[i], MPI_STATUS_IGNORE);
        }
    return ncclCommDestroy(comm);
}

EXPORT int ncclCommGetAsyncError(struct comm *comm, int *error)
{
    if (comm->is_blocking)
        *error = is_told_to_fail("late") && sent && asked++ > 0 ? REMOTE_ERROR : SUCCESS;
    else if (comm->rank == 1 && is_told_to_fail("join"))
        *error = REMOTE_ERROR;
    else
        *error = comm->split ? split(comm) : meet(comm);
    return SUCCESS;
}

/* ---- Messages ---- */

EXPORT int ncclGroupStart(void)
{
    if (depth++ == 0)
        count = 0;
    return SUCCESS;
}

static int add(const struct message *message, int type)
{
    int device;
    if (depth == 0 || count == MESSAGES || !message->comm->is_blocking)
        return INVALID_USAGE;
    if (type != BYTE || message->peer < 0 || message->peer >= message->comm->ranks || !message->data)
        return INVALID_ARGUMENT;
    if (cuda.cuCtxGetDevice(&device) != 0 || device != message->comm->device)
        return UNHANDLED_CUDA_ERROR;
    group[count++] = *message;
    return SUCCESS;
}

EXPORT int ncclSend(const void *data, size_t bytes, int type, int peer, struct comm *comm, void *stream)
{
    return add(&(struct message){comm, stream, (uintptr_t)data, NULL, bytes, peer, 1}, type);
}

EXPORT int ncclRecv(void *data, size_t bytes, int type, int peer, struct comm *comm, void *stream)
{
    return add(&(struct message){comm, stream, (uintptr_t)data, NULL, bytes, peer, 0}, type);
}

static int stage(struct message *message)
{
    struct staging *staging = malloc(sizeof *staging);
    if (!staging || cuda.cuMemHostAlloc(&staging->memory, message->bytes, 0) != 0)
        return UNHANDLED_CUDA_ERROR;
    staging->next = message->comm->stagings;
    message->comm->stagings = staging;
    message->staged = staging->memory;
    if (message->is_send &&
        cuda.cuMemcpyAsync((uintptr_t)message->staged, message->data, message->bytes, message->stream) != 0)
        return UNHANDLED_CUDA_ERROR;
    return cuda.cuStreamSynchronize(message->stream) == 0 ? SUCCESS : UNHANDLED_CUDA_ERROR;
}

/* Later communicators have larger tags, so that messages of two communicators are not confused. */
static int begin(const struct message *message, MPI_Request *request)
{
    const struct comm *comm = message->comm;
    int bytes = (int)message->bytes, peer = comm->worlds[message->peer];
    int result = message->is_send
                     ? MPI_Isend(message->staged, bytes, MPI_BYTE, peer, comm->tag, MPI_COMM_WORLD, request)
                     : MPI_Irecv(message->staged, bytes, MPI_BYTE, peer, comm->tag, MPI_COMM_WORLD, request);
    return result == MPI_SUCCESS ? SUCCESS : SYSTEM_ERROR;
}

static int finish(const struct message *message, MPI_Request *request)
{
    MPI_Status status;
    int bytes = 0;
    if (MPI_Wait(request, &status) != MPI_SUCCESS)
        return REMOTE_ERROR;
    if (message->is_send)
        return SUCCESS;
    if (MPI_Get_count(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || (size_t)bytes != message->bytes)
        return INVALID_USAGE;
    return cuda.cuMemcpyAsync(message->data, (uintptr_t)message->staged, message->bytes, message->stream) == 0
               ? SUCCESS
               : UNHANDLED_CUDA_ERROR;
}

EXPORT int ncclGroupEnd(void)
{
    int result = depth == 0 ? INVALID_USAGE : is_told_to_fail("group") ? REMOTE_ERROR : SUCCESS;
    if (--depth > 0 || result)
        return result;
    if (is_told_to_fail("lone"))
        return count && group[0].comm->rank == 1 ? REMOTE_ERROR : SUCCESS;
    sent++;
    asked = 0;
    for (int i = 0; i < count && !result; i++)
        result = stage(&group[i]);
    for (int i = 0; i < count && !result; i++)
        result = begin(&group[i], &requests[i]);
    for (int i = 0; i < count && !result; i++)
        result = finish(&group[i], &requests[i]);
    return result;
}
