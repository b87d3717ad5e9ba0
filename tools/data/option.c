/* option.c - reads options of the command line: "--repeat 3" or "--repeat=3". */
#include "data/option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/element.h"

const struct option *option_find(const struct option *known, size_t count, const char *text)
{
    size_t length = strcspn(text, "=");
    for (size_t i = 0; i < count; i++)
        if (strlen(known[i].name) == length && memcmp(known[i].name, text, length) == 0)
            return &known[i];
    return NULL;
}

const struct option *option_take(const struct option *known, size_t count, char **argv, int *at, char **value,
                                 struct message *message)
{
    const struct option *option = option_find(known, count, argv[*at]);
    if (!option) {
        message_set(message, "unknown option '%s'; --help shows all", argv[*at]);
        return NULL;
    }
    char *text = argv[*at] + strlen(option->name);
    *value = *text ? text + 1 : NULL;
    if (*value && !option->value) {
        message_set(message, "%s takes no value", option->name);
        return NULL;
    }
    if (!*value && option->value)
        *value = argv[++*at]; /* NULL after the last argument */
    if (!*value && option->value) {
        message_set(message, "%s needs a value; --help shows how to use it", option->name);
        return NULL;
    }
    return option;
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
