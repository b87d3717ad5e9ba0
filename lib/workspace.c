/* workspace.c - scratch memory that the launches on a stream of a GPU have at hand, one after the other. */
#include <pthread.h>
#include <string.h>

#include "internal.h"

/* To allocate in front of a launch and to free behind it costs a GPU a microsecond, and the host some calls of the
 * driver. So streams keep what a launch has needed: the stream's order keeps those that use it apart. Who finds it
 * taken, by another thread that is just enqueueing there, or finds none to be had, allocates: nobody waits.
 *
 * Streams go by their ids. Another library destroys its own without telling, while their work goes on, and the driver
 * gives the handle of one that is gone to the next. What such a stream has kept is another's only once it is known that
 * its last launch is done: by an event behind that, or since all of the context was waited for. An event costs
 * something, too, so that the first streams record none: what they leave behind is little, and bounded. */
enum {
    MOST = 128,         /* streams that have some */
    QUIET = 64,         /* of these, streams that record no event */
    LEAST_BYTES = 16384 /* so that it need not grow often */
};

enum known { NOTHING, RECORDED, DONE }; /* of the last launch */

struct cf__workspace {
    unsigned long long context, stream; /* their ids */
    int is_used;                        /* there is one here */
    int is_taken;                       /* and a thread has what it holds for itself */
    int is_quiet;
    int is_default; /* its stream is there for as long as the context is */
    enum known known;
    uint64_t latest; /* number of the last launch */
    const struct cf__driver *driver;
    CUcontext handle;
    CUdevice device;
    /* Who has taken it has these, without the lock. */
    CUdeviceptr memory;
    size_t bytes;
    CUevent event;
    int is_zero; /* all of the memory, behind what was launched so far */
    int cancel;  /* of the thread: one that ended with it would leave it taken */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows; the driver is called without it */
static struct cf__workspace workspaces[MOST];
static int count; /* that are used; atomic */
static uint64_t launches;
static unsigned int next_look;

/* What was in contexts that are gone, which done is then: memory of a pool goes with no context, not even with a reset
 * (CUDA 13.0). It is freed in any other of its device. */
static struct left {
    CUdeviceptr memory;
    CUdevice device;
} left[MOST];
static int left_count; /* atomic, too */
static _Thread_local unsigned int found_last;

void cf__workspace_lock(void)
{
    pthread_mutex_lock(&lock);
}

void cf__workspace_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* ---- The table, with the lock ---- */

struct key {
    unsigned long long context, stream;
    int is_default;
};

static int is_of(const struct cf__workspace *workspace, const struct key *key)
{
    return workspace->stream == key->stream && workspace->context == key->context && workspace->is_used;
}

static struct cf__workspace *find(const struct key *key)
{
    if (is_of(&workspaces[found_last], key))
        return &workspaces[found_last];
    for (unsigned int i = 0; i < MOST; i++)
        if (is_of(&workspaces[i], key)) {
            found_last = i;
            return &workspaces[i];
        }
    return NULL;
}

static void drop(struct cf__workspace *workspace)
{
    *workspace = (struct cf__workspace){.is_used = 0};
    __atomic_store_n(&count, count - 1, __ATOMIC_RELAXED);
}

static struct cf__workspace *add(const struct cf__place *place, const struct key *key)
{
    for (unsigned int i = 0; count < MOST && i < MOST; i++)
        if (!workspaces[i].is_used) {
            workspaces[i] = (struct cf__workspace){.context = key->context,
                                                   .stream = key->stream,
                                                   .is_used = 1,
                                                   .is_default = key->is_default,
                                                   .driver = place->driver,
                                                   .handle = place->context};
            found_last = i;
            __atomic_store_n(&count, count + 1, __ATOMIC_RELAXED);
            return &workspaces[i];
        }
    return NULL;
}

/* Of those that may be known to be done, the one whose last launch is the longest ago. */
static struct cf__workspace *oldest(unsigned long long context)
{
    struct cf__workspace *found = NULL;
    for (unsigned int i = 0; i < MOST; i++) {
        struct cf__workspace *one = &workspaces[i];
        if (one->is_used && !one->is_taken && one->context == context && one->known != NOTHING &&
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
    for (unsigned int i = 0; i < MOST; i++)
        quiet += workspaces[i].is_quiet && !workspaces[i].is_default;
    return quiet < QUIET;
}

static void take(struct cf__workspace *workspace)
{
    workspace->is_taken = 1;
    workspace->is_quiet = may_be_quiet(workspace);
}

/* ---- Taking and giving back ---- */

/* Of one that was taken and not used; what holds no memory is no more. */
static void let_go(struct cf__workspace *workspace)
{
    pthread_mutex_lock(&lock);
    workspace->is_taken = 0;
    if (!workspace->memory)
        drop(workspace);
    pthread_mutex_unlock(&lock);
}

static void forget(unsigned long long context, int is_any)
{
    pthread_mutex_lock(&lock);
    for (unsigned int i = 0; i < MOST; i++) {
        struct cf__workspace *one = &workspaces[i];
        if (!one->is_used || one->context != context || (one->is_taken && !is_any))
            continue;
        if (one->memory && left_count < MOST) {
            left[left_count] = (struct left){one->memory, one->device};
            __atomic_store_n(&left_count, left_count + 1, __ATOMIC_RELAXED);
        }
        drop(one);
    }
    pthread_mutex_unlock(&lock);
}

static int take_left(CUdevice device, CUdeviceptr *memory)
{
    int is_there = 0;
    pthread_mutex_lock(&lock);
    for (int i = left_count; i-- > 0 && !is_there;)
        if (left[i].device == device) {
            *memory = left[i].memory;
            left[i] = left[left_count - 1];
            __atomic_store_n(&left_count, left_count - 1, __ATOMIC_RELAXED);
            is_there = 1;
        }
    pthread_mutex_unlock(&lock);
    return is_there;
}

/* On the place's device; relaxed. What a fault has taken along fails, and is gone. */
static int free_left(const struct cf__place *place)
{
    CUdevice device;
    CUdeviceptr memory;
    int freed = 0;
    if (__atomic_load_n(&left_count, __ATOMIC_RELAXED) && place->driver->cuCtxGetDevice(&device) == CUDA_SUCCESS)
        while (take_left(device, &memory))
            freed += place->driver->cuMemFree(memory) == CUDA_SUCCESS;
    return freed;
}

static int is_gone(const struct cf__driver *driver, CUcontext handle, unsigned long long context)
{
    unsigned long long id;
    CUresult result = driver->cuCtxGetId(handle, &id);
    return result == CUDA_SUCCESS ? id != context : cf__is_gone(result);
}

/* A context that another library has destroyed leaves what was kept there; each look is at one of the table. */
static void look_for_gone(const struct cf__place *place, unsigned long long current)
{
    struct cf__workspace other = {.is_used = 0};
    pthread_mutex_lock(&lock);
    const struct cf__workspace *one = &workspaces[next_look++ % MOST];
    if (one->is_used && !one->is_taken && one->context != current)
        other = *one;
    pthread_mutex_unlock(&lock);
    if (!other.is_used || !is_gone(other.driver, other.handle, other.context))
        return;
    int mode = cf__relax(place->driver);
    forget(other.context, 0);
    (void)free_left(place);
    cf__unrelax(place->driver, mode);
}

static int is_done(const struct cf__place *place, const struct cf__workspace *workspace)
{
    return workspace->known == DONE ||
           (workspace->known == RECORDED && place->driver->cuEventQuery(workspace->event) == CUDA_SUCCESS);
}

/* One that was another stream's and is taken: NULL where that may still be at work. */
static struct cf__workspace *take_over(const struct cf__place *place, struct cf__workspace *workspace,
                                       const struct key *key)
{
    int mode = cf__relax(place->driver);
    int is_free = is_done(place, workspace);
    cf__unrelax(place->driver, mode);
    pthread_mutex_lock(&lock);
    workspace->is_taken = 0;
    if (is_free && !find(key)) {
        workspace->stream = key->stream;
        workspace->is_default = key->is_default;
        workspace->known = DONE;
        take(workspace);
    } else {
        workspace = NULL;
    }
    pthread_mutex_unlock(&lock);
    return workspace;
}

static struct cf__workspace *take_for(const struct cf__place *place, const struct key *key)
{
    struct cf__workspace *other = NULL;
    pthread_mutex_lock(&lock);
    struct cf__workspace *workspace = find(key);
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
    pthread_mutex_unlock(&lock);
    if (is_full)
        look_for_gone(place, key->context);
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
    struct key key = {.context = context, .is_default = !stream || stream == CU_STREAM_LEGACY};
    taken->workspace = NULL;
    /* On the CPU launches of several threads run beside one another in whatever stream. What CF_CHECK=1 looks at, tools
     * look at, too: there arrays lie apart, as long as they are declared. */
    if (place->driver->is_host || bytes > CF__WORKSPACE_BYTES || cf__watches(CF__WATCH_POINTERS))
        return CF_OK;
    CUresult result = place->driver->cuStreamGetId(stream, &key.stream);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuStreamGetId", "%s", function);
    const int cancel = cf__cancel_off();
    struct cf__workspace *workspace = take_for(place, &key);
    int status = workspace ? fit(place, function, stream, workspace, bytes) : CF_OK;
    if (!workspace || status != CF_OK || workspace->bytes < bytes) {
        if (workspace)
            let_go(workspace);
        cf__cancel_on(cancel);
        return status;
    }
    workspace->cancel = cancel;
    *taken = (struct cf__taken){workspace, workspace->memory, workspace->bytes, workspace->is_zero};
    return CF_OK;
}

int cf__workspace_give(const struct cf__taken *taken, const char *function, cf_stream stream, int is_zero, int status)
{
    struct cf__workspace *workspace = taken->workspace;
    const struct cf__driver *driver = workspace->driver;
    const int cancel = workspace->cancel;
    CUresult result = workspace->is_quiet ? CUDA_SUCCESS : driver->cuEventRecord(workspace->event, stream);
    workspace->is_zero = is_zero;
    pthread_mutex_lock(&lock);
    workspace->known = workspace->is_quiet || result != CUDA_SUCCESS ? NOTHING : RECORDED;
    workspace->latest = ++launches;
    workspace->is_taken = 0;
    pthread_mutex_unlock(&lock);
    if (result != CUDA_SUCCESS && status == CF_OK)
        status = cf__fail_driver(driver, result, "cuEventRecord", "%s: scratch memory", function);
    cf__cancel_on(cancel);
    return status;
}

/* ---- Freeing ---- */

static CUresult destroy_event(const struct cf__driver *driver, uintptr_t event)
{
    return driver->cuEventDestroy((CUevent)event);
}

/* Behind an attempt to free the memory of one that is taken. What could not be freed stays for another. */
static void end_free(const struct cf__place *place, struct cf__workspace *workspace, CUresult result)
{
    if (result == CUDA_SUCCESS) {
        workspace->memory = 0;
        cf__give_back(place, destroy_event, (uintptr_t)workspace->event);
    }
    let_go(workspace);
}

void cf__workspace_drop(const struct cf__place *place, cf_stream stream)
{
    struct key key;
    const char *call;
    if (place->driver->is_host || !__atomic_load_n(&count, __ATOMIC_RELAXED) ||
        place->driver->cuCtxGetId(place->context, &key.context) != CUDA_SUCCESS ||
        place->driver->cuStreamGetId(stream, &key.stream) != CUDA_SUCCESS)
        return;
    pthread_mutex_lock(&lock);
    struct cf__workspace *workspace = find(&key);
    if (workspace && workspace->is_taken)
        workspace = NULL;
    if (workspace)
        workspace->is_taken = 1;
    pthread_mutex_unlock(&lock);
    if (workspace)
        end_free(place, workspace, cf__pool_free_async(place, stream, workspace->memory, &call));
}

/* Takes the next of a context that can be freed behind the work of the default stream, or may be known to be done. */
static struct cf__workspace *take_next(unsigned long long context, unsigned int *next)
{
    struct cf__workspace *taken = NULL;
    pthread_mutex_lock(&lock);
    for (; *next < MOST && !taken; ++*next) {
        struct cf__workspace *one = &workspaces[*next];
        if (one->is_used && !one->is_taken && one->context == context && (one->is_default || one->known != NOTHING))
            taken = one;
    }
    if (taken)
        taken->is_taken = 1;
    pthread_mutex_unlock(&lock);
    return taken;
}

/* Behind what the default stream has to do so far. It cannot be used while a stream that is ordered with it is captured,
 * which trying would break. */
static CUresult free_in_default(const struct cf__place *place, CUdeviceptr memory, const char **call)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    *call = "cuStreamIsCapturing";
    CUresult result = place->driver->cuStreamIsCapturing(NULL, &capture);
    return result == CUDA_SUCCESS ? cf__pool_free_async(place, NULL, memory, call) : result;
}

/* In the context of that id; gives how many went, and the latest failure. */
static int free_done(const struct cf__place *place, unsigned long long context, CUresult *failure, const char **call)
{
    struct cf__workspace *taken;
    unsigned int next = 0;
    int freed = 0;
    *failure = CUDA_SUCCESS;
    while ((taken = take_next(context, &next)) != NULL) {
        const char *freeing = "cuMemFree";
        CUresult result;
        if (is_done(place, taken)) {
            result = place->driver->cuMemFree(taken->memory);
        } else if (taken->is_default) {
            result = free_in_default(place, taken->memory, &freeing);
        } else {
            let_go(taken);
            continue;
        }
        end_free(place, taken, result);
        freed += result == CUDA_SUCCESS;
        if (result != CUDA_SUCCESS) {
            *failure = result;
            *call = freeing;
        }
    }
    return freed;
}

int cf__workspaces_trim(const struct cf__place *place)
{
    unsigned long long context;
    CUresult failure;
    const char *call;
    return (__atomic_load_n(&count, __ATOMIC_RELAXED) || __atomic_load_n(&left_count, __ATOMIC_RELAXED)) &&
           place->driver->cuCtxGetId(place->context, &context) == CUDA_SUCCESS &&
           free_done(place, context, &failure, &call) + free_left(place) > 0;
}

uint64_t cf__workspaces_now(void)
{
    pthread_mutex_lock(&lock);
    uint64_t now = launches;
    pthread_mutex_unlock(&lock);
    return now;
}

void cf__workspaces_done(CUcontext context, uint64_t now)
{
    pthread_mutex_lock(&lock);
    for (unsigned int i = 0; count && i < MOST; i++) {
        struct cf__workspace *one = &workspaces[i];
        if (one->is_used && !one->is_taken && one->handle == context && one->latest <= now)
            one->known = DONE;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- The end ---- */

/* Threads that were cancelled while they had one are not inside any more. */
static void let_all_go(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned int i = 0; i < MOST; i++)
        if (workspaces[i].is_taken) {
            workspaces[i].is_taken = 0;
            workspaces[i].known = NOTHING;
            if (!workspaces[i].memory)
                drop(&workspaces[i]);
        }
    pthread_mutex_unlock(&lock);
}

static int have_any(unsigned long long context)
{
    int is_any = 0;
    pthread_mutex_lock(&lock);
    for (unsigned int i = 0; i < MOST; i++)
        is_any |= workspaces[i].is_used && workspaces[i].context == context;
    pthread_mutex_unlock(&lock);
    return is_any;
}

/* In the place's context. Streams that nothing is known of may be at work, or gone. */
static int free_all(const struct cf__place *place, unsigned long long context)
{
    const char *call;
    CUresult result;
    (void)free_done(place, context, &result, &call);
    if (!have_any(context))
        return CF_OK;
    int status = cf__wait_for_device("cf_shutdown", place, &result);
    if (status != CF_OK)
        return status;
    call = "cuCtxSynchronize";
    if (result == CUDA_SUCCESS)
        (void)free_done(place, context, &result, &call);
    if (cf__is_gone(result))
        forget(context, 1);
    else if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, call, "cf_shutdown: scratch memory");
    return CF_OK;
}

/* Where the library holds no context of a device it stays until the process ends. */
static void free_all_left(const struct cf__driver *driver)
{
    struct cf__place place;
    for (int device = 0; left_count && device < CF__MAX_DEVICES; device++) {
        CUcontext primary = cf__primary_held(device);
        if (!primary || cf__enter_context(&place, "cf_shutdown", driver, primary) != CF_OK)
            continue;
        (void)free_left(&place);
        cf__leave(&place);
    }
    left_count = 0;
}

/* What fails stays. */
int cf__workspaces_free(const struct cf__driver *cuda)
{
    int status = CF_OK;
    let_all_go();
    for (unsigned int i = 0; i < MOST; i++) {
        const struct cf__workspace *one = &workspaces[i];
        struct cf__place place;
        if (!one->is_used)
            continue;
        if (is_gone(one->driver, one->handle, one->context) || cf__is_lost(one->driver, one->handle)) {
            forget(one->context, 1);
            continue;
        }
        int failed = cf__enter_context(&place, "cf_shutdown", one->driver, one->handle);
        if (failed == CF_OK) {
            failed = free_all(&place, one->context);
            cf__leave(&place);
        }
        if (failed != CF_OK)
            status = failed;
    }
    if (cuda)
        free_all_left(cuda);
    return status;
}

void cf__workspaces_forget(unsigned long long context)
{
    forget(context, 1);
}

void cf__workspaces_forget_all(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned int i = 0; i < MOST; i++)
        if (workspaces[i].is_used)
            drop(&workspaces[i]);
    left_count = 0;
    pthread_mutex_unlock(&lock);
}
