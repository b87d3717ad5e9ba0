/* workspace.c - scratch memory that the launches on a stream of a GPU have at hand, one after the other. */
#include <string.h>

#include "internal.h"
#include "workspace.h"

/* To allocate in front of a launch and to free behind it costs a GPU a microsecond, and the host some calls of the
 * driver. So streams keep what a launch has needed: the stream's order keeps those that use it apart. Who finds it
 * taken, by another thread that is just enqueueing there, or finds none to be had, allocates: nobody waits.
 *
 * Streams go by their ids. Another library destroys its own without telling, while their work goes on, and the driver
 * gives the handle of one that is gone to the next. What such a stream has kept is another's only once it is known that
 * its last launch is done: by an event behind that, or since all of the context was waited for. An event costs
 * something, too, so that the first streams record none: what they leave behind is little, and bounded. */
enum {
    QUIET = CF__WORKSPACES / 2, /* streams that record no event */
    LEAST_BYTES = 16384         /* so that it need not grow often */
};

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

/* Of those that may be known to be done, the one whose last launch is the longest ago. */
static struct cf__workspace *oldest(unsigned long long context)
{
    struct cf__workspace *found = NULL;
    for (unsigned int i = 0; i < CF__WORKSPACES; i++) {
        struct cf__workspace *one = &cf__workspaces.all[i];
        if (one->is_used && !one->is_taken && one->context == context && one->known != CF__WORK_UNKNOWN &&
            (!found || one->latest < found->latest))
            found = one;
    }
    return found;
}

static int may_be_quiet(const struct cf__workspace *workspace)
{
    int quiet = 0;
    if (workspace->is_default || workspace->is_quiet)
        return 1;
    for (unsigned int i = 0; i < CF__WORKSPACES; i++)
        quiet += cf__workspaces.all[i].is_quiet && !cf__workspaces.all[i].is_default;
    return quiet < QUIET;
}

static void take(struct cf__workspace *workspace)
{
    workspace->is_taken = 1;
    workspace->is_quiet = may_be_quiet(workspace);
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

int cf__workspace_is_done(const struct cf__place *place, const struct cf__workspace *workspace)
{
    return workspace->known == CF__WORK_DONE ||
           (workspace->known == CF__WORK_RECORDED && place->driver->cuEventQuery(workspace->event) == CUDA_SUCCESS);
}

/* One that was another stream's and is taken: NULL where that may still be at work. */
static struct cf__workspace *take_over(const struct cf__place *place, struct cf__workspace *workspace,
                                       const struct cf__workspace_key *key)
{
    int mode = cf__relax(place->driver);
    int is_free = cf__workspace_is_done(place, workspace);
    cf__unrelax(place->driver, mode);
    cf__lock(&cf__workspaces.lock);
    workspace->is_taken = 0;
    if (is_free && !cf__workspace_find(key)) {
        workspace->stream = key->stream;
        workspace->is_default = key->is_default;
        workspace->known = CF__WORK_DONE;
        take(workspace);
    } else {
        workspace = NULL;
    }
    cf__unlock(&cf__workspaces.lock);
    return workspace;
}

static struct cf__workspace *take_for(const struct cf__place *place, const struct cf__workspace_key *key)
{
    struct cf__workspace *other = NULL;
    cf__lock(&cf__workspaces.lock);
    struct cf__workspace *workspace = cf__workspace_find(key);
    int is_new = !workspace;
    if (is_new)
        workspace = add(place, key);
    int is_full = !workspace;
    if (is_full)
        other = oldest(key->context);
    if (other)
        other->is_taken = 1;
    if (workspace && workspace->is_taken)
        workspace = NULL;
    if (workspace)
        take(workspace);
    cf__unlock(&cf__workspaces.lock);
    if (is_full)
        cf__workspaces_look(place, key->context);
    return other ? take_over(place, other, key) : workspace;
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

static int fit(const struct cf__place *place, const char *function, cf_stream stream, struct cf__workspace *workspace,
               size_t bytes)
{
    int status = workspace->bytes < bytes ? grow(place, function, stream, workspace, bytes) : CF_OK;
    if (status != CF_OK || workspace->bytes < bytes || workspace->is_quiet || workspace->event)
        return status;
    int mode = cf__relax(place->driver);
    CUresult result = place->driver->cuEventCreate(&workspace->event, CU_EVENT_DISABLE_TIMING);
    cf__unrelax(place->driver, mode);
    if (result == CUDA_SUCCESS)
        return CF_OK;
    workspace->event = NULL;
    return cf__fail_driver(place->driver, result, "cuEventCreate", "%s: scratch memory", function);
}

int cf__workspace_take(const struct cf__place *place, const char *function, unsigned long long context,
                       cf_stream stream, size_t bytes, struct cf__taken *taken)
{
    struct cf__workspace_key key = {.context = context, .is_default = !stream || stream == CU_STREAM_LEGACY};
    taken->workspace = NULL;
    /* On the CPU launches of several threads run beside one another in whatever stream. What CF_CHECK=1 looks at, tools
     * look at, too: there arrays lie apart, as long as they are declared. */
    if (place->driver->is_host || bytes > CF__WORKSPACE_BYTES || cf__watches(CF__WATCH_POINTERS))
        return CF_OK;
    CUresult result = place->driver->cuStreamGetId(stream, &key.stream);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuStreamGetId", "%s", function);
    struct cf__workspace *workspace = take_for(place, &key);
    int status = workspace ? fit(place, function, stream, workspace, bytes) : CF_OK;
    if (!workspace || status != CF_OK || workspace->bytes < bytes) {
        if (workspace)
            cf__workspace_let_go(workspace);
        return status;
    }
    *taken = (struct cf__taken){workspace, workspace->memory, workspace->bytes, workspace->is_zero};
    return CF_OK;
}

int cf__workspace_give(const struct cf__taken *taken, const char *function, cf_stream stream, int is_zero, int status)
{
    struct cf__workspace *workspace = taken->workspace;
    const struct cf__driver *driver = workspace->driver;
    CUresult result = workspace->is_quiet ? CUDA_SUCCESS : driver->cuEventRecord(workspace->event, stream);
    workspace->is_zero = is_zero;
    cf__lock(&cf__workspaces.lock);
    workspace->known = workspace->is_quiet || result != CUDA_SUCCESS ? CF__WORK_UNKNOWN : CF__WORK_RECORDED;
    workspace->latest = ++cf__workspaces.launches;
    workspace->is_taken = 0;
    cf__unlock(&cf__workspaces.lock);
    if (result != CUDA_SUCCESS && status == CF_OK)
        status = cf__fail_driver(driver, result, "cuEventRecord", "%s: scratch memory", function);
    return status;
}
