/* keep.c - what could not be freed, to be tried again at cf_shutdown(). */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include <cuferry.h>

#include "driver/deferred_free.h"

#include "base/bounds.h"
#include "base/error.h"
#include "base/log.h"
#include "driver/driver.h"
#include "driver/failure.h"

struct kept {
    const struct cf__driver *driver;
    CUcontext context;
    unsigned long long id; /* of its context; CF__NO_CONTEXT: not known */
    cf__free_function *free;
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

void cf__deferred_free_lock(void)
{
    cf__lock(&lock);
}

void cf__deferred_free_unlock(void)
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

int cf__deferred_free_reserve(size_t count)
{
    cf__lock(&lock);
    int is_there = add_block(count);
    cf__unlock(&lock);
    return is_there;
}

void cf__defer_free(const struct cf__driver *driver, CUcontext context, cf__free_function *free_it, uintptr_t what)
{
    unsigned long long id;
    if (driver->cuCtxGetId(context, &id) != CUDA_SUCCESS)
        id = CF__NO_CONTEXT;
    cf__lock(&lock);
    struct kept *note = take();
    if (note) {
        *note = (struct kept){driver, context, id, free_it, what, kept};
        kept = note;
    } else {
        given_up++;
    }
    cf__unlock(&lock);
}

/* ---- Trying again ---- */

/* CUDA_SUCCESS also where nothing is left to be freed. */
static CUresult try_again(const struct kept *note, const char **call)
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

static int fail(const struct cf__driver *driver, CUresult result, const char *call)
{
    char text[CF__DETAIL];
    cf__describe_result(driver, result, call, "cf_shutdown: what an earlier call could not free", text, sizeof text);
    return cf__fail_result(cf__status_of(result), (int)result, text);
}

int cf__deferred_free_retry(void)
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
            status = fail(note->driver, result, call);
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

void cf__deferred_free_forget(CUcontext context)
{
    cf__lock(&lock);
    for (struct kept **link = &kept, *note; (note = *link) != NULL;)
        if (!context || note->context == context) {
            *link = note->next;
            drop(note);
        } else {
            link = &note->next;
        }
    cf__unlock(&lock);
}

void cf__deferred_free_end(void)
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
