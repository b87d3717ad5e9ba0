/* infer.h - works out the scalars that the arrays' shapes tell, and the shapes that the scalars tell. */
#ifndef INFER_H
#define INFER_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "argument.h"
#include "message.h"

/* Infers every integer that is not given from the extents of the arrays that are, checks that all of them agree, and
 * describes the outputs. An array whose file has as many dimensions as its declaration is compared dimension by
 * dimension; where one of the two has a single dimension, by the number of elements. */
int infer_arguments(const cf_kernel *kernel, struct argument *arguments, struct message *message);

/* Evaluates an expression over the arguments; -1 where it overflows, divides by 0 or reads an absent one. */
int infer_evaluate(const cf_kernel *kernel, const struct argument *arguments, const cf_expr *expr, int64_t *value);

#endif
