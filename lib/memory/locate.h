/* locate.h - the memory that a pointer lies in. */
#ifndef CF__LOCATE_H
#define CF__LOCATE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

struct cf__scope;

/* Memory that a pointer lies in. */
struct cf__memory {
    const struct cf__driver *driver; /* driver that allocated or registered it; NULL: ordinary host memory */
    CUcontext context;               /* NULL: not known, as for memory of a pool */
    int is_device;                   /* device memory, which the CPU can read only if the driver is the CPU's */
    int is_pinned;                   /* host memory, page-locked for a GPU */
    int device;                      /* CF_HOST or number of a GPU */
    void *usable;                    /* address on that device */
    const void *begin;               /* start of the allocation; NULL: not known */
    size_t left;                     /* bytes from the pointer to the end of the allocation; SIZE_MAX: not known */
    int is_bounded; /* an array cannot continue after that end, as it can after registered host memory */
};

/* Looks up the memory of a pointer. Fails, with a message for `function`, if a driver does not answer: the caller must
 * not take the pointer for ordinary host memory then. */
int cf__locate(const char *function, const void *pointer, struct cf__memory *memory);

/* Returns 1 if the CPU can read at an address; takes a system call. An unreadable address that no driver knows is no
 * memory, or memory of a graph whose capture has not ended. */
int cf__is_readable(const void *pointer);

/* Fails for argument `name` of `function`, which points to no memory; returns CF_EINVAL. */
int cf__fail_no_memory(const char *function, const char *name, const void *pointer);

/* Returns the bytes from an address to the end of the memory that CUDA has registered or allocated there; SIZE_MAX: not
 * known. */
size_t cf__bytes_left(uintptr_t address);

/* Enters the context of memory that a driver knows, or a context of its device if the memory has none; returns a
 * status. */
int cf__enter_memory(struct cf__scope *scope, const char *function, const struct cf__memory *memory);

#endif
