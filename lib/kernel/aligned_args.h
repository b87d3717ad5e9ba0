/* aligned_args.h - arguments of a launch on the CPU whose kernel casts pointers to types of a wider alignment. */
#ifndef CF__ALIGNED_ARGS_H
#define CF__ALIGNED_ARGS_H

#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

struct cf__scope;

/* Arguments of one launch. */
struct cf__aligned_args {
    void *const *args;               /* the caller's, or those with addresses of copies */
    void *const *given;              /* the caller's */
    struct cf__aligned_copy *copies; /* an entry for each parameter; NULL: all arrays are aligned */
};

/* Returns 1 if the kernel's CPU body casts pointers of an array to types of a wider alignment. */
static inline int cf__has_aligned_args(const cf_kernel *kernel)
{
    uint32_t i = 0;
    while (i < kernel->nparams && !kernel->params[i].cpu_align)
        i++;
    return i < kernel->nparams;
}

/* Returns CF_OK if every array is aligned as the kernel's casts need it; else fails. For launches in graphs, whose
 * arrays are not copied. */
int cf__aligned_args_check(const cf_kernel *kernel, void *const args[]);

/* Copies arrays that are not aligned as the kernel's casts need it, for a launch that the caller runs next; returns a
 * status. A captured launch with such an array fails. */
int cf__aligned_args_begin(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[],
                           struct cf__aligned_args *aligned);

/* Copies written arrays back after the launch and frees the copies. Not called if cf__aligned_args_begin() failed. */
void cf__aligned_args_end(const cf_kernel *kernel, const struct cf__aligned_args *aligned);

#endif
