/* option.c - reads command-line options of the forms "--repeat 3" and "--repeat=3". */
#include "data/option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cuferry.h>

#include "data/element.h"

static const struct option *find(const struct option_reader *reader, const char *text)
{
    size_t length = strcspn(text, "=");
    for (size_t i = 0; i < reader->count; i++)
        if (strlen(reader->known[i].name) == length && memcmp(reader->known[i].name, text, length) == 0)
            return &reader->known[i];
    return NULL;
}

/* Returns 1 if a value is one of the words of an option such as "cuda|host"; options of other kinds take any value. */
static int is_allowed(const struct option *option, const char *value)
{
    const size_t length = strlen(value);
    const char *found = strchr(option->value, '|') ? option->value : NULL;
    if (!found)
        return 1;
    if (strchr(value, '|'))
        return 0;
    for (; found; found = strchr(found, '|') ? strchr(found, '|') + 1 : NULL)
        if (strncmp(found, value, length) == 0 && strchr("|", found[length]))
            return 1;
    return 0;
}

/* Reads the option at argv[*at], and moves *at to its value if that is the next argument. */
static int read_one(const struct option_reader *reader, void *program, char **argv, int *at, struct message *message)
{
    const struct option *option = find(reader, argv[*at]);
    if (!option)
        return message_set(message, "unknown option '%s'; --help shows all", argv[*at]);
    char *text = argv[*at] + strlen(option->name), *value = *text ? text + 1 : NULL;
    if (value && !option->value)
        return message_set(message, "%s takes no value", option->name);
    if (!value && option->value)
        value = argv[++*at]; /* argv ends with NULL */
    if (!value && option->value)
        return message_set(message, "%s needs a value; --help shows how to use it", option->name);
    if (value && !is_allowed(option, value))
        return message_set(message, "%s %s: it is one of %s", option->name, value, option->value);
    return reader->set(program, option->name, value, message);
}

int option_read(const struct option_reader *reader, void *program, int argc, char **argv, struct message *message)
{
    int status = 0;
    for (int i = 1; status == 0 && i < argc; i++)
        status =
            argv[i][0] == '-' ? read_one(reader, program, argv, &i, message) : reader->add(program, argv[i], message);
    return status;
}

void option_print_version(const char *program)
{
    const int version = cf_version();
    printf("%s %d.%d.%d\n", program, version / 10000, version / 100 % 100, version % 100);
}

int option_integer(const char *name, const char *text, int64_t low, int64_t high, int64_t *value,
                   struct message *message)
{
    element_wide wide;
    if (element_read_integer(text, &wide) != 0 || wide < low || wide > high)
        return message_set(message, "%s %s: it is a number from %lld to %lld", name, text, (long long)low,
                           (long long)high);
    *value = (int64_t)wide;
    return 0;
}

int option_real(const char *name, const char *text, double *value, struct message *message)
{
    char *end = NULL;
    *value = text[strspn(text, "0123456789.eE+-")] == 0 ? strtod(text, &end) : -1;
    if (!end || end == text || !(*value >= 0) || !isfinite(*value) || *end)
        return message_set(message, "%s %s: it is a number from 0 on", name, text);
    return 0;
}
