/* cf-run.c - runs any registered kernel from the command line, on arrays from .npy files or generated arrays. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "kernel/argument.h"
#include "kernel/constant.h"
#include "base/crash.h"
#include "kernel/describe.h"
#include "data/element.h"
#include "base/file.h"
#include "kernel/infer.h"
#include "kernel/instance.h"
#include "base/message.h"
#include "kernel/module.h"
#include "data/npy.h"
#include "data/option.h"
#include "run/report.h"
#include "base/runtime.h"
#include "watch/sanitize.h"
#include "run/trial.h"
#include "kernel/variant_text.h"
#include "verify/verify.h"
#include "watch/check.h"
#include "watch/watch_begin.h"
#include "watch/watch_kernel.h"

#define MAX_REPEATS 1000000
#define LONG_STEP ((size_t)64 << 20) /* bytes above which progress is shown on a terminal */

static const char help[] =
    "usage: cf-run [OPTION...] KERNEL NAME=VALUE...\n"
    "       cf-run [--module FILE] --list\n"
    "       cf-run [--module FILE] --describe KERNEL\n"
    "       cf-run [--module FILE] --verify --all [--except KERNEL...] [KERNEL...]\n"
    "\n"
    "Runs a kernel. KERNEL is its name, or its family's: then the arrays' types tell which is meant.\n"
    "\n"
    "Arrays that are read:\n"
    "  NAME=FILE.npy                          a file of NumPy's, in C order\n"
    "  NAME=random:TYPE:COUNT[:seed=S]        floats in [0, 1), complex numbers of two of them\n"
    "  NAME=randint:TYPE:COUNT:LOW:HIGH[:seed=S]\n"
    "                                         integers in [LOW, HIGH)\n"
    "  NAME=distinct:TYPE:COUNT:LOW:HIGH[:seed=S]\n"
    "                                         such of which no two are equal\n"
    "  NAME=ascending:TYPE:COUNT:LOW:HIGH[:seed=S]\n"
    "                                         integers from LOW to HIGH - 1 in this order; they depend on COUNT, too\n"
    "  NAME=fill:TYPE:COUNT:VALUE             equal elements\n"
    "  TYPE is i8 i16 i32 i64 u8 u16 u32 u64 bool f16 bf16 f32 f64 c64 or c128, COUNT a number or a shape such as\n"
    "  100x200. Element i depends on S and i alone; S is the parameter's position, from 0, where it is not given.\n"
    "  The components of a vector are the last dimension: 100 of float4 are 100x4 of f32. The type bf16 is <u2 or |V2\n"
    "  in a file, u8 also |b1, a struct is |V24 or a structured type of its size. Rows are as long as their pitch.\n"
    "Arrays that are written:\n"
    "  NAME=FILE.npy                          where the result goes; without, or with -, it is not saved\n"
    "  What the kernel leaves alone, between rows and in front of a section, holds the bytes 0xa5.\n"
    "Arrays that are both:\n"
    "  NAME=INPUT[,FILE.npy]                  INPUT is any of the above\n"
    "Values:\n"
    "  NAME=NUMBER                            integers also in hexadecimal; what the shapes tell is optional\n"
    "  NAME=true, NAME=1+2j, NAME=1,2,3,4     bool, complex numbers, vectors\n"
    "  NAME=FILE.npy                          a struct: one element\n"
    "\n"
    "Options:\n"
    "  --module FILE        not the bundled kernels: those of a kernel file, or of an object or a shared object of "
    "cfcc\n"
    "  --variant NAME=N,...\n"
    "                       the constants of a tuned kernel; without, the variant runs that cf-tune found\n"
    "  --set NAME=VALUE     data in __constant__ memory: numbers with commas in between, or FILE.npy\n"
    "  --driver cuda|host   where to run: as the environment variable CF_DRIVER\n"
    "  --device N           the GPU's number, or -1 for the CPU\n"
    "  --repeat R           timed launches, after a first call that checks everything (default: 1); with --check and\n"
    "                       --verify --all: runs of each kernel with random numbers, without a comparison\n"
    "  --verify             run again on the CPU, and compare: bit for bit, or within the kernel's tolerance\n"
    "  --verify --all       the same for every kernel, or those that are named, over random arrays of many sizes; "
    "without\n"
    "                       a GPU, the CPU against itself in another order\n"
    "  --except KERNEL      leave one or a family out\n"
    "  --check KIND         build the kernel for a check of its CPU form, run that, and name source line, block and "
    "thread:\n"
    "                       address (out of bounds, not aligned), undefined (the same, and shifts, conversions and "
    "divisions\n"
    "                       that C++ leaves undefined), race (what no barrier orders), or poison (memory that is read "
    "or "
    "left\n"
    "                       without having been written)\n"
    "  --cxx COMMAND        the C++ compiler of --check, in place of the one that Cuferry was configured with\n"
    "  --list               print the name and the C prototype of every kernel, and of every constant's setter, but "
    "for\n"
    "                       kernels that serve operations alone\n"
    "  --describe KERNEL    print what is known of a kernel, or of a setter\n"
    "  --help               print this\n"
    "  --version            print the version\n"
    "\n"
    "On failure there is one line on stderr and the exit status is 1, or 2 where a signal ended the process as a "
    "kernel "
    "ran.\n"
    "Results are saved last, each whole or not at all.\n";

enum mode { RUN, LIST, DESCRIBE, HELP, VERSION };

struct options {
    enum mode mode;
    const char *kernel; /* name of the kernel to run or to describe */
    const char *driver; /* value of --driver; NULL: not given */
    int device, has_device;
    unsigned repeats;
    int verify, all;
    char **exceptions; /* names that --all excludes */
    size_t exception_count;
    const char *check;   /* name of the check; NULL: no check */
    const char *cxx;     /* compiler for the check; NULL: the configured one */
    const char *module;  /* file with kernels; NULL: the bundled kernels */
    const char *variant; /* values of --variant; NULL: the first variant */
    char **settings;     /* "name=value", values of constants */
    size_t setting_count;
    char **words; /* "name=value", arguments of the kernel; kept in the part of argv that has been read */
    int word_count;
    char **argv;        /* the complete command line */
    const char *of_run; /* an option that only applies to runs and was given; NULL: none */
};

/* ---- Options ---- */

static int read_count(const char *option, const char *text, int low, int high, int *value, struct message *message)
{
    int64_t number = 0;
    int status = option_integer(option, text, low, high, &number, message);
    *value = (int)number;
    return status;
}

/* Sets the mode for --describe, whose value is a name, or for --list, which has no value. */
static int set_listing(struct options *options, char *value, struct message *message)
{
    if (options->mode == HELP || options->mode == VERSION)
        return 0;
    if (options->mode != RUN && (value || options->mode == DESCRIBE))
        return message_set(message, "--list and --describe: it is one of them, once");
    options->mode = value ? DESCRIBE : LIST;
    options->kernel = value;
    return 0;
}

/* Applies an option; `value` is NULL for options without a value. */
static int set_option(void *program, const char *name, char *value, struct message *message)
{
    struct options *options = program;
    if (strcmp(name, "--module") == 0) {
        options->module = value;
        return 0;
    }
    if (strcmp(name, "--list") == 0 || strcmp(name, "--describe") == 0)
        return set_listing(options, value, message);
    if (strcmp(name, "--help") == 0 || strcmp(name, "--version") == 0) {
        options->mode = strcmp(name, "--help") == 0 ? HELP : VERSION;
        return 0;
    }
    if (strcmp(name, "--driver") == 0) {
        options->driver = value;
        return 0;
    }
    if (strcmp(name, "--device") == 0) {
        options->has_device = 1;
        return read_count(name, value, CF_HOST, 1023, &options->device, message);
    }
    if (!options->of_run)
        options->of_run = name;
    if (strcmp(name, "--variant") == 0) {
        options->variant = value;
        return 0;
    }
    if (strcmp(name, "--set") == 0) {
        options->settings[options->setting_count++] = value;
        return 0;
    }
    if (strcmp(name, "--except") == 0) {
        options->exceptions[options->exception_count++] = value;
        return 0;
    }
    if (strcmp(name, "--cxx") == 0) {
        options->cxx = value;
        return 0;
    }
    if (strcmp(name, "--repeat") == 0) {
        int repeats = 0, status = read_count(name, value, 1, MAX_REPEATS, &repeats, message);
        options->repeats = (unsigned)repeats;
        return status;
    }
    if (strcmp(name, "--check") == 0) {
        if (options->check && strcmp(options->check, value) != 0)
            return message_set(message, "--check %s --check %s: a run is checked for one of them", options->check,
                               value);
        options->check = value;
        return 0;
    }
    *(strcmp(name, "--verify") == 0 ? &options->verify : &options->all) = 1;
    return 0;
}

static int add_word(void *program, char *word, struct message *message)
{
    struct options *options = program;
    (void)message;
    options->words[options->word_count++] = word;
    return 0;
}

static int read_all(struct options *options, int argc, char **argv, struct message *message)
{
    static const struct option known[] = {{"--driver", "cuda|host"},
                                          {"--device", "N"},
                                          {"--repeat", "R"},
                                          {"--verify", NULL},
                                          {"--check", "address|undefined|race|poison"},
                                          {"--all", NULL},
                                          {"--except", "KERNEL"},
                                          {"--module", "FILE"},
                                          {"--variant", "NAME=N,..."},
                                          {"--set", "NAME=VALUE"},
                                          {"--list", NULL},
                                          {"--describe", "KERNEL"},
                                          {"--cxx", "COMMAND"},
                                          {"--help", NULL},
                                          {"--version", NULL}};
    static const struct option_reader reader = {known, sizeof known / sizeof *known, set_option, add_word};
    return option_read(&reader, options, argc, argv, message);
}

static int read_options(struct options *options, int argc, char **argv, struct message *message)
{
    *options = (struct options){.repeats = 1,
                                .words = argv,
                                .settings = calloc(2 * (size_t)argc + 2, sizeof *argv),
                                .argv = calloc((size_t)argc + 1, sizeof *argv)};
    options->exceptions = options->settings + argc + 1;
    if (!options->settings || !options->argv)
        return message_set(message, "no memory");
    memcpy(options->argv, argv, ((size_t)argc + 1) * sizeof *argv);
    if (read_all(options, argc, argv, message) != 0)
        return -1;
    if (options->mode == HELP || options->mode == VERSION)
        return 0;
    if (options->mode != RUN && options->word_count)
        return message_set(message, "'%s' is one argument too many", options->words[0]);
    if (options->mode != RUN && options->of_run)
        return message_set(message, "%s: with --list or --describe nothing is run", options->of_run);
    if (options->mode != RUN)
        return 0;
    if (options->check && ((options->driver && strcmp(options->driver, "host") != 0) ||
                           (options->has_device && options->device != CF_HOST)))
        return message_set(message, "--check %s: it is the kernel's form for the CPU that is checked", options->check);
    if (options->cxx && !options->check)
        return message_set(message, "--cxx goes with --check");
    if (options->all && !options->verify)
        return message_set(message, "--all goes with --verify");
    if (options->exception_count && !options->all)
        return message_set(message, "--except goes with --verify --all");
    if (options->all)
        return 0;
    if (options->word_count == 0)
        return message_set(message, "no kernel is named; --help shows how to use cf-run");
    options->kernel = *options->words++;
    options->word_count--;
    return 0;
}

/* ---- Running ---- */

static int load(const cf_kernel *kernel, struct argument *arguments, struct message *message)
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (arguments[i].array.bytes > LONG_STEP && arguments[i].source != NOWHERE && isatty(STDERR_FILENO))
            fprintf(stderr, "%s %s, %zu MiB\n", arguments[i].source == FROM_FILE ? "reading" : "making",
                    kernel->params[i].name, arguments[i].array.bytes >> 20);
        if (argument_load(&arguments[i], message) != 0)
            return -1;
    }
    return 0;
}

/* Checks that the outputs can be written, before long work begins. */
static int check_outputs(const cf_kernel *kernel, const struct argument *arguments, struct message *message)
{
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (arguments[i].output && file_check(arguments[i].output, message) != 0)
            return -1;
    return 0;
}

static int save(const cf_kernel *kernel, const struct argument *arguments, struct message *message)
{
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (arguments[i].output &&
            npy_write(arguments[i].output, &arguments[i].array, arguments[i].result, message) != 0)
            return -1;
    return 0;
}

/* Finds the kernel and prepares its arguments, except for arrays' elements. `any` is any kernel of the named family. */
static int settle(const struct options *options, const cf_module *module, const cf_kernel *any, struct trial_plan *plan,
                  struct message *message)
{
    if (arguments_assign(any, options->kernel, options->words, options->word_count, plan->arguments, message) != 0)
        return -1;
    const cf_kernel *kernel = instance_pick(module, options->kernel, plan->arguments, message);
    if (kernel && options->variant)
        kernel = variant_pick(kernel, options->variant, message);
    else if (kernel && check_current && variant_is_chosen(kernel))
        kernel = kernel->variants[0];
    if (!kernel || arguments_read_values(kernel, plan->arguments, message) != 0)
        return -1;
    plan->kernel = kernel;
    if (options->verify && !cf_kernel_has_host(kernel))
        return message_set(message, "%s: --verify: the kernel has no form for the CPU", kernel->name);
    return infer_arguments(kernel, plan->arguments, message);
}

/* Returns the kernel, or in a process that checks, its watched twin. */
static const cf_kernel *watch(const struct trial_plan *plan, struct message *message)
{
    if (!check_current)
        return plan->kernel;
    size_t *bytes = calloc(plan->kernel->nparams + (size_t)1, sizeof *bytes);
    if (!bytes) {
        message_set(message, "%s: no memory", plan->kernel->name);
        return NULL;
    }
    for (uint32_t i = 0; i < plan->kernel->nparams; i++)
        bytes[i] = plan->arguments[i].array.bytes;
    const cf_kernel *watched = watch_kernel(plan->kernel, bytes, message);
    free(bytes);
    return watched;
}

/* Reads the arguments, runs the kernel, and writes the results. */
static int run_plan(const struct options *options, const cf_module *module, const cf_kernel *any,
                    struct trial_plan *plan, struct message *message)
{
    struct trial_times times;
    int device;
    if (settle(options, module, any, plan, message) != 0 || check_outputs(plan->kernel, plan->arguments, message) != 0)
        return -1;
    const struct trial_plan own = *plan;
    if ((plan->kernel = watch(&own, message)) == NULL)
        return -1;
    if ((options->has_device && cf_device_use(options->device) != CF_OK) || cf_device_current(&device) != CF_OK)
        return runtime_failure(message);
    if (load(plan->kernel, plan->arguments, message) != 0)
        return -1;
    crash_expect(plan->kernel->name, plan->kernel->cpu_body ? "; --check address may tell where" : "", 0);
    if (trial_run(plan, &times, message) != 0 || report_run(plan, &times, device, message) != 0)
        return -1;
    (void)fflush(stdout); /* the kernel may end the process from here on */
    if (options->verify && report_verify(plan, device, message) != 0)
        return -1;
    /* Calls with shared arrays are also made under the check of races, because a wrong inplace(...) lets threads
     * race. */
    if ((options->verify || check_is(CHECK_RACE)) && report_inplace(&own, device, watch, message) != 0)
        return -1;
    return save(plan->kernel, plan->arguments, message);
}

static int verify(const struct options *options, const cf_module *module, struct message *message)
{
    struct constants constants = {0, NULL};
    struct verify_plan plan = {module,
                               &constants,
                               {.names = options->words,
                                .count = (size_t)options->word_count,
                                .exceptions = options->exceptions,
                                .exception_count = options->exception_count},
                               options->check && options->repeats > 1 ? options->repeats : 0,
                               options->argv};
    if (options->variant || (options->repeats != 1 && !options->check))
        return message_set(message, "--verify --all runs every variant once: no --variant, no --repeat");
    int status = runtime_set_environment(options->driver, message);
    if (status == 0)
        status = constants_read(&constants, module, options->settings, options->setting_count, message);
    if (status == 0 && options->has_device && cf_device_use(options->device) != CF_OK)
        status = runtime_failure(message);
    if (status == 0)
        status = verify_all(&plan, message);
    constants_free(&constants);
    if (cf_shutdown() != CF_OK && status == 0)
        status = runtime_failure(message);
    return status;
}

static int run(const struct options *options, const cf_module *module, struct message *message)
{
    const cf_kernel *any = instance_any(module, options->kernel, message);
    if (!any || runtime_set_environment(options->driver, message) != 0)
        return -1;
    struct argument *arguments = calloc(any->nparams + (size_t)1, sizeof *arguments);
    if (!arguments)
        return message_set(message, "%s: no memory", options->kernel);
    struct constants constants = {0, NULL};
    struct trial_plan plan = {any, arguments, &constants, options->repeats};
    int status = constants_read(&constants, module, options->settings, options->setting_count, message);
    if (status == 0)
        status = run_plan(options, module, any, &plan, message);
    constants_free(&constants);
    arguments_free(any, arguments);
    free(arguments);
    if (cf_shutdown() != CF_OK && status == 0)
        status = runtime_failure(message);
    return status;
}

/* Runs the kernel in another process, under the check. Only the bundled kernels that it needs are built. */
static int sanitize(const struct options *options, struct message *message)
{
    const cf_kernel *any = NULL;
    if (!options->module && !options->all && !(any = instance_any(&cf_registry, options->kernel, message)))
        return -1;
    return sanitize_run(options->check, options->module, any ? any->family : NULL, options->cxx, options->argv,
                        message);
}

static int dispatch(struct options *options, struct message *message)
{
    if (options->mode == HELP) {
        fputs(help, stdout);
        return 0;
    }
    if (options->mode == VERSION) {
        option_print_version("cf-run");
        return 0;
    }
    const char *checked = watch_begin();
    if (options->check && options->mode == RUN && !checked)
        return sanitize(options, message);
    if (checked)
        options->module = checked;
    const cf_module *module = options->module ? module_open(options->module, message) : &cf_registry;
    if (!module) {
        if (checked && strstr(message->text, "undefined symbol"))
            message_add(message,
                        "; --check builds kernel files alone, and the C files that cfcc was given beside them, so the "
                        "function has to be in one of them");
        return -1;
    }
    if (options->mode == RUN && (!checked || options->all))
        crash_watch("cf-run");
    if (options->mode == RUN)
        return options->all ? verify(options, module, message) : run(options, module, message);
    if (options->mode == DESCRIBE)
        return describe_named(module, options->kernel, message);
    describe_all(module);
    return 0;
}

int main(int argc, char **argv)
{
    struct options options;
    struct message message = {""};
    signal(SIGXFSZ, SIG_IGN); /* exceeding the file size limit then fails like a full disk */
    int status = read_options(&options, argc, argv, &message);
    if (status == 0)
        status = dispatch(&options, &message);
    free(options.settings);
    free(options.argv);
    return message_end("cf-run", status, &message);
}
