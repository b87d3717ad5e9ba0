/* infer.h - computes scalars from the shapes of arrays, and shapes from scalars. */
#ifndef INFER_H
#define INFER_H

#include <cuferry/registry.h>

#include "kernel/argument.h"
#include "base/message.h"

/* Infers integers that are not given from shapes of given arrays, checks that all agree, and describes the outputs. A
 * file with as many dimensions as declared is compared dimension by dimension; if either has one dimension, by the
 * number of elements. A file has complete rows of the pitch, and may have more rows after the section. */
int infer_arguments(const cf_kernel *kernel, struct argument *arguments, struct message *message);

#endif
