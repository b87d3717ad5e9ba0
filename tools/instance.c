/* instance.c - finds the kernel that a name on the command line means. */
#include "instance.h"

#include <stdint.h>
#include <string.h>

#define NAME_LIMIT 128 /* longer names are not compared for likeness */

int instance_is_named(const cf_kernel *kernel, const char *name)
{
    const cf_kernel *exact = cf_kernel_find(&cf_registry, name);
    return exact ? kernel == exact : strcmp(kernel->family, name) == 0;
}

/* ---- Did you mean ---- */

/* The number of letters to insert, delete or replace, after Levenshtein; two exchanged neighbours count as two. */
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

static void unknown_kernel(const char *name, struct message *message)
{
    const cf_kernel *kernel;
    const char *nearest = NULL;
    size_t least = strlen(name) / 3 + 2; /* what differs by more is no slip of the fingers */
    for (size_t i = 0; (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++) {
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
        message_set(message, "there is no kernel '%s'; --list shows all %zu", name, cf_registry.count);
}

const cf_kernel *instance_any(const char *name, struct message *message)
{
    const cf_kernel *kernel;
    for (size_t i = 0; (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++)
        if (instance_is_named(kernel, name))
            return kernel;
    unknown_kernel(name, message);
    return NULL;
}

/* ---- Types ---- */

static int fits(const cf_kernel *kernel, const struct argument *arguments)
{
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (arguments[i].maker != NOWHERE && arguments[i].array.type != kernel->params[i].type)
            return 0;
    return 1;
}

/* Adds " gather_f32_i32 (source f32, index i32, res f32)". */
static void add_types(const cf_kernel *kernel, struct message *message)
{
    const char *separator = " (";
    message_add(message, " %s", kernel->name);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (argument_is_array(&kernel->params[i])) {
            message_add(message, "%s%s %s", separator, kernel->params[i].name, cf_type_name(kernel->params[i].type));
            separator = ", ";
        }
    message_add(message, "%s", separator[0] == ',' ? ")" : "");
}

/* Says what is given and what there is. */
static void no_single_one(const char *name, const cf_kernel *any, const struct argument *arguments, int count,
                          struct message *message)
{
    const cf_kernel *kernel;
    const char *separator = " ";
    message_set(message, "%s: %s", name, count ? "several kernels fit, name one of them:" : "no kernel takes");
    for (uint32_t i = 0; i < any->nparams && !count; i++)
        if (arguments[i].maker != NOWHERE) {
            message_add(message, "%s%s %s", separator, any->params[i].name, cf_type_name(arguments[i].array.type));
            separator = ", ";
        }
    message_add(message, "%s", count ? "" : "; there is");
    separator = "";
    for (size_t i = 0; (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++)
        if (instance_is_named(kernel, name) && (!count || fits(kernel, arguments))) {
            message_add(message, "%s", separator);
            add_types(kernel, message);
            separator = ",";
        }
}

const cf_kernel *instance_pick(const char *name, const struct argument *arguments, struct message *message)
{
    const cf_kernel *kernel, *any = NULL, *found = NULL;
    int count = 0;
    for (size_t i = 0; (kernel = cf_kernel_at(&cf_registry, i)) != NULL; i++) {
        if (!instance_is_named(kernel, name))
            continue;
        any = kernel;
        if (fits(kernel, arguments)) {
            found = kernel;
            count++;
        }
    }
    if (count == 1)
        return found;
    no_single_one(name, any, arguments, count, message);
    return NULL;
}
