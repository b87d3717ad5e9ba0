/* crash.c - names the running kernel when a signal ends the process. */
#include "base/crash.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/quiet.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A wild write may only abort a later free(). */
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

static const char *name; /* the program's name; NULL: no handler is installed */
static int is_in_line;
static char lines[COUNT(signals)][512]; /* text prepared in advance: a signal handler cannot format it */
static char stack[1 << 16];             /* the handler's stack: the thread's own may have overflowed */

/* Runs on any thread. A second thread that receives a signal waits for the end of the process. */
static void end(int number)
{
    static int has_begun;
    size_t i = 0;
    while (__atomic_exchange_n(&has_begun, 1, __ATOMIC_ACQ_REL))
        (void)pause();
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
