/* bench_kernels.h - chooses the kernels to time and the command line's values for them. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "kernel/instance.h"
#include "base/message.h"

struct bench_kernels {
    const cf_kernel **kernels; /* kernels and variants; variants of a kernel are adjacent */
    size_t count;
    char **values; /* settings, each "name=value", of parameters */
    char **constants;
    size_t value_count, constant_count;
};

/* Treatment of tuned kernels: time the variant that a call runs; time every variant; time every variant and no untuned
 * kernels. */
enum bench_choice { BENCH_AS_CALLED, BENCH_EVERY_VARIANT, BENCH_VARIANTS_ALONE };

/* Chooses among a module's kernels. Returns -1 if none is left. */
int bench_kernels_choose(struct bench_kernels *chosen, const cf_module *module, const struct instance_names *names,
                         enum bench_choice choice, struct message *message);

/* Separates settings, each "name=value", into those of parameters and those of constants. Returns -1 if a name is
 * neither, so that a spelling error is reported before anything runs. */
int bench_kernels_settle(struct bench_kernels *chosen, const cf_module *module, char *const *settings, size_t count,
                         struct message *message);

void bench_kernels_free(struct bench_kernels *chosen);

#endif
