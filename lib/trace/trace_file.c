/* trace_file.c - opens the file of a trace and keeps other writers out of it.
 *
 * The writer holds a lock of its open file description. The kernel releases the lock however the process ends, so a file
 * without one has no living writer and may be overwritten. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace_file.h"

/* Not one of the three that programs write to by number, should these be closed. Nothing here waits for a reader. */
static int open_file(const char *path, int flags)
{
    int opened = open(path, flags | O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (opened < 0 || opened > STDERR_FILENO)
        return opened;
    int moved = fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(opened);
    errno = error;
    return moved;
}

/* A lock of the process would be shared by copies of the library in it, and lost where one of them closes its file.
 * Where the file system has no locks, whoever makes the file holds it. */
static int lock(int descriptor, int is_new)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat found;
    if (fstat(descriptor, &found) != 0)
        return -1;
    if (!S_ISREG(found.st_mode) || fcntl(descriptor, F_OFD_SETLK, &whole) == 0)
        return 0;
    if (errno != EAGAIN && errno != EACCES && is_new)
        return 0;
    errno = EAGAIN;
    return -1;
}

/* CF_TRACE with the process's number for each %p, and % for %%. */
static int expand(const char *name, char path[PATH_MAX])
{
    size_t length = 0;
    for (; *name && length < PATH_MAX; name++) {
        if (*name == '%' && name[1] == 'p') {
            length += (size_t)snprintf(path + length, PATH_MAX - length, "%d", (int)getpid());
            name++;
            continue;
        }
        name += *name == '%' && name[1] == '%';
        path[length++] = *name;
    }
    if (length >= PATH_MAX)
        return -1;
    path[length] = 0;
    return 0;
}

int cf__trace_file(const char *name, char path[PATH_MAX])
{
    if (expand(name, path) != 0) {
        snprintf(path, PATH_MAX, "%.64s...", name);
        errno = ENAMETOOLONG;
        return -1;
    }
    int is_new = 1, descriptor = open_file(path, O_EXCL);
    if (descriptor < 0 && errno == EEXIST) {
        is_new = 0;
        descriptor = open_file(path, 0);
    }
    if (descriptor < 0 || lock(descriptor, is_new) == 0)
        return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}
