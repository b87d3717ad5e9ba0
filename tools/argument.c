/* argument.c - what the command line says of a kernel's parameters: scalars, and arrays that are read or made. */
#include "argument.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"

/* The ways to make an array: name, and what follows TYPE:COUNT. */
static const struct maker {
    const char *name;
    enum argument_maker maker;
    int numbers; /* of mandatory fields */
    int seeded;
    const char *usage;
} makers[] = {
    {"random", RANDOM, 0, 1, "random:TYPE:COUNT[:seed=S]"},
    {"randint", RANDINT, 2, 1, "randint:TYPE:COUNT:LOW:HIGH[:seed=S]"},
    {"fill", FILL, 1, 0, "fill:TYPE:COUNT:VALUE"},
};
#define MAKERS (sizeof makers / sizeof *makers)
#define MAX_FIELDS 6

/* ---- Arrays that are made ---- */

/* Splits "random:f32:100" in place; the number of fields, MAX_FIELDS + 1 where there are more. */
static int split(char *text, char *fields[MAX_FIELDS])
{
    int count = 0;
    for (char *next = text; next; count++) {
        if (count == MAX_FIELDS)
            return MAX_FIELDS + 1;
        fields[count] = next;
        next = strchr(next, ':');
        if (next)
            *next++ = 0;
    }
    return count;
}

/* Reads a count or a shape: "100", "100x200". */
static int read_shape(const char *text, struct npy_array *array, const char *what, struct message *message)
{
    const char *at = text;
    array->ndims = 0;
    do {
        char digits[24];
        size_t length = strspn(at, "0123456789");
        element_wide value;
        if (length == 0 || (at[length] && at[length] != 'x'))
            return message_set(message, "%s: '%s' is not a count such as 100, or a shape such as 100x200", what, text);
        if (array->ndims == NPY_DIMS)
            return message_set(message, "%s: %s has more than %d dimensions", what, text, NPY_DIMS);
        if (length >= sizeof digits)
            return message_set(message, "%s: %s elements are too many", what, text);
        memcpy(digits, at, length);
        digits[length] = 0;
        if (element_read_integer(digits, &value) != 0 || value > INT64_MAX)
            return message_set(message, "%s: %s elements are too many", what, text);
        array->shape[array->ndims++] = (int64_t)value;
        at += length;
    } while (*at++ == 'x');
    return npy_measure(array) == 0 ? 0 : message_set(message, "%s: %s elements are too many", what, text);
}

/* Reads the bounds of RANDINT. The upper one is exclusive, so it may be one past the type's largest value. */
static int read_range(struct argument *argument, const char *low_text, const char *high_text, const char *what,
                      struct message *message)
{
    cf_type type = argument->array.type;
    element_wide low, high;
    if (element_read_integer(low_text, &low) != 0 || element_read_integer(high_text, &high) != 0)
        return message_set(message, "%s: LOW and HIGH, '%s' and '%s', are not both integers", what, low_text,
                           high_text);
    if (low >= high)
        return message_set(message, "%s: there is no integer in [%s, %s)", what, low_text, high_text);
    if (element_store(type, low, &argument->low) != 0 || element_store(type, high - 1, &argument->high) != 0)
        return message_set(message, "%s: [%s, %s) is outside the range of %s", what, low_text, high_text,
                           cf_type_name(type));
    return 0;
}

/* Takes "seed=S" as the last field. */
static int read_seed(struct argument *argument, const char *text, const char *what, struct message *message)
{
    union element seed;
    if (strncmp(text, "seed=", 5) != 0)
        return message_set(message, "%s: '%s' is not seed=S", what, text);
    if (element_read(CF_U64, text + 5, &seed, what, message) != 0)
        return -1;
    argument->seed = seed.of_CF_U64;
    return 0;
}

static int describe_made(struct argument *argument, const struct maker *maker, const char *name,
                         struct message *message)
{
    char *fields[MAX_FIELDS], what[160], *copy = strdup(argument->input);
    if (!copy)
        return message_set(message, "%s: no memory", name);
    snprintf(what, sizeof what, "%s=%s", name, argument->input);
    int count = split(copy, fields), wanted = 3 + maker->numbers, status = -1;
    cf_type type = count > 1 ? element_type(fields[1], strlen(fields[1])) : CF_TYPE_COUNT;
    argument->array.type = type;
    argument->maker = maker->maker;
    if (count != wanted && !(maker->seeded && count == wanted + 1))
        message_set(message, "%s: it should read %s", what, maker->usage);
    else if (type == CF_TYPE_COUNT)
        message_set(message, "%s: there is no type '%s'; %s and %s are two", what, fields[1], cf_type_name(CF_F32),
                    cf_type_name(CF_I64));
    else if (maker->maker != FILL && (element_kind(type) == 'f') != (maker->maker == RANDOM))
        message_set(message, "%s: %s makes %s numbers", what, maker->name,
                    maker->maker == RANDOM ? "floating-point" : "integer");
    else
        status = read_shape(fields[2], &argument->array, what, message);
    if (status == 0 && maker->maker == RANDINT)
        status = read_range(argument, fields[3], fields[4], what, message);
    if (status == 0 && maker->maker == FILL)
        status = element_read(type, fields[3], &argument->low, what, message);
    if (status == 0 && count > wanted)
        status = read_seed(argument, fields[wanted], what, message);
    free(copy);
    return status;
}

/* ---- Arrays ---- */

/* Takes the output's path off, and describes what is read or made. */
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
    for (size_t i = 0; i < MAKERS; i++) {
        size_t length = strlen(makers[i].name);
        if (strncmp(argument->input, makers[i].name, length) == 0 && argument->input[length] == ':')
            return describe_made(argument, &makers[i], param->name, message);
    }
    if (npy_open(&argument->file, argument->input, message) != 0)
        return -1;
    argument->maker = FROM_FILE;
    argument->array = argument->file.array;
    return 0;
}

static int unknown_name(const cf_kernel *kernel, const char *called, const char *name, int length,
                        struct message *message)
{
    message_set(message, "%s: there is no argument '%.*s'; there is", called, length, name);
    for (uint32_t i = 0; i < kernel->nparams; i++)
        message_add(message, "%s %s", i ? "," : "", kernel->params[i].name);
    return -1;
}

int arguments_assign(const cf_kernel *kernel, const char *called, char *const *words, int count,
                     struct argument *arguments, struct message *message)
{
    for (int w = 0; w < count; w++) {
        const char *equals = strchr(words[w], '=');
        if (!equals)
            return message_set(message, "%s: '%s' is not of the form name=value", called, words[w]);
        size_t length = (size_t)(equals - words[w]);
        uint32_t i = 0;
        while (i < kernel->nparams &&
               (strlen(kernel->params[i].name) != length || memcmp(kernel->params[i].name, words[w], length) != 0))
            i++;
        if (i == kernel->nparams)
            return unknown_name(kernel, called, words[w], (int)length, message);
        if (arguments[i].origin == GIVEN)
            return message_set(message, "%s: %s is given twice", called, kernel->params[i].name);
        arguments[i].origin = GIVEN;
        arguments[i].text = equals + 1;
    }
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        arguments[i].seed = i; /* arrays differ unless they are told otherwise */
        if (arguments[i].origin == ABSENT && argument_is_read(param))
            return message_set(message, "%s: the array %s is missing; give %s=FILE.npy, or have it made, see --help",
                               called, param->name, param->name);
        if (arguments[i].origin == GIVEN && argument_is_array(param) &&
            describe_array(param, &arguments[i], message) != 0)
            return -1;
    }
    return 0;
}

int arguments_read_scalars(const cf_kernel *kernel, struct argument *arguments, struct message *message)
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        const cf_param *param = &kernel->params[i];
        char what[160];
        if (argument_is_array(param) || arguments[i].origin != GIVEN)
            continue;
        snprintf(what, sizeof what, "%s: %s", kernel->name, param->name);
        if (element_read(param->type, arguments[i].text, &arguments[i].value, what, message) != 0)
            return -1;
    }
    return 0;
}

/* ---- Elements ---- */

/* Makes integers in [low, high], modulo 2^64, which cuts them to what they are in any type. */
static void make_integers(const struct argument *argument)
{
    uint64_t low, span, count = argument->array.count;
    switch (argument->array.type) {
#define MAKE_INTEGERS(name, text, ctype)                                                         \
    case name:                                                                                   \
        low = (uint64_t)argument->low.of_##name;                                                 \
        span = (uint64_t)argument->high.of_##name - low + 1;                                     \
        for (uint64_t i = 0; i < count; i++)                                                     \
            ((ctype *)argument->data)[i] = (ctype)(low + random_below(argument->seed, i, span)); \
        break;
        ELEMENT_LIST(MAKE_INTEGERS)
#undef MAKE_INTEGERS
    default:
        break;
    }
}

static void make_floats(const struct argument *argument)
{
    uint64_t count = argument->array.count;
    if (argument->array.type == CF_F32)
        for (uint64_t i = 0; i < count; i++)
            ((float *)argument->data)[i] = random_f32(argument->seed, i);
    else
        for (uint64_t i = 0; i < count; i++)
            ((double *)argument->data)[i] = random_f64(argument->seed, i);
}

/* Writes the first element, then doubles what is there. */
static void make_equal(const struct argument *argument)
{
    size_t done = cf_type_size(argument->array.type), bytes = argument->array.bytes;
    memcpy(argument->data, &argument->low, done);
    while (done < bytes) {
        size_t part = done < bytes - done ? done : bytes - done;
        memcpy((char *)argument->data + done, argument->data, part);
        done += part;
    }
}

int argument_load(struct argument *argument, struct message *message)
{
    if (argument->maker == NOWHERE || argument->array.bytes == 0)
        return 0;
    argument->data = malloc(argument->array.bytes);
    if (!argument->data)
        return message_set(message, "%s: no memory for %zu bytes", argument->input, argument->array.bytes);
    int status = 0;
    switch (argument->maker) {
    case FROM_FILE:
        status = npy_read(&argument->file, argument->data, message);
        npy_close(&argument->file);
        break;
    case RANDOM:
        make_floats(argument);
        break;
    case RANDINT:
        make_integers(argument);
        break;
    default:
        make_equal(argument);
    }
    return status;
}

void arguments_free(const cf_kernel *kernel, struct argument *arguments)
{
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        if (arguments[i].maker == FROM_FILE)
            npy_close(&arguments[i].file);
        free(arguments[i].input);
        free(arguments[i].data);
        free(arguments[i].result);
    }
}
