/* files.c - reads whole files, and keeps small files in the user's cache folder for later processes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cuferry.h>

#include "base/files.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/error.h"
#include "base/write.h"

int cf__file_path(const char *variable, const char *name, char path[CF__PATH])
{
    const char *file = cf__env_file(variable), *cache = cf__env_file("XDG_CACHE_HOME"), *home = cf__env_file("HOME");
    int used;
    if (file && !*file)
        return 0;
    if (file)
        used = snprintf(path, CF__PATH, "%s", file);
    else if (cache && *cache == '/') /* the XDG standard ignores relative paths */
        used = snprintf(path, CF__PATH, "%s/cuferry/%s", cache, name);
    else if (home && *home == '/')
        used = snprintf(path, CF__PATH, "%s/.cache/cuferry/%s", home, name);
    else
        return 0;
    return used < CF__PATH;
}

int cf__file_copy_path(const char *function, const char *variable, const char *name, char *path, size_t size)
{
    char found[CF__PATH];
    if (!path)
        return cf__fail(CF_EINVAL, "%s: path is NULL", function);
    if (!cf__file_path(variable, name, found))
        return cf__fail(CF_ENOTSUP, "%s: %s is empty, or there is no folder for it", function, variable);
    if (strlen(found) >= size)
        return cf__fail(CF_EINVAL, "%s: the path has %zu bytes and there is room for %zu", function, strlen(found) + 1,
                        size);
    memcpy(path, found, strlen(found) + 1);
    return CF_OK;
}

void cf__file_make_folders(const char *path)
{
    char folder[CF__PATH];
    snprintf(folder, sizeof folder, "%s", path);
    char *last = strrchr(folder, '/');
    if (!last || last == folder)
        return;
    *last = 0;
    char *parent = strrchr(folder, '/');
    if (parent && parent != folder) {
        *parent = 0;
        (void)mkdir(folder, 0700);
        *parent = '/';
    }
    (void)mkdir(folder, 0700);
}

/* Opens a regular file. Returns a descriptor and the file's current size, or -1 with `errno`. */
static int open_regular(const char *path, size_t *size)
{
    struct stat status;
    /* O_NONBLOCK keeps open() from blocking on a pipe or a device. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return -1;
    int error = fstat(file, &status) == 0 ? 0 : errno;
    if (!error && !S_ISREG(status.st_mode))
        error = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    if (error) {
        close(file);
        return errno = error, -1;
    }
    *size = (size_t)status.st_size;
    return file;
}

/* Reads `size` bytes, or fewer if the file ends. Returns the number of bytes, or -1 with `errno`. */
static ssize_t read_all(int file, char *text, size_t size)
{
    size_t used = 0;
    while (used < size) {
        ssize_t got = read(file, text + used, size - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

ssize_t cf__file_read(const char *path, char *text, size_t size)
{
    size_t present;
    int file = open_regular(path, &present);
    if (file < 0)
        return -1;
    ssize_t used = read_all(file, text, size);
    int error = errno;
    close(file);
    errno = error;
    return used;
}

/* Reads until the end instead of trusting the file's size: the file may grow meanwhile, and files of /proc have size
 * 0. */
static char *load_all(int file, size_t room, size_t *size)
{
    char *text = NULL;
    size_t used = 0;
    for (;;) {
        char *longer = realloc(text, used + room + 1);
        ssize_t got = longer ? read_all(file, longer + used, room + 1) : -1;
        if (longer)
            text = longer;
        if (got < 0) {
            int error = longer ? errno : ENOMEM;
            free(text);
            return errno = error, NULL;
        }
        used += (size_t)got;
        if ((size_t)got <= room)
            break;
        room = used;
    }
    text[used] = 0;
    *size = used;
    return text;
}

char *cf__file_load_open(int file, size_t *size)
{
    struct stat info;
    return fstat(file, &info) == 0 ? load_all(file, (size_t)info.st_size, size) : NULL;
}

char *cf__file_load(const char *path, size_t *size)
{
    size_t room = 0;
    int file = open_regular(path, &room);
    char *text = file < 0 ? NULL : load_all(file, room, size);
    int error = errno;
    if (file >= 0)
        close(file);
    errno = error;
    return text;
}

/* Creates a temporary file in the folder of `name`, and writes its name. */
static int create_temporary(int folder, const char *name, char temporary[CF__PATH + 32])
{
    enum { TRIES = 100 };
    int file = -1;
    errno = EEXIST;
    for (int try = 0; try < TRIES && file < 0 && errno == EEXIST; try++) {
        snprintf(temporary, CF__PATH + 32, "%s.%06x", name, (unsigned)(cf__now() + getpid()) & 0xffffff);
        file = openat(folder, temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    return file;
}

int cf__file_replace(int folder, const char *name, const char *bytes, size_t count)
{
    char temporary[CF__PATH + 32];
    struct stat before;
    int file = create_temporary(folder, name, temporary);
    if (file < 0)
        return 0;
    if (fstatat(folder, name, &before, 0) == 0)
        (void)fchmod(file, before.st_mode & 0777);
    int is_written = cf__write(file, bytes, count, 0) == 0 && fsync(file) == 0, error = errno;
    if (close(file) != 0 && is_written) {
        is_written = 0;
        error = errno;
    }
    if (is_written && renameat(folder, temporary, folder, name) == 0)
        return 1;
    error = is_written ? errno : error;
    (void)unlinkat(folder, temporary, 0);
    return errno = error, 0;
}

int cf__file_resolve(const char *path, char real[PATH_MAX])
{
    enum { MOST_LINKS = 40 }; /* limit of the Linux kernel */
    char target[PATH_MAX];
    ssize_t length = 0;
    if (realpath(path, real))
        return 1;
    snprintf(real, PATH_MAX, "%s", path);
    for (int links = 0; links < MOST_LINKS && (length = readlink(real, target, sizeof target)) >= 0; links++) {
        const char *slash = *target == '/' ? NULL : strrchr(real, '/');
        size_t folder = slash ? (size_t)(slash + 1 - real) : 0;
        if (folder + (size_t)length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return 0;
        }
        memcpy(real + folder, target, (size_t)length);
        real[folder + (size_t)length] = 0;
    }
    if (length < 0)
        return 1;
    errno = ELOOP;
    return 0;
}

/* The previous owner of the lock removes the file before it unlocks it, so a lock is valid only if the name still leads
 * to the locked file. */
int cf__file_lock(int folder, const char *name)
{
    enum { TRIES = 100 }; /* bounds the loop, because some file systems never return equal inode numbers for one file */
    for (int try = 0; try < TRIES; try++) {
        struct stat held, named;
        int result, file = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (file < 0)
            return -1;
        while ((result = flock(file, LOCK_EX)) != 0 && errno == EINTR)
            continue;
        int error = errno;
        if (result == 0 && fstat(file, &held) == 0 && fstatat(folder, name, &named, 0) == 0 &&
            held.st_dev == named.st_dev && held.st_ino == named.st_ino)
            return file;
        close(file);
        errno = error;
        if (result != 0)
            return -1;
    }
    errno = ENOLCK;
    return -1;
}
