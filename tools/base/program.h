/* program.h - runs other programs, and passes signals on to them. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <limits.h>
#include <signal.h>

#include "base/message.h"

/* A signal that ends this process first ends the program that it waits for, so that the caller can remove its files.
 * program_release_signals() then lets the signal take effect, and reports it for the option `what`, such as
 * "--check=race"; NULL: it reports nothing. */
enum { PROGRAM_SIGNALS = 4 };
void program_catch_signals(struct sigaction old[PROGRAM_SIGNALS]);
void program_release_signals(const struct sigaction old[PROGRAM_SIGNALS], const char *what);

/* Returns the number of the caught signal, or 0. */
int program_signal(void);

enum program_output {
    PROGRAM_SHOWN,   /* all output goes to the user */
    PROGRAM_KEPT,    /* standard output goes to a text */
    PROGRAM_ALL_KEPT /* errors, too, also of the program's start */
};

/* Runs a program to its end; returns its status from waitpid(), or -1. The output that is kept goes to `text`, which
 * the caller frees. */
int program_run(const char *const argv[], enum program_output output, char **text);

/* Returns the output of a program of binutils, which the caller frees; NULL if it fails. */
char *program_output(const char *const argv[]);

/* Returns how a program ended, such as " was ended by signal 9 (Killed)"; "" if it ended by itself. */
const char *program_end_text(int status);

/* Stores the path of a program beside this one. Returns 0, or -1 with a message that begins with `what` needs it. */
int program_beside(const char *name, const char *what, char path[PATH_MAX], struct message *message);

/* Makes a folder for temporary files; its path has no symbolic links. Returns 0, or -1 with a message that begins with
 * `what` needs it. */
int program_make_folder(const char *what, char folder[PATH_MAX], struct message *message);

#endif
