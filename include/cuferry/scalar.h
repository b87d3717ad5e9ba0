/* scalar.h - the table of scalar types, their facts, and conversions of floats, also of those that C sees as bits. */
#ifndef CUFERRY_SCALAR_H
#define CUFERRY_SCALAR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cuferry/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Scalar types: enumerator, short name, C type, kind, binary digits of a value, code in DLPack. The digits do not
 * include the sign, but include the leading 1 of a float; for complex numbers they are those of one part. cf-run reads
 * the short names, such as f32 and i64. Kinds: 'i' signed, 'u' unsigned, 'f' floating, 'c' complex, 'b' bool, 'p'
 * pointer, 'V' bytes. DLPack's code (DLDataTypeCode) tells floats of one size apart; -1: it has none. */
#define CF_TYPE_LIST(X)                           \
    X(CF_I8, "i8", int8_t, 'i', 7, 0)             \
    X(CF_I16, "i16", int16_t, 'i', 15, 0)         \
    X(CF_I32, "i32", int32_t, 'i', 31, 0)         \
    X(CF_I64, "i64", int64_t, 'i', 63, 0)         \
    X(CF_U8, "u8", uint8_t, 'u', 8, 1)            \
    X(CF_U16, "u16", uint16_t, 'u', 16, 1)        \
    X(CF_U32, "u32", uint32_t, 'u', 32, 1)        \
    X(CF_U64, "u64", uint64_t, 'u', 64, 1)        \
    X(CF_F32, "f32", float, 'f', 24, 2)           \
    X(CF_F64, "f64", double, 'f', 53, 2)          \
    X(CF_BOOL, "bool", bool, 'b', 1, 6)           \
    X(CF_F16, "f16", cf_half, 'f', 11, 2)         \
    X(CF_BF16, "bf16", cf_bfloat16, 'f', 8, 4)    \
    X(CF_C64, "c64", cf_complex64, 'c', 24, 5)    \
    X(CF_C128, "c128", cf_complex128, 'c', 53, 5) \
    X(CF_E4M3, "e4m3", cf_fp8_e4m3, 'f', 4, 10)   \
    X(CF_E5M2, "e5m2", cf_fp8_e5m2, 'f', 3, 12)   \
    X(CF_PTR, "ptr", void *, 'p', 0, 3)           \
    X(CF_OPAQUE, "opaque", unsigned char, 'V', 0, -1)

/* CF_PTR is a pointer that is an element of an array, or a member of a value. CF_OPAQUE is a struct, or the element of
 * a void *; its size is in the parameter. */
typedef enum cf_type {
#define CF_TYPE_ENUM(name, text, ctype, kind, digits, code) name,
    CF_TYPE_LIST(CF_TYPE_ENUM)
#undef CF_TYPE_ENUM
        CF_TYPE_COUNT
} cf_type;

/* The cf_type of an integer C type of any spelling, as a constant expression, because char and enumerations differ by
 * platform. Other types do not compile. */
#define CF_INTEGER_TYPE(ctype)                                                                                    \
    (sizeof(char[(ctype)0.5 == 0 || sizeof(ctype) == 1 ? 1 : -1]) != 1 ? CF_TYPE_COUNT                            \
     : sizeof(ctype) == 1                                              ? ((ctype)-1 < (ctype)1 ? CF_I8 : CF_U8)   \
     : sizeof(ctype) == 2                                              ? ((ctype)-1 < (ctype)1 ? CF_I16 : CF_U16) \
     : sizeof(ctype) == 4                                              ? ((ctype)-1 < (ctype)1 ? CF_I32 : CF_U32) \
                                                                       : ((ctype)-1 < (ctype)1 ? CF_I64 : CF_U64))

/* The cf_type of a number, which may also be float or double. */
#define CF_NUMBER_TYPE(number)                                                              \
    _Generic((number), float                                                                \
             : CF_F32, double                                                               \
             : CF_F64, default                                                              \
             : CF_INTEGER_TYPE(__typeof__(_Generic((number), float : 0, double : 0, default \
                                                   : (number)))))

#define CF__TYPE_FACT(result, fact)   \
    switch (type) {                   \
        CF_TYPE_LIST(CF__TYPE_##fact) \
    default:                          \
        return result;                \
    }
#define CF__TYPE_NAME(name, text, ctype, kind, digits, code) \
    case name:                                               \
        return text;
#define CF__TYPE_SIZE(name, text, ctype, kind, digits, code) \
    case name:                                               \
        return sizeof(ctype);
#define CF__TYPE_KIND(name, text, ctype, kind, digits, code) \
    case name:                                               \
        return kind;
#define CF__TYPE_DIGITS(name, text, ctype, kind, digits, code) \
    case name:                                                 \
        return digits;
#define CF__TYPE_CODE(name, text, ctype, kind, digits, code) \
    case name:                                               \
        return code;

/* Return the short name, the size in bytes, the kind, the binary digits and DLPack's code of a type; NULL, 0 and, for
 * the code, -1 if there is no such type. */
static inline const char *cf_type_name(cf_type type)
{
    CF__TYPE_FACT(NULL, NAME)
}

static inline size_t cf_type_size(cf_type type)
{
    CF__TYPE_FACT(0, SIZE)
}

static inline char cf_type_kind(cf_type type)
{
    CF__TYPE_FACT(0, KIND)
}

static inline int cf_type_digits(cf_type type)
{
    CF__TYPE_FACT(0, DIGITS)
}

static inline int cf_type_code(cf_type type)
{
    CF__TYPE_FACT(-1, CODE)
}
#undef CF__TYPE_FACT
#undef CF__TYPE_NAME
#undef CF__TYPE_SIZE
#undef CF__TYPE_KIND
#undef CF__TYPE_DIGITS
#undef CF__TYPE_CODE

/* ---- Floats ----------------------------------------------------------------------------------------------------- */

/* Return, for floats that C sees as bits, the largest exponent, and the bits of infinity or, for a type without it, of
 * the only NaN. */
static inline uint64_t cf__float_limit(cf_type type)
{
    return (UINT64_C(1) << (8 * cf_type_size(type) - (size_t)cf_type_digits(type))) - 1;
}

static inline uint64_t cf__float_infinity(cf_type type)
{
    const uint64_t fraction = (UINT64_C(1) << (cf_type_digits(type) - 1)) - 1;
    return cf__float_limit(type) << (cf_type_digits(type) - 1) | (type == CF_E4M3 ? fraction : 0);
}

/* Returns the float of a type of kind 'f' at `address`, which may have any alignment; 0 for other kinds. */
static inline double cf_float_read(cf_type type, const void *address)
{
    const size_t size = cf_type_size(type);
    const int fraction_bits = cf_type_digits(type) - 1;
    double number = 0;
    float single;
    uint64_t bits = 0;
    if (cf_type_kind(type) != 'f')
        return 0;
    memcpy(&bits, address, size); /* all supported processors are little-endian */
    if (size == sizeof single) {
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    }
    if (size < sizeof number) {
        const uint64_t sign = bits >> (8 * size - 1), rest = bits & ~(sign << (8 * size - 1));
        const uint64_t exponent = rest >> fraction_bits, fraction = rest & ((UINT64_C(1) << fraction_bits) - 1);
        if (rest >= cf__float_infinity(type)) { /* a double has the same form */
            bits = sign << 63 | UINT64_C(0x7ff) << 52 | fraction << (52 - fraction_bits);
        } else {
            /* The sign and the unit of the fraction. A denormal number has the exponent 1, and no leading 1. */
            const uint64_t least = 1023 - cf__float_limit(type) / 2 - (uint64_t)fraction_bits;
            bits = sign << 63 | (least + (exponent ? exponent : 1)) << 52;
            memcpy(&number, &bits, sizeof number);
            return number * (double)(fraction | (uint64_t)(exponent != 0) << fraction_bits);
        }
    }
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Stores a number as a float of a type of kind 'f' in the cf_type_size(type) bytes at `address`, of any alignment. It
 * is rounded to the nearest, ties to even. Too large numbers become infinity, or NaN if the type has none; CUDA's
 * constructors of 8-bit floats saturate instead. Stores nothing for other kinds. */
static inline void cf_float_write(cf_type type, double number, void *address)
{
    const size_t size = cf_type_size(type);
    const int fraction_bits = cf_type_digits(type) - 1;
    const float single = (float)number;
    uint64_t bits;
    if (cf_type_kind(type) != 'f')
        return;
    memcpy(&bits, &number, sizeof bits);
    if (size == sizeof single) {
        memcpy(&bits, &single, sizeof single);
    } else if (size < sizeof number) {
        const uint64_t sign = bits >> 63 << (8 * size - 1), infinity = cf__float_infinity(type);
        const int exponent = (int)(bits >> 52 & 0x7ff) - 1023, bias = (int)(cf__float_limit(type) / 2);
        const int least = exponent > 1 - bias ? exponent : 1 - bias; /* denormal numbers have the least exponent */
        const int distance = 52 - fraction_bits + least - exponent, shift = distance < 54 ? distance : 54;
        const uint64_t significand = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
        uint64_t rest = (significand + (UINT64_C(1) << (shift - 1)) - 1 + (significand >> shift & 1)) >> shift;
        /* The sum counts the leading 1, and raises the exponent if the significand rounds up to 2. */
        rest += (uint64_t)(least + bias - 1) << fraction_bits;
        rest = rest < infinity ? rest : infinity;
        if (number != number) /* a quiet NaN with the first bits of the number's own */
            rest = infinity | UINT64_C(1) << (fraction_bits - 1) |
                   (significand >> (52 - fraction_bits) & ~(UINT64_C(1) << fraction_bits));
        bits = sign | rest;
    }
    memcpy(address, &bits, size);
}

#ifdef __cplusplus
}
#endif

#endif
