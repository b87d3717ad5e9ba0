/* transfer.h - copies arrays between pageable host memory and a GPU through pinned buffers. */
#ifndef CF__TRANSFER_H
#define CF__TRANSFER_H

#include <stddef.h>

#include "model/rows.h"
#include "driver/driver.h"

struct cf__scope;
struct cf__staging_set;

/* Checks the elements in a buffer: `bytes` bytes, which begin at byte `begin` of the array. Any thread may call it.
 * Returns 0 if the rest of the array needs no check. */
typedef int cf__transfer_check(void *checks, const void *elements, size_t begin, size_t bytes);

/* An array that is copied between host memory and a device, where it has the same layout. */
struct cf__transfer {
    const char *name;   /* name of the array, for error messages */
    char *host;         /* first element in host memory */
    CUdeviceptr device; /* first element on the device */
    struct cf__rows rows;
    size_t bytes;              /* bytes of the array's elements */
    cf__transfer_check *check; /* function that checks elements on their way to the device */
    void *checks;              /* argument of check(); NULL: no checks */
    size_t begin;              /* offset of the array in the queue, in bytes; set by cf__staging_transfer() */
    int is_in, is_out;         /* directions in which a call in chunks copies the array */
    int is_pinned;             /* 1 if a call in chunks needs no buffers for the array */
};

/* Copies arrays to the device, in the order of the set's stream, or back. Copies back are complete at the return.
 *
 * Arrays with checks come first. An element out of range ends the copies early, but the checks of all elements before
 * it and of all other arrays are completed. Returns a status, whose message names `function`. */
int cf__staging_transfer(const struct cf__scope *scope, struct cf__staging_set *set, const char *function,
                         struct cf__transfer transfers[], size_t count, int to_host);

/* Copies between pageable host memory and memory of the scope's device, after the work of the default stream. The copy
 * is complete when the function returns. Returns a status, whose message names `function`. */
int cf__staging_copy(const struct cf__scope *scope, const char *function, void *device, void *host, size_t bytes,
                     int to_host);

#endif
