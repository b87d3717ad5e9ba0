/* abi.h - the interface between the library and a kernel's CPU body. For C and C++. */
#ifndef CUFERRY_CPU_ABI_H
#define CUFERRY_CPU_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct cf_dim3 {
    uint32_t x, y, z;
} cf_dim3;

struct cf_host_ops;

/* Processor features beyond the baseline of its architecture. */
enum { CF_HOST_X86_64_V3 = 1 };

/* One launch on the CPU. `args` has the form that cf_launch() takes. */
typedef struct cf_host_launch {
    cf_dim3 grid, block;
    void *const *args;
    uint32_t shared;               /* dynamic shared memory in bytes */
    uint32_t is_cooperative;       /* 1: all blocks are resident at once */
    const struct cf_host_ops *ops; /* NULL for bodies that use no services */
    void *run;                     /* private to the library */
    uint32_t is_ordered; /* 1: the library sets the order of threads, and even bodies without waits use `ops` */
    uint32_t processor;  /* CF_HOST_X86_64_V3, or 0 */
    cf_dim3 cluster;     /* number of a cluster's blocks along each axis; these blocks are resident at once */
    uint32_t is_turned;  /* 1: x and y are exchanged, also in indices; messages exchange them back */
} cf_host_launch;

/* The CPU body of a kernel. Runs blocks `begin` to `end` - 1, which are numbered along x first, then y, then z. If the
 * launch has clusters of several blocks, whole clusters are numbered in this order. Several threads run parts of one
 * launch at once. */
typedef void cf_host_body(const cf_host_launch *launch, uint64_t begin, uint64_t end);

/* A block whose threads may wait for one another. The CPU body reads these fields and does not write them. */
typedef struct cf_host_block {
    const struct cf_host_ops *ops;
    cf_dim3 index;
    uint32_t shared_count; /* number of __shared__ variables with memory */
    const struct cf_host_shared *shared;
    void *dynamic; /* dynamic shared memory, of the size in `launch` */
    const cf_host_launch *launch;
    uint64_t tiles[32]; /* barriers of tiles with several warps; 0 until used */
} cf_host_block;

/* A barrier in a kernel's memory is a word that the kernel changes atomically. Bit 63 is its phase. Bits 32 to 62 count
 * the arrivals missing in this phase; bits 0 to 31 count the arrivals expected in the next phase. */
#define CF_HOST_PHASE ((uint64_t)1 << 63)
#define CF_HOST_ARRIVAL ((uint64_t)1 << 32)
#define CF_HOST_MISSING(word) ((uint32_t)((word) >> 32) & 0x7fffffffu)
#define CF_HOST_EXPECTED(word) ((uint32_t)(word))

/* Shape of a __shared__ variable, for tools: one element, or an array of up to three dimensions. */
typedef struct cf_host_shape {
    size_t element;    /* bytes of an element; with more than three dimensions an element is an array */
    size_t extents[3]; /* 0 ends the list */
} cf_host_shape;

/* Memory of a __shared__ variable in a block. */
typedef struct cf_host_shared {
    const cf_host_shape *key; /* identifies the variable */
    void *memory;
    size_t bytes;
} cf_host_shared;

/* Place in a kernel's source at which a thread waits or fails. */
typedef struct cf_host_where {
    const char *what; /* "__syncthreads()" */
    const char *file;
    int line;
} cf_host_where;

/* Runs one thread of a block to its end. */
typedef void cf_host_thread(void *closure, cf_host_block *block, cf_dim3 thread);

typedef enum cf_host_vote { CF_HOST_VOTE_COUNT, CF_HOST_VOTE_AND, CF_HOST_VOTE_OR } cf_host_vote;

/* The two steps of a barrier that a thread may pass separately. */
enum { CF_HOST_ARRIVE = 1, CF_HOST_WAIT = 2 };

typedef enum cf_host_warp_kind {
    CF_HOST_WARP_SYNC,
    CF_HOST_WARP_SHUFFLE,      /* value of lane `argument` of the segment of `width` lanes */
    CF_HOST_WARP_SHUFFLE_UP,   /* value of the lane that is `argument` lanes below; only the low five bits count */
    CF_HOST_WARP_SHUFFLE_DOWN, /* value of the lane that is `argument` lanes above; only the low five bits count */
    CF_HOST_WARP_SHUFFLE_XOR,  /* value of the lane with this lane's number exclusive-or `argument`; only the low five
                                * bits count */
    CF_HOST_WARP_BALLOT,       /* mask of the lanes with a value other than 0 */
    CF_HOST_WARP_MATCH_ANY,    /* mask of the lanes with the same value */
    CF_HOST_WARP_MATCH_ALL,    /* mask of all participating lanes if they have the same value, else 0 */
    CF_HOST_WARP_ADD,          /* this kind and the next ones combine 32-bit values; all lanes get the result */
    CF_HOST_WARP_MIN,
    CF_HOST_WARP_MAX,
    CF_HOST_WARP_MIN_SIGNED,
    CF_HOST_WARP_MAX_SIGNED,
    CF_HOST_WARP_AND,
    CF_HOST_WARP_OR,
    CF_HOST_WARP_XOR
} cf_host_warp_kind;

/* An operation of the lanes of a warp. The struct is small, because each lane passes one. */
typedef struct cf_host_warp {
    uint8_t kind;
    uint8_t
        width; /* lanes of a shuffle's segment: a power of two up to 32; 0 is invalid and fails; 32 for other kinds */
    uint16_t reserved;
    int32_t argument;
} cf_host_warp;

/* Services of the library. The CPU body calls `run`; the threads that `run` starts call the others. While a thread
 * waits, other threads of its block, and of other blocks in a cooperative launch, run on the same CPU thread. */
typedef struct cf_host_ops {
    /* Runs every thread of blocks `begin` to `end` - 1. If a thread fails, the launch ends and the function returns
     * early. */
    void (*run)(const cf_host_launch *launch, uint64_t begin, uint64_t end, cf_host_thread *thread, void *closure);

    /* Waits for all threads of the block that have not ended. Returns the count, the AND or the OR of their values. */
    uint64_t (*barrier)(cf_host_block *block, cf_host_vote vote, int value, const cf_host_where *where);

    /* Waits for the lanes of the mask that have not ended. Returns the result of `what` for their values. */
    uint64_t (*warp)(cf_host_block *block, uint32_t mask, uint64_t value, cf_host_warp what,
                     const cf_host_where *where);

    /* Waits until no thread of the warp can continue alone. Returns the mask of lanes that wait at the same place. */
    uint32_t (*active)(cf_host_block *block, const cf_host_where *where);

    /* Waits for all threads of a cooperative launch. */
    void (*grid)(cf_host_block *block, const cf_host_where *where);

    /* Lets other threads run. */
    void (*yield)(cf_host_block *block);

    /* Returns the memory of a __shared__ variable in this block, which is the same for all threads. The library owns
     * it. `bytes` and `align` are in bytes. */
    void *(*shared)(cf_host_block *block, const cf_host_shape *key, size_t bytes, size_t align);

    /* Fails and ends the launch with the message at `where`. `is_assert`: an assertion failed. */
    void (*fail)(cf_host_block *block, int is_assert, const cf_host_where *where);

    /* Waits while the barrier at `word` is in `phase` (bit 63). It may return early. */
    void (*wait)(cf_host_block *block, const uint64_t *word, uint64_t phase, const cf_host_where *where);

    /* Wakes the threads that wait at the barrier at `word`, which is in its next phase. */
    void (*wake)(cf_host_block *block, const uint64_t *word);

    /* Arrives at the barrier of the block's cluster, or waits for the arrival of all of its threads that have not
     * ended, or both: the sum of CF_HOST_ARRIVE and CF_HOST_WAIT. */
    void (*cluster)(cf_host_block *block, int steps, const cf_host_where *where);

    /* Returns block number `rank` of the block's cluster, or the block itself if there is no cluster. */
    cf_host_block *(*peer)(cf_host_block *block, uint32_t rank);
} cf_host_ops;

#endif
