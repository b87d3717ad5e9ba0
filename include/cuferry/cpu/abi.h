/* abi.h - one launch on the CPU, and what a kernel's CPU body asks of the library while it runs. For C and C++. */
#ifndef CUFERRY_CPU_ABI_H
#define CUFERRY_CPU_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct cf_dim3 {
    uint32_t x, y, z;
} cf_dim3;

struct cf_host_ops;

/* What the processor can do beyond the least that its architecture has. */
enum { CF_HOST_X86_64_V3 = 1 };

/* One launch on the CPU. `args` is as in cf_launch(). */
typedef struct cf_host_launch {
    cf_dim3 grid, block;
    void *const *args;
    uint32_t shared;               /* bytes of dynamic shared memory */
    uint32_t is_cooperative;       /* all blocks are resident at once */
    const struct cf_host_ops *ops; /* NULL for bodies that ask for nothing */
    void *run;                     /* the library's */
    uint32_t is_ordered; /* the library sets the order of threads: bodies that wait for nothing use `ops`, too */
    uint32_t processor;  /* CF_HOST_X86_64_V3, or 0 */
} cf_host_launch;

/* The CPU body of a kernel: runs blocks number `begin` to `end` - 1, counted x first, then y, then z.
 * Blocks are independent; several threads run parts of one launch at once. */
typedef void cf_host_body(const cf_host_launch *launch, uint64_t begin, uint64_t end);

/* A block whose threads may wait for one another. What stands here is for the body to read. */
typedef struct cf_host_block {
    const struct cf_host_ops *ops;
    cf_dim3 index;
    uint32_t shared_count; /* __shared__ variables that have memory */
    const struct cf_host_shared *shared;
    void *dynamic; /* dynamic shared memory, as many bytes as the launch says */
    const cf_host_launch *launch;
    uint64_t tiles[32]; /* barriers of tiles of several warps; 0 until they are used */
} cf_host_block;

/* A barrier in a kernel's memory is a word that the kernel changes by atomic operations. Bit 63 is its phase; bits 32 to 62 count
 * the arrivals that this phase lacks, and the others those that the next one will wait for. */
#define CF_HOST_PHASE ((uint64_t)1 << 63)
#define CF_HOST_ARRIVAL ((uint64_t)1 << 32)
#define CF_HOST_MISSING(word) ((uint32_t)((word) >> 32) & 0x7fffffffu)
#define CF_HOST_EXPECTED(word) ((uint32_t)(word))

/* What a __shared__ variable is, for tools: an array of up to three dimensions, or one element. */
typedef struct cf_host_shape {
    size_t element;    /* bytes of one; elements of arrays of more dimensions are arrays */
    size_t extents[3]; /* 0: there is no more */
} cf_host_shape;

/* Memory of a __shared__ variable. */
typedef struct cf_host_shared {
    const cf_host_shape *key; /* of the variable: each has one of its own */
    void *memory;
    size_t bytes;
} cf_host_shared;

/* Where in a kernel's source a thread waits or fails. */
typedef struct cf_host_where {
    const char *what; /* "__syncthreads()" */
    const char *file;
    int line;
} cf_host_where;

/* Runs one thread of a block, to its end. */
typedef void cf_host_thread(void *closure, cf_host_block *block, cf_dim3 thread);

typedef enum cf_host_vote { CF_HOST_VOTE_COUNT, CF_HOST_VOTE_AND, CF_HOST_VOTE_OR } cf_host_vote;

typedef enum cf_host_warp_kind {
    CF_HOST_WARP_SYNC,
    CF_HOST_WARP_SHUFFLE,      /* gives the value of lane `argument` of the lane's segment of `width` lanes, */
    CF_HOST_WARP_SHUFFLE_UP,   /* of the lane `argument` below, of which here the low five bits count, */
    CF_HOST_WARP_SHUFFLE_DOWN, /* above, likewise, */
    CF_HOST_WARP_SHUFFLE_XOR,  /* whose number is this one's exclusive or `argument`, likewise */
    CF_HOST_WARP_BALLOT,       /* the lanes whose value is not 0 */
    CF_HOST_WARP_MATCH_ANY,    /* the lanes with the same value */
    CF_HOST_WARP_MATCH_ALL,    /* those that take part where all have the same value, else 0 */
    CF_HOST_WARP_ADD,          /* of 32-bit values; the same for all lanes, as in what follows */
    CF_HOST_WARP_MIN,
    CF_HOST_WARP_MAX,
    CF_HOST_WARP_MIN_SIGNED,
    CF_HOST_WARP_MAX_SIGNED,
    CF_HOST_WARP_AND,
    CF_HOST_WARP_OR,
    CF_HOST_WARP_XOR
} cf_host_warp_kind;

/* An operation of the lanes of a warp: as small as it can be, since each lane brings one. */
typedef struct cf_host_warp {
    uint8_t kind;
    uint8_t width; /* of a shuffle's segments, a power of two up to 32; 0 stands for any other, which fails. Else 32. */
    uint16_t reserved;
    int32_t argument;
} cf_host_warp;

/* Each is called by a thread of a block that `run` started, but for `run` itself. Other threads of the block, and of other
 * blocks in a cooperative launch, run in the meantime on the same thread of the CPU. */
typedef struct cf_host_ops {
    /* Runs every thread of blocks `begin` to `end` - 1. Returns early where one fails, which ends the launch. */
    void (*run)(const cf_host_launch *launch, uint64_t begin, uint64_t end, cf_host_thread *thread, void *closure);

    /* Waits for all threads of the block that have not ended. Gives the count, the and, the or of their values. */
    uint64_t (*barrier)(cf_host_block *block, cf_host_vote vote, int value, const cf_host_where *where);

    /* Waits for the lanes in the mask that have not ended, and gives what comes of the values that they bring. */
    uint64_t (*warp)(cf_host_block *block, uint32_t mask, uint64_t value, cf_host_warp what,
                     const cf_host_where *where);

    /* Waits until no thread of the warp can go on without; gives the lanes that wait at the same place. */
    uint32_t (*active)(cf_host_block *block, const cf_host_where *where);

    /* Waits for all threads of the launch, which is cooperative. */
    void (*grid)(cf_host_block *block, const cf_host_where *where);

    /* Lets others run. */
    void (*yield)(cf_host_block *block);

    /* The memory of a __shared__ variable in this block, the same for all threads. */
    void *(*shared)(cf_host_block *block, const cf_host_shape *key, size_t bytes, size_t align);

    /* Ends the launch, which then fails: `where` says what happened. `is_assert`: a condition did not hold. */
    void (*fail)(cf_host_block *block, int is_assert, const cf_host_where *where);

    /* Waits as long as the barrier at `word` is in this phase, bit 63. Returns at times while it still is. */
    void (*wait)(cf_host_block *block, const uint64_t *word, uint64_t phase, const cf_host_where *where);

    /* The barrier at `word` has come into its next phase. */
    void (*wake)(cf_host_block *block, const uint64_t *word);
} cf_host_ops;

#endif
