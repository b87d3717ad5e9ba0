/* make.c - generates arrays of random, distinct, ascending or equal numbers. */
#include "data/make.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/random.h"

/* Rules for generating arrays: each has a name, and fields that follow TYPE:COUNT. */
static const struct rule {
    const char *name;
    int rule;
    int numbers; /* number of mandatory fields */
    int seeded;
    const char *kinds; /* kinds of types that it can make, see CF_TYPE_LIST */
    const char *usage, *makes;
} rules[] = {
    {"random", MAKE_RANDOM, 0, 1, "fc", "random:TYPE:COUNT[:seed=S]",
     "floating-point and complex numbers; randint:TYPE:COUNT:LOW:HIGH makes integers"},
    {"randint", MAKE_RANDINT, 2, 1, "iub", "randint:TYPE:COUNT:LOW:HIGH[:seed=S]", "integers"},
    {"distinct", MAKE_DISTINCT, 2, 1, "iu", "distinct:TYPE:COUNT:LOW:HIGH[:seed=S]", "integers"},
    {"ascending", MAKE_ASCENDING, 2, 1, "iu", "ascending:TYPE:COUNT:LOW:HIGH[:seed=S]", "integers"},
    {"fill", MAKE_FILL, 1, 0, "iubfc", "fill:TYPE:COUNT:VALUE", "all numbers"},
};
#define RULES (sizeof rules / sizeof *rules)
#define MAX_FIELDS 6

static const struct rule *find_rule(const char *text)
{
    for (size_t i = 0; i < RULES; i++) {
        size_t length = strlen(rules[i].name);
        if (strncmp(text, rules[i].name, length) == 0 && text[length] == ':')
            return &rules[i];
    }
    return NULL;
}

int make_is_named(const char *text)
{
    return find_rule(text) != NULL;
}

/* ---- Text ---- */

/* Splits a text such as "random:f32:100" in place. Returns the number of fields, or MAX_FIELDS + 1 if there are
 * more. */
static int split(char *text, char *fields[MAX_FIELDS])
{
    int count = 0;
    for (char *next = text; next; count++) {
        if (count == MAX_FIELDS)
            return MAX_FIELDS + 1;
        fields[count] = next;
        next = strchr(next, ':');
        if (next)
            *next++ = 0;
    }
    return count;
}

/* Reads a count such as "100" or a shape such as "100x200". */
static int read_shape(const char *text, struct npy_array *array, const char *what, struct message *message)
{
    const char *at = text;
    array->ndims = 0;
    do {
        char digits[24];
        size_t length = strspn(at, "0123456789");
        element_wide value;
        if (length == 0 || (at[length] && at[length] != 'x'))
            return message_set(message, "%s: '%s' is not a count such as 100, or a shape such as 100x200", what, text);
        if (array->ndims == NPY_DIMS)
            return message_set(message, "%s: %s has more than %d dimensions", what, text, NPY_DIMS);
        if (length >= sizeof digits)
            return message_set(message, "%s: %s elements are too many", what, text);
        memcpy(digits, at, length);
        digits[length] = 0;
        if (element_read_integer(digits, &value) != 0 || value > INT64_MAX)
            return message_set(message, "%s: %s elements are too many", what, text);
        array->shape[array->ndims++] = (int64_t)value;
        at += length;
    } while (*at++ == 'x');
    return npy_measure(array) == 0 ? 0 : message_set(message, "%s: %s elements are too many", what, text);
}

/* Reads the bounds of integer rules. The upper bound is exclusive, so it may be one past the type's largest value. */
static int read_range(struct make *make, const char *low_text, const char *high_text, const char *what,
                      struct message *message)
{
    element_wide low, high;
    if (element_read_integer(low_text, &low) != 0 || element_read_integer(high_text, &high) != 0)
        return message_set(message, "%s: LOW and HIGH, '%s' and '%s', are not both integers", what, low_text,
                           high_text);
    if (low >= high)
        return message_set(message, "%s: there is no integer in [%s, %s)", what, low_text, high_text);
    if (element_store(make->type, low, &make->low) != 0 || element_store(make->type, high - 1, &make->high) != 0)
        return message_set(message, "%s: [%s, %s) is outside the range of %s", what, low_text, high_text,
                           cf_type_name(make->type));
    return 0;
}

/* Returns a bound of the integers modulo 2^64. */
static uint64_t bound(const struct make *make, const union element *of)
{
    int64_t integer = 0;
    (void)element_integer(make->type, of, &integer);
    return (uint64_t)integer;
}

/* Returns the number of integers in [low, high] modulo 2^64, so that 0 stands for 2^64. */
static uint64_t span_of(const struct make *make)
{
    return bound(make, &make->high) - bound(make, &make->low) + 1;
}

static int check_distinct(const struct make *make, size_t count, const char *what, struct message *message)
{
    uint64_t span = span_of(make);
    if (span && count > span)
        return message_set(message, "%s: %zu elements cannot all differ; there are %" PRIu64 " integers", what, count,
                           span);
    return 0;
}

/* Reads "seed=S" from the last field. */
static int read_seed(struct make *make, const char *text, const char *what, struct message *message)
{
    union element seed;
    if (strncmp(text, "seed=", 5) != 0)
        return message_set(message, "%s: '%s' is not seed=S", what, text);
    if (element_read(CF_U64, text + 5, &seed, what, message) != 0)
        return -1;
    make->seed = seed.integer;
    return 0;
}

static int read_fields(struct make *make, const struct rule *rule, char *copy, const char *what,
                       struct npy_array *array, struct message *message)
{
    char *fields[MAX_FIELDS];
    int count = split(copy, fields), wanted = 3 + rule->numbers;
    if (count != wanted && !(rule->seeded && count == wanted + 1))
        return message_set(message, "%s: it should read %s", what, rule->usage);
    make->rule = rule->rule;
    make->type = element_type(fields[1], strlen(fields[1]));
    if (make->type == CF_TYPE_COUNT)
        return message_set(message, "%s: there is no type '%s'; %s and %s are two; a FILE.npy gives structs", what,
                           fields[1], cf_type_name(CF_F32), cf_type_name(CF_I64));
    if (!strchr(rule->kinds, cf_type_kind(make->type)))
        return message_set(message, "%s: %s makes %s", what, rule->name, rule->makes);
    array->type = (struct element_type){make->type, 1, (uint32_t)cf_type_size(make->type), NULL};
    if (read_shape(fields[2], array, what, message) != 0 ||
        (rule->numbers == 2 && read_range(make, fields[3], fields[4], what, message) != 0) ||
        (make->rule == MAKE_DISTINCT && check_distinct(make, array->count, what, message) != 0) ||
        (make->rule == MAKE_FILL && element_read(make->type, fields[3], &make->low, what, message) != 0))
        return -1;
    return count > wanted ? read_seed(make, fields[wanted], what, message) : 0;
}

int make_read(struct make *make, const char *text, const char *name, struct npy_array *array, struct message *message)
{
    char what[160], *copy = strdup(text);
    if (!copy)
        return message_set(message, "%s: no memory", name);
    snprintf(what, sizeof what, "%s=%s", name, text);
    int status = read_fields(make, find_rule(text), copy, what, array, message);
    free(copy);
    return status;
}

/* ---- Elements ---- */

/* Stores the low bytes of an integer as element `i`. */
static inline void put_integer(void *elements, size_t i, size_t size, uint64_t integer)
{
    if (size == sizeof(uint8_t))
        ((uint8_t *)elements)[i] = (uint8_t)integer;
    else if (size == sizeof(uint16_t))
        ((uint16_t *)elements)[i] = (uint16_t)integer;
    else if (size == sizeof(uint32_t))
        ((uint32_t *)elements)[i] = (uint32_t)integer;
    else
        ((uint64_t *)elements)[i] = integer;
}

static void make_integers(const struct make *make, void *elements, size_t count)
{
    const uint64_t low = bound(make, &make->low), span = span_of(make);
    const size_t size = cf_type_size(make->type);
    for (size_t i = 0; i < count; i++)
        put_integer(elements, i, size,
                    low + (make->rule == MAKE_RANDINT ? random_below(make->seed, i, span)
                                                      : random_permuted(make->seed, i, span)));
}

/* Returns a random distance between numbers; some distances are many times larger than most. */
static double distance(const struct make *make, uint64_t i)
{
    const double e = -log1p(-random_f64(make->seed, i));
    return e * e;
}

/* Makes ascending integers from low to high. */
static void make_ascending(const struct make *make, void *elements, size_t count)
{
    const uint64_t step = make->is_strict ? 1 : 0, low = bound(make, &make->low);
    const uint64_t width = bound(make, &make->high) - low - step * (count - 1);
    const size_t size = cf_type_size(make->type);
    double total = 0, behind = 0;
    for (size_t i = 1; i < count; i++)
        total += distance(make, i);
    for (size_t i = 0; i < count; i++) {
        behind += i > 0 ? distance(make, i) : 0;
        const double part = total > 0 ? behind / total * (double)width : 0;
        const uint64_t above = i > 0 && (i == count - 1 || part >= (double)width) ? width : (uint64_t)part;
        put_integer(elements, i, size, low + above + step * i);
    }
}

/* Makes numbers in [0, 1). They are multiples of the spacing of the type's largest numbers there, so that the type
 * holds them exactly. A complex number is made of two. */
static void make_reals(const struct make *make, char *elements, size_t count)
{
    int parts = element_parts(make->type);
    size_t size = cf_type_size(make->type);
    int digits = cf_type_digits(make->type);
    for (size_t i = 0; i < count; i++)
        for (int part = 0; part < parts; part++) {
            uint64_t bits = random_bits(make->seed, i * (size_t)parts + (size_t)part) >> (64 - digits);
            element_set_part(make->type, elements + i * size, part, ldexp((double)bits, -digits));
        }
}

/* Writes the first element, then doubles the filled part. */
static void make_equal(const struct make *make, char *elements, size_t bytes)
{
    size_t done = cf_type_size(make->type);
    memcpy(elements, &make->low, done);
    while (done < bytes) {
        size_t part = done < bytes - done ? done : bytes - done;
        memcpy(elements + done, elements, part);
        done += part;
    }
}

void make_elements(const struct make *make, void *elements, size_t bytes)
{
    size_t count = bytes / cf_type_size(make->type);
    if (count == 0)
        return;
    if (make->rule == MAKE_FILL)
        make_equal(make, elements, bytes);
    else if (make->rule == MAKE_RANDINT || make->rule == MAKE_DISTINCT)
        make_integers(make, elements, count);
    else if (make->rule == MAKE_ASCENDING)
        make_ascending(make, elements, count);
    else if (make->type == CF_F32) /* large f32 arrays are common, and this loop is ten times as fast */
        for (size_t i = 0; i < count; i++)
            ((float *)elements)[i] = random_f32(make->seed, i);
    else
        make_reals(make, elements, count);
}

/* ---- Structs ---- */

static void make_any(cf_type type, uint64_t seed, void *number)
{
    struct make make = {.rule = MAKE_RANDOM, .type = type, .seed = seed};
    if (element_is_integer(type)) {
        make.rule = MAKE_RANDINT;
        (void)element_store(type, 0, &make.low);
        (void)element_store(type, type == CF_BOOL ? 1 : MAKE_ANY_HIGH, &make.high);
    }
    make_elements(&make, number, cf_type_size(type));
}

void make_members(const cf_member *members, uint64_t seed, void *element)
{
    uint64_t done = 0;
    for (const cf_member *member = members; member && member->path; member++) {
        const size_t bytes = cf_type_size(member->type), lanes = member->lanes;
        const int is_number = element_parts(member->type) || element_is_integer(member->type);
        for (size_t i = 0; is_number && i < element_member_count(member) * lanes; i++) {
            union element number; /* a copy, since a packed member may not be aligned */
            make_any(member->type, random_bits(seed, done++), &number);
            memcpy((char *)element + element_member_place(member, i / lanes) + i % lanes * bytes, &number, bytes);
        }
    }
}
