/* infer.h - works out the scalars that the arrays' shapes tell, and the shapes that the scalars tell. */
#ifndef INFER_H
#define INFER_H

#include <cuferry/registry.h>

#include "kernel/argument.h"
#include "base/message.h"

/* Infers every integer that is not given from the shapes of the arrays that are, checks that all of them agree, and
 * describes the outputs. An array whose file has as many dimensions as its declaration is compared dimension by
 * dimension; where one of the two has a single dimension, by the number of elements. A file has whole rows, as long as
 * the pitch; past a section that begins behind element 0 it may have more of them. */
int infer_arguments(const cf_kernel *kernel, struct argument *arguments, struct message *message);

#endif
