/* quiet.c - discards the standard output of a kernel's runs after the first. */
#include "base/quiet.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static volatile int output = -1; /* copy of the real standard output's descriptor; -1: output is not discarded */

void quiet_begin(void)
{
    (void)fflush(stdout);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int copy = nowhere < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (copy >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0)
        output = copy;
    else if (copy >= 0)
        (void)close(copy);
    if (nowhere >= 0)
        (void)close(nowhere);
}

void quiet_end(void)
{
    (void)fflush(stdout);
    if (output < 0)
        return;
    (void)dup2(output, STDOUT_FILENO);
    (void)close(output);
    output = -1;
}

int quiet_output(void)
{
    return output < 0 ? STDOUT_FILENO : output;
}
