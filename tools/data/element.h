/* element.h - single values of the registry's types: their kinds and limits, from text and to text. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "base/message.h"

/* Holds every value of every integer type. */
__extension__ typedef __int128 element_wide;

/* The types whose values are integers; a bool is read as the byte that it is, since that may hold anything. */
#define ELEMENT_INTEGERS(X)    \
    X(CF_I8, "i8", int8_t)     \
    X(CF_I16, "i16", int16_t)  \
    X(CF_I32, "i32", int32_t)  \
    X(CF_I64, "i64", int64_t)  \
    X(CF_U8, "u8", uint8_t)    \
    X(CF_U16, "u16", uint16_t) \
    X(CF_U32, "u32", uint32_t) \
    X(CF_U64, "u64", uint64_t) \
    X(CF_BOOL, "bool", uint8_t)

/* A value of any type but a vector or a struct; its address serves as that of the type's own object. */
union element {
#define ELEMENT_MEMBER(name, text, ctype) ctype of_##name;
    ELEMENT_INTEGERS(ELEMENT_MEMBER)
#undef ELEMENT_MEMBER
    uint16_t bits; /* of a 16-bit float */
    float of_CF_F32;
    double of_CF_F64;
    cf_complex64 of_CF_C64;
    cf_complex128 of_CF_C128;
};

/* What an array's elements are, or a parameter's value. */
struct element_type {
    cf_type type;   /* of the components, where there are several */
    uint32_t lanes; /* components of a vector; else 1 */
    uint32_t bytes; /* of all components; of a struct; 0 where void * points */
};

/* 'i', 'u', 'f', 'c', 'b': signed, unsigned, floating, complex, bool; 'V': bytes of a struct; 'p': pointers. NumPy
 * uses the same letters, but for pointers. */
char element_kind(cf_type type);

/* Whether values of a type are integers, bool included. */
int element_is_integer(cf_type type);

/* The type of numbers with a short name, `length` bytes of `name`; CF_TYPE_COUNT where there is none. */
cf_type element_type(const char *name, size_t length);

/* Writes "f32", "f32x4" of a vector, "V24" of a struct of 24 bytes, "void". */
#define ELEMENT_NAME 24
void element_name(const struct element_type *type, char name[ELEMENT_NAME]);

/* The limits of an integer type. */
element_wide element_min(cf_type type);
element_wide element_max(cf_type type);

/* Reads an integer, decimal or 0x hexadecimal, with or without a sign; -1 where the text is none, or is past 2^100. */
int element_read_integer(const char *text, element_wide *value);

/* Reads a number: integers, true and false for bool, 1+2j for complex types; `what` begins the message. */
int element_read(cf_type type, const char *text, void *value, const char *what, struct message *message);

/* Reads `count` numbers with commas in between. */
int element_read_list(cf_type type, const char *text, size_t count, void *values, const char *what,
                      struct message *message);

/* Stores an integer as a value of an integer type; -1 where it is outside the type's range. */
int element_store(cf_type type, element_wide integer, void *value);

/* The value of an integer type; -1 where it is past 2^63 - 1, or of another type. */
int element_integer(cf_type type, const void *value, int64_t *integer);

/* The real numbers that make a value: 2 for complex types, 0 for structs and pointers, else 1. One of them is read
 * exactly where long double has 64 bits for its digits, and written rounded. */
int element_parts(cf_type type);
long double element_part(cf_type type, const void *value, int part);
void element_set_part(cf_type type, void *value, int part, double number);

/* Writes a value by the fewest digits that read back as the same value: 0.1, 100, 1e+20; a struct by its first bytes. */
#define ELEMENT_TEXT 160
void element_format(const struct element_type *type, const void *value, char text[ELEMENT_TEXT]);

#endif
