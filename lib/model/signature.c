/* signature.c - reads the signature of a kernel: its parameters, grid, block and checks.
 *
 * A recursive descent parser emits the steps of expressions while it reads. It reads the text three times. The first
 * pass counts the entries that the tables need. The second one stores the names of parameters, because an expression
 * may use a parameter that is declared later. The third one writes everything. */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "model/signature.h"

#include "base/error.h"
#include "base/text.h"
#include "model/type_name.h"

enum {
    STEPS = 4096, /* maximum steps of an expression; chained comparisons repeat steps */
    NESTING = 64  /* maximum depth of nested parentheses, unary operators and ?:, the same as in annotations */
};

enum token { END, NAME, NUMBER, OTHER };

enum pass { COUNT, DECLARE, WRITE };

struct reader {
    const char *function, *text;
    cf_kernel *kernel;
    enum pass pass;
    int status;
    /* The current token. */
    enum token token;
    const char *begin, *end, *end_before; /* begin and end of the current token; end of the token before it */
    /* The tables, which do not exist in the first pass, and the number of entries in use. */
    cf_param *params;
    cf_expr *exprs;
    cf_check *checks;
    cf_op *ops;
    char *texts;
    size_t nparams, nexprs, nchecks, nops, ntexts;
    size_t first_op;                   /* number of the current expression's first step */
    int depth, deepest;                /* values on the stack if every step is executed; maximum of `depth` */
    int nesting, may_be_real, is_real; /* `is_real` is 1 if the expression reads a real number */
    const char *integers_only;         /* first operator in the expression that is only for integers, or NULL */
};

/* ---- Errors: the first one is kept, and ends all loops ---- */

__attribute__((format(printf, 3, 4))) static void fail_at(struct reader *reader, const char *place, const char *format,
                                                          ...)
{
    char problem[256];
    va_list values;
    if (reader->status != CF_OK)
        return;
    va_start(values, format);
    cf__vformat(problem, sizeof problem, format, values);
    va_end(values);
    reader->status = cf__fail(CF_EINVAL, "%s: %s: column %td of the signature: %s", reader->function,
                              reader->kernel->name, place - reader->text + 1, problem);
    reader->token = END;
    reader->begin = reader->end = "";
}

static void fail_expected(struct reader *reader, const char *what)
{
    if (reader->token == END)
        fail_at(reader, reader->begin, "expected %s, found the end", what);
    else
        fail_at(reader, reader->begin, "expected %s, found '%.*s'", what, (int)(reader->end - reader->begin),
                reader->begin);
}

/* ---- Tokens ---- */

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number may have an exponent with a sign: 1e-6, 0x1p-6. */
static const char *end_of_number(const char *at)
{
    char exponent = at[0] == '0' && (at[1] | 32) == 'x' ? 'p' : 'e';
    while (is_letter(*at) || is_digit(*at) || *at == '.' || ((*at == '-' || *at == '+') && (at[-1] | 32) == exponent))
        at++;
    return at;
}

static void next_token(struct reader *reader)
{
    static const char pairs[][3] = {"<=", ">=", "==", "!=", "&&", "||", "<<", ">>"};
    if (reader->status != CF_OK)
        return;
    const char *at = reader->end_before = reader->end;
    while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
        at++;
    reader->begin = at;
    reader->token = !*at                                               ? END
                    : is_letter(*at)                                   ? NAME
                    : is_digit(*at) || (*at == '.' && is_digit(at[1])) ? NUMBER
                                                                       : OTHER;
    reader->end = at + (reader->token != END);
    if (reader->token == NAME)
        while (is_letter(*reader->end) || is_digit(*reader->end))
            reader->end++;
    else if (reader->token == NUMBER)
        reader->end = end_of_number(at);
    for (size_t i = 0; reader->token == OTHER && i < sizeof pairs / sizeof *pairs; i++)
        if (strncmp(at, pairs[i], 2) == 0)
            reader->end = at + 2;
}

static int is_at(const struct reader *reader, const char *spelling)
{
    size_t length = strlen(spelling);
    return reader->token != END && (size_t)(reader->end - reader->begin) == length &&
           memcmp(reader->begin, spelling, length) == 0;
}

static int accept_token(struct reader *reader, const char *spelling)
{
    int is_there = is_at(reader, spelling);
    if (is_there)
        next_token(reader);
    return is_there;
}

static void expect_token(struct reader *reader, const char *spelling, const char *what)
{
    if (!accept_token(reader, spelling))
        fail_expected(reader, what);
}

/* ---- Tables ---- */

static size_t add_op(struct reader *reader, int32_t code, int64_t operand)
{
    if (reader->nops - reader->first_op == STEPS)
        fail_at(reader, reader->begin, "the expression has more than %d steps; make it simpler", STEPS);
    if (reader->status != CF_OK)
        return reader->first_op; /* after a failure, the tables have no room for further steps */
    if (code == CF_OP_CONST || code == CF_OP_PARAM || code == CF_OP_REAL)
        reader->deepest = ++reader->depth > reader->deepest ? reader->depth : reader->deepest;
    else if (code != CF_OP_NEG && code != CF_OP_NOT)
        reader->depth--;
    if (reader->ops)
        reader->ops[reader->nops] = (cf_op){code, operand};
    return reader->nops++;
}

/* Makes the step at `jump` skip all steps after it that were added so far, and the next `more` steps. */
static void set_jump(struct reader *reader, size_t jump, size_t more)
{
    if (reader->ops)
        reader->ops[jump].operand = (int64_t)(reader->nops - jump - 1 + more);
}

static const char *add_text(struct reader *reader, const char *begin, size_t length)
{
    char *text = reader->texts ? reader->texts + reader->ntexts : NULL;
    if (text) {
        memcpy(text, begin, length);
        text[length] = 0;
    }
    reader->ntexts += length + 1;
    return text;
}

/* ---- Types ---- */

/* Reads a type; returns NULL after a failure. */
static const struct cf__type_name *read_type(struct reader *reader, int *is_const)
{
    const char *begin = reader->begin;
    char name[32] = "", longer[64];
    *is_const = accept_token(reader, "const");
    if (reader->token != NAME)
        fail_expected(reader, "a type");
    int skipped = strncmp(reader->begin, "cf_", 3) == 0 ? 3 : 0;
    for (; reader->token == NAME; skipped = 0) {
        snprintf(longer, sizeof longer, "%s%s%.*s", name, *name ? " " : "",
                 (int)(reader->end - reader->begin) - skipped, reader->begin + skipped);
        if (*name && !cf__type_find(longer, 1))
            break;
        snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, longer);
        next_token(reader);
    }
    *is_const |= accept_token(reader, "const");
    const struct cf__type_name *type = cf__type_find(name, 0);
    if (!type)
        fail_at(reader, begin, "'%s' is no type of a signature, such as float, int, size_t or float4", name);
    return type;
}

/* ---- Expressions ---- */

static void read_expr(struct reader *reader);

static void read_number(struct reader *reader)
{
    char text[64], *end;
    size_t length = (size_t)(reader->end - reader->begin);
    int prefix = reader->begin[0] == '0' ? reader->begin[1] | 32 : 0;
    snprintf(text, sizeof text, "%.*s", (int)length, reader->begin);
    if (strpbrk(text, prefix == 'x' ? "pP" : ".eE")) {
        struct cf__locale locale = cf__enter_c_locale();
        double real = strtod(text, &end);
        if (*end == 'f' || *end == 'F')
            real = strtof(text, NULL);
        cf__leave_c_locale(locale);
        int64_t bits;
        memcpy(&bits, &real, sizeof bits);
        if (length >= sizeof text || end[strspn(end, "fFlL")] || !(real < 1e308))
            fail_at(reader, reader->begin, "'%s' is no number", text);
        if (!reader->may_be_real)
            fail_at(reader, reader->begin, "'%s' is no integer; this expression takes integers", text);
        reader->is_real = 1;
        add_op(reader, CF_OP_REAL, bits);
    } else {
        errno = 0;
        unsigned long long number = prefix == 'b' ? strtoull(text + 2, &end, 2) : strtoull(text, &end, 0);
        size_t digits = prefix == 'b' ? strspn(text + 2, "01") : 1;
        if (length >= sizeof text || end[strspn(end, "uUlL")] || errno || number > INT64_MAX || !digits ||
            (prefix == 'b' && end != text + 2 + digits))
            fail_at(reader, reader->begin, "'%s' is no integer of 63 bits", text);
        add_op(reader, CF_OP_CONST, (int64_t)number);
    }
    next_token(reader);
}

static void read_parameter_name(struct reader *reader)
{
    size_t i = 0, length = (size_t)(reader->end - reader->begin);
    while (reader->pass == WRITE && i < reader->kernel->nparams &&
           !(strncmp(reader->params[i].name, reader->begin, length) == 0 && !reader->params[i].name[length]))
        i++;
    if (reader->pass == WRITE && i == reader->kernel->nparams) {
        fail_at(reader, reader->begin, "'%.*s' is no parameter of the signature", (int)length, reader->begin);
        return;
    }
    if (reader->pass == WRITE) {
        const cf_param *param = &reader->params[i];
        int is_real = cf_type_kind(param->type) == 'f';
        if (param->direction != CF_VALUE || param->lanes != 1 || cf_type_kind(param->type) == 'c' ||
            (is_real && !reader->may_be_real))
            fail_at(reader, reader->begin, "%s is %s; this expression takes %s", param->name,
                    param->direction != CF_VALUE ? "a pointer" : param->ctype,
                    reader->may_be_real ? "numbers" : "integers");
        reader->is_real |= is_real;
    }
    add_op(reader, CF_OP_PARAM, (int64_t)i);
    next_token(reader);
}

static void read_min_max(struct reader *reader, int32_t code)
{
    expect_token(reader, "(", "'(' after min or max");
    read_expr(reader);
    expect_token(reader, ",", "',' between the two values of min or max");
    read_expr(reader);
    expect_token(reader, ")", "')' after the two values of min or max");
    add_op(reader, code, 0);
}

static void read_sizeof(struct reader *reader)
{
    int is_const;
    expect_token(reader, "(", "'(' after sizeof");
    const char *begin = reader->begin;
    const struct cf__type_name *type = read_type(reader, &is_const);
    if (type && !type->bytes)
        fail_at(reader, begin, "void has no size");
    expect_token(reader, ")", "')' after the type");
    add_op(reader, CF_OP_CONST, type ? type->bytes : 0);
}

static void read_primary(struct reader *reader)
{
    if (accept_token(reader, "(")) {
        read_expr(reader);
        expect_token(reader, ")", "')'");
    } else if (reader->token == NUMBER) {
        read_number(reader);
    } else if (accept_token(reader, "min")) {
        read_min_max(reader, CF_OP_MIN);
    } else if (accept_token(reader, "max")) {
        read_min_max(reader, CF_OP_MAX);
    } else if (accept_token(reader, "sizeof")) {
        read_sizeof(reader);
    } else if (is_at(reader, "true") || is_at(reader, "false")) {
        add_op(reader, CF_OP_CONST, accept_token(reader, "true") || !accept_token(reader, "false"));
    } else if (reader->token == NAME) {
        read_parameter_name(reader);
    } else {
        fail_expected(reader, "a number, a parameter or '('");
    }
}

static void read_unary(struct reader *reader)
{
    if (++reader->nesting > NESTING)
        fail_at(reader, reader->begin, "the expression is nested more than %d deep", NESTING);
    const char *begin = reader->begin;
    int32_t code = accept_token(reader, "-")   ? CF_OP_NEG
                   : accept_token(reader, "!") ? CF_OP_NOT
                   : accept_token(reader, "~") ? CF_OP_BIT_XOR
                                               : CF_OP_END;
    if (code == CF_OP_END) {
        (void)accept_token(reader, "+");
        read_primary(reader);
    } else {
        read_unary(reader);
        if (code == CF_OP_BIT_XOR) {
            reader->integers_only = reader->integers_only ? reader->integers_only : begin;
            add_op(reader, CF_OP_CONST, -1);
        }
        add_op(reader, code, 0);
    }
    reader->nesting--;
}

/* The binary operators by precedence. The weakest ones come first. */
static const struct binary {
    const char *spelling;
    int32_t code;
    int level, is_for_integers;
} operators[] = {
    {"||", CF_OP_OR, 0, 0},     {"&&", CF_OP_AND, 1, 0}, {"|", CF_OP_BIT_OR, 2, 1}, {"^", CF_OP_BIT_XOR, 3, 1},
    {"&", CF_OP_BIT_AND, 4, 1}, {"<", CF_OP_LT, 5, 0},   {"<=", CF_OP_LE, 5, 0},    {">", CF_OP_GT, 5, 0},
    {">=", CF_OP_GE, 5, 0},     {"==", CF_OP_EQ, 5, 0},  {"!=", CF_OP_NE, 5, 0},    {"<<", CF_OP_SHL, 6, 1},
    {">>", CF_OP_SHR, 6, 1},    {"+", CF_OP_ADD, 7, 0},  {"-", CF_OP_SUB, 7, 0},    {"*", CF_OP_MUL, 8, 0},
    {"/", CF_OP_DIV, 8, 0},     {"%", CF_OP_MOD, 8, 1},
};
enum { COMPARISONS = 5, LEVELS = 9 };

/* Accepts an operator of this precedence level; returns NULL if the next token is none. */
static const struct binary *accept_operator(struct reader *reader, int level)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const char *begin = reader->begin;
        if (operators[i].level != level || !accept_token(reader, operators[i].spelling))
            continue;
        if (operators[i].is_for_integers && !reader->integers_only)
            reader->integers_only = begin;
        return &operators[i];
    }
    return NULL;
}

static void read_level(struct reader *reader, int level);

/* Reads the comparisons that follow a first term. Comparisons can be chained: in 0 < a < b, the second comparison
 * begins with a copy of the steps of a. */
static void read_comparisons(struct reader *reader)
{
    const struct binary *relation;
    size_t begin = 0, end = 0;
    for (int count = 0; (relation = accept_operator(reader, COMPARISONS)) != NULL; count++) {
        size_t jump = count ? add_op(reader, CF_OP_AND, 0) : 0;
        for (size_t i = begin; i < end; i++)
            add_op(reader, reader->ops ? reader->ops[i].code : 0, reader->ops ? reader->ops[i].operand : 0);
        begin = reader->nops;
        read_level(reader, COMPARISONS + 1);
        end = reader->nops;
        add_op(reader, relation->code, 0);
        if (count)
            set_jump(reader, jump, 0);
    }
}

static void read_level(struct reader *reader, int level)
{
    const struct binary *found;
    if (level == LEVELS) {
        read_unary(reader);
        return;
    }
    read_level(reader, level + 1);
    if (level == COMPARISONS)
        read_comparisons(reader);
    while (level != COMPARISONS && (found = accept_operator(reader, level)) != NULL) {
        int is_logic = found->code == CF_OP_AND || found->code == CF_OP_OR;
        size_t jump = is_logic ? add_op(reader, found->code, 0) : 0;
        read_level(reader, level + 1);
        add_op(reader, is_logic ? CF_OP_NOT : found->code, 0);
        if (is_logic) {
            add_op(reader, CF_OP_NOT, 0);
            set_jump(reader, jump, 0);
        }
    }
}

static void read_expr(struct reader *reader)
{
    if (++reader->nesting > NESTING)
        fail_at(reader, reader->begin, "the expression is nested more than %d deep", NESTING);
    read_level(reader, 0);
    if (accept_token(reader, "?")) {
        size_t unless = add_op(reader, CF_OP_UNLESS, 0);
        read_expr(reader);
        set_jump(reader, unless, 1);
        size_t skip = add_op(reader, CF_OP_SKIP, 0);
        expect_token(reader, ":", "':' between the two values of ?:");
        read_expr(reader);
        set_jump(reader, skip, 0);
    }
    reader->nesting--;
}

static cf_expr read_whole_expr(struct reader *reader, int may_be_real)
{
    const char *begin = reader->begin;
    size_t first = reader->first_op = reader->nops;
    reader->nesting = reader->is_real = reader->depth = reader->deepest = 0;
    reader->may_be_real = may_be_real;
    reader->integers_only = NULL;
    read_expr(reader);
    add_op(reader, CF_OP_END, 0);
    if (reader->status != CF_OK)
        return (cf_expr){NULL, NULL};
    if (reader->is_real && reader->integers_only)
        fail_at(reader, reader->integers_only, "the operator takes integers, and the condition has real numbers");
    if (reader->deepest > CF_EXPR_DEPTH)
        fail_at(reader, begin, "the expression needs more than %d values at once; make it simpler", CF_EXPR_DEPTH);
    return (cf_expr){add_text(reader, begin, (size_t)(reader->end_before - begin)),
                     reader->ops ? reader->ops + first : NULL};
}

/* ---- Parameters ---- */

static void read_extents(struct reader *reader, cf_param *param)
{
    param->extents = reader->exprs && is_at(reader, "[") ? reader->exprs + reader->nexprs : NULL;
    for (; accept_token(reader, "["); param->ndims++) {
        if (param->ndims == CF_ARRAY_DIMS)
            fail_at(reader, reader->begin, "an array has at most %d dimensions", CF_ARRAY_DIMS);
        cf_expr extent = read_whole_expr(reader, 0);
        if (reader->exprs)
            reader->exprs[reader->nexprs] = extent;
        reader->nexprs++;
        expect_token(reader, "]", "']' after the extent");
    }
}

static void read_parameter(struct reader *reader)
{
    cf_param param = {.direction = accept_token(reader, "in")      ? CF_IN
                                   : accept_token(reader, "out")   ? CF_OUT
                                   : accept_token(reader, "inout") ? CF_INOUT
                                                                   : CF_VALUE};
    const char *begin = reader->begin;
    int is_const, is_array = param.direction != CF_VALUE;
    const struct cf__type_name *type = read_type(reader, &is_const);
    if (!is_array && accept_token(reader, "*"))
        param.direction = CF_POINTER;
    if (reader->token != NAME)
        fail_expected(reader, is_array ? "the array's name, without *" : "the parameter's name");
    for (uint32_t i = 0; reader->pass == WRITE && type && i < reader->nparams; i++)
        if (is_at(reader, reader->params[i].name))
            fail_at(reader, reader->begin, "%s is declared twice", reader->params[i].name);
    param.name = add_text(reader, reader->begin, (size_t)(reader->end - reader->begin));
    next_token(reader);
    if (is_array && !is_at(reader, "["))
        fail_expected(reader, "'[' and the array's extent");
    if (!is_array && is_at(reader, "["))
        fail_at(reader, begin, "expected in, out or inout before an array");
    read_extents(reader, &param);
    if (!type || reader->status != CF_OK)
        return;
    if (!type->bytes && param.direction != CF_POINTER)
        fail_at(reader, begin, "void is a type of pointers only, as in void *p");
    char ctype[64];
    snprintf(ctype, sizeof ctype, "%s%s%s",
             param.direction == CF_IN || (is_const && param.direction == CF_POINTER) ? "const " : "", type->ctype,
             param.direction == CF_VALUE ? "" : " *");
    param.ctype = add_text(reader, ctype, strlen(ctype));
    param.type = type->type;
    param.lanes = type->lanes;
    param.bytes = type->bytes;
    param.align = type->align;
    if (reader->params)
        reader->params[reader->nparams] = param;
    reader->nparams++;
}

/* ---- Clauses ---- */

static void read_sizes(struct reader *reader, const char *name, int most, cf_expr *sizes)
{
    int d = 0;
    expect_token(reader, "(", "'(' after the name of a clause");
    do {
        if (d == most)
            fail_at(reader, reader->begin, "%s takes %d value%s at most", name, most, most > 1 ? "s" : "");
        else
            sizes[d++] = read_whole_expr(reader, 0);
    } while (accept_token(reader, ","));
    expect_token(reader, ")", "')' or an operator after the expression");
}

static void read_checks(struct reader *reader)
{
    expect_token(reader, "(", "'(' after check");
    do {
        cf_check check = {.array = -1, .condition = read_whole_expr(reader, 1)};
        check.text = check.condition.text;
        check.is_real = (uint8_t)reader->is_real;
        if (reader->checks)
            reader->checks[reader->nchecks] = check;
        reader->nchecks++;
    } while (accept_token(reader, ","));
    expect_token(reader, ")", "')' or an operator after the condition");
}

static void read_clauses(struct reader *reader)
{
    enum { GRID, BLOCKS, BLOCK, SHARED, CHECK, CLAUSES };
    static const char *const names[] = {"grid", "blocks", "block", "shared", "check"};
    static const cf_op default_block[] = {{CF_OP_CONST, 256}, {CF_OP_END, 0}};
    cf_launch_rule *rule = &reader->kernel->launch;
    cf_expr *const sizes[] = {rule->grid, rule->grid, rule->block, &rule->shared};
    int seen[CLAUSES] = {0}, clause;
    *rule = (cf_launch_rule){.block = {{"256", default_block}}};
    while (reader->token != END) {
        const char *begin = reader->begin;
        for (clause = 0; clause < CLAUSES && !accept_token(reader, names[clause]);)
            clause++;
        if (clause == CLAUSES)
            fail_expected(reader, "grid, blocks, block, shared or check");
        else if (seen[clause]++ && clause != CHECK)
            fail_at(reader, begin, "%s stands twice", names[clause]);
        else if (clause == CHECK)
            read_checks(reader);
        else
            read_sizes(reader, names[clause], clause == SHARED ? 1 : CF_GRID_DIMS, sizes[clause]);
        (void)accept_token(reader, ",");
    }
    if (seen[GRID] + seen[BLOCKS] != 1)
        fail_at(reader, reader->begin, seen[GRID] ? "grid and blocks exclude each other" : "grid or blocks is missing");
    rule->counts_blocks = (uint8_t)seen[BLOCKS];
}

/* ---- The signature ---- */

static void read_signature(struct reader *reader, enum pass pass)
{
    reader->pass = pass;
    reader->nparams = reader->nexprs = reader->nchecks = reader->nops = reader->ntexts = reader->first_op = 0;
    reader->end = reader->text;
    next_token(reader);
    expect_token(reader, "(", "'(' before the parameters");
    if (!accept_token(reader, ")")) {
        for (read_parameter(reader); accept_token(reader, ",");)
            read_parameter(reader);
        expect_token(reader, ")", "',' or ')' after a parameter");
    }
    read_clauses(reader);
    reader->kernel->nparams = (uint32_t)reader->nparams;
    reader->kernel->nchecks = (uint32_t)reader->nchecks;
}

int cf__signature_read(const char *function, const char *text, cf_kernel *kernel, void **block)
{
    struct reader reader = {.function = function, .text = text, .kernel = kernel};
    read_signature(&reader, COUNT);
    if (reader.status != CF_OK)
        return reader.status;
    char *memory =
        calloc(1, reader.nparams * sizeof *reader.params + reader.nexprs * sizeof *reader.exprs +
                      reader.nchecks * sizeof *reader.checks + reader.nops * sizeof *reader.ops + reader.ntexts + 1);
    if (!memory)
        return cf__fail(CF_ENOMEM, "%s: %s: no memory for its signature", function, kernel->name);
    reader.params = (cf_param *)(void *)memory;
    reader.exprs = (cf_expr *)(void *)(reader.params + reader.nparams);
    reader.checks = (cf_check *)(void *)(reader.exprs + reader.nexprs);
    reader.ops = (cf_op *)(void *)(reader.checks + reader.nchecks);
    reader.texts = (char *)(reader.ops + reader.nops);
    read_signature(&reader, DECLARE);
    if (reader.status == CF_OK)
        read_signature(&reader, WRITE);
    if (reader.status != CF_OK) {
        free(memory);
        return reader.status;
    }
    kernel->params = reader.params;
    kernel->checks = reader.checks;
    *block = memory;
    return CF_OK;
}
