/* transfer.h - copies through pinned buffers. */
#ifndef CF__TRANSFER_H
#define CF__TRANSFER_H

#include <stddef.h>

#include "driver/driver.h"
#include "staging/rows.h"

struct cf__buffer;
struct cf__scope;
struct cf__staging_set;

/* Looks at elements that have come into a buffer, from any thread: `bytes` of them from byte `begin` of the array on. 0: the
 * rest of the array need not be looked at. */
typedef int cf__transfer_check(void *checks, const void *elements, size_t begin, size_t bytes);

/* An array on its way between host memory and a device, where its elements lie alike. */
struct cf__transfer {
    const char *name;   /* that messages have */
    char *host;         /* its first element */
    CUdeviceptr device; /* likewise */
    struct cf__rows rows;
    size_t bytes;              /* of its elements */
    cf__transfer_check *check; /* of elements on the way in, */
    void *checks;              /* with this; NULL: none */
    size_t begin;              /* in the queue; written by cf__staging_transfer() */
    int is_in, is_out;         /* for a call in parts: which ways it goes, */
    int is_pinned;             /* and that it needs no buffers */
};

/* Moves arrays to the device, in the order of the set's stream and with a look at their ranges: where an element is
 * outside not all need be moved, but all elements were looked at that come before it, those of other ranges too. Parts
 * with ranges stand first. Or moves them back, and is complete when it returns. */
int cf__staging_transfer(const struct cf__scope *scope, struct cf__staging_set *set, const char *function,
                         struct cf__transfer transfers[], size_t count, int to_host);

/* Copies between pageable host memory and memory of the scope's device, behind what the default stream holds; complete
 * when it returns. */
int cf__staging_copy(const struct cf__scope *scope, const char *function, void *device, void *host, size_t bytes,
                     int to_host);

/* Sees to it that a buffer is there and holds so many bytes; its latest copy is waited for where `is_idle` asks for that.
 * On failure `call` is the driver's function. */
CUresult cf__buffer_prepare(const struct cf__scope *scope, struct cf__buffer *buffer, size_t bytes, int is_idle,
                            const char **call);

/* Marks the end of what was enqueued from or to a buffer. */
CUresult cf__buffer_mark(const struct cf__scope *scope, struct cf__buffer *buffer, CUstream stream);

#endif
