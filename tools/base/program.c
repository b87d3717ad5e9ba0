/* program.c - runs other programs, and passes signals on to them. */
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t child;
static volatile sig_atomic_t caught;

static void pass_on(int number)
{
    caught = number;
    if (child > 0)
        (void)kill(child, number);
}

/* SIGPIPE is one of them, because a reader such as `head` ends this process by closing the pipe. */
static const int signals[PROGRAM_SIGNALS] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};

void program_catch_signals(struct sigaction old[PROGRAM_SIGNALS])
{
    struct sigaction action = {.sa_handler = pass_on};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < PROGRAM_SIGNALS; i++) {
        (void)sigaction(signals[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN)
            (void)sigaction(signals[i], &action, NULL);
    }
}

void program_release_signals(const struct sigaction old[PROGRAM_SIGNALS], const char *what)
{
    for (size_t i = 0; i < PROGRAM_SIGNALS; i++)
        (void)sigaction(signals[i], &old[i], NULL);
    if (!caught)
        return;
    fflush(stdout);
    if (what && caught != SIGPIPE)
        fprintf(stderr, "%s: %s: ended by signal %d (%s)\n", program_invocation_short_name, what, caught,
                strsignal(caught));
    (void)raise(caught);
}

int program_signal(void)
{
    return caught;
}

/* Executes the program in the child process, which must not outlive a parent that is killed without passing a signal
 * on. A signal that arrives before the new program runs ends the child. */
static void become(const char *const argv[], pid_t parent, const sigset_t *mask, int has_errors)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (size_t i = 0; i < PROGRAM_SIGNALS; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler == pass_on)
            (void)signal(signals[i], SIG_DFL);
    }
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    if (getppid() == parent)
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    if (has_errors)
        dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* Signals are blocked until `child` holds the process id, so that a signal to this process also reaches the child. */
static void start(const char *const argv[], enum program_output output, int pipe_end)
{
    sigset_t set, mask;
    const pid_t own = getpid();
    sigemptyset(&set);
    for (size_t i = 0; i < PROGRAM_SIGNALS; i++)
        sigaddset(&set, signals[i]);
    (void)fflush(stdout); /* print buffered text before the child's */
    (void)sigprocmask(SIG_BLOCK, &set, &mask);
    child = caught ? -1 : fork();
    if (child == 0) {
        if (output != PROGRAM_SHOWN)
            (void)dup2(pipe_end, STDOUT_FILENO);
        if (output == PROGRAM_ALL_KEPT)
            (void)dup2(pipe_end, STDERR_FILENO);
        become(argv, own, &mask, output == PROGRAM_ALL_KEPT);
    }
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void read_text(int pipe_end, char **text)
{
    size_t used = 0, room = 0;
    for (ssize_t got = 1; got > 0 || errno == EINTR;) {
        if (room - used < 4096) {
            char *larger = realloc(*text, room = 2 * room + 8192);
            if (!larger)
                break;
            *text = larger;
        }
        if ((got = read(pipe_end, *text + used, room - used - 1)) > 0)
            used += (size_t)got;
        else if (got == 0)
            break;
    }
    if (*text)
        (*text)[used] = 0;
}

int program_run(const char *const argv[], enum program_output output, char **text)
{
    int ends[2] = {-1, -1}, status = -1;
    struct sigaction old, usual = {.sa_handler = SIG_DFL};
    if (output != PROGRAM_SHOWN && pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    /* waitpid() returns no status while SIGCHLD is ignored. */
    (void)sigaction(SIGCHLD, &usual, &old);
    start(argv, output, ends[1]);
    if (output != PROGRAM_SHOWN) {
        (void)close(ends[1]);
        if (child > 0)
            read_text(ends[0], text);
        (void)close(ends[0]);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    child = 0;
    (void)sigaction(SIGCHLD, &old, NULL);
    return status;
}

const char *program_end_text(int status)
{
    static char text[100];
    if (status == -1)
        return " cannot be run";
    if (!WIFSIGNALED(status))
        return "";
    snprintf(text, sizeof text, " was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    return text;
}

int program_beside(const char *name, const char *what, char path[PATH_MAX], struct message *message)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    char *slash = strrchr(path, '/');
    if (!slash || slash - path > PATH_MAX - 16)
        return message_set(message, "%s: /proc/self/exe does not tell where %s is", what, name);
    strcpy(slash + 1, name);
    if (access(path, X_OK) == 0)
        return 0;
    return message_set(message, "%s: it needs the %s beside %s, and %s cannot be run: %s", what, name,
                       program_invocation_short_name, path, strerror(errno));
}

int program_make_folder(const char *what, char folder[PATH_MAX], struct message *message)
{
    const char *temporary = getenv("TMPDIR");
    temporary = temporary && *temporary ? temporary : "/tmp";
    int length = snprintf(folder, PATH_MAX, "%s/%s-XXXXXX", temporary, program_invocation_short_name);
    if (length >= PATH_MAX || !mkdtemp(folder)) {
        *folder = 0;
        return message_set(message, "%s: no folder can be made in %s: %s", what, temporary, strerror(errno));
    }
    char *real = realpath(folder, NULL); /* the loader records this path, and links could change later */
    if (real)
        snprintf(folder, PATH_MAX, "%s", real);
    free(real);
    return 0;
}

char *program_output(const char *const argv[])
{
    static int is_told;
    char *text = NULL;
    int status = program_run(argv, PROGRAM_KEPT, &text);
    if (status == 0 && text)
        return text;
    if (!is_told && WIFEXITED(status) && WEXITSTATUS(status) == 127) {
        is_told = 1;
        fprintf(stderr, "%s: %s, of binutils, cannot be run: lines and names are missing\n",
                program_invocation_short_name, argv[0]);
    }
    free(text);
    return NULL;
}
