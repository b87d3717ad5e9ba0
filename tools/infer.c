/* infer.c - works out the scalars that the arrays' shapes tell, and the shapes that the scalars tell.
 *
 * Each input gives equations "extent = length". One with a single unknown parameter is solved by undoing its expression
 * from the outside in, which goes while the unknown stands on one side of every step. Solved ones give values to
 * others, until nothing changes. In the end all equations are checked, so that a wrong guess cannot pass. */
#include "infer.h"

#include <inttypes.h>
#include <stdlib.h>

#include <cuferry.h>

struct inference {
    const cf_kernel *kernel;
    struct argument *arguments;
    struct equation *equations;
    uint32_t count;
};

/* An extent of an array has a value, or (PRODUCT) all its extents together have. */
struct equation {
    uint32_t array;
    int dimension;
    int64_t value;
};
#define PRODUCT (-1)

enum solution { SOLVED, NOT_YET, IMPOSSIBLE };

/* ---- Expressions ---- */

static const cf_op *end_of(const cf_expr *expr)
{
    const cf_op *op = expr->ops;
    while (op->code != CF_OP_END)
        op++;
    return op;
}

static int has_unknown(const struct argument *arguments, const cf_op *op, const cf_op *end)
{
    for (; op < end; op++)
        if (op->code == CF_OP_PARAM && arguments[op->operand].origin == ABSENT)
            return 1;
    return 0;
}

/* Evaluates the steps from `begin` up to `end`, in which nothing is unknown. */
static int evaluate(const cf_kernel *kernel, const struct argument *arguments, const cf_op *begin, const cf_op *end,
                    int64_t *value)
{
    if (has_unknown(arguments, begin, end))
        return -1;
    void **args = calloc(kernel->nparams + (size_t)1, sizeof *args);
    if (!args)
        return -1;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        args[i] = (void *)(uintptr_t)&arguments[i].value;
    int status = cf_kernel_evaluate(kernel, begin, (size_t)(end - begin), args, value);
    free(args);
    return status == CF_OK ? 0 : -1;
}

int infer_evaluate(const cf_kernel *kernel, const struct argument *arguments, const cf_expr *expr, int64_t *value)
{
    return evaluate(kernel, arguments, expr->ops, end_of(expr), value);
}

/* The first step of the operand that ends with `last`: there is no && or || in it. */
static const cf_op *operand_begin(const cf_op *last)
{
    int wanted = 1;
    for (const cf_op *op = last;; op--) {
        if (op->code == CF_OP_CONST || op->code == CF_OP_PARAM)
            wanted--;
        else if (op->code != CF_OP_NEG && op->code != CF_OP_NOT)
            wanted++;
        if (wanted == 0)
            return op;
    }
}

/* What the unknown operand of a step must be for it to give `*target`, where the other operand is `known`. A quotient
 * is taken as exact, n / 4 = 8 gives 32 although 33 would do as well, and only where `guess` allows it. */
static enum solution undo(int32_t code, int unknown_is_left, int guess, int64_t known, int64_t *target)
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
        if (!guess || (!unknown_is_left && (value <= 0 || known % value != 0)))
            return NOT_YET;
        if (unknown_is_left)
            return __builtin_mul_overflow(value, known, target) ? IMPOSSIBLE : SOLVED;
        *target = known / value;
        return SOLVED;
    default:
        return NOT_YET;
    }
}

/* Finds the one parameter without which `expr` is not known, and its value for the expression to be `target`. */
static enum solution solve(const struct inference *inference, const cf_expr *expr, int guess, int64_t target,
                           uint32_t *param, int64_t *value)
{
    const struct argument *arguments = inference->arguments;
    const cf_op *begin = expr->ops, *end = end_of(expr);
    for (const cf_op *op = begin; op < end; op++)
        if (op->code == CF_OP_AND || op->code == CF_OP_OR)
            return NOT_YET;
    for (;;) {
        const cf_op *last = end - 1, *right;
        int64_t known;
        if (last->code == CF_OP_PARAM) {
            *param = (uint32_t)last->operand;
            *value = target;
            return SOLVED;
        }
        if (last->code == CF_OP_NOT)
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
        if (evaluate(inference->kernel, arguments, in_left ? right : begin, in_left ? last : right, &known) != 0)
            return NOT_YET;
        enum solution solution = undo(last->code, in_left, guess, known, &target);
        if (solution != SOLVED)
            return solution;
        if (!in_left)
            begin = right;
        end = in_left ? right : last;
    }
}

/* ---- Words ---- */

/* Adds "source[M]", or "u[ny][nx]". */
static void add_declaration(const cf_param *param, struct message *message)
{
    message_add(message, "%s", param->name);
    for (uint32_t d = 0; d < param->ndims; d++)
        message_add(message, "[%s]", param->extents[d].text);
}

/* Adds "N = 3 as given, M = 4 from source" for the parameters that an array's extents read. */
static void add_values(const struct inference *inference, const cf_param *array, struct message *message)
{
    const cf_kernel *kernel = inference->kernel;
    const char *separator = "";
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const struct argument *argument = &inference->arguments[i];
        int is_read = 0;
        for (uint32_t d = 0; d < array->ndims; d++)
            for (const cf_op *op = array->extents[d].ops; op->code != CF_OP_END; op++)
                is_read |= op->code == CF_OP_PARAM && op->operand == (int64_t)i;
        if (!is_read || argument->origin == ABSENT)
            continue;
        char text[ELEMENT_TEXT];
        element_format(kernel->params[i].type, &argument->value, text);
        message_add(message, "%s%s = %s %s", separator, kernel->params[i].name, text,
                    argument->origin == GIVEN ? "as given" : "from ");
        if (argument->origin == INFERRED)
            message_add(message, "%s", kernel->params[argument->inferred_from].name);
        separator = ", ";
    }
}

/* Begins a line with what is known: "gather: index has 100 elements". */
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
        given |= !argument_is_array(&inference->kernel->params[i]) && inference->arguments[i].origin != ABSENT;
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

/* Reduces an equation to one extent with unknowns, and solves that. */
static enum solution solve_equation(const struct inference *inference, const struct equation *equation, int guess,
                                    uint32_t *param, int64_t *value)
{
    const cf_param *array = &inference->kernel->params[equation->array];
    const cf_expr *unknown = NULL;
    int64_t target = equation->value, known = 1;
    for (uint32_t d = 0; d < array->ndims; d++) {
        const cf_expr *expr = &array->extents[d];
        int64_t extent;
        if (equation->dimension != PRODUCT && equation->dimension != (int)d)
            continue;
        if (has_unknown(inference->arguments, expr->ops, end_of(expr))) {
            if (unknown)
                return NOT_YET;
            unknown = expr;
        } else if (equation->dimension == PRODUCT &&
                   (infer_evaluate(inference->kernel, inference->arguments, expr, &extent) != 0 ||
                    __builtin_mul_overflow(known, extent, &known))) {
            return NOT_YET;
        }
    }
    if (!unknown)
        return NOT_YET;
    enum solution solution = undo(CF_OP_MUL, 0, guess, known, &target);
    return solution == SOLVED ? solve(inference, unknown, guess, target, param, value) : solution;
}

static int assign(const struct inference *inference, const struct equation *equation, uint32_t param, int64_t value,
                  struct message *message)
{
    const cf_param *solved = &inference->kernel->params[param];
    struct argument *argument = &inference->arguments[param];
    if (element_store(solved->type, value, &argument->value) != 0) {
        begin_line(inference, equation, message);
        message_add(message, ", so %s would be %" PRId64 ", outside the range of %s", solved->name, value,
                    cf_type_name(solved->type));
        return -1;
    }
    argument->origin = INFERRED;
    argument->inferred_from = equation->array;
    return 0;
}

/* Solves what can be solved, and guesses only where nothing else is left to do. */
static int solve_all(const struct inference *inference, struct message *message)
{
    for (int guess = 0; guess < 2; guess++)
        for (uint32_t e = 0; e < inference->count; e++) {
            uint32_t param = 0;
            int64_t value = 0;
            enum solution solution = solve_equation(inference, &inference->equations[e], guess, &param, &value);
            if (solution == IMPOSSIBLE)
                return impossible(inference, &inference->equations[e], message);
            if (solution == NOT_YET)
                continue;
            if (assign(inference, &inference->equations[e], param, value, message) != 0)
                return -1;
            guess = -1; /* from the start, with what is known now */
            break;
        }
    return 0;
}

static int check_complete(const struct inference *inference, struct message *message)
{
    const cf_kernel *kernel = inference->kernel;
    int missing = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (argument_is_array(&kernel->params[i]) || inference->arguments[i].origin != ABSENT)
            continue;
        if (!missing)
            message_set(message, "%s: missing", kernel->name);
        message_add(message, "%s %s (%s)", missing ? "," : "", kernel->params[i].name,
                    cf_type_name(kernel->params[i].type));
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
    int64_t total = 1, extent;
    int fits = 1;
    for (uint32_t d = 0; d < param->ndims; d++)
        if (equation->dimension == PRODUCT || equation->dimension == (int)d)
            fits &= infer_evaluate(inference->kernel, inference->arguments, &param->extents[d], &extent) == 0 &&
                    !__builtin_mul_overflow(total, extent, &total);
    if (fits && total == equation->value)
        return 0;
    begin_line(inference, equation, message);
    message_add(message, " and ");
    add_declaration(param, message);
    if (fits)
        message_add(message, " %s %" PRId64 " with ",
                    equation->dimension != PRODUCT && param->ndims > 1 ? "has" : "means", total);
    else
        message_add(message, " overflows with ");
    add_values(inference, param, message);
    return -1;
}

/* ---- Outputs ---- */

static int describe_output(const struct inference *inference, uint32_t i, struct message *message)
{
    const cf_kernel *kernel = inference->kernel;
    const cf_param *param = &kernel->params[i];
    struct npy_array *array = &inference->arguments[i].array;
    const char *problem = NULL;
    array->type = param->type;
    array->ndims = param->ndims;
    for (uint32_t d = 0; d < param->ndims && !problem; d++)
        if (infer_evaluate(kernel, inference->arguments, &param->extents[d], &array->shape[d]) != 0)
            problem = "overflows";
        else if (array->shape[d] < 0)
            problem = "has a negative extent";
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
    struct inference inference = {.kernel = kernel, .arguments = arguments};
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
    free(inference.equations);
    return status;
}
