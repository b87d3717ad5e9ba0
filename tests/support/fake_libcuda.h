/* fake_libcuda.h - what the files of the fake NVIDIA driver share; fake_libcuda.c says what it is. */
#ifndef FAKE_LIBCUDA_H
#define FAKE_LIBCUDA_H

#include <pthread.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/driver.h"
#include "fake_ask.h"
#include "fake_ask.h"

/* An undefined function of the list below then fails the link, not a test. */
#pragma GCC visibility push(hidden)

/* ---- Functions: the library's list, and what tests need that play an application beside it ---- */

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

/* Results that the library does not tell apart. */
enum {
    FAKE_NOT_INITIALIZED = 3,
    FAKE_LAUNCH_OUT_OF_RESOURCES = 701,
    FAKE_CONTEXT_IS_DESTROYED = 709,
    FAKE_ALREADY_REGISTERED = 712,
    FAKE_NOT_REGISTERED = 713
};

/* ---- Settings ---- */

#define FAKE_DEVICES 8

struct fake_settings {
    int version, devices;
    int capability[FAKE_DEVICES];
    CUresult load;        /* what cuLibraryLoadData returns */
    size_t memory;        /* all that there is for allocations */
    int shared;           /* bytes of shared memory that a block may ask for */
    int resident;         /* blocks that a device runs at once */
    int peers;            /* its devices can reach each other's memory */
    int dawdle;           /* microseconds that fake_dawdle() takes; less than a second */
    int pageable;         /* they reach ordinary host memory */
    int late;             /* what comes to a default stream lets the others run that it follows, and not itself */
    unsigned int threads; /* of a block that there are registers for */
    int pools;            /* they have stream-ordered allocation */
    int reset;            /* 1: cuDevicePrimaryCtxReset() helps after a fault; 2: it succeeds and does not */
};
extern struct fake_settings fake;

/* What tests are told. */
extern struct fake_counts fake_counts;

/* ---- Objects: everything that a caller has to give back ---- */

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
    CUcontext context; /* that it goes with; NULL for pools, libraries and their kernels */
};
extern struct fake_object *fake_objects;

/* A handle is the address of one of these; each begins with its object. */
struct CUstream_st {
    struct fake_object object;
    unsigned int flags;
    int priority;
    unsigned long long id;    /* which no other stream had or will have */
    uint64_t submitted, done; /* pieces of work */
    struct fake_work *first, **last;
    struct fake_capture *capture; /* that it takes part in; NULL: none */
    struct fake_set *nodes;       /* of that, which its later work has to follow */
};

struct CUmemPoolHandle_st {
    struct fake_object object;
    int device;
    uint64_t threshold; /* bytes that it keeps */
    uint64_t peers;     /* other devices that reach its memory */
    size_t used, kept;  /* bytes in allocations, and of what was freed and not given back */
};

struct CUevent_st {
    struct fake_object object;
    int recorded, has_no_time;
    CUstream stream; /* where the mark was set, and after how many pieces of work */
    uint64_t position;
    double time;            /* milliseconds */
    uint64_t captured_in;   /* number of the capture where it was recorded last; 0: none */
    struct fake_set *nodes; /* of that, which lie before it */
};

/* What a graph and what was made of it share. */
struct fake_nodes {
    int owners, has_memory, execs;
    uint64_t count;
    struct fake_work *first, **last;
};

struct CUgraph_st {
    struct fake_object object;
    struct fake_nodes *nodes;
};

struct CUgraphExec_st {
    struct fake_object object;
    struct fake_nodes *nodes;
    CUstream stream; /* of its latest run, which the next one follows, and where that ends */
    uint64_t position;
};

struct CUlib_st {
    struct fake_object object;
    const cf_image *image; /* the fake's own copy; NULL for one that it does not know */
};

struct CUkern_st {
    struct fake_object object;
    CUlibrary library;
    const cf_kernel *kernel;
};

struct CUfunc_st {
    struct fake_object object;
    CUkernel kernel;
    int shared; /* bytes of dynamic shared memory that a launch may have */
};

struct fake_allocation {
    struct fake_object object;
    enum { FAKE_DEVICE_MEMORY, FAKE_GLOBAL, FAKE_MANAGED, FAKE_PINNED, FAKE_REGISTERED } type;
    char *memory;
    size_t size;
    uint64_t number;         /* of all that there ever were, from 1 */
    int is_freed;            /* it goes when its stream gets there */
    int is_async;            /* of cuMemAllocAsync() or a pool: what peers do is for the pool to say */
    CUmemoryPool pool;       /* NULL: none, or one that was destroyed */
    int owners;              /* of a graph's memory: nodes that name it; 0 for other memory */
    int has_end;             /* likewise: a node frees it */
    int is_given;            /* likewise: a launch has allocated it, and nobody has freed it since */
    int frees;               /* likewise: that wait in streams */
    int is_there;            /* likewise, as the streams have got: the same */
    CUlibrary library;       /* of FAKE_GLOBAL: it goes with that */
    const cf_symbol *symbol; /* likewise */
};

struct CUctx_st {
    int device;
    int is_primary;
    int is_live; /* 0: the slot is free, and will be used again at the same address */
    unsigned long long id;
    uint64_t peers; /* contexts whose memory it reaches, by their slots */
    struct CUstream_st legacy;
};

/* A zeroed object; the process ends where there is no memory. */
void *fake_add(enum fake_kind kind, size_t size, CUcontext context);

/* Unlinks and frees an object and what hangs on it. */
void fake_remove(void *object);

int fake_is_live(const void *object, enum fake_kind kind);

/* ---- Calls: all of them run under one lock ---- */

/* Takes the lock; FAKE_NOT_INITIALIZED before cuInit. */
CUresult fake_begin(void);

/* Gives the lock back and returns its argument. */
CUresult fake_end(CUresult result);

/* Ends a call that has begun where one of its steps fails. */
#define TRY(step)                     \
    do {                              \
        CUresult result_ = (step);    \
        if (result_ != CUDA_SUCCESS)  \
            return fake_end(result_); \
    } while (0)

/* Takes a millisecond, where the real driver takes many: the library's threads get the time to meet there. */
void fake_dawdle(void);

/* A text that lists objects. */
struct fake_report {
    char *text;
    size_t size, used;
    int count;
};
__attribute__((format(printf, 3, 4))) void fake_report(struct fake_report *to, int count, const char *format, ...);
void fake_report_contexts(struct fake_report *to);

CUresult fake_check_device(int device);

/* Whether it is one that can be used; whether a context reaches the memory of another. */
int fake_context_is_live(CUcontext context);
int fake_is_peer(CUcontext context, CUcontext peer);

/* The calling thread's context, or why there is none to work in. */
CUresult fake_current(CUcontext *context);

/* ---- Devices: what faults once stays so until the process ends, as the real driver has it ---- */

CUresult fake_failed(CUcontext context);
void fake_fail(CUcontext context, CUresult result);

/* ---- Streams: work waits in its stream until somebody waits for it ---- */

struct fake_work {
    struct fake_work *next;
    CUcontext context; /* of a graph's node, and the id of that */
    unsigned long long id;
    void (*run)(CUcontext context, struct fake_work *work);
    void (*destroy)(struct fake_work *work); /* gives back what it refers to; may be NULL */
};

/* The stream behind a handle, the default ones included, in a context that works: where work is put, which in a broken
 * capture, or in the default stream beside a captured one that is ordered with it, is refused. */
CUresult fake_stream(CUstream handle, CUstream *stream);
unsigned long long fake_stream_id(void); /* of the next one */

/* The same of one that is only looked at. */
CUresult fake_find_stream(CUstream handle, CUstream *stream);

/* Appends a zeroed piece of work of `size` bytes, for the caller to fill in. */
void *fake_submit(CUstream stream, void (*run)(CUcontext context, struct fake_work *work), size_t size);

/* Lets later work of a stream follow another one's up to a position. */
void fake_follow(CUstream stream, CUstream other, uint64_t position);

void fake_drain(CUstream stream, uint64_t position);

/* The context's default stream and those that are ordered with it; all its streams. */
void fake_drain_default(CUcontext context);
void fake_drain_context(CUcontext context);

/* Every stream: before something goes that waiting work may refer to. */
void fake_drain_all(void);

/* ---- Captures and graphs ---- */

/* A capture that was begun and not ended. */
struct fake_capture {
    struct fake_capture *next;
    uint64_t number; /* counts from 1 */
    CUstreamCaptureMode mode;
    pthread_t thread;
    int is_broken;
    CUstream origin;
    struct fake_nodes *nodes;
};

/* The node of a capture that a stream takes part in: fake_submit() there. */
void *fake_add_node(CUstream stream, void (*run)(CUcontext context, struct fake_work *work), size_t size);

/* A call that a capture may forbid, by the modes of the thread and the capture: it breaks those that do. */
CUresult fake_unsafe(void);

/* A call that waits for all of a context: it breaks its captures. */
CUresult fake_break_captures(CUcontext context);

/* The use of a context's default stream: it breaks captures of streams that are ordered with it. */
CUresult fake_implicit(CUcontext context, int is_broken_by_it);

/* A wait or a query of a stream breaks its capture; an event in a capture can be waited for in streams alone. */
CUresult fake_capture_wait(CUstream stream);
CUresult fake_captured_event(CUevent event); /* what asking one gives that a capture has recorded */

void fake_capture_event(CUstream stream, CUevent event);                 /* records it, in a capture or not */
CUresult fake_capture_follow(CUstream stream, CUevent event, int *done); /* `done`: there is no more to do */

/* What refers to a stream that goes. */
void fake_forget_stream(CUstream stream);

/* Ends what was begun in a context that goes. */
void fake_end_captures(CUcontext context);

void fake_release_graph(struct fake_nodes *nodes);

/* Whether this thread is in a function that the driver calls. */
int fake_is_in_callback(void);

/* ---- Memory ---- */

/* Device memory is ordinary memory whose addresses are handed out with this added: past the user's part of the address
 * space on x86-64 and aarch64, so that using one on the CPU ends the process. */
#define FAKE_DEVICE_OFFSET ((uintptr_t)1 << 48)

/* New memory of a type, poisoned. */
CUresult fake_allocate(CUcontext context, size_t bytes, int type, struct fake_allocation **allocation);

/* Keeps the addresses of memory that goes with its context, to be given anew. */
void fake_lose(struct fake_allocation *allocation);

/* Frees memory that nobody uses any more; a graph's stays for the next launch, as long as there is a graph. */
void fake_let_go(struct fake_allocation *allocation);

/* Whether memory is or was a graph's. */
int fake_is_of_graph(const struct fake_allocation *allocation);

/* Lets a pool keep at most so many bytes. */
void fake_keep(CUmemoryPool pool, uint64_t most);

/* The allocation that a pointer lies in; NULL where there is none. */
struct fake_allocation *fake_find(CUdeviceptr pointer);

/* The allocation that begins at an address; NULL where there is none. */
struct fake_allocation *fake_find_allocation(CUdeviceptr address);

/* Memory for a graph; the bytes hold nothing that is known at each launch anew. */
CUresult fake_graph_memory(CUcontext context, size_t bytes, struct fake_allocation **allocation);
void fake_poison(struct fake_allocation *allocation);
CUresult fake_give_graph_memory(const struct fake_nodes *nodes); /* at a launch */
CUdeviceptr fake_address(const struct fake_allocation *allocation);

/* Gives the bytes of an allocation that goes back to its pool. */
void fake_forget_pooled(struct fake_allocation *allocation);

/* Bytes of all allocations and of what pools keep. */
size_t fake_memory_used(void);

/* Where the CPU finds `bytes` bytes at a pointer of any kind; NULL where they are not all there. Memory of a graph is
 * there when the graph runs; fake_will_reach() takes it in a stream that is captured, too. */
void *fake_reach(CUdeviceptr pointer, size_t bytes);
int fake_will_reach(CUstream stream, CUdeviceptr pointer, size_t bytes);

/* The memory of a symbol in a context, made at its first use. */
CUresult fake_global(CUcontext context, CUlibrary library, const cf_symbol *symbol, CUdeviceptr *pointer);

/* Exchanges what the CPU's forms of a library's symbols hold with what a context has, so that a kernel runs on that. */
void fake_exchange_globals(CUcontext context, CUlibrary library);

/* fake_reach() for a kernel in a context: pageable memory and that of other devices is out of its reach. */
void *fake_reach_from(CUcontext context, CUdeviceptr pointer);

#pragma GCC visibility pop
#endif
