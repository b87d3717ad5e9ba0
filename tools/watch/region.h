/* region.h - keeps a list of the memory of a checked kernel: arrays, scratch memory, __device__ and __shared__
 * variables. */
#ifndef REGION_H
#define REGION_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/abi.h>

/* REGION_DATA: the module's variables at file scope; REGION_DYNAMIC: dynamic shared memory. */
enum region_kind { REGION_ARRAY, REGION_DATA, REGION_SHARED, REGION_DYNAMIC };

struct region {
    char *begin;
    size_t bytes;
    enum region_kind kind;
    const char *name;         /* the parameter's name */
    uint32_t element;         /* size of an element in bytes */
    const cf_host_shape *key; /* for a __shared__ variable: an address that a symbol of the module names */
    const void *block;        /* block that owns it; NULL: all blocks */
    unsigned char *seen;      /* a byte for each byte, 1 if that was written; NULL: not recorded */
    int is_kept;              /* 1 if the region is kept between the launches of an operation */
    int is_input;             /* array declared in(...), which no thread may write */
    char *before;             /* contents when the launch began; NULL: not recorded */

    /* State of a check, which end() frees; NULL: none. */
    void (*end)(struct region *region);
    struct race_word *words;
    size_t words_bytes;
    int is_split; /* some words are split into bytes */
};

/* Adds a region that does not overlap another. Returns NULL without memory. */
struct region *region_add(const struct region *what);

/* Returns the region that contains the byte; NULL if there is none. */
struct region *region_find(const void *address);

/* Returns the region that contains the byte, or else the nearest region; NULL if there are no regions. */
struct region *region_nearest(const void *address);

/* Removes regions: those of blocks, those of blocks and of the launch, or all. */
enum region_end { REGION_END_BLOCKS, REGION_END_LAUNCH, REGION_END_ALL };
void region_end(enum region_end which);

/* Calls a function for each region of a block. */
void region_each(const void *block, void (*body)(struct region *));

/* Describes a byte in or near a region, such as "x[17]", "__shared__ tile[1][3]", "byte 12 of dynamic shared
 * memory". */
void region_describe(const struct region *region, const void *address, char *text, size_t size);

#endif
