/* region.h - the memory that a checked kernel works on: its arrays, scratch memory, and __shared__ variables. */
#ifndef REGION_H
#define REGION_H

#include <stddef.h>
#include <stdint.h>

enum region_kind { REGION_ARRAY, REGION_SHARED, REGION_DYNAMIC };

struct region {
    char *begin;
    size_t bytes;
    enum region_kind kind;
    const char *name;    /* of the parameter */
    uint32_t element;    /* bytes of one */
    const void *key;     /* of a __shared__ variable: an address that the module's symbols name */
    const void *block;   /* whose it is; NULL: of all */
    unsigned char *seen; /* one byte for each: whether it was written; NULL: nobody asks */
    struct race_word *words;
    size_t words_bytes;
    int is_split; /* some words are */
};

/* Adds a region, whose memory is not in another; NULL without memory. */
struct region *region_add(const struct region *what);

/* The region that has the byte, or NULL. */
struct region *region_find(const void *address);

/* The region that has the byte, or the one that lies nearest in front of it; NULL where there is neither. */
struct region *region_before(const void *address);

/* Ends the regions of kinds above REGION_ARRAY, or all. */
void region_end(int all);

/* Calls a function for each region of a block. */
void region_each(const void *block, void (*body)(struct region *));

/* Says what a byte of a region is: "x[17]", "byte 12 of tile". Past the end, too. */
void region_describe(const struct region *region, const void *address, char *text, size_t size);

#endif
