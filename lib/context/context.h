/* context.h - records of contexts. */
#ifndef CF__CONTEXT_H
#define CF__CONTEXT_H

#include <stdint.h>

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

/* What the library keeps for a context, from its first use to cf_shutdown() or cf_device_reset(). Records are never
 * taken off the list before cf_shutdown(); that of a context that is gone serves a later one. */
struct cf__context {
    unsigned long long id; /* CF__NO_CONTEXT where it serves none; atomic */
    CUcontext handle;
    const struct cf__driver *driver;
    int device;                       /* CF_HOST or a GPU's number */
    int is_lost;                      /* to a kernel's fault; atomic */
    char kernels[256];                /* the entry points that ran then, for messages */
    struct cf__staging_sets *staging; /* buffers and streams; under its lock */
    struct cf__context *next;
};

/* The record of the scope's context, made at its first use, for `function`. */
int cf__context_get(const struct cf__scope *scope, const char *function, struct cf__context **context);

/* The record of a context, if there is one; by its address where the driver does not tell its id. */
struct cf__context *cf__context_by_handle(const struct cf__driver *driver, CUcontext handle);

/* The record with an id, if there is one. */
struct cf__context *cf__context_by_id(unsigned long long id);

/* The next record after one, or after NULL the first. */
struct cf__context *cf__context_next(const struct cf__context *context);

void cf__context_drop(struct cf__context *context); /* that is gone */
void cf__contexts_forget(void);                     /* every record, at cf_shutdown() */
void cf__contexts_lock(void);                       /* for fork */
void cf__contexts_unlock(void);

/* The id of a record; CF__NO_CONTEXT: it serves no context. */
unsigned long long cf__context_id(const struct cf__context *context);

/* Adds a record, with the lock; NULL if there is no memory. */
struct cf__context *cf__context_add(const struct cf__driver *driver, CUcontext handle, unsigned long long id,
                                    int device);

/* With the lock: clears CF__GPU_LOST if no context is lost any more. */
void cf__contexts_note_recovery(void);

/* Functions of higher rooms for events of contexts; process/shutdown.c sets them before main(). */
extern struct cf__context_events {
    void (*dropped)(struct cf__context *context); /* a record serves no context any more; with the lock */
    void (*ended)(CUcontext context, int device); /* a lost context is gone; device: of a primary one, else -1 */
    void (*lost)(unsigned long long context, int device);                 /* the same, without the lock */
    void (*stream_ends)(const struct cf__scope *scope, cf_stream stream); /* before a stream is destroyed */
    uint64_t (*wait_begins)(void);                                        /* before a wait for a whole context */
    void (*waited)(CUcontext context, uint64_t begun);                    /* after it; `begun` is from wait_begins() */
} cf__context_observer;

#endif
