/* bench_measure.c - times one kernel at one size. */
#include "bench/bench_measure.h"

#include <math.h>
#include <string.h>

#include <cuferry.h>

#include "kernel/argument.h"
#include "bench/bench_machine.h"
#include "bench/bench_memory.h"
#include "bench/bench_timing.h"
#include "base/runtime.h"
#include "verify/verify_size.h"

/* Bytes of arrays that are small enough to be compared with the CPU in any case. */
#define OF_A_MOMENT ((size_t)64 << 20)

struct measurement {
    const struct bench_conditions *conditions;
    const struct bench_values *values;
    struct bench_memory memory;
    struct bench_result *result;
    int *is_lost;
};

/* ---- Failures ---- */

static void end_with(struct bench_result *result, enum bench_outcome outcome, const char *reason)
{
    result->outcome = outcome;
    snprintf(result->reason, sizeof result->reason, "%.500s", reason);
}

/* Sets the outcome for a status. A size that the device refuses, or lacks memory for, is no fault of the kernel. */
static void end_with_status(struct measurement *measurement, int status)
{
    int is_refused = status == CF_ENOMEM || status == CF_EINVAL || status == CF_ENOTSUP || status == CF_ENOCODE;
    end_with(measurement->result, is_refused ? BENCH_LEFT_OUT : BENCH_FAILED, cf_last_error());
    *measurement->is_lost |= status == CF_EFAULT && measurement->conditions->machine->on_cuda;
}

/* ---- The work of one launch ---- */

static double declared_or(const cf_kernel *kernel, const cf_expr *expr, void *const args[], double absent)
{
    double value;
    if (!expr->ops || cf_kernel_evaluate_real(kernel, expr->ops, args, &value) != CF_OK || !isfinite(value) ||
        value < 0)
        return absent;
    return value;
}

/* Returns the bytes that the kernel's annotation declares, or the size of the arrays' sections. */
static double moved_bytes(const struct verify_values *values)
{
    const cf_kernel *kernel = values->kernel;
    double total = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (argument_is_array(&kernel->params[i]))
            total += (double)values->arrays[i].section.bytes *
                     (argument_is_read(&kernel->params[i]) + argument_is_written(&kernel->params[i]));
    return declared_or(kernel, &kernel->bytes, values->args, total);
}

static void describe(const struct bench_values *values, struct bench_result *result)
{
    const struct verify_values *chosen = &values->chosen;
    /* The call has not chosen a variant yet; the first variant's declarations apply to all of them. */
    const cf_kernel *first = chosen->kernel->nvariants ? chosen->kernel->variants[0] : chosen->kernel;
    struct message text = {""};
    verify_values_add(chosen, &text);
    snprintf(result->values, sizeof result->values, "%.150s", text.text);
    result->elements = bench_values_elements(values);
    if (cf_tuning_class(first, chosen->args, &result->size_class) != CF_OK)
        result->size_class = 0; /* ignored here: the call below fails, too, and reports the reason */
    result->bytes = moved_bytes(chosen);
    result->flops = declared_or(chosen->kernel, &chosen->kernel->flops, chosen->args, -1);
}

/* ---- Verification ---- */

/* Returns 1 if host memory is large enough for the arrays and results of two runs. */
static int has_room_to_verify(const struct verify_values *values)
{
    size_t total = 0;
    for (uint32_t i = 0; i < values->kernel->nparams; i++)
        total += values->arrays[i].bytes;
    return total < bench_machine_host_available() / 4;
}

/* Returns 1 if comparing with the CPU is quick. */
static int is_moment(const struct bench_conditions *conditions, const struct verify_values *values)
{
    size_t total = 0;
    if (!conditions->of_first || !conditions->machine->on_cuda)
        return verify_values_are_small(values);
    for (uint32_t i = 0; i < values->kernel->nparams; i++)
        total += values->arrays[i].bytes;
    return total <= OF_A_MOMENT;
}

static int verify(struct measurement *measurement)
{
    const struct bench_conditions *conditions = measurement->conditions;
    const struct verify_values *chosen = &measurement->values->chosen;
    struct message message = {""};
    if (conditions->of_first ? chosen->kernel == chosen->kernel->variants[0] : !cf_kernel_has_host(chosen->kernel))
        return 0;
    if (!conditions->verify && !is_moment(conditions, chosen))
        return 0;
    if (!has_room_to_verify(chosen)) {
        end_with(measurement->result, BENCH_LEFT_OUT, "out of memory: the host has too little to compare its results");
        return -1;
    }
    switch ((conditions->of_first ? verify_variant : verify_once)(chosen, conditions->constants,
                                                                  conditions->machine->device, &message)) {
    case VERIFY_AGREES:
        measurement->result->is_verified = 1;
        return 0;
    case VERIFY_REFUSED:
        end_with(measurement->result, BENCH_LEFT_OUT, message.text);
        return -1;
    case VERIFY_LOST:
        *measurement->is_lost = 1;
        break;
    case VERIFY_DIFFERS:
        break;
    }
    end_with(measurement->result, BENCH_FAILED, message.text);
    return -1;
}

/* Arrays are made one by one in host memory, which must hold twice the largest array. */
static int make_memory(struct measurement *measurement, struct message *message)
{
    const struct bench_machine *machine = measurement->conditions->machine;
    const struct verify_values *chosen = &measurement->values->chosen;
    size_t available, making = 0;
    if (bench_machine_available(machine, &available, message) != 0)
        return -1;
    for (uint32_t i = 0; i < chosen->kernel->nparams; i++)
        if (argument_is_array(&chosen->kernel->params[i]) && 2 * chosen->arrays[i].bytes > making)
            making = 2 * chosen->arrays[i].bytes;
    if (making > bench_machine_host_available())
        return message_set(message, "out of memory: making its arrays takes %.1f MiB of the host's",
                           (double)making / 0x1p20);
    if (!machine->on_cuda)
        available -= making < available ? making : available;
    return bench_memory_make(&measurement->memory, chosen, (size_t)machine->cache, available, message);
}

/* ---- Timing ---- */

static int launch(void *data, cf_stream stream, size_t piece, struct message *message)
{
    struct measurement *measurement = data;
    bench_memory_take(&measurement->memory, piece);
    int status = cf_launch(measurement->values->chosen.kernel, stream, measurement->memory.args);
    if (status == CF_OK)
        return 0;
    end_with_status(measurement, status);
    return runtime_failure(message);
}

static int restore(void *data, cf_stream stream, struct message *message)
{
    const struct measurement *measurement = data;
    return bench_memory_restore(&measurement->memory, stream, message);
}

/* Makes one plain call, which loads the kernel and checks everything. The arrays are restored before the first
 * sample. */
static int call(struct measurement *measurement)
{
    bench_memory_take(&measurement->memory, 0);
    int status = cf_call(measurement->values->chosen.kernel, measurement->memory.args);
    if (status != CF_OK)
        end_with_status(measurement, status);
    return status == CF_OK ? 0 : -1;
}

static int restore_first(struct measurement *measurement, struct message *message)
{
    cf_stream stream;
    if (cf_stream_create(&stream) != CF_OK)
        return runtime_failure(message);
    int status = restore(measurement, stream, message);
    if (cf_stream_sync(stream) != CF_OK && status == 0)
        status = runtime_failure(message);
    if (cf_stream_destroy(stream) != CF_OK && status == 0)
        status = runtime_failure(message);
    return status;
}

static int take_samples(struct measurement *measurement, struct message *message)
{
    const struct bench_conditions *conditions = measurement->conditions;
    struct bench_result *result = measurement->result;
    struct bench_times times;
    const struct bench_work work = {launch, measurement->memory.has_changes ? restore : NULL, measurement->memory.count,
                                    measurement};
    if (restore_first(measurement, message) != 0 ||
        bench_timing_take(&work, conditions->machine->on_cuda, conditions->budget, &times, message) != 0)
        return -1;
    result->copies = (int64_t)measurement->memory.count;
    result->batch = (int64_t)times.batch;
    result->seconds = times.seconds;
    return 0;
}

/* ---- One measurement ---- */

static void run(struct measurement *measurement, bench_step *step, void *data)
{
    const struct bench_conditions *conditions = measurement->conditions;
    struct bench_result *result = measurement->result;
    struct message message = {""};
    step(data, "checking");
    if (verify(measurement) != 0)
        return;
    step(data, "making");
    if (constants_set(conditions->constants, &message) != 0 || make_memory(measurement, &message) != 0) {
        end_with(result, strncmp(message.text, "out of memory", 13) == 0 ? BENCH_LEFT_OUT : BENCH_FAILED, message.text);
        return;
    }
    step(data, "calling");
    if (call(measurement) != 0)
        return;
    step(data, "timing");
    if (take_samples(measurement, &message) != 0 && result->outcome == BENCH_MEASURED)
        end_with(result, BENCH_FAILED, message.text);
}

void bench_measure(const struct bench_conditions *conditions, struct bench_values *values, int64_t size,
                   struct bench_result *result, int *is_lost, bench_step *step, void *data)
{
    struct measurement measurement = {.conditions = conditions, .values = values, .result = result, .is_lost = is_lost};
    struct message message = {""};
    result->size = size;
    result->outcome = BENCH_MEASURED;
    if (bench_values_choose(values, size, &message) != 0) {
        end_with(result, BENCH_LEFT_OUT, message.text);
        return;
    }
    describe(values, result);
    if (!bench_values_vary(values))
        result->size = result->elements;
    run(&measurement, step, data);
    if (result->outcome == BENCH_FAILED && conditions->machine->on_cuda && cf_device_sync() == CF_EFAULT)
        *is_lost = 1;
    bench_memory_free(&measurement.memory);
}
