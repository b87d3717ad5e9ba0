/* storage.h - memory and copies, streams and graphs. */
#ifndef CF__STORAGE_H
#define CF__STORAGE_H

#include <cuferry.h>
#include <cuferry/registry.h>

#include "driver.h"
#include "context.h"

/* ---- memory.c ---- */

/* What is known of a pointer. */
struct cf__memory {
    const struct cf__driver *driver; /* that allocated or registered it; NULL: ordinary host memory */
    CUcontext context;
    int is_device;     /* not readable by the CPU, unless the driver is the host */
    int is_pinned;     /* the CPU's, page-locked for a GPU */
    int device;        /* number of its device: CF_HOST or a GPU's */
    void *usable;      /* its address on that device */
    const void *begin; /* of its allocation; NULL where not known */
    size_t left;       /* bytes from the pointer to the end of that; SIZE_MAX where not known */
    int is_bounded;    /* nothing lies behind that end; behind registered host memory may lie more of an array */
};

/* Fails, for `function`, where a driver does not answer: the pointer must then not be taken for ordinary host
 * memory. */
int cf__locate(const char *function, const void *pointer, struct cf__memory *memory);

/* Whether the CPU can read at an address; a call of the system. What is neither that nor known to a driver is no memory,
 * or that of a graph whose capture has not ended. */
int cf__is_readable(const void *pointer);
int cf__fail_no_memory(const char *function, const char *name, const void *pointer);

/* Bytes from an address to the end of what is registered or allocated there with CUDA; SIZE_MAX where nothing is
 * known. */
size_t cf__left(uintptr_t address);

/* Enters the context of memory of a driver; memory of a pool has none: one of its device. */
int cf__enter_memory(struct cf__place *place, const char *function, const struct cf__memory *memory);

/* ---- owned.c ---- */

/* Notes memory that cf_mem_alloc() gave in the place's context; and before it is freed that it is no longer there. */
void cf__owned_add(const struct cf__place *place, const void *begin, size_t bytes);
void cf__owned_drop(const void *begin);
void cf__owned_forget(void); /* all, at cf_shutdown() */

/* Whether that many bytes from the beginning of such memory are known to be there, in the context of that id. */
int cf__owns(unsigned long long context, const void *begin, size_t bytes);

/* ---- copy.c ---- */

/* The longest pitch that a copy of rows may have, on every device. */
#define CF__MAX_PITCH ((size_t)INT32_MAX)

/* Copies in the place's context, on `stream` where `is_async`. */
CUresult cf__copy(const struct cf__place *place, void *target, const void *source, size_t bytes, int is_async,
                  cf_stream stream);

/* ---- mempool.c ---- */

/* Memory on the place's device in the order of `stream`, from the library's pool. On failure `call` is the driver's
 * function that failed, for cf__fail_driver(), and `memory` is 0. */
CUresult cf__pool_alloc_async(const struct cf__place *place, cf_stream stream, size_t bytes, CUdeviceptr *memory,
                              const char **call);
CUresult cf__pool_free_async(const struct cf__place *place, cf_stream stream, CUdeviceptr memory, const char **call);

/* Whether that is a pool's: without one it is memory of a context, which goes with that. */
int cf__has_pool(int device);

/* Gives back what the pool of the place's device keeps and nobody uses; whether there may be any. */
int cf__pool_trim(const struct cf__place *place);

/* Lets the GPU `device` reach the pool of the GPU `peer`, or no longer. */
CUresult cf__pool_share(const struct cf__driver *driver, int device, int peer, int is_on);

/* At cf_shutdown() every pool; at cf_device_reset() that of a GPU, CUDA being in use. A pool that cannot be
 * destroyed stays. */
int cf__mempools_destroy(const struct cf__driver *driver);
int cf__mempool_destroy(const struct cf__driver *driver, int device);
void cf__mempools_forget(void); /* without the driver */

/* ---- workspace.c, reclaim.c ---- */

/* Scratch memory of a GPU that launches on one stream have at hand, and use one after the other. */
struct cf__workspace;

/* More than this is allocated for each launch. */
#define CF__WORKSPACE_BYTES ((size_t)2 << 20)

/* One that was taken for a launch. */
struct cf__taken {
    struct cf__workspace *workspace; /* NULL: there is none to be had */
    CUdeviceptr memory;
    size_t bytes; /* that it has, or more than were asked for */
    int is_zero;  /* all of them are, as launches leave it that set to 0 again what they have used */
};

/* Takes that of `stream`, which is not being captured, in the place's context of that id, for a launch of `function`.
 * There is none of a stream that another library created. All that uses the memory is enqueued on the stream before it is
 * given back; `is_zero` says that it will all be 0 then. */
int cf__workspace_take(const struct cf__place *place, const char *function, unsigned long long context,
                       cf_stream stream, size_t bytes, struct cf__taken *taken);
void cf__workspace_give(const struct cf__taken *taken, int is_zero);

/* Before a stream of the place's context is destroyed: frees its memory in its order. Memory of no pool stays until a wait
 * for the context, since to free it would wait for the stream. Relaxed. */
void cf__workspace_drop(const struct cf__place *place, cf_stream stream);

/* Frees in the place's context what no launch uses any more, as far as is known without a wait, and what contexts of its
 * device that are gone have left; whether there was any. Relaxed. */
int cf__workspaces_trim(const struct cf__place *place);

/* Launches that have been enqueued by now are told apart from later ones by what the first returns; behind a wait for
 * the context they are done. */
uint64_t cf__workspaces_now(void);
void cf__workspaces_done(CUcontext context, uint64_t now);

int cf__workspaces_free(const struct cf__driver *cuda);           /* all, at cf_shutdown() */
void cf__workspaces_forget(unsigned long long context);           /* of a context that is gone; */
void cf__workspaces_lose(unsigned long long context, int device); /* of one that a fault has taken along; */
void cf__workspaces_forget_all(void);                             /* all, without the driver */

/* Frees what contexts that are gone have left of pools' memory on the current context's device; how many there were.
 * Relaxed. In orphan.c. */
int cf__orphans_free(const struct cf__driver *driver);
void cf__workspace_lock(void); /* for fork */
void cf__workspace_unlock(void);

/* ---- peer.c ---- */

/* Whether kernels on GPU `device` reach the memory of GPU `peer`, since cf_peer_enable() was called or they are one. */
int cf__peer_enabled(int device, int peer);

uint64_t cf__peers_of(int peer); /* a bit for each GPU that cf_peer_enable() lets reach it */

int cf__peers_disable(const struct cf__driver *driver); /* all that the library enabled, at cf_shutdown() */
void cf__peers_forget(int device);                      /* what concerns a GPU whose primary context was reset */
void cf__peer_lock(void);                               /* for fork */
void cf__peer_unlock(void);

/* ---- stream.c ---- */

/* Whether `stream` is one of the default streams, which have no context of their own. */
static inline int cf__is_default(cf_stream stream)
{
    return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/* CF_OK where waiting for `stream` in the place's context, or using a default stream there, breaks no capture; else
 * CF_ECAPTURE. */
int cf__check_wait(const char *function, const struct cf__place *place, cf_stream stream);

/* ---- event.c ---- */

/* cf_event_sync(), for `function`. */
int cf__event_wait(const char *function, cf_event event);

/* ---- graph.c ---- */

/* Waits for everything in the place's context; CF_ECAPTURE where cf_stream_capture_begin() began a capture there, other
 * ones begin after its end. `result` is that of the wait. */
int cf__wait_for_device(const char *function, const struct cf__place *place, CUresult *result);
void cf__device_waits_forget(void); /* in a forked child, with the lock: the waiting threads are not there */

void cf__captures_forget(CUcontext context); /* of one that is gone; NULL: all */
void cf__capture_lock(void);                 /* for fork */
void cf__capture_unlock(void);

#endif
