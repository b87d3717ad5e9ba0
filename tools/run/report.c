/* report.c - prints how a kernel ran, and how its results compare with the CPU's. */
#include "run/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "base/runtime.h"

/* ---- The run ---- */

struct report {
    const struct trial_plan *plan;
    void **args;
    int width; /* width of the keys' column */
};

static void print_key(const struct report *report, const char *key)
{
    printf("%-*s  ", report->width, key);
}

static void print_argument(const struct report *report, uint32_t i)
{
    const cf_param *param = &report->plan->kernel->params[i];
    const struct argument *argument = &report->plan->arguments[i];
    const struct element_type type = argument_type(param);
    char text[ELEMENT_TEXT], name[ELEMENT_NAME];
    if (param->direction == CF_SCRATCH)
        return;
    print_key(report, param->name);
    if (argument_is_value(param)) {
        element_format(&type, argument->value, text);
        printf("%s%s%s\n", text, type.type == CF_OPAQUE ? " from " : "", type.type == CF_OPAQUE ? argument->text : "");
        return;
    }
    element_name(&argument->array.type, name);
    printf("%s ", name);
    for (uint32_t d = 0; d < argument->array.ndims; d++)
        printf("%s%" PRId64, d ? "x" : "", argument->array.shape[d]);
    printf("%s%s%s%s%s", argument->array.ndims ? "" : "1", argument->input ? " from " : "",
           argument->input ? argument->input : "", argument->output ? " to " : "",
           argument->output ? argument->output : "");
    if (argument->result && argument->array.count == 1) {
        element_format(&type, argument->result, text);
        printf(" = %s", text);
    }
    printf("\n");
}

/* Evaluates a real expression of the annotation. Returns -1 if there is none. */
static int evaluate(const struct report *report, const cf_expr *expr, double *value)
{
    const cf_kernel *kernel = report->plan->kernel;
    return expr->ops && cf_kernel_evaluate_real(kernel, expr->ops, report->args, value) == CF_OK ? 0 : -1;
}

/* Returns the bytes that one launch moves: those that the annotation declares, or the size of the arrays. */
static double moved_bytes(const struct report *report)
{
    const cf_kernel *kernel = report->plan->kernel;
    double total = 0;
    if (evaluate(report, &kernel->bytes, &total) == 0)
        return total;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        total += (double)report->plan->arguments[i].array.bytes *
                 (argument_is_read(&kernel->params[i]) + argument_is_written(&kernel->params[i]));
    return total;
}

/* Prints an amount of work, and its rate per second with at least three digits. */
static void print_rate(const struct report *report, const char *key, double amount, const char *rate_key,
                       const char *unit, double milliseconds)
{
    if (!(amount > 0))
        return;
    print_key(report, key);
    printf("%.0f\n", amount);
    if (milliseconds > 0) {
        const double rate = amount / milliseconds / 1e6;
        print_key(report, rate_key);
        printf("%.*f %s\n", rate < 10 ? (int)ceil(2 - log10(rate)) : 1, rate, unit);
    }
}

static void print_times(const struct report *report, const struct trial_times *times)
{
    double flops;
    print_key(report, "time");
    printf("%.4f ms median of %u, %.4f ms min\n", (double)times->median, report->plan->repeats, (double)times->least);
    print_rate(report, "bytes", moved_bytes(report), "bandwidth", "GB/s", (double)times->median);
    if (evaluate(report, &report->plan->kernel->flops, &flops) == 0)
        print_rate(report, "flops", flops, "throughput", "GFLOP/s", (double)times->median);
    print_key(report, "call");
    printf("%.3f ms, the first: loads the kernel, checks everything\n", times->call);
    const char *plan = strstr(cf_last_plan(), ": ");
    if (plan) {
        print_key(report, "plan");
        printf("%s\n", plan + 2);
    }
}

/* Prints the variant that calls use. The text of a tuned kernel's plan ends with it; it may differ from the variant
 * that ran. */
static void print_variant(const struct report *report)
{
    static const char before[] = "; variant ";
    const char *variant = strstr(cf_last_plan(), before);
    if (variant) {
        print_key(report, "variant");
        printf("%s\n", variant + strlen(before));
    }
}

int report_run(const struct trial_plan *plan, const struct trial_times *times, int device, struct message *message)
{
    const cf_kernel *kernel = plan->kernel;
    struct report report = {plan, arguments_values(kernel, plan->arguments), (int)strlen("throughput")};
    char name[256];
    if (!report.args)
        return message_set(message, "%s: no memory", kernel->name);
    if (cf_device_name(device, name, sizeof name) != CF_OK) {
        free(report.args);
        return runtime_failure(message);
    }
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if ((int)strlen(kernel->params[i].name) > report.width)
            report.width = (int)strlen(kernel->params[i].name);
    print_key(&report, "kernel");
    printf("%s\n", kernel->name);
    print_variant(&report);
    print_key(&report, "driver");
    printf("%s\n", device == CF_HOST ? "host" : "cuda");
    print_key(&report, "device");
    if (device == CF_HOST)
        printf("CPU (%s)\n", name);
    else
        printf("%d (%s)\n", device, name);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        print_argument(&report, i);
    print_times(&report, times);
    free(report.args);
    return 0;
}

/* ---- Verification ---- */

/* Writes "[17]" or "[3][5]" for an element's index. */
static void add_index(const struct npy_array *array, size_t number, struct message *message)
{
    size_t below = array->count;
    if (array->ndims == 0)
        message_add(message, "[0]");
    for (uint32_t d = 0; d < array->ndims; d++) {
        below /= (size_t)array->shape[d];
        message_add(message, "[%zu]", number / below);
        number %= below;
    }
}

/* Sets a message and returns -1. It begins with "sum[3] = 1.5 on device 0 and 1.25 on the CPU", or "sum[3] = 1.5 in the
 * run and 1.25 in another
 * order on the CPU". */
static int disagreement(const cf_kernel *kernel, uint32_t i, const struct npy_array *array,
                        const struct comparison *comparison, double tolerance, int device, const char *how,
                        struct message *message)
{
    message_set(message, "%s: verify: %s%s", kernel->name, how, kernel->params[i].name);
    add_index(array, comparison->first, message);
    compare_add_member(comparison, message);
    message_add(message, " = %s", comparison->result);
    if (device == CF_HOST)
        message_add(message, " in the run and %s in another order", comparison->expected);
    else
        message_add(message, " on device %d and %s", device, comparison->expected);
    message_add(message, " on the CPU");
    compare_add_count(comparison, array->count, tolerance, message);
    return -1;
}

static int written_input(const cf_kernel *kernel, uint32_t i, const struct npy_array *array,
                         const struct comparison *comparison, struct message *message)
{
    message_set(message, "%s: verify: on the CPU, %s", kernel->name, kernel->params[i].name);
    add_index(array, comparison->first, message);
    message_add(message, " " MESSAGE_WRITTEN_INPUT "; %zu of %zu elements differ", comparison->count, array->count);
    return -1;
}

static int verify(const struct trial_plan *plan, double tolerance, int device, struct comparison *comparisons,
                  struct message *message)
{
    const cf_kernel *kernel = plan->kernel;
    if (trial_verify(plan, device, tolerance, comparisons, message) != 0)
        return -1;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const struct argument *argument = &plan->arguments[i];
        const struct comparison *comparison = &comparisons[i];
        if (!argument_is_written(&kernel->params[i]) && comparison->count)
            return written_input(kernel, i, &argument->array, comparison, message);
        if (!argument_is_written(&kernel->params[i]))
            continue;
        printf("verify: %s: %zu of %zu elements match", kernel->params[i].name,
               argument->array.count - comparison->count, argument->array.count);
        if (tolerance >= 0)
            printf("; largest deviation %.3g, tolerance %.3g%s", comparison->largest, tolerance,
                   0 < comparison->largest && comparison->largest < tolerance / 100 ? ", over 100 times as large" : "");
        printf("%s\n", device == CF_HOST ? "; compared only with another order of threads on the CPU" : "");
        if (comparison->count)
            return disagreement(kernel, i, &argument->array, comparison, tolerance, device, "", message);
    }
    return 0;
}

/* Stores the annotation's tolerance, or COMPARE_EXACT if it has none. */
static int find_tolerance(const struct trial_plan *plan, double *tolerance, struct message *message)
{
    const cf_kernel *kernel = plan->kernel;
    *tolerance = COMPARE_EXACT;
    if (!kernel->tolerance.ops)
        return 0;
    struct report report = {plan, arguments_values(kernel, plan->arguments), 0};
    if (!report.args)
        return message_set(message, "%s: no memory", kernel->name);
    int status = evaluate(&report, &kernel->tolerance, tolerance);
    free(report.args);
    if (status == 0 && *tolerance >= 0)
        return 0;
    return message_set(message, "%s: verify: tolerance(%s) is %g, and no number from 0 on", kernel->name,
                       kernel->tolerance.text, *tolerance);
}

int report_verify(const struct trial_plan *plan, int device, struct message *message)
{
    double tolerance;
    struct comparison *comparisons = calloc(plan->kernel->nparams + (size_t)1, sizeof *comparisons);
    if (!comparisons)
        return message_set(message, "%s: no memory", plan->kernel->name);
    int status = find_tolerance(plan, &tolerance, message);
    if (status == 0)
        status = verify(plan, tolerance, device, comparisons, message);
    free(comparisons);
    return status;
}

/* Returns 1 if each of the arrays that share memory has elements. */
static int are_there(const struct trial_plan *plan, const struct inplace *which)
{
    for (uint32_t i = 0; i < plan->kernel->nparams; i++)
        if (inplace_has(plan->kernel, which, i) && plan->arguments[i].array.bytes == 0)
            return 0;
    return 1;
}

static int verify_inplace(const struct trial_plan *plan, const struct inplace *which, trial_twin *twin, int device,
                          double tolerance, struct message *message)
{
    struct comparison found;
    struct message how = {""};
    void *result = NULL;
    const struct npy_array *array = &plan->arguments[which->written].array;
    int status = trial_inplace(plan, which, twin, device, tolerance, &result, &found, message);
    inplace_add(plan->kernel, which, &how);
    message_add(&how, ", in place: ");
    if (status == 1)
        printf("verify: %snot run: %s\n", how.text, message->text);
    if (status == 0) {
        printf("verify: %s%zu of %zu elements match\n", how.text, array->count - found.count, array->count);
        if (found.count)
            status = disagreement(plan->kernel, which->written, array, &found, tolerance, device, how.text, message);
    }
    free(result);
    return status < 0 ? -1 : 0;
}

int report_inplace(const struct trial_plan *plan, int device, trial_twin *twin, struct message *message)
{
    struct inplace which;
    double tolerance;
    for (uint32_t k = 0; inplace_at(plan->kernel, k, &which) == 0; k++) {
        if (!are_there(plan, &which))
            continue;
        if (find_tolerance(plan, &tolerance, message) != 0 ||
            verify_inplace(plan, &which, twin, device, tolerance, message) != 0)
            return -1;
    }
    return 0;
}
