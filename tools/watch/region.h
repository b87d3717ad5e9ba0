/* region.h - the memory that a checked kernel works on: its arrays, scratch memory, __device__ and __shared__ variables. */
#ifndef REGION_H
#define REGION_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/abi.h>

/* REGION_DATA is what the module has of variables at file scope. */
enum region_kind { REGION_ARRAY, REGION_DATA, REGION_SHARED, REGION_DYNAMIC };

struct region {
    char *begin;
    size_t bytes;
    enum region_kind kind;
    const char *name;         /* of the parameter */
    uint32_t element;         /* bytes of one */
    const cf_host_shape *key; /* of a __shared__ variable: an address that the module's symbols name */
    const void *block;        /* whose it is; NULL: of all */
    unsigned char *seen;      /* one byte for each: whether it was written; NULL: nobody asks */
    int is_kept;              /* stays from one launch of an operation to the next */

    /* Of a check, which frees it in end(); NULL where it has none. */
    void (*end)(struct region *region);
    struct race_word *words;
    size_t words_bytes;
    int is_split; /* some words are */
};

/* Adds a region, whose memory is not in another; NULL without memory. */
struct region *region_add(const struct region *what);

/* The region that has the byte, or NULL. */
struct region *region_find(const void *address);

/* The region that has the byte, or the one that lies nearest; NULL where there is none. */
struct region *region_nearest(const void *address);

/* Ends the regions of blocks, with them those of a launch, or all. */
enum region_end { REGION_END_BLOCKS, REGION_END_LAUNCH, REGION_END_ALL };
void region_end(enum region_end which);

/* Calls a function for each region of a block. */
void region_each(const void *block, void (*body)(struct region *));

/* Says what a byte of a region is: "x[17]", "__shared__ tile[1][3]", "byte 12 of dynamic shared memory". Past the end and in front of the begin, too. */
void region_describe(const struct region *region, const void *address, char *text, size_t size);

#endif
