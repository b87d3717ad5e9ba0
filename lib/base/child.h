/* child.h - runs another program, with a time limit. */
#ifndef CF__CHILD_H
#define CF__CHILD_H

/* Runs the program at the path arguments[0], and waits for it. It has nothing to read, writes its texts to the new file
 * `log`, and makes temporary files in the folder `temporary`. It and its process group are ended if it takes longer
 * than `limit` milliseconds, or when it ends itself. `status` is that of waitpid(); -1: not known, because the process
 * ignores SIGCHLD or waits for any child. Returns 0, ETIMEDOUT, or the error for which the program did not start. */
int cf__child_run(char *const arguments[], const char *temporary, const char *log, int limit, int *status);

#endif
