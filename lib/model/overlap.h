/* overlap.h - checks which arrays of a kernel may share memory. */
#ifndef CF__OVERLAP_H
#define CF__OVERLAP_H

#include <stdint.h>

#include <cuferry/registry.h>

/* Returns 1 if the kernel restricts which of its arrays may share memory. */
static inline int cf__has_overlap_rules(const cf_kernel *kernel)
{
    return kernel->restricts || kernel->in_place || kernel->nzeros > 0;
}

/* The memory that two parameters may share. */
enum cf__sharing {
    CF__SHARE_ANY,  /* any bytes */
    CF__SHARE_NONE, /* no byte */
    CF__SHARE_ALL   /* no byte, or the whole array */
};

/* Returns the rule for parameters `i` and `j` of a kernel. */
enum cf__sharing cf__sharing_of(const cf_kernel *kernel, uint32_t i, uint32_t j);

/* Returns 1 if elements of two non-empty arrays with the same index have the same address. `first` and `second` are the
 * addresses of their first elements. */
int cf__are_same_array(const cf_kernel *kernel, uint32_t i, const cf_section *of_first, uintptr_t first, uint32_t j,
                       const cf_section *of_second, uintptr_t second);

/* Fails if arrays share memory that they must not share by the kernel's rules. `given` has the caller's pointers,
 * `used` the addresses at which the device accesses the same memory. Both lists are checked. */
int cf__check_overlap(const cf_kernel *kernel, void *const given[], void *const used[]);

#endif
