/* dtype.h - reads and writes the names of element types in NumPy files: '<f4', '|V24', [('x', '<f4'), ('id',
 * '<i8')]. */
#ifndef DTYPE_H
#define DTYPE_H

#include "data/element.h"
#include "data/literal.h"
#include "base/message.h"

/* Reads a header's 'descr'. A structured type becomes CF_OPAQUE with its size. Returns 0, or -1 with a message that
 * begins with `path`. */
int dtype_parse(struct literal *literal, const char *path, struct element_type *type, struct message *message);

/* Writes the 'descr' of a type's components: "'<f4'" for float4, "'|V24'" for a struct, and "'<u2'" for bfloat16, which
 * NumPy lacks. */
#define DTYPE_TEXT 24
void dtype_format(const struct element_type *type, char text[DTYPE_TEXT]);

#endif
