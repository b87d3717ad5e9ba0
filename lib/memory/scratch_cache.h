/* scratch_cache.h - keeps scratch memory for the launches of each GPU stream. */
#ifndef CF__SCRATCH_CACHE_H
#define CF__SCRATCH_CACHE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

#define CF__SCRATCH_STREAMS 128 /* maximum number of streams with a block */

/* Launches that need more bytes than this allocate their own memory. */
#define CF__SCRATCH_BYTES ((size_t)2 << 20)

/* Scratch memory of one stream. */
struct cf__scratch_block {
    unsigned long long context, stream; /* ids; CF__NO_CONTEXT: an orphan, whose context is gone */
    int is_used;                        /* 1 if the table's entry is in use */
    int is_leased;                      /* 1 while one thread uses the block */
    int is_default;                     /* 1 for a default stream, which lives as long as the context */
    int is_done;                        /* 1 if the latest launch is known to be complete */
    uint64_t latest;                    /* number of the latest launch */
    const struct cf__driver *driver;
    CUcontext handle;
    CUdevice device;
    /* The thread with the lease accesses the fields below without the lock. */
    CUdeviceptr memory;
    size_t bytes;
    int is_pooled; /* 1 if the memory belongs to a pool and survives the context */
    int is_zero;   /* 1 if all bytes are 0 after the launches so far */
};

/* All blocks. No thread calls the driver while it holds the lock. */
extern struct cf__scratch_table {
    pthread_mutex_t lock;
    int count;         /* number of used blocks; atomic */
    uint64_t launches; /* number of launches so far */
    struct cf__scratch_block all[CF__SCRATCH_STREAMS];
} cf__scratch_cache;

struct cf__scratch_key {
    unsigned long long context, stream;
    int is_default;
};

/* Finds the block of a stream, or NULL. The caller holds the lock. */
struct cf__scratch_block *cf__scratch_find(const struct cf__scratch_key *key);

/* Removes a block from the table without freeing its memory. The caller holds the lock. */
void cf__scratch_remove(struct cf__scratch_block *block);

/* Ends the lease of a block whose memory no launch used under this lease; removes a block without memory. */
void cf__scratch_release(struct cf__scratch_block *block);

/* A lease of a block for one launch. */
struct cf__scratch_lease {
    struct cf__scratch_block *block; /* the block; NULL: the launch allocates its own memory */
    CUdeviceptr memory;
    size_t bytes; /* bytes of the block */
    int is_zero;  /* 1 if all bytes are 0, because `rezero` kernels clear what they have used */
};

/* Leases the block of `stream`, which must not be captured, with at least `bytes` bytes. `context` is the scope's id,
 * and messages name `function`. Leases nothing for streams of other libraries and for large sizes. Returns a status. */
int cf__scratch_lease_block(const struct cf__scope *scope, const char *function, unsigned long long context,
                            cf_stream stream, size_t bytes, struct cf__scratch_lease *lease);

/* Ends a lease after all work that uses the block has been enqueued. `is_zero` means that this work leaves all bytes
 * 0. */
void cf__scratch_return(const struct cf__scratch_lease *lease, int is_zero);

void cf__scratch_lock(void); /* for fork handlers */
void cf__scratch_unlock(void);

#endif
