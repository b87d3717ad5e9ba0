/* current_operation.h - the operation that a thread is enqueuing. */
#ifndef CF__CURRENT_OPERATION_H
#define CF__CURRENT_OPERATION_H

#include <cuferry/registry.h>

/* An operation that is being enqueued. */
struct cf__operation_frame {
    const cf_kernel *kernel;
    void *const *args;
    const struct cf__operation_frame *outer; /* frame of the operation that contains this one, or NULL */
};

/* The calling thread's innermost frame, or NULL. In a child that the log's callback forks, it is NULL. */
extern _Thread_local const struct cf__operation_frame *cf__current_operation;

#endif
