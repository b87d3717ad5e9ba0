/* context.c - what the library keeps for each context that it was used in, and which of them are lost. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Of adding and losing; the list is read without it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cf__context *contexts;

/* ---- Records ---- */

static struct cf__context *first(void)
{
    return __atomic_load_n(&contexts, __ATOMIC_ACQUIRE);
}

static unsigned long long id_of(const struct cf__context *context)
{
    return __atomic_load_n(&context->id, __ATOMIC_ACQUIRE);
}

struct cf__context *cf__context_find(unsigned long long id)
{
    struct cf__context *context = first();
    while (context && id_of(context) != id)
        context = context->next;
    return context;
}

/* With the lock. Of a record that serves none nothing is left: its id would stand for all notes. */
static void drop(struct cf__context *context)
{
    if (context->id == CF__NO_CONTEXT)
        return;
    if (!context->driver->is_host)
        cf__running_forget(context->id);
    cf__stages_free(context, NULL);
    __atomic_store_n(&context->id, CF__NO_CONTEXT, __ATOMIC_RELEASE);
    __atomic_store_n(&context->is_lost, 0, __ATOMIC_RELAXED);
    context->handle = NULL;
}

/* With the lock. */
static int is_any_lost(void)
{
    const struct cf__context *context = contexts;
    while (context && !context->is_lost)
        context = context->next;
    return context != NULL;
}

void cf__context_drop(struct cf__context *context)
{
    cf__lock(&lock);
    drop(context);
    if (!is_any_lost())
        cf__gpu_mark(CF__GPU_LOST, 0);
    cf__unlock(&lock);
}

/* With the lock: a record that serves no context. The driver gives an address anew when the context that had it is
 * gone, so that there are no more records than there were contexts at one time. */
static struct cf__context *spare(const struct cf__driver *driver, CUcontext handle)
{
    struct cf__context *context = contexts;
    while (context && context->id != CF__NO_CONTEXT && !(context->driver == driver && context->handle == handle))
        context = context->next;
    return context;
}

/* With the lock. NULL where there is no memory. */
static struct cf__context *add(const struct cf__driver *driver, CUcontext handle, unsigned long long id, int device)
{
    struct cf__context *context = spare(driver, handle);
    if (context) {
        drop(context);
        context->handle = handle;
        context->driver = driver;
        context->device = device;
        __atomic_store_n(&context->id, id, __ATOMIC_RELEASE);
        return context;
    }
    context = malloc(sizeof *context);
    if (!context)
        return NULL;
    *context = (struct cf__context){.id = id, .handle = handle, .driver = driver, .device = device, .next = contexts};
    __atomic_store_n(&contexts, context, __ATOMIC_RELEASE);
    return context;
}

int cf__context(const struct cf__place *place, const char *function, struct cf__context **context)
{
    unsigned long long id;
    int device;
    CUresult result = place->driver->cuCtxGetId(place->context, &id);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuCtxGetId", "%s", function);
    if ((*context = cf__context_find(id)) != NULL)
        return CF_OK;
    int status = cf__place_device(place, function, &device);
    if (status != CF_OK)
        return status;
    cf__lock(&lock);
    *context = cf__context_find(id);
    if (!*context)
        *context = add(place->driver, place->context, id, device);
    cf__unlock(&lock);
    return *context ? CF_OK : cf__fail(CF_ENOMEM, "%s: no memory for what is kept of a context", function);
}

struct cf__context *cf__context_next(const struct cf__context *context)
{
    struct cf__context *next = context ? context->next : first();
    while (next && id_of(next) == CF__NO_CONTEXT)
        next = next->next;
    return next;
}

void cf__contexts_forget(void)
{
    cf__lock(&lock);
    for (struct cf__context *context = contexts, *next; context; context = next) {
        next = context->next;
        drop(context);
        free(context);
    }
    __atomic_store_n(&contexts, NULL, __ATOMIC_RELEASE);
    cf__unlock(&lock);
    cf__gpu_mark(CF__GPU_LOST, 0);
    cf__running_forget(CF__NO_CONTEXT);
}

void cf__contexts_lock(void)
{
    cf__lock(&lock);
}

void cf__contexts_unlock(void)
{
    cf__unlock(&lock);
}

/* ---- Lost ones ---- */

struct cf__context *cf__context_of(const struct cf__driver *driver, CUcontext handle)
{
    unsigned long long id;
    struct cf__context *context = first();
    if (driver->cuCtxGetId(handle, &id) == CUDA_SUCCESS)
        return cf__context_find(id);
    while (context && !(id_of(context) != CF__NO_CONTEXT && context->driver == driver && context->handle == handle))
        context = context->next;
    return context;
}

/* A number for a record whose context tells none; no driver counts up to there. */
static unsigned long long made_up_id(void)
{
    static unsigned long long made;
    return CF__NO_CONTEXT - 1 - __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
}

static int is_made_up(unsigned long long id)
{
    return id > CF__NO_CONTEXT / 2;
}

void cf__context_lose(const struct cf__driver *driver, CUcontext handle, int device, const char *running)
{
    unsigned long long id;
    struct cf__context *context = cf__context_of(driver, handle);
    if (context && __atomic_load_n(&context->is_lost, __ATOMIC_ACQUIRE))
        return;
    if (!context && driver->cuCtxGetId(handle, &id) != CUDA_SUCCESS)
        id = made_up_id();
    cf__lock(&lock);
    if (!context && !(context = cf__context_find(id)))
        context = add(driver, handle, id, device);
    int is_new = context && !context->is_lost;
    if (is_new) {
        if (running)
            snprintf(context->running, sizeof context->running, "%s", running);
        else
            cf__running_text(context->id, context->running, sizeof context->running);
        __atomic_store_n(&context->is_lost, 1, __ATOMIC_RELEASE);
        cf__gpu_mark(CF__GPU_LOST, 1);
    }
    cf__unlock(&lock);
    if (is_new)
        cf__log(CF_LOG_INFO, "the context of device %d was lost to a fault while %s running", device, context->running);
}

/* Whether a context is gone; `is_destroyed`: there is not even another one at its address. */
static int is_gone(const struct cf__context *context, unsigned long long id, int *is_destroyed)
{
    unsigned long long now;
    CUresult result = context->driver->cuCtxGetId(context->handle, &now);
    *is_destroyed = result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return *is_destroyed || (result == CUDA_SUCCESS && now != id && !is_made_up(id));
}

/* Its record stays for its id. Its handles are marked before the device is used again, when there are new ones. */
static void let_go(struct cf__context *context, unsigned long long id, int is_destroyed)
{
    cf__lock(&lock);
    int was_lost = context->is_lost && context->id == id, device = context->device;
    if (was_lost) {
        if (device >= 0 && device < CF__MAX_DEVICES && cf__primary_held(device) == context->handle) {
            cf__peers_forget(device);
            if (is_destroyed)
                cf__primary_drop(device, context->handle);
        }
        cf__captures_forget(context->handle);
        cf__handles_reset(context->handle, device);
        __atomic_store_n(&context->is_lost, 0, __ATOMIC_RELEASE);
        if (!is_any_lost())
            cf__gpu_mark(CF__GPU_LOST, 0);
    }
    cf__unlock(&lock);
    if (was_lost)
        cf__workspaces_lose(id, device);
    if (was_lost)
        cf__log(CF_LOG_INFO, "the lost context of device %d is gone", device);
}

void cf__contexts_review(void)
{
    for (struct cf__context *context = cf__context_next(NULL); context; context = cf__context_next(context)) {
        unsigned long long id = id_of(context);
        int is_destroyed;
        if (__atomic_load_n(&context->is_lost, __ATOMIC_ACQUIRE) && !cf__log_is_inside() &&
            is_gone(context, id, &is_destroyed))
            let_go(context, id, is_destroyed);
    }
}

/* Whether the context that is current on the thread fails whatever is asked of it. */
static int is_failing(const struct cf__driver *driver)
{
    return cf__status_of(driver->cuStreamQuery(NULL)) == CF_EFAULT;
}

static const struct cf__context *lost(const struct cf__driver *driver, CUcontext handle)
{
    const struct cf__context *context = handle ? cf__context_of(driver, handle) : NULL;
    return context && __atomic_load_n(&context->is_lost, __ATOMIC_ACQUIRE) ? context : NULL;
}

/* Whether a context that was not known to be lost is: then it is noted. */
static int look_at(const struct cf__driver *driver, CUcontext context, int device)
{
    CUcontext popped;
    if (lost(driver, context) || driver->cuCtxPushCurrent(context) != CUDA_SUCCESS)
        return 0;
    int is_lost = is_failing(driver);
    if (is_lost)
        cf__context_lose(driver, context, device, NULL);
    (void)driver->cuCtxPopCurrent(&popped);
    return is_lost;
}

/* Contexts that were used and are not known to be lost; the first ones, where there are more. */
struct used {
    CUcontext handle;
    unsigned long long id;
    int device;
};

static int list_used(const struct cf__driver *driver, struct used used[CF__MAX_DEVICES])
{
    int count = 0;
    cf__lock(&lock);
    for (const struct cf__context *context = contexts; context && count < CF__MAX_DEVICES; context = context->next)
        if (context->driver == driver && context->id != CF__NO_CONTEXT && !context->is_lost)
            used[count++] = (struct used){context->handle, context->id, context->device};
    cf__unlock(&lock);
    return count;
}

/* A call that failed may have been about another context than the current one, as with an event: the ones that the
 * library holds or has used are asked, too. Gives one that was lost just now, or NULL. */
static const struct cf__context *look_for_lost(const struct cf__driver *driver, CUcontext current)
{
    int device = 0, mode = cf__relax(driver); /* other devices may be captured on */
    unsigned long long id;
    CUcontext found = NULL;
    if (current && !lost(driver, current) && is_failing(driver)) {
        cf__context_lose(driver, current, driver->cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : -1, NULL);
        found = current;
    }
    for (device = 0; device < CF__MAX_DEVICES; device++) {
        CUcontext primary = cf__primary_held(device);
        if (primary && primary != current && look_at(driver, primary, device) && !found)
            found = primary;
    }
    struct used used[CF__MAX_DEVICES];
    for (int count = list_used(driver, used); count-- > 0;) {
        CUcontext handle = used[count].handle;
        if (handle != current && driver->cuCtxGetId(handle, &id) == CUDA_SUCCESS && id == used[count].id &&
            look_at(driver, handle, used[count].device) && !found)
            found = handle;
    }
    cf__unrelax(driver, mode);
    return lost(driver, found);
}

static void describe(const struct cf__context *context, char *text, size_t size)
{
    if (context->device >= 0)
        snprintf(text, size,
                 "device %d's context was lost to a fault while %s running; cf_device_reset(%d) may make the device "
                 "usable again, ending the process does",
                 context->device, context->running, context->device);
    else
        snprintf(text, size, "its context was lost to a fault while %s running", context->running);
}

/* Which one is meant, where the current one is well and none was lost just now: the one that is lost, if there is one
 * alone. */
static const struct cf__context *only_lost(const struct cf__driver *driver)
{
    const struct cf__context *only = NULL;
    int count = 0;
    cf__lock(&lock);
    for (const struct cf__context *context = contexts; context; context = context->next)
        if (context->driver == driver && context->id != CF__NO_CONTEXT && context->is_lost) {
            only = context;
            count++;
        }
    cf__unlock(&lock);
    return count == 1 ? only : NULL;
}

int cf__note_lost(const struct cf__driver *driver, int status, char *text, size_t size)
{
    CUcontext current = NULL;
    if (driver->is_host || (status != CF_EFAULT && !(cf__gpu_state() & CF__GPU_LOST)))
        return status;
    if (driver->cuCtxGetCurrent(&current) != CUDA_SUCCESS)
        current = NULL;
    const struct cf__context *now = status == CF_EFAULT ? look_for_lost(driver, current) : NULL;
    const struct cf__context *context = lost(driver, current);
    if (!context && status == CF_EFAULT)
        context = now ? now : only_lost(driver);
    size_t used = strlen(text);
    if (context && used + 2 < size) {
        memcpy(text + used, "; ", 3);
        describe(context, text + used + 2, size - used - 2);
    } else if (status == CF_EFAULT) {
        snprintf(text + used, size - used, "; a context of this process was lost to a fault");
    }
    return context ? CF_EFAULT : status;
}

int cf__is_lost(const struct cf__driver *driver, CUcontext handle)
{
    return cf__gpu_state() & CF__GPU_LOST && lost(driver, handle);
}

int cf__check_lost(const struct cf__place *place, const char *function)
{
    const struct cf__context *context = place->driver->is_host ? NULL : lost(place->driver, place->context);
    char text[512];
    if (!context)
        return CF_OK;
    describe(context, text, sizeof text);
    return cf__fail(CF_EFAULT, "%s: %s", function, text);
}
