/* headers.c - lists the user's header files that a compilation may read. The list has every path at which an #include
 * may find a file, even if there is no file now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cuferry.h>
#include <cuferry/program.h>

#include "program/headers.h"

#include "base/error.h"
#include "base/files.h"

enum {
    MOST_HEADERS = 1 << 14,
    PIPE = -2,        /* `bytes` of a header that is a pipe */
    FOLDER = -3,      /* `bytes` of a header that is a folder, where a file may be created later */
    LARGEST = 1 << 20 /* largest file, in bytes, that is compared by content if cfcc has read it; compilers are
                       * larger */
};

static const char no_memory[] = "there is no memory for its headers, or there are too many";

/* Copies the path. Returns 0 if there is no memory, or if there are too many headers. */
static int add_header(struct cf__headers *headers, const struct cf__header *header)
{
    if (headers->count == headers->room) {
        size_t room = headers->room ? 2 * headers->room : 16;
        struct cf__header *list = room <= MOST_HEADERS ? realloc(headers->list, room * sizeof *list) : NULL;
        if (!list)
            return 0;
        headers->list = list;
        headers->room = room;
    }
    struct cf__header *added = &headers->list[headers->count];
    *added = *header;
    added->path = strdup(header->path);
    headers->count += added->path != NULL;
    return added->path != NULL;
}

void cf__headers_free(struct cf__headers *headers)
{
    for (size_t i = 0; i < headers->count; i++)
        free(headers->list[i].path);
    free(headers->list);
    *headers = (struct cf__headers){0};
}

/* ---- Files ---- */

/* Reads a file and its checksum. Returns NULL if its size differs from that of `state`. */
static char *read_file(const char *path, struct cf__header_state *state)
{
    size_t bytes;
    char *text = cf__file_load(path, &bytes);
    if (text && (int64_t)bytes == state->bytes) {
        cf__sha256_of(text, bytes, state->digest);
        return text;
    }
    free(text);
    return NULL;
}

/* Fills all of a state except its digest. Returns 1 if the file exists. */
static int examine_file(const char *path, struct cf__header_state *state, struct stat *info)
{
    *state = (struct cf__header_state){.bytes = -1};
    if (stat(path, info) != 0)
        return 0;
    state->bytes = S_ISFIFO(info->st_mode) ? PIPE : S_ISDIR(info->st_mode) ? FOLDER : -1;
    if (!S_ISREG(info->st_mode))
        return 0;
    state->bytes = info->st_size;
    state->device = (int64_t)info->st_dev;
    state->inode = (int64_t)info->st_ino;
    state->seconds = info->st_ctim.tv_sec;
    state->nanoseconds = info->st_ctim.tv_nsec;
    return 1;
}

/* Compares the time of the last change (ctime). Users can set the time of modification, and copies and archives
 * preserve it. */
int cf__header_is_unchanged(const char *path, const struct cf__header_state *state)
{
    struct cf__header_state now;
    struct stat info;
    (void)examine_file(path, &now, &info);
    if (now.bytes != state->bytes)
        return 0;
    if (now.bytes < 0 || (now.device == state->device && now.inode == state->inode && now.seconds == state->seconds &&
                          now.nanoseconds == state->nanoseconds))
        return 1;
    char *text = now.bytes <= LARGEST ? read_file(path, &now) : NULL;
    int is_same = text && memcmp(now.digest, state->digest, sizeof now.digest) == 0;
    free(text);
    return is_same;
}

int cf__headers_are_unchanged(const struct cf__headers *headers)
{
    size_t i = 0;
    while (i < headers->count && cf__header_is_unchanged(headers->list[i].path, &headers->list[i].state))
        i++;
    return i == headers->count;
}

/* ---- Collection ---- */

/* Trigraphs, and names whose values do not depend on the headers' texts alone. A text with one of them is not
 * cached. */
static const char *const unknown[] = {"__has_include", "__has_embed", "__DATE__", "__TIME__",
                                      "__TIMESTAMP__", "?\?=",        "?\?/"};
enum { UNKNOWN = sizeof unknown / sizeof *unknown, LONGEST_UNKNOWN = 15 };

struct collection {
    struct cf__headers *headers;
    const struct cf__request *request;
    const char *toolkit;
    const char *includer;                     /* path of the file that is being scanned, or the source's name */
    int has_paste;                            /* 1 if the texts have ##, which joins tokens */
    uint16_t parts[UNKNOWN][LONGEST_UNKNOWN]; /* bit `end` of parts[i][begin]: a token equals unknown[i] from `begin` to
                                               * `end` */
};

/* Returns the length of a path's folder including its slash, or 0 if the folder is the current one. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash + 1 - path) : 0;
}

/* Adds the path `folder`/`name`, unless it is in the list. Returns 0, or 1 if there is no memory. */
static int add_place(struct cf__headers *headers, const char *folder, int folder_bytes, const char *name, size_t length)
{
    char path[CF__PATH], parent[CF__PATH + 2];
    struct cf__header header = {.path = path};
    struct stat info;
    const char *separator = folder_bytes && folder[folder_bytes - 1] != '/' ? "/" : "";
    if (snprintf(path, sizeof path, "%.*s%s%.*s", folder_bytes, folder, separator, (int)length, name) >=
        (int)sizeof path)
        return 1;
    for (size_t i = 0; i < headers->count; i++)
        if (strcmp(headers->list[i].path, path) == 0)
            return 0;
    if (examine_file(path, &header.state, &info)) {
        snprintf(parent, sizeof parent, "%.*s.", folder_length(path), path);
        header.folder_device = stat(parent, &info) == 0 ? info.st_dev : 0;
        header.folder_inode = info.st_ino;
    }
    return !add_header(headers, &header);
}

static int is_toolkit(const char *folder, const char *toolkit)
{
    struct stat one, other;
    return stat(folder, &one) == 0 && stat(toolkit, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* Adds every path at which the file of an #include may be found. Returns 0, or 1 if there is no memory. */
static int add_places(struct collection *collection, const char *name, size_t length)
{
    struct cf__headers *headers = collection->headers;
    const char *const *folders = collection->request->options->include_folders, *main = collection->request->name;
    if (length && *name == '/')
        return add_place(headers, "", 0, name, length);
    int status = add_place(headers, collection->includer, folder_length(collection->includer), name, length);
    if (status == 0)
        status = add_place(headers, main, folder_length(main), name, length);
    for (; folders && *folders && status == 0; folders++)
        if (!is_toolkit(*folders, collection->toolkit))
            status = add_place(headers, *folders, (int)strlen(*folders), name, length);
    return status;
}

/* ---- Texts ---- */

/* Skips R"xy( ... )xy", whose prefix may be u8, u, U or L. */
static const char *skip_raw_string(const char *at)
{
    enum { DELIMITER = 16 };
    char close[DELIMITER + 3];
    const char *begin = at + (at[0] == 'u' && at[1] == '8' ? 2 : *at == 'u' || *at == 'U' || *at == 'L');
    if (begin[0] != 'R' || begin[1] != '"')
        return at;
    size_t length = strcspn(begin + 2, "()\\ \t\v\f\r\n");
    if (length > DELIMITER || begin[2 + length] != '(')
        return at;
    snprintf(close, sizeof close, ")%.*s\"", (int)length, begin + 2);
    const char *end = strstr(begin + 3 + length, close);
    return end ? end + length + 2 : at + strlen(at);
}

const char *cf__text_skip(const char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    const char *raw = skip_raw_string(at);
    if (raw > at || (*at != '"' && *at != '\''))
        return raw;
    const char *end = at + 1;
    while (*end && *end != '\n' && *end != *at)
        end += end[0] == '\\' && end[1] ? 2 : 1;
    return end + (*end == *at);
}

/* Joins lines that end with a backslash. Returns the new length. */
static size_t remove_splices(char *text, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        size_t end = i + 1;
        while (text[i] == '\\' && end < length && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r'))
            end++;
        if (text[i] == '\\' && end < length && text[end] == '\n')
            i = end;
        else
            text[used++] = text[i];
    }
    return used;
}

/* Skips blanks and comments within a directive. */
static const char *skip_blanks(const char *at, const char *end)
{
    for (;;) {
        while (at < end && strchr(" \t\v\f\r", *at) && *at)
            at++;
        if (end - at < 4 || at[0] != '/' || at[1] != '*')
            return at;
        const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
        if (!close)
            return at;
        at = close + 2;
    }
}

static int begins_with(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* Reads a directive after its '#'. */
static int read_directive(struct collection *collection, const char *at, const char *end)
{
    at = skip_blanks(at, end);
    if (begins_with(at, end, "embed"))
        return -1;
    int is_import = begins_with(at, end, "import");
    if (!is_import && !begins_with(at, end, "include"))
        return 0;
    at += is_import ? strlen("import") : strlen("include");
    if (begins_with(at, end, "_next"))
        at += strlen("_next");
    at = skip_blanks(at, end);
    char close = at < end && *at == '"' ? '"' : at < end && *at == '<' ? '>' : 0;
    if (!close)
        return -1;
    const char *name = ++at;
    while (at < end && *at != close && *at != '\n')
        at++;
    return at < end && *at == close ? add_places(collection, name, (size_t)(at - name)) : -1;
}

static int is_of_name(char character)
{
    return character == '_' || (character >= '0' && character <= '9') || (character >= 'a' && character <= 'z') ||
           (character >= 'A' && character <= 'Z');
}

static void note_token(struct collection *collection, const char *token, size_t length)
{
    for (size_t i = 0; i < UNKNOWN; i++)
        for (size_t begin = 0, whole = strlen(unknown[i]); begin + length <= whole; begin++)
            if (memcmp(unknown[i] + begin, token, length) == 0)
                collection->parts[i][begin] |= (uint16_t)(1U << (begin + length));
}

/* Records the tokens that ## may join to one of the names in `unknown`. */
static void note_tokens(struct collection *collection, const char *text, size_t length)
{
    const char *end = text + length;
    collection->has_paste |= memmem(text, length, "##", 2) || memmem(text, length, "%:%:", 4);
    for (const char *at = text; at < end;) {
        const char *begin = cf__text_skip(at); /* comments and literals cannot be part of a pasted name */
        const char *next = begin;
        while (next < end && is_of_name(*next))
            next++;
        if (next > begin + 1 || *begin == '_') /* single letters are not pasted in practice */
            note_token(collection, begin, (size_t)(next - begin));
        at = next > at ? next : at + 1;
    }
}

/* Returns 1 if ## may join tokens of the texts to one of the names in `unknown`. */
static int may_paste_unknown(const struct collection *collection)
{
    for (size_t i = 0; i < UNKNOWN && collection->has_paste; i++) {
        unsigned ends = 1; /* bit n: tokens can form the first n characters */
        for (size_t at = 0; at < strlen(unknown[i]); at++)
            ends |= ends >> at & 1 ? collection->parts[i][at] : 0U;
        if (ends >> strlen(unknown[i]) & 1)
            return 1;
    }
    return 0;
}

/* Reads every #include of a text, even in comments, strings and inactive branches: an extra header only costs a
 * comparison, but a missing one would make a cached program wrong. Returns 0; 1 if there is no memory; -1 if the text
 * does not determine all headers or contains a date. Removes the line splices from `text`. */
static int scan_includes(struct collection *collection, char *text, size_t length)
{
    length = remove_splices(text, length);
    text[length] = 0;
    const char *end = text + length;
    note_tokens(collection, text, length);
    int result = may_paste_unknown(collection) ? -1 : 0;
    for (size_t i = 0; i < UNKNOWN; i++)
        if (memmem(text, length, unknown[i], strlen(unknown[i])))
            result = -1;
    for (const char *at = text; at < end; at++) {
        int is_begin = *at == '#' || begins_with(at, end, "%:");
        int found = is_begin ? read_directive(collection, at + (*at == '#' ? 1 : 2), end) : 0;
        if (found > 0)
            return found;
        result = found ? found : result;
    }
    return result;
}

/* Scans a text, which is changed. */
static const char *scan_text(struct collection *collection, const char *includer, char *text, size_t length)
{
    collection->includer = includer;
    int result = scan_includes(collection, text, length);
    return result == 0  ? NULL
           : result < 0 ? "its text does not tell the headers, as with #include MACRO, or has a date"
                        : no_memory;
}

static const char *scan_copy(struct collection *collection, const char *includer, const char *text)
{
    char *copy = strdup(text);
    const char *why = copy ? scan_text(collection, includer, copy, strlen(copy)) : no_memory;
    free(copy);
    return why;
}

/* Returns 1 if the file was already scanned under another path of the same folder, because files may include each other
 * in a circle. */
static int is_scanned(const struct cf__headers *headers, size_t at)
{
    const struct cf__header *one = &headers->list[at];
    for (size_t i = 0; i < at; i++) {
        const struct cf__header *other = &headers->list[i];
        if (other->state.bytes >= 0 && other->state.inode == one->state.inode &&
            other->state.device == one->state.device && other->folder_inode == one->folder_inode &&
            other->folder_device == one->folder_device)
            return 1;
    }
    return 0;
}

static const char *scan_file(struct collection *collection, size_t at)
{
    enum { SHORT_AGO = 2 }; /* age in seconds of a change that is too recent to be conclusive */
    struct cf__header *header = &collection->headers->list[at];
    char *text = read_file(header->path, &header->state), *path = strdup(header->path);
    int64_t bytes = header->state.bytes;
    const char *why = !text || !path ? "a header cannot be read, or changes" : NULL;
    if (header->state.seconds + SHORT_AGO >= time(NULL))
        header->state.seconds = header->state.nanoseconds = -1;
    if (!why && !is_scanned(collection->headers, at))
        why = scan_text(collection, path, text, (size_t)bytes); /* scan_text() may move the list */
    free(text);
    free(path);
    return why;
}

/* Returns the first reason not to cache the program. The callers check all files nevertheless, because any of them may
 * be a pipe. */
static const char *first_of(const char *why, const char *next)
{
    return why && next != no_memory ? why : next;
}

const char *cf__headers_collect(struct cf__headers *headers, const struct cf__request *request, const char *toolkit)
{
    struct collection collection = {.headers = headers, .request = request, .toolkit = toolkit};
    const char *const *const lists[] = {request->options->definitions, request->options->flags};
    const char *why = scan_copy(&collection, request->name, request->source);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const char *const *text = lists[i]; text && *text && why != no_memory; text++)
            why = first_of(why, scan_copy(&collection, request->name, *text));
    for (const cf_program_header *memory = request->options->headers; memory && memory->name && why != no_memory;
         memory++)
        why = first_of(why, scan_copy(&collection, memory->name, memory->text));
    for (size_t i = 0; i < headers->count && why != no_memory; i++)
        if (headers->list[i].state.bytes >= 0)
            why = first_of(why, scan_file(&collection, i));
    return why;
}

int cf__headers_check(const struct cf__request *request, const char *toolkit)
{
    struct cf__headers headers = {0};
    int status = CF_OK;
    (void)cf__headers_collect(&headers, request, toolkit);
    for (size_t i = 0; i < headers.count && status == CF_OK; i++)
        if (headers.list[i].state.bytes == PIPE)
            status = cf__fail(CF_ECOMPILE, "%s: %s: the header %s is a pipe, which NVRTC would wait for",
                              request->function, request->name, headers.list[i].path);
    cf__headers_free(&headers);
    return status;
}

static const char *add_input(struct cf__headers *headers, const char *input, const struct timespec *began)
{
    char path[CF__PATH];
    struct cf__header header = {.path = path};
    struct stat info;
    if (snprintf(path, sizeof path, "%s", input + 1) >= (int)sizeof path)
        return "the path of a file is too long";
    int is_there = examine_file(path, &header.state, &info);
    const int64_t seconds = header.state.seconds;
    if (is_there != (*input == '+') ||
        (is_there &&
         (seconds > began->tv_sec || (seconds == began->tv_sec && header.state.nanoseconds >= began->tv_nsec))))
        return "a file changed meanwhile";
    char *text = is_there && header.state.bytes <= LARGEST ? read_file(path, &header.state) : NULL;
    if (is_there && header.state.bytes <= LARGEST && !text)
        return "a file cannot be read, or changes";
    free(text);
    return add_header(headers, &header) ? NULL : no_memory;
}

const char *cf__headers_read(struct cf__headers *headers, const struct cf__compiled *compiled,
                             const struct timespec *began)
{
    const char *list = compiled->inputs, *why = NULL;
    if (!list || !compiled->inputs_bytes)
        return "cfcc did not tell what it read";
    if (*list)
        return list;
    for (size_t at = 1; at < compiled->inputs_bytes && !why; at += strlen(list + at) + 1)
        why = add_input(headers, list + at, began);
    return why;
}
