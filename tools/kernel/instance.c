/* instance.c - finds the kernel that a name on the command line means. */
#include "kernel/instance.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#define NAME_LIMIT 128 /* names of this length or longer are not compared for similarity */
#define LISTED 4       /* most instances whose types one message lists */

int instance_is_named(const cf_module *module, const cf_kernel *kernel, const char *name)
{
    const cf_kernel *exact = cf_kernel_find(module, name);
    if (exact || strcmp(kernel->function, name) == 0)
        return !exact || kernel == exact;
    /* The name of a C function is that of the kernel after the library's prefix. */
    size_t length = strlen(module->prefix);
    if (strncmp(name, module->prefix, length) == 0 && name[length] == '_' && !cf_kernel_find(module, name + length + 1))
        name += length + 1;
    return strcmp(kernel->family, name) == 0;
}

/* ---- Similar names ---- */

/* Returns the Levenshtein distance: the number of letters to insert, delete or replace. Swapping two letters counts as
 * two. */
static size_t distance(const char *a, const char *b)
{
    size_t row[NAME_LIMIT + 1], length = strlen(b);
    if (length > NAME_LIMIT)
        return SIZE_MAX;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            best = best < row[j] + 1 ? best : row[j] + 1;
            row[j + 1] = best < diagonal + 1 ? best : diagonal + 1;
        }
    }
    return row[length];
}

static void unknown_kernel(const cf_module *module, const char *name, struct message *message)
{
    const cf_kernel *kernel;
    const char *nearest = NULL;
    size_t least = strlen(name) / 3 + 2; /* names at a larger distance are not suggested */
    size_t listed = 0;
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++) {
        listed += !cf_kernel_is_internal(kernel);
        const char *names[] = {kernel->family, kernel->name};
        for (int n = 0; n < 2; n++)
            if (distance(name, names[n]) < least) {
                least = distance(name, names[n]);
                nearest = names[n];
            }
    }
    if (nearest)
        message_set(message, "there is no kernel '%s'; did you mean '%s'?", name, nearest);
    else
        message_set(message, "there is no kernel '%s'; cf-run --list shows the %zu kernel%s", name, listed,
                    listed == 1 ? "" : "s");
}

const cf_kernel *instance_any(const cf_module *module, const char *name, struct message *message)
{
    const cf_kernel *kernel;
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++)
        if (instance_is_named(module, kernel, name))
            return kernel;
    unknown_kernel(module, name, message);
    return NULL;
}

/* ---- Several names ---- */

int instance_check_names(const cf_module *module, const struct instance_names *names, struct message *message)
{
    for (size_t i = 0; i < names->count; i++)
        if (!instance_any(module, names->names[i], message))
            return -1;
    for (size_t i = 0; i < names->exception_count; i++)
        if (!instance_any(module, names->exceptions[i], message))
            return -1;
    return 0;
}

int instance_is_meant(const cf_module *module, const cf_kernel *kernel, const struct instance_names *names)
{
    int is_named = names->count == 0 && (names->with_internal || !cf_kernel_is_internal(kernel));
    for (size_t i = 0; i < names->count; i++)
        is_named |= instance_is_named(module, kernel, names->names[i]);
    for (size_t i = 0; i < names->exception_count; i++)
        is_named &= !instance_is_named(module, kernel, names->exceptions[i]);
    return is_named;
}

/* ---- Types ---- */

/* Returns the result of argument_suits() for that given array which suits the kernel worst. */
static int fit(const cf_kernel *kernel, const struct argument *arguments)
{
    int worst = 2;
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (arguments[i].source != NOWHERE) {
            int found = argument_suits(&kernel->params[i], &arguments[i].array);
            worst = found < worst ? found : worst;
        }
    return worst;
}

/* Returns the similarity of the given arrays to a kernel's: the sum of 2 for each suitable array and 1 for each array
 * whose component type alone agrees. */
static uint32_t nearness(const cf_kernel *kernel, const struct argument *arguments)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const struct npy_array *array = &arguments[i].array;
        if (arguments[i].source != NOWHERE)
            sum += argument_suits(&kernel->params[i], array) ? 2 : array->type.type == kernel->params[i].type;
    }
    return sum;
}

/* Appends " gather_f32_i32 (source f32, index i32, res f32)"; structs are named as in NumPy, "|V24 of a FILE.npy". */
static void add_types(const cf_kernel *kernel, struct message *message)
{
    const char *separator = " (";
    message_add(message, " %s", kernel->name);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (argument_is_array(&kernel->params[i])) {
            const struct element_type type = argument_type(&kernel->params[i]);
            char text[ELEMENT_NAME];
            element_name(&type, text);
            const int is_struct = text[0] == 'V';
            message_add(message, "%s%s %s%s%s", separator, kernel->params[i].name, is_struct ? "|" : "", text,
                        is_struct && argument_is_read(&kernel->params[i]) ? " of a FILE.npy" : "");
            separator = ", ";
        }
    message_add(message, "%s", separator[0] == ',' ? ")" : "");
}

static int has_vectors(const cf_module *module, const char *name)
{
    const cf_kernel *kernel;
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++)
        for (uint32_t p = 0; p < kernel->nparams && instance_is_named(module, kernel, name); p++)
            if (argument_is_array(&kernel->params[p]) && kernel->params[p].lanes > 1)
                return 1;
    return 0;
}

/* Appends " source f32, index u8", with shapes if they may contain a vector's components. */
static void add_given(const cf_kernel *any, const struct argument *arguments, int with_shapes, struct message *message)
{
    const char *separator = " ";
    for (uint32_t i = 0; i < any->nparams; i++) {
        const struct npy_array *array = &arguments[i].array;
        char text[ELEMENT_NAME];
        if (arguments[i].source == NOWHERE)
            continue;
        element_name(&array->type, text);
        message_add(message, "%s%s %s", separator, any->params[i].name, text);
        for (uint32_t d = 0; with_shapes && d < array->ndims; d++)
            message_add(message, "%s%" PRId64, d ? "x" : " of ", array->shape[d]);
        separator = ", ";
    }
}

/* Appends the instances that suit the arrays best, or if none does, the most similar ones; at most LISTED. */
static void add_nearest(const cf_module *module, const char *name, const struct argument *arguments, int best,
                        struct message *message)
{
    const cf_kernel *kernel;
    uint32_t most = 0, count = 0;
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++)
        if (instance_is_named(module, kernel, name) && nearness(kernel, arguments) > most)
            most = nearness(kernel, arguments);
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++) {
        if (!instance_is_named(module, kernel, name) ||
            !(best ? fit(kernel, arguments) == best : nearness(kernel, arguments) == most))
            continue;
        if (count++ < LISTED) {
            message_add(message, "%s", count > 1 ? "," : "");
            add_types(kernel, message);
        }
    }
    if (count > LISTED)
        message_add(message, ", and %" PRIu32 " more, which --describe %s shows", count - LISTED, name);
}

/* Reports the given types and the available instances. */
static void no_single_one(const cf_module *module, const char *name, const cf_kernel *any,
                          const struct argument *arguments, int count, int best, struct message *message)
{
    int with_shapes = has_vectors(module, name);
    message_set(message, "%s: %s", name, count ? "several kernels fit, name one of them:" : "no kernel takes");
    if (!count) {
        add_given(any, arguments, with_shapes, message);
        message_add(message, "; there is");
    }
    add_nearest(module, name, arguments, count ? best : 0, message);
    if (!count && with_shapes)
        message_add(message, "; the components of a vector are the last dimension, as in 100x4");
}

const cf_kernel *instance_pick(const cf_module *module, const char *name, const struct argument *arguments,
                               struct message *message)
{
    const cf_kernel *kernel, *any = NULL, *found = NULL;
    int count = 0, best = 1;
    for (size_t i = 0; (kernel = cf_kernel_at(module, i)) != NULL; i++) {
        if (!instance_is_named(module, kernel, name))
            continue;
        any = kernel;
        int how = fit(kernel, arguments);
        if (how < best)
            continue;
        count = how == best ? count + 1 : 1;
        best = how;
        found = kernel;
    }
    if (count == 1)
        return found;
    no_single_one(module, name, any, arguments, count, best, message);
    return NULL;
}
