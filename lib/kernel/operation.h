/* operation.h - operations. */
#ifndef CF__OPERATION_H
#define CF__OPERATION_H

#include <cuferry.h>
#include <cuferry/registry.h>

struct cf__loaded;
struct cf__scope;

/* An operation that is enqueued, and those around it; cf__within is the innermost one of the calling thread. */
struct cf__operation_frame {
    const cf_kernel *kernel;
    void *const *args;
    const struct cf__operation_frame *outer;
};

/* Whether `pointer` is that of an array without elements of an operation that the thread is in: launches may be given it
 * for a parameter that has no extent. */
int cf__operation_has_empty(const void *pointer);

/* Loads all that an operation enqueues; refuses what cannot be enqueued here. */
int cf__operation_ready(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded **loaded);

/* Enqueues what an operation is made of; it is ready, its arguments were checked, and scratch memory is among them. */
int cf__operate(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded *loaded, cf_stream stream,
                void *const args[]);

#endif
