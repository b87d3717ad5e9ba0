/* argument.c - reads values and arrays for a kernel's parameters from the command line. */
#include "kernel/argument.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64 /* alignment of values in bytes, enough for every C type */

/* ---- Types ---- */

static int is_void(const cf_param *param)
{
    return param->type == CF_OPAQUE && param->bytes == 0;
}

/* Returns 1 if the last dimension of the file's array holds the vector's components. */
static int has_lanes(const cf_param *param, const struct npy_array *array)
{
    return array->type.type != CF_OPAQUE && param->lanes > 1 && array->ndims > 0 &&
           array->shape[array->ndims - 1] == (int64_t)param->lanes;
}

int argument_suits(const cf_param *param, const struct npy_array *array)
{
    const struct element_type *type = &array->type;
    const cf_type filed = element_file_type(param->type);
    if (is_void(param))
        return 1;
    if (type->type == CF_OPAQUE && type->bytes == param->bytes &&
        (param->type == CF_OPAQUE || filed != param->type || param->lanes > 1))
        return 1 + (param->type == CF_OPAQUE && array->ndims == param->ndims);
    int is_same = type->type == param->type && param->type != CF_OPAQUE;
    if (!is_same && !(type->type == filed && param->type != CF_OPAQUE) &&
        !(type->type == CF_BOOL && param->type == CF_U8)) /* NumPy's arrays of bools may be passed for u8 flags */
        return 0;
    int lanes = has_lanes(param, array);
    if (param->lanes > 1 && !lanes)
        return 0;
    return 1 + (is_same && array->ndims - (uint32_t)lanes == param->ndims);
}

void argument_adapt(const cf_param *param, struct npy_array *array)
{
    if (is_void(param))
        return;
    if (has_lanes(param, array)) {
        array->ndims--;
        array->count /= param->lanes;
    }
    array->type = argument_type(param);
}

/* ---- Arrays ---- */

/* Separates the output's path from the argument's text, and describes the array that is read or made. */
static int describe_array(const cf_param *param, struct argument *argument, struct message *message)
{
    const char *comma = NULL, *input_end = argument->text + strlen(argument->text);
    if (param->direction == CF_OUT)
        argument->output = argument->text;
    else if (param->direction != CF_IN && (comma = strrchr(argument->text, ',')) != NULL) {
        argument->output = comma + 1;
        input_end = comma;
    }
    if (argument->output && !*argument->output)
        return message_set(message, "%s=%s: the path of the output is empty", param->name, argument->text);
    if (argument->output && strcmp(argument->output, "-") == 0)
        argument->output = NULL;
    if (param->direction == CF_OUT)
        return 0;

    argument->input = strndup(argument->text, (size_t)(input_end - argument->text));
    if (!argument->input)
        return message_set(message, "%s: no memory", param->name);
    if (!*argument->input)
        return message_set(message, "%s=%s: the path of the input is empty", param->name, argument->text);
    if (make_is_named(argument->input)) {
        argument->source = MADE;
        return make_read(&argument->make, argument->input, param->name, &argument->array, message);
    }
    if (npy_open(&argument->file, argument->input, message) != 0)
        return -1;
    argument->source = FROM_FILE;
    argument->array = argument->file.array;
    return 0;
}

void argument_add_file(const cf_param *param, struct message *message)
{
    message_add(message, "%s=FILE.npy", param->name);
    if (param->type == CF_OPAQUE && !is_void(param))
        message_add(message, " with %s of |V%" PRIu32 " or of a structured type of that size",
                    argument_is_value(param) ? "one element" : "elements", param->bytes);
    else
        message_add(message, ", or have it made, see --help");
}

/* ---- Assignment ---- */

static int unknown_name(const cf_kernel *kernel, const char *called, const char *name, int length,
                        struct message *message)
{
    const char *separator = "";
    message_set(message, "%s: there is no argument '%.*s'; there is", called, length, name);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        if (kernel->params[i].direction != CF_SCRATCH) {
            message_add(message, "%s %s", separator, kernel->params[i].name);
            separator = ",";
        }
    return -1;
}

static int assign(const cf_kernel *kernel, const char *called, const char *word, struct argument *arguments,
                  struct message *message)
{
    const char *equals = strchr(word, '=');
    if (!equals)
        return message_set(message, "%s: '%s' is not of the form name=value", called, word);
    size_t length = (size_t)(equals - word);
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        if (param->direction == CF_SCRATCH || strlen(param->name) != length || memcmp(param->name, word, length) != 0)
            continue;
        if (arguments[i].origin == GIVEN)
            return message_set(message, "%s: %s is given twice", called, param->name);
        arguments[i].origin = GIVEN;
        arguments[i].text = equals + 1;
        return 0;
    }
    return unknown_name(kernel, called, word, (int)length, message);
}

int arguments_assign(const cf_kernel *kernel, const char *called, char *const *words, int count,
                     struct argument *arguments, struct message *message)
{
    for (int w = 0; w < count; w++)
        if (assign(kernel, called, words[w], arguments, message) != 0)
            return -1;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        arguments[i].make.seed = i; /* by default, each array gets another seed */
        if (param->type == CF_PTR && param->direction != CF_SCRATCH)
            return message_set(message, "%s: %s holds pointers, which no file and no command line can give", called,
                               param->name);
        if (arguments[i].origin == ABSENT && argument_is_read(param)) {
            message_set(message, "%s: the array %s is missing; give ", called, param->name);
            argument_add_file(param, message);
            return -1;
        }
        if (arguments[i].origin == GIVEN && argument_is_array(param) &&
            describe_array(param, &arguments[i], message) != 0)
            return -1;
    }
    return 0;
}

/* ---- Values ---- */

void argument_add_struct(const cf_param *param, struct message *message)
{
    message_add(message, "%s of %" PRIu32 " bytes; give ", param->ctype, param->bytes);
    argument_add_file(param, message);
}

static int refuse_struct(const cf_param *param, const char *what, const char *why, struct message *message)
{
    message_set(message, "%s is a ", what);
    argument_add_struct(param, message);
    message_add(message, ": %s", why);
    return -1;
}

/* Reads a struct from a file with one element. */
static int read_struct(const cf_param *param, const struct argument *argument, const char *what,
                       struct message *message)
{
    struct npy_file file;
    struct message why = {""};
    if (npy_open(&file, argument->text, &why) != 0)
        return refuse_struct(param, what, why.text, message);
    const struct npy_array *array = &file.array;
    int status;
    if (array->count == 1 && array->type.type == CF_OPAQUE && array->bytes == param->bytes) {
        status = npy_read(&file, argument->value, message);
    } else {
        char name[ELEMENT_NAME];
        element_name(&array->type, name);
        message_set(&why, "%s has %zu %s", argument->text, array->count, name);
        status = refuse_struct(param, what, why.text, message);
    }
    npy_free(&file);
    return status;
}

static int read_value(const cf_kernel *kernel, const cf_param *param, struct argument *argument,
                      struct message *message)
{
    char what[160];
    size_t size = (param->bytes + (size_t)ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    argument->value = aligned_alloc(ALIGNMENT, size);
    if (!argument->value)
        return message_set(message, "%s: no memory", param->name);
    memset(argument->value, 0, size);
    if (argument->origin != GIVEN)
        return 0;
    snprintf(what, sizeof what, "%s: %s", kernel->name, param->name);
    if (param->type == CF_OPAQUE)
        return read_struct(param, argument, what, message);
    return element_read_list(param->type, argument->text, param->lanes, argument->value, what, message);
}

int arguments_read_values(const cf_kernel *kernel, struct argument *arguments, struct message *message)
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        if (argument_is_value(param) && read_value(kernel, param, &arguments[i], message) != 0)
            return -1;
        if (arguments[i].source != NOWHERE)
            argument_adapt(param, &arguments[i].array);
    }
    return 0;
}

void **arguments_values(const cf_kernel *kernel, const struct argument *arguments)
{
    void **args = calloc(kernel->nparams + (size_t)1, sizeof *args);
    for (uint32_t i = 0; args && i < kernel->nparams; i++)
        args[i] = arguments[i].value;
    return args;
}

/* ---- Elements ---- */

/* Refuses bools other than 0 and 1, which have undefined effects in C. */
static int check_bools(const struct argument *argument, struct message *message)
{
    const unsigned char *elements = argument->data;
    for (size_t i = 0; argument->array.type.type == CF_BOOL && i < argument->array.bytes; i++)
        if (elements[i] > 1)
            return message_set(message, "%s: its element %zu is %u, and a bool is 0 or 1", argument->input, i,
                               elements[i]);
    return 0;
}

int argument_load(struct argument *argument, struct message *message)
{
    if (argument->source == NOWHERE || argument->array.bytes == 0)
        return 0;
    argument->data = malloc(argument->array.bytes);
    if (!argument->data)
        return message_set(message, "%s: no memory for %zu bytes", argument->input, argument->array.bytes);
    if (argument->source == MADE) {
        make_elements(&argument->make, argument->data, argument->array.bytes);
        return 0;
    }
    int status = npy_read(&argument->file, argument->data, message);
    npy_close(&argument->file);
    return status == 0 ? check_bools(argument, message) : -1;
}

void arguments_free(const cf_kernel *kernel, struct argument *arguments)
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (arguments[i].source == FROM_FILE)
            npy_free(&arguments[i].file);
        free(arguments[i].value);
        free(arguments[i].input);
        free(arguments[i].data);
        free(arguments[i].result);
    }
}
