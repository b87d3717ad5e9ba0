/* type_name.h - the types that signatures can name. */
#ifndef CF__TYPE_NAME_H
#define CF__TYPE_NAME_H

#include <stdint.h>

#include <cuferry/registry.h>

struct cf__type_name {
    const char *ctype; /* name in C; signatures may omit its cf_ */
    cf_type type;
    uint32_t lanes, bytes, align; /* same as in cf_param */
};

/* Returns the type with a name such as "unsigned int" or "float4", without cf_. With `may_go_on`, `name` may also be
 * the first words of a type's name. Returns NULL if there is none. */
const struct cf__type_name *cf__type_find(const char *name, int may_go_on);

#endif
