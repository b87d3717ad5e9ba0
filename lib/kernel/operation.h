/* operation.h - runs operations. */
#ifndef CF__OPERATION_H
#define CF__OPERATION_H

#include <cuferry.h>
#include <cuferry/registry.h>

struct cf__loaded;
struct cf__scope;

/* Returns 1 if the pointer is that of an empty array of an operation that the calling thread is in. Launches within the
 * operation may pass it to a parameter without an extent. */
int cf__operation_has_empty(const void *pointer);

/* Loads all kernels of an operation into the scope's context; fails if the operation cannot be enqueued there. */
int cf__operation_prepare(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded **loaded);

/* Enqueues the launches of an operation after cf__operation_prepare(), with checked arguments that include scratch
 * memory. */
int cf__operation_enqueue(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded,
                          cf_stream stream, void *const args[]);

#endif
