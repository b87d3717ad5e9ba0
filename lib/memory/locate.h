/* locate.h - finds the driver, device and allocation of a pointer. */
#ifndef CF__LOCATE_H
#define CF__LOCATE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

struct cf__scope;

/* Memory that a pointer lies in. */
struct cf__memory {
    const struct cf__driver *driver; /* driver that allocated or registered the memory; NULL: ordinary host memory */
    CUcontext context;               /* context; NULL: unknown, for example for memory of a pool */
    int is_device;                   /* 1 for device memory, which the CPU can read only if its own driver has allocated
                                      * it */
    int is_pinned;                   /* 1 for host memory that is page-locked for a GPU */
    int device;                      /* CF_HOST or the number of a GPU */
    void *usable;                    /* the pointer's address on that device */
    const void *begin;               /* start of the allocation; NULL: unknown */
    size_t left;                     /* bytes from the pointer to the end of the allocation; SIZE_MAX: unknown */
    int is_bounded;                  /* 1 if every array has to end within `left` bytes; 0 for registered host memory */
};

/* Finds the memory of a pointer. Fails, with a message for `function`, if a driver reports an error; the caller must
 * not treat the pointer as ordinary host memory then. */
int cf__locate(const char *function, const void *pointer, struct cf__memory *memory);

/* Returns 1 if the CPU can read the address, which a system call determines. An unreadable address that no driver knows
 * is either invalid, or graph memory whose capture has not ended. */
int cf__is_readable(const void *pointer);

/* Fails because argument `name` of `function` points to no memory; returns CF_EINVAL. */
int cf__fail_no_memory(const char *function, const char *name, const void *pointer);

/* Returns the bytes from an address to the end of the memory that CUDA has registered or allocated there; SIZE_MAX:
 * unknown. */
size_t cf__bytes_left(uintptr_t address);

/* Enters the context of memory that a driver knows, or a context of its device if the memory belongs to none; returns a
 * status. */
int cf__enter_memory(struct cf__scope *scope, const char *function, const struct cf__memory *memory);

#endif
