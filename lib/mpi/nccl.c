/* nccl.c - uses NCCL without its header: loads it, creates its communicators and sends its messages. */
#include "mpi/nccl.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>

#include <cuferry/find.h>

#include "mpi/agree.h"
#include "mpi/primary.h"

/* Values of NCCL's enumerators. */
enum { NCCL_BYTE = 1, NCCL_IN_PROGRESS = 7 };

/* NCCL's configuration as in version 2.14, which later versions also accept. The last field is padding in 2.14 and an
 * option in later versions, so it is set to that option's default. */
struct config {
    size_t size;
    unsigned int magic, version;
    int is_blocking, unset;
};
enum { CONFIG_VERSION = 21400 };

#define NCCL_FUNCTIONS(X)                                                                                         \
    X(ncclGetVersion, (int *version))                                                                             \
    X(ncclGetUniqueId, (struct cf__mpi_nccl_id * id))                                                             \
    X(ncclCommInitRankConfig,                                                                                     \
      (struct ncclComm * *comm, int ranks, struct cf__mpi_nccl_id id, int rank, struct config *config))           \
    X(ncclCommSplit, (struct ncclComm * comm, int color, int key, struct ncclComm **made, struct config *config)) \
    X(ncclCommDestroy, (struct ncclComm * comm))                                                                  \
    X(ncclCommAbort, (struct ncclComm * comm))                                                                    \
    X(ncclCommGetAsyncError, (struct ncclComm * comm, int *error))                                                \
    X(ncclGroupStart, (void))                                                                                     \
    X(ncclGroupEnd, (void))                                                                                       \
    X(ncclSend, (const void *data, size_t count, int type, int peer, struct ncclComm *comm, cf_stream stream))    \
    X(ncclRecv, (void *data, size_t count, int type, int peer, struct ncclComm *comm, cf_stream stream))

/* The library's functions; NULL until they are loaded. */
static struct {
#define FIELD(name, parameters) int(*name) parameters;
    NCCL_FUNCTIONS(FIELD)
#undef FIELD
    const char *(*ncclGetErrorString)(int result);
} functions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Loading ---- */

static int look_up(void *library, const char *path)
{
    const struct {
        const char *name;
        void *field;
    } wanted[] = {
#define ENTRY(name, parameters) {#name, &functions.name},
        NCCL_FUNCTIONS(ENTRY)
#undef ENTRY
            {"ncclGetErrorString", &functions.ncclGetErrorString}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!(*(void **)wanted[i].field = dlsym(library, wanted[i].name)))
            return cf__mpi_fail(CF_ENOTSUP, "%s has no %s; NCCL 2.18 or later is needed", path, wanted[i].name);
    return CF_OK;
}

/* Loads the library once and keeps it loaded. */
static int load(void)
{
    const char *path = NULL;
    if (functions.ncclGetErrorString)
        return CF_OK;
    int status = cf_find("nccl", &path);
    if (status != CF_OK)
        return status;
    void *library = dlopen(path, RTLD_NOW);
    return library ? look_up(library, path) : cf__mpi_fail(CF_ENOTSUP, "%s", dlerror());
}

/* Converts a result of NCCL to a status. */
static int fail_call(int result, const char *call)
{
    if (result == 0 || result == NCCL_IN_PROGRESS)
        return CF_OK;
    return cf__mpi_fail(CF_ECALL, "%s: %s", call, functions.ncclGetErrorString(result));
}

int cf__mpi_nccl_load(int *version)
{
    pthread_mutex_lock(&lock);
    int status = load();
    pthread_mutex_unlock(&lock);
    return status == CF_OK ? fail_call(functions.ncclGetVersion(version), "ncclGetVersion") : status;
}

/* ---- Beginning and end ---- */

int cf__mpi_nccl_make_id(struct cf__mpi_nccl_id *id)
{
    return fail_call(functions.ncclGetUniqueId(id), "ncclGetUniqueId");
}

int cf__mpi_nccl_create(struct cf__mpi_nccl *nccl)
{
    int status = cf_device_current(&nccl->device);
    nccl->comm = nccl->first = NULL;
    nccl->stream = NULL;
    nccl->is_broken = 0;
    return status == CF_OK ? cf_stream_create(&nccl->stream) : status;
}

static struct config configure(int is_blocking)
{
    return (struct config){sizeof(struct config), 0xcafebeef, CONFIG_VERSION, is_blocking, INT_MIN};
}

int cf__mpi_nccl_join(struct cf__mpi_nccl *nccl, const struct cf__mpi_nccl_id *id, int ranks, int rank)
{
    struct config config = configure(0);
    int result = functions.ncclCommInitRankConfig(&nccl->first, ranks, *id, rank, &config);
    return fail_call(result, "ncclCommInitRankConfig");
}

int cf__mpi_nccl_split(struct cf__mpi_nccl *nccl, int rank)
{
    struct config config = configure(1);
    return fail_call(functions.ncclCommSplit(nccl->first, 0, rank, &nccl->comm, &config), "ncclCommSplit");
}

static int end_comm(int device, struct ncclComm **comm, int (*end)(struct ncclComm *comm), const char *call)
{
    int status = *comm ? cf__mpi_primary_push(device) : CF_OK;
    if (status != CF_OK || !*comm)
        return status;
    status = fail_call(end(*comm), call);
    cf__mpi_primary_pop(device);
    *comm = NULL;
    return status;
}

int cf__mpi_nccl_settle(struct cf__mpi_nccl *nccl)
{
    return end_comm(nccl->device, &nccl->first, functions.ncclCommDestroy, "ncclCommDestroy");
}

void cf__mpi_nccl_destroy(struct cf__mpi_nccl *nccl)
{
    (void)cf__mpi_nccl_abort(nccl, nccl->is_broken);
    (void)end_comm(nccl->device, &nccl->comm, functions.ncclCommDestroy, "ncclCommDestroy");
    (void)!cf_stream_destroy(nccl->stream);
    nccl->stream = NULL;
}

int cf__mpi_nccl_abort(struct cf__mpi_nccl *nccl, int status)
{
    if (status != CF_OK) { /* ends `first` before, because its thread may still write to `comm` */
        (void)end_comm(nccl->device, &nccl->first, functions.ncclCommAbort, "ncclCommAbort");
        (void)end_comm(nccl->device, &nccl->comm, functions.ncclCommAbort, "ncclCommAbort");
        nccl->comm = nccl->first = NULL;
    }
    return status;
}

/* ---- Messages ---- */

static int fail_aborted(void)
{
    return cf__mpi_fail(CF_ECALL, "NCCL was aborted after an earlier error; make the communicator anew");
}

int cf__mpi_nccl_begin(struct cf__mpi_nccl *nccl)
{
    if (!nccl->comm || nccl->is_broken)
        return fail_aborted();
    int status = cf__mpi_primary_push(nccl->device);
    if (status != CF_OK)
        return status;
    status = fail_call(functions.ncclGroupStart(), "ncclGroupStart");
    if (status != CF_OK)
        cf__mpi_primary_pop(nccl->device);
    return status;
}

int cf__mpi_nccl_send(struct cf__mpi_nccl *nccl, const void *data, size_t bytes, int peer)
{
    return fail_call(functions.ncclSend(data, bytes, NCCL_BYTE, peer, nccl->comm, nccl->stream), "ncclSend");
}

int cf__mpi_nccl_receive(struct cf__mpi_nccl *nccl, void *data, size_t bytes, int peer)
{
    return fail_call(functions.ncclRecv(data, bytes, NCCL_BYTE, peer, nccl->comm, nccl->stream), "ncclRecv");
}

int cf__mpi_nccl_end(struct cf__mpi_nccl *nccl, int status)
{
    int failed = fail_call(functions.ncclGroupEnd(), "ncclGroupEnd"); /* waits until all are enqueued, because the
                                                                       * communicator is blocking */
    cf__mpi_primary_pop(nccl->device);
    return status == CF_OK ? failed : status;
}

static int check_comm(struct ncclComm *comm)
{
    int error = 0;
    if (!comm)
        return fail_aborted();
    int status = fail_call(functions.ncclCommGetAsyncError(comm, &error), "ncclCommGetAsyncError");
    if (status != CF_OK)
        return status;
    return error == NCCL_IN_PROGRESS ? CF_ENOTREADY : fail_call(error, "NCCL");
}

int cf__mpi_nccl_query(const struct cf__mpi_nccl *nccl)
{
    return check_comm(nccl->first ? nccl->first : nccl->comm);
}

int cf__mpi_nccl_check(const struct cf__mpi_nccl *nccl)
{
    return nccl->is_broken ? fail_aborted() : check_comm(nccl->comm);
}
