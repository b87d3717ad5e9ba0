/* locate.h - the memory that a pointer lies in. */
#ifndef CF__LOCATE_H
#define CF__LOCATE_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

struct cf__scope;

/* What is known of a pointer. */
struct cf__memory {
    const struct cf__driver *driver; /* that allocated or registered it; NULL: ordinary host memory */
    CUcontext context;
    int is_device;     /* not readable by the CPU, unless the driver is the host */
    int is_pinned;     /* the CPU's, page-locked for a GPU */
    int device;        /* number of its device: CF_HOST or a GPU's */
    void *usable;      /* its address on that device */
    const void *begin; /* of its allocation; NULL where not known */
    size_t left;       /* bytes from the pointer to the end of that; SIZE_MAX where not known */
    int is_bounded;    /* nothing lies behind that end; behind registered host memory may lie more of an array */
};

/* Fails, for `function`, where a driver does not answer: the pointer must then not be taken for ordinary host
 * memory. */
int cf__locate(const char *function, const void *pointer, struct cf__memory *memory);

/* Whether the CPU can read at an address; a call of the system. What is neither that nor known to a driver is no memory,
 * or that of a graph whose capture has not ended. */
int cf__is_readable(const void *pointer);
int cf__fail_no_memory(const char *function, const char *name, const void *pointer);

/* Bytes from an address to the end of what is registered or allocated there with CUDA; SIZE_MAX where nothing is
 * known. */
size_t cf__left(uintptr_t address);

/* Enters the context of memory of a driver; memory of a pool has none: one of its device. */
int cf__enter_memory(struct cf__scope *scope, const char *function, const struct cf__memory *memory);

#endif
