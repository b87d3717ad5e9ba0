/* size.c - checks a kernel's arguments and computes the size of its launch. */
#include <inttypes.h>
#include <stdint.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "model/size.h"

#include "base/error.h"
#include "model/descriptor.h"
#include "model/expr.h"
#include "model/section.h"

/* ---- Arguments ---- */

static int check_condition(const cf_kernel *kernel, const cf_check *check, void *const args[], int report)
{
    int64_t holds = 0;
    double real = 0;
    int status = check->is_real ? cf__evaluate_real(kernel, &check->condition, args, &real)
                                : cf__evaluate(kernel, &check->condition, args, &holds);
    if (status == CF_OK && (check->is_real ? real != 0 : holds != 0))
        return CF_OK;
    if (!report)
        return CF_EINVAL;
    char values[160];
    const cf_expr *expr = &check->condition;
    cf__describe_values(kernel, &expr, 1, args, values, sizeof values);
    if (status != CF_OK)
        return cf__fail(status, "%s: the check %s overflows or divides by 0%s%s", kernel->function, check->text,
                        *values ? " with " : "", values);
    return cf__fail(CF_EINVAL, "%s: the check %s fails%s%s", kernel->function, check->text, *values ? " with " : "",
                    values);
}

int cf__model_check(const cf_kernel *kernel, void *const args[], int report)
{
    if (kernel->nparams && !args)
        return !report ? CF_EINVAL : cf__fail(CF_EINVAL, "%s: args is NULL", kernel->function);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (!args[i] && kernel->params[i].direction != CF_SCRATCH)
            return !report ? CF_EINVAL
                           : cf__fail(CF_EINVAL, "%s: the argument for %s is NULL, and not a pointer to one",
                                      kernel->function, kernel->params[i].name);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        if (!cf__is_array(param))
            continue;
        cf_section section;
        int status = cf__section_measure(kernel, i, args, &section, report);
        if (status != CF_OK)
            return status;
        if (section.count && param->direction != CF_SCRATCH && !*(void *const *)args[i])
            return !report ? CF_EINVAL
                           : cf__fail(CF_EINVAL, "%s: %s is NULL and its extent is %" PRId64, kernel->function,
                                      param->name, section.count);
    }
    int status = CF_OK;
    for (uint32_t i = 0; status == CF_OK && i < kernel->nzeros; i++) {
        size_t offset, bytes;
        status = cf__section_zero(kernel, &kernel->zeros[i], args, &offset, &bytes, report);
    }
    for (uint32_t i = 0; status == CF_OK && i < kernel->nchecks; i++)
        if (kernel->checks[i].array < 0)
            status = check_condition(kernel, &kernel->checks[i], args, report);
    return status;
}

/* ---- Grid and block ---- */

/* Evaluates an expression of the launch rule; a negative value is an error. */
static int evaluate_rule(const cf_kernel *kernel, const cf_expr *expr, const char *what, void *const args[],
                         int64_t *value, int report)
{
    int status = cf__evaluate(kernel, expr, args, value);
    if (status == CF_OK && *value >= 0)
        return CF_OK;
    if (!report)
        return status == CF_OK ? CF_EINVAL : status;
    char values[160];
    cf__describe_values(kernel, &expr, 1, args, values, sizeof values);
    return cf__fail(status == CF_OK ? CF_EINVAL : status, "%s: %s(%s)%s %s%s%s", kernel->function, what, expr->text,
                    expr == &kernel->cpu_grid ? ")" : "", status == CF_OK ? "is negative" : "overflows or divides by 0",
                    *values ? " with " : "", values);
}

/* The limits, which are the same on every device. */
static const int64_t max_grid[CF_GRID_DIMS] = {CF_GRID_SIZE_X, CF_GRID_SIZE_YZ, CF_GRID_SIZE_YZ};
static const int64_t max_block[CF_GRID_DIMS] = {CF_BLOCK_SIZE, CF_BLOCK_SIZE, CF_BLOCK_SIZE_Z};

static int fail_block(const cf_kernel *kernel, int d, int64_t size, void *const args[], int report)
{
    const cf_expr *expr = &kernel->launch.block[d];
    char values[160];
    if (!report)
        return CF_EINVAL;
    cf__describe_values(kernel, &expr, 1, args, values, sizeof values);
    return cf__fail(CF_EINVAL,
                    "%s: %s in block(...) is %" PRId64 "%s%s; a block has 1 to %d threads, and at most %" PRId64
                    " along z",
                    kernel->function, expr->text, size, *values ? " with " : "", values, CF_BLOCK_SIZE, max_block[2]);
}

static int fail_bound(const cf_kernel *kernel, const uint32_t block[CF_GRID_DIMS], void *const args[], int report)
{
    const cf_expr *by = kernel->launch.block, *exprs[CF_GRID_DIMS] = {&by[0], &by[1], &by[2]};
    char values[160];
    if (!report)
        return CF_EINVAL;
    cf__describe_values(kernel, exprs, CF_GRID_DIMS, args, values, sizeof values);
    return cf__fail(CF_EINVAL,
                    "%s: its block has %" PRIu32 " x %" PRIu32 " x %" PRIu32 " threads%s%s, and its __launch_bounds__ "
                    "allows %" PRIu32,
                    kernel->function, block[0], block[1], block[2], *values ? " with " : "", values,
                    kernel->launch.max_block);
}

/* Fails for a value of the launch rule that is outside its limits. */
static int fail_rule(const cf_kernel *kernel, const cf_expr *expr, const char *what, int64_t value, const char *limit,
                     void *const args[], int report)
{
    char values[160];
    if (!report)
        return CF_EINVAL;
    cf__describe_values(kernel, &expr, 1, args, values, sizeof values);
    return cf__fail(CF_EINVAL, "%s: %s(%s)%s is %" PRId64 "%s%s; %s", kernel->function, what, expr->text,
                    expr == &kernel->cpu_grid ? ")" : "", value, *values ? " with " : "", values, limit);
}

/* Computes the number of threads in each dimension, or of blocks if the rule counts blocks. */
static int count_threads(const cf_kernel *kernel, void *const args[], int64_t count[CF_GRID_DIMS], int report)
{
    const cf_launch_rule *rule = &kernel->launch;
    int64_t items;
    int status = CF_OK;
    for (int d = 0; status == CF_OK && d < CF_GRID_DIMS; d++) {
        count[d] = 1;
        if (rule->grid[d].ops)
            status =
                evaluate_rule(kernel, &rule->grid[d], rule->counts_blocks ? "blocks" : "grid", args, &count[d], report);
    }
    if (status != CF_OK || rule->counts_blocks || !rule->items.ops)
        return status;
    status = evaluate_rule(kernel, &rule->items, "items", args, &items, report);
    if (status == CF_OK && items == 0)
        status = fail_rule(kernel, &rule->items, "items", items, "a thread takes at least one", args, report);
    if (status == CF_OK)
        count[0] = count[0] / items + (count[0] % items != 0);
    return status;
}

/* Computes the block as declared. A block(auto) gets `chosen` threads. */
static int compute_block(const cf_kernel *kernel, void *const args[], uint32_t chosen, cf_launch_size *size, int report)
{
    const cf_launch_rule *rule = &kernel->launch;
    int64_t threads = 1;
    for (int d = 0; d < CF_GRID_DIMS; d++) {
        int64_t block = 1;
        int status = rule->block[d].ops ? evaluate_rule(kernel, &rule->block[d], "block", args, &block, report) : CF_OK;
        if (status != CF_OK)
            return status;
        if (block < 1 || block > max_block[d] || (threads *= block) > CF_BLOCK_SIZE)
            return fail_block(kernel, d, block, args, report);
        size->block[d] = (uint32_t)block;
    }
    if (rule->is_block_auto)
        size->block[0] = chosen;
    return threads > cf__most_threads(rule) ? fail_bound(kernel, size->block, args, report) : CF_OK;
}

static int compute_shared(const cf_kernel *kernel, void *const args[], cf_launch_size *size, int report)
{
    const cf_expr *expr = &kernel->launch.shared;
    int64_t bytes = 0;
    int status = expr->ops ? evaluate_rule(kernel, expr, "shared", args, &bytes, report) : CF_OK;
    if (status == CF_OK && bytes > INT32_MAX)
        return fail_rule(kernel, expr, "shared", bytes, "no device has as much shared memory", args, report);
    size->shared = (uint32_t)bytes;
    return status;
}

/* Checks that the grid consists of whole clusters. */
static int check_clusters(const cf_kernel *kernel, const uint32_t grid[CF_GRID_DIMS], int report)
{
    const cf_launch_rule *rule = &kernel->launch;
    int d = 0;
    while (d < CF_GRID_DIMS && grid[d] % cf__cluster_size(rule, d) == 0)
        d++;
    if (d == CF_GRID_DIMS || !report)
        return d == CF_GRID_DIMS ? CF_OK : CF_EINVAL;
    return cf__fail(CF_EINVAL,
                    "%s: its grid of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                    " blocks is no multiple of its clusters' %" PRIu32 " x %" PRIu32 " x %" PRIu32,
                    kernel->function, grid[0], grid[1], grid[2], cf__cluster_size(rule, 0), cf__cluster_size(rule, 1),
                    cf__cluster_size(rule, 2));
}

static int compute_grid(const cf_kernel *kernel, const int64_t count[CF_GRID_DIMS], cf_launch_size *size, int report)
{
    const cf_launch_rule *rule = &kernel->launch;
    for (int d = 0; d < CF_GRID_DIMS; d++) {
        int64_t block = size->block[d];
        int64_t of_grid = !size->block[0]                     ? count[d] != 0
                          : rule->counts_blocks || block == 1 ? count[d]
                                                              : count[d] / block + (count[d] % block != 0);
        if (of_grid > max_grid[d])
            return !report ? CF_EOVERFLOW
                           : cf__fail(CF_EOVERFLOW,
                                      "%s: %s(%s) asks for %" PRId64 " blocks and a grid has at most %" PRId64,
                                      kernel->function, rule->counts_blocks ? "blocks" : "grid", rule->grid[d].text,
                                      of_grid, max_grid[d]);
        size->grid[d] = (uint32_t)of_grid;
    }
    return !rule->cluster[0] || cf__size_is_empty(size) || !size->block[0] ? CF_OK
                                                                           : check_clusters(kernel, size->grid, report);
}

int cf__model_size(const cf_kernel *kernel, void *const args[], uint32_t chosen, cf_launch_size *size, int report)
{
    int64_t count[CF_GRID_DIMS];
    int status = cf__model_check(kernel, args, report);
    if (status == CF_OK)
        status = count_threads(kernel, args, count, report);
    if (status == CF_OK)
        status = compute_block(kernel, args, chosen, size, report);
    if (status == CF_OK)
        status = compute_shared(kernel, args, size, report);
    return status == CF_OK ? compute_grid(kernel, count, size, report) : status;
}

int cf__model_interpret(const cf_kernel *kernel, void *const args[], cf_launch_size *size)
{
    /* For scratch memory of extent 0, the kernel has to get NULL. An entry of `args` that is not NULL needs the slow
     * path, which replaces it. */
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        if (param->direction == CF_SCRATCH && !cf__takes_scratch(param) &&
            (!args[i] || *(void *const *)args[i] != NULL))
            return 0;
    }
    return !kernel->enqueue && !cf__is_tuned(kernel) && !kernel->launch.is_block_auto &&
           cf__model_size(kernel, args, 0, size, 0) == CF_OK && !cf__size_is_empty(size);
}

/* ---- Threads on the CPU ---- */

int cf__model_check_cpu_grid(const cf_kernel *kernel, void *const args[])
{
    int64_t threads;
    if (!kernel->cpu_grid.ops)
        return CF_OK;
    int status = evaluate_rule(kernel, &kernel->cpu_grid, "host(grid", args, &threads, 1);
    if (status == CF_OK && threads == 0)
        status = fail_rule(kernel, &kernel->cpu_grid, "host(grid", threads, "a GPU's grid is not empty", args, 1);
    return status;
}
