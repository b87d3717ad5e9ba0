/* element.h - single values of the registry's types: kinds, limits, text. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "base/message.h"

/* Wide enough for every value of every integer type. */
__extension__ typedef __int128 element_wide;

/* A value of any type except vectors and structs; its address serves as the address of an object of the type. An integer
 * is in the low bytes of `integer`, because all supported processors are little-endian. */
union element {
    uint64_t integer;
    uint16_t bits; /* a 16-bit float */
    float f32;
    double f64;
    cf_complex64 c64;
    cf_complex128 c128;
};

/* Type of an array's elements or of a parameter's value. */
struct element_type {
    cf_type type;             /* type of the components */
    uint32_t lanes;           /* components of a vector; otherwise 1 */
    uint32_t bytes;           /* size of all components or of a struct; 0 for void * */
    const cf_member *members; /* of a struct; NULL: unknown */
};

/* 1 if values of a type are integers or bool. */
int element_is_integer(cf_type type);

/* Number type with a short name of `length` bytes; CF_TYPE_COUNT if there is none. */
cf_type element_type(const char *name, size_t length);

/* Writes "f32", "f32x4" for a vector, "V24" for a struct of 24 bytes, "void". */
#define ELEMENT_NAME 24
void element_name(const struct element_type *type, char name[ELEMENT_NAME]);

/* Limits of an integer type. */
element_wide element_min(cf_type type);
element_wide element_max(cf_type type);

/* Reads a decimal or 0x hexadecimal integer with an optional sign; -1 for other text or past 2^100. */
int element_read_integer(const char *text, element_wide *value);

/* Reads a number: true and false for bool, 1+2j for complex types. The message begins with `what`. */
int element_read(cf_type type, const char *text, void *value, const char *what, struct message *message);

/* Reads `count` numbers separated by commas. */
int element_read_list(cf_type type, const char *text, size_t count, void *values, const char *what,
                      struct message *message);

/* Stores an integer as a value of an integer type; -1 if it is outside the type's range. */
int element_store(cf_type type, element_wide integer, void *value);

/* Value of an integer type; -1 past 2^63 - 1 or for another type. */
int element_integer(cf_type type, const void *value, int64_t *integer);

/* Real numbers that make up a value: 2 for complex types, 0 for structs and pointers, otherwise 1. Reading a part is
 * exact if long double has 64 bits of precision; writing rounds. */
int element_parts(cf_type type);
long double element_part(cf_type type, const void *value, int part);
void element_set_part(cf_type type, void *value, int part, double number);

/* A struct's values in the order of its members. Returns the place of value `number` of a member in an element, and the
 * number of values of a member; appends its path, ".cells[3].x". */
size_t element_member_place(const cf_member *member, size_t number);
size_t element_member_count(const cf_member *member);
void element_member_add(const cf_member *member, size_t number, struct message *message);

/* Writes a value with the fewest digits that read back as the same value (0.1, 100, 1e+20), or a struct's first
 * bytes. */
#define ELEMENT_TEXT 160
void element_format(const struct element_type *type, const void *value, char text[ELEMENT_TEXT]);

#endif
