/* copies_in_default.h - a driver that counts large copies in the default stream, where they would wait for other
 * libraries' work. */
#ifndef COPIES_IN_DEFAULT_H
#define COPIES_IN_DEFAULT_H

#include "context/drivers.h"
#include "driver/driver.h"

enum { LARGE_COPY = 1 << 18 }; /* bytes; chunks are larger, arrays that are copied in one piece are smaller */

static struct cf__driver driver_below, counting_copies;
static int in_default; /* atomic */

static CUresult count_copy(CUdeviceptr target, CUdeviceptr from, size_t bytes, CUstream stream)
{
    __atomic_fetch_add(&in_default, !stream && bytes >= LARGE_COPY, __ATOMIC_RELAXED);
    return driver_below.cuMemcpyAsync(target, from, bytes, stream);
}

__attribute__((visibility("default"))) const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    if (driver->is_cpu)
        return driver;
    driver_below = counting_copies = *driver;
    counting_copies.cuMemcpyAsync = count_copy;
    return &counting_copies;
}

#endif
