/* expr.h - expressions over arguments. */
#ifndef CF__EXPR_H
#define CF__EXPR_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* A kernel and the arguments of one of its calls, which give the operands of the kernel's expressions their values. */
struct cf__operands {
    const cf_kernel *kernel;
    void *const *args;
};

/* Evaluates an integer expression. Returns CF_EOVERFLOW on overflow or division by 0, and CF_EINVAL if an operand is
 * not an integer. The caller adds the detail. */
int cf__evaluate(const struct cf__operands *of, const cf_expr *expr, int64_t *value);

/* Evaluates a real expression. Returns CF_EINVAL if an operand is not a number. The caller adds the detail. */
int cf__evaluate_real(const struct cf__operands *of, const cf_expr *expr, double *value);

/* Evaluates an integer expression that may not be negative; returns a status. Messages show the expression as the
 * annotation spells it: `before`, `name`, `between`, the text of the expression, `after`. */
int cf__evaluate_size(const struct cf__operands *of, const cf_expr *expr, const char *before, const char *name,
                      const char *between, const char *after, int64_t *value);

/* Reads the integer or bool at `address`, which may be misaligned. Returns CF_EOVERFLOW for a value above INT64_MAX,
 * and CF_EINVAL for other types. The caller adds the detail. */
int cf__read_integer(cf_type type, const void *address, int64_t *value);

#define CF__VALUES 166 /* bytes for the values in a message */

/* Writes the values that `count` expressions read, as " with N = 3, g.nx = 4". The text is empty if there are none.
 * Skips expressions without steps. */
void cf__describe_values(const struct cf__operands *of, const cf_expr *const exprs[], size_t count, char *text,
                         size_t size);

#endif
