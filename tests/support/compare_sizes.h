/* compare_sizes.h - compares the compiled size functions of a library's kernels, and cf__model_interpret(), with the
 * interpreter of descriptors, over random and extreme arguments. Where the interpreter finds no error, a size function
 * must return 1 and give the same size. */
#ifndef COMPARE_SIZES_H
#define COMPARE_SIZES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "base/error.h"
#include "model/descriptor.h"
#include "model/expr.h"
#include "model/size.h"

enum { COMPARE_PARAMS = 64, COMPARE_POOL = 256, COMPARE_BYTES = 4096 };

/* The expressions of one kernel, and the arguments of one trial. */
struct compare {
    const cf_kernel *kernel;
    uint64_t random;
    const cf_expr *exprs[COMPARE_POOL]; /* the expressions that a launch evaluates */
    size_t nexprs;
    int64_t pool[COMPARE_POOL]; /* limits and constants in the expressions, and the numbers next to them */
    size_t npool;
    int is_small; /* the numbers of this trial are far from every limit */
    int64_t last; /* the latest number; some of the following numbers are near it */
    void *args[COMPARE_PARAMS];
    _Alignas(16) unsigned char values[COMPARE_PARAMS][COMPARE_BYTES];
};

/* The splitmix64 generator. */
static inline uint64_t compare_random(struct compare *of)
{
    uint64_t z = of->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static inline void compare_add(struct compare *of, int64_t value)
{
    for (int64_t d = -1; d <= 1; d++)
        if (of->npool < COMPARE_POOL)
            of->pool[of->npool++] = (int64_t)((uint64_t)value + (uint64_t)d);
}

static inline void compare_add_expr(struct compare *of, const cf_expr *expr)
{
    if (!expr->ops || of->nexprs == COMPARE_POOL)
        return;
    of->exprs[of->nexprs++] = expr;
    for (const cf_op *op = expr->ops; op->code != CF_OP_END; op++)
        if (op->code == CF_OP_CONST)
            compare_add(of, op->operand);
}

static inline void compare_learn(struct compare *of)
{
    const cf_kernel *kernel = of->kernel;
    static const int64_t limits[] = {0, 1, 64, 1024, INT32_MAX, UINT16_MAX, UINT32_MAX, INT64_MAX, INT64_MIN};
    static const int64_t blocks[] = {32, 64, 128, 256, 1024};
    static const int64_t bytes[] = {2, 4, 8, 16};
    of->nexprs = of->npool = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        compare_add(of, limits[i]);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        compare_add(of, blocks[i] * INT32_MAX);
        compare_add(of, blocks[i] * UINT16_MAX);
    }
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        compare_add(of, INT64_MAX / bytes[i]);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        for (uint32_t d = 0; cf__is_array(&kernel->params[i]) && d < kernel->params[i].ndims; d++) {
            compare_add_expr(of, &kernel->params[i].extents[d]);
            if (kernel->params[i].lowers)
                compare_add_expr(of, &kernel->params[i].lowers[d]);
            if (kernel->params[i].pitches)
                compare_add_expr(of, &kernel->params[i].pitches[d]);
        }
    for (uint32_t i = 0; i < kernel->nchecks; i++)
        if (kernel->checks[i].array < 0)
            compare_add_expr(of, &kernel->checks[i].condition);
    for (int d = 0; d < CF_GRID_DIMS; d++) {
        compare_add_expr(of, &kernel->launch.grid[d]);
        compare_add_expr(of, &kernel->launch.block[d]);
    }
    compare_add_expr(of, &kernel->launch.items);
    compare_add_expr(of, &kernel->launch.shared);
}

static inline int64_t compare_number(struct compare *of)
{
    uint64_t random = compare_random(of);
    int64_t value;
    switch (of->is_small ? random % 4 : random % 8) {
    case 0:
        value = (int64_t)((random >> 8) % 5000);
        break;
    case 1:
        value = (int64_t)((uint64_t)of->last + (random >> 8) % 5 - 2);
        break;
    case 2:
        value = (int64_t)((random >> 8) % 40);
        break;
    case 3:
    case 4:
    case 5:
        value = of->pool[(random >> 8) % of->npool];
        break;
    case 6:
        value = (int64_t)(random >> (8 + random % 50));
        break;
    default:
        value = (int64_t)compare_random(of);
    }
    if (of->is_small && (value < -3 || value > 100000))
        value = (int64_t)((random >> 8) % 300);
    return of->last = value;
}

/* Writes a random number of the given type. */
static inline void compare_write(struct compare *of, cf_type type, unsigned char *at)
{
    static const double reals[] = {0., -0., 1., -1.5, 2., 0.5, 1e-300, 1e300, INFINITY, -INFINITY, NAN, 3., 100.};
    int64_t value = compare_number(of);
    uint64_t random = compare_random(of);
    double number = random % 2 ? reals[(random >> 8) % (sizeof reals / sizeof *reals)] : (double)value;
    float single = (float)number;
    switch (type) {
    case CF_F32:
        memcpy(at, &single, sizeof single);
        break;
    case CF_F64:
        memcpy(at, &number, sizeof number);
        break;
    case CF_BOOL:
        *at = (unsigned char)(random & 1);
        break;
    default: /* little-endian, like both supported platforms */
        memcpy(at, &value, cf_type_size(type) < sizeof value ? cf_type_size(type) : sizeof value);
    }
}

/* Returns 1 for scratch memory of 0 elements, for which a launch passes a null pointer. */
static inline int compare_is_empty(const cf_param *param)
{
    const cf_op *op = param->extents[0].ops;
    return op[0].code == CF_OP_CONST && op[0].operand == 0 && op[1].code == CF_OP_END;
}

static inline void compare_fill(struct compare *of)
{
    const cf_kernel *kernel = of->kernel;
    of->is_small = compare_random(of) % 2 == 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        memset(of->values[i], 0, sizeof of->values[i]);
        of->args[i] = of->values[i];
        if (param->direction == CF_SCRATCH) {
            of->args[i] = compare_is_empty(param) ? of->values[i] : NULL;
        } else if (param->direction != CF_VALUE) {
            uintptr_t pointer = compare_random(of) % 16 ? 0x1000 : 0;
            memcpy(of->values[i], &pointer, sizeof pointer);
        } else if (param->type != CF_OPAQUE && param->lanes == 1) {
            compare_write(of, param->type, of->values[i]);
        }
    }
    for (size_t e = 0; e < of->nexprs; e++)
        for (const cf_op *op = of->exprs[e]->ops; op->code != CF_OP_END; op++)
            if (op->code == CF_OP_MEMBER)
                compare_write(of, CF_MEMBER_TYPE(op->operand),
                              of->values[CF_MEMBER_PARAM(op->operand)] + CF_MEMBER_OFFSET(op->operand));
    uint64_t absent = kernel->nparams ? compare_random(of) % (64ULL * kernel->nparams) : 0;
    if (absent < kernel->nparams && kernel->params[absent].direction != CF_SCRATCH)
        of->args[absent] = NULL;
}

/* Compares a size with the interpreter's. Returns the difference as the end of a sentence, or NULL if there is none. */
static inline const char *compare_size(const cf_launch_size *size, const cf_launch_size *expected)
{
    for (int d = 0; d < CF_GRID_DIMS; d++)
        if (size->grid[d] != expected->grid[d] || size->block[d] != expected->block[d])
            return "another grid or block";
    return size->shared != expected->shared ? "other shared memory" : NULL;
}

/* Runs one trial; returns the error as the end of a sentence, or NULL. */
static inline const char *compare_once(struct compare *of, int *is_fast)
{
    const cf_kernel *kernel = of->kernel;
    cf_launch_size size;
    cf_launch_size expected;
    memset(&size, 0xa5, sizeof size);
    int status = cf__model_size(kernel, of->args, 0, &expected);
    int is_good = status == CF_OK && !cf__size_is_empty(&expected);
    const unsigned int failures = cf__error_count();
    if (!kernel->enqueue && cf__model_interpret(kernel, of->args, &size) != is_good)
        return is_good ? "no size without a report" : "a size without a report, though there is none";
    if (cf__error_count() != failures)
        return "a report that was not asked for";
    *is_fast = kernel->sizes(of->args, &size);
    if (!*is_fast)
        return is_good && of->is_small ? "0, though nothing is out of the ordinary" : NULL;
    if (!is_good)
        return status == CF_OK ? "1, though there is nothing to launch" : "1, though the interpreter refuses it";
    return compare_size(&size, &expected);
}

static inline int compare_kernel(struct compare *of, const cf_kernel *kernel, int trials, char *wrong, size_t room)
{
    int fast = 0;
    of->kernel = kernel;
    of->random = strlen(kernel->entry ? kernel->entry : kernel->name) + kernel->line;
    compare_learn(of);
    for (int i = 0; i < trials; i++) {
        int is_fast;
        compare_fill(of);
        const char *what = compare_once(of, &is_fast);
        fast += is_fast;
        if (!what)
            continue;
        size_t used =
            (size_t)snprintf(wrong, room, "trial %d of %s gives %s (%s)", i, kernel->name, what, cf_last_error());
        int is_any_null = 0;
        for (uint32_t p = 0; p < kernel->nparams; p++)
            is_any_null |= !of->args[p] && kernel->params[p].direction != CF_SCRATCH;
        if (!is_any_null && used < room)
            cf__describe_values(&(struct cf__operands){kernel, of->args}, of->exprs, of->nexprs, wrong + used,
                                room - used);
        return -1;
    }
    return fast;
}

/* Compares the sizes of every variant of every kernel. Returns 0, or -1 with the error in `wrong`. `*compiled` is the
 * number of kernels that have a size function. */
static inline int compare_sizes(const cf_module *module, int trials, int *compiled, char *wrong, size_t room)
{
    static struct compare of;
    *compiled = 0;
    for (size_t k = 0; k < module->count; k++) {
        const cf_kernel *kernel = module->kernels[k];
        for (uint32_t v = 0; v < (kernel->nvariants ? kernel->nvariants : 1); v++) {
            const cf_kernel *variant = kernel->nvariants ? kernel->variants[v] : kernel;
            if (!variant->sizes)
                continue;
            int fast = compare_kernel(&of, variant, trials, wrong, room);
            if (fast == 0)
                snprintf(wrong, room, "%s is never launched at once in %d trials", variant->name, trials);
            if (fast <= 0)
                return -1;
            ++*compiled;
        }
    }
    return 0;
}

#endif
