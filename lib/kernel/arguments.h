/* arguments.h - checks of arguments, and the size of a launch. */
#ifndef CF__ARGUMENTS_H
#define CF__ARGUMENTS_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "model/descriptor.h"

struct cf__loaded;
struct cf__scope;

/* Checks the scalars and computes the launch size of a kernel without compiled functions, such as one of a program.
 * Returns 0 if the slow path has to do so. */
int cf__interpret_sizes(const cf_kernel *kernel, void *const args[], cf_launch_size *size);

/* The same for any kernel, with its compiled functions if it has them. The slow path finds and reports errors. */
static inline int cf__arguments_ok(const cf_kernel *kernel, void *const args[], cf_launch_size *size)
{
    return cf__descriptor_ok(kernel) && args &&
           (kernel->sizes ? kernel->sizes(args, size) : cf__interpret_sizes(kernel, args, size));
}

/* Checks the descriptor, scalars, extents and NULL pointers; returns a status. */
int cf__check_arguments(const cf_kernel *kernel, void *const args[]);

/* Size of a launch, within the limits of all devices. */
struct cf__grid {
    uint32_t grid[CF_GRID_DIMS], block[CF_GRID_DIMS];
    int shared;                /* dynamic shared memory in bytes */
    int is_empty;              /* an extent of the grid is 0 */
    struct cf__loaded *loaded; /* loaded kernel if block(auto) needed it, else NULL */
};

/* Computes the size of a launch in the scope; block(auto) loads the kernel. Returns a status. */
int cf__compute_grid(const cf_kernel *kernel, const struct cf__scope *scope, void *const args[], struct cf__grid *size);

/* Checks the number of threads of host(grid(...)). Each CPU thread evaluates the expression again and has no way to
 * report an error. */
int cf__check_cpu_grid(const cf_kernel *kernel, void *const args[]);

#endif
