/* cache_folder.c - manages the folder of compiled programs: its owner, its counts and its size. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/program.h>

#include "program/cache_folder.h"

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/trust.h"

/* Files beside the entries. The numbers of hits and misses are the sizes of two of them, in bytes. The cap is stored as
 * a decimal number. */
#define HITS "hits"
#define MISSES "misses"
#define CAP "cap"

int cf__cache_folder_open(const char *function, const char *path, int is_made, int *folder)
{
    char why[CF__DETAIL];
    *folder = cf__trust_open_folder(path, is_made, why);
    if (*folder < 0)
        return cf__fail(CF_EINVAL, "%s: the cache folder %s: %s", function, path, why);
    if (faccessat(*folder, ".", R_OK | W_OK | X_OK, AT_EACCESS) == 0)
        return CF_OK;
    int error = errno;
    close(*folder);
    *folder = -1;
    return cf__fail(CF_EINVAL, "%s: the cache folder %s cannot be written: %s", function, path, cf__strerror(error));
}

/* ---- Hits and misses ---- */

/* Counts a hit or a miss by appending one byte, so that many processes can count at the same time. */
void cf__cache_folder_count(int folder, int is_hit)
{
    int file = openat(folder, is_hit ? HITS : MISSES,
                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0)
        return;
    if (write(file, "+", 1) < 0)
        errno = 0; /* after a failure, the count is one too low */
    close(file);
}

static uint64_t read_count(int folder, const char *name)
{
    struct stat info;
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)info.st_size : 0;
}

static uint64_t read_cap(int folder)
{
    char text[32] = "";
    int file = cf__trust_open_file(folder, CAP);
    ssize_t got = file >= 0 ? pread(file, text, sizeof text - 1, 0) : 0;
    if (file >= 0)
        close(file);
    return got > 0 ? strtoull(text, NULL, 10) : CF_CACHE_CAP;
}

/* ---- Entries ---- */

struct entry {
    char name[CF__CACHE_NAME + 1];
    uint64_t bytes;
    struct timespec used; /* last use */
};

struct listing {
    struct entry *entries;
    size_t count, room;
    uint64_t bytes;
    int error; /* 0 if the list is complete, else an errno */
};

static void add_entry(struct listing *listing, const char *name, const struct stat *info)
{
    if (listing->count == listing->room) {
        size_t room = listing->room ? 2 * listing->room : 64;
        struct entry *entries = realloc(listing->entries, room * sizeof *entries);
        if (!entries) {
            listing->error = ENOMEM;
            return;
        }
        listing->entries = entries;
        listing->room = room;
    }
    struct entry *entry = &listing->entries[listing->count++];
    memcpy(entry->name, name, sizeof entry->name);
    entry->bytes = (uint64_t)info->st_size;
    entry->used = info->st_mtim;
    listing->bytes += entry->bytes;
}

/* Removes a file that a dead process has left. A lock file that is still locked stays. It may be removed while a living
 * process is about to lock it, because that process then checks whether the file still exists. */
static void remove_left_file(int folder, const char *name, int is_lock)
{
    int file = is_lock ? openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (!is_lock || flock(file, LOCK_EX | LOCK_NB) == 0)
        (void)unlinkat(folder, name, 0);
    close(file); /* if the file could not be opened, close() and flock() fail without an effect */
}

/* Lists the entries, and removes the files of processes that died while writing one. */
static void list_entries(struct listing *listing, int folder)
{
    enum { LEFT_BEHIND = 3600 };                                       /* age of such files in seconds */
    int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* closedir() also closes this descriptor */
    DIR *stream = own >= 0 ? fdopendir(own) : NULL;
    const struct dirent *item;
    listing->error = stream ? 0 : errno;
    if (own >= 0 && !stream)
        close(own);
    while (stream && (errno = 0, item = readdir(stream)) != NULL) {
        struct stat info;
        size_t digits = strspn(item->d_name, "0123456789abcdef");
        if (digits != CF__CACHE_NAME || fstatat(dirfd(stream), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (!item->d_name[digits])
            add_entry(listing, item->d_name, &info);
        else if (info.st_mtime + LEFT_BEHIND < time(NULL))
            remove_left_file(dirfd(stream), item->d_name, strcmp(item->d_name + digits, ".lock") == 0);
    }
    if (!stream)
        return;
    listing->error = listing->error ? listing->error : errno;
    closedir(stream);
}

static int compare_use(const void *one, const void *other)
{
    const struct entry *a = one, *b = other;
    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

/* Returns 0 or an errno. */
static int remove_file(int folder, const char *name)
{
    return unlinkat(folder, name, 0) == 0 || errno == ENOENT ? 0 : errno;
}

/* Removes entries until the folder is within `cap`. With a cap of 0, also removes empty entries. Returns 0; if the list
 * of entries is not complete, removes nothing and returns an errno. */
static int remove_down_to(int folder, uint64_t cap)
{
    struct listing listing = {0};
    list_entries(&listing, folder);
    int error = listing.error;
    if (listing.count)
        qsort(listing.entries, listing.count, sizeof *listing.entries, compare_use);
    for (size_t i = 0; !listing.error && i < listing.count && (listing.bytes > cap || cap == 0); i++) {
        int kept = remove_file(folder, listing.entries[i].name);
        if (!kept)
            listing.bytes -= listing.entries[i].bytes;
        error = error ? error : kept;
    }
    free(listing.entries);
    return error;
}

void cf__cache_folder_trim(int folder)
{
    (void)remove_down_to(folder, read_cap(folder)); /* a failure is ignored, because the next store tries again */
}

/* ---- Public functions ---- */

/* Returns CF_OK if `error` is 0. */
static int fail_unless_done(const char *function, const char *path, int error)
{
    if (error == ENOMEM)
        return cf__fail(CF_ENOMEM, "%s: there is no memory for the list of the entries", function);
    return error ? cf__fail(CF_EINVAL, "%s: the cache folder %s: %s", function, path, cf__strerror(error)) : CF_OK;
}

/* Opens the folder. If `path` points to NULL, the path of CF_CACHE is stored there. The caller closes the
 * descriptor. */
static int open_folder(const char *function, const char **path, int *folder)
{
    if (!*path)
        *path = cf__env_file("CF_CACHE");
    if (!*path || !**path)
        return cf__fail(CF_EINVAL, "%s: folder is NULL, and CF_CACHE names none", function);
    return cf__cache_folder_open(function, *path, 0, folder);
}

int cf_cache_query(const char *folder, cf_cache_state *state)
{
    int file;
    if (!state)
        return cf__fail(CF_EINVAL, "cf_cache_query: state is NULL");
    int status = open_folder("cf_cache_query", &folder, &file);
    if (status != CF_OK)
        return status;
    struct listing listing = {0};
    list_entries(&listing, file);
    free(listing.entries);
    status = fail_unless_done("cf_cache_query", folder, listing.error);
    if (status == CF_OK)
        *state = (cf_cache_state){.bytes = listing.bytes,
                                  .entries = listing.count,
                                  .hits = read_count(file, HITS),
                                  .misses = read_count(file, MISSES),
                                  .cap = read_cap(file)};
    close(file);
    return status;
}

int cf_cache_clear(const char *folder)
{
    int file, status = open_folder("cf_cache_clear", &folder, &file);
    if (status != CF_OK)
        return status;
    int error = remove_down_to(file, 0);
    error = error ? error : remove_file(file, HITS);
    error = error ? error : remove_file(file, MISSES);
    close(file);
    return fail_unless_done("cf_cache_clear", folder, error);
}

int cf_cache_cap(const char *folder, uint64_t bytes)
{
    char text[32];
    int file, status = open_folder("cf_cache_cap", &folder, &file);
    if (status != CF_OK)
        return status;
    size_t length = (size_t)snprintf(text, sizeof text, "%" PRIu64 "\n", bytes);
    int error = cf__file_replace(file, CAP, text, length) ? remove_down_to(file, bytes) : errno;
    close(file);
    return fail_unless_done("cf_cache_cap", folder, error);
}
