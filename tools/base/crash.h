/* crash.h - names the running kernel when a signal ends the process, as on a division by 0 on the CPU, or goes on after
 * it. */
#ifndef CRASH_H
#define CRASH_H

/* Exit status of a process that such a signal ends. */
#define CRASH_STATUS 2

/* Installs handlers that print one line, except for signals that have a handler already, such as a sanitizer's. The
 * process does not fork: a GPU does not survive a fork, and a debugger would follow the wrong process. */
void crash_watch(const char *program);

/* Sets the name of the running kernel; the line ends with `more`. Writes buffered standard output, and first ends its
 * last line if `is_in_line`. */
void crash_expect(const char *kernel, const char *more, int is_in_line);

/* From now on a signal executes the program anew, in the same process, with these arguments and the environment
 * variable VARIABLE="11:state", in place of the line. `variable` and `argv` stay the caller's and in place; copies of
 * `state` are taken. Without a handler, or without memory, it has no effect. */
void crash_go_on(char *const *argv, const char *variable, const char *state);

/* True if standard output and messages are one file or terminal, where a message may come in the middle of a line. */
int crash_shares_output(void);

/* The variable with 00 in place of the signal, for a program that is to go on after another end; NULL without one. */
const char *crash_next(void);

#endif
