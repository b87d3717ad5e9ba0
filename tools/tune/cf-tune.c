/* cf-tune.c - times all variants of tuned kernels, and stores the fastest for each architecture and size, which calls
 * then use. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>

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
#include "tune/machine_measure.h"
#include "base/message.h"
#include "kernel/module.h"
#include "data/option.h"
#include "base/runtime.h"
#include "tune/tune.h"
#include "kernel/variant_text.h"

#define DEFAULT_SIZES "2^10:2^28:4"
#define DEFAULT_BUDGET 0.1 /* seconds */
#define DEFAULT_LIMIT 60.0

static const char help[] =
    "usage: cf-tune [OPTION...] [KERNEL...]\n"
    "       cf-tune --machine [--driver cuda|host] [--device N] [--file FILE] [--dry-run]\n"
    "\n"
    "Times all variants of kernels with tune(...), all or those that are named, by themselves or by their family, and\n"
    "writes down which one is the fastest on this device at which size: from then on calls run that one.\n"
    "\n"
    "With --machine times what decides where calls on host arrays run, on the GPU or on the CPU, and writes that "
    "down.\n"
    "\n"
    "Options:\n"
    "  --sizes A:B[:FACTOR]\n"
    "                       elements of the largest array: A, FACTOR times A, ... up to B; or a list with commas;\n"
    "                       numbers may be powers (default: 2^10:2^28:4)\n"
    "  --set NAME=VALUE     a parameter's value in all kernels that have it, or data in __constant__ memory\n"
    "  --except KERNEL      leave one or a family out\n"
    "  --module FILE        the kernels of an object or a shared object that cfcc made, in place of the bundled ones\n"
    "  --driver cuda|host   where to run: as the environment variable CF_DRIVER\n"
    "  --device N           the GPU's number, or -1 for the CPU\n"
    "  --machine            measure the machine, and no kernels\n"
    "  --file FILE          what is read and written: as the environment variable CF_TUNING (default:\n"
    "                       cuferry/tuning in $XDG_CACHE_HOME or ~/.cache); with --machine CF_MACHINE_FILE\n"
    "                       (cuferry/machine)\n"
    "  --dry-run            write nothing\n"
    "  --verify             compare each variant with the first at every size; without, where that takes a moment\n"
    "  --time SECONDS       for the samples of one result, of which there are two (default: 0.1)\n"
    "  --limit SECONDS      for one launch: what takes longer is given up (default: 60)\n"
    "  --cache BYTES        of the last cache, which the arrays' copies are past; 0: one copy, which the cache may "
    "hold\n"
    "  --json FILE          write all results as cf-bench does\n"
    "  --help               print this\n"
    "  --version            print the version\n"
    "\n"
    "On failure there is one line on stderr and the exit status is 1; so it is where a variant fails or differs from\n"
    "the first, which is never taken. The file is written last, whole or not at all, under a lock.\n";

struct options {
    struct bench_options shared;
    const char *file;
    const char *of_kernels; /* an option that was given and that --machine does not use; NULL: none */
    int is_machine, is_dry;
};

/* ---- Options ---- */

static int is_of_kernels(const char *name)
{
    static const char *const others[] = {"--driver",  "--device", "--file",   "--dry-run",
                                         "--machine", "--help",   "--version"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return 0;
    return 1;
}

static int set_option(void *program, const char *name, char *value, struct message *message)
{
    struct options *options = program;
    (void)message;
    if (is_of_kernels(name))
        options->of_kernels = name;
    if (strcmp(name, "--file") == 0)
        options->file = value;
    else if (strcmp(name, "--dry-run") == 0)
        options->is_dry = 1;
    else if (strcmp(name, "--machine") == 0) {
        options->is_machine = 1;
        options->shared.mode = BENCH_RUN;
    } else
        return 1;
    return 0;
}

static int check_options(const struct options *options, struct message *message)
{
    const struct instance_names *names = &options->shared.names;
    if (options->file && !*options->file)
        return message_set(message, "--file: the name is empty");
    if (options->is_machine && (names->count || options->of_kernels))
        return message_set(
            message, "--machine goes with --driver, --device, --file and --dry-run alone, not with %s: no kernel runs",
            options->of_kernels ? options->of_kernels : names->names[0]);
    return 0;
}

/* ---- Progress and results ---- */

struct teller {
    struct bench_report report;
    const struct bench_plan *plan;
    int run;
};

static void tell_machine(void *data, const struct bench_machine *machine)
{
    struct teller *teller = data;
    if (teller->run)
        return;
    bench_report_progress(&teller->report, NULL);
    bench_report_device(machine);
    printf(", ");
    if (machine->on_cuda)
        printf("sm_%d\n", (int)machine->capability);
    else
        printf("host; threads %d\n", machine->threads);
    fflush(stdout);
}

static void tell_step(void *data, size_t kernel, int64_t size, const char *what)
{
    struct teller *teller = data;
    char text[512], number[BENCH_SIZE_TEXT];
    struct message variant = {""};
    variant_add(teller->plan->kernels[kernel], &variant);
    bench_size_format(size, number);
    snprintf(text, sizeof text, "run %d of %d, %zu of %zu: %.120s %.120s at %s, %s", teller->run + 1, TUNE_RUNS,
             kernel + 1, teller->plan->count, teller->plan->kernels[kernel]->name, variant.text, number, what);
    bench_report_progress(&teller->report, text);
}

/* Prints failures at once, because nothing else reports them. */
static void tell_result(void *data, const struct bench_result *result)
{
    struct teller *teller = data;
    char size[BENCH_SIZE_TEXT] = "-";
    if (result->outcome != BENCH_FAILED)
        return;
    bench_report_progress(&teller->report, NULL);
    if (result->size)
        bench_size_format(result->size, size);
    printf("%s %s at %s FAILED: %s\n", result->kernel, result->variant, size, result->reason);
    fflush(stdout);
}

static void print_findings(const struct tune_findings *findings)
{
    int width = (int)strlen("kernel"), variant_width = (int)strlen("variant");
    for (size_t i = 0; i < findings->count; i++) {
        const struct tune_finding *finding = &findings->list[i];
        struct message variant = {""};
        variant_add(finding->variant ? finding->variant : finding->kernel, &variant);
        int length = (int)strlen(finding->kernel->name), of_variant = (int)strlen(variant.text);
        width = length > width ? length : width;
        variant_width = of_variant > variant_width ? of_variant : variant_width;
    }
    printf("\n%-*s%8s%7s  %-*s%12s%12s%9s\n", width, "kernel", "size", "class", variant_width, "variant", "time   ",
           "first   ", "ratio");
    for (size_t i = 0; i < findings->count; i++) {
        const struct tune_finding *finding = &findings->list[i];
        char size[BENCH_SIZE_TEXT] = "-";
        struct message variant = {""};
        if (finding->size)
            bench_size_format(finding->size, size);
        printf("%-*s%8s", width, finding->kernel->name, size);
        if (!finding->variant) {
            printf("  not run: %s\n", finding->reason);
            continue;
        }
        variant_add(finding->variant, &variant);
        printf("   2^%-2d  %-*s ", finding->size_class, variant_width, variant.text);
        bench_report_time(finding->seconds);
        if (finding->first_seconds > 0) {
            printf(" ");
            bench_report_time(finding->first_seconds);
            printf("%9.3f", finding->first_seconds / finding->seconds);
        } else {
            printf("%12s%9s", "-   ", "-");
        }
        printf("%s\n", finding->is_new ? "  new" : "");
    }
    fflush(stdout);
}

/* ---- Measuring ---- */

static int set_environment(const struct options *options, struct message *message)
{
    const char *variable = options->is_machine ? "CF_MACHINE_FILE" : "CF_TUNING";
    if (options->file && setenv(variable, options->file, 1) != 0)
        return message_set(message, "%s: %s", variable, strerror(errno));
    return runtime_set_environment(options->shared.driver, message);
}

/* Copies the plan's kernels to `right`, which may be the plan's own list, except kernels that failed, which do not run
 * again. */
static size_t without_wrong(const struct bench_plan *plan, const struct bench_run *run, const cf_kernel **right)
{
    size_t count = 0;
    for (size_t k = 0; k < plan->count; k++)
        if (!tune_is_wrong(run, plan->kernels[k]))
            right[count++] = plan->kernels[k];
    return count;
}

static int sweep_variants(const struct options *options, const struct bench_kernels *chosen,
                          const struct constants *constants, struct bench_run runs[TUNE_RUNS], struct message *message)
{
    struct bench_plan plan = bench_options_plan(&options->shared, chosen, constants);
    plan.of_first = 1;
    struct teller teller = {.plan = &plan};
    const struct bench_listener listener = {tell_machine, tell_step, tell_result, &teller};
    const cf_kernel **right = calloc(chosen->count + 1, sizeof *right);
    int status =
        right ? bench_sizes_read(&plan.sizes, options->shared.sizes, message) : message_set(message, "no memory");
    for (teller.run = 0; status == 0 && teller.run < TUNE_RUNS; teller.run++) {
        status = bench_sweep_run(&plan, &listener, &runs[teller.run], message);
        plan.count = status == 0 ? without_wrong(&plan, &runs[teller.run], right) : 0;
        plan.kernels = right;
        plan.verify = 0; /* results were verified in the first run */
        if (plan.count == 0)
            break;
    }
    bench_report_progress(&teller.report, NULL);
    bench_sizes_free(&plan.sizes);
    free(right);
    return status;
}

/* Finds the variant that calls use at present. This process must not have used a device before. */
static int find_present(void *data, const cf_kernel *kernel, int size_class, const cf_kernel **variant,
                        struct message *message)
{
    const struct options *options = data;
    if ((options->shared.has_device && cf_device_use(options->shared.device) != CF_OK) ||
        cf_tuning_variant(kernel, size_class, variant) != CF_OK)
        return runtime_failure(message);
    return 0;
}

/* Returns the kernel to which a variant in the plan belongs. */
static const cf_kernel *owner_of(const cf_module *module, const cf_kernel *variant)
{
    return cf_kernel_find(module, variant->name);
}

static int judge_all(struct options *options, const cf_module *module, const struct bench_kernels *chosen,
                     const struct bench_run runs[TUNE_RUNS], struct tune_findings *findings, struct message *message)
{
    int status = 0;
    for (size_t k = 0; status == 0 && k < chosen->count; k += chosen->kernels[k]->nvariants)
        status = tune_judge(owner_of(module, chosen->kernels[k]), runs, find_present, options, findings, message);
    return status;
}

/* ---- Files ---- */

static int save_findings(const struct options *options, const struct tune_findings *findings,
                         const struct bench_machine *machine, struct message *message)
{
    char path[4096];
    size_t count = 0;
    cf_tuning *results = calloc(findings->count + 1, sizeof *results);
    if (!results)
        return message_set(message, "no memory");
    for (size_t i = 0; i < findings->count; i++) {
        const struct tune_finding *finding = &findings->list[i];
        if (tune_is_last(findings, i))
            results[count++] = (cf_tuning){finding->variant, machine->on_cuda ? (int)machine->capability : 0,
                                           finding->size_class, finding->seconds, finding->first_seconds};
    }
    int status = 0;
    if (count && !options->is_dry && cf_tuning_save(NULL, results, count) != CF_OK)
        status = runtime_failure(message);
    free(results);
    if (status == 0 && cf_tuning_path(path, sizeof path) == CF_OK)
        printf("\n%zu result%s %s %s\n", count, count == 1 ? "" : "s",
               options->is_dry || !count ? "not written to" : "written to", path);
    return status;
}

static int write_json(const struct options *options, const struct bench_run runs[TUNE_RUNS], struct message *message)
{
    struct bench_run all = {.machine = runs[0].machine,
                            .results = calloc(runs[0].count + runs[1].count + 1, sizeof *all.results)};
    if (!all.results)
        return message_set(message, "no memory");
    for (int r = 0; r < TUNE_RUNS; r++)
        for (size_t i = 0; i < runs[r].count; i++)
            all.results[all.count++] = runs[r].results[i];
    int status = bench_json_write(options->shared.json, &all, message);
    free(all.results);
    return status;
}

/* Returns a failure if a variant was wrong or nothing was measured. */
static int judge_runs(const struct bench_run runs[TUNE_RUNS], const struct tune_findings *findings,
                      struct message *message)
{
    const struct bench_result *first = NULL;
    size_t failed = 0, found = 0;
    for (int r = 0; r < TUNE_RUNS; r++)
        for (size_t i = 0; i < runs[r].count; i++)
            if (runs[r].results[i].outcome == BENCH_FAILED && failed++ == 0)
                first = &runs[r].results[i];
    for (size_t i = 0; i < findings->count; i++)
        found += findings->list[i].variant != NULL;
    if (first)
        return message_set(message, "%zu run%s failed; the first: %s %s: %s", failed, failed == 1 ? "" : "s",
                           first->kernel, first->variant, first->reason);
    return found ? 0
                 : message_set(message, "nothing could be timed; the first: %s: %s",
                               findings->count ? findings->list[0].kernel->name : "-",
                               findings->count ? findings->list[0].reason : "there are no results");
}

static int measure_kernels(struct options *options, const cf_module *module, const struct bench_kernels *chosen,
                           const struct constants *constants, struct message *message)
{
    struct bench_run runs[TUNE_RUNS] = {{.count = 0}};
    struct tune_findings findings = {NULL, 0};
    int status = sweep_variants(options, chosen, constants, runs, message);
    if (status == 0)
        status = judge_all(options, module, chosen, runs, &findings, message);
    if (status == 0) {
        struct message later = {""};
        print_findings(&findings);
        status = save_findings(options, &findings, &runs[0].machine, message);
        /* Each file is written even if the other cannot be. */
        if (options->shared.json && write_json(options, runs, status == 0 ? message : &later) != 0)
            status = -1;
    }
    if (status == 0)
        status = judge_runs(runs, &findings, message);
    for (int r = 0; r < TUNE_RUNS; r++)
        free(runs[r].results);
    free(findings.list);
    return status;
}

/* Checks before long work that the file can be written, which an environment variable may name. The last two folders of
 * the default path may be missing; then `path` is cut to the first missing folder. */
static int check_path(char *path, const char *variable, struct message *message)
{
    const char *named = getenv(variable);
    for (int folders = 0; folders < 2 && !(named && *named); folders++) {
        char *slash = strrchr(path, '/');
        if (!slash || slash == path)
            break;
        *slash = 0;
        if (access(path, F_OK) == 0) {
            *slash = '/';
            break;
        }
    }
    return file_check(path, message);
}

static int check_lock(const char *path, struct message *message)
{
    char lock[4096 + 8];
    snprintf(lock, sizeof lock, "%s.lock", path);
    return access(lock, F_OK) == 0 ? file_check(lock, message) : 0;
}

static int check_files(const struct options *options, struct message *message)
{
    char path[4096];
    if (options->shared.json && file_check(options->shared.json, message) != 0)
        return -1;
    if (options->is_dry)
        return 0;
    if (cf_tuning_path(path, sizeof path) != CF_OK)
        return message_set(message, "there is no file to write to: %s; --file names one", cf_last_error());
    if (check_path(path, "CF_TUNING", message) != 0 || check_lock(path, message) != 0)
        return -1;
    return cf_tuning_save(NULL, NULL, 0) == CF_OK ? 0 : runtime_failure(message);
}

static int check_machine_file(char *path, size_t size, struct message *message)
{
    char part[4096];
    if (machine_find(path, size, message) != 0)
        return -1;
    snprintf(part, sizeof part, "%s", path);
    return check_path(part, "CF_MACHINE_FILE", message) == 0 ? check_lock(path, message) : -1;
}

static int tune_machine(const struct options *options, struct message *message)
{
    char path[4096] = "";
    int is_needed = 0;
    struct machine_lines lines;
    if (set_environment(options, message) != 0)
        return -1;
    if (options->shared.has_device && cf_device_use(options->shared.device) != CF_OK)
        return runtime_failure(message);
    if (machine_is_needed(&is_needed, message) != 0)
        return -1;
    if (!is_needed)
        return 0;
    if (!options->is_dry && check_machine_file(path, sizeof path, message) != 0)
        return -1;
    if (machine_measure(&lines, message) != 0)
        return -1;
    printf("%s%.*s", lines.identity, (int)(strlen(lines.numbers.text) - strlen("end\n")), lines.numbers.text);
    if (!options->is_dry && machine_write(path, &lines, message) != 0)
        return -1;
    printf(options->is_dry ? "\nnot written\n" : "\nwritten to %s\n", path);
    return 0;
}

static int tune_kernels(struct options *options, struct message *message)
{
    struct bench_kernels chosen = {.count = 0};
    struct constants constants = {0, NULL};
    if (set_environment(options, message) != 0 || check_files(options, message) != 0)
        return -1;
    const cf_module *module = options->shared.module ? module_open(options->shared.module, message) : &cf_registry;
    if (!module || instance_check_names(module, &options->shared.names, message) != 0)
        return -1;
    int status = bench_options_choose(&options->shared, module, BENCH_VARIANTS_ALONE, &chosen, &constants, message);
    if (status == 0)
        status = measure_kernels(options, module, &chosen, &constants, message);
    constants_free(&constants);
    bench_kernels_free(&chosen);
    if (cf_shutdown() != CF_OK && status == 0)
        status = runtime_failure(message);
    return status;
}

static int run_mode(void *own, struct message *message)
{
    struct options *options = own;
    if (check_options(options, message) != 0)
        return -1;
    return options->is_machine ? tune_machine(options, message) : tune_kernels(options, message);
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"--file", "FILE"}, {"--dry-run", NULL}, {"--machine", NULL}};
    static const struct bench_program program = {"cf-tune",  help,    known, sizeof known / sizeof *known,
                                                 set_option, run_mode};
    struct options options = {
        .shared = {.sizes = DEFAULT_SIZES, .budget = DEFAULT_BUDGET, .limit = DEFAULT_LIMIT, .cache = -1}};
    options.shared.names.with_internal = 1; /* internal kernels, too, since operations launch them */
    return bench_options_main(&program, &options.shared, &options, argc, argv);
}
