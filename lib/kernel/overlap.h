/* overlap.h - arrays that are to be apart. */
#ifndef CF__OVERLAP_H
#define CF__OVERLAP_H

#include <stdint.h>

#include <cuferry/registry.h>

struct cf__section;

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
enum cf__sharing cf__sharing_of(const cf_kernel *kernel, uint32_t i, uint32_t j);

/* Whether two arrays that have elements are one, as far as both reach: element [i][j] of the one is that of the other.
 * `first` and `second` are the addresses of their first elements. */
int cf__are_one(const cf_kernel *kernel, uint32_t i, const struct cf__section *of_first, uintptr_t first, uint32_t j,
                const struct cf__section *of_second, uintptr_t second);

/* Fails where two arrays have memory in common that the kernel declares to be apart: at the addresses that were given,
 * or at those at which the device reaches the same memory. */
int cf__check_apart(const cf_kernel *kernel, void *const given[], void *const used[]);

#endif
