/* pointer.h - pointer arguments. */
#ifndef CF__POINTER_H
#define CF__POINTER_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "model/section.h"
#include "driver/driver.h"

struct cf__scope;

/* Pointer arithmetic on integers: the pointer of an array with a lower bound may lie outside its allocation. */
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
    void *usable;       /* address on the device; the unchanged argument if `is_staged` is set */
    int is_staged;      /* host memory that the device cannot reach */
    int is_pinned;      /* page-locked host memory that the device reaches */
    cf_section section; /* elements of an array */
};

/* Device memory that contained an earlier pointer of the call, and may contain the next pointer. */
struct cf__range_hint {
    CUdeviceptr begin;
    size_t size; /* bytes; 0: no hint yet */
};

/* Computes the section of pointer argument `i` and checks its alignment; returns a status. `is_empty`: an array without
 * elements, or a NULL pointer without an extent. */
int cf__measure_argument(const cf_kernel *kernel, uint32_t i, void *const args[], cf_section *section, int *is_empty);

/* Returns 1 if `bytes` at `pointer` are memory of the scope's GPU; `hint` speeds this up and is updated. */
int cf__is_on_device(const struct cf__scope *scope, int device, const void *pointer, size_t bytes,
                     struct cf__range_hint *hint);

/* Checks pointer argument `i` of a kernel that runs in `scope` on device `device`, and fills `pointer`; returns a
 * status. */
int cf__check_pointer(const cf_kernel *kernel, uint32_t i, void *const args[], const struct cf__scope *scope,
                      int device, struct cf__range_hint *hint, struct cf__pointer *pointer);

#endif
