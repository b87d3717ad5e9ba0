/* file.c - writes complete files, and removes folders. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limit of one write(): Linux writes at most 2 GiB. */
#define CHUNK ((size_t)1 << 30)

struct parts {
    const struct file_part *list;
    size_t count;
};

static int write_all(int fd, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        size_t part = size - done < CHUNK ? size - done : CHUNK;
        ssize_t put = write(fd, (const char *)data + done, part);
        if (put < 0 && errno != EINTR)
            return -1;
        done += put > 0 ? (size_t)put : 0;
    }
    return 0;
}

/* Writes all parts and closes `fd` in every case. Returns -1 with errno on failure. */
static int write_parts(int fd, const struct parts *parts)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < parts->count; i++)
        status = write_all(fd, parts->list[i].data, parts->list[i].bytes);
    int error = errno;
    if (close(fd) != 0 && status == 0)
        return -1;
    errno = error;
    return status;
}

/* Writes a temporary file in the target's folder and renames it. Returns -1 with errno on failure. */
static int replace(const char *target, mode_t mode, const struct parts *parts)
{
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash + 1 - target) : 0;
    size_t size = (size_t)folder + 64;
    char *temporary = malloc(size);
    if (!temporary)
        return -1;
    int fd = -1;
    for (int try = 0; fd < 0 && try < 100; try++) {
        snprintf(temporary, size, "%.*s.cf-%ld-%d.tmp", folder, target, (long)getpid(), try);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    int status = fd < 0 ? -1 : 0;
    if (status == 0) {
        if (mode)
            (void)fchmod(fd, mode); /* may fail on a file system without modes; the file is good anyway */
        status = write_parts(fd, parts);
        if (status == 0)
            status = rename(temporary, target);
        int error = errno;
        if (status != 0)
            (void)unlink(temporary);
        errno = error;
    }
    int error = errno;
    free(temporary);
    errno = error;
    return status;
}

int file_write(const char *path, const struct file_part *list, size_t count, struct message *message)
{
    const struct parts parts = {list, count};
    struct stat info;
    int exists = stat(path, &info) == 0, status = -1;
    if (exists && !S_ISREG(info.st_mode)) {
        int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK); /* fails for a pipe without a reader */
        if (fd >= 0)
            (void)fcntl(fd, F_SETFL, 0);
        status = fd < 0 ? -1 : write_parts(fd, &parts);
    } else {
        char *target = exists ? realpath(path, NULL) : NULL; /* replace the link's target, not the link */
        if (target ? access(target, W_OK) == 0 : !exists)
            status = replace(target ? target : path, exists ? info.st_mode & 07777 : 0, &parts);
        int error = errno;
        free(target);
        errno = error;
    }
    if (status == 0)
        return 0;
    int is_unread = errno == ENXIO && exists && S_ISFIFO(info.st_mode);
    return message_set(message, "%s: %s", path, is_unread ? "nobody reads this pipe" : strerror(errno));
}

int file_open(const char *path, struct message *message)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    /* open() fails with ENXIO for a socket; stat() then tells what is there. */
    int error = (fd < 0 && errno != ENXIO) || (fd < 0 ? stat(path, &info) : fstat(fd, &info)) != 0 ? errno : 0;
    if (fd >= 0 && !error && S_ISREG(info.st_mode))
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return error ? message_set(message, "%s: %s", path, strerror(error))
                 : message_set(message, "%s: it is %s, not a file", path,
                               S_ISDIR(info.st_mode)    ? "a folder"
                               : S_ISFIFO(info.st_mode) ? "a pipe"
                               : S_ISSOCK(info.st_mode) ? "a socket"
                                                        : "a device");
}

/* Returns 1 if a file can be created in the folder of a path. */
static int check_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
    int status = folder ? access(folder, W_OK | X_OK) : -1, error = errno;
    free(folder);
    errno = error;
    return status;
}

int file_check(const char *path, struct message *message)
{
    struct stat info;
    int status = -1, exists = stat(path, &info) == 0;
    if (!exists && (errno != ENOENT || !*path)) {
        status = -1;
    } else if (exists && (S_ISDIR(info.st_mode) || S_ISSOCK(info.st_mode))) {
        return message_set(message, "%s: it is %s, not a file", path, S_ISDIR(info.st_mode) ? "a folder" : "a socket");
    } else if (exists && access(path, W_OK) != 0) {
        status = -1;
    } else if (exists && !S_ISREG(info.st_mode)) {
        status = 0;
    } else {
        char *target = exists ? realpath(path, NULL) : NULL;
        status = check_folder(target ? target : path);
        int error = errno;
        free(target);
        errno = error;
    }
    return status == 0 ? 0 : message_set(message, "%s: %s", path, strerror(errno));
}

void file_remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        (void)closedir(folder);
    (void)rmdir(path);
}
