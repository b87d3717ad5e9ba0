/* bench_options.h - options that cf-bench and cf-tune share. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "bench/bench_kernels.h"
#include "bench/bench_sweep.h"
#include "kernel/constant.h"
#include "kernel/instance.h"
#include "base/message.h"
#include "data/option.h"

enum bench_mode { BENCH_RUN, BENCH_HELP, BENCH_VERSION };

struct bench_options {
    enum bench_mode mode;
    const char *sizes, *module, *driver, *json;
    int device, has_device, verify;
    double budget, limit; /* seconds */
    int64_t cache;        /* bytes; below 0: ask the device */
    struct instance_names names;
    char **settings;
    size_t setting_count;
    size_t room;  /* entries that each list can hold */
    char **lists; /* storage of names, exceptions and settings; the caller frees it */
};

/* Largest number of options that only one of the programs has. */
#define BENCH_OWN_OPTIONS 4

struct bench_program {
    const char *name, *help;
    const struct option *known; /* options of its own */
    size_t count;
    /* Sets one of the program's own options. Returns 1 for a shared option, -1 with a message for a wrong value. */
    int (*set)(void *own, const char *name, char *value, struct message *message);
    int (*run)(void *own, struct message *message);
};

/* Reads the command line into `options`, which the caller has set to the defaults. Then runs the program with `own`,
 * its own data, or prints its help or version. Returns the exit status. */
int bench_options_main(const struct bench_program *program, struct bench_options *options, void *own, int argc,
                       char **argv);

/* Chooses the kernels and reads the settings that the options name. Returns 0, or -1 with a message; the caller frees
 * both results in every case. */
int bench_options_choose(const struct bench_options *options, const cf_module *module, enum bench_choice choice,
                         struct bench_kernels *chosen, struct constants *constants, struct message *message);

/* Returns the plan of a sweep over the chosen kernels, without its sizes. */
struct bench_plan bench_options_plan(const struct bench_options *options, const struct bench_kernels *chosen,
                                     const struct constants *constants);

#endif
