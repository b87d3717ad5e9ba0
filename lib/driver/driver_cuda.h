/* driver_cuda.h - the GPUs' driver. */
#ifndef CF__DRIVER_CUDA_H
#define CF__DRIVER_CUDA_H

#include <stddef.h>

struct cf__driver;

/* Fills `driver` from libcuda.so.1. CF_OK; 1 where there is no driver or no device; else a status: there is a GPU and
 * it cannot be used. In both latter cases `reason` says why, in one line without the library's name in front. */
int cf__driver_cuda(struct cf__driver *driver, char *reason, size_t size);

/* Whether another part of the process has it loaded. */
int cf__driver_cuda_is_loaded(void);

#endif
