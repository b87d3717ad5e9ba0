/* cf-bench.c - times a library's kernels over a sweep of sizes, and compares them with copies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "bench/bench_json.h"
#include "bench/bench_kernels.h"
#include "bench/bench_options.h"
#include "bench/bench_report.h"
#include "bench/bench_result.h"
#include "bench/bench_sizes.h"
#include "bench/bench_sweep.h"
#include "kernel/constant.h"
#include "data/element.h"
#include "base/file.h"
#include "kernel/instance.h"
#include "base/message.h"
#include "kernel/module.h"
#include "data/option.h"
#include "base/runtime.h"
#include "kernel/variant_text.h"

#define DEFAULT_SIZES "2^10:2^28"
#define DEFAULT_BUDGET 0.25 /* seconds */
#define DEFAULT_LIMIT 60.0

static const char help[] =
    "usage: cf-bench [OPTION...] [KERNEL...]\n"
    "\n"
    "Times kernels, all or those that are named, by themselves or by their family, over a sweep of sizes.\n"
    "\n"
    "Options:\n"
    "  --sizes A:B[:FACTOR]\n"
    "                       elements of the largest array: A, FACTOR times A, ... up to B; or a list with commas;\n"
    "                       numbers may be powers (default: 2^10:2^28, of factor 2)\n"
    "  --set NAME=VALUE     a parameter's value in all kernels that have it, or data in __constant__ memory\n"
    "  --except KERNEL      leave one or a family out\n"
    "  --variants           all variants of tuned kernels, in place of the one that a call runs\n"
    "  --module FILE        the kernels of an object or a shared object that cfcc made, in place of the bundled ones\n"
    "  --driver cuda|host   where to run: as the environment variable CF_DRIVER\n"
    "  --device N           the GPU's number, or -1 for the CPU\n"
    "  --verify             compare with the CPU before, at every size; without, where that takes a moment\n"
    "  --time SECONDS       for the samples of one result (default: 0.25)\n"
    "  --limit SECONDS      for one launch: what takes longer is given up (default: 60)\n"
    "  --cache BYTES        of the last cache, which the arrays' copies are past; 0: one copy, which the cache may "
    "hold\n"
    "  --json FILE          write all results; cf-plot compares and draws them\n"
    "  --help               print this\n"
    "  --version            print the version\n"
    "\n"
    "On failure there is one line on stderr and the exit status is 1; so it is where a kernel fails or differs from "
    "the\n"
    "CPU. The file is written last, whole or not at all.\n";

struct options {
    struct bench_options shared;
    int variants;
};

/* ---- Options ---- */

static int set_option(void *program, const char *name, char *value, struct message *message)
{
    struct options *options = program;
    (void)value, (void)message;
    if (strcmp(name, "--variants") != 0)
        return 1;
    options->variants = 1;
    return 0;
}

/* ---- Output ---- */

struct teller {
    struct bench_report report;
    const struct bench_plan *plan;
};

static void tell_machine(void *data, const struct bench_machine *machine)
{
    struct teller *teller = data;
    bench_report_machine(&teller->report, machine);
}

static void tell_step(void *data, size_t kernel, int64_t size, const char *what)
{
    struct teller *teller = data;
    char text[256], number[BENCH_SIZE_TEXT];
    bench_size_format(size, number);
    snprintf(text, sizeof text, "%zu of %zu: %.120s at %s, %s", kernel + 1, teller->plan->count,
             teller->plan->kernels[kernel]->name, number, what);
    bench_report_progress(&teller->report, text);
}

static void tell_result(void *data, const struct bench_result *result)
{
    struct teller *teller = data;
    bench_report_result(&teller->report, result);
}

/* ---- Running ---- */

static int sweep(const struct options *options, const struct bench_kernels *chosen, const struct constants *constants,
                 struct bench_run *run, struct message *message)
{
    struct bench_plan plan = bench_options_plan(&options->shared, chosen, constants);
    struct teller teller = {.report = {.name_width = 6}, .plan = &plan};
    const struct bench_listener listener = {tell_machine, tell_step, tell_result, &teller};
    for (size_t k = 0; k < chosen->count; k++) {
        struct message variant = {""};
        variant_add(chosen->kernels[k], &variant);
        int width = bench_report_width(chosen->kernels[k]->name, variant.text);
        teller.report.name_width = width > teller.report.name_width ? width : teller.report.name_width;
    }
    int status = bench_sizes_read(&plan.sizes, options->shared.sizes, message);
    if (status == 0)
        status = bench_sweep_run(&plan, &listener, run, message);
    bench_report_progress(&teller.report, NULL);
    bench_sizes_free(&plan.sizes);
    return status;
}

static int measure(const struct options *options, struct bench_run *run, struct message *message)
{
    struct bench_kernels chosen = {.count = 0};
    struct constants constants = {0, NULL};
    const cf_module *module = options->shared.module ? module_open(options->shared.module, message) : &cf_registry;
    if (!module || instance_check_names(module, &options->shared.names, message) != 0 ||
        runtime_set_environment(options->shared.driver, message) != 0)
        return -1;
    int status =
        bench_options_choose(&options->shared, module, options->variants ? BENCH_EVERY_VARIANT : BENCH_AS_CALLED,
                             &chosen, &constants, message);
    if (status == 0)
        status = sweep(options, &chosen, &constants, run, message);
    constants_free(&constants);
    bench_kernels_free(&chosen);
    return status;
}

/* Returns a failure if a kernel was wrong or nothing was measured. */
static int judge(const struct bench_run *run, struct message *message)
{
    size_t failed = 0, measured = 0;
    const struct bench_result *first = NULL;
    for (size_t i = 0; i < run->count; i++) {
        measured += run->results[i].outcome == BENCH_MEASURED;
        if (run->results[i].outcome == BENCH_FAILED && failed++ == 0)
            first = &run->results[i];
    }
    if (failed)
        return message_set(message, "%zu kernel%s failed; the first: %s%s%s: %s", failed, failed == 1 ? "" : "s",
                           first->kernel, *first->variant ? " " : "", first->variant, first->reason);
    return measured ? 0
                    : message_set(message, "nothing could be timed; the first: %s: %s",
                                  run->count ? run->results[0].kernel : "-",
                                  run->count ? run->results[0].reason : "there are no results");
}

static int bench(void *own, struct message *message)
{
    const struct options *options = own;
    const char *json = options->shared.json;
    struct bench_run run = {.count = 0};
    int status = json ? file_check(json, message) : 0;
    if (status == 0)
        status = measure(options, &run, message);
    if (status == 0) {
        bench_report_busy(&run);
        status = json ? bench_json_write(json, &run, message) : 0;
    }
    if (status == 0)
        status = judge(&run, message);
    free(run.results);
    return status;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"--variants", NULL}};
    static const struct bench_program program = {"cf-bench", help, known, sizeof known / sizeof *known,
                                                 set_option, bench};
    struct options options = {
        .shared = {.sizes = DEFAULT_SIZES, .budget = DEFAULT_BUDGET, .limit = DEFAULT_LIMIT, .cache = -1}};
    return bench_options_main(&program, &options.shared, &options, argc, argv);
}
