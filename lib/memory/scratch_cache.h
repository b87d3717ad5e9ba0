/* scratch_cache.h - scratch memory that streams keep. */
#ifndef CF__SCRATCH_CACHE_H
#define CF__SCRATCH_CACHE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

#define CF__SCRATCH_STREAMS 128 /* streams that have some */

struct cf__scratch_block {
    unsigned long long context, stream; /* their ids */
    int is_used;                        /* there is one here */
    int is_taken;                       /* and a thread has what it holds for itself */
    int is_default;                     /* its stream is there for as long as the context is */
    int is_done;                        /* the last launch is known to be */
    uint64_t latest;                    /* its number */
    const struct cf__driver *driver;
    CUcontext handle;
    CUdevice device;
    /* Who has taken it has these, without the lock. */
    CUdeviceptr memory;
    size_t bytes;
    int is_pooled; /* the memory goes with no context */
    int is_zero;   /* all of the memory, behind what was launched so far */
};

/* The lock is of the whole; the driver is called without it. */
extern struct cf__scratch_table {
    pthread_mutex_t lock;
    int count; /* that are used; atomic */
    uint64_t launches;
    struct cf__scratch_block all[CF__SCRATCH_STREAMS];
} cf__scratch_cache;

struct cf__scratch_key {
    unsigned long long context, stream;
    int is_default;
};

/* With the lock. */
struct cf__scratch_block *cf__scratch_find(const struct cf__scratch_key *key);
void cf__scratch_remove(struct cf__scratch_block *workspace); /* from the table; its memory is another matter */

/* Of one that was taken and not used; what holds no memory is no more. */
void cf__scratch_let_go(struct cf__scratch_block *workspace);

/* More than this is allocated for each launch. */
#define CF__SCRATCH_BYTES ((size_t)2 << 20)

/* One that was taken for a launch. */
struct cf__scratch_lease {
    struct cf__scratch_block *workspace; /* NULL: there is none to be had */
    CUdeviceptr memory;
    size_t bytes; /* that it has, or more than were asked for */
    int is_zero;  /* all of them are, as launches leave it that set to 0 again what they have used */
};

/* Takes that of `stream`, which is not being captured, in the scope's context of that id, for a launch of `function`.
 * There is none of a stream that another library created. All that uses the memory is enqueued on the stream before it is
 * given back; `is_zero` says that it will all be 0 then. */
int cf__scratch_take(const struct cf__scope *scope, const char *function, unsigned long long context, cf_stream stream,
                     size_t bytes, struct cf__scratch_lease *taken);
void cf__scratch_give(const struct cf__scratch_lease *taken, int is_zero);

void cf__scratch_lock(void); /* for fork */
void cf__scratch_unlock(void);

#endif
