/* constant.c - reads values for __constant__ data from the command line, and sets them. */
#include "kernel/constant.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "kernel/argument.h"
#include "data/element.h"
#include "data/npy.h"
#include "base/runtime.h"

/* Describes the symbol's elements as an array. */
static int describe(const cf_symbol *symbol, struct npy_array *array, struct message *message)
{
    *array = (struct npy_array){.type = {symbol->type, symbol->lanes, symbol->bytes, NULL}, .ndims = symbol->ndims};
    if (symbol->ndims <= CF_ARRAY_DIMS) {
        for (uint32_t d = 0; d < symbol->ndims; d++)
            array->shape[d] = symbol->extents[d];
        if (npy_measure(array) == 0)
            return 0;
    }
    return message_set(message, "--set %s: its descriptor has no valid extents", symbol->name);
}

static void add_shape(const struct npy_array *array, struct message *message)
{
    char name[ELEMENT_NAME];
    element_name(&array->type, name);
    message_add(message, "%s", name);
    for (uint32_t d = 0; d < array->ndims; d++)
        message_add(message, "[%" PRId64 "]", array->shape[d]);
}

/* ---- Values ---- */

static int read_file(const cf_symbol *symbol, const struct npy_array *array, const char *path, void *value,
                     struct message *message)
{
    struct npy_file file;
    if (npy_open(&file, path, message) != 0)
        return -1;
    const cf_param like = {
        .type = symbol->type, .lanes = symbol->lanes, .bytes = symbol->bytes, .ndims = symbol->ndims};
    struct npy_array given = file.array;
    int status = -1, suits = argument_suits(&like, &given) > 0;
    if (suits)
        argument_adapt(&like, &given);
    if (suits && given.count == array->count) {
        status = npy_read(&file, value, message);
    } else {
        message_set(message, "--set %s: %s has ", symbol->name, path);
        add_shape(&file.array, message);
        message_add(message, ", and %s is ", symbol->name);
        add_shape(array, message);
    }
    npy_free(&file);
    return status;
}

static int is_file(const char *text)
{
    size_t length = strlen(text);
    return length >= 4 && strcmp(text + length - 4, ".npy") == 0;
}

static int read_value(struct constant *constant, const char *text, struct message *message)
{
    const cf_symbol *symbol = constant->symbol;
    struct npy_array array;
    char what[160];
    if (describe(symbol, &array, message) != 0)
        return -1;
    constant->value = calloc(1, array.bytes + 1);
    if (!constant->value)
        return message_set(message, "--set %s: no memory for %zu bytes", symbol->name, array.bytes);
    if (is_file(text))
        return read_file(symbol, &array, text, constant->value, message);
    snprintf(what, sizeof what, "--set %s", symbol->name);
    if (!element_parts(symbol->type))
        return message_set(message, "%s=%s: it is %" PRIu32 " bytes of a struct, which a FILE.npy gives", what, text,
                           symbol->bytes);
    return element_read_list(symbol->type, text, array.count * symbol->lanes, constant->value, what, message);
}

/* ---- All constants ---- */

const cf_symbol *constant_find(const cf_module *module, const char *name, size_t length)
{
    for (size_t i = 0; i < module->nsymbols; i++)
        if (strlen(module->symbols[i]->name) == length && memcmp(module->symbols[i]->name, name, length) == 0)
            return module->symbols[i];
    return NULL;
}

static int unknown_name(const cf_module *module, const char *word, int length, struct message *message)
{
    message_set(message, "--set %s: there is no constant '%.*s'; ", word, length, word);
    message_add(message, "%s", module->nsymbols ? "there is" : "these kernels have none");
    for (size_t i = 0; i < module->nsymbols; i++)
        message_add(message, "%s %s", i ? "," : "", module->symbols[i]->name);
    return -1;
}

int constants_read(struct constants *constants, const cf_module *module, char *const *words, size_t count,
                   struct message *message)
{
    constants->list = calloc(count + 1, sizeof *constants->list);
    if (!constants->list)
        return message_set(message, "--set: no memory");
    for (size_t w = 0; w < count; w++) {
        const char *equals = strchr(words[w], '=');
        if (!equals)
            return message_set(message, "--set %s: it is not of the form name=value", words[w]);
        const cf_symbol *symbol = constant_find(module, words[w], (size_t)(equals - words[w]));
        if (!symbol)
            return unknown_name(module, words[w], (int)(equals - words[w]), message);
        for (size_t i = 0; i < constants->count; i++)
            if (constants->list[i].symbol == symbol)
                return message_set(message, "--set %s: %s is given twice", words[w], symbol->name);
        struct constant *constant = &constants->list[constants->count++];
        constant->symbol = symbol;
        if (read_value(constant, equals + 1, message) != 0)
            return -1;
    }
    return 0;
}

int constants_set(const struct constants *constants, struct message *message)
{
    for (size_t i = 0; i < constants->count; i++)
        if (cf_symbol_set(constants->list[i].symbol, constants->list[i].value) != CF_OK)
            return runtime_failure(message);
    return 0;
}

void constants_free(struct constants *constants)
{
    for (size_t i = 0; i < constants->count; i++)
        free(constants->list[i].value);
    free(constants->list);
}
