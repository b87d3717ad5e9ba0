/* diagnosis.h - finds out why a process uses no GPU: from the driver, the device files and the hardware. */
#ifndef DIAGNOSIS_H
#define DIAGNOSIS_H

#include <stddef.h>

/* Writes the version of NVIDIA's kernel module; "" without one. */
void diagnosis_kernel_module(char *text, size_t size);

/* Writes why calls run on the CPU and what the user can do about it; "" if they run on a GPU. */
void diagnosis_why_no_gpu(char *text, size_t size);

#endif
