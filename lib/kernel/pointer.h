/* pointer.h - pointer arguments. */
#ifndef CF__POINTER_H
#define CF__POINTER_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/driver.h"
#include "kernel/section.h"

struct cf__scope;

/* An array's pointer need not lie where its elements are: it is moved as a number. */
static inline void *cf__forward(const void *pointer, size_t bytes)
{
    return (void *)((uintptr_t)pointer + bytes);
}

static inline void *cf__backward(const void *pointer, size_t bytes)
{
    return (void *)((uintptr_t)pointer - bytes);
}

/* A pointer argument, checked against the memory it lies in. */
struct cf__pointer {
    void *usable;               /* its address on the device; the argument as it is where `is_staged` is set */
    int is_staged;              /* host memory that the device cannot reach */
    int is_pinned;              /* host memory that it can, and copies by itself */
    struct cf__section section; /* of an array */
};

/* Memory of the call's device that a pointer of the call was found in, which the next one may lie in, too. */
struct cf__range_hint {
    CUdeviceptr begin;
    size_t size; /* 0: none so far */
};

/* The section that a pointer argument is for, and whether there is nothing to look at: no elements, or NULL where there
 * may be one. CF_EINVAL for one that is not aligned. */
int cf__measure_argument(const cf_kernel *kernel, uint32_t i, void *const args[], struct cf__section *section,
                         int *is_empty);

/* Whether so many bytes at a pointer are memory of the scope's GPU, which most are. */
int cf__is_on_device(const struct cf__scope *scope, int device, const void *pointer, size_t bytes,
                     struct cf__range_hint *found);

/* For a kernel that runs at `scope`, on device number `device`. */
int cf__check_pointer(const cf_kernel *kernel, uint32_t i, void *const args[], const struct cf__scope *scope,
                      int device, struct cf__range_hint *found, struct cf__pointer *pointer);

#endif
