/* infer.h - computes scalars from the shapes of arrays, and shapes from scalars. */
#ifndef INFER_H
#define INFER_H

#include <cuferry/registry.h>

#include "kernel/argument.h"
#include "base/message.h"

/* Infers missing integers from the shapes of the given arrays, checks that all agree, and describes the outputs. A file
 * with as many dimensions as declared is compared dimension by dimension; if the file or the declaration has one
 * dimension, numbers of elements are compared. A file's rows have the length of the pitch, and more rows may follow
 * after the section. */
int infer_arguments(const cf_kernel *kernel, struct argument *arguments, struct message *message);

#endif
