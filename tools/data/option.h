/* option.h - reads command-line options of the forms "--repeat 3" and "--repeat=3". tools/dev/completion reads the
 * programs' tables of options from their source files. */
#ifndef OPTION_H
#define OPTION_H

#include <stddef.h>
#include <stdint.h>

#include "base/message.h"

struct option {
    const char *name;
    const char *value; /* kind of value as in --help: FILE, KERNEL, cuda|host ...; NULL: no value */
};

/* Options of a program, and two callbacks: one receives an option and its value (NULL if it takes none), the other a
 * word that is no option. Both return 0, or -1 with a message. */
struct option_reader {
    const struct option *known;
    size_t count;
    int (*set)(void *program, const char *name, char *value, struct message *message);
    int (*add)(void *program, char *word, struct message *message);
};

/* Reads the command line into `program`. Returns 0, or -1 with a message if an option is unknown, a value is missing,
 * unexpected or none of the choices, or a callback fails. */
int option_read(const struct option_reader *reader, void *program, int argc, char **argv, struct message *message);

/* Prints the program's name and the library's version. */
void option_print_version(const char *program);

/* Read the value of option `name`: an integer from `low` to `high`; a real number that is not negative. */
int option_integer(const char *name, const char *text, int64_t low, int64_t high, int64_t *value,
                   struct message *message);
int option_real(const char *name, const char *text, double *value, struct message *message);

#endif
