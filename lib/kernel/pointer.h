/* pointer.h - checks pointer arguments. */
#ifndef CF__POINTER_H
#define CF__POINTER_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "driver/driver.h"

struct cf__scope;

/* Adds bytes to a pointer. Computes with integers, because the pointer of an array with a lower bound may point outside
 * of its allocation. */
static inline void *cf__forward(const void *pointer, size_t bytes)
{
    return (void *)((uintptr_t)pointer + bytes);
}

static inline void *cf__backward(const void *pointer, size_t bytes)
{
    return (void *)((uintptr_t)pointer - bytes);
}

/* A pointer argument that was checked. */
struct cf__pointer {
    void *usable;       /* address on the device, or the unchanged argument if `is_staged` */
    int is_staged;      /* 1 for host memory that the device cannot access */
    int is_pinned;      /* 1 for page-locked host memory that the device can access */
    cf_section section; /* section of the array's elements */
};

/* A range of device memory that contained an earlier pointer of the call. It may contain the next one too. */
struct cf__range_hint {
    CUdeviceptr begin;
    size_t size; /* bytes of the range; 0: no hint yet */
};

/* Computes the section of pointer argument `i` and checks its alignment; returns a status. `begin` is the address of
 * the section, or NULL for an array without elements, and for a NULL pointer without an extent. */
int cf__measure_argument(const cf_kernel *kernel, uint32_t i, void *const args[], cf_section *section, void **begin);

/* Returns 1 if `bytes` bytes at `pointer` are memory of the scope's GPU. Uses and updates `hint`, to save driver
 * calls. */
int cf__is_on_device(const struct cf__scope *scope, int device, const void *pointer, size_t bytes,
                     struct cf__range_hint *hint);

/* Checks pointer argument `i` of a kernel that runs in `scope` on device `device`, and fills `pointer`; returns a
 * status. */
int cf__check_pointer(const cf_kernel *kernel, uint32_t i, void *const args[], const struct cf__scope *scope,
                      int device, struct cf__range_hint *hint, struct cf__pointer *pointer);

#endif
