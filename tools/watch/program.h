/* program.h - runs other programs for cf-run, and passes signals on to them. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>
#include <signal.h>

#include "base/message.h"

/* A signal that ends this process first ends the program that it waits for, so that the caller can remove its files.
 * program_release_signals() then lets the signal take effect; its message names the check `kind`. */
enum { PROGRAM_SIGNALS = 4 };
void program_catch_signals(struct sigaction old[PROGRAM_SIGNALS]);
void program_release_signals(const struct sigaction old[PROGRAM_SIGNALS], const char *kind);

/* Runs a program to its end; returns its status from waitpid(), or -1. Its standard output goes to `text`, which the
 * caller frees, if `text` is not NULL. */
int program_run(const char *const argv[], char **text);

/* Returns the output of a program of binutils, which the caller frees; NULL if it fails. */
char *program_output(const char *const argv[]);

/* Returns how a program ended, such as " was ended by signal 9 (Killed)"; "" if it ended by itself. */
const char *program_end_text(int status);

/* Stores the path of a program beside this one. Returns 0, or -1 with a message. */
int program_beside(const char *name, char path[PATH_MAX], struct message *message);

#endif
