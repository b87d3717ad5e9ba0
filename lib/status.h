/* status.h - what failed: the detail of a failure, and the log. */
#ifndef CF__STATUS_H
#define CF__STATUS_H

#include <cuferry.h>
#include <cuferry/registry.h>

#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>

#include "driver.h"

/* ---- text.c ---- */

struct cf__locale {
    locale_t plain; /* 0: there was no memory for it, and the thread's own one stands */
    locale_t before;
};

/* Has the calling thread run in the locale "C" until the second is given the first one's value. */
struct cf__locale cf__enter_c_locale(void);
void cf__leave_c_locale(struct cf__locale locale);

/* snprintf(), vsnprintf() and strerror() in the locale "C": all texts of the library that may hold numbers with a fraction
 * or the system's words are made with them. */
__attribute__((format(printf, 3, 4))) int cf__format(char *text, size_t size, const char *format, ...);
__attribute__((format(printf, 3, 0))) int cf__vformat(char *text, size_t size, const char *format, va_list values);
const char *cf__strerror(int error);

/* ---- Locks ---- */

/* All of the library's, but that of log.c: a thread that holds one tells the log nothing until it has given the last one
 * back. The callback may fork, which takes them all, and may take its time. */
extern _Thread_local struct cf__lock_state {
    int locks;
    int has_lines; /* that wait to be told */
} cf__held;

static inline void cf__lock(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    cf__held.locks++;
}

static inline int cf__trylock(pthread_mutex_t *lock)
{
    int is_taken = pthread_mutex_trylock(lock) == 0;
    cf__held.locks += is_taken;
    return is_taken;
}

void cf__log_waiting(void); /* tells the lines */

static inline void cf__unlock(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    if (--cf__held.locks == 0 && cf__held.has_lines)
        cf__log_waiting();
}

/* ---- error.c ---- */

/* Bytes of the longest detail. */
#define CF__DETAIL 768

/* Keep the calling thread's detail and return `status`. */
__attribute__((format(printf, 2, 3))) int cf__fail(int status, const char *format, ...);

/* The status that a driver's result stands for. */
int cf__status_of(CUresult result);

/* What the CPU driver's failure that is told next came of. */
void cf__note_cause(const char *text);

/* The same for a driver call: adds the call, the driver's name for the result and its text; maps it to a status. */
__attribute__((format(printf, 4, 5))) int cf__fail_driver(const struct cf__driver *driver, CUresult result,
                                                          const char *call, const char *format, ...);

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
    CUresult result;
    unsigned int failures;
    int is_quiet; /* it is within another one */
};
void cf__error_save(struct cf__error *error);
void cf__error_restore(const struct cf__error *error);
void cf__error_keep(const struct cf__error *error);

/* A failure of one thread that another one tells: taken on the first, kept as its own and told by the second. */
void cf__error_take(struct cf__error *error);
int cf__fail_as(int status, const struct cf__error *error);

/* ---- log.c ---- */

/* One line for the callback of cf_set_log(), if there is one. */
extern int cf__logging; /* 1 where there is one; atomic */
__attribute__((format(printf, 2, 3))) void cf__log_line(int level, const char *format, ...);
#define cf__log(...) (__atomic_load_n(&cf__logging, __ATOMIC_RELAXED) ? cf__log_line(__VA_ARGS__) : (void)0)

/* 1 while the calling thread is in the callback: functions that it calls there in spite of the rules fail where they would
 * change what the call around it uses. 0 in a child that was forked there, for which that call is over. */
int cf__log_is_inside(void);

/* Its lock, for fork; and in a child. */
void cf__log_lock(void);
void cf__log_unlock(void);
void cf__log_forget(void);

#endif
