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
    char **values; /* settings of parameters; other settings are of constants */
    char **constants;
    size_t value_count, constant_count;
};

/* Treatment of tuned kernels: as their functions are called; all variants instead; all variants and no other
 * kernels. */
enum bench_choice { BENCH_AS_CALLED, BENCH_EVERY_VARIANT, BENCH_VARIANTS_ALONE };

/* Chooses among a module's kernels; -1 if none is left. */
int bench_kernels_choose(struct bench_kernels *chosen, const cf_module *module, const struct instance_names *names,
                         enum bench_choice choice, struct message *message);

/* Separates settings, each "name=value", into those of parameters and of constants; -1 if one is neither, before
 * anything runs. */
int bench_kernels_settle(struct bench_kernels *chosen, const cf_module *module, char *const *settings, size_t count,
                         struct message *message);

void bench_kernels_free(struct bench_kernels *chosen);

#endif
