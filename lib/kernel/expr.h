/* expr.h - expressions over arguments. */
#ifndef CF__EXPR_H
#define CF__EXPR_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Evaluates an expression over a kernel's arguments; CF_EOVERFLOW without detail where it overflows. */
int cf__evaluate(const cf_kernel *kernel, const cf_expr *expr, void *const args[], int64_t *value);

/* Evaluates a real one; CF_EINVAL without detail where it reads what is no number. */
int cf__evaluate_real(const cf_kernel *kernel, const cf_expr *expr, void *const args[], double *value);

/* The integer or bool at `address`; without detail CF_EOVERFLOW past INT64_MAX, CF_EINVAL for other types. */
int cf__integer(cf_type type, const void *address, int64_t *value);

/* Writes "N = 3, g.nx = 4", the values that `count` expressions read; absent expressions are passed over. */
void cf__describe(const cf_kernel *kernel, const cf_expr *const exprs[], size_t count, void *const args[], char *text,
                  size_t size);

#endif
