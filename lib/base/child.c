/* child.c - runs another program, with a time limit, and leaves the signal handlers of the process alone. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"

#include "base/bounds.h"
#include "base/clock.h"
#include "base/env.h"

/* The child runs in its own process group, with the default signal handlers and no blocked signals, as if a shell had
 * started it. */
static int start_child(char *const arguments[], char *const environment[], posix_spawn_file_actions_t *files,
                       pid_t *child)
{
    posix_spawnattr_t attributes;
    sigset_t all, none;
    int error = posix_spawnattr_init(&attributes);
    if (error)
        return error;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    error = posix_spawn(child, arguments[0], files, &attributes, arguments, environment);
    (void)posix_spawnattr_destroy(&attributes);
    return error;
}

/* The output goes to a file, because another thread may fork meanwhile and its child would hold a pipe open. */
static int start_logged(char *const arguments[], char *const environment[], const char *log, pid_t *child)
{
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);
    if (error)
        return error;
    error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    if (!error)
        error = start_child(arguments, environment, &files, child);
    (void)posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Waits at most `limit` milliseconds without collecting the status. Returns 1 if the child has ended, 0 if it still
 * runs, and -1 if another part of the process has collected the status. */
static int await_end(pid_t child, int limit)
{
    const struct timespec pause = {0, 2000000};
    const int64_t deadline = cf__now() + (int64_t)limit * 1000000;
    for (;;) {
        siginfo_t info = {.si_pid = 0};
        if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
            return -1;
        if (info.si_pid != 0 || cf__now() >= deadline)
            return info.si_pid != 0;
        (void)nanosleep(&pause, NULL);
    }
}

int cf__child_run(char *const arguments[], const char *temporary, const char *log, int limit, int *status)
{
    enum { GRACE = 2000 }; /* time in milliseconds for the program to end its own children */
    char setting[CF__PATH + 16];
    pid_t child, collected;
    snprintf(setting, sizeof setting, "TMPDIR=%s", temporary);
    char **environment = cf__env_with(setting);
    int error = environment ? start_logged(arguments, environment, log, &child) : ENOMEM;
    free(environment);
    if (error)
        return error;
    int result = await_end(child, limit), is_late = result == 0;
    if (is_late) {
        (void)kill(-child, SIGTERM);
        result = await_end(child, GRACE);
    }
    if (result >= 0) /* the kernel does not reuse the process's number before the status is collected */
        (void)kill(-child, SIGKILL);
    while ((collected = waitpid(child, status, 0)) < 0 && errno == EINTR)
        continue;
    if (collected < 0)
        *status = -1;
    return is_late ? ETIMEDOUT : 0;
}
