/* fake_libcuda.h - declarations shared by the files of the played GPU; fake_libcuda.c describes it. */
#ifndef FAKE_LIBCUDA_H
#define FAKE_LIBCUDA_H

#include <pthread.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/driver.h"
#include "fake_ask.h"

/* If a function of the list below is not defined, the link fails, and not a test. */
#pragma GCC visibility push(hidden)

/* ---- Functions: the library's list, and further ones for tests that play an application ---- */

#define FAKE_EXTRA_FUNCS(X)                                                                                    \
    X(cuCtxCreate, 3020, (CUcontext * context, unsigned int flags, CUdevice device), (context, flags, device)) \
    X(cuCtxDestroy, 4000, (CUcontext context), (context))                                                      \
    X(cuMemAllocHost, 3020, (void **pointer, size_t bytes), (pointer, bytes))                                  \
    X(cuMemHostRegister, 6050, (void *pointer, size_t bytes, unsigned int flags), (pointer, bytes, flags))     \
    X(cuMemHostUnregister, 4000, (void *pointer), (pointer))                                                   \
    X(cuMemAllocManaged, 6000, (CUdeviceptr * pointer, size_t bytes, unsigned int flags), (pointer, bytes, flags))

#define FAKE_FUNCS(X) CF__DRIVER_FUNCS(X) FAKE_EXTRA_FUNCS(X)

#define FAKE_DECLARE(name, version, parameters, names) CUresult fake_##name parameters;
FAKE_FUNCS(FAKE_DECLARE)
#undef FAKE_DECLARE

/* Results of the driver that the library does not handle separately. */
enum {
    FAKE_NOT_INITIALIZED = 3,
    FAKE_CONTEXT_IS_DESTROYED = 709,
    FAKE_ALREADY_REGISTERED = 712,
    FAKE_NOT_REGISTERED = 713
};

/* ---- Settings ---- */

#define FAKE_DEVICES 8

struct fake_settings {
    int version, devices;
    int first; /* number of the first device in UUIDs and PCI addresses */
    int capability[FAKE_DEVICES];
    CUresult load;        /* result of cuLibraryLoadData */
    size_t memory;        /* bytes for all allocations together */
    int shared;           /* bytes of shared memory that a block may use */
    int resident;         /* blocks that a device runs at once */
    int peers;            /* devices reach one another's memory */
    int dawdle;           /* microseconds that fake_dawdle() sleeps; less than a second */
    int pageable;         /* kernels reach ordinary host memory */
    int late;             /* work in the default stream waits, too, after running the streams before it */
    unsigned int threads; /* most threads per block for which the registers suffice */
    int pools;            /* devices have stream-ordered allocation */
    int alone;            /* a fault loses only its kernel's device */
    int reset;            /* after a fault cuDevicePrimaryCtxReset() 1: repairs the device; 2: only returns success */
};
extern struct fake_settings fake;

/* The counters that tests read, see fake_ask.h. */
extern struct fake_counts fake_counts;

/* ---- Objects: everything that a caller has to destroy or free ---- */

enum fake_kind {
    FAKE_ALLOCATION,
    FAKE_STREAM,
    FAKE_EVENT,
    FAKE_LIBRARY,
    FAKE_KERNEL,
    FAKE_FUNCTION,
    FAKE_POOL,
    FAKE_GRAPH,
    FAKE_EXEC
};

struct fake_object {
    struct fake_object *next;
    enum fake_kind kind;
    CUcontext context; /* its context; NULL for pools, libraries and their kernels */
};
extern struct fake_object *fake_objects;

/* A handle is the address of one of these structs; each begins with its object. */
struct CUstream_st {
    struct fake_object object;
    unsigned int flags;
    int priority;
    unsigned long long id;    /* unique for the whole process */
    uint64_t submitted, done; /* numbers of pieces of work */
    struct fake_work *first, **last;
    struct fake_capture *capture; /* the capture that the stream is part of; NULL: none */
    struct fake_set *nodes;       /* nodes of the capture that later work has to follow */
    struct fake_work *latest;     /* the node that all other nodes precede; NULL: none */
};

struct CUmemPoolHandle_st {
    struct fake_object object;
    int device;
    uint64_t threshold; /* free bytes that the pool keeps */
    uint64_t peers;     /* other devices that reach its memory */
    size_t used, kept;  /* bytes in allocations; free bytes that the pool holds */
};

struct CUevent_st {
    struct fake_object object;
    int recorded, has_no_time;
    CUstream stream; /* the stream in which it was recorded, and how many pieces of work came before it */
    uint64_t position;
    double time;            /* in milliseconds */
    uint64_t captured_in;   /* number of the capture that recorded it last; 0: none */
    struct fake_set *nodes; /* nodes of the capture that precede the event */
    struct fake_work *latest;
};

/* The nodes of a captured graph, shared by the graph and its executable graphs. */
struct fake_nodes {
    int owners, has_memory, execs;
    uint64_t count;
    struct fake_work *first, **last;
    struct fake_update *updates; /* updates of all executable graphs; freed with the nodes */
};

/* A node that an executable graph runs in place of another one. Updates are immutable: a run in flight keeps the
 * updates that were there when it began. */
struct fake_update {
    struct fake_update *next, *next_of_all;
    const struct fake_work *node;
    struct fake_work *now;
};

struct CUgraph_st {
    struct fake_object object;
    struct fake_nodes *nodes;
};

struct CUgraphExec_st {
    struct fake_object object;
    struct fake_nodes *nodes;
    struct fake_update *updates; /* the newest comes first */
    CUstream stream;             /* stream and end of the last run, which the next run follows */
    uint64_t position;
};

struct CUlib_st {
    struct fake_object object;
    const cf_image *image; /* the played GPU's own copy; NULL if the image is unknown */
    int is_wrong;          /* PTX that did not compile */
};

struct CUkern_st {
    struct fake_object object;
    CUlibrary library;
    const cf_kernel *kernel;
};

struct CUfunc_st {
    struct fake_object object;
    CUkernel kernel;
    int shared; /* bytes of dynamic shared memory that a launch may use */
};

struct fake_allocation {
    struct fake_object object;
    enum { FAKE_DEVICE_MEMORY, FAKE_GLOBAL, FAKE_MANAGED, FAKE_PINNED, FAKE_REGISTERED } type;
    char *memory;
    size_t size;
    uint64_t number;         /* position in the process's series of allocations, from 1 */
    int is_freed;            /* freed, or to be freed when its stream reaches the call */
    int is_async;            /* from cuMemAllocAsync() or a pool; such memory has access rights of its own for peers */
    CUmemoryPool pool;       /* NULL: no pool, or the pool was destroyed */
    int owners;              /* graph memory: number of nodes that use it; 0 for other memory */
    int has_end;             /* graph memory: a node of the graph frees it */
    int is_given;            /* graph memory: allocated by a launch and not freed by a call since */
    int frees;               /* graph memory: number of frees that wait in streams */
    int is_there;            /* like is_given, but at the position that the streams have reached */
    CUlibrary library;       /* for FAKE_GLOBAL, whose memory lives as long as the library */
    const cf_symbol *symbol; /* variable of a FAKE_GLOBAL */
};

struct CUctx_st {
    int device;
    int is_primary;
    int is_live; /* 0: the slot is free, and a later context gets the same address */
    unsigned long long id;
    uint64_t peers; /* bits: slots of the contexts whose memory this context reaches */
    struct CUstream_st legacy;
};

/* Creates a zeroed object; aborts if memory runs out. */
void *fake_add(enum fake_kind kind, size_t size, CUcontext context);

/* Unlinks and frees an object and everything that belongs to it. */
void fake_remove(void *object);

int fake_is_live(const void *object, enum fake_kind kind);

/* ---- Calls: all of them run under one lock ---- */

/* Takes the lock; returns FAKE_NOT_INITIALIZED before cuInit. */
CUresult fake_begin(void);

/* Releases the lock and returns its argument. */
CUresult fake_end(CUresult result);

/* Leaves the function with the step's error if a step fails. */
#define TRY(step)                     \
    do {                              \
        CUresult result_ = (step);    \
        if (result_ != CUDA_SUCCESS)  \
            return fake_end(result_); \
    } while (0)

/* Sleeps for a millisecond where the real driver takes several, so that threads of the library meet there. */
void fake_dawdle(void);

/* A text to which lines about objects are appended. */
struct fake_report {
    char *text;
    size_t size, used;
    int count;
};
__attribute__((format(printf, 3, 4))) void fake_report(struct fake_report *to, int count, const char *format, ...);
void fake_report_contexts(struct fake_report *to);

CUresult fake_check_device(int device);

/* fake_context_is_live() returns 1 if the context can be used; fake_is_peer() returns 1 if it reaches the peer's
 * memory. */
int fake_context_is_live(CUcontext context);
int fake_is_peer(CUcontext context, CUcontext peer);

/* Gets the calling thread's context. Returns an error if there is none or it cannot be used. */
CUresult fake_current(CUcontext *context);

/* ---- Devices: a fault lasts until the process ends, as with the real driver ---- */

CUresult fake_failed(CUcontext context);
void fake_fail(CUcontext context, CUresult result);

/* ---- Streams: work waits in its stream until a call waits for the stream ---- */

struct fake_work {
    struct fake_work *next;
    CUcontext context; /* context of a graph's node, and that context's id */
    unsigned long long id;
    void (*run)(CUcontext context, struct fake_work *work);
    void (*destroy)(struct fake_work *work); /* releases the objects that the work refers to; may be NULL */
};

/* Gets the stream of a handle, which may be a default stream, in order to submit work. Returns an error if the stream's
 * capture is broken, or if it is a default stream and a stream ordered with it is being captured. */
CUresult fake_stream(CUstream handle, CUstream *stream);
unsigned long long fake_stream_id(void); /* id of the next stream */

/* Gets the stream of a handle in order to query it; fails in the same cases as fake_stream(). */
CUresult fake_find_stream(CUstream handle, CUstream *stream);

/* Appends a zeroed piece of work of `size` bytes, which the caller fills in. */
void *fake_submit(CUstream stream, void (*run)(CUcontext context, struct fake_work *work), size_t size);

/* Makes later work of `stream` wait for the work of `other` up to a position. */
void fake_follow(CUstream stream, CUstream other, uint64_t position);

void fake_drain(CUstream stream, uint64_t position);

/* fake_drain_default() runs the context's default stream and the streams ordered with it, fake_drain_context() all
 * streams of the context. */
void fake_drain_default(CUcontext context);
void fake_drain_context(CUcontext context);

/* Runs all streams. Called before an object is destroyed to which waiting work may refer. */
void fake_drain_all(void);

/* ---- Captures and graphs ---- */

/* A capture that has begun and has not ended. */
struct fake_capture {
    struct fake_capture *next;
    uint64_t number; /* counts from 1 */
    CUstreamCaptureMode mode;
    pthread_t thread;
    int is_broken;
    CUstream origin;
    struct fake_nodes *nodes;
};

/* Adds a node to the capture that a stream takes part in; fake_submit() calls it there. */
void *fake_add_node(CUstream stream, void (*run)(CUcontext context, struct fake_work *work), size_t size);

/* Called by functions that a capture may forbid, depending on the modes of the thread and of the capture. Breaks the
 * captures that forbid them. */
CUresult fake_unsafe(void);

/* Called by functions that wait for a whole context. Breaks the context's captures. */
CUresult fake_break_captures(CUcontext context);

/* Called when a context's default stream is used. Breaks captures of streams that are ordered with it. */
CUresult fake_implicit(CUcontext context, int is_broken_by_it);

/* Called by waits for a stream and by queries: breaks the stream's capture. Only a stream can wait for an event that
 * was recorded in a capture. */
CUresult fake_capture_wait(CUstream stream);
CUresult fake_captured_event(CUevent event); /* error of a query of an event that a capture recorded */

void fake_capture_event(CUstream stream, CUevent event);                 /* inside a capture or outside one */
CUresult fake_capture_follow(CUstream stream, CUevent event, int *done); /* `done`: there is nothing left to do */

/* Removes the references to a stream that is destroyed. */
void fake_forget_stream(CUstream stream);

/* Ends the captures of a context that is destroyed. */
void fake_end_captures(CUcontext context);

void fake_release_graph(struct fake_nodes *nodes);

/* Returns 1 if the node is in a graph that exists or in a capture that has not ended. */
int fake_is_node(const struct fake_work *node);

/* Makes the executable graph run `now` in place of a node, and takes over `now`, which malloc() allocated. */
CUresult fake_update_node(CUgraphExec exec, const struct fake_work *node, struct fake_work *now);

/* Returns 1 if the calling thread runs a function that the driver called. */
int fake_is_in_callback(void);

/* ---- Memory ---- */

/* A device address is the address of ordinary memory plus FAKE_DEVICE_OFFSET. The sum is beyond the user's address
 * space on x86-64 and aarch64, so a process that uses it on the CPU crashes. */
#define FAKE_DEVICE_OFFSET ((uintptr_t)1 << 48)

/* Allocates memory of a type and fills it with poison. */
CUresult fake_allocate(CUcontext context, size_t bytes, int type, struct fake_allocation **allocation);

/* Records the address of memory that is lost with its context, so that a later allocation gets the same address. */
void fake_lose(struct fake_allocation *allocation);

/* Frees unused memory. Memory of a graph is kept for the next launch while the graph exists. */
void fake_let_go(struct fake_allocation *allocation);

/* Returns 1 if the memory belongs to a graph, or did before the graph was destroyed. */
int fake_is_of_graph(const struct fake_allocation *allocation);

/* Frees cached memory of a pool until it holds at most `most` bytes. */
void fake_keep(CUmemoryPool pool, uint64_t most);

/* Returns the allocation that contains the pointer; NULL if there is none. */
struct fake_allocation *fake_find(CUdeviceptr pointer);

/* Returns the allocation that begins at the address; NULL if there is none. */
struct fake_allocation *fake_find_allocation(CUdeviceptr address);

/* Allocates memory for a graph; fake_poison() fills it at each launch. */
CUresult fake_graph_memory(CUcontext context, size_t bytes, struct fake_allocation **allocation);
void fake_poison(struct fake_allocation *allocation);
CUresult fake_give_graph_memory(const struct fake_nodes *nodes); /* called at a launch */
CUdeviceptr fake_address(const struct fake_allocation *allocation);

/* Moves the bytes of an allocation that is returned to its pool from `used` to `kept`. */
void fake_forget_pooled(struct fake_allocation *allocation);

/* Returns the bytes of all allocations and of the memory that pools cache. */
size_t fake_memory_used(void);

/* Return the CPU address of `bytes` bytes at a pointer of any kind; NULL if they are not all allocated. fake_reach()
 * accepts graph memory while the graph runs; fake_will_reach() also accepts it in a captured stream. */
void *fake_reach(CUdeviceptr pointer, size_t bytes);
int fake_will_reach(CUstream stream, CUdeviceptr pointer, size_t bytes);

/* Gets the memory of a symbol in a context; allocates it at the first use. */
CUresult fake_global(CUcontext context, CUlibrary library, const cf_symbol *symbol, CUdeviceptr *pointer);

/* Exchanges the CPU values of a library's symbols for the context's values, so that a kernel on the CPU uses the
 * latter. */
void fake_exchange_globals(CUcontext context, CUlibrary library);

/* Returns the memory at a pointer like fake_reach(), for a kernel in a context. A kernel does not reach pageable memory
 * and memory of other devices. */
void *fake_reach_from(CUcontext context, CUdeviceptr pointer);

#pragma GCC visibility pop
#endif
