/* keep.c - what could not be freed, to be tried again at cf_shutdown(). */
#include <pthread.h>
#include <stdlib.h>

#include "internal.h"

struct kept {
    struct cf__place place; /* `pushed` is not used */
    unsigned long long id;  /* of its context; CF__NO_CONTEXT: not known */
    CUresult (*free)(const struct cf__driver *driver, uintptr_t what);
    uintptr_t what;
    struct kept *next;
};

/* Memory may be what is short when freeing fails: notes are made beforehand, so many as there are things that are freed
 * together, and some more for the rest. All of them go at cf_shutdown(). */
struct block {
    struct block *next;
    struct kept notes[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static struct kept *kept, *spare;
static struct kept first[16];
static int is_begun; /* the first ones are among the spare */
static struct block *blocks;
static size_t given_up; /* for which there was no note */

void cf__keep_lock(void)
{
    cf__lock(&lock);
}

void cf__keep_unlock(void)
{
    cf__unlock(&lock);
}

/* ---- Notes, with the lock ---- */

static void add_spare(struct kept notes[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        notes[i].next = spare;
        spare = &notes[i];
    }
}

static int add_block(size_t count)
{
    struct block *block = malloc(sizeof *block + count * sizeof block->notes[0]);
    if (!block)
        return 0;
    block->next = blocks;
    blocks = block;
    add_spare(block->notes, count);
    return 1;
}

/* NULL where there is none left, and no memory. */
static struct kept *take(void)
{
    if (!is_begun)
        add_spare(first, sizeof first / sizeof *first);
    is_begun = 1;
    if (!spare && !add_block(1))
        return NULL;
    struct kept *note = spare;
    spare = note->next;
    return note;
}

static void drop(struct kept *note)
{
    note->next = spare;
    spare = note;
}

/* ---- Keeping ---- */

int cf__keep_reserve(size_t count)
{
    cf__lock(&lock);
    int is_there = add_block(count);
    cf__unlock(&lock);
    return is_there;
}

void cf__keep(const struct cf__place *place, CUresult (*free_it)(const struct cf__driver *driver, uintptr_t what),
              uintptr_t what)
{
    unsigned long long id;
    if (place->driver->cuCtxGetId(place->context, &id) != CUDA_SUCCESS)
        id = CF__NO_CONTEXT;
    cf__lock(&lock);
    struct kept *note = take();
    if (note) {
        *note = (struct kept){{place->driver, place->context, 0}, id, free_it, what, kept};
        kept = note;
    } else {
        given_up++;
    }
    cf__unlock(&lock);
}

/* ---- Trying again ---- */

/* Nothing is left of it where its context or the driver is gone, or the context is lost and goes as a whole. */
int cf__is_gone(CUresult result)
{
    return cf__status_of(result) == CF_EFAULT || result == CUDA_ERROR_DEINITIALIZED ||
           result == CUDA_ERROR_CONTEXT_IS_DESTROYED || result == CUDA_ERROR_INVALID_CONTEXT ||
           result == CUDA_ERROR_INVALID_HANDLE;
}

/* CUDA_SUCCESS also where nothing is left to be freed. */
static CUresult try_again(const struct kept *note, const char **call)
{
    const struct cf__driver *driver = note->place.driver;
    unsigned long long id;
    CUcontext context;
    *call = "cuCtxGetId";
    CUresult result = driver->cuCtxGetId(note->place.context, &id);
    if (result == CUDA_SUCCESS && note->id != CF__NO_CONTEXT && id != note->id)
        return CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) {
        *call = "cuCtxPushCurrent";
        result = driver->cuCtxPushCurrent(note->place.context);
    }
    if (result == CUDA_SUCCESS) {
        *call = "freeing it";
        result = note->free(driver, note->what);
        (void)driver->cuCtxPopCurrent(&context);
    }
    return cf__is_gone(result) ? CUDA_SUCCESS : result;
}

/* What was given up is told once: it goes with its context. */
static int report_given_up(void)
{
    cf__lock(&lock);
    size_t count = given_up;
    given_up = 0;
    cf__unlock(&lock);
    return count == 0 ? CF_OK
                      : cf__fail(CF_ENOMEM,
                                 "cf_shutdown: %zu things could not be freed, and there was no memory to keep them for "
                                 "another try",
                                 count);
}

int cf__kept_free(void)
{
    int status = report_given_up();
    cf__lock(&lock);
    struct kept *notes = kept;
    kept = NULL;
    cf__unlock(&lock);
    while (notes) {
        struct kept *note = notes;
        const char *call;
        CUresult result = try_again(note, &call);
        notes = note->next;
        if (result != CUDA_SUCCESS)
            status =
                cf__fail_driver(note->place.driver, result, call, "cf_shutdown: what an earlier call could not free");
        cf__lock(&lock);
        if (result == CUDA_SUCCESS) {
            drop(note);
        } else {
            note->next = kept;
            kept = note;
        }
        cf__unlock(&lock);
    }
    return status;
}

void cf__kept_forget(CUcontext context)
{
    cf__lock(&lock);
    for (struct kept **link = &kept, *note; (note = *link) != NULL;)
        if (!context || note->place.context == context) {
            *link = note->next;
            drop(note);
        } else {
            link = &note->next;
        }
    cf__unlock(&lock);
}

void cf__keep_end(void)
{
    cf__lock(&lock);
    for (struct block *block; !kept && (block = blocks) != NULL;) {
        blocks = block->next;
        free(block);
    }
    if (!kept) {
        spare = NULL;
        is_begun = 0;
    }
    cf__unlock(&lock);
}
