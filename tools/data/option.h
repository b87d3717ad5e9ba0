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

/* Options of a program, and the receivers of an option and its value (NULL if it has none) and of other words. Both
 * return 0, or -1 with a message. */
struct option_reader {
    const struct option *known;
    size_t count;
    int (*set)(void *program, const char *name, char *value, struct message *message);
    int (*add)(void *program, char *word, struct message *message);
};

/* Reads the command line into `program`. Returns 0, or -1 with a message: an option is not known, its value is missing,
 * not expected or none of its choices, or a receiver fails. */
int option_read(const struct option_reader *reader, void *program, int argc, char **argv, struct message *message);

/* Prints the program's name and the library's version. */
void option_print_version(const char *program);

/* Reads the value of option `name`: an integer in a range; a number from 0 on. */
int option_integer(const char *name, const char *text, int64_t low, int64_t high, int64_t *value,
                   struct message *message);
int option_real(const char *name, const char *text, double *value, struct message *message);

#endif
