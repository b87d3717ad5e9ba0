/* bench_options.c - options that cf-bench and cf-tune share. */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "bench/bench_options.h"

#include "bench/bench_kernels.h"
#include "bench/bench_sweep.h"
#include "kernel/constant.h"
#include "base/message.h"
#include "data/option.h"

static const struct option shared_options[] = {
    {"--sizes", "A:B[:FACTOR]"}, {"--set", "NAME=VALUE"}, {"--except", "KERNEL"}, {"--module", "FILE"},
    {"--driver", "cuda|host"},   {"--device", "N"},       {"--verify", NULL},     {"--time", "SECONDS"},
    {"--limit", "SECONDS"},      {"--cache", "BYTES"},    {"--json", "FILE"},     {"--help", NULL},
    {"--version", NULL}};

static int set_number(struct bench_options *options, const char *name, const char *value, struct message *message)
{
    int64_t number = 0;
    if (strcmp(name, "--time") == 0)
        return option_real(name, value, &options->budget, message);
    if (strcmp(name, "--limit") == 0)
        return option_real(name, value, &options->limit, message);
    if (strcmp(name, "--cache") == 0)
        return option_integer(name, value, 0, (int64_t)1 << 40, &options->cache, message);
    int status = option_integer(name, value, CF_HOST, 1023, &number, message);
    options->has_device = 1;
    options->device = (int)number;
    return status;
}

static int set_option(struct bench_options *options, const char *name, char *value, struct message *message)
{
    const struct {
        const char *name, **text;
    } texts[] = {{"--sizes", &options->sizes},
                 {"--module", &options->module},
                 {"--driver", &options->driver},
                 {"--json", &options->json}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].text = value;
            return 0;
        }
    if (strcmp(name, "--set") == 0)
        options->settings[options->setting_count++] = value;
    else if (strcmp(name, "--except") == 0)
        options->lists[options->room + options->names.exception_count++] = value;
    else if (strcmp(name, "--verify") == 0)
        options->verify = 1;
    else if (strcmp(name, "--help") == 0)
        options->mode = BENCH_HELP;
    else if (strcmp(name, "--version") == 0)
        options->mode = BENCH_VERSION;
    else
        return set_number(options, name, value, message);
    return 0;
}

/* State of reading a program's command line. */
struct reading {
    const struct bench_program *program;
    struct bench_options *options;
    void *own;
};

static int set_any(void *data, const char *name, char *value, struct message *message)
{
    struct reading *reading = data;
    int status = reading->program->set(reading->own, name, value, message);
    return status == 1 ? set_option(reading->options, name, value, message) : status;
}

static int add_name(void *data, char *word, struct message *message)
{
    struct reading *reading = data;
    (void)message;
    reading->options->lists[reading->options->names.count++] = word;
    return 0;
}

static int read_options(const struct bench_program *program, struct bench_options *options, void *own, int argc,
                        char **argv, struct message *message)
{
    const size_t room = (size_t)argc + 1, count = sizeof shared_options / sizeof *shared_options;
    struct option known[sizeof shared_options / sizeof *shared_options + BENCH_OWN_OPTIONS];
    const struct option_reader reader = {known, count + program->count, set_any, add_name};
    struct reading reading = {program, options, own};
    memcpy(known, shared_options, sizeof shared_options);
    memcpy(known + count, program->known, program->count * sizeof *known);
    options->lists = calloc(3 * room, sizeof *argv);
    if (!options->lists)
        return message_set(message, "no memory");
    options->room = room;
    options->names.names = options->lists;
    options->names.exceptions = options->lists + room;
    options->settings = options->lists + 2 * room;
    if (option_read(&reader, &reading, argc, argv, message) != 0)
        return -1;
    return options->limit > 0 ? 0 : message_set(message, "--limit 0: nothing can be run within it");
}

static int run_mode(const struct bench_program *program, const struct bench_options *options, void *own,
                    struct message *message)
{
    if (options->mode == BENCH_HELP)
        fputs(program->help, stdout);
    else if (options->mode == BENCH_VERSION)
        option_print_version(program->name);
    else
        return program->run(own, message);
    return 0;
}

int bench_options_main(const struct bench_program *program, struct bench_options *options, void *own, int argc,
                       char **argv)
{
    struct message message = {""};
    signal(SIGXFSZ, SIG_IGN); /* exceeding the file size limit then fails like a full disk */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a module may set the process's locale */
    if (plain)
        (void)uselocale(plain);
    int status = read_options(program, options, own, argc, argv, &message);
    if (status == 0)
        status = run_mode(program, options, own, &message);
    free(options->lists);
    if (plain) {
        (void)uselocale(LC_GLOBAL_LOCALE);
        freelocale(plain);
    }
    return message_end(program->name, status, &message);
}

int bench_options_choose(const struct bench_options *options, const cf_module *module, enum bench_choice choice,
                         struct bench_kernels *chosen, struct constants *constants, struct message *message)
{
    int status = bench_kernels_choose(chosen, module, &options->names, choice, message);
    if (status == 0)
        status = bench_kernels_settle(chosen, module, options->settings, options->setting_count, message);
    if (status == 0)
        status = constants_read(constants, module, chosen->constants, chosen->constant_count, message);
    return status;
}

struct bench_plan bench_options_plan(const struct bench_options *options, const struct bench_kernels *chosen,
                                     const struct constants *constants)
{
    return (struct bench_plan){.kernels = chosen->kernels,
                               .count = chosen->count,
                               .settings = chosen->values,
                               .setting_count = chosen->value_count,
                               .constants = constants,
                               .device = options->has_device ? &options->device : NULL,
                               .cache = options->cache,
                               .budget = options->budget,
                               .limit = options->limit,
                               .verify = options->verify};
}
