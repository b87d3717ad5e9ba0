/* expr.h - expressions over arguments. */
#ifndef CF__EXPR_H
#define CF__EXPR_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Evaluates an integer expression over a kernel's arguments. Returns CF_EOVERFLOW on overflow or division by 0, and
 * CF_EINVAL if an operand is not an integer. The caller adds the detail. */
int cf__evaluate(const cf_kernel *kernel, const cf_expr *expr, void *const args[], int64_t *value);

/* Evaluates a real expression. Returns CF_EINVAL if an operand is not a number. The caller adds the detail. */
int cf__evaluate_real(const cf_kernel *kernel, const cf_expr *expr, void *const args[], double *value);

/* Reads the integer or bool at `address`, which may be misaligned. Returns CF_EOVERFLOW for a value above INT64_MAX,
 * and CF_EINVAL for other types. The caller adds the detail. */
int cf__read_integer(cf_type type, const void *address, int64_t *value);

/* Writes the values that `count` expressions read, as "N = 3, g.nx = 4". Skips expressions without steps. */
void cf__describe_values(const cf_kernel *kernel, const cf_expr *const exprs[], size_t count, void *const args[],
                         char *text, size_t size);

#endif
