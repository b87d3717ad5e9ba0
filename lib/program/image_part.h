/* image_part.h - describes a part of an external image for its checks. */
#ifndef CF__IMAGE_PART_H
#define CF__IMAGE_PART_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>

#include "base/error.h"

/* Targets of an image, encoded as in cf_image. */
enum { CF__INSPECTED_TARGETS = 64 };
struct cf__targets {
    uint16_t sm[CF__INSPECTED_TARGETS + 1], ptx[CF__INSPECTED_TARGETS + 1]; /* lists that end with 0 */
    int has_lto;
};

struct cf__definitions;
struct cf__link_target;

/* Part of an image: the whole image, or an entry of a fatbin. */
struct cf__image_part {
    const char *function, *what; /* names for error messages */
    const unsigned char *data;
    size_t size;
    struct cf__targets *targets;
    int is_input;                         /* 1 for an input of a link, which is relocatable code */
    const struct cf__link_target *target; /* target of the link */
    struct cf__definitions *definitions;  /* collects the symbols, or NULL */
};

/* Fails for a part. The format continues the text "function: the cubin ". */
#define CF__REFUSE_PART(part, format, ...) \
    cf__fail(CF_EIMAGE, "%s: the %s " format, (part)->function, (part)->what, __VA_ARGS__)

static inline int cf__is_within_part(size_t whole, uint64_t offset, uint64_t bytes)
{
    return offset <= whole && bytes <= whole - offset;
}

static inline void cf__list_target(uint16_t list[], unsigned int target)
{
    int i = 0;
    while (i < CF__INSPECTED_TARGETS && list[i] && list[i] != target)
        i++;
    if (i < CF__INSPECTED_TARGETS)
        list[i] = (uint16_t)target;
}

#endif
