/* crash.c - on a signal that would end the process, names the running kernel, or executes the program again. */
#include "base/crash.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/quiet.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* SIGABRT is one of them because a wild write may be noticed only by a later free(), which aborts. */
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

static const char *name; /* the program's name; NULL: no handler is installed */
static int is_in_line;
static char lines[COUNT(signals)][512]; /* text prepared in advance: a signal handler cannot format it */
static char stack[1 << 16];             /* the handler's stack: the thread's own may have overflowed */

/* Arguments and environment for executing this program again, prepared in advance, too. */
static char *const *arguments; /* NULL: print a line and end */
static char **variables, *variable;
static size_t digits; /* index of the signal's two digits in the variable's text */

/* Returns only if the program cannot be executed. */
static void go_on(int number)
{
    sigset_t none;
    sigemptyset(&none);
    variable[digits] = (char)('0' + number / 10);
    variable[digits + 1] = (char)('0' + number % 10);
    (void)dup2(quiet_output(), STDOUT_FILENO);
    (void)sigprocmask(SIG_SETMASK, &none, NULL); /* execve() keeps the mask, which blocks signals in a handler */
    (void)execve("/proc/self/exe", arguments, variables);
}

/* The signal handler, which runs on any thread. A second thread that receives a signal waits for the end of the
 * process. */
static void end(int number)
{
    static int has_begun;
    size_t i = 0;
    while (__atomic_exchange_n(&has_begun, 1, __ATOMIC_ACQ_REL))
        (void)pause();
    if (arguments)
        go_on(number);
    while (i + 1 < COUNT(signals) && signals[i] != number)
        i++;
    ssize_t put = is_in_line ? write(quiet_output(), "\n", 1) : 0;
    put += write(STDERR_FILENO, lines[i], strlen(lines[i]));
    (void)put; /* a failed write cannot be reported */
    _exit(CRASH_STATUS);
}

void crash_watch(const char *program)
{
    const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = end, .sa_flags = SA_ONSTACK}, old;
    stack_t given;
    name = program;
    sigfillset(&action.sa_mask);
    if (sigaltstack(NULL, &given) == 0 && given.ss_flags & SS_DISABLE)
        (void)sigaltstack(&own, NULL);
    for (size_t i = 0; i < COUNT(signals); i++)
        if (sigaction(signals[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
            (void)sigaction(signals[i], &action, NULL);
}

void crash_expect(const char *kernel, const char *more, int in_line)
{
    if (!name)
        return;
    (void)fflush(stdout);
    is_in_line = in_line;
    for (size_t i = 0; i < COUNT(signals); i++)
        snprintf(lines[i], sizeof lines[i], "%s: %.200s: the run was ended by signal %d (%s)%s\n", name, kernel,
                 signals[i], strsignal(signals[i]), more);
}

void crash_go_on(char *const *argv, const char *called, const char *state)
{
    size_t count = 0, used = 0;
    arguments = NULL;
    free(variables);
    free(variable);
    while (environ[count])
        count++;
    variables = calloc(count + 2, sizeof *variables);
    variable = malloc(strlen(called) + strlen(state) + 5);
    if (!name || !variables || !variable)
        return;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], called, strlen(called)) != 0 || environ[i][strlen(called)] != '=')
            variables[used++] = environ[i];
    variables[used] = variable;
    digits = (size_t)sprintf(variable, "%s=", called);
    sprintf(variable + digits, "00:%s", state);
    arguments = argv;
}

int crash_shares_output(void)
{
    struct stat table, messages;
    return fstat(quiet_output(), &table) == 0 && fstat(STDERR_FILENO, &messages) == 0 &&
           table.st_dev == messages.st_dev && table.st_ino == messages.st_ino;
}

const char *crash_next(void)
{
    return arguments ? variable : NULL;
}
