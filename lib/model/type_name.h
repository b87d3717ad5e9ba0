/* type_name.h - types of signatures. */
#ifndef CF__TYPE_NAME_H
#define CF__TYPE_NAME_H

#include <stdint.h>

#include <cuferry/registry.h>

struct cf__type_name {
    const char *name, *ctype; /* without cf_, and in C */
    cf_type type;
    uint32_t lanes, bytes, align; /* as in cf_param */
};

/* Returns the type of a name, such as "unsigned int" or "float4", or with `may_go_on` one whose name begins with these
 * words; NULL: there is none. */
const struct cf__type_name *cf__type_find(const char *name, int may_go_on);

#endif
