/* trust.c - checks that no other user can have written a folder or file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/trust.h"

#include "base/text.h"

enum { FLAGS = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* In some user namespaces, the files of root appear to belong to another user, who also owns /. Files of other users
 * may appear under the same number, so this owner is accepted only for the folders above. */
static int has_trusted_owner(const struct stat *info, int is_above)
{
    struct stat top;
    return info->st_uid == geteuid() || info->st_uid == 0 ||
           (is_above && stat("/", &top) == 0 && info->st_uid == top.st_uid);
}

/* A folder above may be sticky, because nobody can rename another user's files in it. */
static int has_trusted_mode(const struct stat *info, int is_above)
{
    return !(info->st_mode & (S_IWGRP | S_IWOTH)) || (is_above && (info->st_mode & S_ISVTX));
}

/* Returns 1 if the folder is trusted, and otherwise writes the reason. The text does not advise to change the owner or
 * mode: files that others have already put into the folder would then be trusted. */
static int check_folder(int folder, const char *path, int length, int is_above, char why[CF__DETAIL])
{
    struct stat info;
    if (fstat(folder, &info) != 0)
        snprintf(why, CF__DETAIL, "%s", cf__strerror(errno));
    else if (!has_trusted_owner(&info, is_above))
        snprintf(why, CF__DETAIL, "%.*s belongs to user %u, and not to user %u of this process; use another folder",
                 length, path, (unsigned)info.st_uid, (unsigned)geteuid());
    else if (!has_trusted_mode(&info, is_above))
        snprintf(why, CF__DETAIL, "other users can write to %.*s, whose mode is %04o; use another folder", length, path,
                 (unsigned)info.st_mode & 07777);
    else
        return 1;
    return 0;
}

/* Resolves `path` to an absolute path without symbolic links. The last folders of `path` may be missing. Returns 0 with
 * `errno` on failure. */
static int resolve(const char *path, char *real, size_t size)
{
    char there[CF__PATH];
    size_t end = strlen(path);
    for (;;) {
        if (end >= sizeof there)
            return errno = ENAMETOOLONG, 0;
        snprintf(there, sizeof there, "%.*s", (int)end, path);
        if (realpath(end ? there : ".", real))
            break;
        if (errno != ENOENT || end == 0)
            return 0;
        while (end > 0 && path[end - 1] == '/')
            end--;
        while (end > 0 && path[end - 1] != '/')
            end--;
    }
    size_t used = strlen(real);
    const char *separator = path[end] && real[used - 1] != '/' ? "/" : "";
    if (snprintf(real + used, size - used, "%s%s", separator, path + end) < (int)(size - used))
        return 1;
    return errno = ENAMETOOLONG, 0;
}

static int open_or_make(int folder, const char *name, int flags, int is_made)
{
    int next = openat(folder, name, flags);
    if (next >= 0 || errno != ENOENT || !is_made)
        return next;
    /* Another process may create the folder first. */
    return mkdirat(folder, name, 0700) == 0 || errno == EEXIST ? openat(folder, name, flags) : -1;
}

/* Opens the folders of an absolute path from / downwards. */
static int walk(const char *real, int is_made, char why[CF__DETAIL])
{
    int folder = open("/", FLAGS | O_PATH);
    const char *word = real + 1;
    while (folder >= 0 && *word) {
        char name[NAME_MAX + 1];
        size_t length = strcspn(word, "/");
        const char *next = word + length + strspn(word + length, "/");
        if (!check_folder(folder, real, (int)(word > real + 1 ? word - real - 1 : 1), 1, why)) {
            close(folder);
            return -1;
        }
        int here = folder;
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        folder = length <= NAME_MAX ? open_or_make(here, name, FLAGS | (*next ? O_PATH : O_RDONLY), is_made) : -1;
        int error = length <= NAME_MAX ? errno : ENAMETOOLONG;
        close(here);
        errno = error;
        word = next;
    }
    if (folder < 0)
        snprintf(why, CF__DETAIL, "%s", cf__strerror(errno));
    return folder;
}

int cf__trust_open_folder(const char *path, int is_made, char why[CF__DETAIL])
{
    char real[PATH_MAX];
    if (!resolve(path, real, sizeof real)) {
        snprintf(why, CF__DETAIL, "%s", cf__strerror(errno));
        return -1;
    }
    int folder = walk(real, is_made, why);
    if (folder < 0 || check_folder(folder, real, (int)strlen(real), 0, why))
        return folder;
    close(folder);
    return -1;
}

/* O_NONBLOCK keeps open() from blocking on a pipe or a device. */
int cf__trust_open_file(int folder, const char *name)
{
    struct stat info;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0)
        return -1;
    int error = fstat(file, &info) != 0                                       ? errno
                : !S_ISREG(info.st_mode)                                      ? EINVAL
                : !has_trusted_owner(&info, 0) || !has_trusted_mode(&info, 0) ? EPERM
                                                                              : 0;
    if (!error)
        return file;
    close(file);
    return errno = error, -1;
}
