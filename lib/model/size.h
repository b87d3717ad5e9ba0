/* size.h - checks of arguments, and the size of a launch. */
#ifndef CF__SIZE_H
#define CF__SIZE_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "model/descriptor.h"

/* Returns 1 if a launch has no threads. */
static inline int cf__size_is_empty(const cf_launch_size *size)
{
    return !size->grid[0] || !size->grid[1] || !size->grid[2];
}

/* Checks scalars, extents and NULL pointers; returns a status, and reports an error unless `report` is 0. */
int cf__model_check(const cf_kernel *kernel, void *const args[], int report);

/* Checks the arguments like cf__model_check() and computes the size of the launch, within the limits of all devices;
 * returns a status. `chosen`: threads of a block of block(auto); 0: not known, and then the grid only tells if there is
 * work. */
int cf__model_size(const cf_kernel *kernel, void *const args[], uint32_t chosen, cf_launch_size *size, int report);

/* As cf_launch_size_body, for a kernel without a compiled one, such as one of a program. */
int cf__model_interpret(const cf_kernel *kernel, void *const args[], cf_launch_size *size);

/* Checks the arguments and computes the size of a usual launch. Returns 0 if the slow path has to do so, which finds and
 * reports errors. */
static inline int cf__model_quick(const cf_kernel *kernel, void *const args[], cf_launch_size *size)
{
    return cf__descriptor_ok(kernel) && args &&
           (kernel->sizes ? kernel->sizes(args, size) : cf__model_interpret(kernel, args, size));
}

/* Checks the number of threads of host(grid(...)); returns a status. Each CPU thread evaluates the expression again and
 * has no way to report an error. */
int cf__model_check_cpu_grid(const cf_kernel *kernel, void *const args[]);

#endif
