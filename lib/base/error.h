/* error.h - details of failures. */
#include "base/bounds.h"
#ifndef CF__ERROR_H
#define CF__ERROR_H

#include <stddef.h>

/* Keep the calling thread's detail and return `status`. */
__attribute__((format(printf, 2, 3))) int cf__fail(int status, const char *format, ...);

/* The same with a driver's result, which cf_last_driver_result() returns, and a whole text. */
int cf__fail_result(int status, int result, const char *text);

/* The cause of the CPU driver's failure, for the next message of the calling thread; take it away: 0 if there is none. */
void cf__note_cause(const char *text);
int cf__take_cause(char *text, size_t size);

/* Has details of the calling thread that begin with the name of an entry point name its `_async` form; NULL ends
 * that. */
void cf__name_async(const char *function);
const char *cf__named_async(void); /* that name */

/* How often something has failed on the calling thread, to be compared. */
unsigned int cf__failures(void);

/* Puts "function: in " in front of the detail, for what failed within; returns `status`. */
int cf__fail_within(const char *function, int status);

/* What the calling thread's detail says, around what may fail without being a failure of the call: meanwhile no failure
 * is told to the log. One of the two ends that: as if nothing had failed, or with what has failed last, which is told
 * then. */
struct cf__error {
    char detail[CF__DETAIL];
    int result; /* of the driver */
    unsigned int failures;
    int is_quiet; /* it is within another one */
};
void cf__error_save(struct cf__error *error);
void cf__error_restore(const struct cf__error *error);
void cf__error_keep(const struct cf__error *error);

/* A failure of one thread that another one tells: taken on the first, kept as its own and told by the second. */
void cf__error_take(struct cf__error *error);
int cf__fail_as(int status, const struct cf__error *error);

#endif
