/* element.h - single values of the registry's types: their kinds and limits, from text and to text. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

#include "message.h"

/* Holds every value of every integer type. */
__extension__ typedef __int128 element_wide;

/* The types that have an element of their own on the command line. */
#define ELEMENT_LIST(X)        \
    X(CF_I8, "i8", int8_t)     \
    X(CF_I16, "i16", int16_t)  \
    X(CF_I32, "i32", int32_t)  \
    X(CF_I64, "i64", int64_t)  \
    X(CF_U8, "u8", uint8_t)    \
    X(CF_U16, "u16", uint16_t) \
    X(CF_U32, "u32", uint32_t) \
    X(CF_U64, "u64", uint64_t) \
    X(CF_F32, "f32", float)    \
    X(CF_F64, "f64", double)

/* A value of any type; its address serves as that of the type's own object. */
union element {
#define ELEMENT_MEMBER(name, text, ctype) ctype of_##name;
    ELEMENT_LIST(ELEMENT_MEMBER)
#undef ELEMENT_MEMBER
};

/* 'i', 'u' or 'f': signed, unsigned, floating. NumPy uses the same letters. */
char element_kind(cf_type type);

/* The type with a short name, `length` bytes of `name`; CF_TYPE_COUNT where there is none. */
cf_type element_type(const char *name, size_t length);

/* The limits of an integer type. */
element_wide element_min(cf_type type);
element_wide element_max(cf_type type);

/* Reads an integer, decimal or 0x hexadecimal, with or without a sign; -1 where the text is none, or is past 2^100. */
int element_read_integer(const char *text, element_wide *value);

/* Reads a value; `what` begins the message. */
int element_read(cf_type type, const char *text, union element *value, const char *what, struct message *message);

/* Stores an integer as a value of an integer type; -1 where it is outside the type's range. */
int element_store(cf_type type, element_wide integer, union element *value);

/* The value of an integer type; -1 where it is past 2^63 - 1, or of a floating type. */
int element_integer(cf_type type, const union element *value, int64_t *integer);

/* Writes a value so that reading it gives the same value again. 40 bytes are enough. */
#define ELEMENT_TEXT 40
void element_format(cf_type type, const void *value, char text[ELEMENT_TEXT]);

#endif
