/* current_operation.c - the operation that a thread is enqueuing. */
#include "base/current_operation.h"

_Thread_local const struct cf__operation_frame *cf__current_operation;
