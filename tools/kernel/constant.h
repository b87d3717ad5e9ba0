/* constant.h - reads values for __constant__ data from the command line, and sets them. */
#ifndef CONSTANT_H
#define CONSTANT_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "base/message.h"

/* Constants and the values to set. All zeros: none. */
struct constants {
    size_t count;
    struct constant {
        const cf_symbol *symbol;
        void *value; /* values of all elements */
    } * list;
};

/* Returns the symbol `name`; NULL if there is none. */
const cf_symbol *constant_find(const cf_module *module, const char *name, size_t length);

/* Reads `words`, each "name=value", where the value is numbers separated by commas, or FILE.npy. The caller frees the
 * constants in every case. */
int constants_read(struct constants *constants, const cf_module *module, char *const *words, size_t count,
                   struct message *message);

/* Sets all constants on the thread's device. */
int constants_set(const struct constants *constants, struct message *message);

void constants_free(struct constants *constants);

#endif
