/* bench_report.h - prints results as a table, and what goes on as a line that is written over. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <cuferry/registry.h>

#include "bench/bench_compare.h"
#include "bench/bench_result.h"

struct bench_report {
    int name_width;
    const struct bench_run *earlier; /* to compare with; NULL: nothing */
    double copy;                     /* bytes per second; set by bench_report_machine() */
    int has_progress;                /* stderr is a terminal, and has a line of progress */
};

/* The width of a name in the table: a kernel, and the constants of its variant. */
int bench_report_width(const char *kernel, const char *variant);

/* Prints where it ran, and the table's head. */
void bench_report_machine(struct bench_report *report, const struct bench_machine *machine);

/* Prints "device  0 (NAME)", the beginning of a line. */
void bench_report_device(const struct bench_machine *machine);

/* Prints one line. A "!" stands behind a spread that says that the machine is busy. */
void bench_report_result(struct bench_report *report, const struct bench_result *result);

/* Says of how many results that is so; nothing where there are none. */
void bench_report_busy(const struct bench_run *run);

/* Prints "   12.3 us", of three to four digits. */
void bench_report_time(double seconds);

/* Writes a line on stderr where that is a terminal, in place of the one before; NULL takes it away. */
void bench_report_progress(struct bench_report *report, const char *text);

#endif
