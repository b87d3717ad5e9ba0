/* bench_kernels.h - which kernels are timed, with which values that the command line sets. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "kernel/instance.h"
#include "base/message.h"

struct bench_kernels {
    const cf_kernel **kernels; /* and variants, those of a kernel side by side */
    size_t count;
    char **values; /* settings of parameters; the others are of constants */
    char **constants;
    size_t value_count, constant_count;
};

/* What of a tuned kernel is timed: as its function is called, every variant in its place, or so and no other kernels. */
enum bench_choice { BENCH_AS_CALLED, BENCH_EVERY_VARIANT, BENCH_VARIANTS_ALONE };

/* Chooses among a module's kernels; -1 where there are none. */
int bench_kernels_choose(struct bench_kernels *chosen, const cf_module *module, const struct instance_names *names,
                         enum bench_choice choice, struct message *message);

/* Tells settings, each "name=value", of parameters from those of constants; -1 where one is none, before anything runs. */
int bench_kernels_settle(struct bench_kernels *chosen, const cf_module *module, char *const *settings, size_t count,
                         struct message *message);

void bench_kernels_free(struct bench_kernels *chosen);

#endif
