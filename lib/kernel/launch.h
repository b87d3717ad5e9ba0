/* launch.h - enqueues kernels. */
#ifndef CF__LAUNCH_H
#define CF__LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "driver/driver.h"
#include "context/context.h"
#include "context/inflight.h"
#include "kernel/image.h"

/* Chooses the block of block(auto) and computes the grid for it, which requires loading the kernel. Does not change
 * other sizes, nor the size of a launch without threads. Returns a status. */
int cf__launch_choose_block(const cf_kernel *kernel, const struct cf__scope *scope, void *const args[],
                            cf_launch_size *size);

/* Enqueues a kernel with checked arguments and supplies its scratch memory; returns a status. */
int cf__launch(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope, cf_stream stream,
               void *const args[]);

/* Loads a kernel, or all kernels of an operation, for a launch of this size; returns a status and the kernel's node.
 * The caller sets `*loaded` to the node if it has already found it, else to NULL. */
int cf__launch_prepare(const cf_kernel *kernel, const cf_launch_size *size, const struct cf__scope *scope,
                       void *const args[], struct cf__loaded **loaded);

/* Reports the driver's failure to launch; the kernel's context is current. Queries how many threads the kernel's code
 * allows in a block, which is not known earlier for kernels of programs, and reports a block with more threads. */
int cf__launch_fail(const cf_kernel *kernel, const struct cf__driver *driver, const struct cf__loaded *loaded,
                    const uint32_t block[CF_GRID_DIMS], CUresult result, const char *call);

/* Checks the pointers of a launch, for CF_CHECK=1; returns a status. */
int cf__launch_check_pointers(const cf_kernel *kernel, void *const args[], const struct cf__scope *scope);

/* Returns 1 if a launch is a single driver call. The fast paths of cf_launch() and of the plain call use the functions
 * from here on. */
static inline int cf__is_simple_launch(const struct cf__loaded *loaded, const cf_launch_size *size)
{
    return loaded && loaded->is_simple &&
           (size->shared == 0 || (int)size->shared <= __atomic_load_n(&loaded->shared, __ATOMIC_ACQUIRE));
}

/* Notes a launch for messages about faults; returns NULL on the CPU, or if there is no memory. */
static inline struct cf__inflight *cf__launch_note(const struct cf__loaded *loaded, cf_stream stream)
{
    return loaded->owner->driver->is_cpu
               ? NULL
               : cf__inflight_note(loaded->owner->id, loaded->owner->handle, loaded->name, stream);
}

/* Launches with a single driver call and notes the launch as in flight. */
static inline CUresult cf__launch_simple(const struct cf__driver *driver, const struct cf__loaded *loaded,
                                         const uint32_t grid[], const uint32_t block[], unsigned int shared,
                                         cf_stream stream, void *const args[])
{
    struct cf__inflight *note = cf__inflight_note_again(loaded->context, loaded->name, stream);
    if (__builtin_expect(!note, 0))
        note = cf__launch_note(loaded, stream);
    CUresult result = driver->cuLaunchKernel(loaded->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                             shared, stream, (void **)(uintptr_t)args, NULL);
    cf__inflight_launched(note);
    return result;
}

#endif
