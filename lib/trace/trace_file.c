/* trace_file.c - opens the file of a trace and keeps other writers out of it.
 *
 * The writer locks its open file description. However the process ends, the kernel releases the lock. So an unlocked
 * file has no living writer, and may be overwritten. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace_file.h"

/* Opens a file. The descriptor is above the three standard ones, because programs write to those even after closing
 * them. With O_NONBLOCK, writing to a full pipe fails instead of waiting for a reader. */
static int open_file(const char *path, int flags)
{
    int opened = open(path, flags | O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (opened < 0 || opened > STDERR_FILENO)
        return opened;
    int file = fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(opened);
    errno = error;
    return file;
}

/* Locks the open file description. A lock of the process would be shared by all copies of the library in the process,
 * and lost when one of them closes the file. On a file system without locks, the writer that created the file owns
 * it. */
static int lock_file(int descriptor, int is_new)
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

/* Expands the file's name: %p becomes the number of the process, and %% becomes %. */
static int expand_name(const char *name, char path[PATH_MAX])
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

int cf__trace_open_file(const char *name, char path[PATH_MAX])
{
    if (expand_name(name, path) != 0) {
        snprintf(path, PATH_MAX, "%.64s...", name);
        errno = ENAMETOOLONG;
        return -1;
    }
    int is_new = 1, descriptor = open_file(path, O_EXCL);
    if (descriptor < 0 && errno == EEXIST) {
        is_new = 0;
        descriptor = open_file(path, 0);
    }
    if (descriptor < 0 || lock_file(descriptor, is_new) == 0)
        return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}
