/* arguments.h - checks of arguments, and the size of a launch. */
#ifndef CF__ARGUMENTS_H
#define CF__ARGUMENTS_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "base/descriptor.h"

struct cf__loaded;
struct cf__scope;

/* Whether the kernel's compiled checks find everything in order, and the size of the launch then. Where not, the
 * functions below tell what is to be done. */
static inline int cf__in_order(const cf_kernel *kernel, void *const args[], cf_size *size)
{
    return cf__descriptor_ok(kernel) && kernel->sizes && args && kernel->sizes(args, size);
}

/* Checks the descriptor, the scalars, and NULL against the extents. */
int cf__check_arguments(const cf_kernel *kernel, void *const args[]);

/* Grid and block of a launch, checked against the limits. */
struct cf__grid {
    uint32_t grid[CF_GRID_DIMS], block[CF_GRID_DIMS];
    int shared;                /* bytes of dynamic shared memory */
    int is_empty;              /* there is nothing to launch */
    struct cf__loaded *loaded; /* the kernel, where its block had to be asked for; else NULL */
};
int cf__compute_grid(const cf_kernel *kernel, const struct cf__scope *scope, void *const args[], struct cf__grid *size);

/* Checks the number of threads that host(grid(...)) gives, which each CPU thread would evaluate anew. */
int cf__check_cpu_grid(const cf_kernel *kernel, void *const args[]);

#endif
