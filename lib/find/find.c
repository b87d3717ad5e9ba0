/* find.c - finds the parts of CUDA: in toolkits, in Python environments, and in the dynamic linker's folders. */
#include <glob.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/find.h>

#include "find/find.h"

#include "base/bounds.h"
#include "base/files.h"
#include "base/env.h"
#include "base/error.h"
#include "base/linker.h"
#include "driver/driver_cuda.h"

enum { NEWEST_MAJOR = 13, MAJORS = 2 };

/* Versions in each library's file names, in CUDA 13 and in CUDA 12. */
static const struct part {
    const char *name, *library;
    int versions[MAJORS];
} parts[] = {{"libcuda", "libcuda.so", {1, 1}},          {"nvrtc", "libnvrtc.so", {13, 12}},
             {"nvJitLink", "libnvJitLink.so", {13, 12}}, {"nccl", "libnccl.so", {2, 2}},
             {"cudart", "libcudart.so", {13, 12}},       {"cublas", "libcublas.so", {13, 12}},
             {"cusparse", "libcusparse.so", {12, 12}}};

struct search {
    const struct part *part;
    int is_driver; /* 1 for libcuda, which belongs to no toolkit */
    int is_short_of_memory;
    const char *header;           /* header to find; NULL: find the library */
    char files[MAJORS][64];       /* names of the file, best first, up to an empty name */
    char *path;                   /* path that was found, CF__PATH bytes */
    char tried[CF__DETAIL - 140]; /* list of the places that were searched without success */
};

__attribute__((format(printf, 2, 3))) static void note_tried(struct search *search, const char *format, ...)
{
    size_t used = strlen(search->tried);
    va_list values;
    va_start(values, format);
    used += (size_t)snprintf(search->tried + used, sizeof search->tried - used, "%s", used ? ", " : "");
    if (used < sizeof search->tried)
        vsnprintf(search->tried + used, sizeof search->tried - used, format, values);
    va_end(values);
}

/* ---- Folders ---- */

/* Writes a glob() pattern that matches only this folder's name. */
static void escape_pattern(char pattern[CF__PATH], const char *folder)
{
    size_t used = 0;
    for (; *folder && used + 2 < CF__PATH; folder++) {
        if (strchr("*?[]\\", *folder))
            pattern[used++] = '\\';
        pattern[used++] = *folder;
    }
    pattern[used] = 0;
}

/* Stores the path of the file, or for a header the path of its folder. */
static int take_path(struct search *search, const char *path)
{
    size_t length = strlen(path) - (search->header ? strlen(search->header) + 1 : 0);
    if (length >= CF__PATH || access(path, R_OK) != 0)
        return 0;
    memcpy(search->path, path, length);
    search->path[length] = 0;
    return 1;
}

/* Searches the folders that match a pattern; if several have the file, takes the one with the highest version. */
static int try_pattern(struct search *search, const char *folders)
{
    char pattern[CF__PATH + sizeof search->files[0]];
    int is_found = 0;
    for (int i = 0; i < MAJORS && *search->files[i] && !is_found; i++) {
        glob_t found = {0};
        const char *best = NULL;
        snprintf(pattern, sizeof pattern, "%s/%s", folders, search->files[i]);
        int result = glob(pattern, GLOB_NOSORT, NULL, &found);
        search->is_short_of_memory |= result == GLOB_NOSPACE;
        if (result == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                if (!best || strverscmp(found.gl_pathv[k], best) > 0)
                    best = found.gl_pathv[k];
        is_found = best && take_path(search, best);
        globfree(&found);
    }
    return is_found;
}

/* Searches a toolkit's folder, which is given as a pattern. */
static int try_toolkit(struct search *search, const char *home)
{
    static const char *const libraries[] = {"lib64", "lib", CF__TARGET_FOLDER "/lib"}, *const headers[] = {
                                                                                           "include", CF__TARGET_FOLDER
                                                                                           "/include"};
    const char *const *below = search->header ? headers : libraries;
    size_t count = search->header ? sizeof headers / sizeof *headers : sizeof libraries / sizeof *libraries;
    char folder[CF__PATH];
    for (size_t i = 0; i < count; i++)
        if (snprintf(folder, sizeof folder, "%s/%s", home, below[i]) < (int)sizeof folder &&
            try_pattern(search, folder))
            return 1;
    note_tried(search, search->header ? "%s/{include,%s}" : "%s/{lib64,lib,%s}", home,
               search->header ? CF__TARGET_FOLDER "/include" : CF__TARGET_FOLDER "/lib");
    return 0;
}

static int try_variable(struct search *search, const char *variable,
                        int (*try)(struct search *search, const char *home))
{
    const char *value = cf__env_file(variable);
    char pattern[CF__PATH];
    if (!value || !*value)
        return 0;
    escape_pattern(pattern, value);
    return try(search, pattern);
}

static int try_wheels(struct search *search, const char *environment)
{
    char folders[CF__PATH];
    if (snprintf(folders, sizeof folders, "%s/lib/python*/site-packages/nvidia/*/%s", environment,
                 search->header ? "include" : "lib") >= (int)sizeof folders)
        return 0;
    if (try_pattern(search, folders))
        return 1;
    note_tried(search, "%s", folders);
    return 0;
}

/* ---- Libraries of the process, and of the dynamic linker ---- */

struct loaded {
    struct search *search;
    const char *file;
};

static int check_object(struct dl_phdr_info *object, size_t size, void *data)
{
    const struct loaded *loaded = data;
    const char *slash = strrchr(object->dlpi_name, '/');
    size_t length = strlen(loaded->file);
    (void)size;
    return slash && strncmp(slash + 1, loaded->file, length) == 0 && (!slash[1 + length] || slash[1 + length] == '.') &&
           take_path(loaded->search, object->dlpi_name);
}

static int try_loaded(struct search *search)
{
    if (search->header)
        return 0;
    int is_found = 0;
    cf__driver_search_lock();
    for (int i = 0; !is_found && i < MAJORS && *search->files[i]; i++)
        is_found = dl_iterate_phdr(check_object, &(struct loaded){search, search->files[i]});
    cf__driver_search_unlock();
    if (is_found)
        return 1;
    note_tried(search, "the loaded libraries");
    return 0;
}

static int try_linker(struct search *search)
{
    char path[CF__PATH];
    if (search->header)
        return try_pattern(search, "/usr/local/include") || try_pattern(search, "/usr/include") ||
               (note_tried(search, "/usr/local/include, /usr/include"), 0);
    for (int i = 0; i < MAJORS && *search->files[i]; i++) {
        int is_found = cf__linker_find(search->files[i], path);
        search->is_short_of_memory |= is_found < 0;
        if (is_found > 0 && take_path(search, path))
            return 1;
    }
    note_tried(search, "the dynamic linker's folders");
    return 0;
}

/* ---- The search ---- */

static int try_all(struct search *search)
{
    if (search->is_driver)
        return try_loaded(search) || try_linker(search);
    return try_variable(search, "CF_CUDA_HOME", try_toolkit) || try_loaded(search) ||
           try_variable(search, "VIRTUAL_ENV", try_wheels) || try_variable(search, "CONDA_PREFIX", try_wheels) ||
           try_variable(search, "CONDA_PREFIX", try_toolkit) || try_linker(search) ||
           try_variable(search, "CUDA_HOME", try_toolkit) || try_variable(search, "CUDA_PATH", try_toolkit) ||
           try_toolkit(search, "/usr/local/cuda") || try_toolkit(search, "/usr/local/cuda-*");
}

static int find_part(const char *function, const char *name, struct search *search)
{
    static const char *const headers[] = {
#define HEADER(library, header) header,
        CF_PART_LIST(HEADER)
#undef HEADER
    };
    _Static_assert(sizeof headers / sizeof *headers == sizeof parts / sizeof *parts, "both list the same parts");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, name) == 0 || strcmp(headers[i], name) == 0) {
            search->part = &parts[i];
            search->header = strcmp(headers[i], name) == 0 ? headers[i] : NULL;
            search->is_driver = i == 0 && !search->header;
            return CF_OK;
        }
#define NAMES(library, header) ", " library ", " header
    return cf__fail(CF_EINVAL, "%s: '%s' is no part of CUDA; the parts are%s", function, name,
                    &(CF_PART_LIST(NAMES))[1]);
#undef NAMES
}

static void name_files(struct search *search, int most_major)
{
    int used = 0;
    for (int i = 0; i < MAJORS; i++) {
        if (search->header) {
            snprintf(search->files[used++], sizeof search->files[0], "%s", search->header);
            return;
        }
        int is_new =
            NEWEST_MAJOR - i <= most_major && (!used || search->part->versions[i] != search->part->versions[0]);
        if (is_new)
            snprintf(search->files[used++], sizeof search->files[0], "%s.%d", search->part->library,
                     search->part->versions[i]);
    }
}

int cf__find_part(const char *function, const char *name, int most_major, char path[CF__PATH])
{
    struct search search = {.path = path};
    int status = find_part(function, name, &search);
    if (status != CF_OK)
        return status;
    name_files(&search, most_major);
    if (try_all(&search))
        return CF_OK;
    if (search.is_short_of_memory)
        return cf__fail(CF_ENOMEM, "%s: %s: there is no memory for the search", function, name);
    return cf__fail(CF_ENOTSUP, "%s: %s%s%s was not found in %s; CF_CUDA_HOME may name a toolkit's folder", function,
                    search.files[0], *search.files[1] ? " or " : "", search.files[1], search.tried);
}

int cf_find(const char *name, const char **path)
{
    static _Thread_local char found[CF__PATH];
    if (!name || !path)
        return cf__fail(CF_EINVAL, "cf_find: %s is NULL", name ? "path" : "name");
    int status = cf__find_part("cf_find", name, NEWEST_MAJOR, found);
    if (status == CF_OK)
        *path = found;
    return status;
}
