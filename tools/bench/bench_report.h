/* bench_report.h - prints results as a table, and progress as a line that is overwritten. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <cuferry/registry.h>

#include "bench/bench_result.h"

struct bench_report {
    int name_width;
    double limit;     /* bytes per second; set by bench_report_machine() */
    int has_progress; /* stderr is a terminal and shows a progress line */
};

/* Returns the width of a name in the table: the kernel and the constants of its variant. */
int bench_report_width(const char *kernel, const char *variant);

/* Prints the machine and the table's head. */
void bench_report_machine(struct bench_report *report, const struct bench_machine *machine);

/* Prints "device  0 (NAME)", the start of a line. */
void bench_report_device(const struct bench_machine *machine);

/* Prints the line of one result. A "!" after the spread means that the machine was busy. */
void bench_report_result(struct bench_report *report, const struct bench_result *result);

/* Prints a note with the number of results that were measured on a busy machine; nothing if there are none. */
void bench_report_busy(const struct bench_run *run);

/* Prints "   12.3 us", with three or four digits. */
void bench_report_time(double seconds);

/* Overwrites the progress line on stderr if it is a terminal; NULL removes the line. */
void bench_report_progress(struct bench_report *report, const char *text);

#endif
