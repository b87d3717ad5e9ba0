/* option.h - reads options of the command line: "--repeat 3" or "--repeat=3". tools/dev/completion reads the programs'
 * tables of options from their sources. */
#ifndef OPTION_H
#define OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/message.h"

struct option {
    const char *name;
    const char *value; /* as in --help: FILE, KERNEL, cuda|host ...; NULL: the option takes none */
};

/* Returns the option of `known` that an argument names, or NULL. */
const struct option *option_find(const struct option *known, size_t count, const char *text);

/* Reads the option at argv[*at], and moves *at to its value if the value is the next argument. Returns the option and
 * its value (NULL if it has none); NULL with a message if the option is not in `known`, or a value is missing or not
 * expected. */
const struct option *option_take(const struct option *known, size_t count, char **argv, int *at, char **value,
                                 struct message *message);

/* Reads the value of option `name`: an integer in a range; a number from 0 on. */
int option_integer(const char *name, const char *text, int64_t low, int64_t high, int64_t *value,
                   struct message *message);
int option_real(const char *name, const char *text, double *value, struct message *message);

#endif
