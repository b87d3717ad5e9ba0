/* crash.h - on a signal that would end the process, such as that of a division by 0 on the CPU, names the running
 * kernel, or executes the program again so that it continues. */
#ifndef CRASH_H
#define CRASH_H

/* Exit status after the handler has printed its line. */
#define CRASH_STATUS 2

/* Installs handlers that print one line, except for signals that have a handler already, such as a sanitizer's. Kernels
 * do not run in a child process instead, because a GPU does not survive a fork, and a debugger would follow the wrong
 * process. */
void crash_watch(const char *program);

/* Sets the name of the running kernel and the end of the handler's line, `more`. Flushes standard output. If
 * `is_in_line`, standard output is within a line, which the handler ends first. */
void crash_expect(const char *kernel, const char *more, int is_in_line);

/* From now on, the handler prints no line; it executes the program again in the same process, with the arguments `argv`
 * and the environment variable VARIABLE="11:state", where 11 is the signal. `argv` must stay valid; the texts are
 * copied. Has no effect without a handler or without memory. */
void crash_go_on(char *const *argv, const char *variable, const char *state);

/* True if stdout and stderr are the same file or terminal, so that a message may appear in the middle of a line. */
int crash_shares_output(void);

/* Returns VARIABLE="00:state", with which another process can execute the program again if this one ends without a
 * signal; NULL if crash_go_on() has set nothing. */
const char *crash_next(void);

#endif
