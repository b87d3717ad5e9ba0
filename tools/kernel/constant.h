/* constant.h - what the command line says of the data in __constant__ memory. */
#ifndef CONSTANT_H
#define CONSTANT_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "base/message.h"

/* Values to set. Zeros are none. */
struct constants {
    size_t count;
    struct constant {
        const cf_symbol *symbol;
        void *value; /* all elements */
    } * list;
};

/* The symbol called `name`; NULL where there is none. */
const cf_symbol *constant_find(const cf_module *module, const char *name, size_t length);

/* Reads `words`, each "name=value": numbers with commas in between, or FILE.npy. Whatever it returns, the constants are
 * then the caller's to free. */
int constants_read(struct constants *constants, const cf_module *module, char *const *words, size_t count,
                   struct message *message);

/* Sets all of them on the thread's device. */
int constants_set(const struct constants *constants, struct message *message);

void constants_free(struct constants *constants);

#endif
