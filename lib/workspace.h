/* workspace.h - the table of scratch memory that streams keep: workspace.c takes it and gives it back, reclaim.c frees
 * it. */
#ifndef CF__WORKSPACE_H
#define CF__WORKSPACE_H

#include <pthread.h>

#include "internal.h"

#define CF__WORKSPACES 128 /* streams that have some */

struct cf__workspace {
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
extern struct cf__workspaces {
    pthread_mutex_t lock;
    int count; /* that are used; atomic */
    uint64_t launches;
    struct cf__workspace all[CF__WORKSPACES];
} cf__workspaces;

struct cf__workspace_key {
    unsigned long long context, stream;
    int is_default;
};

/* With the lock. */
struct cf__workspace *cf__workspace_find(const struct cf__workspace_key *key);
void cf__workspace_remove(struct cf__workspace *workspace); /* from the table; its memory is another matter */

/* Of one that was taken and not used; what holds no memory is no more. */
void cf__workspace_let_go(struct cf__workspace *workspace);

/* ---- orphan.c ---- */

/* Notes memory of a pool whose context is gone; with the lock. */
void cf__orphan_add(CUdeviceptr memory, CUdevice device);
int cf__have_orphans(void);

/* Forgets what is of a device, since it is gone; storage.h has what frees it. */
void cf__orphans_forget(CUdevice device);

/* At cf_shutdown(): where the library holds no context of a device it stays until the process ends. */
void cf__orphans_free_all(const struct cf__driver *cuda);
void cf__orphans_forget_all(void);

/* ---- reclaim.c ---- */

/* Looks at one of the table, another one each time, for what contexts that another library has destroyed have left;
 * `current` is the id of the place's. */
void cf__workspaces_look(const struct cf__place *place, unsigned long long current);

#endif
