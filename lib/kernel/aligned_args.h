/* aligned_args.h - copies misaligned arrays for launches on the CPU of a kernel that casts pointers to types of a wider
 * alignment. */
#ifndef CF__ALIGNED_ARGS_H
#define CF__ALIGNED_ARGS_H

#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

struct cf__scope;

/* Arguments of one launch. */
struct cf__aligned_args {
    void *const *args;               /* arguments of the launch: the caller's, or a list with the addresses of copies */
    void *const *given;              /* the caller's arguments */
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

/* Returns CF_OK if every array is aligned for the kernel's casts, and fails otherwise. Launches in graphs need this,
 * because their arrays are not copied. */
int cf__aligned_args_check(const cf_kernel *kernel, void *const args[]);

/* Copies arrays that are misaligned for the casts of a kernel that the caller launches next; returns a status. Fails if
 * the launch is captured and has such an array. */
int cf__aligned_args_begin(const cf_kernel *kernel, const struct cf__scope *scope, cf_stream stream, void *const args[],
                           struct cf__aligned_args *aligned);

/* Copies written arrays back after the launch and frees the copies. The caller omits it if cf__aligned_args_begin()
 * failed. */
void cf__aligned_args_end(const cf_kernel *kernel, const struct cf__aligned_args *aligned);

#endif
