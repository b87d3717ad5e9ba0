/* program.c - runs other programs for cf-run, and passes signals on to them. */
#include "watch/program.h"

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

/* Also SIGPIPE: a reader of the first lines alone ends this process. */
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

void program_release_signals(const struct sigaction old[PROGRAM_SIGNALS], const char *kind)
{
    for (size_t i = 0; i < PROGRAM_SIGNALS; i++)
        (void)sigaction(signals[i], &old[i], NULL);
    if (!caught)
        return;
    fflush(stdout);
    if (caught != SIGPIPE)
        fprintf(stderr, "cf-run: --check=%s: ended by signal %d (%s)\n", kind, caught, strsignal(caught));
    (void)raise(caught);
}

/* In the child process: it must not outlive a parent that was killed and could not pass the signal on. */
static void become(const char *const argv[], pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent)
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

int program_run(const char *const argv[], char **text)
{
    int ends[2] = {-1, -1}, status = -1;
    size_t used = 0, room = 0;
    if (text && pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    const pid_t own = getpid();
    (void)fflush(stdout); /* this text comes before the child's */
    child = caught ? -1 : fork();
    if (child == 0) {
        if (text)
            (void)dup2(ends[1], STDOUT_FILENO);
        become(argv, own);
    }
    if (text)
        (void)close(ends[1]);
    for (ssize_t got = 1; text && child > 0 && (got > 0 || errno == EINTR);) {
        if (room - used < 4096) {
            char *larger = realloc(*text, room = 2 * room + 8192);
            if (!larger)
                break;
            *text = larger;
        }
        if ((got = read(ends[0], *text + used, room - used - 1)) > 0)
            used += (size_t)got;
        else if (got == 0)
            break;
    }
    if (text && *text)
        (*text)[used] = 0;
    if (text)
        (void)close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    child = 0;
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

int program_beside(const char *name, char path[PATH_MAX], struct message *message)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    char *slash = strrchr(path, '/');
    if (!slash || slash - path > PATH_MAX - 16)
        return message_set(message, "--check: /proc/self/exe does not tell where %s is", name);
    strcpy(slash + 1, name);
    return access(path, X_OK) == 0
               ? 0
               : message_set(message, "--check needs the %s beside cf-run: %s: %s", name, path, strerror(errno));
}

char *program_output(const char *const argv[])
{
    static int is_told;
    char *text = NULL;
    int status = program_run(argv, &text);
    if (status == 0 && text)
        return text;
    if (!is_told && WIFEXITED(status) && WEXITSTATUS(status) == 127) {
        is_told = 1;
        fprintf(stderr, "cf-run: %s, of binutils, cannot be run: lines and names are missing\n", argv[0]);
    }
    free(text);
    return NULL;
}
