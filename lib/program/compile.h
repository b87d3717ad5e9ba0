/* compile.h - compiles CUDA C++ for a GPU at run time. */
#ifndef CF__COMPILE_H
#define CF__COMPILE_H

#include <cuferry/program.h>

#include "program/compiled.h"

/* Checks the options of cf_program_compile(), or of cf_program_link() if `is_link`. Returns a status, whose message
 * names `function`. */
int cf__options_check(const char *function, const cf_program_options *options, int is_link);

/* Returns the time limit of a compilation in milliseconds. */
int cf__compile_limit(const cf_program_options *options);

/* Arguments of a compiler, in one block of memory: the pointers, followed by the texts that had to be composed. */
struct cf__flags {
    const char **list; /* list of arguments, which the caller frees */
    int count;
    char *at; /* position of the next text */
};

/* Returns the number of texts in a list, and adds their lengths to `bytes`. */
size_t cf__flags_count(const char *const *texts, size_t *bytes);

/* Makes room for `count` arguments, whose texts have `bytes` bytes in all, not counting prefixes. Returns 0 if there is
 * no memory. */
int cf__flags_begin(struct cf__flags *flags, size_t count, size_t bytes);

/* Add an argument, and one for each text of a list. A prefix has at most 32 bytes. */
void cf__flags_add(struct cf__flags *flags, const char *prefix, const char *text);
void cf__flags_add_all(struct cf__flags *flags, const char *prefix, const char *const *texts);

/* Compiles a source, or takes the result from the cache. Returns a status of cf_program_compile(), whose message names
 * request->function. Stores the log in `compiled` in any case; the caller frees `compiled` with cf__compiled_free(). */
int cf__compile_source(const struct cf__request *request, struct cf__compiled *compiled);

#endif
