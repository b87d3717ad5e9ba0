/* expr.c - evaluates the expressions of annotations over a kernel's arguments. */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "model/expr.h"

#include "base/error.h"
#include "base/text.h"

/* ---- Values ---- */

/* Reads an integer. Callers pass `size` and `kind` as constants. The bytes are copied, because a member of a packed
 * struct may be misaligned. All supported processors are little-endian. */
static inline int read_bits(const void *address, size_t size, char kind, int64_t *value)
{
    const int unused = 64 - 8 * (int)size;
    uint64_t bits = 0;
    memcpy(&bits, address, size);
    if (kind == 'u' && bits > INT64_MAX)
        return CF_EOVERFLOW;
    *value = kind == 'i' ? (int64_t)(bits << unused) >> unused : kind == 'b' ? bits != 0 : (int64_t)bits;
    return CF_OK;
}

int cf__read_integer(cf_type type, const void *address, int64_t *value)
{
#define READ(name, text, ctype, kind, digits, code)                                                               \
    case name:                                                                                                    \
        return (kind) == 'i' || (kind) == 'u' || (kind) == 'b' ? read_bits(address, sizeof(ctype), (kind), value) \
                                                               : CF_EINVAL;
    switch (type) {
        CF_TYPE_LIST(READ)
    default:
        return CF_EINVAL;
    }
#undef READ
}

/* Reads the number at `address` as a double. Returns CF_EINVAL if the type is not a number. */
static int read_real(cf_type type, const void *address, double *value)
{
    uint64_t large;
    int64_t integer = 0;
    if (cf_type_kind(type) == 'f') {
        *value = cf_float_read(type, address);
    } else if (type == CF_U64) {
        memcpy(&large, address, sizeof large);
        *value = (double)large;
    } else if (cf__read_integer(type, address, &integer) == CF_OK) {
        *value = (double)integer;
    } else {
        return CF_EINVAL;
    }
    return CF_OK;
}

/* Returns the type and the address of the operand of CF_OP_PARAM or CF_OP_MEMBER. */
static cf_type locate_operand(const struct cf__operands *of, const cf_op *op, const void **address)
{
    if (op->code == CF_OP_PARAM) {
        *address = of->args[op->operand];
        return of->kernel->params[op->operand].type;
    }
    *address = (const char *)of->args[CF_MEMBER_PARAM(op->operand)] + CF_MEMBER_OFFSET(op->operand);
    return CF_MEMBER_TYPE(op->operand);
}

/* ---- Integers ---- */

/* Computes one binary step. Returns nonzero if there is no exact result or it does not fit. */
static int apply_integer(int32_t code, int64_t left, int64_t right, int64_t *result)
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
    case CF_OP_SHL: /* shifting by 63 multiplies by 2^63, which does not fit in int64_t, so it takes two
                     * multiplications */
        return right < 0 || right > 63 ||
               __builtin_mul_overflow(left, (int64_t)1 << (right > 62 ? 62 : right), result) ||
               (right == 63 && __builtin_mul_overflow(*result, 2, result));
    case CF_OP_SHR:
        if (right < 0 || right > 63)
            return 1;
        *result = left < 0 ? ~(~left >> right) : left >> right;
        return 0;
    case CF_OP_BIT_AND:
        *result = left & right;
        return 0;
    case CF_OP_BIT_OR:
        *result = left | right;
        return 0;
    case CF_OP_BIT_XOR:
        *result = left ^ right;
        return 0;
    default:
        return 1;
    }
}

/* Returns the reason why a binary step has no result, for messages. */
static const char *name_problem(int32_t code, int64_t right)
{
    if ((code == CF_OP_DIV || code == CF_OP_MOD) && right == 0)
        return "divides by 0";
    if ((code == CF_OP_SHL || code == CF_OP_SHR) && (right < 0 || right > 63))
        return "shifts by less than 0 or more than 63 bits";
    return "overflows";
}

/* Evaluates at most `count` steps. After CF_EOVERFLOW, `problem` is the reason. */
static int evaluate_integer(const struct cf__operands *of, const cf_op *ops, size_t count, int64_t *value,
                            const char **problem)
{
    *problem = "overflows";
    int64_t stack[CF_EXPR_DEPTH] = {0};
    int depth = 0; /* the generator makes sure that the depth stays between 0 and CF_EXPR_DEPTH */
    for (const cf_op *op = ops; (size_t)(op - ops) < count && op->code != CF_OP_END; op++) {
        int status;
        cf_type type;
        const void *address;
        switch (op->code) {
        case CF_OP_CONST:
            stack[depth++] = op->operand;
            break;
        case CF_OP_PARAM:
        case CF_OP_MEMBER:
            type = locate_operand(of, op, &address);
            status = cf__read_integer(type, address, &stack[depth++]);
            if (status != CF_OK)
                return status;
            break;
        case CF_OP_REAL:
            return CF_EINVAL;
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
        case CF_OP_UNLESS:
            if (stack[--depth] == 0)
                op += op->operand;
            break;
        case CF_OP_SKIP:
            op += op->operand;
            break;
        default:
            depth--;
            if (apply_integer(op->code, stack[depth - 1], stack[depth], &stack[depth - 1])) {
                *problem = name_problem(op->code, stack[depth]);
                return CF_EOVERFLOW;
            }
        }
    }
    *value = stack[0];
    return CF_OK;
}

int cf__evaluate(const struct cf__operands *of, const cf_expr *expr, int64_t *value)
{
    /* Most expressions are a single parameter or number, and need no stack. */
    const cf_op *op = expr->ops;
    if (op->code == CF_OP_PARAM && op[1].code == CF_OP_END)
        return cf__read_integer(of->kernel->params[op->operand].type, of->args[op->operand], value);
    if (op->code == CF_OP_CONST && op[1].code == CF_OP_END) {
        *value = op->operand;
        return CF_OK;
    }
    const char *problem;
    return evaluate_integer(of, expr->ops, SIZE_MAX, value, &problem);
}

int cf__evaluate_size(const struct cf__operands *of, const cf_expr *expr, const char *before, const char *name,
                      const char *between, const char *after, int64_t *value)
{
    char values[CF__VALUES];
    int status = cf__evaluate(of, expr, value);
    if (status == CF_OK && *value >= 0)
        return CF_OK;
    cf__describe_values(of, &expr, 1, values, sizeof values);
    return cf__fail(status == CF_OK ? CF_EINVAL : status, "%s: %s%s%s%s%s %s%s", of->kernel->function, before, name,
                    between, expr->text, after, status == CF_OK ? "is negative" : "overflows or divides by 0", values);
}

/* ---- Real numbers ---- */

static double apply_real(int32_t code, double left, double right)
{
    switch (code) {
    case CF_OP_ADD:
        return left + right;
    case CF_OP_SUB:
        return left - right;
    case CF_OP_MUL:
        return left * right;
    case CF_OP_DIV:
        return left / right;
    case CF_OP_MOD:
        return fmod(left, right);
    case CF_OP_MIN:
        return left < right ? left : right;
    case CF_OP_MAX:
        return left > right ? left : right;
    case CF_OP_LT:
        return left < right;
    case CF_OP_LE:
        return left <= right;
    case CF_OP_GT:
        return left > right;
    case CF_OP_GE:
        return left >= right;
    case CF_OP_EQ:
        return left == right;
    case CF_OP_NE:
        return left != right;
    default:
        return NAN;
    }
}

static int evaluate_real(const struct cf__operands *of, const cf_op *ops, double *value)
{
    double stack[CF_EXPR_DEPTH] = {0};
    int depth = 0;
    for (const cf_op *op = ops; op->code != CF_OP_END; op++) {
        cf_type type;
        const void *address;
        switch (op->code) {
        case CF_OP_CONST:
            stack[depth++] = (double)op->operand;
            break;
        case CF_OP_REAL:
            memcpy(&stack[depth++], &op->operand, sizeof *stack);
            break;
        case CF_OP_PARAM:
        case CF_OP_MEMBER:
            type = locate_operand(of, op, &address);
            if (read_real(type, address, &stack[depth++]) != CF_OK)
                return CF_EINVAL;
            break;
        case CF_OP_NEG:
            stack[depth - 1] = -stack[depth - 1];
            break;
        case CF_OP_NOT:
            stack[depth - 1] = stack[depth - 1] == 0;
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
        case CF_OP_UNLESS:
            if (stack[--depth] == 0)
                op += op->operand;
            break;
        case CF_OP_SKIP:
            op += op->operand;
            break;
        default:
            depth--;
            stack[depth - 1] = apply_real(op->code, stack[depth - 1], stack[depth]);
        }
    }
    *value = stack[0];
    return CF_OK;
}

int cf__evaluate_real(const struct cf__operands *of, const cf_expr *expr, double *value)
{
    return evaluate_real(of, expr->ops, value);
}

/* ---- Descriptions ---- */

/* The distinct spellings with which a text names members of one parameter, such as "g.nx" and "g.n[0]". */
struct spellings {
    const char *begins[CF_EXPR_DEPTH];
    int lengths[CF_EXPR_DEPTH];
    int count; /* may exceed CF_EXPR_DEPTH; the surplus is not stored */
};

static int is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void add_spelling(struct spellings *all, const char *begin, int length)
{
    for (int i = 0; i < all->count && i < CF_EXPR_DEPTH; i++)
        if (all->lengths[i] == length && strncmp(all->begins[i], begin, (size_t)length) == 0)
            return;
    if (all->count < CF_EXPR_DEPTH) {
        all->begins[all->count] = begin;
        all->lengths[all->count] = length;
    }
    all->count++;
}

static void find_spellings(const char *text, const char *param, struct spellings *all)
{
    size_t length = strlen(param);
    all->count = 0;
    for (const char *at = text; (at = strstr(at, param)) != NULL; at += length) {
        const char *end = at + length;
        if ((at > text && (is_word(at[-1]) || at[-1] == '.')) || (*end != '.' && *end != '['))
            continue;
        while (*end == '.' || *end == '[')
            if (*end == '.')
                for (end++; is_word(*end); end++)
                    ;
            else if ((end = strchr(end, ']')) != NULL)
                end++;
            else
                return;
        add_spelling(all, at, (int)(end - at));
    }
}

/* Numbers the distinct members of a parameter in the order in which the steps read them. Returns the number of the
 * member that the step `member` reads; `all` is the number of distinct members. */
static int find_member(const cf_op *ops, const cf_op *member, int *all)
{
    int number = -1;
    *all = 0;
    for (const cf_op *op = ops; op->code != CF_OP_END; op++) {
        int is_new = op->code == CF_OP_MEMBER && CF_MEMBER_PARAM(op->operand) == CF_MEMBER_PARAM(member->operand);
        for (const cf_op *before = ops; is_new && before < op; before++)
            is_new = before->code != CF_OP_MEMBER || before->operand != op->operand;
        if (is_new && op->operand == member->operand)
            number = *all;
        *all += is_new;
    }
    return number;
}

/* Writes the operand as the expression's text spells it. Steps have no names of members, but steps and text name the
 * members in the same order. */
static void name_operand(const cf_kernel *kernel, const cf_expr *expr, const cf_op *op, char *name, size_t size)
{
    if (op->code == CF_OP_PARAM) {
        snprintf(name, size, "%s", kernel->params[op->operand].name);
        return;
    }
    const char *param = kernel->params[CF_MEMBER_PARAM(op->operand)].name;
    struct spellings all;
    int count, number = find_member(expr->ops, op, &count);
    find_spellings(expr->text, param, &all);
    if (all.count == count && number < CF_EXPR_DEPTH)
        snprintf(name, size, "%.*s", all.lengths[number], all.begins[number]);
    else
        snprintf(name, size, "a member of %s", param);
}

/* Returns 1 if an earlier step than `op` reads the same operand. `op` is a step of exprs[expr]. */
static int was_read(const cf_expr *const exprs[], size_t expr, const cf_op *op)
{
    for (size_t i = 0; i <= expr; i++)
        for (const cf_op *before = exprs[i]->ops; before && before->code != CF_OP_END; before++) {
            if (i == expr && before == op)
                return 0;
            if (before->code == op->code && before->operand == op->operand)
                return 1;
        }
    return 0;
}

/* Reads a CF_U64, the only integer that may not fit in int64_t. */
static uint64_t read_u64(const void *address)
{
    uint64_t number;
    memcpy(&number, address, sizeof number);
    return number;
}

void cf__describe_values(const struct cf__operands *of, const cf_expr *const exprs[], size_t count, char *text,
                         size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        for (const cf_op *op = exprs[i]->ops; op && op->code != CF_OP_END && used < size; op++) {
            if ((op->code != CF_OP_PARAM && op->code != CF_OP_MEMBER) || was_read(exprs, i, op))
                continue;
            char name[64];
            int64_t value = 0;
            const void *address;
            cf_type type = locate_operand(of, op, &address);
            const char *comma = used ? ", " : " with ";
            name_operand(of->kernel, exprs[i], op, name, sizeof name);
            double number = 0;
            int status = cf__read_integer(type, address, &value);
            if (status == CF_OK)
                used += (size_t)snprintf(text + used, size - used, "%s%s = %" PRId64, comma, name, value);
            else if (status == CF_EINVAL && read_real(type, address, &number) == CF_OK)
                used += (size_t)cf__format(text + used, size - used, "%s%s = %.9g", comma, name, number);
            else
                used += (size_t)snprintf(text + used, size - used, "%s%s = %" PRIu64 ", which is past 2^63 - 1", comma,
                                         name, read_u64(address));
        }
}

/* ---- The public functions ---- */

int cf_kernel_evaluate(const cf_kernel *kernel, const cf_op *ops, size_t count, void *const args[], int64_t *value)
{
    if (!kernel || !ops || !args || !value)
        return cf__fail(CF_EINVAL, "cf_kernel_evaluate: %s is NULL",
                        !kernel ? "kernel"
                        : !ops  ? "ops"
                        : !args ? "args"
                                : "value");
    const char *problem;
    int status = evaluate_integer(&(struct cf__operands){kernel, args}, ops, count, value, &problem);
    return status == CF_OK ? CF_OK
                           : cf__fail(status, "%s: an expression %s", kernel->function,
                                      status == CF_EOVERFLOW ? problem : "of integers reads what is none");
}

int cf_kernel_evaluate_real(const cf_kernel *kernel, const cf_op *ops, void *const args[], double *value)
{
    if (!kernel || !ops || !args || !value)
        return cf__fail(CF_EINVAL, "cf_kernel_evaluate_real: %s is NULL",
                        !kernel ? "kernel"
                        : !ops  ? "ops"
                        : !args ? "args"
                                : "value");
    int status = evaluate_real(&(struct cf__operands){kernel, args}, ops, value);
    return status == CF_OK ? CF_OK : cf__fail(status, "%s: an expression reads what is no number", kernel->function);
}
