/* tuning_file.c - reads and extends the text file of the fastest variants.
 *
 *     cuferry tuning 1
 *     FUNCTION VERSION ARCHITECTURE CLASS VARIANT NANOSECONDS NANOSECONDS
 *     cf_copy_f32 5c1d20ab sm_90 2^28 PIECES=2 61034.5 62101.1
 *
 * The two times, of the named variant and of the first variant, serve only human readers. Other lines are skipped. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/registry.h>
#include <cuferry/tuning.h>

#include "kernel/tuning_file.h"

#include "base/env.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "model/descriptor.h"

#define HEADER "cuferry tuning 1\n"
#define MOST_CAPABILITY 9999

/* ---- Variants ---- */

/* Computes the FNV-1a hash of a text and a newline. */
static uint32_t hash_text(uint32_t value, const char *text)
{
    for (const char *c = text ? text : ""; *c; c++)
        value = (value ^ (unsigned char)*c) * 0x01000193;
    return (value ^ '\n') * 0x01000193;
}

uint32_t cf__tuning_version(const cf_kernel *kernel)
{
    const cf_launch_rule *rule = &kernel->launch;
    uint32_t value = 0x811c9dc5;
    char text[CF__VARIANT];
    for (uint32_t i = 0; i < kernel->nparams; i++)
        value = hash_text(value, kernel->params[i].ctype);
    const char flags[] = {(char)('0' + !!rule->counts_blocks), (char)('0' + !!rule->is_cooperative),
                          (char)('0' + !!rule->is_block_auto), 0};
    value = hash_text(value, flags);
    if (rule->passes_cluster || rule->is_dependent || rule->cluster[0]) {
        snprintf(text, sizeof text, "%d %d %" PRIu32 " %" PRIu32 " %" PRIu32, rule->passes_cluster, rule->is_dependent,
                 rule->cluster[0], rule->cluster[1], rule->cluster[2]);
        value = hash_text(value, text);
    }
    for (int d = 0; d < CF_GRID_DIMS; d++)
        value = hash_text(hash_text(value, rule->grid[d].text), rule->block[d].text);
    value = hash_text(hash_text(value, rule->items.text), rule->shared.text);
    for (uint32_t i = 0; i < kernel->nvariants; i++) {
        cf__variant_text(kernel->variants[i], text);
        value = hash_text(value, text);
    }
    return value;
}

/* ---- Lines ---- */

/* Returns the next word of a line, or NULL at the end of the line. */
static const char *take_word(const char **at, size_t *length)
{
    *at += strspn(*at, " \t");
    *length = strcspn(*at, " \t\r\n");
    const char *word = *at;
    *at += *length;
    return *length ? word : NULL;
}

/* Parses a decimal number up to `most` after `prefix`; returns -1 for any other word. */
static int parse_number(const char *prefix, const char *word, size_t length, int most)
{
    size_t skipped = strlen(prefix);
    int number = 0;
    if (length <= skipped || memcmp(word, prefix, skipped) != 0)
        return -1;
    for (size_t i = skipped; i < length; i++) {
        if (word[i] < '0' || word[i] > '9')
            return -1;
        number = number * 10 + (word[i] - '0');
        if (number > most)
            return -1;
    }
    return number;
}

/* Parses a word of eight hexadecimal digits; returns 0 for any other word. */
static int parse_hex(const char *word, size_t length, uint32_t *value)
{
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        const char *digits = "0123456789abcdef", *digit = memchr(digits, word[i], 16);
        if (!digit)
            return 0;
        *value = *value << 4 | (uint32_t)(digit - digits);
    }
    return length == 8;
}

/* Parses the four words after the function. */
static int parse_words(const char **at, struct cf__tuning_line *line)
{
    size_t length;
    const char *word = take_word(at, &length);
    if (!word || !parse_hex(word, length, &line->version) || !(word = take_word(at, &length)))
        return 0;
    line->capability =
        length == 4 && memcmp(word, "host", 4) == 0 ? 0 : parse_number("sm_", word, length, MOST_CAPABILITY);
    word = take_word(at, &length);
    line->size_class = word ? parse_number("2^", word, length, CF_TUNING_CLASSES - 1) : -1;
    line->variant = take_word(at, &line->variant_length);
    return line->capability >= 0 && line->size_class >= 0 && line->variant;
}

int cf__tuning_next(const char **at, struct cf__tuning_line *line)
{
    const char *end = strchr(*at, '\n');
    int is_right = 0;
    if (end) { /* without a newline, the last line was truncated */
        line->function = take_word(at, &line->function_length);
        is_right = line->function && *line->function != '#' && parse_words(at, line);
    }
    *at = end ? end + 1 : *at + strlen(*at);
    return is_right;
}

const char *cf__tuning_begin(const char *text)
{
    size_t length = strlen(HEADER);
    return strncmp(text, HEADER, length) == 0 ? text + length : NULL;
}

int cf__tuning_is_of(const struct cf__tuning_line *line, const cf_kernel *kernel)
{
    return strlen(kernel->function) == line->function_length &&
           memcmp(kernel->function, line->function, line->function_length) == 0 &&
           line->version == cf__tuning_version(kernel);
}

int cf__tuning_variant(const struct cf__tuning_line *line, const cf_kernel *kernel)
{
    char text[CF__VARIANT];
    for (uint32_t i = 0; i < kernel->nvariants; i++) {
        cf__variant_text(kernel->variants[i], text);
        if (strlen(text) == line->variant_length && memcmp(text, line->variant, line->variant_length) == 0)
            return (int)i;
    }
    return -1;
}

/* ---- Reading ---- */

/* Reads a file of any size, but at most one byte more than the limit, and appends a zero byte. The caller frees the
 * text. Returns NULL with `errno` on failure. */
static char *read_text(const char *path, size_t *size)
{
    char *text = malloc(CF__TUNING_BYTES + 2);
    ssize_t got = text ? cf__file_read(path, text, CF__TUNING_BYTES + 1) : -1;
    if (got < 0) {
        int error = text ? errno : ENOMEM;
        free(text);
        errno = error;
        return NULL;
    }
    text[got] = 0;
    *size = (size_t)got;
    return text;
}

static const char *explain_errno(void)
{
    return errno == ENOMEM ? "there is no memory for it" : errno == EINVAL ? "it is no file" : cf__strerror(errno);
}

char *cf__tuning_read(const char *path, const char **reason)
{
    size_t size;
    char *text = read_text(path, &size);
    if (!text) {
        *reason = explain_errno();
        return NULL;
    }
    *reason = size > CF__TUNING_BYTES ? "it is too large"
              : strlen(text) == size && cf__tuning_begin(text)
                  ? NULL
                  : "it does not begin with 'cuferry tuning 1', or is damaged";
    if (*reason) {
        free(text);
        errno = 0;
        return NULL;
    }
    char *kept = realloc(text, size + 1);
    return kept ? kept : text;
}

/* ---- Writing ---- */

/* The new text of the file. */
struct text {
    char *bytes;
    size_t used; /* size of the text in bytes; bytes beyond CF__TUNING_BYTES are counted but not stored */
};

static void append_bytes(struct text *text, const char *bytes, size_t size)
{
    if (text->used + size <= CF__TUNING_BYTES)
        memcpy(text->bytes + text->used, bytes, size);
    text->used += size;
}

/* Returns 1 if a new result has the same kernel, architecture and class as the line. */
static int is_replaced(const struct cf__tuning_line *line, const cf_tuning *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (line->capability == results[i].capability && line->size_class == results[i].size_class &&
            cf__tuning_is_of(line, results[i].variant))
            return 1;
    return 0;
}

/* Converts to tenths of a nanosecond, which are printed as integers because the locale may have another decimal
 * point. */
static uint64_t to_tenths(double seconds)
{
    double value = seconds * 1e10;
    return value >= 0 && value < 1e18 ? (uint64_t)(value + 0.5) : 0;
}

static void append_result(struct text *text, const cf_tuning *result)
{
    char line[1024], variant[CF__VARIANT], architecture[16] = "host";
    uint64_t time = to_tenths(result->seconds), first = to_tenths(result->first_seconds);
    cf__variant_text(result->variant, variant);
    if (result->capability)
        snprintf(architecture, sizeof architecture, "sm_%d", result->capability);
    int used = snprintf(line, sizeof line, "%s %08" PRIx32 " %s 2^%d %s %" PRIu64 ".%d %" PRIu64 ".%d\n",
                        result->variant->function, cf__tuning_version(result->variant), architecture,
                        result->size_class, variant, time / 10, (int)(time % 10), first / 10, (int)(first % 10));
    if (used > 0 && (size_t)used < sizeof line)
        append_bytes(text, line, (size_t)used);
}

/* Writes the old lines that are not replaced, then the new lines. */
static void merge_lines(struct text *text, const char *before, const cf_tuning *results, size_t count)
{
    append_bytes(text, HEADER, strlen(HEADER));
    for (const char *at = *before ? cf__tuning_begin(before) : ""; *at;) {
        struct cf__tuning_line line;
        const char *begin = at;
        int is_right = cf__tuning_next(&at, &line), is_comment = *begin == '#' && at[-1] == '\n';
        if (is_comment || (is_right && !is_replaced(&line, results, count)))
            append_bytes(text, begin, (size_t)(at - begin));
    }
    for (size_t i = 0; i < count; i++)
        append_result(text, &results[i]);
}

static int fail_file(const char *what, const char *path)
{
    return cf__fail(CF_EINVAL, "cf_tuning_save: %s %s: %s", what, path, cf__strerror(errno));
}

/* Reads the old text, or "" if there is no file. Fails if the file is unreadable or of another format, because writing
 * would destroy its content. */
static int read_before(const char *path, char **text)
{
    size_t size = 0;
    char *before = read_text(path, &size);
    if (!before && errno == ENOENT)
        before = calloc(1, 1);
    if (!before)
        return cf__fail(errno == ENOMEM ? CF_ENOMEM : CF_EINVAL, "cf_tuning_save: reading %s: %s", path,
                        explain_errno());
    for (size_t i = 0; i < size; i++)
        if (before[i] == 0)
            before[i] = '\n'; /* ends a damaged line */
    const char *wrong = size > CF__TUNING_BYTES                  ? "is too large"
                        : size != 0 && !cf__tuning_begin(before) ? "does not begin with 'cuferry tuning 1'"
                                                                 : NULL;
    *text = before;
    if (!wrong)
        return CF_OK;
    free(before);
    return cf__fail(CF_EINVAL, "cf_tuning_save: %s %s: it is left as it is", path, wrong);
}

static int check_file(const char *path)
{
    char *before;
    int status = read_before(path, &before);
    if (status == CF_OK)
        free(before);
    return status;
}

/* The caller holds the lock. */
static int update_file(const char *path, const cf_tuning *results, size_t count)
{
    char *before = NULL;
    struct text text = {.bytes = malloc(CF__TUNING_BYTES)};
    if (!text.bytes)
        return cf__fail(CF_ENOMEM, "cf_tuning_save: no memory for the file");
    int status = read_before(path, &before);
    if (status != CF_OK) {
        free(text.bytes);
        return status;
    }
    merge_lines(&text, before, results, count);
    if (text.used > CF__TUNING_BYTES)
        status =
            cf__fail(CF_EINVAL, "cf_tuning_save: %s: it would have more than %zu bytes, and none of it would count",
                     path, CF__TUNING_BYTES);
    else if (!cf__file_replace(AT_FDCWD, path, text.bytes, text.used))
        status = fail_file("writing", path);
    free(before);
    free(text.bytes);
    return status;
}

static int check_results(const cf_tuning *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const cf_tuning *result = &results[i];
        if (!cf__descriptor_ok(result->variant) || !result->variant->nvariants || !result->variant->nconstants)
            return cf__fail(CF_EINVAL, "cf_tuning_save: results[%zu] has no variant of a tuned kernel", i);
        if (result->size_class < 0 || result->size_class >= CF_TUNING_CLASSES)
            return cf__fail(CF_EINVAL, "cf_tuning_save: results[%zu].size_class is %d; it is 0 to %d", i,
                            result->size_class, CF_TUNING_CLASSES - 1);
        if (result->capability < 0 || result->capability > MOST_CAPABILITY)
            return cf__fail(CF_EINVAL, "cf_tuning_save: results[%zu].capability is %d", i, result->capability);
    }
    return CF_OK;
}

static int lock_and_update(const char *path, const cf_tuning *results, size_t count)
{
    char locked[PATH_MAX + 8], real[PATH_MAX];
    if (!cf__file_resolve(path, real))
        return fail_file("following", path);
    path = real;
    snprintf(locked, sizeof locked, "%s.lock", path);
    int file = cf__file_lock(AT_FDCWD, locked);
    if (file < 0)
        return fail_file("locking", locked);
    int status = update_file(path, results, count);
    (void)unlink(locked);
    close(file);
    return status;
}

int cf_tuning_path(char *path, size_t size)
{
    return cf__file_copy_path("cf_tuning_path", "CF_TUNING", "tuning", path, size);
}

int cf_tuning_save(const char *path, const cf_tuning *results, size_t count)
{
    char usual[CF__PATH];
    if (count && !results)
        return cf__fail(CF_EINVAL, "cf_tuning_save: results is NULL and count is %zu", count);
    int status = check_results(results, count);
    if (status == CF_OK && !path)
        status = cf_tuning_path(usual, sizeof usual);
    if (status != CF_OK)
        return status;
    if (strlen(path ? path : usual) >= CF__PATH)
        return cf__fail(CF_EINVAL, "cf_tuning_save: the path is too long");
    if (count == 0)
        return check_file(path ? path : usual);
    if (!path && !cf__env_file("CF_TUNING"))
        cf__file_make_folders(usual);
    return lock_and_update(path ? path : usual, results, count);
}
