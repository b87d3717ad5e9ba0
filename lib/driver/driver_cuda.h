/* driver_cuda.h - the GPUs' driver. */
#ifndef CF__DRIVER_CUDA_H
#define CF__DRIVER_CUDA_H

#include <stddef.h>

struct cf__driver;

/* Fills `driver` from libcuda.so.1. Returns CF_OK, 1 if there is no driver or no GPU, or another status if a GPU exists
 * but cannot be used. Unless it returns CF_OK, writes the cause in one line to `reason`, of `size` bytes. */
int cf__driver_cuda_fill(struct cf__driver *driver, char *reason, size_t size);

/* Returns 1 if any part of the process has loaded the driver. */
int cf__driver_cuda_is_loaded(void);

/* The lock of cf__driver_cuda_is_loaded(), which other searches for loaded libraries also take. */
void cf__driver_search_lock(void);
void cf__driver_search_unlock(void);

#endif
