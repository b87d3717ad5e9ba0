/* error.h - the detail of each thread's latest failure: its text and the driver's result. */
#ifndef CF__ERROR_H
#define CF__ERROR_H

#include <stddef.h>

#include "base/bounds.h"

/* Formats the calling thread's detail, reports it to the log and returns `status`. */
__attribute__((format(printf, 2, 3))) int cf__fail(int status, const char *format, ...);

/* Stores a complete text and a driver's result as the calling thread's detail, reports the text to the log and returns
 * `status`. cf_last_driver_result() returns the driver's result. */
int cf__fail_result(int status, int result, const char *text);

/* Prefixes the detail with "function: in " after a failure inside of an operation; returns `status`. */
int cf__fail_within(const char *function, int status);

/* Saves the cause of a CPU driver failure, which the calling thread's next detail will include. */
void cf__error_note_cause(const char *text);

/* Writes the saved cause and clears it. Returns 0 if there is none. */
int cf__error_take_cause(char *text, size_t size);

/* Makes the calling thread's details that begin with `function` name its `_async` form instead, until a call with
 * NULL. */
void cf__error_name_async(const char *function);

/* Returns the name that cf__error_name_async() set, or NULL. */
const char *cf__error_async_name(void);

/* Returns the number of the calling thread's failures so far. A step has failed if the number has changed. */
unsigned int cf__error_count(void);

/* The calling thread's detail, saved before a step that may fail without failing the call. */
struct cf__error {
    char detail[CF__DETAIL];
    int result; /* result of the driver */
    unsigned int failures;
    int is_quiet; /* nonzero if an outer cf__error_save() is in effect */
};

/* Saves the detail. The log gets no failures until the matching cf__error_restore() or cf__error_keep(). */
void cf__error_save(struct cf__error *error);

/* Discards the failures since cf__error_save(). */
void cf__error_restore(const struct cf__error *error);

/* Keeps the latest failure since cf__error_save(), if any, and reports it to the log. */
void cf__error_keep(const struct cf__error *error);

/* Copies the calling thread's detail, for example on a worker thread. Another thread then fails with it by
 * cf__fail_as(). */
void cf__error_copy(struct cf__error *error);
int cf__fail_as(int status, const struct cf__error *error);

#endif
