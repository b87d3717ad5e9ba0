/* context.c - what the library keeps for each context that it was used in. */
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of adding; the list is read without it */
static struct cf__context *contexts;

static struct cf__context *find(unsigned long long id)
{
    struct cf__context *context = __atomic_load_n(&contexts, __ATOMIC_ACQUIRE);
    while (context && context->id != id)
        context = context->next;
    return context;
}

/* With the lock. */
static int add(const struct cf__place *place, unsigned long long id, struct cf__context **context)
{
    struct cf__context *made = malloc(sizeof *made);
    if (!made)
        return cf__fail(CF_ENOMEM, "no memory for what is kept of a context");
    *made = (struct cf__context){.id = id, .handle = place->context, .driver = place->driver, .next = contexts};
    int status = cf__place_device(place, &made->device);
    if (status != CF_OK) {
        free(made);
        return status;
    }
    __atomic_store_n(&contexts, made, __ATOMIC_RELEASE);
    *context = made;
    return CF_OK;
}

int cf__context(const struct cf__place *place, struct cf__context **context)
{
    unsigned long long id;
    CUresult result = place->driver->cuCtxGetId(place->context, &id);
    if (result != CUDA_SUCCESS)
        return cf__fail_driver(place->driver, result, "cuCtxGetId", "entering a context");
    if ((*context = find(id)) != NULL)
        return CF_OK;
    pthread_mutex_lock(&lock);
    *context = find(id);
    int status = *context ? CF_OK : add(place, id, context);
    pthread_mutex_unlock(&lock);
    return status;
}

void cf__contexts_forget(void)
{
    pthread_mutex_lock(&lock);
    for (struct cf__context *context = contexts, *next; context; context = next) {
        next = context->next;
        struct cf__place place;
        int is_there = context->stages && cf__enter_context(&place, context->driver, context->handle) == CF_OK;
        cf__stages_free(context, is_there ? &place : NULL);
        if (is_there)
            cf__leave(&place);
        free(context);
    }
    __atomic_store_n(&contexts, NULL, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

void cf__keep(const struct cf__place *place, CUresult (*free_it)(const struct cf__driver *driver, uintptr_t what),
              uintptr_t what)
{
    (void)place, (void)free_it, (void)what;
}
