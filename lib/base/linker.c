/* linker.c - finds a library as the dynamic linker would, without loading it: loading a large library takes 40 ms. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/linker.h"

#include "base/files.h"

int cf__linker_is_cut_off(const char *path)
{
    ElfW(Ehdr) head;
    ElfW(Phdr) segment;
    struct stat info;
    int result = 0, file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return 0;
    if (fstat(file, &info) == 0 && pread(file, &head, sizeof head, 0) == (ssize_t)sizeof head &&
        memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_phentsize == sizeof segment)
        for (size_t i = 0; i < head.e_phnum && !result; i++)
            result = pread(file, &segment, sizeof segment, (off_t)(head.e_phoff + i * sizeof segment)) ==
                         (ssize_t)sizeof segment &&
                     segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > (size_t)info.st_size;
    close(file);
    return result;
}

#ifdef __GLIBC__

/* The linker's cache (glibc 2.2 and newer) has a header, the entries and their strings. */
#define LINKER_CACHE "/etc/ld.so.cache"
#define MAGIC "glibc-ld.so.cache1.1"
#if defined __aarch64__
#define LIBRARY_KIND 0x0a03 /* entry kind for this processor architecture and glibc */
#else
#define LIBRARY_KIND 0x0303
#endif

struct cache_head {
    char magic[sizeof MAGIC - 1];
    uint32_t count, text_bytes, unused[5];
};

struct cache_entry {
    int32_t kind;
    uint32_t name, path; /* offsets of the strings, counted from the header */
    uint32_t system;
    uint64_t processor; /* nonzero: the library needs certain processor features */
};

static int copy_if_readable(const char *found, char path[CF__PATH])
{
    return access(found, R_OK) == 0 && snprintf(path, CF__PATH, "%s", found) < CF__PATH;
}

/* Default folders are /lib, /usr/lib64, /lib/x86_64-linux-gnu and the like. */
static int is_default_folder(const char *folder)
{
    folder += strncmp(folder, "/usr", 4) == 0 ? 4 : 0;
    const char *slash = *folder ? strchr(folder + 1, '/') : NULL;
    return strncmp(folder, "/lib", 4) == 0 && (!slash || (strstr(slash, "-linux-gnu") && !strchr(slash + 1, '/')));
}

/* The list ends with the default folders, each of them once. LD_LIBRARY_PATH may name default folders too, which then
 * come earlier. */
static int count_other_folders(const Dl_serinfo *folders)
{
    int first = (int)folders->dls_cnt, is_new = 1;
    while (first > 0 && is_default_folder(folders->dls_serpath[first - 1].dls_name)) {
        for (int i = first; i < (int)folders->dls_cnt && is_new; i++)
            is_new = strcmp(folders->dls_serpath[first - 1].dls_name, folders->dls_serpath[i].dls_name) != 0;
        if (!is_new)
            break;
        first--;
    }
    return first;
}

/* Searches the default folders if `is_default`, and the folders before them otherwise. The linker searches its cache
 * between these two groups. */
static int find_in_folders(void *program, const char *name, int is_default, char path[CF__PATH])
{
    Dl_serinfo size, *folders;
    char file[CF__PATH];
    int is_found = 0;
    if (dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0)
        return 0;
    folders = malloc(size.dls_size);
    if (!folders)
        return -1;
    *folders = size;
    int count = dlinfo(program, RTLD_DI_SERINFO, folders) == 0 ? (int)folders->dls_cnt : 0;
    int others = count ? count_other_folders(folders) : 0, end = is_default ? count : others;
    for (int i = is_default ? others : 0; i < end && !is_found; i++)
        is_found = snprintf(file, sizeof file, "%s/%s", folders->dls_serpath[i].dls_name, name) < (int)sizeof file &&
                   copy_if_readable(file, path);
    free(folders);
    return is_found;
}

/* Searches the `bytes` bytes of the cache file, which are followed by a zero byte. The header may come after a cache in
 * the older format. */
static int find_in_text(const char *text, size_t bytes, const char *name, char path[CF__PATH])
{
    struct cache_head head;
    struct cache_entry entry;
    const char *begin = memmem(text, bytes, MAGIC, sizeof MAGIC - 1);
    size_t left = begin ? bytes - (size_t)(begin - text) : 0;
    if (left < sizeof head)
        return 0;
    memcpy(&head, begin, sizeof head);
    for (size_t i = 0; i < head.count && (i + 1) * sizeof entry <= left - sizeof head; i++) {
        memcpy(&entry, begin + sizeof head + i * sizeof entry, sizeof entry);
        if (entry.kind == LIBRARY_KIND && !entry.processor && entry.name < left && entry.path < left &&
            strcmp(begin + entry.name, name) == 0 && copy_if_readable(begin + entry.path, path))
            return 1;
    }
    return 0;
}

static int find_in_cache(const char *name, char path[CF__PATH])
{
    struct stat info;
    if (stat(LINKER_CACHE, &info) != 0 || info.st_size <= 0)
        return 0;
    char *text = calloc((size_t)info.st_size + 1, 1);
    if (!text)
        return -1;
    ssize_t bytes = cf__file_read(LINKER_CACHE, text, (size_t)info.st_size);
    int is_found = bytes > 0 && find_in_text(text, (size_t)bytes, name, path);
    free(text);
    return is_found;
}

int cf__linker_find(const char *name, char path[CF__PATH])
{
    void *program = dlopen(NULL, RTLD_NOW); /* dlopen() fails in a static program */
    if (!program)
        return 0;
    int is_found = find_in_folders(program, name, 0, path);
    if (!is_found)
        is_found = find_in_cache(name, path);
    if (!is_found)
        is_found = find_in_folders(program, name, 1, path);
    dlclose(program);
    return is_found;
}

#else

int cf__linker_find(const char *name, char path[CF__PATH])
{
    (void)name, (void)path;
    return 0;
}

#endif
