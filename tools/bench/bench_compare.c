/* bench_compare.c - compares results with earlier ones. */
#include "bench/bench_compare.h"

#include <stdio.h>
#include <string.h>

#include "bench/bench_sizes.h"

static const struct bench_result *find(const struct bench_run *earlier, const struct bench_result *result)
{
    for (size_t i = 0; i < earlier->count; i++) {
        const struct bench_result *known = &earlier->results[i];
        if (known->outcome == BENCH_MEASURED && known->size == result->size &&
            strcmp(known->kernel, result->kernel) == 0 && strcmp(known->variant, result->variant) == 0 &&
            (result->outcome != BENCH_MEASURED || strcmp(known->values, result->values) == 0))
            return known;
    }
    return NULL;
}

enum bench_change bench_compare(const struct bench_run *earlier, const struct bench_result *result, double *ratio)
{
    const struct bench_result *known = find(earlier, result);
    *ratio = 0;
    if (!known)
        return BENCH_NEW;
    if (result->outcome != BENCH_MEASURED)
        return BENCH_BROKEN;
    *ratio = known->seconds.median > 0 ? result->seconds.median / known->seconds.median : 0;
    if (result->seconds.lower > known->seconds.upper)
        return BENCH_SLOWER;
    return result->seconds.upper < known->seconds.lower ? BENCH_FASTER : BENCH_SAME;
}

void bench_compare_print(const struct bench_run *earlier, const struct bench_result *result)
{
    double ratio;
    enum bench_change change = bench_compare(earlier, result, &ratio);
    if (change == BENCH_NEW)
        printf("%9s", "new");
    else
        printf("%9.3f%s", ratio, change == BENCH_SLOWER ? " slower" : change == BENCH_FASTER ? " faster" : "");
}

/* Lists the differences that make a comparison one of two machines. */
static void print_differences(const struct bench_machine *then, const struct bench_machine *now)
{
    if (strcmp(then->device_name, now->device_name) != 0)
        printf("against: then on %s\n", then->device_name);
    if (strcmp(then->driver, now->driver) != 0)
        printf("against: then with a driver for CUDA %s\n", *then->driver ? then->driver : "-");
    if (strcmp(then->version, now->version) != 0)
        printf("against: then by Cuferry %s\n", then->version);
    if (!now->on_cuda && then->threads != now->threads)
        printf("against: then on %d threads\n", then->threads);
}

int bench_compare_conclude(const struct bench_run *earlier, const struct bench_run *now, double tolerance,
                           struct message *message)
{
    size_t counts[BENCH_BROKEN + 1] = {0}, worse = 0;
    struct message first = {""};
    for (size_t i = 0; i < now->count; i++) {
        const struct bench_result *result = &now->results[i];
        double ratio;
        enum bench_change change = bench_compare(earlier, result, &ratio);
        counts[change]++;
        if (change != BENCH_BROKEN && !(change == BENCH_SLOWER && ratio > 1 + tolerance))
            continue;
        if (worse++)
            continue;
        char size[BENCH_SIZE_TEXT];
        bench_size_format(result->size, size);
        message_set(&first, "%s%s%s at %s", result->kernel, *result->variant ? " " : "", result->variant, size);
        if (change == BENCH_BROKEN)
            message_add(&first, " has no time any more");
        else
            message_add(&first, " takes %.3f times as long", ratio);
    }
    printf("\n");
    print_differences(&earlier->machine, &now->machine);
    printf("against: %zu slower, %zu faster, %zu within the spread, %zu new, %zu without a time\n",
           counts[BENCH_SLOWER], counts[BENCH_FASTER], counts[BENCH_SAME], counts[BENCH_NEW], counts[BENCH_BROKEN]);
    if (tolerance < 0 || !worse)
        return 0;
    return message_set(message, "--strict: %zu result%s worse; the first: %s", worse, worse == 1 ? " is" : "s are",
                       first.text);
}
