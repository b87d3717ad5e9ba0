/* type_name.c - finds the types in signatures by their C names. */
#include <stdint.h>
#include <string.h>

#include <cuferry/registry.h>
#include <cuferry/types.h>

#include "model/type_name.h"

#define INTEGER(ctype) {#ctype, CF_INTEGER_TYPE(ctype), 1, sizeof(ctype), _Alignof(ctype)},
/* A complex number is aligned to its size, as in CUDA. */
#define SCALAR(type, text, ctype, kind, digits, code) \
    {#ctype, type, 1, sizeof(ctype), (kind) == 'c' ? sizeof(ctype) : _Alignof(ctype)},
#define OF_VECTOR(name, element, lanes) \
    {"cf_" #name #lanes, CF_NUMBER_TYPE((element)0), lanes, sizeof(cf_##name##lanes), _Alignof(cf_##name##lanes)},
#define VECTORS(name, element, align2, align4) \
    OF_VECTOR(name, element, 1) OF_VECTOR(name, element, 2) OF_VECTOR(name, element, 3) OF_VECTOR(name, element, 4)

/* The first entry of a name counts, so CF_OPAQUE's unsigned char is no type of a signature. */
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
    INTEGER(size_t)
    INTEGER(ptrdiff_t)
    INTEGER(intptr_t)
    INTEGER(uintptr_t)
    CF_TYPE_LIST(SCALAR)
    CF_VECTOR_LIST(VECTORS)
    {"cf_half2", CF_F16, 2, sizeof(cf_half2), _Alignof(cf_half2)},
    {"void", CF_OPAQUE, 1, 0, 0},
    /* clang-format on */
};

const struct cf__type_name *cf__type_find(const char *name, int may_go_on)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *known = types[i].ctype + (strncmp(types[i].ctype, "cf_", 3) == 0 ? 3 : 0);
        if (strncmp(known, name, length) == 0 && (!known[length] || (may_go_on && known[length] == ' ')))
            return &types[i];
    }
    return NULL;
}
