/* includes.c - the headers that a source may include. The scan does not skip comments, strings or #if: a header too
 * many is compared in vain, a header too few would make a cached program wrong. */
#include <string.h>

#include "program/includes.h"

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

/* Skips blanks and comments of one directive. */
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
static int read_directive(const char *at, const char *end, cf__include_found *found, void *data)
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
    return at < end && *at == close ? found(data, name, (size_t)(at - name)) : -1;
}

int cf__includes_scan(char *text, size_t length, cf__include_found *found, void *data)
{
    static const char *const unknown[] = {"__has_include", "__has_embed", "__DATE__", "__TIME__",
                                          "__TIMESTAMP__", "?\?=",        "?\?/"};
    length = remove_splices(text, length);
    const char *end = text + length;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (memmem(text, length, unknown[i], strlen(unknown[i])))
            return -1;
    for (const char *at = text; at < end; at++) {
        int is_begin = *at == '#' || begins_with(at, end, "%:");
        int result = is_begin ? read_directive(at + (*at == '#' ? 1 : 2), end, found, data) : 0;
        if (result != 0)
            return result;
    }
    return 0;
}
