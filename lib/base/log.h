/* log.h - reports lines to the callback of cf_set_log(). */
#ifndef CF__LOG_H
#define CF__LOG_H

extern int cf__logging; /* nonzero if cf_set_log() has set a callback; atomic */
__attribute__((format(printf, 2, 3))) void cf__log_line(int level, const char *format, ...);

/* Passes one line to the callback of cf_set_log(), if any. */
#define cf__log(...) (__atomic_load_n(&cf__logging, __ATOMIC_RELAXED) ? cf__log_line(__VA_ARGS__) : (void)0)

/* Returns 1 while the calling thread is inside the callback. Functions that would change the state of the surrounding
 * call fail there. Returns 0 in a child that the callback forks, because that call does not continue in the child. */
int cf__log_is_inside(void);

/* cf__log_lock() takes the log's lock before a fork. */
void cf__log_lock(void);
void cf__log_unlock(void);

/* Discards the delayed lines in a forked child. */
void cf__log_forget(void);

#endif
