/* mempool.h - allocates and frees memory in stream order. */
#ifndef CF__MEMPOOL_H
#define CF__MEMPOOL_H

#include <stddef.h>

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

/* Allocates on the scope's device in the order of `stream`, from the library's pool if the device supports pools. On
 * failure, `call` names the driver's function for cf__fail_driver(), and `memory` is 0. */
CUresult cf__mempool_alloc_async(const struct cf__scope *scope, cf_stream stream, size_t bytes, CUdeviceptr *memory,
                                 const char **call);

/* Frees memory of cf__mempool_alloc_async() in the order of `stream`. */
CUresult cf__mempool_free_async(const struct cf__scope *scope, cf_stream stream, CUdeviceptr memory, const char **call);

/* Returns 1 if the device has a pool, which owns the memory allocated here. Otherwise the memory belongs to a context
 * and is freed with it. */
int cf__mempool_exists(int device);

/* Returns unused memory of the scope's device to the driver; returns 1 if there may have been any. */
int cf__mempool_trim(const struct cf__scope *scope);

/* Grants or revokes GPU `device`'s access to the pool of GPU `peer`. */
CUresult cf__mempool_set_access(const struct cf__driver *driver, int device, int peer, int is_on);

/* Destroys all pools, at cf_shutdown(). `driver` is NULL if CUDA is not in use. A pool that cannot be destroyed is
 * kept. */
int cf__mempools_destroy(const struct cf__driver *driver);

/* Destroys the pool of a GPU, at cf_device_reset(). */
int cf__mempool_destroy(const struct cf__driver *driver, int device);
void cf__mempools_forget(void); /* forgets all pools without calling the driver */

#endif
