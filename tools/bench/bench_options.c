/* bench_options.c - options that cf-bench and cf-tune share. */
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

static int check_options(const struct bench_options *options, struct message *message)
{
    if (options->driver && strcmp(options->driver, "cuda") != 0 && strcmp(options->driver, "host") != 0)
        return message_set(message, "--driver %s: it is cuda or host", options->driver);
    if (options->limit <= 0)
        return message_set(message, "--limit 0: nothing can be run within it");
    return 0;
}

static int read_option(struct bench_options *options, const struct bench_options_table *table, void *program,
                       char **argv, int *at, struct message *message)
{
    char *value;
    const int is_own = option_find(table->known, table->count, argv[*at]) != NULL;
    const struct option *option =
        is_own ? option_take(table->known, table->count, argv, at, &value, message)
               : option_take(shared_options, sizeof shared_options / sizeof *shared_options, argv, at, &value, message);
    int status = option ? table->set(program, option->name, value, message) : -1;
    return status == 1 ? set_option(options, option->name, value, message) : status;
}

int bench_options_read(struct bench_options *options, const struct bench_options_table *table, void *program, int argc,
                       char **argv, struct message *message)
{
    const size_t room = (size_t)argc + 1;
    options->lists = calloc(3 * room, sizeof *argv);
    if (!options->lists)
        return message_set(message, "no memory");
    options->room = room;
    options->names.names = options->lists;
    options->names.exceptions = options->lists + room;
    options->settings = options->lists + 2 * room;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            options->lists[options->names.count++] = argv[i];
        else if (read_option(options, table, program, argv, &i, message) != 0)
            return -1;
    return check_options(options, message);
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

int bench_options_answer(const struct bench_options *options, const char *program, const char *help)
{
    int version = cf_version();
    if (options->mode == BENCH_HELP)
        fputs(help, stdout);
    else if (options->mode == BENCH_VERSION)
        printf("%s %d.%d.%d\n", program, version / 10000, version / 100 % 100, version % 100);
    return options->mode != BENCH_RUN;
}
