/* saxpy_kernel.h - CPU body and parameters of the kernel out = a x + y, for descriptors made by hand. */
#ifndef SAXPY_KERNEL_H
#define SAXPY_KERNEL_H

#include "handmade_kernel.h"

static void saxpy(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    float a = *(const float *)launch->args[0];
    const float *x = *(const float *const *)launch->args[1], *y = *(const float *const *)launch->args[2];
    float *out = *(float *const *)launch->args[3];
    uint64_t n = *(const uint64_t *)launch->args[4];
    for (uint64_t i = begin * launch->block.x; i < end * launch->block.x && i < n; i++)
        out[i] = a * x[i] + y[i];
}

static const cf_expr saxpy_extent = NUMBER("n", 4);
static const cf_param saxpy_params[] = {
    VALUE("a", float, CF_F32),
    ARRAY_1D("x", float, CF_F32, CF_IN, saxpy_extent),
    ARRAY_1D("y", float, CF_F32, CF_IN, saxpy_extent),
    ARRAY_1D("out", float, CF_F32, CF_OUT, saxpy_extent),
    VALUE("n", uint64_t, CF_U64),
};

#endif
