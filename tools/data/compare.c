/* compare.c - compares a result with the expected values, bit for bit or within a tolerance. */
#include "data/compare.h"

#include <math.h>
#include <string.h>

/* Returns |a - b| / max(1, |b|), or infinity if only equal numbers could agree. */
static double deviation(long double a, long double b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    if (!isfinite(a) || !isfinite(b))
        return (double)INFINITY;
    long double size = fabsl(b);
    return (double)(fabsl(a - b) / (size > 1 ? size : 1));
}

/* Returns the largest deviation among an element's numbers. */
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

/* Returns 1 if two values differ by more than the tolerance, and stores the first such pair. `member`: the struct's
 * member that contains the values, or NULL. */
static int value_differs(const struct element_type *type, const char *result, const char *expected, double tolerance,
                         const cf_member *member, size_t number, struct comparison *found)
{
    if (memcmp(result, expected, type->bytes) == 0)
        return 0;
    double apart = element_deviation(type, result, expected);
    found->largest = apart > found->largest ? apart : found->largest;
    if (element_parts(type->type) && tolerance >= 0 && apart <= tolerance)
        return 0;
    if (!*found->result) {
        found->member = member;
        found->number = number;
        found->is_bytes = !element_parts(type->type);
        element_format(type, result, found->result);
        element_format(type, expected, found->expected);
    }
    return 1;
}

static int element_differs(const struct element_type *type, const char *result, const char *expected, double tolerance,
                           struct comparison *found)
{
    if (memcmp(result, expected, type->bytes) == 0)
        return 0;
    if (!type->members)
        return value_differs(type, result, expected, tolerance, NULL, 0, found);
    int differs = 0;
    for (const cf_member *member = type->members; member->path; member++) {
        const struct element_type of = {member->type, member->lanes, member->bytes, NULL};
        const double allowed = element_is_integer(member->type) ? COMPARE_EXACT : tolerance;
        const size_t count = element_member_count(member);
        for (size_t number = 0; number < count; number++) {
            size_t place = element_member_place(member, number);
            differs |= value_differs(&of, result + place, expected + place, allowed, member, number, found);
        }
    }
    return differs;
}

struct comparison compare_arrays(const void *result, const void *expected, const struct npy_array *array,
                                 double tolerance)
{
    const char *a = result, *b = expected;
    struct comparison found = {.count = 0};
    size_t size = array->type.bytes;
    if (array->count == 0 || memcmp(a, b, array->bytes) == 0)
        return found;
    for (size_t i = 0; i < array->count; i++, a += size, b += size)
        if (element_differs(&array->type, a, b, tolerance, &found) && found.count++ == 0)
            found.first = i;
    return found;
}

void compare_add_member(const struct comparison *comparison, struct message *message)
{
    if (comparison->member)
        element_member_add(comparison->member, comparison->number, message);
}

void compare_add_count(const struct comparison *comparison, size_t count, double tolerance, struct message *message)
{
    message_add(message, "; %zu of %zu elements differ", comparison->count, count);
    if (comparison->is_bytes)
        message_add(message, ", compared by bytes");
    else
        message_add(message, ", by up to %.3g", comparison->largest);
    if (tolerance >= 0)
        message_add(message, ", tolerance %.3g", tolerance);
}
