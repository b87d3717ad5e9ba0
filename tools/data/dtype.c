/* dtype.c - reads and writes the names of element types in NumPy files: '<f4', '|V24', [('x', '<f4'), ('id',
 * '<i8')]. */
#include "data/dtype.h"

#include <inttypes.h>
#include <stdio.h>

#define NESTING 8 /* greatest depth of nested structures, enough for data from C */

static int bad_descr(const char *path, struct message *message)
{
    return message_set(message, "%s: its header has no valid descr", path);
}

static int too_large(const char *path, struct message *message)
{
    return message_set(message, "%s: its elements are too large", path);
}

/* Returns the size in bytes that a type name states: 8 for "<f8", and 40 for "<U10", whose characters have 4 bytes; 0
 * for objects and unknown types. A unit may follow, as in "<M8[ns]". */
static int64_t size_of(const char *name)
{
    static const char kinds[] = "biufcmMSUV";
    if (!name[0] || !strchr("<>|=", name[0]) || !name[1] || !strchr(kinds, name[1]))
        return 0;
    struct literal literal = {name + 2, name + strlen(name)};
    int64_t size = 0;
    int fits = 1;
    if (!literal_integer(&literal, &size, &fits) || !fits || size > INT32_MAX)
        return 0;
    return literal.at < literal.end && *literal.at != '[' ? 0 : name[1] == 'U' ? 4 * size : size;
}

/* Reads a type name; the byte order must be the machine's. */
static int parse_name(struct literal *literal, const char *path, char *name, size_t size, int64_t *bytes,
                      struct message *message)
{
    if (!literal_string(literal, name, size))
        return bad_descr(path, message);
    *bytes = size_of(name);
    if (name[0] == '>' && *bytes > 1 && name[1] != 'V' && name[1] != 'S')
        return message_set(message, "%s: its elements, '%s', are big-endian; little-endian ones are read", path, name);
    return 0;
}

/* ---- Structures ---- */

static int parse_structure(struct literal *literal, const char *path, int depth, int64_t *bytes,
                           struct message *message);

/* Reads the shape of a field, "(2, 3)" or "2", and multiplies its dimensions. */
static int parse_repeats(struct literal *literal, const char *path, int64_t *bytes, struct message *message)
{
    int in_parentheses = literal_accept(literal, "("), fits = 1;
    int64_t repeats;
    while (literal_integer(literal, &repeats, &fits)) {
        fits &= !__builtin_mul_overflow(*bytes, repeats, bytes);
        if (!in_parentheses || !literal_accept(literal, ","))
            break;
    }
    if (in_parentheses && !literal_accept(literal, ")"))
        return bad_descr(path, message);
    return fits ? 0 : too_large(path, message);
}

/* Reads a field whose opening parenthesis has been read: a name or a pair of title and name, a type, and an optional
 * shape. */
static int parse_field(struct literal *literal, const char *path, int depth, int64_t *bytes, struct message *message)
{
    char name[256], type[32];
    int is_titled = literal_accept(literal, "(");
    int is_named = literal_string(literal, name, sizeof name);
    if (is_titled)
        is_named = is_named && literal_accept(literal, ",") && literal_string(literal, name, sizeof name) &&
                   literal_accept(literal, ")");
    if (!is_named || !literal_accept(literal, ","))
        return bad_descr(path, message);
    if (literal_accept(literal, "[")) {
        if (parse_structure(literal, path, depth + 1, bytes, message) != 0)
            return -1;
    } else {
        if (parse_name(literal, path, type, sizeof type, bytes, message) != 0)
            return -1;
        if (*bytes == 0 && strcmp(type, "|V0") != 0)
            return message_set(message, "%s: its field '%s' is of type '%s', which has no bytes in a file", path, name,
                               type);
    }
    if (literal_accept(literal, ",") && parse_repeats(literal, path, bytes, message) != 0)
        return -1;
    return literal_accept(literal, ")") ? 0 : bad_descr(path, message);
}

/* Reads the fields that follow a "[" and adds up their sizes. */
static int parse_structure(struct literal *literal, const char *path, int depth, int64_t *bytes,
                           struct message *message)
{
    int comma = 1;
    *bytes = 0;
    if (depth > NESTING)
        return message_set(message, "%s: its elements are structures in more than %d others", path, NESTING);
    while (!literal_accept(literal, "]")) {
        int64_t field = 0;
        if (!comma || !literal_accept(literal, "("))
            return bad_descr(path, message);
        if (parse_field(literal, path, depth, &field, message) != 0)
            return -1;
        if (__builtin_add_overflow(*bytes, field, bytes))
            return too_large(path, message);
        comma = literal_accept(literal, ",");
    }
    return 0;
}

/* ---- All types ---- */

int dtype_parse(struct literal *literal, const char *path, struct element_type *type, struct message *message)
{
    char name[32];
    int64_t bytes;
    *type = (struct element_type){.type = CF_OPAQUE, .lanes = 1};
    if (literal_accept(literal, "[")) {
        if (parse_structure(literal, path, 0, &bytes, message) != 0)
            return -1;
        if (bytes == 0 || bytes > INT32_MAX)
            return bytes ? too_large(path, message) : bad_descr(path, message);
        type->bytes = (uint32_t)bytes;
        return 0;
    }
    if (parse_name(literal, path, name, sizeof name, &bytes, message) != 0)
        return -1;
    for (int known = 0; known < CF_TYPE_COUNT && bytes; known++) {
        int is_struct = known == CF_OPAQUE && name[1] == 'V';
        /* ml_dtypes calls e5m2 <f1, and other floats that NumPy lacks bytes. */
        int is_named = known == CF_E5M2 || element_file_type((cf_type)known) == (cf_type)known;
        if (!is_named || known == CF_PTR || name[0] == '=' || (bytes > 1 && name[0] == '|' && !is_struct))
            continue;
        if (is_struct || (name[1] == cf_type_kind((cf_type)known) && cf_type_size((cf_type)known) == (size_t)bytes)) {
            type->type = (cf_type)known;
            type->bytes = (uint32_t)bytes;
            return 0;
        }
    }
    return message_set(message, "%s: its elements are '%s'; numbers of C and structures are read, such as '<i4', '<f8'",
                       path, name);
}

void dtype_format(const struct element_type *type, char text[DTYPE_TEXT])
{
    const cf_type filed = element_file_type(type->type);
    char kind = cf_type_kind(filed);
    size_t size = cf_type_size(filed);
    if (kind == 'V' || kind == 'p')
        snprintf(text, DTYPE_TEXT, "'|V%" PRIu32 "'", type->bytes);
    else
        snprintf(text, DTYPE_TEXT, "'%c%c%zu'", size > 1 ? '<' : '|', kind, size);
}
