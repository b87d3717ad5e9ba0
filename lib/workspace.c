/* workspace.c - scratch memory that the launches on a stream of a GPU have at hand, one after the other. */
#include <string.h>

#include "internal.h"
#include "workspace.h"

/* To allocate before a launch and to free after it costs a GPU a microsecond, and the host some calls of the driver. So
 * the default stream and streams of cf_stream_create() keep the memory of their launches, which the stream's order keeps
 * apart. A thread that finds it taken by another one, which is just enqueueing there, allocates: nobody waits.
 *
 * Other libraries destroy their streams without notice while work goes on: their launches get memory of the pool. */
enum { LEAST_BYTES = 16384 }; /* so that it need not grow often */

struct cf__workspaces cf__workspaces = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local unsigned int found_last;

void cf__workspace_lock(void)
{
    cf__lock(&cf__workspaces.lock);
}

void cf__workspace_unlock(void)
{
    cf__unlock(&cf__workspaces.lock);
}

/* ---- The table, with the lock ---- */

static int is_of(const struct cf__workspace *workspace, const struct cf__workspace_key *key)
{
    return workspace->stream == key->stream && workspace->context == key->context && workspace->is_used;
}

struct cf__workspace *cf__workspace_find(const struct cf__workspace_key *key)
{
    if (is_of(&cf__workspaces.all[found_last], key))
        return &cf__workspaces.all[found_last];
    for (unsigned int i = 0; i < CF__WORKSPACES; i++)
        if (is_of(&cf__workspaces.all[i], key)) {
            found_last = i;
            return &cf__workspaces.all[i];
        }
    return NULL;
}

void cf__workspace_remove(struct cf__workspace *workspace)
{
    *workspace = (struct cf__workspace){.is_used = 0};
    __atomic_store_n(&cf__workspaces.count, cf__workspaces.count - 1, __ATOMIC_RELAXED);
}

static struct cf__workspace *add(const struct cf__place *place, const struct cf__workspace_key *key)
{
    for (unsigned int i = 0; cf__workspaces.count < CF__WORKSPACES && i < CF__WORKSPACES; i++)
        if (!cf__workspaces.all[i].is_used) {
            cf__workspaces.all[i] = (struct cf__workspace){.context = key->context,
                                                           .stream = key->stream,
                                                           .is_used = 1,
                                                           .is_default = key->is_default,
                                                           .driver = place->driver,
                                                           .handle = place->context};
            found_last = i;
            __atomic_store_n(&cf__workspaces.count, cf__workspaces.count + 1, __ATOMIC_RELAXED);
            return &cf__workspaces.all[i];
        }
    return NULL;
}

/* ---- Taking and giving back ---- */

void cf__workspace_let_go(struct cf__workspace *workspace)
{
    cf__lock(&cf__workspaces.lock);
    workspace->is_taken = 0;
    if (!workspace->memory)
        cf__workspace_remove(workspace);
    cf__unlock(&cf__workspaces.lock);
}

static struct cf__workspace *take_for(const struct cf__place *place, const struct cf__workspace_key *key)
{
    cf__lock(&cf__workspaces.lock);
    struct cf__workspace *workspace = cf__workspace_find(key);
    if (!workspace)
        workspace = add(place, key);
    const int is_full = !workspace;
    if (workspace && workspace->is_taken)
        workspace = NULL;
    if (workspace)
        workspace->is_taken = 1;
    cf__unlock(&cf__workspaces.lock);
    if (is_full)
        cf__workspaces_look(place, key->context);
    return workspace;
}

/* Where there is no memory for more than is asked for, the launch tries with that. */
static int grow(const struct cf__place *place, const char *function, cf_stream stream, struct cf__workspace *workspace,
                size_t bytes)
{
    const CUdeviceptr before = workspace->memory;
    const char *call = "cuCtxGetDevice";
    size_t room = LEAST_BYTES;
    CUdeviceptr memory;
    while (room < bytes)
        room *= 2;
    CUresult result = place->driver->cuCtxGetDevice(&workspace->device);
    if (result == CUDA_SUCCESS)
        result = cf__pool_alloc_async(place, stream, room, &memory, &call);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && strncmp(call, "cuMemAlloc", 10) == 0)
        return CF_OK;
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, call, "%s: %zu bytes of scratch memory", function, room);
    workspace->memory = memory;
    workspace->is_pooled = cf__has_pool(workspace->device);
    workspace->bytes = room;
    workspace->is_zero = 0;
    result = before ? cf__pool_free_async(place, stream, before, &call) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        return CF_OK;
    cf__keep(place, cf__free_memory, (uintptr_t)before);
    return cf__fail_driver(place->driver, result, call, "%s: scratch memory", function);
}

int cf__workspace_take(const struct cf__place *place, const char *function, unsigned long long context,
                       cf_stream stream, size_t bytes, struct cf__taken *taken)
{
    struct cf__workspace_key key = {.context = context, .is_default = !stream || stream == CU_STREAM_LEGACY};
    taken->workspace = NULL;
    /* On the CPU launches of several threads run beside one another in whatever stream. What CF_CHECK=1 looks at, tools
     * look at, too: there arrays lie apart, as long as they are declared. */
    if (place->driver->is_host || bytes > CF__WORKSPACE_BYTES || cf__watches(CF__WATCH_POINTERS) ||
        !(key.is_default || cf__handle_serial(CF__STREAM, stream)))
        return CF_OK;
    CUresult result = place->driver->cuStreamGetId(stream, &key.stream);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuStreamGetId", "%s", function);
    struct cf__workspace *workspace = take_for(place, &key);
    int status = workspace && workspace->bytes < bytes ? grow(place, function, stream, workspace, bytes) : CF_OK;
    if (!workspace || status != CF_OK || workspace->bytes < bytes) {
        if (workspace)
            cf__workspace_let_go(workspace);
        return status;
    }
    *taken = (struct cf__taken){workspace, workspace->memory, workspace->bytes, workspace->is_zero};
    return CF_OK;
}

void cf__workspace_give(const struct cf__taken *taken, int is_zero)
{
    struct cf__workspace *workspace = taken->workspace;
    workspace->is_zero = is_zero;
    cf__lock(&cf__workspaces.lock);
    workspace->is_done = 0;
    workspace->latest = ++cf__workspaces.launches;
    workspace->is_taken = 0;
    cf__unlock(&cf__workspaces.lock);
}
