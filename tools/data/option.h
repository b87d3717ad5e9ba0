/* option.h - takes options from the command line: "--repeat 3" or "--repeat=3". */
#ifndef OPTION_H
#define OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/message.h"

struct option {
    const char *name;
    int has_value;
};

/* Takes the option at argv[*at], and moves *at to its value where that stands behind it. The option, with its value, NULL
 * for those that take none; NULL with a message where it is none of `known`, or its value is missing or too much. */
const struct option *option_take(const struct option *known, size_t count, char **argv, int *at, char **value,
                                 struct message *message);

/* Reads the value of the option called `name`: an integer in a range; a number from 0 on, of which a "%" behind it makes
 * hundredths where `is_part`. */
int option_integer(const char *name, const char *text, int64_t low, int64_t high, int64_t *value,
                   struct message *message);
int option_real(const char *name, const char *text, int is_part, double *value, struct message *message);

#endif
