/* program.h - runs other programs, and passes signals on to them. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>
#include <signal.h>

#include "base/message.h"

/* A signal that ends this process first ends the program that it waits for, so that the caller can remove its files.
 * program_release_signals() then lets the signal take effect, and reports that it ended the option `what`, such as
 * "--check=race"; NULL: reports nothing. */
enum { PROGRAM_SIGNALS = 4 };
void program_catch_signals(struct sigaction old[PROGRAM_SIGNALS]);
void program_release_signals(const struct sigaction old[PROGRAM_SIGNALS], const char *what);

/* Returns the number of the caught signal, or 0. */
int program_signal(void);

enum program_output {
    PROGRAM_SHOWN,   /* all output goes to the user */
    PROGRAM_KEPT,    /* standard output is returned as a text */
    PROGRAM_ALL_KEPT /* standard error, too, and the error if the program cannot start */
};

/* Runs a program to its end. Returns its status from waitpid(), or -1. Stores the kept output in `*text`, which the
 * caller frees. */
int program_run(const char *const argv[], enum program_output output, char **text);

/* Returns the output of a program of binutils, which the caller frees; NULL if it fails. */
char *program_output(const char *const argv[]);

/* Returns a text about a program's end, such as " was ended by signal 9 (Killed)"; "" if it exited by itself. */
const char *program_end_text(int status);

/* Stores the path of a program in the folder of this one. Returns 0, or -1 with a message that says that `what` needs
 * it. */
int program_beside(const char *name, const char *what, char path[PATH_MAX], struct message *message);

/* Makes a folder for temporary files; its path has no symbolic links. Returns 0, or -1 with a message that says that
 * `what` needs it. */
int program_make_folder(const char *what, char folder[PATH_MAX], struct message *message);

#endif
