/* infer.c - computes scalars from the shapes of arrays, and shapes from scalars.
 *
 * An array has one length per dimension in memory: its pitch, or its extent if there is no pitch. The outermost length
 * is unknown, but at least that of the section. Each input gives equations of the form "length = the length in the
 * file". An equation with one unknown parameter is solved by undoing its expression from the outside in, if at each
 * step only one operand contains the unknown. Solutions are put into the other equations until nothing changes; a final
 * check of all equations detects wrong guesses. */
#include "kernel/infer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "base/runtime.h"

struct inference {
    const cf_kernel *kernel;
    struct argument *arguments;
    void **args; /* values, as cf_kernel_evaluate() takes them */
    struct equation *equations;
    uint32_t count;
};

/* Equation that gives a value to the length of one dimension, or to the product of all lengths (PRODUCT). */
struct equation {
    uint32_t array;
    int dimension;
    int64_t value;
};
#define PRODUCT (-1)

enum solution { SOLVED, NOT_YET, IMPOSSIBLE };

/* Assumptions that are tried if nothing else is left: that a quotient is exact; that a section reaches to the end of
 * its array. */
enum guess { NOTHING, QUOTIENTS, SECTIONS, GUESSES };

/* ---- Expressions ---- */

static const cf_op *end_of(const cf_expr *expr)
{
    const cf_op *op = expr->ops;
    while (op->code != CF_OP_END)
        op++;
    return op;
}

/* Returns the number of the parameter that a step reads; -1 if it reads none. */
static int64_t param_of(const cf_op *op)
{
    return op->code == CF_OP_PARAM    ? op->operand
           : op->code == CF_OP_MEMBER ? (int64_t)CF_MEMBER_PARAM(op->operand)
                                      : -1;
}

static int has_unknown(const struct argument *arguments, const cf_op *op, const cf_op *end)
{
    for (; op < end; op++)
        if (param_of(op) >= 0 && arguments[param_of(op)].origin == ABSENT)
            return 1;
    return 0;
}

static int is_unknown(const struct inference *inference, const cf_expr *expr)
{
    return has_unknown(inference->arguments, expr->ops, end_of(expr));
}

/* Evaluates the steps from `begin` up to `end`. Returns -1 if a value is unknown or overflows. */
static int evaluate(const struct inference *inference, const cf_op *begin, const cf_op *end, int64_t *value)
{
    if (has_unknown(inference->arguments, begin, end))
        return -1;
    int status = cf_kernel_evaluate(inference->kernel, begin, (size_t)(end - begin), inference->args, value);
    return status == CF_OK ? 0 : -1;
}

static int evaluate_all(const struct inference *inference, const cf_expr *expr, int64_t *value)
{
    return evaluate(inference, expr->ops, end_of(expr), value);
}

/* Returns 1 if an expression consists of plain operators, without jumps, so that operands can be found from the end. */
static int is_plain(const cf_expr *expr)
{
    for (const cf_op *op = expr->ops; op->code != CF_OP_END; op++)
        if (op->code == CF_OP_AND || op->code == CF_OP_OR || op->code == CF_OP_UNLESS || op->code == CF_OP_SKIP)
            return 0;
    return 1;
}

/* Returns the first step of the operand whose last step is `last`, in a plain expression. */
static const cf_op *operand_begin(const cf_op *last)
{
    int wanted = 1;
    for (const cf_op *op = last;; op--) {
        if (op->code == CF_OP_CONST || param_of(op) >= 0)
            wanted--;
        else if (op->code != CF_OP_NEG && op->code != CF_OP_NOT)
            wanted++;
        if (wanted == 0)
            return op;
    }
}

/* Replaces `*target`, the result of a step, by the value of its unknown operand; the other operand is `known`. A
 * quotient is assumed to be exact only if `guess` allows it: n / 4 = 8 gives 32, although 33 would fit, too. */
static enum solution undo(int32_t code, int unknown_is_left, enum guess guess, int64_t known, int64_t *target)
{
    int64_t value = *target;
    switch (code) {
    case CF_OP_ADD:
        return __builtin_sub_overflow(value, known, target) ? IMPOSSIBLE : SOLVED;
    case CF_OP_SUB:
        if (unknown_is_left)
            return __builtin_add_overflow(value, known, target) ? IMPOSSIBLE : SOLVED;
        return __builtin_sub_overflow(known, value, target) ? IMPOSSIBLE : SOLVED;
    case CF_OP_MUL:
        if (known == 0)
            return value == 0 ? NOT_YET : IMPOSSIBLE;
        if (known == -1)
            return __builtin_sub_overflow(0, value, target) ? IMPOSSIBLE : SOLVED;
        *target = value / known;
        return value % known == 0 ? SOLVED : IMPOSSIBLE;
    case CF_OP_DIV:
        if (guess < QUOTIENTS || (!unknown_is_left && (value <= 0 || known % value != 0)))
            return NOT_YET;
        if (unknown_is_left)
            return __builtin_mul_overflow(value, known, target) ? IMPOSSIBLE : SOLVED;
        *target = known / value;
        return SOLVED;
    case CF_OP_SHL:
        if (!unknown_is_left || known < 0 || known > 62)
            return NOT_YET;
        *target = value / ((int64_t)1 << known);
        return value % ((int64_t)1 << known) == 0 ? SOLVED : IMPOSSIBLE;
    default:
        return NOT_YET;
    }
}

/* Finds the only unknown parameter of `expr`, and the value that makes `expr` equal `target`. */
static enum solution solve(const struct inference *inference, const cf_expr *expr, enum guess guess, int64_t target,
                           uint32_t *param, int64_t *value)
{
    const struct argument *arguments = inference->arguments;
    const cf_op *begin = expr->ops, *end = end_of(expr);
    if (!is_plain(expr))
        return NOT_YET;
    for (;;) {
        const cf_op *last = end - 1, *right;
        int64_t known;
        if (last->code == CF_OP_PARAM) {
            *param = (uint32_t)last->operand;
            *value = target;
            return SOLVED;
        }
        if (last->code == CF_OP_NOT || last->code == CF_OP_MEMBER) /* a struct cannot be inferred from one member */
            return NOT_YET;
        if (last->code == CF_OP_NEG) {
            if (__builtin_sub_overflow(0, target, &target))
                return IMPOSSIBLE;
            end = last;
            continue;
        }
        right = operand_begin(last - 1);
        int in_left = has_unknown(arguments, begin, right);
        if (in_left && has_unknown(arguments, right, last))
            return NOT_YET;
        if (evaluate(inference, in_left ? right : begin, in_left ? last : right, &known) != 0)
            return NOT_YET;
        enum solution solution = undo(last->code, in_left, guess, known, &target);
        if (solution != SOLVED)
            return solution;
        if (!in_left)
            begin = right;
        end = in_left ? right : last;
    }
}

/* ---- Messages ---- */

/* Adds "source[M]", or "u[1:ny][nx] pitch(u: ld)". */
static void add_declaration(const cf_param *param, struct message *message)
{
    const char *separator = ": ";
    message_add(message, "%s", param->name);
    for (uint32_t d = 0; d < param->ndims; d++) {
        int has_lower = param->lowers && param->lowers[d].ops;
        message_add(message, "[%s%s%s]", has_lower ? param->lowers[d].text : "", has_lower ? ":" : "",
                    param->extents[d].text);
    }
    for (uint32_t d = param->ndims; param->pitches && d-- > 1;)
        if (param->pitches[d].ops) {
            message_add(message, "%s%s%s", *separator == ':' ? " pitch(" : "", *separator == ':' ? param->name : "",
                        separator);
            message_add(message, "%s", param->pitches[d].text);
            separator = ", ";
        }
    message_add(message, "%s", *separator == ':' ? "" : ")");
}

static int reads(const cf_expr *expr, uint32_t param)
{
    for (const cf_op *op = expr->ops; op && op->code != CF_OP_END; op++)
        if (param_of(op) == (int64_t)param)
            return 1;
    return 0;
}

/* Returns 1 if an array's declaration uses a parameter. */
static int declaration_reads(const cf_param *array, uint32_t param)
{
    for (uint32_t d = 0; d < array->ndims; d++)
        if (reads(&array->extents[d], param) || (array->lowers && reads(&array->lowers[d], param)) ||
            (array->pitches && reads(&array->pitches[d], param)))
            return 1;
    return 0;
}

/* Appends "N = 3 as given, M = 4 from source" for the parameters that an array's declaration uses. */
static void add_values(const struct inference *inference, const cf_param *array, struct message *message)
{
    const cf_kernel *kernel = inference->kernel;
    const char *separator = "";
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const struct argument *argument = &inference->arguments[i];
        if (!declaration_reads(array, i) || argument->origin == ABSENT)
            continue;
        const struct element_type type = argument_type(&kernel->params[i]);
        char text[ELEMENT_TEXT];
        if (type.type == CF_OPAQUE)
            snprintf(text, sizeof text, "%s", argument->text);
        else
            element_format(&type, argument->value, text);
        message_add(message, "%s%s = %s %s", separator, kernel->params[i].name, text,
                    argument->origin == GIVEN ? "as given" : "from ");
        if (argument->origin == INFERRED)
            message_add(message, "%s", kernel->params[argument->inferred_from].name);
        separator = ", ";
    }
}

/* Begins a line with the known facts: "gather: index has 100 elements". */
static void begin_line(const struct inference *inference, const struct equation *equation, struct message *message)
{
    const cf_param *param = &inference->kernel->params[equation->array];
    message_set(message, "%s: %s has ", inference->kernel->name, param->name);
    if (equation->dimension != PRODUCT && param->ndims > 1)
        message_add(message, "%" PRId64 " in dimension %d", equation->value, equation->dimension);
    else
        message_add(message, "%" PRId64 " element%s", equation->value, equation->value == 1 ? "" : "s");
}

static int impossible(const struct inference *inference, const struct equation *equation, struct message *message)
{
    const cf_param *param = &inference->kernel->params[equation->array];
    begin_line(inference, equation, message);
    message_add(message, ", which ");
    add_declaration(param, message);
    message_add(message, " cannot have");
    int given = 0;
    for (uint32_t i = 0; i < inference->kernel->nparams; i++)
        given |= argument_is_value(&inference->kernel->params[i]) && inference->arguments[i].origin != ABSENT;
    if (given) {
        message_add(message, " with ");
        add_values(inference, param, message);
    }
    return -1;
}

/* ---- Equations ---- */

static int make_equations(struct inference *inference, struct message *message)
{
    const cf_kernel *kernel = inference->kernel;
    inference->equations = calloc((size_t)kernel->nparams * CF_ARRAY_DIMS + 1, sizeof *inference->equations);
    if (!inference->equations)
        return message_set(message, "%s: no memory", kernel->name);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        const struct npy_array *array = &inference->arguments[i].array;
        if (!argument_is_read(param) || param->ndims == 0)
            continue;
        if (array->ndims == param->ndims)
            for (uint32_t d = 0; d < param->ndims; d++)
                inference->equations[inference->count++] = (struct equation){i, (int)d, array->shape[d]};
        else if (param->ndims == 1 || array->ndims <= 1)
            inference->equations[inference->count++] =
                (struct equation){i, param->ndims == 1 ? 0 : PRODUCT, (int64_t)array->count};
        else {
            message_set(message, "%s: %s has %" PRIu32 " dimensions and is declared ", kernel->name, param->name,
                        array->ndims);
            add_declaration(param, message);
            return -1;
        }
    }
    return 0;
}

/* Expression of a dimension's length in memory, and the number of elements before the section. */
struct length {
    const cf_expr *expr, *lower; /* lower: NULL if no elements precede the section */
};

static struct length length_of(const cf_param *param, uint32_t d)
{
    if (d > 0 && param->pitches && param->pitches[d].ops)
        return (struct length){&param->pitches[d], NULL};
    int has_lower = d == 0 && param->lowers && param->lowers[0].ops;
    return (struct length){&param->extents[d], has_lower ? &param->lowers[0] : NULL};
}

static int evaluate_length(const struct inference *inference, const cf_param *param, uint32_t d, int64_t *value)
{
    struct length length = length_of(param, d);
    int64_t lower = 0;
    if (evaluate_all(inference, length.expr, value) != 0 ||
        (length.lower && evaluate_all(inference, length.lower, &lower) != 0))
        return -1;
    return __builtin_add_overflow(*value, lower, value) ? -1 : 0;
}

/* Computes a dimension's length in memory, whose parameters must be known. Returns a text about the length's fault, or
 * NULL. */
static const char *find_length(const struct inference *inference, const cf_param *param, uint32_t d, int64_t *value)
{
    if (evaluate_length(inference, param, d, value) != 0)
        return "overflows or divides by 0";
    return *value < 0 ? "has a negative extent" : NULL;
}

/* Returns 1 if the array of an equation may be longer than its section. */
static int is_open(const struct inference *inference, const struct equation *equation)
{
    return equation->dimension <= 0 && length_of(&inference->kernel->params[equation->array], 0).lower != NULL;
}

/* Reduces an equation to the one length that has unknowns, and solves it. */
static enum solution solve_equation(const struct inference *inference, const struct equation *equation,
                                    enum guess guess, uint32_t *param, int64_t *value)
{
    const cf_param *array = &inference->kernel->params[equation->array];
    struct length unknown = {NULL, NULL};
    int64_t target = equation->value, known = 1, lower = 0;
    for (uint32_t d = 0; d < array->ndims; d++) {
        struct length length = length_of(array, d);
        int64_t size;
        if (equation->dimension != PRODUCT && equation->dimension != (int)d)
            continue;
        if (is_unknown(inference, length.expr)) {
            if (unknown.expr)
                return NOT_YET;
            unknown = length;
        } else if (equation->dimension == PRODUCT &&
                   (evaluate_length(inference, array, d, &size) != 0 || __builtin_mul_overflow(known, size, &known))) {
            return NOT_YET;
        }
    }
    if (!unknown.expr || (is_open(inference, equation) && guess < SECTIONS))
        return NOT_YET;
    if (unknown.lower && evaluate_all(inference, unknown.lower, &lower) != 0)
        return NOT_YET;
    enum solution solution = undo(CF_OP_MUL, 0, guess, known, &target);
    if (solution != SOLVED || __builtin_sub_overflow(target, lower, &target))
        return solution == SOLVED ? IMPOSSIBLE : solution;
    return solve(inference, unknown.expr, guess, target, param, value);
}

static int assign(const struct inference *inference, const struct equation *equation, uint32_t param, int64_t value,
                  struct message *message)
{
    const cf_param *solved = &inference->kernel->params[param];
    struct argument *argument = &inference->arguments[param];
    if (element_store(solved->type, value, argument->value) != 0) {
        begin_line(inference, equation, message);
        message_add(message, ", so %s would be %" PRId64 ", outside the range of %s", solved->name, value,
                    cf_type_name(solved->type));
        return -1;
    }
    argument->origin = INFERRED;
    argument->inferred_from = equation->array;
    return 0;
}

/* Solves equations, and makes assumptions only when no other equation can be solved. */
static int solve_all(const struct inference *inference, struct message *message)
{
    for (int guess = NOTHING; guess < GUESSES; guess++)
        for (uint32_t e = 0; e < inference->count; e++) {
            uint32_t param = 0;
            int64_t value = 0;
            enum solution solution =
                solve_equation(inference, &inference->equations[e], (enum guess)guess, &param, &value);
            if (solution == IMPOSSIBLE)
                return impossible(inference, &inference->equations[e], message);
            if (solution == NOT_YET)
                continue;
            if (assign(inference, &inference->equations[e], param, value, message) != 0)
                return -1;
            guess = NOTHING - 1; /* continue without assumptions */
            break;
        }
    return 0;
}

static int check_complete(const struct inference *inference, struct message *message)
{
    const cf_kernel *kernel = inference->kernel;
    int missing = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const struct element_type type = argument_type(&kernel->params[i]);
        char name[ELEMENT_NAME];
        if (!argument_is_value(&kernel->params[i]) || inference->arguments[i].origin != ABSENT)
            continue;
        if (!missing)
            message_set(message, "%s: missing", kernel->name);
        element_name(&type, name);
        message_add(message, "%s %s (", missing ? "," : "", kernel->params[i].name);
        if (type.type == CF_OPAQUE)
            argument_add_struct(&kernel->params[i], message);
        else
            message_add(message, "%s", name);
        message_add(message, ")");
        missing = 1;
    }
    if (!missing)
        return 0;
    message_add(message, ", which the arrays do not tell");
    return -1;
}

static int check_equation(const struct inference *inference, const struct equation *equation, struct message *message)
{
    const cf_param *param = &inference->kernel->params[equation->array];
    int64_t total = 1, length;
    int has_open_end = is_open(inference, equation);
    const char *problem = NULL;
    for (uint32_t d = 0; d < param->ndims && !problem; d++) {
        if (equation->dimension != PRODUCT && equation->dimension != (int)d)
            continue;
        problem = find_length(inference, param, d, &length);
        if (!problem && __builtin_mul_overflow(total, length, &total))
            problem = "overflows";
    }
    if (!problem && (total == equation->value || (has_open_end && total < equation->value)))
        return 0;
    begin_line(inference, equation, message);
    message_add(message, " and ");
    add_declaration(param, message);
    if (!problem)
        message_add(message, " %s %" PRId64 " with ",
                    has_open_end                                         ? "reaches to"
                    : equation->dimension != PRODUCT && param->ndims > 1 ? "has"
                                                                         : "means",
                    total);
    else
        message_add(message, " %s", problem);
    struct message values = {""};
    add_values(inference, param, &values);
    if (problem && *values.text)
        message_add(message, " with ");
    message_add(message, "%s", values.text);
    return -1;
}

/* ---- Outputs ---- */

static const char *without_const(const char *ctype)
{
    return strncmp(ctype, "const ", 6) == 0 ? ctype + 6 : ctype;
}

/* Returns the 'descr' of an input file whose elements have the output's type; NULL if there is none, and for NumPy's
 * own types. */
static const char *find_descr(const cf_kernel *kernel, const struct argument *arguments, const cf_param *output)
{
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (arguments[i].array.descr && kernel->params[i].bytes == output->bytes &&
            strcmp(without_const(kernel->params[i].ctype), without_const(output->ctype)) == 0)
            return arguments[i].array.descr;
    return NULL;
}

/* Describes an output. It has the array's length in memory, but ends with the section. */
static int describe_output(const struct inference *inference, uint32_t i, struct message *message)
{
    const cf_kernel *kernel = inference->kernel;
    const cf_param *param = &kernel->params[i];
    struct npy_array *array = &inference->arguments[i].array;
    const char *problem = NULL;
    array->type = argument_type(param);
    array->descr = find_descr(kernel, inference->arguments, param);
    array->ndims = param->ndims;
    for (uint32_t d = 0; d < param->ndims && !problem; d++)
        problem = find_length(inference, param, d, &array->shape[d]);
    if (!problem && npy_measure(array) != 0)
        problem = "has more than 2^63 - 1 bytes";
    if (!problem)
        return 0;
    message_set(message, "%s: ", kernel->name);
    add_declaration(param, message);
    message_add(message, " %s with ", problem);
    add_values(inference, param, message);
    return -1;
}

int infer_arguments(const cf_kernel *kernel, struct argument *arguments, struct message *message)
{
    struct inference inference = {kernel, arguments, arguments_values(kernel, arguments), NULL, 0};
    if (!inference.args)
        return message_set(message, "%s: no memory", kernel->name);
    int status = make_equations(&inference, message);
    if (status == 0)
        status = solve_all(&inference, message);
    if (status == 0)
        status = check_complete(&inference, message);
    for (uint32_t e = 0; status == 0 && e < inference.count; e++)
        status = check_equation(&inference, &inference.equations[e], message);
    for (uint32_t i = 0; status == 0 && i < kernel->nparams; i++)
        if (kernel->params[i].direction == CF_OUT)
            status = describe_output(&inference, i, message);
    free(inference.args);
    free(inference.equations);
    return status;
}
