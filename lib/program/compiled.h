/* compiled.h - a program to compile, and a compiled one. */
#ifndef CF__COMPILED_H
#define CF__COMPILED_H

#include <stddef.h>
#include <stdlib.h>

struct cf_program_options;

struct cf__request {
    const char *function; /* in messages */
    const char *source;
    const char *name; /* of the source, in the compiler's messages; its folder is searched for headers */
    const struct cf_program_options *options;
    int capability; /* of the device, times ten */
    int driver;     /* CUDA version of the driver: 13000 is 13.0 */
};

/* cf__compiled_free() releases it; a zero-initialised struct is empty. */
struct cf__compiled {
    char *image;  /* machine code (a cubin) or PTX, then a zero byte; NULL: there is none */
    size_t bytes; /* of the image, without the zero */
    char *log;    /* warnings and errors; NULL: there are none */
    char *names;  /* each of options.names, then its name in the image, each with its zero; "": the end; NULL: none */
    size_t names_bytes; /* of all of them, without the end */
};

static inline void cf__compiled_free(struct cf__compiled *compiled)
{
    free(compiled->image);
    free(compiled->log);
    free(compiled->names);
    *compiled = (struct cf__compiled){0};
}

#endif
