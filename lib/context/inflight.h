/* inflight.h - records the launches that may be in flight. */
#ifndef CF__INFLIGHT_H
#define CF__INFLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

/* The launches of a thread in a stream that precede the latest record of an event. */
struct cf__event_mark {
    uint64_t thread;  /* number of the thread, or 0 for no mark */
    CUcontext handle; /* context of the stream */
    cf_stream stream;
    uint64_t launches; /* number of the latest launch of the mark */
};

/* Launches of one thread in one context that may be in flight. All threads read the record; only its owner adds
 * launches. */
enum { CF__INFLIGHT_SLOTS = 8 };
struct cf__inflight {
    _Alignas(64) unsigned long long context; /* id of the context, or CF__NO_CONTEXT; atomic */
    uint64_t launches;                       /* number of the latest launch; odd while that is being enqueued */
    uint64_t done;                           /* number up to which launches are complete; written under the lock */
    uint64_t unlisted;                       /* number of the latest launch that found no free slot */
    int slot;                                /* slot of the latest launch that found one */
    struct cf__inflight_slot {
        const char *name; /* kernel's name in the loaded image, whose address identifies the kernel; atomic */
        cf_stream stream;
        uint64_t latest; /* number of the kernel's latest launch in the stream */
    } slots[CF__INFLIGHT_SLOTS];
    CUcontext handle;   /* context; the lock guards this field and the ones below */
    const void *owner;  /* tag of the thread; NULL after the thread's end */
    const void *waiter; /* thread that waits for the whole context, or NULL */
    uint64_t enqueued;  /* number of the latest launch before that wait */
    struct cf__inflight *next;
};

/* Record of the calling thread's latest launch, or NULL. */
extern _Thread_local struct cf__inflight *cf__inflight_latest;

/* Notes a launch whose kernel, stream or context differs from the latest one's. `context` is the id of the context,
 * `handle` the driver's handle. Returns the record, or NULL if there is no memory. */
struct cf__inflight *cf__inflight_note_other(unsigned long long context, CUcontext handle, const char *name,
                                             cf_stream stream);

/* Notes a launch of the same kernel in the same stream as the latest one. Returns the record, or NULL if the kernel,
 * the stream or the context differs. */
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

/* Notes a launch directly before the driver call; cf__inflight_launched() directly follows the call. Messages about a
 * fault list the noted kernels. A note that is kept too long adds a wrong name to the list, but the right name is never
 * missing. */
static inline struct cf__inflight *cf__inflight_note(unsigned long long context, CUcontext handle, const char *name,
                                                     cf_stream stream)
{
    struct cf__inflight *record = cf__inflight_note_again(context, name, stream);
    return record ? record : cf__inflight_note_other(context, handle, name, stream);
}

/* Name that is noted for the launch of a graph, whose kernels are unknown. */
extern const char cf__inflight_graph[];

static inline void cf__inflight_launched(struct cf__inflight *record)
{
    if (record)
        __atomic_store_n(&record->launches, record->launches + 1, __ATOMIC_RELEASE);
}

/* Clears the calling thread's launches in a stream of the scope's context, after a successful wait for the stream. */
void cf__inflight_waited(const struct cf__scope *scope, cf_stream stream);

/* Returns a mark of the calling thread's launches in a stream of the scope's context, before an event is recorded
 * there. After the same thread has waited for the event, cf__inflight_reached() clears these launches. */
struct cf__event_mark cf__inflight_take_mark(const struct cf__scope *scope, cf_stream stream);
void cf__inflight_reached(const struct cf__event_mark *mark);

/* Writes the kernels that may be in flight in `count` contexts as "cf_a was", "one of cf_a, cf_b was" or "no kernel of
 * Cuferry's was". */
void cf__inflight_text(const unsigned long long *contexts, int count, char *text, size_t size);

/* Clears the records of a context that is gone, or all records for CF__NO_CONTEXT. */
void cf__inflight_forget(unsigned long long context);
void cf__inflight_start(void);      /* called when the program starts or the shared object is loaded */
void cf__inflight_end(int is_free); /* called at the end or unload; `is_free`: no other thread uses the records */
void cf__inflight_lock(void);       /* for fork handlers */
void cf__inflight_unlock(void);
void cf__inflight_forget_threads(void); /* called in a forked child, which has a single thread */

/* Enclose a wait for a whole context. If `is_done`, the launches enqueued before the wait are complete. */
void cf__inflight_wait_begin(CUcontext handle);
void cf__inflight_wait_end(CUcontext handle, int is_done);

#endif
