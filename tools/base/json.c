/* json.c - reads JSON into a tree, and writes its strings. */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

/* Greatest depth of nested values; the recursion for deeper ones could overflow the stack. */
#define DEEPEST 100

struct reader {
    const char *begin, *at, *end;
    const char *name;
    struct message *message;
};

static int wrong(struct reader *reader, const char *what)
{
    int line = 1;
    for (const char *at = reader->begin; at < reader->at; at++)
        line += *at == '\n';
    return message_set(reader->message, "%s:%d: %s", reader->name, line, what);
}

static void skip(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at)
        reader->at++;
}

static int accept(struct reader *reader, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
        return 0;
    reader->at += length;
    return 1;
}

/* ---- Strings ---- */

static int read_hex(struct reader *reader, unsigned *value)
{
    *value = 0;
    for (int i = 0; i < 4; i++, reader->at++) {
        char c = reader->at < reader->end ? *reader->at : 0;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            return wrong(reader, "\\u has four hexadecimal digits");
        *value = *value * 16 + digit;
    }
    return 0;
}

static char *put_utf8(char *to, unsigned code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* Reads the digits after "\u"; a character past U+FFFF is written as two such escapes. */
static int read_unicode(struct reader *reader, char **to)
{
    unsigned code, low;
    if (read_hex(reader, &code) != 0)
        return -1;
    if (code == 0)
        return wrong(reader, "a zero byte in a string");
    if (code >= 0xd800 && code < 0xdc00) {
        if (!accept(reader, "\\u") || read_hex(reader, &low) != 0 || low < 0xdc00 || low > 0xdfff)
            return wrong(reader, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code <= 0xdfff) {
        return wrong(reader, "half of a surrogate pair");
    }
    *to = put_utf8(*to, code);
    return 0;
}

static int read_escape(struct reader *reader, char **to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char c = reader->at < reader->end ? *reader->at++ : 0;
    if (c == 'u')
        return read_unicode(reader, to);
    const char *known = c ? strchr(from, c) : NULL;
    if (!known)
        return wrong(reader, "an unknown escape in a string");
    *(*to)++ = into[known - from];
    return 0;
}

/* Number of bytes up to the closing quote, which is an upper bound for the length of the decoded text. */
static size_t written_length(const struct reader *reader)
{
    const char *at = reader->at;
    while (at < reader->end && *at != '"')
        at += *at == '\\' && at + 1 < reader->end ? 2 : 1;
    return (size_t)(at - reader->at);
}

/* Reads a string whose opening quote has been read. */
static int read_string(struct reader *reader, char **text)
{
    char *to = *text = malloc(written_length(reader) + 1);
    if (!to)
        return message_set(reader->message, "%s: no memory", reader->name);
    while (reader->at < reader->end && *reader->at != '"') {
        unsigned char c = (unsigned char)*reader->at++;
        if (c < ' ')
            return wrong(reader, "a control character in a string");
        if (c != '\\')
            *to++ = (char)c;
        else if (read_escape(reader, &to) != 0)
            return -1;
    }
    if (!accept(reader, "\""))
        return wrong(reader, "a string does not end");
    *to = 0;
    return 0;
}

/* ---- Values ---- */

static size_t digits(struct reader *reader)
{
    const char *begin = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    return (size_t)(reader->at - begin);
}

/* Digits are checked here because strtod() also accepts hexadecimal, infinity and a plus sign. strtod() reads decimal
 * points because the program stays in the locale "C". */
static int read_number(struct reader *reader, struct json *json)
{
    const char *begin = reader->at;
    (void)accept(reader, "-");
    int is_zero = reader->at < reader->end && *reader->at == '0';
    size_t count = digits(reader);
    if (count == 0 || (is_zero && count > 1))
        return wrong(reader, "a value is missing, or is none");
    if (accept(reader, ".") && digits(reader) == 0)
        return wrong(reader, "digits are missing after a point");
    if (accept(reader, "e") || accept(reader, "E")) {
        if (!accept(reader, "-"))
            (void)accept(reader, "+");
        if (digits(reader) == 0)
            return wrong(reader, "digits are missing in an exponent");
    }
    json->kind = JSON_NUMBER;
    json->number = strtod(begin, NULL);
    return 0;
}

static int read_value(struct reader *reader, struct json *json, int depth);

static int read_key(struct reader *reader, struct json *item)
{
    if (!accept(reader, "\""))
        return wrong(reader, "a name in quotes is missing");
    if (read_string(reader, &item->key) != 0)
        return -1;
    skip(reader);
    return accept(reader, ":") ? 0 : wrong(reader, "a colon is missing");
}

/* Reads the items of an array or object whose opening bracket has been read. */
static int read_items(struct reader *reader, struct json *json, const char *close, int depth)
{
    struct json **last = &json->first;
    skip(reader);
    if (accept(reader, close))
        return 0;
    for (;;) {
        struct json *item = *last = calloc(1, sizeof *item);
        if (!item)
            return message_set(reader->message, "%s: no memory", reader->name);
        last = &item->next;
        skip(reader);
        if ((json->kind == JSON_OBJECT && read_key(reader, item) != 0) || read_value(reader, item, depth + 1) != 0)
            return -1;
        skip(reader);
        if (accept(reader, close))
            return 0;
        if (!accept(reader, ","))
            return wrong(reader, "a comma or a closing bracket is missing");
    }
}

static int read_value(struct reader *reader, struct json *json, int depth)
{
    if (depth > DEEPEST)
        return wrong(reader, "values are nested too deep");
    skip(reader);
    if (accept(reader, "{")) {
        json->kind = JSON_OBJECT;
        return read_items(reader, json, "}", depth);
    }
    if (accept(reader, "[")) {
        json->kind = JSON_ARRAY;
        return read_items(reader, json, "]", depth);
    }
    if (accept(reader, "\"")) {
        json->kind = JSON_STRING;
        return read_string(reader, &json->text);
    }
    if (accept(reader, "null"))
        return 0;
    if (accept(reader, "true") || accept(reader, "false")) {
        json->kind = reader->at[-2] == 'u' ? JSON_TRUE : JSON_FALSE;
        return 0;
    }
    return read_number(reader, json);
}

struct json *json_read(const char *text, size_t length, const char *name, struct message *message)
{
    struct reader reader = {text, text, text + length, name, message};
    struct json *json = calloc(1, sizeof *json);
    if (!json) {
        message_set(message, "%s: no memory", name);
        return NULL;
    }
    int status = read_value(&reader, json, 0);
    skip(&reader);
    if (status == 0 && reader.at != reader.end)
        status = wrong(&reader, "there is text after the value");
    if (status == 0)
        return json;
    json_free(json);
    return NULL;
}

void json_free(struct json *json)
{
    while (json) {
        struct json *next = json->next;
        json_free(json->first);
        free(json->text);
        free(json->key);
        free(json);
        json = next;
    }
}

const struct json *json_get(const struct json *object, const char *key)
{
    if (!object || object->kind != JSON_OBJECT)
        return NULL;
    for (const struct json *item = object->first; item; item = item->next)
        if (strcmp(item->key, key) == 0)
            return item;
    return NULL;
}

/* ---- Writing ---- */

/* Number of bytes of the next UTF-8 character; 0 if it is invalid, for instance cut off. */
static int utf8_length(const unsigned char *at)
{
    int length = *at < 0x80                  ? 1
                 : *at >= 0xc2 && *at < 0xe0 ? 2
                 : *at >= 0xe0 && *at < 0xf0 ? 3
                 : *at >= 0xf0 && *at < 0xf5 ? 4
                                             : 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    int is_wrong = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] >= 0xa0) || (*at == 0xf0 && at[1] < 0x90) ||
                   (*at == 0xf4 && at[1] >= 0x90);
    return is_wrong ? 0 : length;
}

void json_write_string(FILE *file, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    putc('"', file);
    while (*at) {
        int length = utf8_length(at);
        if (length == 0)
            fprintf(file, "\\ufffd");
        else if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < ' ' || *at == 0x7f)
            fprintf(file, "\\u%04x", *at);
        else
            fwrite(at, 1, (size_t)length, file);
        at += length ? length : 1;
    }
    putc('"', file);
}
