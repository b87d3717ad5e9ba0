/* region.h - the memory of a checked kernel: arrays, scratch memory, __device__ and __shared__ variables. */
#ifndef REGION_H
#define REGION_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/abi.h>

/* REGION_DATA: the module's variables at file scope. */
enum region_kind { REGION_ARRAY, REGION_DATA, REGION_SHARED, REGION_DYNAMIC };

struct region {
    char *begin;
    size_t bytes;
    enum region_kind kind;
    const char *name;         /* the parameter's name */
    uint32_t element;         /* size in bytes */
    const cf_host_shape *key; /* __shared__ variable only: an address that the module's symbols name */
    const void *block;        /* owner; NULL: all blocks */
    unsigned char *seen;      /* one byte per byte: 1 if written; NULL: not recorded */
    int is_kept;              /* kept between launches of an operation */
    int is_input;             /* array of in(...), which no thread may write */
    char *before;             /* its content when the launch began; NULL: not recorded */

    /* State of a check, freed in its end(); NULL: none. */
    void (*end)(struct region *region);
    struct race_word *words;
    size_t words_bytes;
    int is_split; /* some words are split into bytes */
};

/* Adds a region that lies in no other; NULL without memory. */
struct region *region_add(const struct region *what);

/* Region that contains the byte, or NULL. */
struct region *region_find(const void *address);

/* Region that contains the byte, or the nearest region; NULL without regions. */
struct region *region_nearest(const void *address);

/* Removes the regions of blocks, these and the launch's, or all. */
enum region_end { REGION_END_BLOCKS, REGION_END_LAUNCH, REGION_END_ALL };
void region_end(enum region_end which);

/* Calls a function for each region of a block. */
void region_each(const void *block, void (*body)(struct region *));

/* Describes a byte of a region, or near it: "x[17]", "__shared__ tile[1][3]", "byte 12 of dynamic shared memory". */
void region_describe(const struct region *region, const void *address, char *text, size_t size);

#endif
