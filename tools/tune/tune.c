/* tune.c - finds the fastest variant of a kernel for each size, from two runs of all variants. */
#include "tune/tune.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/variant_text.h"

/* Returns the first result of a variant with this outcome in a run, at a size or, if that is -1, at any size. Returns
 * NULL if there is none. */
static const struct bench_result *find(const struct bench_run *run, const cf_kernel *variant,
                                       enum bench_outcome outcome, int64_t size)
{
    struct message name = {""};
    variant_add(variant, &name);
    for (size_t i = 0; i < run->count; i++) {
        const struct bench_result *result = &run->results[i];
        if (result->outcome == outcome && (size < 0 || result->size == size) &&
            strcmp(result->kernel, variant->name) == 0 &&
            strncmp(result->variant, name.text, sizeof result->variant - 1) == 0)
            return result;
    }
    return NULL;
}

int tune_is_wrong(const struct bench_run *run, const cf_kernel *variant)
{
    return find(run, variant, BENCH_FAILED, -1) != NULL;
}

/* Returns the mean of the runs' medians; 0 if a run has no time, or if the variant is wrong at any size. */
static double time_of(const struct bench_run runs[TUNE_RUNS], const cf_kernel *variant, int64_t size)
{
    double sum = 0;
    for (int r = 0; r < TUNE_RUNS; r++) {
        const struct bench_result *result = find(&runs[r], variant, BENCH_MEASURED, size);
        if (!result || tune_is_wrong(&runs[r], variant))
            return 0;
        sum += result->seconds.median;
    }
    return sum / TUNE_RUNS;
}

/* Returns 1 if `variant` is faster than `than` in every run by more than noise. */
static int is_faster(const struct bench_run runs[TUNE_RUNS], const cf_kernel *variant, const cf_kernel *than,
                     int64_t size)
{
    for (int r = 0; r < TUNE_RUNS; r++) {
        const struct bench_statistics *own = &find(&runs[r], variant, BENCH_MEASURED, size)->seconds;
        const struct bench_statistics *other = &find(&runs[r], than, BENCH_MEASURED, size)->seconds;
        int is_apart = own->upper < other->lower || own->median < other->lower / 2;
        if (!(own->median < other->median * (1 - TUNE_MARGIN) && is_apart))
            return 0;
    }
    return 1;
}

/* Returns the fastest of the variants that beat the present one; if none does, the present one. Returns the fastest of
 * all if the present one has no time. */
static const cf_kernel *best_of(const cf_kernel *kernel, const struct bench_run runs[TUNE_RUNS],
                                const cf_kernel *present, int64_t size)
{
    double least = time_of(runs, present, size);
    const cf_kernel *best = least > 0 ? present : NULL;
    for (uint32_t v = 0; v < kernel->nvariants; v++) {
        const cf_kernel *variant = kernel->variants[v];
        double time = time_of(runs, variant, size);
        int is_better = time > 0 && (!best || time < least);
        if (is_better && time_of(runs, present, size) > 0)
            is_better = is_faster(runs, variant, present, size);
        if (is_better) {
            best = variant;
            least = time;
        }
    }
    return best;
}

static struct tune_finding *append(struct tune_findings *findings)
{
    struct tune_finding *more = realloc(findings->list, (findings->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    findings->list = more;
    more += findings->count++;
    memset(more, 0, sizeof *more);
    return more;
}

static int judge_size(const cf_kernel *kernel, const struct bench_run runs[TUNE_RUNS],
                      const struct bench_result *result, tune_present *present, void *data,
                      struct tune_findings *findings, struct message *message)
{
    const cf_kernel *now = NULL;
    struct tune_finding *finding = append(findings);
    if (!finding)
        return message_set(message, "no memory");
    finding->kernel = kernel;
    finding->size = result->size;
    if (result->outcome != BENCH_MEASURED) {
        memcpy(finding->reason, result->reason, sizeof finding->reason);
        return 0;
    }
    finding->size_class = result->size_class;
    if (present(data, kernel, finding->size_class, &now, message) != 0)
        return -1;
    finding->variant = best_of(kernel, runs, now, result->size);
    if (!finding->variant) {
        snprintf(finding->reason, sizeof finding->reason, "no variant that is right could be timed twice");
        return 0;
    }
    finding->seconds = time_of(runs, finding->variant, result->size);
    finding->first_seconds = time_of(runs, kernel->variants[0], result->size);
    finding->is_new = finding->variant != now;
    return 0;
}

/* There is a finding for each size at which a variant has a time, or a single finding if there is no such size. */
int tune_judge(const cf_kernel *kernel, const struct bench_run runs[TUNE_RUNS], tune_present *present, void *data,
               struct tune_findings *findings, struct message *message)
{
    const size_t before = findings->count;
    const struct bench_result *wrong = NULL;
    for (size_t i = 0; i < runs[0].count; i++) {
        const struct bench_result *result = &runs[0].results[i];
        int is_known = 0;
        if (strcmp(result->kernel, kernel->name) != 0)
            continue;
        for (size_t f = before; f < findings->count; f++)
            is_known |= findings->list[f].size == result->size;
        if (result->outcome != BENCH_MEASURED)
            wrong = wrong ? wrong : result;
        else if (!is_known && judge_size(kernel, runs, result, present, data, findings, message) != 0)
            return -1;
    }
    if (wrong && findings->count == before)
        return judge_size(kernel, runs, wrong, present, data, findings, message);
    return 0;
}

int tune_is_last(const struct tune_findings *findings, size_t number)
{
    const struct tune_finding *own = &findings->list[number];
    for (size_t f = number + 1; f < findings->count; f++)
        if (findings->list[f].kernel == own->kernel && findings->list[f].variant &&
            findings->list[f].size_class == own->size_class)
            return 0;
    return own->variant != NULL;
}
