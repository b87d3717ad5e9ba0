/* write.c - writes to files without raising a signal that would end the process. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/write.h"

static int write_all(int file, const char *bytes, size_t count, off_t at)
{
    while (count) {
        ssize_t done = pwrite(file, bytes, count, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        bytes += done;
        count -= (size_t)done;
        at += done;
    }
    return 0;
}

/* Removes the pending signal of a failed write from the calling thread before its handler can run. */
static void consume_signal(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    while (sigtimedwait(&one, NULL, &(struct timespec){0, 0}) < 0 && errno == EINTR)
        continue;
}

int cf__write(int file, const char *bytes, size_t count, off_t at)
{
    sigset_t fatal, before, pending;
    sigemptyset(&fatal);
    sigaddset(&fatal, SIGXFSZ); /* SIGXFSZ: the write exceeds RLIMIT_FSIZE */
    sigaddset(&fatal, SIGPIPE);
    sigemptyset(&pending);
    if (pthread_sigmask(SIG_BLOCK, &fatal, &before) != 0)
        return -1;
    (void)sigpending(&pending);
    int status = write_all(file, bytes, count, at), error = errno;
    int number = status == 0 ? 0 : error == EFBIG ? SIGXFSZ : error == EPIPE ? SIGPIPE : 0;
    if (number && !sigismember(&pending, number))
        consume_signal(number);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return status;
}
