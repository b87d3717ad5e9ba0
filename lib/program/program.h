/* program.h - loads and unloads programs. */
#ifndef CF__PROGRAM_H
#define CF__PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/program.h>
#include <cuferry/registry.h>

#include "program/compiled.h"
#include "program/inspect.h"

/* A kernel of a program. Its descriptor still exists after an unload, with the version CF__UNLOADED. */
struct cf__program_kernel {
    struct cf__program_kernel *next;
    cf_kernel kernel;
    cf_state state;
    char *signature; /* signature as the caller gave it */
    void *tables;    /* tables of the signature */
    char name[];
};

struct cf__program_symbol {
    struct cf__program_symbol *next;
    cf_symbol symbol;
    cf_state state;
    int64_t size; /* bytes of the symbol */
    char name[];
};

/* A program. The lock of images, which the fork handlers take, protects the lists. */
struct cf_program {
    struct cf_program *next; /* next of all programs, including unloaded ones */
    int is_loaded;
    char *data;        /* bytes of the image, then a zero */
    char *log, *names; /* same as in struct cf__compiled */
    cf_image image;    /* image; for an annotated source only its state, which is in the library */
    cf_state state;
    void *library;           /* handle of an annotated source's library, or NULL for GPU code */
    const cf_module *module; /* kernels in the library */
    struct cf__targets targets;
    struct cf__program_kernel *kernels;
    struct cf__program_symbol *symbols;
};

/* Sets `*program` to NULL, and checks that a program may be created in this thread and process; returns a status, whose
 * message names `function`. After a failure the caller calls cf__program_drop(). */
int cf__program_begin(const char *function, cf_program **program);

/* Adds a new program to the list; the program takes ownership of the parts. */
void cf__program_add(cf_program *made, struct cf__compiled *parts);

/* Creates a program from its parts, and takes ownership of them even if it fails. Returns a status; messages name
 * `function`. */
int cf__program_adopt(const char *function, struct cf__compiled *parts, cf_program **program);

/* Frees the parts of a program that could not be created. Their log is kept, for cf_program_log(NULL) in the calling
 * thread. Returns `status`. */
int cf__program_drop(struct cf__compiled *parts, int status);

/* Returns the name in the image for `name`, which may be a name expression. */
const char *cf__program_entry(const cf_program *program, const char *name);

/* Checks that the program is loaded; returns a status, whose message names `function`. */
int cf__program_check(const char *function, const cf_program *program);

#endif
