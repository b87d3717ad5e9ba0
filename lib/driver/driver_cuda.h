/* driver_cuda.h - the GPUs' driver. */
#ifndef CF__DRIVER_CUDA_H
#define CF__DRIVER_CUDA_H

#include <stddef.h>

struct cf__driver;

/* Fills `driver` from libcuda.so.1. Returns CF_OK; 1 if there is no driver or no GPU; another status if there is a GPU
 * that cannot be used. Unless CF_OK, `reason`, of `size` bytes, has the cause in one line. */
int cf__driver_cuda_fill(struct cf__driver *driver, char *reason, size_t size);

/* Returns 1 if any part of the process has loaded the driver. */
int cf__driver_cuda_is_loaded(void);

/* The lock of cf__driver_cuda_is_loaded(), for other searches for loaded libraries, too. */
void cf__driver_search_lock(void);
void cf__driver_search_unlock(void);

#endif
