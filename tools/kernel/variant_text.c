/* variant_text.c - finds the variant of a tuned kernel that the command line names. */
#include "kernel/variant_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/element.h"

void variant_add(const cf_kernel *variant, struct message *message)
{
    for (uint32_t i = 0; i < variant->nconstants; i++)
        message_add(message, "%s%s=%" PRId64, i ? "," : "", variant->constants[i].name, variant->constants[i].value);
}

/* Appends a text such as "; there is BLOCK=128,ITEMS=1, BLOCK=256,ITEMS=1". */
static int add_variants(const cf_kernel *kernel, struct message *message)
{
    for (uint32_t i = 0; i < kernel->nvariants; i++) {
        message_add(message, "%s", i ? ", or " : "; there is ");
        variant_add(kernel->variants[i], message);
    }
    return -1;
}

/* Returns the number of the constant `name`; -1 if there is none. */
static int find(const cf_kernel *kernel, const char *name)
{
    for (uint32_t i = 0; i < kernel->nconstants; i++)
        if (strcmp(kernel->constants[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Reads a word such as "BLOCK=512", which it changes. */
static int read_constant(const cf_kernel *kernel, char *word, const char *text, cf_constant *constants, uint32_t *count,
                         struct message *message)
{
    element_wide value;
    char *equals = strchr(word, '=');
    if (!equals)
        return message_set(message, "--variant %s: '%s' is not of the form NAME=VALUE", text, word);
    *equals = 0;
    int number = find(kernel->variants[0], word);
    if (number < 0) {
        message_set(message, "--variant %s: %s has no constant '%s'", text, kernel->name, word);
        return add_variants(kernel, message);
    }
    for (uint32_t i = 0; i < *count; i++)
        if (strcmp(constants[i].name, word) == 0)
            return message_set(message, "--variant %s: %s is given twice", text, word);
    if (element_read_integer(equals + 1, &value) != 0 || value > INT64_MAX || value < INT64_MIN)
        return message_set(message, "--variant %s: '%s' is not an integer", text, equals + 1);
    constants[*count] = (cf_constant){kernel->variants[0]->constants[number].name, (int64_t)value};
    ++*count;
    return 0;
}

static int agrees(const cf_kernel *variant, const cf_constant *constants, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int number = find(variant, constants[i].name);
        if (number < 0 || variant->constants[number].value != constants[i].value)
            return 0;
    }
    return 1;
}

static const cf_kernel *pick(const cf_kernel *kernel, char *copy, const char *text, cf_constant *constants,
                             struct message *message)
{
    const cf_kernel *found = NULL;
    uint32_t count = 0, matches = 0;
    for (char *word = copy, *next; word; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = 0;
        if (count == kernel->variants[0]->nconstants) {
            message_set(message, "--variant %s: %s has %" PRIu32 " constant%s", text, kernel->name, count,
                        count == 1 ? "" : "s");
            return NULL;
        }
        if (read_constant(kernel, word, text, constants, &count, message) != 0)
            return NULL;
    }
    for (uint32_t i = 0; i < kernel->nvariants; i++)
        if (agrees(kernel->variants[i], constants, count)) {
            found = kernel->variants[i];
            matches++;
        }
    if (matches == 1)
        return found;
    message_set(message, "--variant %s: %s of %s", text,
                matches ? "it fits several variants" : "there is no such variant", kernel->name);
    (void)add_variants(kernel, message);
    return NULL;
}

const cf_kernel *variant_pick(const cf_kernel *kernel, const char *text, struct message *message)
{
    if (kernel->nvariants == 0) {
        message_set(message, "--variant %s: %s has no variants", text, kernel->name);
        return NULL;
    }
    char *copy = strdup(text);
    cf_constant *constants = calloc(kernel->variants[0]->nconstants + (size_t)1, sizeof *constants);
    const cf_kernel *found = NULL;
    if (copy && constants)
        found = pick(kernel, copy, text, constants, message);
    else
        message_set(message, "--variant %s: no memory", text);
    free(copy);
    free(constants);
    return found;
}
