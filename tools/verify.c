/* verify.c - runs every kernel of a library on the CPU and on a GPU, over arguments of many sizes, and compares. */
#include "verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "argument.h"
#include "crash.h"
#include "runtime.h"
#include "variant.h"
#include "verify_values.h"
#include "watch.h"

/* What arrays hold before a run. They differ, so that what neither run writes differs too. */
static const int poisons[2] = {0x5a, 0xa5};

/* The order of blocks and threads in the second of two runs on the CPU. */
#define ORDER "CF_HOST_ORDER"

struct verification {
    const struct verify_plan *plan;
    const char *order; /* the user's own; NULL where there is none */
    int device;
    int name_width;
    int is_lost; /* the device is of no use any more */
    size_t agree, differ, left_out;
    struct message first; /* of what differs */
};

/* One kernel's, or variant's, runs. */
struct trials {
    const cf_kernel *kernel;
    struct verify_values values;
    unsigned runs, in_place;
    const struct inplace *inplace; /* of this run: arrays that are one; NULL: none are */
    uint32_t home;                 /* the number of that one */
    double tolerance;              /* of the latest run; below 0: bit for bit */
    double largest;                /* deviation of all */
    int is_lost;                   /* the device is of no use any more */
    int is_of_first;               /* a variant is compared with the first one */
    struct message wrong, refused;
};

/* What one run has left. */
struct result {
    void **packed;  /* one a parameter: the section of what is written, else NULL */
    int is_refused; /* by the call, as a block is that is too large */
};

/* ---- One call ---- */

/* The kernel, watched. */
static const cf_kernel *watch(const struct trials *trials, struct message *message)
{
    const cf_kernel *kernel = trials->kernel;
    size_t *bytes = calloc(kernel->nparams + (size_t)1, sizeof *bytes);
    for (uint32_t i = 0; bytes && i < kernel->nparams; i++)
        bytes[i] = argument_is_array(&kernel->params[i]) ? trials->values.arrays[i].bytes : 0;
    const cf_kernel *watched = bytes ? watch_kernel(kernel, bytes, message) : NULL;
    free(bytes);
    return watched;
}

static int call(const struct trials *trials, const struct constants *constants, void *const args[],
                struct result *result, struct message *message)
{
    if (constants_set(constants, message) != 0)
        return -1;
    const cf_kernel *kernel = watch_what ? watch(trials, message) : trials->kernel;
    if (!kernel)
        return -1;
    int status = cf_call(kernel, args);
    if (status != CF_OK)
        message_set(message, "%s", cf_last_error());
    result->is_refused = status == CF_EINVAL || status == CF_EOVERFLOW; /* a grid past a device's limits, too */
    return status;
}

/* An array for one call: in host memory, and on a GPU a copy of all of it, so that the poison is there, too, which a
 * call with host arrays does not move. Where it is several in one, what was in it before is kept. */
struct array {
    void *host, *device, *before;
    char *passed;
};

/* AddressSanitizer itself looks at what lies around. */
static size_t guard(void)
{
    return watch_what == WATCH_ADDRESS ? 0 : VERIFY_GUARD;
}

/* The number of the array that has the memory of array i. */
static uint32_t home_of(const struct trials *trials, uint32_t i)
{
    return trials->inplace && inplace_has(trials->kernel, trials->inplace, i) ? trials->home : i;
}

/* Takes what was written; -1 where something beside a section was, too. */
static int take(const struct trials *trials, uint32_t i, const struct array *from, int poison, void **packed,
                struct message *message)
{
    const struct verify_array *array = &trials->values.arrays[i];
    const char *name = trials->kernel->params[i].name;
    *packed = malloc(array->section.bytes + 1);
    if (!*packed)
        return message_set(message, "no memory");
    size_t changed = verify_array_take(array, from->host, from->before, poison, guard(), *packed);
    return changed ? message_set(message, "%zu bytes beside the section of %s are overwritten", changed, name) : 0;
}

static int make_array(const struct trials *trials, uint32_t i, int device, int poison, struct array *array,
                      struct message *message)
{
    const struct verify_array *made = &trials->values.arrays[i];
    const int is_joined = trials->inplace && i == trials->home;
    const size_t room = verify_array_room(made, guard());
    if (made->bytes == 0)
        return 0;
    array->host = verify_array_make(made, argument_is_read(&trials->kernel->params[i]) || is_joined, poison, guard());
    array->before = is_joined ? malloc(room) : NULL;
    if (!array->host || (is_joined && !array->before))
        return message_set(message, "no memory");
    if (is_joined)
        memcpy(array->before, array->host, room);
    array->passed = (char *)array->host + guard();
    if (device == CF_HOST)
        return 0;
    int status = cf_mem_alloc(&array->device, room);
    if (status == CF_OK)
        status = cf_mem_copy(array->device, array->host, room);
    if (status != CF_OK)
        message_set(message, "%s", cf_last_error());
    array->passed = (char *)array->device + guard();
    return status;
}

static int take_array(const struct trials *trials, uint32_t i, int device, int poison, const struct array *array,
                      struct result *result, struct message *message)
{
    int status = CF_OK;
    if (!argument_is_written(&trials->kernel->params[i]) || !array->host)
        return CF_OK;
    if (device != CF_HOST)
        status = cf_mem_copy(array->host, array->device,
                             verify_array_room(&trials->values.arrays[home_of(trials, i)], guard()));
    if (status != CF_OK) {
        message_set(message, "%s", cf_last_error());
        return status;
    }
    return take(trials, i, array, poison, &result->packed[i], message);
}

static int free_array(int device, const struct array *array)
{
    free(array->host);
    free(array->before);
    return device == CF_HOST ? CF_OK : cf_mem_free(array->device);
}

static int run_with(const struct trials *trials, const struct constants *constants, int device, int poison,
                    struct array *arrays, void **args, struct result *result, struct message *message)
{
    const cf_kernel *kernel = trials->kernel;
    int status = cf_device_use(device);
    if (status != CF_OK)
        return message_set(message, "%s", cf_last_error());
    for (uint32_t i = 0; status == 0 && i < kernel->nparams; i++) {
        args[i] = trials->values.args[i];
        if (!argument_is_array(&kernel->params[i]))
            continue;
        args[i] = &arrays[home_of(trials, i)].passed;
        if (home_of(trials, i) == i)
            status = make_array(trials, i, device, poison, &arrays[i], message);
    }
    if (status == 0)
        status = call(trials, constants, args, result, message);
    for (uint32_t i = 0; status == 0 && i < kernel->nparams; i++)
        status = take_array(trials, i, device, poison, &arrays[home_of(trials, i)], result, message);
    return status;
}

/* Runs the kernel once, and takes its results: a status of the library's; -1 with the message for what else fails. */
static int run(const struct trials *trials, const struct constants *constants, int device, int poison,
               struct result *result, struct message *message)
{
    const uint32_t count = trials->kernel->nparams;
    struct array *arrays = calloc(count + (size_t)1, sizeof *arrays);
    void **args = calloc(count + (size_t)1, sizeof *args);
    int status = arrays && args ? run_with(trials, constants, device, poison, arrays, args, result, message)
                                : message_set(message, "no memory");
    /* What was on a device that is lost has gone with it. */
    for (uint32_t i = 0; arrays && i < count; i++)
        if (free_array(device, &arrays[i]) != CF_OK && status == CF_OK)
            status = message_set(message, "%s", cf_last_error());
    free(arrays);
    free(args);
    return status;
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

/* "y[12] = 3 on device 0 and 4 on the CPU; 3 of 33 elements differ, by up to 1, tolerance 1e-05". */
static int differs(const struct trials *trials, uint32_t i, const struct comparison *found, const void *got, int device,
                   struct message *message)
{
    const struct verify_array *array = &trials->values.arrays[i];
    const struct element_type *type = &array->section.type;
    char text[ELEMENT_TEXT];
    element_format(type, (const char *)got + found->first * type->bytes, text);
    message_set(message, "%s", trials->kernel->params[i].name);
    verify_array_index(array, found->first, message);
    message_add(message, " = %s", text);
    if (!trials->is_of_first)
        add_place(device, 1, CF_HOST, message);
    message_add(message, " and %s %s; %zu of %zu elements differ", found->expected,
                trials->is_of_first ? "by the first variant" : "on the CPU", found->count, array->section.count);
    if (element_parts(type->type))
        message_add(message, ", by up to %.3g", found->largest);
    if (trials->tolerance >= 0)
        message_add(message, ", tolerance %.3g", trials->tolerance);
    return -1;
}

static int unwritten(const struct trials *trials, uint32_t i, size_t count, size_t first, struct message *message)
{
    const struct verify_array *array = &trials->values.arrays[i];
    message_set(message, "%s", trials->kernel->params[i].name);
    verify_array_index(array, first, message);
    message_add(message, " is not written; nor %s %zu of %zu elements",
                count == array->section.count ? "are all" : "are", count, array->section.count);
    return -1;
}

static int compare(struct trials *trials, const struct result results[2], int device, struct message *message)
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
            return differs(trials, i, &found, got, device, message);
    }
    return 0;
}

/* ---- One size ---- */

int verify_set_order(const char *order, struct message *message)
{
    if ((order ? setenv(ORDER, order, 1) : unsetenv(ORDER)) != 0 || cf_shutdown() != CF_OK)
        return message_set(message, "%s", cf_last_error());
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
    return own && strcmp(own, "1") == 0 ? "2" : "1";
}

static int run_second(const struct verification *verification, const struct trials *trials, struct result *result,
                      struct message *message)
{
    int device = verification->device;
    const struct constants *constants = verification->plan->constants;
    if (device != CF_HOST)
        return run(trials, constants, device, poisons[1], result, message);
    if (verify_set_order(verify_other_order(verification->order), message) != 0)
        return -1;
    int status = run(trials, constants, device, poisons[1], result, message);
    if (verify_set_order(verification->order, message) != 0)
        return -1;
    return status;
}

static int find_tolerance(struct trials *trials, struct message *message)
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

/* The first variant's run, or on the CPU the kernel's own. */
static int run_first(const struct verification *verification, struct trials *trials, struct result *result,
                     struct message *message)
{
    const struct constants *constants = verification->plan->constants;
    const cf_kernel *kernel = trials->kernel;
    if (!trials->is_of_first)
        return run(trials, constants, CF_HOST, poisons[0], result, message);
    trials->kernel = kernel->variants[0];
    int status = run(trials, constants, verification->device, poisons[0], result, message);
    trials->kernel = kernel;
    return status;
}

/* 0 where both runs agree, or where a device refuses what the annotation allows, as a block that is too large. */
static int try_values(const struct verification *verification, struct trials *trials, struct result results[2],
                      struct message *message)
{
    if (find_tolerance(trials, message) != 0)
        return -1;
    int status = run_first(verification, trials, &results[0], message);
    if (status == CF_OK && trials->is_of_first)
        status = run(trials, verification->plan->constants, verification->device, poisons[1], &results[1], message);
    else if (status == CF_OK)
        status = run_second(verification, trials, &results[1], message);
    trials->is_lost = status == CF_EFAULT && verification->device != CF_HOST;
    if (status != CF_OK && (results[0].is_refused || results[1].is_refused)) {
        trials->refused = *message;
        return 0;
    }
    if (status != CF_OK)
        return -1;
    trials->runs++;
    return compare(trials, results, verification->device, message);
}

static void forget(const struct trials *trials, struct result *result)
{
    for (uint32_t i = 0; result->packed && i < trials->kernel->nparams; i++) {
        free(result->packed[i]);
        result->packed[i] = NULL;
    }
    result->is_refused = 0;
}

/* The same values with arrays that are one: against a call whose arrays are apart, and have the same elements. 0, too,
 * where the library refuses it. */
static int try_inplace(const struct verification *verification, struct trials *joined, const struct inplace *which,
                       struct result results[2], struct message *message)
{
    const struct constants *constants = verification->plan->constants;
    forget(joined, &results[0]);
    forget(joined, &results[1]);
    int status = run(joined, constants, CF_HOST, poisons[0], &results[0], message);
    joined->inplace = which;
    if (status == CF_OK)
        status = run_second(verification, joined, &results[1], message);
    joined->is_lost = status == CF_EFAULT && verification->device != CF_HOST;
    if (status != CF_OK)
        return results[0].is_refused || results[1].is_refused ? 0 : -1;
    joined->in_place++;
    return compare(joined, results, verification->device, message);
}

static int try_all_inplace(const struct verification *verification, struct trials *trials, struct result results[2],
                           struct message *message)
{
    const uint32_t count = trials->kernel->nparams;
    struct verify_array *arrays = calloc(count + (size_t)1, sizeof *arrays);
    struct inplace which;
    int status = arrays ? 0 : message_set(message, "no memory");
    for (uint32_t k = 0; status == 0 && inplace_at(trials->kernel, k, &which) == 0; k++) {
        struct trials joined = *trials;
        memcpy(arrays, trials->values.arrays, count * sizeof *arrays);
        joined.values.arrays = arrays;
        if (verify_arrays_join(trials->kernel, &which, arrays, &joined.home) != 0)
            continue;
        status = try_inplace(verification, &joined, &which, results, message);
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

/* Keeps the first failure, with the values that it came with. */
static void try_size(const struct verification *verification, struct trials *trials, int64_t size, int only)
{
    const uint32_t count = trials->kernel->nparams;
    struct message message = {""};
    if (verify_values_choose(&trials->values, size, only) != 0)
        return;
    const unsigned runs = trials->runs;
    void **packed = calloc(2 * (size_t)count + 1, sizeof *packed);
    struct result results[2] = {{.packed = packed}, {.packed = packed + count}};
    int status = packed ? try_values(verification, trials, results, &message) : message_set(&message, "no memory");
    if (status == 0 && trials->runs > runs)
        status = try_all_inplace(verification, trials, results, &message);
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

/* ---- One kernel ---- */

/* Where every access is looked at, what takes a moment takes minutes: a call is to be of some ten million accesses. */
static const struct verify_limits watched = {(size_t)16 << 20, (int64_t)1 << 16, 5e6, 5e6};

/* A large size that can be had: what is past the limits is not. */
static void try_large(const struct verification *verification, struct trials *trials, int only)
{
    static const int64_t large[] = {100003, 10007, 1009, 307, 65536, 1024};
    unsigned runs = trials->runs;
    for (size_t i = watch_what ? 3 : 0;
         i < sizeof large / sizeof *large && trials->runs == runs && !*trials->wrong.text; i++)
        try_size(verification, trials, large[i], only);
}

static void try_sizes(const struct verification *verification, struct trials *trials)
{
    int64_t sizes[] = {0, 1, 31, 32, 33, 0, 0, 0};
    if (trials->values.size_count == 0) {
        try_size(verification, trials, 1, VERIFY_ALL_SIZES);
        return;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !*trials->wrong.text; i++) {
        if (i == 5) { /* the block may depend on what was chosen before */
            int64_t block = verify_values_block(&trials->values);
            sizes[5] = block - 1, sizes[6] = block, sizes[7] = block + 1;
        }
        try_size(verification, trials, sizes[i], VERIFY_ALL_SIZES);
    }
    /* Nothing of the one, and some of the others: an empty grid, and results all the same. */
    for (uint32_t s = 0; trials->values.size_count > 1 && s < trials->values.size_count && !*trials->wrong.text; s++)
        try_size(verification, trials, 0, (int)s);
    if (!*trials->wrong.text)
        try_large(verification, trials, VERIFY_ALL_SIZES);
    for (uint32_t s = 0; trials->values.size_count > 1 && s < trials->values.size_count && !*trials->wrong.text; s++)
        try_large(verification, trials, (int)s);
}

static void print_outcome(struct verification *verification, const struct trials *trials, const char *name)
{
    if (*trials->wrong.text) {
        printf("%6u  DIFFERS: %s\n", trials->runs, trials->wrong.text);
        if (verification->differ++ == 0)
            message_set(&verification->first, "%s: %s", name, trials->wrong.text);
    } else if (trials->runs == 0) {
        printf("%6s  not run: %s\n", "-", *trials->refused.text ? trials->refused.text : "no values pass its checks");
        verification->left_out++;
    } else {
        verification->agree++;
        printf("%6u  ", trials->runs);
        if (trials->tolerance >= 0)
            printf("agree within %.3g, tolerance %.3g", trials->largest, trials->tolerance);
        else
            printf("agree bit for bit");
        if (trials->in_place)
            printf("; in place, %u times", trials->in_place);
        printf("\n");
    }
    fflush(stdout);
}

/* Tells first what runs: a kernel that faults on the CPU ends the process. */
static void verify_kernel(struct verification *verification, const cf_kernel *kernel)
{
    struct message name = {""}, reason = {""};
    struct trials trials = {.kernel = kernel};
    message_add(&name, "%s%s", kernel->name, kernel->nconstants ? " " : "");
    variant_add(kernel, &name);
    printf("%-*s", verification->name_width, name.text);
    crash_expect(name.text, "; --check address may tell where, --except leaves it out", 1);
    if (verification->is_lost) {
        printf("%6s  not run: device %d is lost\n", "-", verification->device);
        verification->left_out++;
        return;
    }
    const int is_hosted = cf_kernel_has_host(kernel);
    if (!is_hosted || verify_values_begin(&trials.values, kernel, &reason) != 0) {
        printf("%6s  not run: %s\n", "-", is_hosted ? reason.text : "it has no form for the CPU");
        verification->left_out++;
    } else {
        if (watch_what)
            trials.values.limits = watched;
        try_sizes(verification, &trials);
        print_outcome(verification, &trials, name.text);
        verification->is_lost = trials.is_lost;
    }
    if (is_hosted)
        verify_values_free(&trials.values);
}

/* ---- All kernels ---- */

static int print_head(const struct verification *verification, struct message *message)
{
    char name[256];
    if (cf_device_name(verification->device, name, sizeof name) != CF_OK)
        return message_set(message, "%s", cf_last_error());
    if (verification->device == CF_HOST)
        printf("verify: no GPU: on the CPU (%s) twice, the second time in another order\n", name);
    else
        printf("verify: device %d (%s) against the CPU\n", verification->device, name);
    printf("%-*s%6s  result\n", verification->name_width, "kernel", "sizes");
    return 0;
}

static void for_each(struct verification *verification, void (*use)(struct verification *, const cf_kernel *))
{
    const cf_kernel *kernel;
    for (size_t k = 0; (kernel = cf_kernel_at(verification->plan->module, k)) != NULL; k++) {
        if (!instance_is_meant(verification->plan->module, kernel, &verification->plan->names))
            continue;
        if (kernel->nvariants == 0)
            use(verification, kernel);
        for (uint32_t v = 0; v < kernel->nvariants; v++)
            use(verification, kernel->variants[v]);
    }
}

static void widen(struct verification *verification, const cf_kernel *kernel)
{
    struct message name = {""};
    variant_add(kernel, &name);
    int width = (int)(strlen(kernel->name) + (kernel->nconstants != 0) + strlen(name.text));
    if (width > verification->name_width)
        verification->name_width = width;
}

static int conclude(const struct verification *verification, struct message *message)
{
    size_t total = verification->agree + verification->differ + verification->left_out;
    printf("verify: %zu of %zu kernels agree, %zu differ, %zu were not run\n", verification->agree, total,
           verification->differ, verification->left_out);
    if (verification->differ)
        return message_set(message, "verify: %zu of %zu kernels differ; the first: %s", verification->differ, total,
                           verification->first.text);
    if (!verification->agree)
        return message_set(message, "verify: none of %zu kernels could be run", total);
    return 0;
}

static enum verify_outcome verify(const struct verify_values *values, const struct constants *constants, int device,
                                  int is_of_first, struct message *message)
{
    const uint32_t count = values->kernel->nparams;
    char own[32];
    const struct verify_plan plan = {.constants = constants};
    struct verification verification = {.plan = &plan, .order = verify_own_order(own, sizeof own), .device = device};
    struct trials trials = {.kernel = values->kernel, .values = *values, .is_of_first = is_of_first};
    void **packed = calloc(2 * (size_t)count + 1, sizeof *packed);
    struct result results[2] = {{.packed = packed}, {.packed = packed + count}};
    int status = packed ? try_values(&verification, &trials, results, message) : message_set(message, "no memory");
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
    return verify(values, constants, device, 0, message);
}

enum verify_outcome verify_variant(const struct verify_values *values, const struct constants *constants, int device,
                                   struct message *message)
{
    return verify(values, constants, device, 1, message);
}

int verify_all(const struct verify_plan *plan, struct message *message)
{
    char own[32];
    struct verification verification = {
        .plan = plan, .order = verify_own_order(own, sizeof own), .name_width = (int)strlen("kernel")};
    if (instance_check_names(plan->module, &plan->names, message) != 0)
        return -1;
    if (cf_device_current(&verification.device) != CF_OK)
        return message_set(message, "%s", cf_last_error());
    for_each(&verification, widen);
    if (print_head(&verification, message) != 0)
        return -1;
    for_each(&verification, verify_kernel);
    return conclude(&verification, message);
}
