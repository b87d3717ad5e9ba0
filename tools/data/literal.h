/* literal.h - reads the Python literals in the header of a NumPy file. */
#ifndef LITERAL_H
#define LITERAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Text that has not been read yet. */
struct literal {
    const char *at, *end;
};

static inline void literal_skip(struct literal *literal)
{
    while (literal->at < literal->end && (*literal->at == ' ' || *literal->at == '\n' || *literal->at == '\t'))
        literal->at++;
}

/* Skips `text` if it comes next; returns whether it did. */
static inline int literal_accept(struct literal *literal, const char *text)
{
    size_t length = strlen(text);
    literal_skip(literal);
    if ((size_t)(literal->end - literal->at) < length || memcmp(literal->at, text, length) != 0)
        return 0;
    literal->at += length;
    return 1;
}

/* Reads a string in either quote, without escapes. */
static inline int literal_string(struct literal *literal, char *text, size_t size)
{
    literal_skip(literal);
    if (literal->at == literal->end || (*literal->at != '\'' && *literal->at != '"'))
        return 0;
    const char *begin = literal->at + 1;
    const char *close = memchr(begin, *literal->at, (size_t)(literal->end - begin));
    if (!close || (size_t)(close - begin) >= size)
        return 0;
    memcpy(text, begin, (size_t)(close - begin));
    text[close - begin] = 0;
    literal->at = close + 1;
    return 1;
}

/* Reads an unsigned integer; clears *fits past INT64_MAX. An "L" may follow, which Python 2 appended. */
static inline int literal_integer(struct literal *literal, int64_t *value, int *fits)
{
    literal_skip(literal);
    const char *begin = literal->at;
    *value = 0;
    for (; literal->at < literal->end && *literal->at >= '0' && *literal->at <= '9'; literal->at++)
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, *literal->at - '0', value))
            *fits = 0;
    if (literal->at == begin)
        return 0;
    if (literal->at < literal->end && *literal->at == 'L')
        literal->at++;
    return 1;
}

#endif
