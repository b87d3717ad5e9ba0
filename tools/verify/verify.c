/* verify.c - runs every kernel of a library on the CPU and on a GPU with arguments of many sizes, and compares. */
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "base/crash.h"
#include "base/runtime.h"
#include "kernel/variant_text.h"
#include "verify/verify_size.h"
#include "watch/check.h"

struct verification {
    const struct verify_plan *plan;
    struct verify_conditions conditions;
    int name_width;
    int is_lost; /* the device cannot be used any more */
    size_t agree, differ, ended, left_out;
    struct message first; /* message on the first difference or the first end of the process */
    size_t at, begin;     /* numbers of the current kernel, and of the kernel that ended the program before this one */
    int has_begun;        /* this program continues the work of one that ended */
    int signal;           /* signal that ended the earlier program; 0: a check ended it */
};

/* Environment variable with the state that a program takes over after a signal has ended the one before. */
#define VERIFY_VARIABLE "CF__VERIFIED"

/* ---- After a signal ---- */

static size_t total_of(const struct verification *verification)
{
    return verification->agree + verification->differ + verification->ended + verification->left_out;
}

static void prepare_for_signals(const struct verification *verification)
{
    struct message state = {""};
    message_set(&state, "%zu:%zu:%zu:%zu:%zu:%s", verification->at, verification->agree, verification->differ,
                verification->ended, verification->left_out, verification->first.text);
    crash_go_on(verification->plan->argv, VERIFY_VARIABLE, state.text);
}

/* Takes over the state of the program that ended, if there was one. */
static void go_on(struct verification *verification)
{
    const char *text = getenv(VERIFY_VARIABLE);
    int used = 0;
    if (!text ||
        sscanf(text, "%d:%zu:%zu:%zu:%zu:%zu:%n", &verification->signal, &verification->begin, &verification->agree,
               &verification->differ, &verification->ended, &verification->left_out, &used) < 6)
        return;
    verification->has_begun = 1;
    message_set(&verification->first, "%s", text + used);
    (void)unsetenv(VERIFY_VARIABLE);
}

/* Prints that a kernel ended the earlier program, which has printed the kernel's name; if a check's finding was printed
 * after the name, the name is printed again. */
static void print_end(struct verification *verification, const char *name)
{
    struct message end = {""};
    if (verification->signal)
        message_set(&end, "it ended the process by signal %d (%s)", verification->signal,
                    strsignal(verification->signal));
    else
        message_set(&end, "the check found an error in it, and the process ended");
    if (!verification->signal && crash_shares_output())
        printf("%-*s", verification->name_width, name);
    printf("%6s  FAILED: %s; %s--except leaves it out\n", "-", end.text,
           verification->signal ? "--check address may tell where, " : "");
    fflush(stdout);
    if (verification->ended++ + verification->differ == 0)
        message_set(&verification->first, "%s: %s", name, end.text);
}

/* ---- One kernel ---- */

/* Limits of one call in a check. They allow some ten million accesses, since each access is examined. */
static const struct verify_limits watched = {(size_t)16 << 20, (int64_t)1 << 16, 5e6, 5e6};

/* Tries the largest size within the limits. */
static void try_large(const struct verification *verification, struct verify_trials *trials, int only)
{
    static const int64_t large[] = {100003, 10007, 1009, 307, 65536, 1024};
    unsigned runs = trials->runs;
    for (size_t i = check_current ? 3 : 0;
         i < sizeof large / sizeof *large && trials->runs == runs && !*trials->wrong.text; i++)
        verify_size(&verification->conditions, trials, large[i], only);
}

/* Kernels without scalars run once, since each run would be the same. */
static void try_random(const struct verification *verification, struct verify_trials *trials)
{
    const unsigned runs = trials->values.count ? verification->plan->random : 1;
    for (unsigned seed = 1; seed <= 4 * runs && trials->runs < runs && !*trials->wrong.text; seed++) {
        verify_values_randomise(&trials->values, seed);
        verify_size(&verification->conditions, trials, VERIFY_WANTED, VERIFY_ALL_SIZES);
    }
}

static void try_sizes(const struct verification *verification, struct verify_trials *trials)
{
    int64_t sizes[] = {0, 1, 31, 32, 33, 0, 0, 0};
    if (trials->values.size_count == 0) {
        verify_size(&verification->conditions, trials, 1, VERIFY_ALL_SIZES);
        return;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !*trials->wrong.text; i++) {
        if (i == 5) { /* computed now, since the block may depend on values chosen for the sizes before */
            int64_t block = verify_values_block(&trials->values);
            sizes[5] = block - 1, sizes[6] = block, sizes[7] = block + 1;
        }
        verify_size(&verification->conditions, trials, sizes[i], VERIFY_ALL_SIZES);
    }
    /* One size is 0 and the others are small, because a kernel with an empty grid may still have results. */
    for (uint32_t s = 0; trials->values.size_count > 1 && s < trials->values.size_count && !*trials->wrong.text; s++)
        verify_size(&verification->conditions, trials, 0, (int)s);
    if (!*trials->wrong.text)
        try_large(verification, trials, VERIFY_ALL_SIZES);
    for (uint32_t s = 0; trials->values.size_count > 1 && s < trials->values.size_count && !*trials->wrong.text; s++)
        try_large(verification, trials, (int)s);
}

static void print_outcome(struct verification *verification, const struct verify_trials *trials, const char *name)
{
    if (*trials->wrong.text) {
        printf("%6u  %s: %s\n", trials->runs, verification->plan->random ? "FAILED" : "DIFFERS", trials->wrong.text);
        if (verification->differ++ + verification->ended == 0)
            message_set(&verification->first, "%s: %s", name, trials->wrong.text);
    } else if (trials->runs == 0) {
        printf("%6s  not run: %s\n", "-", *trials->refused.text ? trials->refused.text : "no values pass its checks");
        verification->left_out++;
    } else {
        verification->agree++;
        printf("%6u  ", trials->runs);
        if (verification->plan->random)
            printf("no failure, nothing was compared");
        else if (trials->tolerance >= 0)
            printf("agree within %.3g, tolerance %.3g", trials->largest, trials->tolerance);
        else
            printf("agree bit for bit");
        if (trials->in_place)
            printf("; in place, %u times", trials->in_place);
        if (trials->in_parts)
            printf("; in parts, %u times", trials->in_parts);
        else if (cf_kernel_split(trials->kernel) >= 0)
            printf("; split(%s) was not tried", trials->kernel->params[cf_kernel_split(trials->kernel)].name);
        printf("\n");
    }
    fflush(stdout);
}

/* Verifies one kernel. Its name is printed first, because a kernel that faults on the CPU ends the process. */
static void verify_kernel(struct verification *verification, const cf_kernel *kernel)
{
    struct message name = {""}, reason = {""};
    struct verify_trials trials = {.kernel = kernel};
    const size_t number = verification->at++;
    message_add(&name, "%s%s", kernel->name, kernel->nconstants ? " " : "");
    variant_add(kernel, &name);
    if (verification->has_begun && number <= verification->begin) {
        if (number == verification->begin)
            print_end(verification, name.text);
        return;
    }
    printf("%-*s", verification->name_width, name.text);
    crash_expect(name.text, "; --check address may tell where, --except leaves it out", 1);
    if (verification->is_lost) {
        printf("%6s  not run: device %d is lost\n", "-", verification->conditions.device);
        verification->left_out++;
        return;
    }
    const int is_hosted = cf_kernel_has_host(kernel);
    if (!is_hosted || verify_values_begin(&trials.values, kernel, &reason) != 0) {
        printf("%6s  not run: %s\n", "-", is_hosted ? reason.text : "it has no form for the CPU");
        verification->left_out++;
    } else {
        if (check_current)
            trials.values.limits = watched;
        verification->at = number;
        prepare_for_signals(verification);
        verification->at = number + 1;
        (verification->plan->random ? try_random : try_sizes)(verification, &trials);
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
    if (cf_device_name(verification->conditions.device, name, sizeof name) != CF_OK)
        return runtime_failure(message);
    if (verification->plan->random)
        printf("verify: runs with random numbers on the CPU (%s)\n", name);
    else if (verification->conditions.device == CF_HOST)
        printf("verify: no GPU: only two orders of threads on the CPU (%s) are compared\n", name);
    else
        printf("verify: device %d (%s) against the CPU\n", verification->conditions.device, name);
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
    const size_t total = total_of(verification);
    printf("verify: %zu of %zu kernels agree, %zu differ, %zu were not run", verification->agree, total,
           verification->differ, verification->left_out);
    if (verification->ended)
        printf(", %zu ended the process", verification->ended);
    printf("\n");
    if (verification->differ + verification->ended)
        return message_set(message, "verify: %zu of %zu kernels %s; the first: %s",
                           verification->differ + verification->ended, total, verification->ended ? "fail" : "differ",
                           verification->first.text);
    if (!verification->agree)
        return message_set(message, "verify: none of %zu kernels could be run", total);
    return 0;
}

int verify_all(const struct verify_plan *plan, struct message *message)
{
    char own[32];
    struct verification verification = {.plan = plan,
                                        .conditions = {.constants = plan->constants,
                                                       .order = verify_own_order(own, sizeof own),
                                                       .is_single = plan->random != 0},
                                        .name_width = (int)strlen("kernel")};
    if (instance_check_names(plan->module, &plan->names, message) != 0)
        return -1;
    if (cf_device_current(&verification.conditions.device) != CF_OK)
        return runtime_failure(message);
    go_on(&verification);
    for_each(&verification, widen);
    if (!verification.has_begun && print_head(&verification, message) != 0)
        return -1;
    for_each(&verification, verify_kernel);
    return conclude(&verification, message);
}
