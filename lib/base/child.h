/* child.h - runs another program, with a time limit. */
#ifndef CF__CHILD_H
#define CF__CHILD_H

/* Runs the program arguments[0], with empty input, output to the new file `log` and temporary files in `temporary`.
 * Kills its process group after `limit` milliseconds or at the program's end. `status` is waitpid()'s, or -1 if this
 * process ignores SIGCHLD or waits for any child. Returns 0, ETIMEDOUT, or the error of a failed start. */
int cf__child_run(char *const arguments[], const char *temporary, const char *log, int limit, int *status);

#endif
