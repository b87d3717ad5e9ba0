/* type_name.c - finds the types in signatures by their C names. */
#include <stdint.h>
#include <string.h>

#include <cuferry/registry.h>
#include <cuferry/types.h>

#include "model/type_name.h"

#define SCALAR(name, ctype, type) {name, #ctype, type, 1, sizeof(ctype), _Alignof(ctype)},
#define INTEGER(ctype) SCALAR(#ctype, ctype, CF_INTEGER_TYPE(ctype))
#define OF_VECTOR(name, element, lanes)                                  \
    {#name #lanes, "cf_" #name #lanes,       CF_NUMBER_TYPE((element)0), \
     lanes,        sizeof(cf_##name##lanes), _Alignof(cf_##name##lanes)},
#define VECTORS(name, element, align2, align4) \
    OF_VECTOR(name, element, 1) OF_VECTOR(name, element, 2) OF_VECTOR(name, element, 3) OF_VECTOR(name, element, 4)

/* A complex number is aligned to its size, as in CUDA. */
static const struct cf__type_name types[] = {
    /* clang-format off */
    INTEGER(char)
    INTEGER(signed char)
    INTEGER(unsigned char)
    INTEGER(short)
    INTEGER(short int)
    INTEGER(unsigned short)
    INTEGER(unsigned short int)
    INTEGER(int)
    INTEGER(unsigned)
    INTEGER(unsigned int)
    INTEGER(long)
    INTEGER(long int)
    INTEGER(unsigned long)
    INTEGER(unsigned long int)
    INTEGER(long long)
    INTEGER(long long int)
    INTEGER(unsigned long long)
    INTEGER(unsigned long long int)
    INTEGER(int8_t)
    INTEGER(int16_t)
    INTEGER(int32_t)
    INTEGER(int64_t)
    INTEGER(uint8_t)
    INTEGER(uint16_t)
    INTEGER(uint32_t)
    INTEGER(uint64_t)
    INTEGER(size_t)
    INTEGER(ptrdiff_t)
    INTEGER(intptr_t)
    INTEGER(uintptr_t)
    SCALAR("bool", bool, CF_BOOL)
    SCALAR("float", float, CF_F32)
    SCALAR("double", double, CF_F64)
    SCALAR("half", cf_half, CF_F16)
    SCALAR("bfloat16", cf_bfloat16, CF_BF16)
    CF_VECTOR_LIST(VECTORS)
    {"half2", "cf_half2", CF_F16, 2, sizeof(cf_half2), _Alignof(cf_half2)},
    {"complex64", "cf_complex64", CF_C64, 1, 8, 8},
    {"complex128", "cf_complex128", CF_C128, 1, 16, 16},
    {"void", "void", CF_OPAQUE, 1, 0, 0},
    /* clang-format on */
};

const struct cf__type_name *cf__type_find(const char *name, int may_go_on)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strncmp(types[i].name, name, length) == 0 &&
            (!types[i].name[length] || (may_go_on && types[i].name[length] == ' ')))
            return &types[i];
    return NULL;
}
