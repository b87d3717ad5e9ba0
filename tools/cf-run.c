/* cf-run.c - runs any registered kernel from the command line, over arrays from .npy files or made on the spot. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "argument.h"
#include "describe.h"
#include "element.h"
#include "infer.h"
#include "instance.h"
#include "message.h"
#include "npy.h"
#include "trial.h"

#define MAX_REPEATS 1000000
#define LONG_STEP ((size_t)64 << 20) /* bytes, from which on a person at a terminal is told what goes on */

static const char help[] =
    "usage: cf-run [OPTION...] KERNEL NAME=VALUE...\n"
    "       cf-run --list\n"
    "       cf-run --describe KERNEL\n"
    "\n"
    "Runs a kernel. KERNEL is its name, or its family's: then the arrays' types tell which is meant.\n"
    "\n"
    "Arrays that are read:\n"
    "  NAME=FILE.npy                          a file of NumPy's, in C order\n"
    "  NAME=random:TYPE:COUNT[:seed=S]        floats in [0, 1)\n"
    "  NAME=randint:TYPE:COUNT:LOW:HIGH[:seed=S]\n"
    "                                         integers in [LOW, HIGH)\n"
    "  NAME=fill:TYPE:COUNT:VALUE             equal elements\n"
    "  TYPE is i8 i16 i32 i64 u8 u16 u32 u64 f32 or f64, COUNT a number or a shape such as 100x200. Element i depends\n"
    "  on S and i alone; S is the parameter's position, from 0, where it is not given.\n"
    "Arrays that are written:\n"
    "  NAME=FILE.npy                          where the result goes; without, or with -, it is not saved\n"
    "Arrays that are both:\n"
    "  NAME=INPUT or NAME=INPUT,FILE.npy      INPUT is any of the above\n"
    "Scalars:\n"
    "  NAME=NUMBER                            integers also in hexadecimal; what the shapes tell is optional\n"
    "\n"
    "Options:\n"
    "  --driver cuda|host   where to run: as the environment variable CF_DRIVER\n"
    "  --device N           the GPU's number, or -1 for the CPU\n"
    "  --repeat R           timed launches, after a first call that checks everything (default: 1)\n"
    "  --verify             run again on the CPU, and compare bit for bit\n"
    "  --list               print the name and the C prototype of every kernel\n"
    "  --describe KERNEL    print what is known of a kernel\n"
    "  --help               print this\n"
    "  --version            print the version\n"
    "\n"
    "On failure there is one line on stderr and the exit status is 1. Results are saved last, each whole or not at "
    "all.\n";

enum mode { RUN, LIST, DESCRIBE, HELP, VERSION };

struct options {
    enum mode mode;
    const char *kernel; /* to run, or to describe */
    const char *driver; /* NULL where it is not given */
    int device, has_device;
    unsigned repeats;
    int verify;
    char **words; /* name=value, in the place of the arguments that were read */
    int word_count;
};

/* ---- Options ---- */

static int read_count(const char *option, const char *text, int low, int high, int *value, struct message *message)
{
    element_wide wide;
    if (element_read_integer(text, &wide) != 0 || wide < low || wide > high)
        return message_set(message, "%s %s: it is a number from %d to %d", option, text, low, high);
    *value = (int)wide;
    return 0;
}

/* What an option does with its value; `value` is NULL for those that take none. */
static int set_option(struct options *options, const char *name, const char *value, struct message *message)
{
    if (strcmp(name, "--driver") == 0) {
        options->driver = value;
        if (strcmp(value, "cuda") != 0 && strcmp(value, "host") != 0)
            return message_set(message, "--driver %s: it is cuda or host", value);
        return 0;
    }
    if (strcmp(name, "--device") == 0) {
        options->has_device = 1;
        return read_count(name, value, CF_HOST, 1023, &options->device, message);
    }
    if (strcmp(name, "--repeat") == 0) {
        int repeats = 0, status = read_count(name, value, 1, MAX_REPEATS, &repeats, message);
        options->repeats = (unsigned)repeats;
        return status;
    }
    if (strcmp(name, "--verify") == 0) {
        options->verify = 1;
        return 0;
    }
    options->mode = strcmp(name, "--list") == 0 ? LIST : strcmp(name, "--help") == 0 ? HELP : VERSION;
    if (strcmp(name, "--describe") == 0) {
        options->mode = DESCRIBE;
        options->kernel = value;
    }
    return 0;
}

/* Takes the option at argv[*at], with its value where it has one: "--repeat 3" or "--repeat=3". */
static int read_option(struct options *options, char **argv, int *at, struct message *message)
{
    static const struct {
        const char *name;
        int has_value;
    } known[] = {{"--driver", 1}, {"--device", 1},   {"--repeat", 1}, {"--verify", 0},
                 {"--list", 0},   {"--describe", 1}, {"--help", 0},   {"--version", 0}};
    const char *text = argv[*at];
    size_t length = strcspn(text, "=");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) != length || memcmp(known[i].name, text, length) != 0)
            continue;
        const char *value = text[length] ? text + length + 1 : NULL;
        if (value && !known[i].has_value)
            return message_set(message, "%s takes no value", known[i].name);
        if (!value && known[i].has_value)
            value = argv[++*at]; /* NULL past the last */
        if (!value && known[i].has_value)
            return message_set(message, "%s needs a value; --help shows how to use it", known[i].name);
        return set_option(options, known[i].name, value, message);
    }
    return message_set(message, "unknown option '%s'; --help shows all", text);
}

static int read_options(struct options *options, int argc, char **argv, struct message *message)
{
    *options = (struct options){.repeats = 1, .words = argv};
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-') {
            if (read_option(options, argv, &i, message) != 0)
                return -1;
        } else {
            options->words[options->word_count++] = argv[i];
        }
    if (options->mode == HELP || options->mode == VERSION)
        return 0;
    if (options->mode != RUN && options->word_count)
        return message_set(message, "'%s' is one argument too many", options->words[0]);
    if (options->mode != RUN)
        return 0;
    if (options->word_count == 0)
        return message_set(message, "no kernel is named; --help shows how to use cf-run");
    options->kernel = *options->words++;
    options->word_count--;
    return 0;
}

/* ---- The report ---- */

struct report {
    const cf_kernel *kernel;
    const struct argument *arguments;
    struct trial_times times;
    int device;
    unsigned repeats;
    int width; /* of the keys */
};

static void print_key(const struct report *report, const char *key)
{
    printf("%-*s  ", report->width, key);
}

static void print_argument(const struct report *report, uint32_t i)
{
    const cf_param *param = &report->kernel->params[i];
    const struct argument *argument = &report->arguments[i];
    char text[ELEMENT_TEXT];
    print_key(report, param->name);
    if (!argument_is_array(param)) {
        element_format(param->type, &argument->value, text);
        printf("%s\n", text);
        return;
    }
    printf("%s ", cf_type_name(param->type));
    for (uint32_t d = 0; d < argument->array.ndims; d++)
        printf("%s%" PRId64, d ? "x" : "", argument->array.shape[d]);
    printf("%s%s%s%s%s\n", argument->array.ndims ? "" : "1", argument->input ? " from " : "",
           argument->input ? argument->input : "", argument->output ? " to " : "",
           argument->output ? argument->output : "");
}

/* The bytes that one launch moves: as annotated, else those of its arrays. */
static double moved_bytes(const cf_kernel *kernel, const struct argument *arguments)
{
    int64_t annotated;
    double total = 0;
    if (kernel->bytes.ops && infer_evaluate(kernel, arguments, &kernel->bytes, &annotated) == 0)
        return (double)annotated;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        total += (double)arguments[i].array.bytes *
                 (argument_is_read(&kernel->params[i]) + argument_is_written(&kernel->params[i]));
    return total;
}

static int print_report(struct report *report, struct message *message)
{
    const cf_kernel *kernel = report->kernel;
    char name[256];
    if (cf_device_name(report->device, name, sizeof name) != CF_OK)
        return message_set(message, "%s", cf_last_error());
    report->width = (int)strlen("bandwidth");
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if ((int)strlen(kernel->params[i].name) > report->width)
            report->width = (int)strlen(kernel->params[i].name);
    print_key(report, "kernel");
    printf("%s\n", kernel->name);
    print_key(report, "driver");
    printf("%s\n", report->device == CF_HOST ? "host" : "cuda");
    print_key(report, "device");
    printf("%d (%s)\n", report->device, name);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        print_argument(report, i);
    print_key(report, "time");
    printf("%.4f ms median of %u, %.4f ms min\n", (double)report->times.median, report->repeats,
           (double)report->times.least);
    double bytes = moved_bytes(kernel, report->arguments);
    print_key(report, "bytes");
    printf("%.0f\n", bytes);
    if (report->times.median > 0) {
        print_key(report, "bandwidth");
        printf("%.1f GB/s\n", bytes / (double)report->times.median / 1e6);
    }
    print_key(report, "call");
    printf("%.3f ms, the first: loads the kernel, checks everything\n", report->times.call);
    return 0;
}

/* ---- Verification ---- */

/* Writes "[17]" or "[3][5]" for an element's number. */
static void add_index(const struct npy_array *array, size_t number, struct message *message)
{
    size_t below = array->count;
    if (array->ndims == 0)
        message_add(message, "[0]");
    for (uint32_t d = 0; d < array->ndims; d++) {
        below /= (size_t)array->shape[d];
        message_add(message, "[%zu]", number / below);
        number %= below;
    }
}

static int verify(const cf_kernel *kernel, struct argument *arguments, int device, struct message *message)
{
    struct trial_difference *differences = calloc(kernel->nparams + (size_t)1, sizeof *differences);
    if (!differences)
        return message_set(message, "%s: no memory", kernel->name);
    int status = trial_verify(kernel, arguments, differences, message);
    for (uint32_t i = 0; status == 0 && i < kernel->nparams; i++) {
        const struct npy_array *array = &arguments[i].array;
        const struct trial_difference *difference = &differences[i];
        const char *name = kernel->params[i].name;
        if (!argument_is_written(&kernel->params[i]))
            continue;
        printf("verify: %s: %zu of %zu elements match%s\n", name, array->count - difference->count, array->count,
               device == CF_HOST ? "; the run itself was on the CPU too" : "");
        if (difference->count == 0)
            continue;
        char got[ELEMENT_TEXT], expected[ELEMENT_TEXT];
        element_format(array->type, (const char *)arguments[i].result + difference->first * cf_type_size(array->type),
                       got);
        element_format(array->type, &difference->expected, expected);
        message_set(message, "%s: verify: %s", kernel->name, name);
        add_index(array, difference->first, message);
        message_add(message, " = %s on device %d and %s on the CPU; %zu of %zu elements differ", got, device, expected,
                    difference->count, array->count);
        status = -1;
    }
    free(differences);
    return status;
}

/* ---- Running ---- */

static int load(const cf_kernel *kernel, struct argument *arguments, struct message *message)
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (arguments[i].array.bytes > LONG_STEP && arguments[i].maker != NOWHERE && isatty(STDERR_FILENO))
            fprintf(stderr, "%s %s, %zu MiB\n", arguments[i].maker == FROM_FILE ? "reading" : "making",
                    kernel->params[i].name, arguments[i].array.bytes >> 20);
        if (argument_load(&arguments[i], message) != 0)
            return -1;
    }
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

/* Everything from the arguments on; `any` is of the family that is called for. */
static int run_with(const struct options *options, const cf_kernel *any, struct argument *arguments,
                    struct message *message)
{
    struct report report = {.arguments = arguments, .repeats = options->repeats};
    if (arguments_assign(any, options->kernel, options->words, options->word_count, arguments, message) != 0)
        return -1;
    const cf_kernel *kernel = report.kernel = instance_pick(options->kernel, arguments, message);
    if (!kernel || arguments_read_scalars(kernel, arguments, message) != 0 ||
        infer_arguments(kernel, arguments, message) != 0)
        return -1;
    if ((options->has_device && cf_device_use(options->device) != CF_OK) || cf_device_current(&report.device) != CF_OK)
        return message_set(message, "%s", cf_last_error());
    if (load(kernel, arguments, message) != 0 ||
        trial_run(kernel, arguments, options->repeats, &report.times, message) != 0 ||
        print_report(&report, message) != 0)
        return -1;
    if (options->verify && verify(kernel, arguments, report.device, message) != 0)
        return -1;
    return save(kernel, arguments, message);
}

static int run(const struct options *options, struct message *message)
{
    const cf_kernel *any = instance_any(options->kernel, message);
    if (!any)
        return -1;
    if (options->driver && setenv("CF_DRIVER", options->driver, 1) != 0)
        return message_set(message, "CF_DRIVER: %s", strerror(errno));
    struct argument *arguments = calloc(any->nparams + (size_t)1, sizeof *arguments);
    if (!arguments)
        return message_set(message, "%s: no memory", options->kernel);
    int status = run_with(options, any, arguments, message);
    arguments_free(any, arguments);
    free(arguments);
    if (cf_shutdown() != CF_OK && status == 0)
        status = message_set(message, "%s", cf_last_error());
    return status;
}

static int dispatch(const struct options *options, struct message *message)
{
    int version = cf_version();
    switch (options->mode) {
    case LIST:
        describe_all();
        return 0;
    case DESCRIBE:
        return describe_named(options->kernel, message);
    case HELP:
        fputs(help, stdout);
        return 0;
    case VERSION:
        printf("cf-run %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
        return 0;
    default:
        return run(options, message);
    }
}

int main(int argc, char **argv)
{
    struct options options;
    struct message message = {""};
    signal(SIGXFSZ, SIG_IGN); /* a file past the limit is an error like a full disk, not the end of the process */
    int status = read_options(&options, argc, argv, &message);
    if (status == 0)
        status = dispatch(&options, &message);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0)
        status = message_set(&message, "stdout: %s", strerror(errno));
    if (status == 0)
        return EXIT_SUCCESS;
    for (char *at = message.text; *at; at++) /* names of files may hold anything, and the line is to stay one */
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    fprintf(stderr, "cf-run: %s\n", message.text);
    return EXIT_FAILURE;
}
