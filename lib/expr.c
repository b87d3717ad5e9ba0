/* expr.c - evaluates the expressions of annotations over a kernel's arguments. */
#include <inttypes.h>
#include <stdio.h>

#include "internal.h"

int cf__integer(const cf_kernel *kernel, uint32_t i, const void *arg, int64_t *value)
{
    switch (kernel->params[i].type) {
    case CF_I8:
        *value = *(const int8_t *)arg;
        return CF_OK;
    case CF_I16:
        *value = *(const int16_t *)arg;
        return CF_OK;
    case CF_I32:
        *value = *(const int32_t *)arg;
        return CF_OK;
    case CF_I64:
        *value = *(const int64_t *)arg;
        return CF_OK;
    case CF_U8:
        *value = *(const uint8_t *)arg;
        return CF_OK;
    case CF_U16:
        *value = *(const uint16_t *)arg;
        return CF_OK;
    case CF_U32:
        *value = *(const uint32_t *)arg;
        return CF_OK;
    case CF_U64:
        if (*(const uint64_t *)arg > INT64_MAX)
            return CF_EOVERFLOW;
        *value = (int64_t) * (const uint64_t *)arg;
        return CF_OK;
    default:
        return CF_EINVAL;
    }
}

/* One binary step; non-zero where the exact result does not exist or does not fit. */
static int apply(int32_t code, int64_t left, int64_t right, int64_t *result)
{
    switch (code) {
    case CF_OP_ADD:
        return __builtin_add_overflow(left, right, result);
    case CF_OP_SUB:
        return __builtin_sub_overflow(left, right, result);
    case CF_OP_MUL:
        return __builtin_mul_overflow(left, right, result);
    case CF_OP_DIV:
    case CF_OP_MOD:
        if (right == 0 || (left == INT64_MIN && right == -1))
            return 1;
        *result = code == CF_OP_DIV ? left / right : left % right;
        return 0;
    case CF_OP_MIN:
        *result = left < right ? left : right;
        return 0;
    case CF_OP_MAX:
        *result = left > right ? left : right;
        return 0;
    case CF_OP_LT:
        *result = left < right;
        return 0;
    case CF_OP_LE:
        *result = left <= right;
        return 0;
    case CF_OP_GT:
        *result = left > right;
        return 0;
    case CF_OP_GE:
        *result = left >= right;
        return 0;
    case CF_OP_EQ:
        *result = left == right;
        return 0;
    case CF_OP_NE:
        *result = left != right;
        return 0;
    default:
        return 1;
    }
}

/* The first `count` steps, or those up to the end. */
static int evaluate(const cf_kernel *kernel, const cf_op *ops, size_t count, void *const args[], int64_t *value)
{
    int64_t stack[CF_EXPR_DEPTH] = {0};
    int depth = 0; /* the generator sees to it that it stays within 0 and CF_EXPR_DEPTH */
    for (const cf_op *op = ops; (size_t)(op - ops) < count && op->code != CF_OP_END; op++) {
        int status;
        switch (op->code) {
        case CF_OP_CONST:
            stack[depth++] = op->operand;
            break;
        case CF_OP_PARAM:
            status = cf__integer(kernel, (uint32_t)op->operand, args[op->operand], &stack[depth++]);
            if (status != CF_OK)
                return status;
            break;
        case CF_OP_NEG:
            if (__builtin_sub_overflow(0, stack[depth - 1], &stack[depth - 1]))
                return CF_EOVERFLOW;
            break;
        case CF_OP_NOT:
            stack[depth - 1] = !stack[depth - 1];
            break;
        case CF_OP_AND:
        case CF_OP_OR:
            if ((stack[depth - 1] != 0) == (op->code == CF_OP_OR)) {
                stack[depth - 1] = op->code == CF_OP_OR;
                op += op->operand;
            } else {
                depth--;
            }
            break;
        default:
            depth--;
            if (apply(op->code, stack[depth - 1], stack[depth], &stack[depth - 1]))
                return CF_EOVERFLOW;
        }
    }
    *value = stack[0];
    return CF_OK;
}

int cf__evaluate(const cf_kernel *kernel, const cf_expr *expr, void *const args[], int64_t *value)
{
    return evaluate(kernel, expr->ops, SIZE_MAX, args, value);
}

void cf__describe(const cf_kernel *kernel, const cf_expr *expr, void *const args[], char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (const cf_op *op = expr->ops; op->code != CF_OP_END; op++) {
        if (op->code != CF_OP_PARAM)
            continue;
        int seen = 0;
        for (const cf_op *before = expr->ops; before < op; before++)
            seen |= before->code == CF_OP_PARAM && before->operand == op->operand;
        if (seen || used >= size)
            continue;
        int64_t value = 0;
        const cf_param *param = &kernel->params[op->operand];
        const char *comma = used ? ", " : "";
        if (cf__integer(kernel, (uint32_t)op->operand, args[op->operand], &value) == CF_OK)
            used += (size_t)snprintf(text + used, size - used, "%s%s = %" PRId64, comma, param->name, value);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%s is past 2^63 - 1", comma, param->name);
    }
}

int cf_kernel_evaluate(const cf_kernel *kernel, const cf_op *ops, size_t count, void *const args[], int64_t *value)
{
    if (!kernel || !ops || !args || !value)
        return cf__fail(CF_EINVAL, "cf_kernel_evaluate: %s is NULL",
                        !kernel ? "kernel"
                        : !ops  ? "ops"
                        : !args ? "args"
                                : "value");
    int status = evaluate(kernel, ops, count, args, value);
    return status == CF_OK ? CF_OK : cf__fail(status, "%s: an expression overflows", kernel->function);
}
