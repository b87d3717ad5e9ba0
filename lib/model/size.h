/* size.h - checks arguments and computes the size of a launch. */
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

/* Checks scalars, extents and NULL pointers; returns a status. */
int cf__model_check(const cf_kernel *kernel, void *const args[]);

/* Checks the arguments like cf__model_check() and computes the size of the launch, within the limits of all devices;
 * returns a status. `chosen` is the number of threads in a block of block(auto), or 0 if it is unknown. With 0, the
 * grid only tells if there is work. */
int cf__model_size(const cf_kernel *kernel, void *const args[], uint32_t chosen, cf_launch_size *size);

/* Computes the size like cf__model_size(), and leaves the thread's last error as it was. Returns 1 if the arguments are
 * valid and the launch has threads. */
int cf__model_try_size(const cf_kernel *kernel, void *const args[], uint32_t chosen, cf_launch_size *size);

/* Implements cf_launch_size_body for a kernel without a compiled body, such as a kernel of a program. */
int cf__model_interpret(const cf_kernel *kernel, void *const args[], cf_launch_size *size);

/* Checks the arguments and computes the size of a launch in the common cases. Returns 0 in all other cases and for
 * errors; the caller then takes the slow path, which reports the errors. */
static inline int cf__model_quick(const cf_kernel *kernel, void *const args[], cf_launch_size *size)
{
    return cf__descriptor_ok(kernel) && args &&
           (kernel->sizes ? kernel->sizes(args, size) : cf__model_interpret(kernel, args, size));
}

/* Computes the size class of a call: the binary logarithm of the bytes that it reads and writes. Returns a status. */
int cf__model_class(const cf_kernel *kernel, void *const args[], int *size_class);

/* Checks the number of threads of host(grid(...)); returns a status. The check precedes the launch, because the
 * CPU's threads evaluate the expression again and cannot report an error. */
int cf__model_check_cpu_grid(const cf_kernel *kernel, void *const args[]);

#endif
