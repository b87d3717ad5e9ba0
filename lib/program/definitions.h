/* definitions.h - collects and checks the symbols of a link's inputs. */
#ifndef CF__DEFINITIONS_H
#define CF__DEFINITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "program/compiled.h"

enum cf__definition_kind {
    CF__DECLARED, /* only declared here */
    CF__WEAK,     /* may have several equal definitions */
    CF__DEFINED
};

struct cf__definition {
    const char *name; /* name of the symbol, set by cf__definitions_check() */
    size_t at;        /* offset of the name in the texts */
    uint64_t bytes;   /* bytes of data; 0: unknown, or a function */
    enum cf__definition_kind kind;
    unsigned int input, unit;
};

/* A zero-initialised struct is empty; cf__definitions_free() releases its members. */
struct cf__definitions {
    struct cf__definition *list;
    size_t count, room;
    char *texts;
    size_t texts_bytes, texts_room;
    unsigned int input; /* number of the input that is being read */
    unsigned int unit;  /* number of the input's part; definitions within a part are alternatives */
    int is_short;       /* 1 if there was no memory */
};

/* Adds a symbol of the current unit. */
void cf__definitions_add(struct cf__definitions *definitions, const char *name, size_t length,
                         enum cf__definition_kind kind, uint64_t bytes);

/* Sorts the symbols. Returns CF_ECOMPILE if a symbol has two definitions or data has two sizes, CF_ENOMEM if there was
 * no memory, or CF_OK. The message names `function`, the symbol and both inputs. */
int cf__definitions_check(struct cf__definitions *definitions, const char *function, const struct cf__input *inputs);

void cf__definitions_free(struct cf__definitions *definitions);

#endif
