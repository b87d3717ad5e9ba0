/* bench_report.c - prints results as a table, and progress as a line that is overwritten. */
#include "bench/bench_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_limit.h"
#include "bench/bench_sizes.h"

int bench_report_width(const char *kernel, const char *variant)
{
    return (int)(strlen(kernel) + (*variant != 0) + strlen(variant));
}

void bench_report_time(double seconds)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s "}};
    int u = 0;
    while (u < 3 && seconds >= 999.95 * units[u].unit)
        u++;
    double value = seconds / units[u].unit;
    printf("%*.*f %s", 8, value < 9.995 ? 2 : value < 999.95 ? 1 : 0, value, units[u].name);
}

void bench_report_device(const struct bench_machine *machine)
{
    if (machine->device < 0)
        printf("device  CPU (%s)", machine->device_name);
    else
        printf("device  %d (%s)", machine->device, machine->device_name);
}

static const char *get_mark(const struct bench_statistics *seconds)
{
    return bench_statistics_is_busy(seconds) ? "!" : "";
}

void bench_report_machine(struct bench_report *report, const struct bench_machine *machine)
{
    const struct bench_limit *limit = &machine->limit;
    const double bandwidth = bench_bandwidth(limit->bytes, &limit->seconds);
    char threads[40] = "";
    bench_report_progress(report, NULL);
    report->limit = bandwidth;
    bench_report_device(machine);
    printf("%s%s; cache %.1f MiB\n", *machine->driver ? ", driver for CUDA " : "", machine->driver,
           (double)machine->cache / 0x1p20);
    if (!machine->on_cuda) {
        printf("threads %d\n", machine->threads);
        snprintf(threads, sizeof threads, " with %d thread%s", machine->threads, machine->threads == 1 ? "" : "s");
    }
    printf("limit   %.1f GB/s read and written by %s %s of %.1f MiB, on the %s%s; spread %.1f %%%s\n", bandwidth / 1e9,
           limit->access == BENCH_UPDATE ? "an" : "a", bench_limit_name(limit->access),
           limit->bytes / (limit->access == BENCH_UPDATE ? 3 : 2) / 0x1p20, machine->on_cuda ? "GPU" : "CPU", threads,
           100 * bench_statistics_spread(&limit->seconds), get_mark(&limit->seconds));
    printf("\n%-*s%8s%11s%9s%10s%9s%10s%9s\n", report->name_width, "kernel", "size", "time   ", "spread", "GB/s",
           "of limit", "GFLOP/s", "samples");
    fflush(stdout);
}

static void print_rates(const struct bench_report *report, const struct bench_result *result)
{
    const double bandwidth = bench_bandwidth(result->bytes, &result->seconds);
    printf("%7.1f %%%-1s%9.1f", 100 * bench_statistics_spread(&result->seconds), get_mark(&result->seconds),
           bandwidth / 1e9);
    if (report->limit > 0)
        printf("%9.3f", bandwidth / report->limit);
    else
        printf("%9s", "-");
    if (result->flops > 0)
        printf("%10.1f", bench_bandwidth(result->flops, &result->seconds) / 1e9);
    else
        printf("%10s", "-");
    printf("%9zu", result->seconds.count);
}

void bench_report_result(struct bench_report *report, const struct bench_result *result)
{
    char size[BENCH_SIZE_TEXT] = "-";
    bench_report_progress(report, NULL);
    if (result->size)
        bench_size_format(result->size, size);
    printf("%s%s%-*s%8s", result->kernel, *result->variant ? " " : "",
           report->name_width - (int)strlen(result->kernel) - (*result->variant != 0), result->variant, size);
    if (result->outcome == BENCH_MEASURED) {
        bench_report_time(result->seconds.median);
        print_rates(report, result);
    } else {
        printf("  %s: %s", result->outcome == BENCH_FAILED ? "FAILED" : "not run", result->reason);
    }
    printf("\n");
    fflush(stdout);
}

void bench_report_busy(const struct bench_run *run)
{
    size_t busy = 0, measured = 0;
    int is_limit = bench_statistics_is_busy(&run->machine.limit.seconds);
    for (size_t i = 0; i < run->count; i++) {
        measured += run->results[i].outcome == BENCH_MEASURED;
        busy += run->results[i].outcome == BENCH_MEASURED && bench_statistics_is_busy(&run->results[i].seconds);
    }
    if (!busy && !is_limit)
        return;
    printf("\nwarning: the machine is busy; a spread above %g %% (!) means that the figure means nothing:",
           100 * BENCH_BUSY);
    if (busy)
        printf(" %zu of %zu results%s", busy, measured, is_limit ? "," : "");
    printf("%s; run again when nothing else runs, or with a longer --time\n", is_limit ? " the limit" : "");
}

void bench_report_progress(struct bench_report *report, const char *text)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (text)
        fprintf(stderr, "\r%.100s\033[K", text);
    else if (report->has_progress)
        fprintf(stderr, "\r\033[K");
    report->has_progress = text != NULL;
    fflush(stderr);
}
