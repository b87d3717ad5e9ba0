/* mempool.h - pools of device memory. */
#ifndef CF__MEMPOOL_H
#define CF__MEMPOOL_H

#include <stddef.h>

#include <cuferry.h>

#include "driver/driver.h"

struct cf__scope;

/* Memory on the scope's device in the order of `stream`, from the library's pool. On failure `call` is the driver's
 * function that failed, for cf__fail_driver(), and `memory` is 0. */
CUresult cf__mempool_alloc_async(const struct cf__scope *scope, cf_stream stream, size_t bytes, CUdeviceptr *memory,
                                 const char **call);
CUresult cf__mempool_free_async(const struct cf__scope *scope, cf_stream stream, CUdeviceptr memory, const char **call);

/* Whether that is a pool's: without one it is memory of a context, which goes with that. */
int cf__mempool_exists(int device);

/* Gives back what the pool of the scope's device keeps and nobody uses; whether there may be any. */
int cf__mempool_trim(const struct cf__scope *scope);

/* Lets the GPU `device` reach the pool of the GPU `peer`, or no longer. */
CUresult cf__mempool_share(const struct cf__driver *driver, int device, int peer, int is_on);

/* At cf_shutdown() every pool; at cf_device_reset() that of a GPU, CUDA being in use. A pool that cannot be
 * destroyed stays. */
int cf__mempools_destroy(const struct cf__driver *driver);
int cf__mempool_destroy(const struct cf__driver *driver, int device);
void cf__mempools_forget(void); /* without the driver */

#endif
