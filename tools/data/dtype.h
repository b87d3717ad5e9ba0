/* dtype.h - the types of elements as NumPy's files name them: '<f4', '|V24', [('x', '<f4'), ('id', '<i8')]. */
#ifndef DTYPE_H
#define DTYPE_H

#include "data/element.h"
#include "data/literal.h"
#include "base/message.h"

/* Takes a 'descr'. Structured types become CF_OPAQUE of their size; `path` begins the message. */
int dtype_parse(struct literal *literal, const char *path, struct element_type *type, struct message *message);

/* Writes the descr of a type's components: "'<f4'" of float4, "'<u2'" of bfloat16, which plain NumPy can shift into
 * place, "'|V24'" of a struct. */
#define DTYPE_TEXT 24
void dtype_format(const struct element_type *type, char text[DTYPE_TEXT]);

#endif
