/* deferred_free.c - notes objects whose free failed, and frees them at cf_shutdown(). */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include <cuferry.h>

#include "driver/deferred_free.h"

#include "base/bounds.h"
#include "base/error.h"
#include "base/lock.h"
#include "driver/driver.h"
#include "driver/failure.h"

struct note {
    const struct cf__driver *driver;
    CUcontext context;
    unsigned long long id; /* id of the context, or CF__NO_CONTEXT if it is unknown */
    cf__free_function *function;
    uintptr_t object;
    struct note *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* lock for the variables below */
static struct note *deferred;
static size_t lost; /* number of objects that could not be noted because memory ran out */

void cf__deferred_free_lock(void)
{
    cf__lock(&lock);
}

void cf__deferred_free_unlock(void)
{
    cf__unlock(&lock);
}

void cf__defer_free(const struct cf__driver *driver, CUcontext context, cf__free_function *function, uintptr_t object)
{
    unsigned long long id;
    if (driver->cuCtxGetId(context, &id) != CUDA_SUCCESS)
        id = CF__NO_CONTEXT;
    struct note *note = malloc(sizeof *note);
    cf__lock(&lock);
    if (note) {
        *note = (struct note){driver, context, id, function, object, deferred};
        deferred = note;
    } else {
        lost++;
    }
    cf__unlock(&lock);
}

CUresult cf__free_memory(const struct cf__driver *driver, uintptr_t memory)
{
    return driver->cuMemFree(memory);
}

CUresult cf__free_pinned(const struct cf__driver *driver, uintptr_t memory)
{
    return driver->cuMemFreeHost((void *)memory);
}

void cf__free_or_defer(const struct cf__driver *driver, CUcontext context, cf__free_function *function,
                       uintptr_t object)
{
    if (object && function(driver, object) != CUDA_SUCCESS)
        cf__defer_free(driver, context, function, object);
}

/* ---- Trying again ---- */

/* Frees a note's object, and stores the name of the call that failed. Returns CUDA_SUCCESS even if the object's context
 * is gone. */
static CUresult free_object(const struct note *note, const char **call)
{
    const struct cf__driver *driver = note->driver;
    unsigned long long id;
    CUcontext context;
    *call = "cuCtxGetId";
    CUresult result = driver->cuCtxGetId(note->context, &id);
    if (result == CUDA_SUCCESS && note->id != CF__NO_CONTEXT && id != note->id)
        return CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) {
        *call = "cuCtxPushCurrent";
        result = driver->cuCtxPushCurrent(note->context);
    }
    if (result == CUDA_SUCCESS) {
        *call = "freeing it";
        result = note->function(driver, note->object);
        (void)driver->cuCtxPopCurrent(&context);
    }
    return cf__result_is_gone(result) ? CUDA_SUCCESS : result;
}

/* Reports lost objects only once: later, they are destroyed with their contexts. */
static int report_lost(void)
{
    cf__lock(&lock);
    size_t count = lost;
    lost = 0;
    cf__unlock(&lock);
    return count == 0 ? CF_OK
                      : cf__fail(CF_ENOMEM,
                                 "cf_shutdown: %zu things could not be freed, and there was no memory to keep them for "
                                 "another try",
                                 count);
}

static int fail_free(const struct cf__driver *driver, CUresult result, const char *call)
{
    char text[CF__DETAIL];
    cf__result_describe(driver, result, call, "cf_shutdown: what an earlier call could not free", text, sizeof text);
    return cf__fail_result(cf__result_status(result), (int)result, text);
}

int cf__deferred_free_retry(void)
{
    int status = report_lost();
    cf__lock(&lock);
    struct note *notes = deferred;
    deferred = NULL;
    cf__unlock(&lock);
    while (notes) {
        struct note *note = notes;
        const char *call;
        CUresult result = free_object(note, &call);
        notes = note->next;
        if (result != CUDA_SUCCESS)
            status = fail_free(note->driver, result, call);
        if (result == CUDA_SUCCESS) {
            free(note);
            continue;
        }
        cf__lock(&lock);
        note->next = deferred;
        deferred = note;
        cf__unlock(&lock);
    }
    return status;
}

void cf__deferred_free_forget(CUcontext context)
{
    cf__lock(&lock);
    for (struct note **link = &deferred, *note; (note = *link) != NULL;)
        if (!context || note->context == context) {
            *link = note->next;
            free(note);
        } else {
            link = &note->next;
        }
    cf__unlock(&lock);
}
