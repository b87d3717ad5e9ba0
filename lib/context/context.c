/* context.c - keeps a record of each context in which the library was used. */
#include <pthread.h>
#include <stdlib.h>

#include "context/context.h"

#include "base/fast.h"
#include "base/lock.h"
#include "driver/driver.h"
#include "context/inflight.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* lock for changes of the list; readers take no lock */
static struct cf__context *contexts;
static int has_dropped_lost; /* 1 if the record of a lost context was dropped */

struct cf__context_events cf__context_observer;

/* ---- Records ---- */

static struct cf__context *first_record(void)
{
    return __atomic_load_n(&contexts, __ATOMIC_ACQUIRE);
}

unsigned long long cf__context_id(const struct cf__context *context)
{
    return __atomic_load_n(&context->id, __ATOMIC_ACQUIRE);
}

struct cf__context *cf__context_by_id(unsigned long long id)
{
    struct cf__context *context = first_record();
    while (context && cf__context_id(context) != id)
        context = context->next;
    return context;
}

/* The caller holds the lock. Unused records are skipped, because their id CF__NO_CONTEXT would match every unused
 * record of launches in flight. */
static void drop_record(struct cf__context *context)
{
    if (context->id == CF__NO_CONTEXT)
        return;
    if (!context->driver->is_cpu)
        cf__inflight_forget(context->id);
    cf__context_observer.record_dropped(context);
    has_dropped_lost |= context->is_lost;
    __atomic_store_n(&context->id, CF__NO_CONTEXT, __ATOMIC_RELEASE);
    __atomic_store_n(&context->is_lost, 0, __ATOMIC_RELAXED);
    context->handle = NULL;
}

int cf__contexts_have_dropped_lost(void)
{
    return has_dropped_lost;
}

void cf__contexts_note_recovery(void)
{
    const struct cf__context *context = contexts;
    while (context && !context->is_lost)
        context = context->next;
    if (!context)
        cf__gpu_mark(CF__GPU_LOST, 0);
}

void cf__context_drop(struct cf__context *context)
{
    cf__lock(&lock);
    drop_record(context);
    cf__contexts_note_recovery();
    cf__unlock(&lock);
}

/* Returns a record that may be overwritten: an unused one, or one with the same address, because the driver reuses only
 * the addresses of destroyed contexts. So there are never more records than contexts existed at one time. The caller
 * holds the lock. */
static struct cf__context *find_spare_record(const struct cf__driver *driver, CUcontext handle)
{
    struct cf__context *context = contexts;
    while (context && context->id != CF__NO_CONTEXT && !(context->driver == driver && context->handle == handle))
        context = context->next;
    return context;
}

struct cf__context *cf__context_add(const struct cf__driver *driver, CUcontext handle, unsigned long long id,
                                    int device)
{
    struct cf__context *context = find_spare_record(driver, handle);
    if (context) {
        drop_record(context);
        context->handle = handle;
        context->driver = driver;
        context->device = device;
        __atomic_store_n(&context->pageable_access, -1, __ATOMIC_RELAXED);
        __atomic_store_n(&context->id, id, __ATOMIC_RELEASE);
        return context;
    }
    context = malloc(sizeof *context);
    if (!context)
        return NULL;
    *context = (struct cf__context){
        .id = id, .handle = handle, .driver = driver, .device = device, .pageable_access = -1, .next = contexts};
    __atomic_store_n(&contexts, context, __ATOMIC_RELEASE);
    return context;
}

struct cf__context *cf__context_by_handle(const struct cf__driver *driver, CUcontext handle)
{
    unsigned long long id;
    struct cf__context *context = first_record();
    if (driver->cuCtxGetId(handle, &id) == CUDA_SUCCESS)
        return cf__context_by_id(id);
    while (context &&
           !(cf__context_id(context) != CF__NO_CONTEXT && context->driver == driver && context->handle == handle))
        context = context->next;
    return context;
}

struct cf__context *cf__context_next(const struct cf__context *context)
{
    struct cf__context *next = context ? context->next : first_record();
    while (next && cf__context_id(next) == CF__NO_CONTEXT)
        next = next->next;
    return next;
}

void cf__contexts_forget(void)
{
    cf__lock(&lock);
    for (struct cf__context *context = contexts, *next; context; context = next) {
        next = context->next;
        drop_record(context);
        free(context);
    }
    __atomic_store_n(&contexts, NULL, __ATOMIC_RELEASE);
    has_dropped_lost = 0;
    cf__unlock(&lock);
    cf__gpu_mark(CF__GPU_LOST, 0);
    cf__inflight_forget(CF__NO_CONTEXT);
}

void cf__contexts_lock(void)
{
    cf__lock(&lock);
}

void cf__contexts_unlock(void)
{
    cf__unlock(&lock);
}
