/* context.h - records of contexts. */
#ifndef CF__CONTEXT_H
#define CF__CONTEXT_H

#include <stdint.h>

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

/* State of a context, from its first use to cf_shutdown() or cf_device_reset(). Records stay in the list until
 * cf_shutdown(), so readers need no lock. The record of a context that is gone is reused for a later context. */
struct cf__context {
    unsigned long long id; /* id of the context; CF__NO_CONTEXT in an unused record; atomic */
    CUcontext handle;
    const struct cf__driver *driver;
    int device;                       /* CF_HOST or a GPU's number */
    int pageable_access;              /* 1: the device accesses pageable host memory; -1: not queried yet; atomic */
    int is_lost;                      /* 1 after a kernel's fault in the context; atomic */
    char kernels[256];                /* entry points in flight when the context was lost, for error messages */
    struct cf__staging_sets *staging; /* pinned buffers and streams; NULL until the first use */
    struct cf__context *next;
};

/* Returns the record of a context, or NULL. Compares addresses if the driver does not report the context's id. */
struct cf__context *cf__context_by_handle(const struct cf__driver *driver, CUcontext handle);

/* Returns the record with an id, or NULL. */
struct cf__context *cf__context_by_id(unsigned long long id);

/* Returns the used record after `context`, or the first one if it is NULL; NULL at the end. */
struct cf__context *cf__context_next(const struct cf__context *context);

void cf__context_drop(struct cf__context *context); /* marks the record of a context that is gone as unused */
void cf__contexts_forget(void);                     /* frees all records, at cf_shutdown() */
void cf__contexts_lock(void);
void cf__contexts_unlock(void);

/* Returns the id of a record, or CF__NO_CONTEXT if the record is unused. */
unsigned long long cf__context_id(const struct cf__context *context);

/* Adds a record and returns it, or NULL if there is no memory. The caller holds the lock. */
struct cf__context *cf__context_add(const struct cf__driver *driver, CUcontext handle, unsigned long long id,
                                    int device);

/* Returns 1 if the record of a lost context was dropped, for example by a reset of its device. The caller holds the
 * lock. */
int cf__contexts_have_dropped_lost(void);

/* Clears CF__GPU_LOST if no context is lost any more. The caller holds the lock. */
void cf__contexts_note_recovery(void);

/* Functions of higher rooms, called when something happens to a context. process/shutdown.c sets them before main(). */
extern struct cf__context_events {
    void (*record_dropped)(struct cf__context *context); /* a record becomes unused; the caller holds the lock */
    /* Called when a lost context is gone, first under the lock and again after its release. `device` is -1 unless the
     * context is primary. */
    void (*lost_context_gone)(CUcontext context, int device);
    void (*lost_context_retired)(unsigned long long context, int device);
    void (*stream_ends)(const struct cf__scope *scope, cf_stream stream); /* called before a stream is destroyed */
    uint64_t (*wait_begins)(void);                                        /* called before a wait for a whole context */
    void (*wait_succeeded)(CUcontext context,
                           uint64_t begun); /* called after that wait; `begun`: wait_begins()'s result */
    /* Called under the images' lock when cf_shutdown() has unloaded all images. The first program sets it; NULL
     * before. */
    void (*images_unloaded)(void);
} cf__context_observer;

#endif
