/* error.h - details of failures: each thread has the text and the driver's result of its latest one. */
#ifndef CF__ERROR_H
#define CF__ERROR_H

#include <stddef.h>

#include "base/bounds.h"

/* Formats the calling thread's detail, reports it to the log and returns `status`. */
__attribute__((format(printf, 2, 3))) int cf__fail(int status, const char *format, ...);

/* The same with a complete text and a driver's result, which cf_last_driver_result() returns. */
int cf__fail_result(int status, int result, const char *text);

/* Puts "function: in " before the detail, after a failure inside of an operation; returns `status`. */
int cf__fail_within(const char *function, int status);

/* Keeps the cause of a failure of the CPU's driver for the calling thread's next detail. */
void cf__error_note_cause(const char *text);

/* Writes the cause and clears it. Returns 0 if there is none. */
int cf__error_take_cause(char *text, size_t size);

/* Until a call with NULL, the calling thread's details that begin with `function` name its `_async` form instead. */
void cf__error_name_async(const char *function);

/* Returns the name that cf__error_name_async() set, or NULL. */
const char *cf__error_async_name(void);

/* Returns how often the calling thread has failed. Callers compare two counts. */
unsigned int cf__error_count(void);

/* The calling thread's detail, saved around a step whose failure may not be a failure of the call. */
struct cf__error {
    char detail[CF__DETAIL];
    int result; /* of the driver */
    unsigned int failures;
    int is_quiet; /* an outer cf__error_save() is in effect */
};

/* Saves the detail. Until the matching restore or keep, failures do not reach the log. */
void cf__error_save(struct cf__error *error);

/* Forgets the failures since cf__error_save(). */
void cf__error_restore(const struct cf__error *error);

/* Keeps the latest failure since cf__error_save(), if there is one, and reports it to the log. */
void cf__error_keep(const struct cf__error *error);

/* A worker's failure: the worker copies its detail into `error`; the calling thread then fails with that detail. */
void cf__error_copy(struct cf__error *error);
int cf__fail_as(int status, const struct cf__error *error);

#endif
