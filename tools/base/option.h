/* option.h - takes options from the command line: "--repeat 3" or "--repeat=3". */
#ifndef OPTION_H
#define OPTION_H

#include <stddef.h>
#include <string.h>

#include "base/message.h"

struct option {
    const char *name;
    int has_value;
};

/* Takes the option at argv[*at], and moves *at to its value where that stands behind it. The option, with its value, NULL
 * for those that take none; NULL with a message where it is none of `known`, or its value is missing or too much. */
static inline const struct option *option_take(const struct option *known, size_t count, char **argv, int *at,
                                               char **value, struct message *message)
{
    char *text = argv[*at];
    size_t length = strcspn(text, "=");
    for (size_t i = 0; i < count; i++) {
        if (strlen(known[i].name) != length || memcmp(known[i].name, text, length) != 0)
            continue;
        *value = text[length] ? text + length + 1 : NULL;
        if (*value && !known[i].has_value) {
            message_set(message, "%s takes no value", known[i].name);
            return NULL;
        }
        if (!*value && known[i].has_value)
            *value = argv[++*at]; /* NULL past the last */
        if (!*value && known[i].has_value) {
            message_set(message, "%s needs a value; --help shows how to use it", known[i].name);
            return NULL;
        }
        return &known[i];
    }
    message_set(message, "unknown option '%s'; --help shows all", text);
    return NULL;
}

#endif
