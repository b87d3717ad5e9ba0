/* launch.h - launches. */
#ifndef CF__LAUNCH_H
#define CF__LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "driver/driver.h"
#include "context/inflight.h"
#include "kernel/arguments.h"
#include "kernel/image.h"

struct cf__inflight;
struct cf__scope;

/* Enqueues a kernel whose arguments were checked; supplies its scratch memory. */
int cf__launch(const cf_kernel *kernel, const struct cf__grid *size, const struct cf__scope *scope, cf_stream stream,
               void *const args[]);

/* Whether a launch is one call of the driver; this and what follows is for the short ways of cf_launch() and of the
 * plain call, too. */
static inline int cf__is_one_call(const struct cf__loaded *loaded, const cf_size *size)
{
    return loaded && loaded->is_simple &&
           (size->shared == 0 || (int)size->shared <= __atomic_load_n(&loaded->shared, __ATOMIC_ACQUIRE));
}

static inline struct cf__inflight *cf__note_kernel(const struct cf__loaded *loaded, cf_stream stream)
{
    return loaded->owner->driver->is_cpu ? NULL : cf__inflight_note(loaded->owner, loaded->name, stream);
}

/* The launch that is nothing but a call of the driver. */
static inline CUresult cf__launch_once(const struct cf__driver *driver, const struct cf__loaded *loaded,
                                       const uint32_t grid[], const uint32_t block[], unsigned int shared,
                                       cf_stream stream, void *const args[])
{
    struct cf__inflight *running = cf__inflight_note_again(loaded->context, loaded->name, stream);
    if (__builtin_expect(!running, 0))
        running = cf__note_kernel(loaded, stream);
    CUresult result = driver->cuLaunchKernel(loaded->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                             shared, stream, (void **)(uintptr_t)args, NULL);
    cf__inflight_launched(running);
    return result;
}

#endif
