/* program.h - programs that are loaded at run time. */
#ifndef CF__PROGRAM_H
#define CF__PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/program.h>
#include <cuferry/registry.h>

#include "program/compiled.h"
#include "program/inspect.h"

/* A kernel of a program. After an unload the descriptor stays, with the version
 * CF__UNLOADED. */
struct cf__program_kernel {
    struct cf__program_kernel *next;
    cf_kernel kernel;
    cf_state state;
    char *signature; /* as given */
    void *tables;    /* of the signature */
    char name[];
};

struct cf__program_symbol {
    struct cf__program_symbol *next;
    cf_symbol symbol;
    cf_state state;
    int64_t size; /* in bytes */
    char name[];
};

/* Lists are under the lock of images, which fork() knows. */
struct cf_program {
    struct cf_program *next; /* all programs, also unloaded ones */
    int is_loaded;
    char *data;        /* the image's bytes, then a zero */
    char *log, *names; /* as in struct cf__compiled */
    cf_image image;    /* of an annotated source, it has only a state, which is in the library */
    cf_state state;
    void *library;           /* of an annotated source: dlclose() closes it; NULL: GPU code */
    const cf_module *module; /* the kernels in the library */
    struct cf__targets targets;
    struct cf__program_kernel *kernels;
    struct cf__program_symbol *symbols;
};

/* Sets `*program` to NULL, and checks the caller of a function that makes a program; returns a status, whose message
 * names `function`. After a failure cf__program_drop() follows. */
int cf__program_begin(const char *function, cf_program **program);

/* Adds a new program to the list; it takes the parts. */
void cf__program_add(cf_program *made, struct cf__compiled *parts);

/* Makes a program of its parts and takes them, also in case of a failure. Returns a status; messages name
 * `function`. */
int cf__program_adopt(const char *function, struct cf__compiled *parts, cf_program **program);

/* Frees the parts of a program that could not be made; cf_program_log(NULL) of the calling thread has their log then.
 * Returns `status`. */
int cf__program_drop(struct cf__compiled *parts, int status);

/* Returns the name in the image for `name`, which may be a name expression. */
const char *cf__program_entry(const cf_program *program, const char *name);

/* Checks that the program is loaded; returns a status, whose message names `function`. */
int cf__program_check(const char *function, const cf_program *program);

#endif
