/* bench_sizes.c - reads the sizes of a sweep: 2^10:2^28, 1000:10^6:10, 1000,2^20. */
#include "bench/bench_sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST ((int64_t)1 << 62)

/* Reads digits. Returns -1 if there are none or too many. */
static int read_digits(const char **at, int64_t *value)
{
    const char *begin = *at;
    for (*value = 0; **at >= '0' && **at <= '9'; ++*at)
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, **at - '0', value))
            return -1;
    return *at == begin ? -1 : 0;
}

/* Reads "1000" or "2^20". */
static int read_number(const char **at, int64_t *value)
{
    int64_t base, exponent = 1;
    if (read_digits(at, &base) != 0)
        return -1;
    if (**at == '^') {
        ++*at;
        if (read_digits(at, &exponent) != 0)
            return -1;
    }
    *value = 1;
    for (int64_t i = 0; i < exponent && base != 1; i++)
        if (__builtin_mul_overflow(*value, base, value) || *value > LARGEST || *value == 0)
            return -1;
    return *value <= LARGEST ? 0 : -1;
}

static int add(struct bench_sizes *sizes, int64_t size, const char *text, struct message *message)
{
    if (sizes->count == BENCH_SIZES)
        return message_set(message, "--sizes %s: these are more than %d sizes", text, BENCH_SIZES);
    sizes->list[sizes->count++] = size;
    return 0;
}

/* Reads a factor such as 2, 10 or 1.5, independent of the locale. */
static int read_factor(const char **at, double *factor)
{
    int64_t whole;
    if (read_number(at, &whole) != 0)
        return -1;
    *factor = (double)whole;
    if (**at != '.')
        return 0;
    double unit = 0.1;
    for (++*at; **at >= '0' && **at <= '9'; ++*at, unit /= 10)
        *factor += unit * (**at - '0');
    return 0;
}

/* Multiplies a size by a factor above 1, exactly if the factor is an integer; the result is always larger. Returns -1
 * past 2^62. */
static int64_t next_size(int64_t size, double factor)
{
    int64_t next;
    if ((double)size * factor > 0x1p62)
        return -1;
    if (factor == floor(factor))
        return __builtin_mul_overflow(size, (int64_t)factor, &next) ? -1 : next;
    next = (int64_t)((double)size * factor);
    return next > size ? next : size + 1;
}

static int add_range(struct bench_sizes *sizes, int64_t from, int64_t to, double factor, const char *text,
                     struct message *message)
{
    for (int64_t size = from; size > 0 && size <= to; size = next_size(size, factor))
        if (add(sizes, size, text, message) != 0)
            return -1;
    return 0;
}

static int read_item(struct bench_sizes *sizes, const char **at, const char *text, struct message *message)
{
    int64_t from, to;
    double factor = 2;
    if (read_number(at, &from) != 0 || from < 1)
        return message_set(message, "--sizes %s: a size is a number from 1 to 2^62, such as 1000 or 2^20", text);
    if (**at != ':')
        return add(sizes, from, text, message);
    ++*at;
    if (read_number(at, &to) != 0 || to < from)
        return message_set(message, "--sizes %s: the last size is a number from the first to 2^62", text);
    if (**at == ':') {
        ++*at;
        if (read_factor(at, &factor) != 0 || !(factor > 1))
            return message_set(message, "--sizes %s: the factor from size to size is a number above 1", text);
    }
    return add_range(sizes, from, to, factor, text, message);
}

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int bench_sizes_read(struct bench_sizes *sizes, const char *text, struct message *message)
{
    const char *at = text;
    *sizes = (struct bench_sizes){malloc(BENCH_SIZES * sizeof *sizes->list), 0};
    if (!sizes->list)
        return message_set(message, "no memory");
    for (;; at++) {
        if (read_item(sizes, &at, text, message) != 0)
            return -1;
        if (!*at)
            break;
        if (*at != ',')
            return message_set(
                message, "--sizes %s: '%s' is not understood; it is A:B, A:B:FACTOR or a list with commas", text, at);
    }
    qsort(sizes->list, sizes->count, sizeof *sizes->list, compare);
    size_t kept = 1;
    for (size_t i = 1; i < sizes->count; i++)
        if (sizes->list[i] != sizes->list[kept - 1])
            sizes->list[kept++] = sizes->list[i];
    sizes->count = kept;
    return 0;
}

void bench_sizes_free(struct bench_sizes *sizes)
{
    free(sizes->list);
    *sizes = (struct bench_sizes){NULL, 0};
}

void bench_size_format(int64_t size, char text[BENCH_SIZE_TEXT])
{
    if (size >= 1024 && (size & (size - 1)) == 0)
        snprintf(text, BENCH_SIZE_TEXT, "2^%d", __builtin_ctzll((unsigned long long)size));
    else
        snprintf(text, BENCH_SIZE_TEXT, "%" PRId64, size);
}
