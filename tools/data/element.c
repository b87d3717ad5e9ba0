/* element.c - properties of the registry's types, and reading and writing of single values. */
#include "data/element.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Types ---- */

int element_is_integer(cf_type type)
{
    char kind = cf_type_kind(type);
    return kind == 'i' || kind == 'u' || kind == 'b';
}

cf_type element_file_type(cf_type type)
{
    const int numpys = 2; /* DLPack's code of the floats that NumPy has */
    if (cf_type_kind(type) != 'f' || cf_type_code(type) == numpys)
        return type;
    int other = 0;
    while (cf_type_kind((cf_type)other) != 'u' || cf_type_size((cf_type)other) != cf_type_size(type))
        other++;
    return (cf_type)other;
}

cf_type element_type(const char *name, size_t length)
{
    for (int type = 0; type < CF_TYPE_COUNT; type++) {
        const char *known = cf_type_name((cf_type)type);
        if (element_parts((cf_type)type) && strlen(known) == length && memcmp(known, name, length) == 0)
            return (cf_type)type;
    }
    return CF_TYPE_COUNT;
}

void element_name(const struct element_type *type, char name[ELEMENT_NAME])
{
    if (type->type == CF_OPAQUE && type->bytes == 0)
        snprintf(name, ELEMENT_NAME, "void");
    else if (type->type == CF_OPAQUE)
        snprintf(name, ELEMENT_NAME, "V%" PRIu32, type->bytes);
    else if (type->lanes > 1)
        snprintf(name, ELEMENT_NAME, "%sx%" PRIu32, cf_type_name(type->type), type->lanes);
    else
        snprintf(name, ELEMENT_NAME, "%s", cf_type_name(type->type));
}

/* ---- Members ---- */

size_t element_member_count(const cf_member *member)
{
    size_t count = 1;
    for (uint32_t d = 0; d < member->ndims; d++)
        count *= member->strides[d].count;
    return count;
}

size_t element_member_place(const cf_member *member, size_t number)
{
    size_t place = member->offset;
    for (uint32_t d = member->ndims; d-- > 0; number /= member->strides[d].count)
        place += number % member->strides[d].count * member->strides[d].bytes;
    return place;
}

void element_member_add(const cf_member *member, size_t number, struct message *message)
{
    size_t below = element_member_count(member);
    uint32_t d = 0;
    message_add(message, ".");
    for (const char *at = member->path; *at; at++) {
        message_add(message, "%c", *at);
        if (*at != '[')
            continue;
        below /= member->strides[d++].count;
        message_add(message, "%zu", number / below);
        number %= below;
    }
}

/* ---- Integers ---- */

element_wide element_max(cf_type type)
{
    return ((element_wide)1 << cf_type_digits(type)) - 1;
}

element_wide element_min(cf_type type)
{
    return cf_type_kind(type) == 'i' ? -element_max(type) - 1 : 0;
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

int element_store(cf_type type, element_wide integer, void *value)
{
    if (!element_is_integer(type) || integer < element_min(type) || integer > element_max(type))
        return -1;
    const uint64_t bits = (uint64_t)integer;
    memcpy(value, &bits, cf_type_size(type));
    return 0;
}

int element_integer(cf_type type, const void *value, int64_t *integer)
{
    const size_t size = cf_type_size(type);
    uint64_t bits = 0;
    if (!element_is_integer(type))
        return -1;
    memcpy(&bits, value, size);
    const int unused = 64 - 8 * (int)size, is_signed = cf_type_kind(type) == 'i';
    *integer = is_signed ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
    return !is_signed && bits > INT64_MAX ? -1 : 0;
}

/* ---- Real numbers ---- */

int element_parts(cf_type type)
{
    char kind = cf_type_kind(type);
    return kind == 'c' ? 2 : kind == 'V' || kind == 'p' || kind == 0 ? 0 : 1;
}

static cf_type part_type(cf_type type)
{
    return type == CF_C64 ? CF_F32 : type == CF_C128 ? CF_F64 : type;
}

static const void *part_of(cf_type type, const void *value, int part)
{
    return (const char *)value + (size_t)part * cf_type_size(part_type(type));
}

long double element_part(cf_type type, const void *value, int part)
{
    const cf_type real = part_type(type);
    const void *at = part_of(type, value, part);
    uint64_t large = 0;
    int64_t integer = 0;
    if (cf_type_kind(real) == 'f')
        return (long double)cf_float_read(real, at);
    if (element_integer(real, at, &integer) == 0)
        return (long double)integer;
    memcpy(&large, at, cf_type_size(real));
    return (long double)large;
}

void element_set_part(cf_type type, void *value, int part, double number)
{
    const cf_type real = part_type(type);
    cf_float_write(real, number, (char *)value + (size_t)part * cf_type_size(real));
}

/* Reads one part of a floating or complex value; sets `end` after it. */
static int read_part(cf_type type, const char *text, const char **end, void *value, int part)
{
    char *stop;
    if (!*text || isspace((unsigned char)*text))
        return -1;
    errno = 0;
    double number = part_type(type) == CF_F32 ? (double)strtof(text, &stop) : strtod(text, &stop);
    if (stop == text || (errno == ERANGE && isinf(number))) /* a too small number rounds, as in C */
        return -1;
    *end = stop;
    element_set_part(type, value, part, number);
    const long double stored = element_part(type, value, part);
    return (isinf(stored) && !isinf(number)) || (isnan(stored) && !isnan(number)) ? -1 : 0;
}

/* Reads "1", "2j" or "1+2j" in Python's notation. */
static int read_complex(cf_type type, const char *text, void *value)
{
    const char *end;
    element_set_part(type, value, 1, 0);
    if (read_part(type, text, &end, value, 0) != 0)
        return -1;
    if (!*end)
        return 0;
    if (strcmp(end, "j") == 0) {
        element_set_part(type, value, 1, (double)element_part(type, value, 0));
        element_set_part(type, value, 0, 0);
        return 0;
    }
    if (*end != '+' && *end != '-')
        return -1;
    return read_part(type, end, &end, value, 1) == 0 && strcmp(end, "j") == 0 ? 0 : -1;
}

/* ---- Text ---- */

static int read_real(cf_type type, const char *text, void *value)
{
    const char *end;
    return read_part(type, text, &end, value, 0) == 0 && !*end ? 0 : -1;
}

int element_read(cf_type type, const char *text, void *value, const char *what, struct message *message)
{
    element_wide integer;
    char kind = cf_type_kind(type);
    if (kind == 'f' || kind == 'c')
        return (kind == 'f' ? read_real : read_complex)(type, text, value) == 0
                   ? 0
                   : message_set(message, "%s: '%s' is not a number that %s holds%s", what, text, cf_type_name(type),
                                 kind == 'c' ? ", such as 1+2j" : "");
    int is_true = kind == 'b' && strcmp(text, "true") == 0, is_false = kind == 'b' && strcmp(text, "false") == 0;
    if (is_true || is_false)
        integer = is_true;
    else if (element_read_integer(text, &integer) != 0)
        return message_set(message, "%s: '%s' is not an integer%s", what, text, kind == 'b' ? ", true or false" : "");
    if (element_store(type, integer, value) != 0)
        return message_set(message, "%s: %s is outside the range of %s", what, text, cf_type_name(type));
    return 0;
}

int element_read_list(cf_type type, const char *text, size_t count, void *values, const char *what,
                      struct message *message)
{
    size_t given = 1;
    for (const char *at = text; *at; at++)
        given += *at == ',';
    if (given != count && count == 1)
        return element_read(type, text, values, what, message);
    if (given != count)
        return message_set(message, "%s: '%s' has %zu number%s and %zu are needed", what, text, given,
                           given == 1 ? "" : "s", count);
    char *copy = strdup(text);
    if (!copy)
        return message_set(message, "%s: no memory", what);
    int status = 0;
    char *at = copy;
    for (size_t i = 0; status == 0 && i < count; i++) {
        char *end = at + strcspn(at, ",");
        *end = 0;
        status = element_read(type, at, (char *)values + i * cf_type_size(type), what, message);
        at = end + 1;
    }
    free(copy);
    return status;
}

/* Returns the number of decimal digits that distinguishes all values of a floating-point type, computed from its binary
 * digits. */
static int digits(cf_type type)
{
    const double decimal_per_binary = 0.30103;
    return 2 + (int)(cf_type_digits(type) * decimal_per_binary);
}

static int reads_back(cf_type type, const char *text, int part, double number)
{
    unsigned char again[sizeof(cf_complex128)];
    const char *end;
    return read_part(type, text, &end, again, part) == 0 && element_part(type, again, part) == (long double)number;
}

/* Writes one part with the fewest digits that read back as the same number. Large numbers get trailing zeros, not an
 * exponent (1000, not 1e3). */
static size_t format_part(cf_type type, const void *value, int part, const char *format, char *text, size_t size)
{
    const double number = (double)element_part(type, value, part);
    const int most = digits(part_type(type));
    int enough = 0;
    for (int count = 1; count <= most; count++) {
        snprintf(text, size, format, count, number);
        if (!reads_back(type, text, part, number))
            continue;
        enough = enough ? enough : count;
        if (!strstr(text, "e+")) {
            enough = count;
            break;
        }
    }
    return (size_t)snprintf(text, size, format, enough ? enough : most, number);
}

/* Writes a value; returns the length. */
static size_t format_number(cf_type type, const void *value, char *text, size_t size)
{
    int64_t integer = 0;
    uint64_t large;
    size_t length;
    switch (cf_type_kind(type)) {
    case 'f':
        return format_part(type, value, 0, "%.*g", text, size);
    case 'c':
        length = format_part(type, value, 0, "%.*g", text, size);
        return length + format_part(type, value, 1, "%+.*gj", text + length, size - length);
    default:
        if (element_integer(type, value, &integer) == 0)
            return (size_t)snprintf(text, size, "%" PRId64, integer);
        memcpy(&large, value, sizeof large);
        return (size_t)snprintf(text, size, "%" PRIu64, large);
    }
}

void element_format(const struct element_type *type, const void *value, char text[ELEMENT_TEXT])
{
    const uint32_t shown = 32; /* most bytes of a struct that are shown */
    size_t used = 0, size = element_parts(type->type) ? cf_type_size(type->type) : 0;
    if (size == 0)
        used += (size_t)snprintf(text, ELEMENT_TEXT, "0x");
    for (uint32_t i = 0; size == 0 && i < type->bytes && i < shown; i++)
        used += (size_t)snprintf(text + used, ELEMENT_TEXT - used, "%02x", ((const unsigned char *)value)[i]);
    if (size == 0 && type->bytes > shown)
        snprintf(text + used, ELEMENT_TEXT - used, "...");
    for (uint32_t i = 0; size && i < type->lanes && used < ELEMENT_TEXT; i++) {
        if (i)
            text[used++] = ',';
        used += format_number(type->type, (const char *)value + i * size, text + used, ELEMENT_TEXT - used);
    }
}
