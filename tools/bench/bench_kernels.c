/* bench_kernels.c - chooses the kernels to time and the command line's values for them. */
#include "bench/bench_kernels.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench_values.h"
#include "kernel/constant.h"

int bench_kernels_choose(struct bench_kernels *chosen, const cf_module *module, const struct instance_names *names,
                         enum bench_choice choice, struct message *message)
{
    const cf_kernel *kernel;
    size_t room = 0, meant = 0;
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++)
        room += 1 + kernel->nvariants;
    chosen->kernels = calloc(room + 1, sizeof *chosen->kernels);
    if (!chosen->kernels)
        return message_set(message, "no memory");
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++) {
        if (!instance_is_meant(module, kernel, names))
            continue;
        meant++;
        if (choice == BENCH_AS_CALLED || (choice == BENCH_EVERY_VARIANT && kernel->nvariants == 0))
            chosen->kernels[chosen->count++] = kernel;
        for (uint32_t v = 0; choice != BENCH_AS_CALLED && v < kernel->nvariants; v++)
            chosen->kernels[chosen->count++] = kernel->variants[v];
    }
    if (chosen->count)
        return 0;
    return meant ? message_set(message, "no kernel that is meant has variants: its annotation says no tune(...)")
                 : message_set(message, "there is no kernel to run");
}

/* Returns 1 if one of the kernels has a parameter of that name. */
static int is_parameter(const struct bench_kernels *chosen, const char *name, size_t length)
{
    for (size_t k = 0; k < chosen->count; k++)
        for (uint32_t i = 0; i < chosen->kernels[k]->nparams; i++) {
            const cf_param *param = &chosen->kernels[k]->params[i];
            if (param->direction == CF_VALUE && strlen(param->name) == length && memcmp(param->name, name, length) == 0)
                return 1;
        }
    return 0;
}

static int sort_settings(struct bench_kernels *chosen, const cf_module *module, char *const *settings, size_t count,
                         struct message *message)
{
    chosen->values = calloc(2 * count + 1, sizeof *chosen->values);
    if (!chosen->values)
        return message_set(message, "no memory");
    chosen->constants = chosen->values + count;
    for (size_t i = 0; i < count; i++) {
        char *setting = settings[i];
        size_t length = strcspn(setting, "=");
        int is_value = is_parameter(chosen, setting, length), is_constant = !!constant_find(module, setting, length);
        if (!setting[length] || length == 0)
            return message_set(message, "--set %s: it is not of the form NAME=VALUE", setting);
        if (is_value && is_constant)
            return message_set(message, "--set %s: a parameter and a constant have this name", setting);
        if (!is_value && !is_constant)
            return message_set(message, "--set %s: no kernel that is run has such a parameter, nor is there a constant",
                               setting);
        if (is_value)
            chosen->values[chosen->value_count++] = setting;
        else
            chosen->constants[chosen->constant_count++] = setting;
    }
    return 0;
}

int bench_kernels_settle(struct bench_kernels *chosen, const cf_module *module, char *const *settings, size_t count,
                         struct message *message)
{
    if (sort_settings(chosen, module, settings, count, message) != 0)
        return -1;
    for (size_t k = 0; k < chosen->count; k++) {
        struct bench_values values;
        struct message reason = {""};
        int is_wrong;
        (void)bench_values_begin(&values, chosen->kernels[k], chosen->values, chosen->value_count, &is_wrong, &reason);
        bench_values_free(&values);
        if (is_wrong)
            return message_set(message, "%s", reason.text);
    }
    return 0;
}

void bench_kernels_free(struct bench_kernels *chosen)
{
    free(chosen->kernels);
    free(chosen->values);
}
