/* plan.c - decides whether a plain call whose arrays are all host memory runs on the GPU or on the CPU, and describes
 * the plan of the latest call.
 *
 * The times, in seconds, are estimated from the annotation and the constants of machine.c:
 *
 *     staged  = stage_latency + in / host_to_device + out / device_to_host
 *     CPU     = latency + max(bytes / bandwidth, flops / rate) + indices / random
 *
 * in, out    bytes of in, out and inout sections to copy; if split(...) copies both ways at once, the slower way counts
 * bytes      value of bytes(...), else in + out
 * flops      value of flops(...), else 0
 * indices    elements with a declared range, taken for indices of random accesses; 0 if all data fit in a cache
 *
 * Latency and rates of the CPU are those of all threads, or of one thread if the launch is small or the CPU code is
 * called once for all blocks. The smaller time wins; if both are equal, the CPU runs the kernel. The kernel's time on
 * the GPU is ignored, because it is small compared to the copies. A kernel with loops that declares neither bytes nor
 * flops is staged, because its work is unknown. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "call/plan.h"

#include "base/env.h"
#include "base/error.h"
#include "base/fast.h"
#include "base/text.h"
#include "model/descriptor.h"
#include "model/expr.h"
#include "threads/pool.h"
#include "cpu/schedule.h"
#include "context/scope.h"
#include "call/machine.h"

static int host_data_asked = -1; /* argument of cf_set_host_data(), or -1 before the first call; atomic */

static _Thread_local struct cf__plan latest; /* plan of the latest call */

/* ---- Settings ---- */

int cf_set_host_data(int where)
{
    if (where < CF_HOST_DATA_AUTO || where > CF_HOST_DATA_HOST)
        return cf__fail(CF_EINVAL,
                        "cf_set_host_data: %d is none of CF_HOST_DATA_AUTO, CF_HOST_DATA_STAGE and CF_HOST_DATA_HOST",
                        where);
    __atomic_store_n(&host_data_asked, where, __ATOMIC_RELAXED);
    return CF_OK;
}

/* Returns the setting. `is_set` is 1 if it comes from cf_set_host_data(), and 0 if from the environment. */
static int get_host_data(int *is_set)
{
    int asked = __atomic_load_n(&host_data_asked, __ATOMIC_RELAXED);
    *is_set = asked >= 0;
    return *is_set ? asked : __atomic_load_n(&cf__env.host_data, __ATOMIC_RELAXED);
}

/* ---- The formula ---- */

/* Larger than any number of bytes or operations; expressions that overflow or divide by 0 yield more. */
#define HUGE 1e30

/* Data of at most this many bytes stay in a cache, where random accesses cost no more than others. */
#define CACHE_BYTES 1048576

/* The work of a call: bytes, floating-point operations, random accesses. */
struct work {
    double in, out, bytes, flops, indices;
    double both_in, both_out; /* bytes of in and out that are copied simultaneously */
    int is_alone;             /* 1 if one CPU thread does the work */
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double estimate_staged(const struct work *work, const struct cf__machine *machine)
{
    return machine->stage_latency + (work->in - work->both_in) / machine->host_to_device +
           (work->out - work->both_out) / machine->device_to_host +
           larger(work->both_in / machine->host_to_device, work->both_out / machine->device_to_host);
}

static double estimate_cpu(const struct work *work, const struct cf__machine *machine)
{
    if (work->is_alone)
        return larger(work->bytes / machine->thread_bandwidth, work->flops / machine->thread_flops) +
               work->indices / machine->thread_random;
    return machine->pool_latency + larger(work->bytes / machine->pool_bandwidth, work->flops / machine->pool_flops) +
           work->indices / machine->pool_random;
}

/* Evaluates bytes(...) or flops(...); returns `absent` if there is no expression or its value is not usable. */
static double evaluate_declared(const cf_kernel *kernel, const cf_expr *expr, void *const args[], double absent)
{
    double value;
    if (!expr->ops || cf__evaluate_real(&(struct cf__operands){kernel, args}, expr, &value) != CF_OK ||
        !(value >= 0 && value < HUGE))
        return absent;
    return value;
}

static struct work compute_work(const struct cf__copy_cost *cost, void *const args[])
{
    const cf_kernel *kernel = cost->kernel;
    struct work work = {
        .in = (double)cost->in,
        .out = (double)cost->out,
        .both_in = (double)cost->both_in,
        .both_out = (double)cost->both_out,
    };
    if (work.in + work.out > CACHE_BYTES)
        work.indices = (double)cost->indices;
    uint64_t blocks = (uint64_t)cost->size->grid[0] * cost->size->grid[1] * cost->size->grid[2];
    uint64_t threads = (uint64_t)cost->size->block[0] * cost->size->block[1] * cost->size->block[2];
    work.bytes = evaluate_declared(kernel, &kernel->bytes, args, work.in + work.out);
    work.flops = evaluate_declared(kernel, &kernel->flops, args, 0);
    if (cf_kernel_is_operation(kernel))
        blocks = threads = UINT32_MAX; /* an operation's launch sizes are not known */
    work.is_alone = kernel->is_cpu_whole || cf__schedule_is_alone(kernel->cpu_body, blocks, threads);
    return work;
}

/* ---- The decision ---- */

static int is_work_known(const cf_kernel *kernel)
{
    return kernel->bytes.ops || kernel->flops.ops || kernel->is_bounded;
}

static int compare_times(const struct cf__copy_cost *cost, void *const args[], const struct cf__scope *scope,
                         struct cf__plan *plan, int *is_on_cpu)
{
    struct cf__machine machine;
    int status = cf__machine_get(scope, cost->kernel->function, &machine, &plan->constants);
    if (status != CF_OK)
        return status;
    struct work work = compute_work(cost, args);
    plan->stage_time = estimate_staged(&work, &machine);
    plan->cpu_time = estimate_cpu(&work, &machine);
    *is_on_cpu = plan->cpu_time <= plan->stage_time;
    plan->why = CF__PLAN_FORMULA;
    return CF_OK;
}

void cf__copy_cost_add(struct cf__copy_cost *cost, uint32_t i, const cf_section *section)
{
    const cf_param *param = &cost->kernel->params[i];
    const size_t bytes = (size_t)section->count * param->bytes;
    cost->in += param->direction == CF_OUT ? 0 : bytes;
    cost->out += param->direction == CF_IN ? 0 : bytes;
}

void cf__copy_cost_both(struct cf__copy_cost *cost, uint32_t i, const cf_section *section)
{
    struct cf__copy_cost of_array = {.kernel = cost->kernel};
    cf__copy_cost_add(&of_array, i, section);
    cost->both_in += of_array.in;
    cost->both_out += of_array.out;
}

int cf__plan_copies_pinned(enum cf__reason *why)
{
    int is_set, asked = get_host_data(&is_set);
    *why = is_set ? CF__PLAN_SET : CF__PLAN_ASKED;
    return asked == CF_HOST_DATA_STAGE;
}

int cf__plan_decide(const struct cf__copy_cost *cost, void *const args[], const struct cf__scope *scope,
                    struct cf__plan *plan, int *is_on_cpu)
{
    int is_set, asked = get_host_data(&is_set);
    *is_on_cpu = 0;
    if (!cf_kernel_has_host(cost->kernel))
        plan->why = CF__PLAN_NO_BODY;
    else if (!cost->kernel->is_closed)
        plan->why = CF__PLAN_NOT_CLOSED;
    else if (asked != CF_HOST_DATA_AUTO) {
        plan->why = is_set ? CF__PLAN_SET : CF__PLAN_ASKED;
        *is_on_cpu = asked == CF_HOST_DATA_HOST;
    } else if (!is_work_known(cost->kernel))
        plan->why = CF__PLAN_UNKNOWN;
    else
        return compare_times(cost, args, scope, plan, is_on_cpu);
    return CF_OK;
}

/* ---- The plan of the latest call ---- */

__attribute__((noinline)) static void name_variant(const cf_kernel *kernel)
{
    char text[CF__VARIANT];
    cf__variant_text(kernel, text);
    snprintf(latest.variant, sizeof latest.variant, "%.*s", (int)sizeof latest.variant - 1, text);
}

CF__HOT struct cf__plan *cf__plan_begin(const cf_kernel *kernel)
{
    latest.where = CF__PLAN_FAILED;
    latest.why = CF__PLAN_MIXED;
    latest.in = latest.out = latest.chunks = 0;
    latest.staged = latest.in_place = 0;
    latest.constants = CF__CONSTANTS_NONE;
    latest.stage_time = latest.cpu_time = 0;
    /* Copies the name, because dlclose() may unmap the descriptor before cf_last_plan() is called. */
    char *end = memccpy(latest.function, kernel->function, 0, sizeof latest.function);
    if (!end)
        latest.function[sizeof latest.function - 1] = 0;
    latest.variant[0] = 0;
    if (kernel->nconstants)
        name_variant(kernel);
    return &latest;
}

struct text {
    char *end;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void append_format(struct text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int used = cf__vformat(text->end, text->left, format, values);
    va_end(values);
    size_t bytes = used < 0 ? 0 : (size_t)used < text->left ? (size_t)used : text->left - 1;
    text->end += bytes;
    text->left -= bytes;
}

static const char *name_constants(const struct cf__plan *plan)
{
    return plan->constants == CF__CONSTANTS_DEFAULT ? ", by default constants" : "";
}

static const char *const reasons[] = {
    [CF__PLAN_MIXED] = "not all arrays are host memory out of its reach",
    [CF__PLAN_NO_BODY] = "the kernel has no form for the CPU",
    [CF__PLAN_NOT_CLOSED] = "the kernel may use data beside its arguments",
    [CF__PLAN_ASKED] = "as CF_HOST_DATA asks",
    [CF__PLAN_SET] = "as cf_set_host_data() asks",
    [CF__PLAN_UNKNOWN] = "the kernel has loops and declares neither bytes nor flops",
};

static void append_cpu(struct text *text, const struct cf__plan *plan)
{
    append_format(text, "on the CPU, ");
    if (plan->why == CF__PLAN_ASKED || plan->why == CF__PLAN_SET)
        append_format(text, "%s; nothing was copied", reasons[plan->why]);
    else
        append_format(text, "%.2g ms expected; staging %zu bytes would take %.2g ms%s", plan->cpu_time * 1e3,
                      plan->in + plan->out, plan->stage_time * 1e3, name_constants(plan));
}

static void append_staged(struct text *text, const struct cf__plan *plan)
{
    append_format(text, "%zu bytes copied in and %zu out", plan->in, plan->out);
    if (plan->chunks)
        append_format(text, ", in %zu chunks", plan->chunks);
    if (plan->in_place)
        append_format(text, ", %u arrays used in place", plan->in_place);
    if (plan->why != CF__PLAN_FORMULA)
        append_format(text, "; %s", reasons[plan->why]);
    else
        append_format(text, ", %.2g ms expected; the CPU would take %.2g ms%s", plan->stage_time * 1e3,
                      plan->cpu_time * 1e3, name_constants(plan));
}

const char *cf_last_plan(void)
{
    static _Thread_local char line[sizeof latest.function + sizeof latest.variant + 224];
    struct text text = {line, sizeof line};
    line[0] = 0;
    if (!*latest.function)
        return line;
    append_format(&text, "%s: ", latest.function);
    switch (latest.where) {
    case CF__PLAN_FAILED:
        append_format(&text, "did not run");
        break;
    case CF__PLAN_NOTHING:
        append_format(&text, "had nothing to launch");
        break;
    case CF__PLAN_HOST:
        append_format(&text, "on the CPU, the thread's device; nothing was copied");
        break;
    case CF__PLAN_CPU:
        append_cpu(&text, &latest);
        break;
    default:
        append_format(&text, "on device %d, ", latest.device);
        if (latest.staged)
            append_staged(&text, &latest);
        else
            append_format(&text, "%u arrays used in place; nothing was copied", latest.in_place);
    }
    if (latest.variant[0])
        append_format(&text, "; variant %s", latest.variant);
    return line;
}
