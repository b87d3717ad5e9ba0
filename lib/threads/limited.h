/* limited.h - work of other libraries that may take longer than a caller waits. */
#ifndef CF__LIMITED_H
#define CF__LIMITED_H

/* Runs work(data) on a thread of its own and waits for it, at most `limit` milliseconds. Returns 1 if the work is done,
 * and 0 if it goes on: then the thread calls release(data) when it is done, and nobody else may touch `data`. If no
 * thread can be started, the calling thread does the work, whatever it takes. */
int cf__limited_run(void (*work)(void *data), void (*release)(void *data), void *data, int limit);

/* Waits for the work that goes on, at most a minute: it may never end. In a forked child there is none. */
void cf__limited_wait(void);

#endif
