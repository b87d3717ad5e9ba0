/* trace_file.c - the file that a trace goes to: its name, and that nobody else writes to it.
 *
 * Several may be told the same name: processes of a parallel job, or copies of the library in one process. The first to
 * open the file holds it by a lock of its open file description, which the kernel takes away however the process ends;
 * the others go to files of their own beside it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "trace.h"

enum { FILES = 1000 }; /* of one name */

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

/* The file, held; -1 with EAGAIN where it is somebody else's. */
static int claim(const char *path)
{
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

/* Whether what lies at `at` begins with `text`. */
static int holds(int descriptor, off_t at, const char *text, size_t length)
{
    char found[CF__TRACE_ARGS];
    return at >= 0 && length <= sizeof found && pread(descriptor, found, length, at) == (ssize_t)length &&
           memcmp(found, text, length) == 0;
}

/* Where a trace of this process, which is whole, goes on; 0 where the file is to be written anew, and is empty. */
static off_t resume(int descriptor, const struct cf__trace_frame *frame)
{
    size_t end = strlen(frame->end);
    struct stat found;
    if (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0)
        return 0;
    off_t at = found.st_size - (off_t)end;
    if (holds(descriptor, 0, frame->begin, strlen(frame->begin)) && holds(descriptor, at, frame->end, end))
        return at;
    return ftruncate(descriptor, 0) == 0 ? 0 : -1;
}

/* CF_TRACE with the process's number for each %p, and % for %%. */
static int expand(const char *name, char path[PATH_MAX], int *has_process)
{
    size_t length = 0;
    *has_process = 0;
    for (; *name && length < PATH_MAX; name++) {
        if (*name == '%' && name[1] == 'p') {
            length += (size_t)snprintf(path + length, PATH_MAX - length, "%d", (int)getpid());
            *has_process = 1;
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

/* The `number`-th name for a file that others hold: trace.json, trace.PID.json, trace.PID.2.json, ...; of one that has
 * the process's number already, trace.2.json, ... */
static int vary(const char *path, int number, int has_process, char varied[PATH_MAX])
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path, *suffix = strrchr(file, '.');
    char process[16] = "", count[16] = "";
    if (!suffix || suffix == file)
        suffix = file + strlen(file);
    if (number > 0 && !has_process)
        snprintf(process, sizeof process, ".%d", (int)getpid());
    if (number + has_process > 1)
        snprintf(count, sizeof count, ".%d", number + has_process);
    int length = snprintf(varied, PATH_MAX, "%.*s%s%s%s", (int)(suffix - path), path, process, count, suffix);
    return length < PATH_MAX ? 0 : -1;
}

int cf__trace_file(const char *name, const struct cf__trace_frame *frame, char path[PATH_MAX], off_t *at)
{
    char expanded[PATH_MAX];
    int has_process, descriptor = -1;
    snprintf(path, PATH_MAX, "%.64s...", name);
    errno = ENAMETOOLONG;
    if (expand(name, expanded, &has_process) != 0)
        return -1;
    errno = EAGAIN;
    for (int number = 0; descriptor < 0 && errno == EAGAIN && number < FILES; number++) {
        if (vary(expanded, number, has_process, path) != 0) {
            errno = ENAMETOOLONG;
            return -1;
        }
        descriptor = claim(path);
        if (descriptor < 0 || (*at = resume(descriptor, frame)) >= 0)
            continue;
        int error = errno;
        close(descriptor);
        descriptor = -1;
        errno = error;
    }
    if (descriptor >= 0 && strcmp(path, expanded) != 0)
        cf__log(CF_LOG_INFO, "CF_TRACE=%s: others write there: the trace goes to %s", expanded, path);
    return descriptor;
}
