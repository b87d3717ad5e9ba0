/* compare.c - compares a result with the expected values, bit for bit or within a tolerance. */
#include "data/compare.h"

#include <math.h>
#include <string.h>

/* |a - b| / max(1, |b|), or infinity where only equal numbers agree. */
static double deviation(long double a, long double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    if (!isfinite(a) || !isfinite(b))
        return (double)INFINITY;
    long double size = fabsl(b);
    return (double)(fabsl(a - b) / (size > 1 ? size : 1));
}

/* Largest difference among an element's numbers. */
static double element_deviation(const struct element_type *type, const char *result, const char *expected)
{
    int parts = element_parts(type->type);
    size_t size = cf_type_size(type->type);
    double largest = 0;
    for (uint32_t i = 0; i < type->lanes; i++)
        for (int part = 0; part < parts; part++) {
            double found = deviation(element_part(type->type, result + i * size, part),
                                     element_part(type->type, expected + i * size, part));
            largest = found > largest ? found : largest;
        }
    return largest;
}

struct comparison compare_arrays(const void *result, const void *expected, const struct npy_array *array,
                                 double tolerance)
{
    const struct element_type *type = &array->type;
    const char *a = result, *b = expected;
    struct comparison found = {.count = 0};
    size_t size = type->bytes;
    if (array->count == 0 || memcmp(a, b, array->bytes) == 0)
        return found;
    for (size_t i = 0; i < array->count; i++, a += size, b += size) {
        if (memcmp(a, b, size) == 0)
            continue;
        double apart = element_deviation(type, a, b);
        found.largest = apart > found.largest ? apart : found.largest;
        if (element_parts(type->type) && tolerance >= 0 && apart <= tolerance)
            continue;
        if (found.count++ == 0) {
            found.first = i;
            element_format(type, b, found.expected);
        }
    }
    return found;
}
