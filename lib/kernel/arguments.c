/* arguments.c - checks a kernel's arguments and computes its grid and block. */
#include <inttypes.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "kernel/arguments.h"

#include "base/error.h"
#include "model/descriptor.h"
#include "model/expr.h"
#include "model/section.h"
#include "context/scope.h"
#include "kernel/image.h"
#include "kernel/scratch_args.h"

/* ---- Arguments ---- */

static int check_condition(const cf_kernel *kernel, const cf_check *check, void *const args[])
{
    int64_t holds = 0;
    double real = 0;
    int status = check->is_real ? cf__evaluate_real(kernel, &check->condition, args, &real)
                                : cf__evaluate(kernel, &check->condition, args, &holds);
    if (status == CF_OK && (check->is_real ? real != 0 : holds != 0))
        return CF_OK;
    char values[160];
    const cf_expr *expr = &check->condition;
    cf__describe_values(kernel, &expr, 1, args, values, sizeof values);
    if (status != CF_OK)
        return cf__fail(status, "%s: the check %s overflows or divides by 0%s%s", kernel->function, check->text,
                        *values ? " with " : "", values);
    return cf__fail(CF_EINVAL, "%s: the check %s fails%s%s", kernel->function, check->text, *values ? " with " : "",
                    values);
}

int cf__check_arguments(const cf_kernel *kernel, void *const args[])
{
    int known = cf__check_kernel("cf_launch", kernel);
    if (known != CF_OK)
        return known;
    if (kernel->nparams && !args)
        return cf__fail(CF_EINVAL, "%s: args is NULL", kernel->function);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (!args[i] && kernel->params[i].direction != CF_SCRATCH)
            return cf__fail(CF_EINVAL, "%s: the argument for %s is NULL, and not a pointer to one", kernel->function,
                            kernel->params[i].name);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        if (!cf__is_array(param))
            continue;
        struct cf__section section;
        int status = cf__section_measure(kernel, i, args, &section);
        if (status != CF_OK)
            return status;
        if (section.count && param->direction != CF_SCRATCH && !*(void *const *)args[i])
            return cf__fail(CF_EINVAL, "%s: %s is NULL and its extent is %" PRId64, kernel->function, param->name,
                            section.count);
    }
    for (uint32_t i = 0; i < kernel->nzeros; i++) {
        size_t offset, bytes;
        int status = cf__section_zero(kernel, &kernel->zeros[i], args, &offset, &bytes);
        if (status != CF_OK)
            return status;
    }
    for (uint32_t i = 0; i < kernel->nchecks; i++)
        if (kernel->checks[i].array < 0) {
            int status = check_condition(kernel, &kernel->checks[i], args);
            if (status != CF_OK)
                return status;
        }
    return CF_OK;
}

/* ---- Grid and block ---- */

/* Evaluates an expression of the launch rule; a negative value is an error. */
static int evaluate_rule(const cf_kernel *kernel, const cf_expr *expr, const char *what, void *const args[],
                         int64_t *value)
{
    int status = cf__evaluate(kernel, expr, args, value);
    if (status == CF_OK && *value >= 0)
        return CF_OK;
    char values[160];
    cf__describe_values(kernel, &expr, 1, args, values, sizeof values);
    return cf__fail(status == CF_OK ? CF_EINVAL : status, "%s: %s(%s)%s %s%s%s", kernel->function, what, expr->text,
                    expr == &kernel->cpu_grid ? ")" : "", status == CF_OK ? "is negative" : "overflows or divides by 0",
                    *values ? " with " : "", values);
}

/* The limits of every device that the driver API knows. */
static const int64_t max_grid[CF_GRID_DIMS] = {CF_GRID_SIZE_X, CF_GRID_SIZE_YZ, CF_GRID_SIZE_YZ};
static const int64_t max_block[CF_GRID_DIMS] = {CF_BLOCK_SIZE, CF_BLOCK_SIZE, CF_BLOCK_SIZE_Z};

static int fail_block(const cf_kernel *kernel, int d, int64_t size, void *const args[])
{
    const cf_expr *expr = &kernel->launch.block[d];
    char values[160];
    cf__describe_values(kernel, &expr, 1, args, values, sizeof values);
    return cf__fail(CF_EINVAL,
                    "%s: %s in block(...) is %" PRId64 "%s%s; a block has 1 to %d threads, and at most %" PRId64
                    " along z",
                    kernel->function, expr->text, size, *values ? " with " : "", values, CF_BLOCK_SIZE, max_block[2]);
}

static int fail_bound(const cf_kernel *kernel, const uint32_t block[CF_GRID_DIMS], void *const args[])
{
    const cf_expr *by = kernel->launch.block, *exprs[CF_GRID_DIMS] = {&by[0], &by[1], &by[2]};
    char values[160];
    cf__describe_values(kernel, exprs, CF_GRID_DIMS, args, values, sizeof values);
    return cf__fail(CF_EINVAL,
                    "%s: its block has %" PRIu32 " x %" PRIu32 " x %" PRIu32 " threads%s%s, and its __launch_bounds__ "
                    "allows %" PRIu32,
                    kernel->function, block[0], block[1], block[2], *values ? " with " : "", values,
                    kernel->launch.max_block);
}

/* Fails for a value of the launch rule that is outside its limits. */
static int fail_rule(const cf_kernel *kernel, const cf_expr *expr, const char *what, int64_t value, const char *limit,
                     void *const args[])
{
    char values[160];
    cf__describe_values(kernel, &expr, 1, args, values, sizeof values);
    return cf__fail(CF_EINVAL, "%s: %s(%s)%s is %" PRId64 "%s%s; %s", kernel->function, what, expr->text,
                    expr == &kernel->cpu_grid ? ")" : "", value, *values ? " with " : "", values, limit);
}

/* Computes the number of threads in each dimension, or of blocks if the rule counts blocks. */
static int count_threads(const cf_kernel *kernel, void *const args[], int64_t count[CF_GRID_DIMS])
{
    const cf_launch_rule *rule = &kernel->launch;
    int64_t items;
    int status = CF_OK;
    for (int d = 0; status == CF_OK && d < CF_GRID_DIMS; d++) {
        count[d] = 1;
        if (rule->grid[d].ops)
            status = evaluate_rule(kernel, &rule->grid[d], rule->counts_blocks ? "blocks" : "grid", args, &count[d]);
    }
    if (status != CF_OK || rule->counts_blocks || !rule->items.ops)
        return status;
    status = evaluate_rule(kernel, &rule->items, "items", args, &items);
    if (status == CF_OK && items == 0)
        status = fail_rule(kernel, &rule->items, "items", items, "a thread takes at least one", args);
    if (status == CF_OK)
        count[0] = count[0] / items + (count[0] % items != 0);
    return status;
}

/* Computes the block as declared; the driver chooses the size for block(auto). */
static int compute_block(const cf_kernel *kernel, const struct cf__scope *scope, void *const args[],
                         struct cf__grid *size)
{
    const cf_launch_rule *rule = &kernel->launch;
    int64_t threads = 1;
    for (int d = 0; d < CF_GRID_DIMS; d++) {
        int64_t block = 1;
        int status = rule->block[d].ops ? evaluate_rule(kernel, &rule->block[d], "block", args, &block) : CF_OK;
        if (status != CF_OK)
            return status;
        if (block < 1 || block > max_block[d] || (threads *= block) > CF_BLOCK_SIZE)
            return fail_block(kernel, d, block, args);
        size->block[d] = (uint32_t)block;
    }
    if (threads > cf__most_threads(rule))
        return fail_bound(kernel, size->block, args);
    if (!rule->is_block_auto || size->is_empty)
        return CF_OK;
    int best = 0, status = cf__kernel_load(kernel, scope, &size->loaded);
    if (status == CF_OK)
        status = cf__kernel_auto_block(kernel, scope, size->loaded, &best);
    size->block[0] = (uint32_t)best < cf__most_threads(rule) ? (uint32_t)best : cf__most_threads(rule);
    return status;
}

static int compute_shared(const cf_kernel *kernel, void *const args[], struct cf__grid *size)
{
    const cf_expr *expr = &kernel->launch.shared;
    int64_t bytes = 0;
    int status = expr->ops ? evaluate_rule(kernel, expr, "shared", args, &bytes) : CF_OK;
    if (status == CF_OK && bytes > INT32_MAX)
        return fail_rule(kernel, expr, "shared", bytes, "no device has as much shared memory", args);
    size->shared = (int)bytes;
    return status;
}

/* A grid consists of whole clusters. */
static int check_clusters(const cf_kernel *kernel, const uint32_t grid[CF_GRID_DIMS])
{
    const cf_launch_rule *rule = &kernel->launch;
    int d = 0;
    while (d < CF_GRID_DIMS && grid[d] % cf__cluster_size(rule, d) == 0)
        d++;
    return d == CF_GRID_DIMS ? CF_OK
                             : cf__fail(CF_EINVAL,
                                        "%s: its grid of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                                        " blocks is no multiple of its clusters' %" PRIu32 " x %" PRIu32 " x %" PRIu32,
                                        kernel->function, grid[0], grid[1], grid[2], cf__cluster_size(rule, 0),
                                        cf__cluster_size(rule, 1), cf__cluster_size(rule, 2));
}

int cf__compute_grid(const cf_kernel *kernel, const struct cf__scope *scope, void *const args[], struct cf__grid *size)
{
    const cf_launch_rule *rule = &kernel->launch;
    int64_t count[CF_GRID_DIMS];
    int status = count_threads(kernel, args, count);
    if (status != CF_OK)
        return status;
    size->loaded = NULL;
    size->is_empty = !(count[0] && count[1] && count[2]);
    status = compute_block(kernel, scope, args, size);
    if (status == CF_OK)
        status = compute_shared(kernel, args, size);
    for (int d = 0; status == CF_OK && d < CF_GRID_DIMS; d++) {
        int64_t block = size->block[d];
        int64_t of_grid = rule->counts_blocks ? count[d] : count[d] / block + (count[d] % block != 0);
        if (of_grid > max_grid[d])
            status = cf__fail(CF_EOVERFLOW, "%s: %s(%s) asks for %" PRId64 " blocks and a grid has at most %" PRId64,
                              kernel->function, rule->counts_blocks ? "blocks" : "grid", rule->grid[d].text, of_grid,
                              max_grid[d]);
        size->grid[d] = (uint32_t)of_grid;
    }
    return status == CF_OK && !size->is_empty ? check_clusters(kernel, size->grid) : status;
}

/* ---- Both at once, for kernels without compiled functions ---- */

/* The arguments, and the parameter that was read last: most expressions are the same one. */
struct reading {
    const cf_kernel *kernel;
    void *const *args;
    int64_t param, value; /* param: its number; -1: none yet */
};

/* Returns 0 if there is no value. The usual expressions are a parameter or a constant. */
static inline int evaluate_fast(struct reading *of, const cf_expr *expr, int64_t *value)
{
    const cf_op *op = expr->ops;
    if (op[1].code != CF_OP_END || (op->code != CF_OP_CONST && op->code != CF_OP_PARAM))
        return cf__evaluate(of->kernel, expr, of->args, value) == CF_OK;
    *value = op->operand;
    if (op->code == CF_OP_CONST)
        return 1;
    if (op->operand != of->param) {
        of->param = -1;
        if (cf__read_integer(of->kernel->params[op->operand].type, of->args[op->operand], &of->value) != CF_OK)
            return 0;
        of->param = op->operand;
    }
    *value = of->value;
    return 1;
}

/* Returns 1 if the array has a size and, unless that is 0, a pointer. */
static inline int is_array_ok(struct reading *of, uint32_t i)
{
    const cf_param *param = &of->kernel->params[i];
    int64_t bytes = param->bytes, extent;
    for (uint32_t d = 0; d < param->ndims; d++)
        if (!evaluate_fast(of, &param->extents[d], &extent) || extent < 0 ||
            __builtin_mul_overflow(bytes, extent, &bytes))
            return 0;
    return bytes == 0 || *(void *const *)of->args[i];
}

static int is_check_ok(struct reading *of, const cf_check *check)
{
    int64_t holds;
    double real;
    if (check->array >= 0)
        return 1;
    if (check->is_real)
        return cf__evaluate_real(of->kernel, &check->condition, of->args, &real) == CF_OK && real != 0;
    return evaluate_fast(of, &check->condition, &holds) && holds;
}

/* Leaves everything that is unusual to the slow path. */
static inline int is_plain(const cf_kernel *kernel)
{
    return !kernel->enqueue && !kernel->nvariants && !kernel->nzeros && !kernel->cpu_grid.ops &&
           !kernel->launch.is_block_auto && !kernel->launch.is_cooperative && !kernel->launch.items.ops &&
           !kernel->launch.cluster[0];
}

/* Computes grid and block of dimension `d`. `threads` is the number of threads of the block so far. */
static inline int is_dimension_ok(struct reading *of, int d, int64_t *threads, cf_launch_size *size)
{
    const cf_expr *grid = &of->kernel->launch.grid[d], *by = &of->kernel->launch.block[d];
    int64_t count = 1, block = 1;
    if ((grid->ops && !evaluate_fast(of, grid, &count)) || (by->ops && !evaluate_fast(of, by, &block)) || count <= 0 ||
        block <= 0 || block > max_block[d] || (*threads *= block) > cf__most_threads(&of->kernel->launch))
        return 0;
    if (!of->kernel->launch.counts_blocks && block > 1)
        count = (count - 1) / block + 1;
    size->grid[d] = (uint32_t)count;
    size->block[d] = (uint32_t)block;
    return count <= max_grid[d];
}

int cf__interpret_sizes(const cf_kernel *kernel, void *const args[], cf_launch_size *size)
{
    struct reading of = {kernel, args, -1, 0};
    int64_t threads = 1, shared = 0;
    if (!is_plain(kernel))
        return 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        if (!args[i] || param->direction == CF_SCRATCH || param->lowers || param->pitches)
            return 0;
    }
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (cf__is_array(&kernel->params[i]) && !is_array_ok(&of, i))
            return 0;
    for (uint32_t i = 0; i < kernel->nchecks; i++)
        if (!is_check_ok(&of, &kernel->checks[i]))
            return 0;
    for (int d = 0; d < CF_GRID_DIMS; d++)
        if (!is_dimension_ok(&of, d, &threads, size))
            return 0;
    if (kernel->launch.shared.ops &&
        (!evaluate_fast(&of, &kernel->launch.shared, &shared) || shared < 0 || shared > INT32_MAX))
        return 0;
    size->shared = (uint32_t)shared;
    return 1;
}

/* ---- Threads on the CPU ---- */

int cf__check_cpu_grid(const cf_kernel *kernel, void *const args[])
{
    int64_t threads;
    if (!kernel->cpu_grid.ops)
        return CF_OK;
    int status = evaluate_rule(kernel, &kernel->cpu_grid, "host(grid", args, &threads);
    if (status == CF_OK && threads == 0)
        status = fail_rule(kernel, &kernel->cpu_grid, "host(grid", threads, "a GPU's grid is not empty", args);
    return status;
}
