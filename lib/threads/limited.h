/* limited.h - runs work of other libraries that may take longer than a caller wants to wait. */
#ifndef CF__LIMITED_H
#define CF__LIMITED_H

/* Runs work(data) on a new thread and waits at most `limit` milliseconds. Returns 1 if the work is done. Returns 0 if
 * it continues: the thread then calls release(data) after the work, and the caller may no longer access `data`. If no
 * thread can be started, the calling thread does the work without a limit. */
int cf__limited_run(void (*work)(void *data), void (*release)(void *data), void *data, int limit);

/* Waits at most a minute for abandoned work, which may never end. A forked child has none. */
void cf__limited_wait(void);

#endif
