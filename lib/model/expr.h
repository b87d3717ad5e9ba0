/* expr.h - expressions over arguments. */
#ifndef CF__EXPR_H
#define CF__EXPR_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Evaluates an integer expression over a kernel's arguments. Returns CF_EOVERFLOW on overflow and division by 0,
 * CF_EINVAL if an operand is no integer; the caller adds the detail. */
int cf__evaluate(const cf_kernel *kernel, const cf_expr *expr, void *const args[], int64_t *value);

/* Evaluates a real expression. Returns CF_EINVAL if an operand is no number; the caller adds the detail. */
int cf__evaluate_real(const cf_kernel *kernel, const cf_expr *expr, void *const args[], double *value);

/* Reads the integer or bool at `address`, which may be misaligned. Returns CF_EOVERFLOW for a value above INT64_MAX,
 * CF_EINVAL for other types; the caller adds the detail. */
int cf__read_integer(cf_type type, const void *address, int64_t *value);

/* Writes the values that `count` expressions read, as "N = 3, g.nx = 4"; skips expressions without steps. */
void cf__describe_values(const cf_kernel *kernel, const cf_expr *const exprs[], size_t count, void *const args[],
                         char *text, size_t size);

#endif
