/* cache.c - looks up compiled programs in a folder, and stores them there.
 *
 * An entry's file has a head, the image, the log, the names, the state and path of each header, and a checksum. The
 * name of the file is the checksum of everything else that determines the program. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/program.h>

#include "program/cache.h"

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/trust.h"
#include "program/cache_folder.h"
#include "program/headers.h"

/* A program to be stored. */
struct entry {
    const char *path; /* path of the folder */
    int folder;       /* descriptor of the folder */
    int lock;         /* descriptor of the lock; -1: the folder's file system has no locks */
    int is_kept;      /* 0 if the program will not be stored */
    char key[CF__CACHE_NAME + 1];
    struct timespec began; /* time before the compilation, by the clock of file systems */
    struct cf__headers headers;
};

/* The first bytes of each entry. The number at the end changes with the format. */
#define MAGIC "cuferry program 2"

struct head {
    char magic[24], key[CF__CACHE_NAME];                        /* `key` reveals a file that was renamed */
    uint64_t image_bytes, log_bytes, names_bytes, header_count; /* sizes and counts; log_bytes is 0 without a log */
};

/* ---- The key ---- */

static void add_texts(struct cf__sha256 *sum, const char *const *texts)
{
    for (; texts && *texts; texts++)
        cf__sha256_add_text(sum, *texts);
    cf__sha256_add_text(sum, NULL);
}

/* Adds the resolved path of `path`, because a relative path depends on the current folder. */
static void add_place(struct cf__sha256 *sum, const char *path)
{
    char real[PATH_MAX];
    cf__sha256_add_text(sum, realpath(path, real) ? real : NULL);
}

/* Returns 1 if the source may have an #include, whose file is searched for in the source's folder. */
static int may_include(const char *source)
{
    static const char *const words[] = {"include", "import", "embed", "\\\n", "\\\r", "\\ ", "?\?"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(source, words[i]))
            return 1;
    return 0;
}

/* Adds the folders in which files are searched for or which relative names refer to. */
static void add_places(struct cf__sha256 *sum, const struct cf__request *request, const char *toolkit)
{
    const cf_program_options *options = request->options;
    for (const char *const *folder = options->include_folders; folder && *folder; folder++)
        add_place(sum, *folder);
    add_place(sum, toolkit);
    if (request->source && may_include(request->source)) {
        char folder[PATH_MAX];
        const char *slash = strrchr(request->name, '/');
        snprintf(folder, sizeof folder, "%.*s.", slash ? (int)(slash + 1 - request->name) : 0, request->name);
        add_place(sum, folder);
    }
    if (options->flags && *options->flags)
        add_place(sum, ".");
}

/* Makes the key of a request. The compiler or linker is represented by its file's name and state instead of its
 * version, because loading the library would take longer than a cache hit should. */
static void make_key(const struct cf__request *request, const char *library, const char *toolkit,
                     char key[CF__CACHE_NAME + 1])
{
    const cf_program_options *options = request->options;
    struct cf__sha256 sum;
    struct stat info = {0};
    unsigned char digest[CF__SHA256_BYTES];
    (void)stat(library, &info);
    const int64_t numbers[] = {info.st_size,
                               (int64_t)info.st_dev,
                               (int64_t)info.st_ino,
                               info.st_ctim.tv_sec,
                               info.st_ctim.tv_nsec,
                               CF_VERSION,
                               options->is_exact,
                               options->is_lto,
                               request->capability,
                               request->output,
                               (int64_t)request->input_count};
    cf__sha256_begin(&sum);
    cf__sha256_add(&sum, numbers, sizeof numbers);
    cf__sha256_add_text(&sum, MAGIC);
    cf__sha256_add_text(&sum, library);
    cf__sha256_add_text(&sum, toolkit);
    cf__sha256_add_text(&sum, cf__env_file("NVRTC_APPEND_FLAGS"));
    cf__sha256_add_text(&sum, request->tools);
    cf__sha256_add_text(&sum, request->source);
    cf__sha256_add_text(&sum, request->name);
    cf__sha256_add_text(&sum, options->precompiled);
    add_places(&sum, request, toolkit);
    add_texts(&sum, options->include_folders);
    add_texts(&sum, options->definitions);
    add_texts(&sum, options->names);
    add_texts(&sum, options->flags);
    add_texts(&sum, options->link_flags);
    for (const cf_program_header *header = options->headers; header && header->name; header++) {
        cf__sha256_add_text(&sum, header->name);
        cf__sha256_add_text(&sum, header->text);
    }
    for (size_t i = 0; i < request->input_count; i++) {
        const uint64_t size = request->inputs[i].size;
        cf__sha256_add_text(&sum, request->inputs[i].name);
        cf__sha256_add(&sum, &size, sizeof size);
        cf__sha256_add(&sum, request->inputs[i].data, size);
    }
    cf__sha256_end(&sum, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(key + 2 * i, 3, "%02x", digest[i]);
}

/* ---- Reading ---- */

/* Reads the file of an entry. Returns NULL if the file is missing or damaged, or if another user can have written
 * it. */
static char *read_entry(const struct entry *entry, struct head *head)
{
    unsigned char digest[CF__SHA256_BYTES];
    size_t total = 0;
    int own = cf__trust_open_file(entry->folder, entry->key), error = errno;
    char *file = own >= 0 ? cf__file_load_open(own, &total) : NULL;
    if (own >= 0)
        close(own);
    if (own < 0 && error == EPERM) {
        cf__log(CF_LOG_INFO,
                "%s/%s belongs to another user, or others can write to it: it is removed, and the program is compiled "
                "again",
                entry->path, entry->key);
        (void)unlinkat(entry->folder, entry->key, 0);
    }
    if (!file)
        return NULL;
    if (total >= sizeof *head + sizeof digest) {
        memcpy(head, file, sizeof *head);
        cf__sha256_of(file, total - sizeof digest, digest);
        if (strncmp(head->magic, MAGIC, sizeof head->magic) == 0 &&
            memcmp(head->key, entry->key, sizeof head->key) == 0 &&
            memcmp(file + total - sizeof digest, digest, sizeof digest) == 0)
            return file;
    }
    cf__log(CF_LOG_INFO, "%s/%s is damaged, and the program is compiled again", entry->path, entry->key);
    free(file);
    return NULL;
}

/* Returns 1 if the headers of an entry, listed at `at`, are unchanged. The checksum has been verified, so the list is
 * well-formed. */
static int are_headers_unchanged(const char *at, uint64_t count)
{
    struct cf__header_state state;
    int result = 1;
    for (uint64_t i = 0; i < count && result; i++) {
        const char *path = at + sizeof state;
        memcpy(&state, at, sizeof state);
        result = cf__header_is_unchanged(path, &state);
        at = path + strlen(path) + 1;
    }
    return result;
}

/* Copies bytes, and appends a zero byte. */
static char *copy_part(const char **at, uint64_t bytes)
{
    char *copy = bytes ? calloc(bytes + 1, 1) : NULL;
    if (copy)
        memcpy(copy, *at, bytes);
    *at += bytes;
    return copy;
}

/* Fills `compiled` and returns 1 if the folder has the program. */
static int look_up(const struct entry *entry, struct cf__compiled *compiled)
{
    struct head head;
    char *file = read_entry(entry, &head);
    const char *at = file ? file + sizeof head : NULL;
    int is_hit =
        file && are_headers_unchanged(at + head.image_bytes + head.log_bytes + head.names_bytes, head.header_count);
    if (is_hit) {
        *compiled = (struct cf__compiled){.bytes = head.image_bytes, .names_bytes = head.names_bytes};
        compiled->image = copy_part(&at, head.image_bytes);
        compiled->log = copy_part(&at, head.log_bytes);
        compiled->names = copy_part(&at, head.names_bytes);
        is_hit = compiled->image && (compiled->log || !head.log_bytes) && (compiled->names || !head.names_bytes);
        if (!is_hit)
            cf__compiled_free(compiled);
    }
    free(file);
    return is_hit;
}

/* ---- Writing ---- */

static char *put_bytes(char *to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
    return to + bytes;
}

/* Builds an entry's file in memory. */
static char *make_entry(const struct entry *entry, const struct cf__compiled *compiled, size_t *total)
{
    const struct cf__headers *headers = &entry->headers;
    struct head head = {.magic = MAGIC,
                        .image_bytes = compiled->bytes,
                        .log_bytes = compiled->log ? strlen(compiled->log) + 1 : 0,
                        .names_bytes = compiled->names_bytes,
                        .header_count = headers->count};
    unsigned char digest[CF__SHA256_BYTES];
    memcpy(head.key, entry->key, sizeof head.key);
    *total = sizeof head + sizeof digest + head.image_bytes + head.log_bytes + head.names_bytes;
    for (size_t i = 0; i < headers->count; i++)
        *total += sizeof headers->list[i].state + strlen(headers->list[i].path) + 1;
    char *file = malloc(*total);
    if (!file)
        return NULL;
    char *at = put_bytes(file, &head, sizeof head);
    at = put_bytes(at, compiled->image, head.image_bytes);
    at = put_bytes(at, compiled->log, head.log_bytes);
    at = put_bytes(at, compiled->names, head.names_bytes);
    for (size_t i = 0; i < headers->count; i++) {
        const struct cf__header *header = &headers->list[i];
        at = put_bytes(at, &header->state, sizeof header->state);
        at = put_bytes(at, header->path, strlen(header->path) + 1);
    }
    cf__sha256_of(file, *total - sizeof digest, digest);
    memcpy(at, digest, sizeof digest);
    return file;
}

static void store_entry(const struct entry *entry, const struct cf__compiled *compiled)
{
    size_t total;
    char *file = make_entry(entry, compiled, &total);
    if (!file || !cf__file_replace(entry->folder, entry->key, file, total))
        cf__log(CF_LOG_INFO, "a compiled program is not kept in %s: %s", entry->path,
                file ? cf__strerror(errno) : "there is no memory");
    else
        cf__cache_folder_trim(entry->folder);
    free(file);
}

/* ---- The steps of a compilation ---- */

static void lock_entry(struct entry *entry)
{
    char name[CF__CACHE_NAME + 8];
    snprintf(name, sizeof name, "%s.lock", entry->key);
    entry->lock = cf__file_lock(entry->folder, name);
    if (entry->lock >= 0)
        cf__lock_taken(); /* log lines are delayed */
    else
        cf__log(CF_LOG_INFO, "%s/%s: %s; other processes may compile the same program", entry->path, name,
                cf__strerror(errno));
}

static void unlock_entry(struct entry *entry)
{
    char name[CF__CACHE_NAME + 8];
    if (entry->lock < 0)
        return;
    snprintf(name, sizeof name, "%s.lock", entry->key);
    (void)unlinkat(entry->folder, name, 0);
    (void)flock(entry->lock, LOCK_UN); /* close() alone would not unlock the file while a forked child has it open */
    close(entry->lock);
    entry->lock = -1;
    cf__lock_given_back();
}

/* Returns 1 if a flag may add headers. */
static int may_flags_add_headers(const struct cf__request *request)
{
    static const char *const parts[] = {"include", "pch", "optf", "options-file"};
    const char *appended = cf__env_file("NVRTC_APPEND_FLAGS");
    for (const char *const *flag = request->options->flags; flag && *flag; flag++) {
        if (strncmp(*flag, "-I", 2) == 0)
            return 1;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (strstr(*flag, parts[i]))
                return 1;
    }
    return appended && *appended;
}

static void log_uncached(const struct cf__request *request, const char *why)
{
    cf__log(CF_LOG_INFO, "%s: %s is not cached: %s", request->function, request->name, why);
}

/* Collects the headers before NVRTC reads them; cfcc reports its headers afterwards. */
static void collect_headers(struct entry *entry, const struct cf__request *request, const char *toolkit)
{
    const char *why = !request->source || request->tools ? NULL
                      : may_flags_add_headers(request)   ? "a flag or a variable may add headers"
                                                         : cf__headers_collect(&entry->headers, request, toolkit);
    entry->is_kept = !why;
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &entry->began);
    if (why)
        log_uncached(request, why);
}

/* If the folder has the program, fills `compiled`. Otherwise `compiled` stays empty, and the caller calls end_entry()
 * after the compilation. Returns CF_OK in both cases, and another status on failure. */
static int begin_entry(struct entry *entry, const struct cf__request *request, const char *library, const char *toolkit,
                       struct cf__compiled *compiled)
{
    int status = cf__cache_folder_open(request->function, entry->path, 1, &entry->folder);
    if (status != CF_OK)
        return status;
    make_key(request, library, toolkit, entry->key);
    int is_hit = look_up(entry, compiled);
    if (!is_hit) {
        collect_headers(entry, request, toolkit);
        if (entry->is_kept) {
            lock_entry(entry);
            is_hit = look_up(entry, compiled); /* another process may have compiled the program meanwhile */
        }
    }
    if (is_hit) {
        unlock_entry(entry);
        cf__headers_free(&entry->headers);
        (void)utimensat(entry->folder, entry->key, NULL, AT_SYMLINK_NOFOLLOW);
    }
    cf__cache_folder_count(entry->folder, is_hit);
    if (is_hit)
        close(entry->folder);
    return CF_OK;
}

/* Stores the program unless `compiled` is NULL or a header has changed meanwhile. Then unlocks the entry for other
 * processes. */
static void end_entry(struct entry *entry, const struct cf__request *request, const struct cf__compiled *compiled)
{
    int is_known = compiled && entry->is_kept;
    const char *why = is_known && request->tools ? cf__headers_read(&entry->headers, compiled, &entry->began) : NULL;
    if (is_known && !why && (request->tools || cf__headers_are_unchanged(&entry->headers)))
        store_entry(entry, compiled);
    unlock_entry(entry);
    if (why)
        log_uncached(request, why);
    cf__headers_free(&entry->headers);
    close(entry->folder);
}

/* Compiles in the locale "C", so that numbers and messages do not depend on the caller's locale. */
static int make_plain(cf__maker *make, void *data, struct cf__compiled *compiled)
{
    struct cf__locale locale = cf__enter_c_locale();
    int status = make(data, compiled);
    cf__leave_c_locale(locale);
    return status;
}

int cf__cache_make(const struct cf__request *request, const char *library, const char *toolkit, cf__maker *make,
                   void *data, struct cf__compiled *compiled)
{
    const char *folder = request->options->cache ? request->options->cache : cf__env_file("CF_CACHE");
    if (!folder || !*folder)
        return make_plain(make, data, compiled);
    struct entry entry = {.path = folder, .folder = -1, .lock = -1};
    int status = begin_entry(&entry, request, library, toolkit, compiled);
    if (status != CF_OK || compiled->image)
        return status;
    status = make_plain(make, data, compiled);
    end_entry(&entry, request, status == CF_OK ? compiled : NULL);
    return status;
}
