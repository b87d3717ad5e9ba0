/* element.h - properties of the registry's types, and reading and writing of single values. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "base/message.h"

/* Integer that can hold every value of every integer type. */
__extension__ typedef __int128 element_wide;

/* A value of any type except vectors and structs; its address serves as the address of an object of the type. An
 * integer is in the low bytes of `integer`, because all supported processors are little-endian. */
union element {
    uint64_t integer;
    cf_complex128 largest;
};

/* Type of an array's elements or of a parameter's value. */
struct element_type {
    cf_type type;             /* type of the components */
    uint32_t lanes;           /* components of a vector; otherwise 1 */
    uint32_t bytes;           /* size of all components or of the struct; 0 for void * */
    const cf_member *members; /* members of a struct; NULL: unknown, or no struct */
};

/* Returns 1 if values of a type are integers or bool. */
int element_is_integer(cf_type type);

/* Returns the type of a type's elements in NumPy's files: the type itself, or for floats that NumPy lacks, such as
 * bfloat16, the unsigned integer of their size, which holds their bits. */
cf_type element_file_type(cf_type type);

/* Returns the number type with a short name, such as "f32", of `length` bytes; CF_TYPE_COUNT if there is none. */
cf_type element_type(const char *name, size_t length);

/* Writes a type's name: "f32", "f32x4" for a vector, "V24" for a struct of 24 bytes, or "void". */
#define ELEMENT_NAME 24
void element_name(const struct element_type *type, char name[ELEMENT_NAME]);

/* Return the least and the greatest value of an integer type. */
element_wide element_min(cf_type type);
element_wide element_max(cf_type type);

/* Reads an integer, decimal or hexadecimal with 0x, with an optional sign. Returns -1 for other text and past 2^100. */
int element_read_integer(const char *text, element_wide *value);

/* Reads a number: "true" or "false" for bool, "1+2j" for complex types. Returns 0, or -1 with a message that begins
 * with `what`. */
int element_read(cf_type type, const char *text, void *value, const char *what, struct message *message);

/* Reads `count` numbers separated by commas. */
int element_read_list(cf_type type, const char *text, size_t count, void *values, const char *what,
                      struct message *message);

/* Stores an integer as a value of an integer type. Returns -1 if it is outside the type's range. */
int element_store(cf_type type, element_wide integer, void *value);

/* Reads the value of an integer type. Returns -1 past 2^63 - 1 or for another type. */
int element_integer(cf_type type, const void *value, int64_t *integer);

/* Access the real numbers that a value consists of. element_parts() returns their number: 2 for complex types, 0 for
 * structs and pointers, otherwise 1. Reading a part is exact if long double has 64 bits of precision; setting one
 * rounds. */
int element_parts(cf_type type);
long double element_part(cf_type type, const void *value, int part);
void element_set_part(cf_type type, void *value, int part, double number);

/* Functions for the values of a struct's member. The first returns the offset in an element of value `number` of the
 * member, the second the number of values; the third appends the value's path, such as ".cells[3].x". */
size_t element_member_place(const cf_member *member, size_t number);
size_t element_member_count(const cf_member *member);
void element_member_add(const cf_member *member, size_t number, struct message *message);

/* Writes a number with the fewest digits that read back as the same value (0.1, 100, 1e+20), or the first bytes of a
 * struct. */
#define ELEMENT_TEXT 160
void element_format(const struct element_type *type, const void *value, char text[ELEMENT_TEXT]);

#endif
