/* staging.h - the plain call: what it checks, how it moves host arrays, where it decides to run. */
#ifndef CF__STAGING_H
#define CF__STAGING_H

#include <cuferry.h>
#include <cuferry/registry.h>

#include <sched.h>

#include "driver.h"
#include "kernel.h"

/* ---- direct.c ---- */

void cf__direct_arrays(const cf_kernel *kernel, struct cf__arrays *arrays);

/* A plain call whose arguments are in order, where all that is to be done is a launch and a wait: whether it was that,
 * and its status then. If not, nothing has been done. */
int cf__call_direct(const cf_kernel *kernel, const cf_size *size, const struct cf__place *place, void *const args[],
                    int *status);

/* ---- pointer.c ---- */

/* An array's pointer need not lie where its elements are: it is moved as a number. */
static inline void *cf__forward(const void *pointer, size_t bytes)
{
    return (void *)((uintptr_t)pointer + bytes);
}

static inline void *cf__backward(const void *pointer, size_t bytes)
{
    return (void *)((uintptr_t)pointer - bytes);
}

/* A pointer argument, checked against the memory it lies in. */
struct cf__pointer {
    void *usable;               /* its address on the device; the argument as it is where `is_staged` is set */
    int is_staged;              /* host memory that the device cannot reach */
    int is_pinned;              /* host memory that it can, and copies by itself */
    struct cf__section section; /* of an array */
};

/* Memory of the call's device that a pointer of the call was found in, which the next one may lie in, too. */
struct cf__found {
    CUdeviceptr begin;
    size_t size; /* 0: none so far */
};

/* The section that a pointer argument is for, and whether there is nothing to look at: no elements, or NULL where there
 * may be one. CF_EINVAL for one that is not aligned. */
int cf__pointed(const cf_kernel *kernel, uint32_t i, void *const args[], struct cf__section *section, int *is_empty);

/* Whether so many bytes at a pointer are memory of the place's GPU, which most are. */
int cf__is_here(const struct cf__place *place, int device, const void *pointer, size_t bytes, struct cf__found *found);

/* For a kernel that runs at `place`, on device number `device`. */
int cf__check_pointer(const cf_kernel *kernel, uint32_t i, void *const args[], const struct cf__place *place,
                      int device, struct cf__found *found, struct cf__pointer *pointer);

/* ---- overlap.c ---- */

/* The kernel declares some of its arrays to be apart, or one. */
static inline int cf__keeps_apart(const cf_kernel *kernel)
{
    return kernel->restricts || kernel->in_place || kernel->nzeros > 0;
}

/* What it counts on of two parameters. */
enum cf__sharing {
    CF__SHARE_ANY,  /* nothing */
    CF__SHARE_NONE, /* they are arrays without a byte in common */
    CF__SHARE_ALL   /* such, or one array */
};
enum cf__sharing cf__sharing(const cf_kernel *kernel, uint32_t i, uint32_t j);

/* Whether two arrays that have elements are one, as far as both reach: element [i][j] of the one is that of the other.
 * `first` and `second` are the addresses of their first elements. */
int cf__are_one(const cf_kernel *kernel, uint32_t i, const struct cf__section *of_first, uintptr_t first, uint32_t j,
                const struct cf__section *of_second, uintptr_t second);

/* Fails where two arrays have memory in common that the kernel declares to be apart: at the addresses that were given,
 * or at those at which the device reaches the same memory. */
int cf__check_apart(const cf_kernel *kernel, void *const given[], void *const used[]);

/* ---- range.c ---- */

#define CF__NONE INT64_MAX /* no element: no array has as many */

/* A check of an array's elements, or of their order, in one call. */
struct cf__range {
    const cf_kernel *kernel;
    const cf_check *check;
    void *const *args;
    const struct cf__section *section;
    struct cf__rows rows;
    size_t element;    /* bytes of one */
    const char *first; /* the first one, where it is looked at */
    int is_host;       /* the CPU looks */
    /* The bounds as the elements' type has them, both included. Narrow types read the low bytes, which stand first on
     * every machine that CUDA runs on. */
    uint64_t lower, upper;
    int is_none;            /* no value is inside */
    uint64_t found;         /* the first element outside, or out of order, counted row by row; CF__NONE; atomic */
    struct cf__range *next; /* of the same array */
};

/* Evaluates the bounds; the caller sets where the elements are, and looks at none where the section is empty. */
int cf__range_begin(struct cf__range *range, const cf_kernel *kernel, const cf_check *check, void *const args[],
                    const struct cf__section *section);

/* Looks at `count` elements, of which the first is element number `number` of the section; from any thread. They may be
 * a copy; the element in front of them is read where the array is. */
void cf__range_look(struct cf__range *range, const void *elements, uint64_t number, uint64_t count);

/* Looks at all of them in host memory. */
void cf__range_search(struct cf__range *range);

/* Looks at those of all ranges that the CPU does not look at; ends with the first one that has an element outside. */
int cf__range_search_device(struct cf__range ranges[], size_t count, const struct cf__place *place);

/* CF_ERANGE, or CF_EINVAL for the order, with the element that was found. */
int cf__range_report(const struct cf__range *range, const struct cf__place *place);

/* ---- stage.c ---- */

/* An array on its way between host memory and a device, where its elements lie alike. */
struct cf__moved {
    const char *name;   /* that messages have */
    char *host;         /* its first element */
    CUdeviceptr device; /* likewise */
    struct cf__rows rows;
    size_t bytes;             /* of its elements */
    struct cf__range *ranges; /* that are looked at on the way in */
    size_t begin;             /* in the queue; written by flow.c */
    int is_in, is_out;        /* for pipeline.c: which ways it goes, */
    int is_pinned;            /* and that it needs no buffers */
};

/* A set of buffers with a stream, of one call at a time. Begin waits for one; `function` is what messages name. */
struct cf__stage;
int cf__stage_begin(const struct cf__place *place, const char *function, struct cf__stage **stage);
void cf__stage_end(struct cf__stage *stage);
CUstream cf__stage_stream(const struct cf__stage *stage);

/* Whether so many bytes go faster through such a set. */
int cf__stage_is_worth(size_t bytes);

/* Moves arrays to the device, in the order of the set's stream and with a look at their ranges: where an element is
 * outside not all need be moved, but all elements were looked at that come before it, those of other ranges too. Parts
 * with ranges stand first. Or moves them back, and is complete when it returns. In flow.c. */
int cf__stage_move(const struct cf__place *place, struct cf__stage *stage, const char *function,
                   struct cf__moved parts[], size_t count, int to_host);

/* A call in parts, one after the other, each with its part of all arrays: these are cut into as many pieces of as many
 * bytes, but for the last. */
struct cf__pipeline {
    const struct cf__place *place;
    struct cf__stage *stage;
    const char *function;
    const struct cf__moved *arrays;
    size_t count;
    int64_t elements, part;                                   /* all, and those of a part */
    int (*launch)(void *data, int64_t first, int64_t length); /* enqueues the kernel for so many elements from number
                                `first` on, on the default stream; called for one part after another, from any thread */
    void *data;
};

/* Copies in, launches and copies out, so that each waits for its own part alone, behind what the set's stream and the
 * default stream hold. Complete when it returns. In pipeline.c. */
int cf__pipeline_run(const struct cf__pipeline *pipeline);

/* Let the default stream wait for the set's, and the reverse; `call` is what failed. Wait for what the latter waits
 * for. */
CUresult cf__stage_before(const struct cf__place *place, struct cf__stage *stage, const char **call);
CUresult cf__stage_after(const struct cf__place *place, struct cf__stage *stage, const char **call);
CUresult cf__stage_wait(const struct cf__place *place, struct cf__stage *stage);

/* Copies between pageable host memory and memory of the place's device, behind what the default stream holds; complete
 * when it returns. */
int cf__stage_copy(const struct cf__place *place, const char *function, void *device, void *host, size_t bytes,
                   int to_host);

/* Pinned memory that searches of a call write to, which the device reaches at the same address. */
#define CF__CELLS 512
int cf__cells_take(const struct cf__place *place, const char *function, uint64_t **cells);
void cf__cells_give(uint64_t *cells);

/* Whether the place's device reaches pageable host memory by itself. */
int cf__reaches_pageable(const struct cf__place *place, const char *function, int device, int *reaches);

/* For cf__keep(). */
CUresult cf__free_memory(const struct cf__driver *driver, uintptr_t memory);
CUresult cf__free_pinned(const struct cf__driver *driver, uintptr_t memory);

/* Frees what the driver gave, or keeps it for cf_shutdown(); 0 is fine. */
void cf__give_back(const struct cf__place *place, CUresult (*free_it)(const struct cf__driver *, uintptr_t),
                   uintptr_t what);

/* Frees what a context has: `place` is entered in it, or NULL where the context is gone. */
void cf__stages_free(struct cf__context *context, const struct cf__place *place);
void cf__stage_lock(void); /* for fork */
void cf__stage_unlock(void);

/* ---- machine.c ---- */

/* The constants of CF_MACHINE_LIST; those of the pool are of all its threads. */
struct cf__machine {
#define CF__MACHINE_FIELD(name, usual, threads, least, most) double name;
    CF_MACHINE_LIST(CF__MACHINE_FIELD)
#undef CF__MACHINE_FIELD
};

enum cf__constants { CF__CONSTANTS_NONE, CF__CONSTANTS_MEASURED, CF__CONSTANTS_DEFAULT };

/* The constants of the place's device and this CPU, and where they are from: the file, or the defaults. */
int cf__machine(const struct cf__place *place, const char *function, struct cf__machine *machine,
                enum cf__constants *constants);

void cf__machine_forget(void); /* at cf_shutdown() */
void cf__machine_lock(void);   /* for fork */
void cf__machine_unlock(void);

/* ---- plan.c ---- */

/* Where a call ran, what was copied, and why. */
struct cf__plan {
    char function[128];
    enum { CF__PLAN_FAILED, CF__PLAN_NOTHING, CF__PLAN_HOST, CF__PLAN_CPU, CF__PLAN_DEVICE } where;
    enum cf__reason {
        CF__PLAN_MIXED,
        CF__PLAN_NO_BODY,
        CF__PLAN_NOT_CLOSED,
        CF__PLAN_ASKED, /* by CF_HOST_DATA */
        CF__PLAN_SET,   /* by cf_set_host_data() */
        CF__PLAN_UNKNOWN,
        CF__PLAN_FORMULA
    } why; /* where arrays are staged, or could have been */
    int device;
    size_t in, out;            /* bytes that were copied, or would have been */
    size_t parts;              /* of a call that was split, else 0 */
    unsigned staged, in_place; /* arrays */
    enum cf__constants constants;
    double stage_time, cpu_time; /* expected, in seconds; by the formula */
    char variant[96];            /* of a tuned kernel */
};

/* That of the calling thread, begun anew. */
struct cf__plan *cf__plan_begin(const cf_kernel *kernel);

/* What staging would move, and elements that are taken for indices. */
struct cf__moves {
    const cf_kernel *kernel;
    const struct cf__size *size;
    size_t in, out;
    uint64_t indices;
    size_t both_in, both_out; /* of in and out, what goes at once */
};

/* Adds an array that is staged. */
void cf__moves_add(struct cf__moves *moves, uint32_t i, const struct cf__section *section);

/* The same array: it goes both ways beside other such arrays, part by part. */
void cf__moves_both(struct cf__moves *moves, uint32_t i, const struct cf__section *section);

/* Whether pinned arrays, too, are copied where a call can be split, as CF_HOST_DATA=stage has it; and who asked. */
int cf__plan_copies_pinned(enum cf__reason *why);

/* Whether a call whose arrays could all be staged runs on the CPU. */
int cf__plan_decide(const struct cf__moves *moves, void *const args[], const struct cf__place *place,
                    struct cf__plan *plan, int *is_on_cpu);

int cf__plan_configure(void);  /* reads CF_HOST_DATA; before the first use */
int cf__checks_elements(void); /* as cf_set_check() has it */

/* ---- processors.c ---- */

/* Processors, of 8192 at most. */
struct cf__cpus {
    cpu_set_t sets[8];
};

/* How many processors the process may use, at least 1. Writes those that any of its threads may run on: a thread that is
 * bound to one, as OpenMP's are, says nothing about the others. None where the system does not tell. */
int cf__processors(struct cf__cpus *cpus);

/* What control groups leave of `most`, as /proc and the folders that it names tell. `root`: where those are; "" but in tests. */
int cf__processors_of_groups(const char *root, int most);

/* ---- pool.c ---- */

/* Reads how many threads are wanted; before the first run. */
int cf__pool_configure(void);

/* The same, where that was not done since the pool last stopped. */
int cf__pool_ready(void);

/* How many threads run a job, the one that has it included. */
int cf__pool_size(void);

/* Calls `body` for all of `count` pieces, in chunks of `chunk` but the last, on the worker threads and the calling one;
 * returns when they are done. Each thread has chunks side by side, the same in each job of this size. */
typedef void cf__pool_body(void *data, uint64_t begin, uint64_t end);
void cf__pool_for(cf__pool_body *body, void *data, uint64_t count, uint64_t chunk);

/* Whether the calling thread runs a launch alone, since waking others takes longer. */
int cf__pool_is_small(uint64_t blocks, uint64_t block_threads);

/* Runs all blocks of a launch on the worker threads and the calling one; returns when they are done. */
void cf__pool_run(cf_host_body *body, const cf_host_launch *launch);

void cf__pool_stop(void); /* ends the worker threads; a later run starts them anew */

/* For fork: the pool's lock, and with it held in a child, that the workers do not exist there. */
void cf__pool_lock(void);
void cf__pool_unlock(void);
void cf__pool_forget(void);

#endif
