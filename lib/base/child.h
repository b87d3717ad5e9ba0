/* child.h - runs another program, with a time limit. */
#ifndef CF__CHILD_H
#define CF__CHILD_H

/* Runs the program at the path arguments[0] and waits for it. Its input is empty, its output goes to the new file
 * `log`, its temporary files to the folder `temporary`. Its process group is killed after `limit` milliseconds, or when
 * the program ends. `status` is waitpid()'s; -1: unknown, because the process ignores SIGCHLD or waits for any child.
 * Returns 0, ETIMEDOUT, or the error that kept the program from starting. */
int cf__child_run(char *const arguments[], const char *temporary, const char *log, int limit, int *status);

#endif
