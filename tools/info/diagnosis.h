/* sight.h - the sight that a process has of GPUs: the driver, the device files, and the hardware. */
#ifndef SIGHT_H
#define SIGHT_H

#include <stddef.h>

/* Writes the version of NVIDIA's kernel module; "" without one. */
void sight_kernel_module(char *text, size_t size);

/* Writes in plain words why calls run on the CPU, and the next step; "" if they run on a GPU. */
void sight_why_no_gpu(char *text, size_t size);

#endif
