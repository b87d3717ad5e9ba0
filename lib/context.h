/* context.h - what is kept of a context: what runs there, what was lost, what has to be given back. */
#ifndef CF__CONTEXT_H
#define CF__CONTEXT_H

#include <cuferry.h>
#include <cuferry/registry.h>

#include "driver.h"
#include "place.h"

/* ---- context.c ---- */

/* An id that no context has. */
#define CF__NO_CONTEXT (UINT64_MAX - 1)

/* What the library keeps for a context, from its first use to cf_shutdown() or cf_device_reset(). Records are never
 * taken off the list before cf_shutdown(); that of a context that is gone serves a later one. */
struct cf__context {
    unsigned long long id; /* CF__NO_CONTEXT where it serves none; atomic */
    CUcontext handle;
    const struct cf__driver *driver;
    int device;                /* CF_HOST or a GPU's number */
    int is_lost;               /* to a kernel's fault; atomic */
    char running[256];         /* the entry points that ran then, for messages */
    struct cf__stages *stages; /* stage.c's buffers and streams; under its lock */
    struct cf__context *next;
};

/* The record of the place's context, made at its first use, for `function`. */
int cf__context(const struct cf__place *place, const char *function, struct cf__context **context);

/* The record of a context, if there is one; by its address where the driver does not tell its id. */
struct cf__context *cf__context_of(const struct cf__driver *driver, CUcontext handle);

/* The record with an id, if there is one. */
struct cf__context *cf__context_find(unsigned long long id);

/* The next record after one, or after NULL the first. */
struct cf__context *cf__context_next(const struct cf__context *context);

void cf__context_drop(struct cf__context *context); /* that is gone */
void cf__contexts_forget(void);                     /* every record, at cf_shutdown() */
void cf__contexts_lock(void);                       /* for fork */
void cf__contexts_unlock(void);

/* Where a driver call has failed: notes which context is lost, if one is, and appends to the detail in `text`. Returns
 * the status, CF_EFAULT for any call in a lost context. */
int cf__note_lost(const struct cf__driver *driver, int status, char *text, size_t size);

/* Notes that a context is lost; `running` where that is known from before, else NULL. */
void cf__context_lose(const struct cf__driver *driver, CUcontext handle, int device, const char *running);

/* Contexts that were lost count no more once they are gone, destroyed or reset by another library in the process. Before
 * a context is entered, where cf__gpu_state() has CF__GPU_LOST. */
void cf__contexts_review(void);

/* Whether a context of a GPU is known to be lost. */
int cf__is_lost(const struct cf__driver *driver, CUcontext handle);

/* CF_EFAULT where the place's context is lost. Asked for where cf__gpu_state() has CF__GPU_LOST. */
int cf__check_lost(const struct cf__place *place, const char *function);

/* ---- keep.c ---- */

/* Keeps what could not be freed, to be tried again at cf_shutdown(): `free` is called with the place's context
 * current. */
void cf__keep(const struct cf__place *place, CUresult (*free)(const struct cf__driver *driver, uintptr_t what),
              uintptr_t what);

/* Before `count` things are made that may all have to be kept when there is no memory any more; 0: there is none now. */
int cf__keep_reserve(size_t count);

/* Whether a result means that what was to be freed is gone already: with its context, or with the driver. */
int cf__is_gone(CUresult result);

int cf__kept_free(void); /* the status of the latest that still fails, which stays */

/* The same without the driver: of a context that is gone, or with NULL of all. */
void cf__kept_forget(CUcontext context);
void cf__keep_end(void);  /* gives back what was reserved, where nothing is kept */
void cf__keep_lock(void); /* for fork */
void cf__keep_unlock(void);

/* ---- shutdown.c ---- */

extern int cf__was_used; /* closing the shared object that holds the library has to give back */

/* ---- handle.c ---- */

/* Launches of a thread in a stream up to one, which an event has recorded. */
struct cf__mark {
    uint64_t thread; /* its number; 0: no thread's */
    CUcontext context;
    cf_stream stream;
    uint64_t launches;
};

/* Keeps a stream, event or graph that was made in the place's context, so that it is refused after a reset of its
 * device, and returns it. Where there is no memory for that, the driver judges it. */
void *cf__handle_keep(const struct cf__place *place, enum cf__kind kind, void *handle);

/* The record is dropped when the handle is destroyed, unless another thread was given the same handle in between, which
 * the serial number from before tells. */
unsigned int cf__handle_serial(enum cf__kind kind, const void *handle);
void cf__handle_drop(enum cf__kind kind, const void *handle, unsigned int serial);

/* The same of page-locked memory; whether a pointer lies in such memory, which takes a look at all records. */
void cf__handle_keep_memory(const struct cf__place *place, const void *memory, size_t bytes);
int cf__handle_is_memory(const void *pointer);

/* CF_EINVAL for one that went with a reset, or of the CPU with cf_shutdown(); costs two loads before the first. `name`
 * is the argument's. */
int cf__handle_check(const char *function, const char *name, enum cf__kind kind, const void *handle);

/* Fails for a driver call that took a handle and a stream, and names the one that it did not know; both where it failed
 * otherwise. */
int cf__fail_handle(const struct cf__driver *driver, CUresult result, const char *call, const char *function,
                    const char *name, const void *handle, cf_stream stream);

/* The context where one was made; NULL where that is not known. */
CUcontext cf__handle_context(enum cf__kind kind, const void *handle);

/* What one of the library's events has recorded last; of others nothing is kept, and an empty mark returned. */
void cf__handle_mark(const void *event, const struct cf__mark *mark);
struct cf__mark cf__handle_marked(const void *event);

/* Enters the context where a GPU's handle was made, for cf__enter_handle(); where that is not known, since it is
 * another library's, one that works, if there is one: what becomes of the handle is for the driver to say. */
int cf__handle_enter(struct cf__place *place, const char *function, const struct cf__driver *driver, enum cf__kind kind,
                     const void *handle);

void cf__handles_reset(CUcontext context, int device);
void cf__handles_forget(void);
void cf__handles_lock(void); /* for fork */
void cf__handles_unlock(void);

/* ---- running.c ---- */

/* What one thread launched in one context and does not know to be done. Read by all threads, written by its own. */
enum { CF__RUNNING = 8 };
struct cf__running {
    _Alignas(64) unsigned long long context; /* its id, or CF__NO_CONTEXT; atomic */
    uint64_t launches;                       /* odd while one is being enqueued */
    uint64_t done;                           /* those up to this number are; written under the lock */
    uint64_t unlisted;                       /* the latest one that found no slot */
    int slot;                                /* that of the latest one */
    struct cf__running_slot {
        const char *name; /* the kernel's, as what was loaded keeps it: it names the kernel, too; atomic */
        cf_stream stream;
        uint64_t latest; /* number of its latest launch */
    } slots[CF__RUNNING];
    CUcontext handle;  /* the context's; like what follows, under the lock */
    const void *owner; /* its thread; NULL where that has ended */
    const void *asker; /* the thread that waits for the whole context; NULL: none */
    uint64_t asked;    /* what was enqueued when that began to wait */
    struct cf__running *next;
};

/* That of the calling thread's latest launch. */
extern _Thread_local struct cf__running *cf__running;

/* The same for another kernel, stream, context or none. NULL where there is no memory. */
struct cf__running *cf__note_other_launch(struct cf__context *context, const char *name, cf_stream stream);

/* Notes that the calling thread launches anew what it has launched last; NULL where it is something else. */
static inline struct cf__running *cf__note_again(unsigned long long context, const char *name, cf_stream stream)
{
    struct cf__running *running = cf__running;
    if (!running || __atomic_load_n(&running->context, __ATOMIC_RELAXED) != context ||
        running->slots[running->slot].name != name || running->slots[running->slot].stream != stream)
        return NULL;
    uint64_t number = (running->launches + 1) | 1;
    __atomic_store_n(&running->slots[running->slot].latest, number, __ATOMIC_RELAXED);
    __atomic_store_n(&running->launches, number, __ATOMIC_RELEASE);
    return running;
}

/* Notes that a kernel is launched, for what is said when one of them faults. Right before the launch; right behind it
 * comes cf__note_launched(). What is left out or stays noted for too long makes messages name more kernels, never wrong
 * ones. */
static inline struct cf__running *cf__note_launch(struct cf__context *context, const char *name, cf_stream stream)
{
    struct cf__running *running = cf__note_again(context->id, name, stream);
    return running ? running : cf__note_other_launch(context, name, stream);
}

/* Stands for a graph, whose kernels are not known. */
extern const char cf__graph[];

static inline void cf__note_launched(struct cf__running *running)
{
    if (running)
        __atomic_store_n(&running->launches, running->launches + 1, __ATOMIC_RELEASE);
}

/* After a successful wait for a stream of the place's context: what this thread launched there is done. */
void cf__note_waited(const struct cf__place *place, cf_stream stream);

/* What the calling thread has launched so far in a stream of the place's context, which an event records; and that it
 * is done, where that thread has waited for the event. */
struct cf__mark cf__mark(const struct cf__place *place, cf_stream stream);
void cf__note_reached(const struct cf__mark *mark);

/* cuCtxSynchronize(), after which all that was launched before in the place's context is done. */
CUresult cf__wait_for_all(const struct cf__place *place);

/* Writes "cf_a was", "one of cf_a, cf_b was" or "no kernel of Cuferry's was": what may be running in a context. */
void cf__running_text(unsigned long long context, char *text, size_t size);

/* The notes of a context that is gone; CF__NO_CONTEXT: all. */
void cf__running_forget(unsigned long long context);
void cf__running_start(void);      /* of the program or shared object */
void cf__running_end(int is_free); /* frees the notes, where no other thread may be at them */
void cf__running_lock(void);       /* for fork */
void cf__running_unlock(void);
void cf__running_forget_threads(void); /* in a child: the others are gone */

#endif
