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

/* Checks that the caller passed a pointer to each argument; with `only_scalars`, to each scalar only. */
static int check_pointers(const struct cf__operands *of, int only_scalars)
{
    const cf_kernel *kernel = of->kernel;
    if (kernel->nparams && !of->args)
        return cf__fail(CF_EINVAL, "%s: args is NULL", kernel->function);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_direction direction = kernel->params[i].direction;
        if (!of->args[i] && (only_scalars ? direction == CF_VALUE : direction != CF_SCRATCH))
            return cf__fail(CF_EINVAL, "%s: the argument for %s is NULL, and not a pointer to one", kernel->function,
                            kernel->params[i].name);
    }
    return CF_OK;
}

static int check_condition(const struct cf__operands *of, const cf_check *check)
{
    int64_t holds = 0;
    double real = 0;
    const cf_expr *expr = &check->condition;
    int status = check->is_real ? cf__evaluate_real(of, expr, &real) : cf__evaluate(of, expr, &holds);
    if (status == CF_OK && (check->is_real ? real != 0 : holds != 0))
        return CF_OK;
    char values[CF__VALUES];
    cf__describe_values(of, &expr, 1, values, sizeof values);
    return cf__fail(status == CF_OK ? CF_EINVAL : status, "%s: the check %s %s%s", of->kernel->function, check->text,
                    status == CF_OK ? "fails" : "overflows or divides by 0", values);
}

/* Checks the sections of all arrays, and that arrays with elements are not NULL. */
static int check_arrays(const struct cf__operands *of)
{
    for (uint32_t i = 0; i < of->kernel->nparams; i++) {
        const cf_param *param = &of->kernel->params[i];
        if (!cf__is_array(param))
            continue;
        cf_section section;
        int status = cf__section_measure(of->kernel, i, of->args, &section);
        if (status != CF_OK)
            return status;
        if (section.count && param->direction != CF_SCRATCH && !*(void *const *)of->args[i])
            return cf__fail(CF_EINVAL, "%s: %s is NULL and its extent is %" PRId64, of->kernel->function, param->name,
                            section.count);
    }
    return CF_OK;
}

int cf__model_check(const cf_kernel *kernel, void *const args[])
{
    const struct cf__operands of = {kernel, args};
    int status = check_pointers(&of, 0);
    if (status == CF_OK)
        status = check_arrays(&of);
    for (uint32_t i = 0; status == CF_OK && i < kernel->nzeros; i++) {
        size_t offset, bytes;
        status = cf__section_zero(&of, &kernel->zeros[i], &offset, &bytes);
    }
    for (uint32_t i = 0; status == CF_OK && i < kernel->nchecks; i++)
        if (kernel->checks[i].array < 0)
            status = check_condition(&of, &kernel->checks[i]);
    return status;
}

/* ---- Grid and block ---- */

/* The limits, which are the same on every device. */
static const int64_t max_grid[CF_GRID_DIMS] = {CF_GRID_SIZE_X, CF_GRID_SIZE_YZ, CF_GRID_SIZE_YZ};
static const int64_t max_block[CF_GRID_DIMS] = {CF_BLOCK_SIZE, CF_BLOCK_SIZE, CF_BLOCK_SIZE_Z};

static int fail_block(const struct cf__operands *of, const cf_expr *expr, int64_t size)
{
    char values[CF__VALUES];
    cf__describe_values(of, &expr, 1, values, sizeof values);
    return cf__fail(CF_EINVAL,
                    "%s: %s in block(...) is %" PRId64 "%s; a block has 1 to %d threads, and at most %" PRId64
                    " along z",
                    of->kernel->function, expr->text, size, values, CF_BLOCK_SIZE, max_block[2]);
}

static int fail_bound(const struct cf__operands *of, const uint32_t block[CF_GRID_DIMS])
{
    const cf_expr *by = of->kernel->launch.block, *exprs[CF_GRID_DIMS] = {&by[0], &by[1], &by[2]};
    char values[CF__VALUES];
    cf__describe_values(of, exprs, CF_GRID_DIMS, values, sizeof values);
    return cf__fail(CF_EINVAL,
                    "%s: its block has %" PRIu32 " x %" PRIu32 " x %" PRIu32 " threads%s, and its __launch_bounds__ "
                    "allows %" PRIu32,
                    of->kernel->function, block[0], block[1], block[2], values, of->kernel->launch.max_block);
}

/* Evaluates an expression of the launch rule that has to be from `least` to `most`. Messages show it between `before`
 * and `after`, and `limit` is the reason why other values are invalid. */
static int evaluate_rule(const struct cf__operands *of, const cf_expr *expr, const char *before, const char *after,
                         int64_t least, int64_t most, const char *limit, int64_t *value)
{
    char values[CF__VALUES];
    int status = cf__evaluate_size(of, expr, before, "", "", after, value);
    if (status != CF_OK || (*value >= least && *value <= most))
        return status;
    cf__describe_values(of, &expr, 1, values, sizeof values);
    return cf__fail(CF_EINVAL, "%s: %s%s%s is %" PRId64 "%s; %s", of->kernel->function, before, expr->text, after,
                    *value, values, limit);
}

/* Computes the number of threads in each dimension, or of blocks if the rule counts blocks. */
static int count_threads(const struct cf__operands *of, int64_t count[CF_GRID_DIMS])
{
    const cf_launch_rule *rule = &of->kernel->launch;
    int64_t items = 1;
    int status = CF_OK;
    for (int d = 0; status == CF_OK && d < CF_GRID_DIMS; d++) {
        count[d] = 1;
        if (rule->grid[d].ops)
            status = cf__evaluate_size(of, &rule->grid[d], rule->counts_blocks ? "blocks(" : "grid(", "", "", ")",
                                       &count[d]);
    }
    if (status != CF_OK || rule->counts_blocks || !rule->items.ops)
        return status;
    status = evaluate_rule(of, &rule->items, "items(", ")", 1, INT64_MAX, "a thread takes at least one", &items);
    if (status == CF_OK)
        count[0] = count[0] / items + (count[0] % items != 0);
    return status;
}

/* Computes the block as declared. A block(auto) gets `chosen` threads. */
static int compute_block(const struct cf__operands *of, uint32_t chosen, cf_launch_size *size)
{
    const cf_launch_rule *rule = &of->kernel->launch;
    int64_t threads = 1;
    for (int d = 0; d < CF_GRID_DIMS; d++) {
        const cf_expr *expr = &rule->block[d];
        int64_t block = 1;
        int status = expr->ops ? cf__evaluate_size(of, expr, "block(", "", "", ")", &block) : CF_OK;
        if (status != CF_OK)
            return status;
        if (block < 1 || block > max_block[d] || (threads *= block) > CF_BLOCK_SIZE)
            return fail_block(of, expr, block);
        size->block[d] = (uint32_t)block;
    }
    if (rule->is_block_auto)
        size->block[0] = chosen;
    return threads > cf__most_threads(rule) ? fail_bound(of, size->block) : CF_OK;
}

static int compute_shared(const struct cf__operands *of, cf_launch_size *size)
{
    const cf_expr *expr = &of->kernel->launch.shared;
    int64_t bytes = 0;
    int status =
        expr->ops ? evaluate_rule(of, expr, "shared(", ")", 0, INT32_MAX, "no device has as much shared memory", &bytes)
                  : CF_OK;
    size->shared = (uint32_t)bytes;
    return status;
}

/* Checks that the grid consists of whole clusters. */
static int check_clusters(const cf_kernel *kernel, const uint32_t grid[CF_GRID_DIMS])
{
    const cf_launch_rule *rule = &kernel->launch;
    int d = 0;
    while (d < CF_GRID_DIMS && grid[d] % cf__cluster_size(rule, d) == 0)
        d++;
    if (d == CF_GRID_DIMS)
        return CF_OK;
    return cf__fail(CF_EINVAL,
                    "%s: its grid of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                    " blocks is no multiple of its clusters' %" PRIu32 " x %" PRIu32 " x %" PRIu32,
                    kernel->function, grid[0], grid[1], grid[2], cf__cluster_size(rule, 0), cf__cluster_size(rule, 1),
                    cf__cluster_size(rule, 2));
}

static int compute_grid(const cf_kernel *kernel, const int64_t count[CF_GRID_DIMS], cf_launch_size *size)
{
    const cf_launch_rule *rule = &kernel->launch;
    for (int d = 0; d < CF_GRID_DIMS; d++) {
        int64_t block = size->block[d];
        int64_t of_grid = !size->block[0]                     ? count[d] != 0
                          : rule->counts_blocks || block == 1 ? count[d]
                                                              : count[d] / block + (count[d] % block != 0);
        if (of_grid > max_grid[d])
            return cf__fail(CF_EOVERFLOW, "%s: %s(%s) asks for %" PRId64 " blocks and a grid has at most %" PRId64,
                            kernel->function, rule->counts_blocks ? "blocks" : "grid", rule->grid[d].text, of_grid,
                            max_grid[d]);
        size->grid[d] = (uint32_t)of_grid;
    }
    return !rule->cluster[0] || cf__size_is_empty(size) || !size->block[0] ? CF_OK : check_clusters(kernel, size->grid);
}

int cf__model_size(const cf_kernel *kernel, void *const args[], uint32_t chosen, cf_launch_size *size)
{
    const struct cf__operands of = {kernel, args};
    int64_t count[CF_GRID_DIMS];
    int status = cf__model_check(kernel, args);
    if (status == CF_OK)
        status = count_threads(&of, count);
    if (status == CF_OK)
        status = compute_block(&of, chosen, size);
    if (status == CF_OK)
        status = compute_shared(&of, size);
    return status == CF_OK ? compute_grid(kernel, count, size) : status;
}

int cf__model_try_size(const cf_kernel *kernel, void *const args[], uint32_t chosen, cf_launch_size *size)
{
    struct cf__error before;
    cf__error_save(&before);
    int status = cf__model_size(kernel, args, chosen, size);
    cf__error_restore(&before);
    return status == CF_OK && !cf__size_is_empty(size);
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
           cf__model_try_size(kernel, args, 0, size);
}

/* ---- The size class ---- */

/* Computes the bytes that a call reads and writes: the value of bytes(...), or the sum of all arrays. Inout arrays
 * count twice. */
static int compute_bytes(const struct cf__operands *of, double *bytes)
{
    const cf_kernel *kernel = of->kernel;
    int status = CF_OK;
    *bytes = 0;
    if (kernel->bytes.ops) {
        status = cf__evaluate_real(of, &kernel->bytes, bytes);
        return status == CF_OK
                   ? CF_OK
                   : cf__fail(status, "%s: bytes(%s) reads what is no number", kernel->function, kernel->bytes.text);
    }
    for (uint32_t i = 0; status == CF_OK && i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        cf_section section = {.count = 0};
        if (cf__is_callers_array(param))
            status = cf__section_measure(kernel, i, of->args, &section);
        *bytes += (double)section.count * param->bytes * (param->direction == CF_INOUT ? 2 : 1);
    }
    return status;
}

int cf__model_class(const cf_kernel *kernel, void *const args[], int *size_class)
{
    const struct cf__operands of = {kernel, args};
    double bytes;
    int status = check_pointers(&of, 1);
    if (status == CF_OK)
        status = compute_bytes(&of, &bytes);
    if (status == CF_OK)
        *size_class = !(bytes >= 1) ? 0 : bytes < 0x1p63 ? 63 - __builtin_clzll((unsigned long long)bytes) : 63;
    return status;
}

/* ---- Threads on the CPU ---- */

int cf__model_check_cpu_grid(const cf_kernel *kernel, void *const args[])
{
    const struct cf__operands of = {kernel, args};
    int64_t threads;
    return kernel->cpu_grid.ops ? evaluate_rule(&of, &kernel->cpu_grid, "host(grid(", "))", 1, INT64_MAX,
                                                "a GPU's grid is not empty", &threads)
                                : CF_OK;
}
