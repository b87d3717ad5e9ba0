/* verify_size.c - runs a kernel twice with the same values, and compares the results. */
#include "verify/verify_size.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "data/compare.h"
#include "kernel/parts.h"
#include "base/runtime.h"
#include "verify/verify_run.h"
#include "watch/check.h"

/* Poison of the two runs. The bytes differ, so that elements that no run writes differ, too. */
static const int poisons[2] = {0x5a, 0xa5};

/* ---- Order on the CPU ---- */

/* Variable with the order of blocks and threads on the CPU. In the second of two runs it is reversed, so that any two
 * threads run in both orders. */
#define ORDER "CF_HOST_ORDER"

int verify_set_order(const char *order, struct message *message)
{
    if ((order ? setenv(ORDER, order, 1) : unsetenv(ORDER)) != 0 || cf_shutdown() != CF_OK)
        return runtime_failure(message);
    return 0;
}

const char *verify_own_order(char *text, size_t size)
{
    const char *order = getenv(ORDER);
    if (order)
        snprintf(text, size, "%s", order);
    return order ? text : NULL;
}

const char *verify_other_order(const char *own)
{
    return own && strcmp(own, "reverse") == 0 ? "0" : "reverse";
}

/* ---- Comparison ---- */

static void add_place(int device, int which, int other, struct message *message)
{
    if (device == CF_HOST && other == CF_HOST)
        message_add(message, which ? " in another order" : " on the CPU");
    else if (device == CF_HOST)
        message_add(message, " on the CPU");
    else
        message_add(message, " on device %d", device);
}

/* Sets a message such as "y[12] = 3 on device 0 and 4 on the CPU; 3 of 33 elements differ, by up to 1, tolerance
 * 1e-05". */
static int differs(const struct verify_trials *trials, uint32_t i, const struct comparison *found, int device,
                   struct message *message)
{
    const struct verify_array *array = &trials->values.arrays[i];
    message_set(message, "%s", trials->kernel->params[i].name);
    verify_array_index(array, found->first, message);
    compare_add_member(found, message);
    message_add(message, " = %s", found->result);
    if (trials->first_part)
        message_add(message, " in two calls");
    else if (!trials->is_of_first)
        add_place(device, 1, CF_HOST, message);
    message_add(message, " and %s %s", found->expected,
                trials->is_of_first  ? "by the first variant"
                : trials->first_part ? "in one, on the CPU"
                                     : "on the CPU");
    compare_add_count(found, array->section.count, trials->tolerance, message);
    return -1;
}

static int unwritten(const struct verify_trials *trials, uint32_t i, size_t count, size_t first,
                     struct message *message)
{
    const struct verify_array *array = &trials->values.arrays[i];
    message_set(message, "%s", trials->kernel->params[i].name);
    verify_array_index(array, first, message);
    message_add(message, " is not written; %zu of %zu elements are not", count, array->section.count);
    return -1;
}

static int compare(struct verify_trials *trials, const struct verify_result results[2], int device,
                   struct message *message)
{
    const cf_kernel *kernel = trials->kernel;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const void *expected = results[0].packed[i], *got = results[1].packed[i];
        const struct verify_array *array = &trials->values.arrays[i];
        size_t first = 0;
        if (!expected || !got)
            continue;
        size_t missing = verify_array_unwritten(array, expected, poisons[0], got, poisons[1], &first);
        if (missing)
            return unwritten(trials, i, missing, first, message);
        struct comparison found = compare_arrays(got, expected, &array->section, trials->tolerance);
        trials->largest = found.largest > trials->largest ? found.largest : trials->largest;
        if (found.count)
            return differs(trials, i, &found, device, message);
    }
    return 0;
}

/* ---- One choice ---- */

/* Runs the kernel once with the values of the trials. */
static int run(const struct verify_conditions *conditions, const struct verify_trials *trials, int device, int poison,
               struct verify_result *result, struct message *message)
{
    const struct verify_call call = {.kernel = trials->kernel,
                                     .constants = conditions->constants,
                                     .args = trials->values.args,
                                     .arrays = trials->values.arrays,
                                     .inplace = trials->inplace,
                                     .home = trials->home,
                                     .first_part = trials->first_part};
    return verify_run(&call, device, poison, result, message);
}

static int run_second(const struct verify_conditions *conditions, const struct verify_trials *trials,
                      struct verify_result *result, struct message *message)
{
    int device = conditions->device;
    if (device != CF_HOST)
        return run(conditions, trials, device, poisons[1], result, message);
    if (verify_set_order(verify_other_order(conditions->order), message) != 0)
        return -1;
    int status = run(conditions, trials, device, poisons[1], result, message);
    if (verify_set_order(conditions->order, message) != 0)
        return -1;
    return status;
}

static int find_tolerance(struct verify_trials *trials, struct message *message)
{
    const cf_kernel *kernel = trials->kernel;
    trials->tolerance = COMPARE_EXACT;
    if (!kernel->tolerance.ops)
        return 0;
    if (cf_kernel_evaluate_real(kernel, kernel->tolerance.ops, trials->values.args, &trials->tolerance) != CF_OK ||
        !(trials->tolerance >= 0))
        return message_set(message, "tolerance(%s) is %g, and no number from 0 on", kernel->tolerance.text,
                           trials->tolerance);
    return 0;
}

/* Makes the run to compare with: that of the first variant, or the kernel's own run on the CPU. */
static int run_first(const struct verify_conditions *conditions, struct verify_trials *trials,
                     struct verify_result *result, struct message *message)
{
    const cf_kernel *kernel = trials->kernel;
    if (!trials->is_of_first)
        return run(conditions, trials, CF_HOST, poisons[0], result, message);
    trials->kernel = kernel->variants[0];
    int status = run(conditions, trials, conditions->device, poisons[0], result, message);
    trials->kernel = kernel;
    return status;
}

/* Makes both runs. Returns 0 if they agree, and if a device refuses a size that the annotation allows, for instance
 * because a block is too large. */
static int try_values(const struct verify_conditions *conditions, struct verify_trials *trials,
                      struct verify_result results[2], struct message *message)
{
    if (find_tolerance(trials, message) != 0)
        return -1;
    int status = run_first(conditions, trials, &results[0], message);
    if (status == CF_OK && conditions->is_single)
        return trials->runs++, 0;
    if (status == CF_OK && trials->is_of_first)
        status = run(conditions, trials, conditions->device, poisons[1], &results[1], message);
    else if (status == CF_OK)
        status = run_second(conditions, trials, &results[1], message);
    trials->is_lost = status == CF_EFAULT && conditions->device != CF_HOST;
    if (status != CF_OK && (results[0].is_refused || results[1].is_refused)) {
        trials->refused = *message;
        return 0;
    }
    if (status != CF_OK)
        return -1;
    trials->runs++;
    return compare(trials, results, conditions->device, message);
}

static void forget(const struct verify_trials *trials, struct verify_result *result)
{
    for (uint32_t i = 0; result->packed && i < trials->kernel->nparams; i++) {
        free(result->packed[i]);
        result->packed[i] = NULL;
    }
    result->is_refused = 0;
}

/* Runs the kernel with the same values and shared arrays, and compares with separate arrays. Returns 0 if they agree,
 * and if the library refuses the call. */
static int try_inplace(const struct verify_conditions *conditions, struct verify_trials *joined,
                       const struct inplace *which, struct verify_result results[2], struct message *message)
{
    forget(joined, &results[0]);
    forget(joined, &results[1]);
    int status = run(conditions, joined, CF_HOST, poisons[0], &results[0], message);
    joined->inplace = which;
    if (status == CF_OK)
        status = run_second(conditions, joined, &results[1], message);
    joined->is_lost = status == CF_EFAULT && conditions->device != CF_HOST;
    if (status != CF_OK)
        return results[0].is_refused || results[1].is_refused ? 0 : -1;
    joined->in_place++;
    return compare(joined, results, conditions->device, message);
}

static int try_all_inplace(const struct verify_conditions *conditions, struct verify_trials *trials,
                           struct verify_result results[2], struct message *message)
{
    const uint32_t count = trials->kernel->nparams;
    struct verify_array *arrays = calloc(count + (size_t)1, sizeof *arrays);
    struct inplace which;
    int status = arrays ? 0 : message_set(message, "no memory");
    for (uint32_t k = 0; status == 0 && inplace_at(trials->kernel, k, &which) == 0; k++) {
        struct verify_trials joined = *trials;
        memcpy(arrays, trials->values.arrays, count * sizeof *arrays);
        joined.values.arrays = arrays;
        if (verify_arrays_join(trials->kernel, &which, arrays, &joined.home) != 0)
            continue;
        status = try_inplace(conditions, &joined, &which, results, message);
        trials->in_place = joined.in_place;
        trials->largest = joined.largest;
        trials->is_lost = joined.is_lost;
        if (status != 0) {
            struct message how = {""};
            inplace_add(trials->kernel, &which, &how);
            message_add(&how, ", in place: %s", message->text);
            *message = how;
        }
    }
    free(arrays);
    return status;
}

/* Makes two calls for the parts of a split, and compares with one call on the CPU. Returns 0 if they agree, and if the
 * library refuses a part. */
static int try_cut(const struct verify_conditions *conditions, struct verify_trials *trials, int64_t first_part,
                   struct verify_result results[2], struct message *message)
{
    forget(trials, &results[0]);
    forget(trials, &results[1]);
    int status = run(conditions, trials, CF_HOST, poisons[0], &results[0], message);
    trials->first_part = first_part;
    if (status == CF_OK)
        status = run(conditions, trials, conditions->device, poisons[1], &results[1], message);
    trials->is_lost = status == CF_EFAULT && conditions->device != CF_HOST;
    const int is_refused = status != CF_OK && (results[0].is_refused || results[1].is_refused);
    if (status == CF_OK) {
        trials->in_parts++;
        status = compare(trials, results, conditions->device, message);
    }
    trials->first_part = 0;
    if (status == CF_OK || is_refused)
        return 0;
    struct message how = {""};
    message_add(&how, "split(%s) does not hold, in two calls, the first for %" PRId64 ": %s",
                trials->kernel->params[cf_kernel_split(trials->kernel)].name, first_part, message->text);
    *message = how;
    return status;
}

/* Tries ways to divide the call until one is not refused. Nothing is divided under a check, whose sections are those of
 * a complete call. */
static int try_parts(const struct verify_conditions *conditions, struct verify_trials *trials,
                     struct verify_result results[2], struct message *message)
{
    const unsigned before = trials->in_parts;
    int64_t first_part;
    int status = 0;
    for (uint32_t k = 0; status == 0 && trials->in_parts == before && !check_current &&
                         (first_part = parts_cut(trials->kernel, trials->values.args, k)) != 0;
         k++)
        status = try_cut(conditions, trials, first_part, results, message);
    return status;
}

void verify_size(const struct verify_conditions *conditions, struct verify_trials *trials, int64_t size, int only)
{
    const uint32_t count = trials->kernel->nparams;
    struct message message = {""};
    if (verify_values_choose(&trials->values, size, only) != 0)
        return;
    const unsigned runs = trials->runs;
    void **packed = calloc(2 * (size_t)count + 1, sizeof *packed);
    struct verify_result results[2] = {{.packed = packed}, {.packed = packed + count}};
    int status = packed ? try_values(conditions, trials, results, &message) : message_set(&message, "no memory");
    const int is_compared = status == 0 && trials->runs > runs && !conditions->is_single;
    if (is_compared)
        status = try_all_inplace(conditions, trials, results, &message);
    if (is_compared && status == 0)
        status = try_parts(conditions, trials, results, &message);
    if (packed) {
        forget(trials, &results[0]);
        forget(trials, &results[1]);
    }
    free(packed);
    if (status == 0)
        return;
    verify_values_add(&trials->values, &trials->wrong);
    message_add(&trials->wrong, "%s%s", *trials->wrong.text ? ": " : "", message.text);
}

static enum verify_outcome try_once(const struct verify_values *values, const struct constants *constants, int device,
                                    int is_of_first, struct message *message)
{
    const uint32_t count = values->kernel->nparams;
    char own[32];
    const struct verify_conditions conditions = {
        .constants = constants, .order = verify_own_order(own, sizeof own), .device = device};
    struct verify_trials trials = {.kernel = values->kernel, .values = *values, .is_of_first = is_of_first};
    void **packed = calloc(2 * (size_t)count + 1, sizeof *packed);
    struct verify_result results[2] = {{.packed = packed}, {.packed = packed + count}};
    int status = packed ? try_values(&conditions, &trials, results, message) : message_set(message, "no memory");
    for (uint32_t i = 0; packed && i < 2 * count; i++)
        free(packed[i]);
    free(packed);
    if (status != 0)
        return trials.is_lost ? VERIFY_LOST : VERIFY_DIFFERS;
    if (trials.runs)
        return VERIFY_AGREES;
    *message = trials.refused;
    return VERIFY_REFUSED;
}

enum verify_outcome verify_once(const struct verify_values *values, const struct constants *constants, int device,
                                struct message *message)
{
    return try_once(values, constants, device, 0, message);
}

enum verify_outcome verify_variant(const struct verify_values *values, const struct constants *constants, int device,
                                   struct message *message)
{
    return try_once(values, constants, device, 1, message);
}
