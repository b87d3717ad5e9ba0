/* log.h - lines for the callback of cf_set_log(). */
#ifndef CF__LOG_H
#define CF__LOG_H

extern int cf__logging; /* cf_set_log() has set a callback; atomic */
__attribute__((format(printf, 2, 3))) void cf__log_line(int level, const char *format, ...);

/* Passes one line to the callback of cf_set_log(), if there is one. */
#define cf__log(...) (__atomic_load_n(&cf__logging, __ATOMIC_RELAXED) ? cf__log_line(__VA_ARGS__) : (void)0)

/* Returns 1 while the calling thread is inside the callback, where functions fail that would change the state of the
 * call around it. Returns 0 in a child that the callback forks, because that call does not go on there. */
int cf__log_is_inside(void);

/* The log's lock, for fork. */
void cf__log_lock(void);
void cf__log_unlock(void);

/* Drops the waiting lines in a forked child. */
void cf__log_forget(void);

#endif
