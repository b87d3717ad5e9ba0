/* element.c - single values of the registry's types: their kinds and limits, from text and to text. */
#include "element.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

char element_kind(cf_type type)
{
    switch (type) {
#define ELEMENT_KIND(name, text, ctype) \
    case name:                          \
        return (ctype)0.5 != (ctype)0 ? 'f' : (ctype)-1 < (ctype)1 ? 'i' : 'u';
        ELEMENT_LIST(ELEMENT_KIND)
#undef ELEMENT_KIND
    default:
        return 0;
    }
}

cf_type element_type(const char *name, size_t length)
{
    for (int type = 0; type < CF_TYPE_COUNT; type++) {
        const char *known = cf_type_name((cf_type)type);
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            return (cf_type)type;
    }
    return CF_TYPE_COUNT;
}

element_wide element_max(cf_type type)
{
    int bits = (int)cf_type_size(type) * 8 - (element_kind(type) == 'i');
    return ((element_wide)1 << bits) - 1;
}

element_wide element_min(cf_type type)
{
    return element_kind(type) == 'i' ? -element_max(type) - 1 : 0;
}

int element_read_integer(const char *text, element_wide *value)
{
    const element_wide limit = (element_wide)1 << 100;
    int negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    if (base == 16)
        text += 2;
    if (!*text)
        return -1;
    element_wide sum = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (!(base == 16 ? isxdigit(c) : isdigit(c)) || sum > limit)
            return -1;
        sum = sum * base + (isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
    }
    *value = negative ? -sum : sum;
    return 0;
}

int element_store(cf_type type, element_wide integer, union element *value)
{
    if (element_kind(type) == 'f' || integer < element_min(type) || integer > element_max(type))
        return -1;
    memset(value, 0, sizeof *value);
    switch (type) {
#define ELEMENT_STORE(name, text, ctype)   \
    case name:                             \
        value->of_##name = (ctype)integer; \
        return 0;
        ELEMENT_LIST(ELEMENT_STORE)
#undef ELEMENT_STORE
    default:
        return -1;
    }
}

int element_integer(cf_type type, const union element *value, int64_t *integer)
{
    element_wide wide = 0;
    if (element_kind(type) == 'f')
        return -1;
    switch (type) {
#define ELEMENT_LOAD(name, text, ctype)        \
    case name:                                 \
        wide = (element_wide)value->of_##name; \
        break;
        ELEMENT_LIST(ELEMENT_LOAD)
#undef ELEMENT_LOAD
    default:
        return -1;
    }
    *integer = (int64_t)wide;
    return wide > INT64_MAX ? -1 : 0;
}

static int read_floating(cf_type type, const char *text, union element *value)
{
    char *end;
    memset(value, 0, sizeof *value);
    if (!*text || isspace((unsigned char)*text))
        return -1;
    errno = 0;
    double number = type == CF_F32 ? (double)strtof(text, &end) : strtod(text, &end);
    if (*end || (errno == ERANGE && isinf(number))) /* what is too small for the type rounds, as in C */
        return -1;
    if (type == CF_F32)
        value->of_CF_F32 = (float)number;
    else
        value->of_CF_F64 = number;
    return 0;
}

int element_read(cf_type type, const char *text, union element *value, const char *what, struct message *message)
{
    element_wide integer;
    if (element_kind(type) == 'f')
        return read_floating(type, text, value) == 0
                   ? 0
                   : message_set(message, "%s: '%s' is not a number that %s holds", what, text, cf_type_name(type));
    if (element_read_integer(text, &integer) != 0)
        return message_set(message, "%s: '%s' is not an integer", what, text);
    if (element_store(type, integer, value) != 0)
        return message_set(message, "%s: %s is outside the range of %s", what, text, cf_type_name(type));
    return 0;
}

void element_format(cf_type type, const void *value, char text[ELEMENT_TEXT])
{
    union element copy;
    memset(&copy, 0, sizeof copy);
    memcpy(&copy, value, cf_type_size(type));
    int64_t integer = 0;
    if (type == CF_F32)
        snprintf(text, ELEMENT_TEXT, "%.9g", (double)copy.of_CF_F32);
    else if (type == CF_F64)
        snprintf(text, ELEMENT_TEXT, "%.17g", copy.of_CF_F64);
    else if (element_integer(type, &copy, &integer) == 0)
        snprintf(text, ELEMENT_TEXT, "%" PRId64, integer);
    else
        snprintf(text, ELEMENT_TEXT, "%" PRIu64, copy.of_CF_U64);
}
