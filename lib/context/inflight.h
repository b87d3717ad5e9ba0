/* inflight.h - launches in flight. */
#ifndef CF__INFLIGHT_H
#define CF__INFLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>

#include "driver/driver.h"
#include "context/context.h"

struct cf__scope;

/* Launches of a thread in a stream up to one, which an event has recorded. */
struct cf__event_mark {
    uint64_t thread; /* its number; 0: no thread's */
    CUcontext context;
    cf_stream stream;
    uint64_t launches;
};

/* What one thread launched in one context and does not know to be done. Read by all threads, written by its own. */
enum { CF__INFLIGHT_SLOTS = 8 };
struct cf__inflight {
    _Alignas(64) unsigned long long context; /* its id, or CF__NO_CONTEXT; atomic */
    uint64_t launches;                       /* odd while one is being enqueued */
    uint64_t done;                           /* those up to this number are; written under the lock */
    uint64_t unlisted;                       /* the latest one that found no slot */
    int slot;                                /* that of the latest one */
    struct cf__inflight_slot {
        const char *name; /* the kernel's, as what was loaded keeps it: it names the kernel, too; atomic */
        cf_stream stream;
        uint64_t latest; /* number of its latest launch */
    } slots[CF__INFLIGHT_SLOTS];
    CUcontext handle;   /* the context's; like what follows, under the lock */
    const void *owner;  /* its thread; NULL where that has ended */
    const void *waiter; /* the thread that waits for the whole context; NULL: none */
    uint64_t enqueued;  /* what was enqueued when that began to wait */
    struct cf__inflight *next;
};

/* That of the calling thread's latest launch. */
extern _Thread_local struct cf__inflight *cf__inflight_latest;

/* The same for another kernel, stream, context or none. NULL where there is no memory. */
struct cf__inflight *cf__inflight_note_other(struct cf__context *context, const char *name, cf_stream stream);

/* Notes that the calling thread launches anew what it has launched last; NULL where it is something else. */
static inline struct cf__inflight *cf__inflight_note_again(unsigned long long context, const char *name,
                                                           cf_stream stream)
{
    struct cf__inflight *record = cf__inflight_latest;
    if (!record || __atomic_load_n(&record->context, __ATOMIC_RELAXED) != context ||
        record->slots[record->slot].name != name || record->slots[record->slot].stream != stream)
        return NULL;
    uint64_t number = (record->launches + 1) | 1;
    __atomic_store_n(&record->slots[record->slot].latest, number, __ATOMIC_RELAXED);
    __atomic_store_n(&record->launches, number, __ATOMIC_RELEASE);
    return record;
}

/* Notes that a kernel is launched, for what is said when one of them faults. Right before the launch; right behind it
 * comes cf__inflight_launched(). What is left out or stays noted for too long makes messages name more kernels, never wrong
 * ones. */
static inline struct cf__inflight *cf__inflight_note(struct cf__context *context, const char *name, cf_stream stream)
{
    struct cf__inflight *record = cf__inflight_note_again(context->id, name, stream);
    return record ? record : cf__inflight_note_other(context, name, stream);
}

/* Stands for a graph, whose kernels are not known. */
extern const char cf__inflight_graph[];

static inline void cf__inflight_launched(struct cf__inflight *record)
{
    if (record)
        __atomic_store_n(&record->launches, record->launches + 1, __ATOMIC_RELEASE);
}

/* After a successful wait for a stream of the scope's context: what this thread launched there is done. */
void cf__inflight_waited(const struct cf__scope *scope, cf_stream stream);

/* What the calling thread has launched so far in a stream of the scope's context, which an event records; and that it
 * is done, where that thread has waited for the event. */
struct cf__event_mark cf__inflight_take_mark(const struct cf__scope *scope, cf_stream stream);
void cf__inflight_reached(const struct cf__event_mark *mark);

/* Writes "cf_a was", "one of cf_a, cf_b was" or "no kernel of Cuferry's was": what may be running in a context. */
void cf__inflight_text(unsigned long long context, char *text, size_t size);

/* The notes of a context that is gone; CF__NO_CONTEXT: all. */
void cf__inflight_forget(unsigned long long context);
void cf__inflight_start(void);      /* of the program or shared object */
void cf__inflight_end(int is_free); /* frees the notes, where no other thread may be at them */
void cf__inflight_lock(void);       /* for fork */
void cf__inflight_unlock(void);
void cf__inflight_forget_threads(void); /* in a child: the others are gone */

/* Around a wait for the whole context: launches that were enqueued before it are done if `is_done`. */
void cf__inflight_wait_begin(CUcontext handle);
void cf__inflight_wait_end(CUcontext handle, int is_done);

#endif
