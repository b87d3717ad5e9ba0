/* dtype.h - element types as NumPy files name them: '<f4', '|V24', [('x', '<f4'), ('id', '<i8')]. */
#ifndef DTYPE_H
#define DTYPE_H

#include "data/element.h"
#include "data/literal.h"
#include "base/message.h"

/* Reads a 'descr'. A structured type becomes CF_OPAQUE of its size; the message begins with `path`. */
int dtype_parse(struct literal *literal, const char *path, struct element_type *type, struct message *message);

/* Writes the descr of a type's components: "'<f4'" for float4, "'|V24'" for a struct, "'<u2'" for bfloat16, which plain
 * NumPy can convert by a shift. */
#define DTYPE_TEXT 24
void dtype_format(const struct element_type *type, char text[DTYPE_TEXT]);

#endif
