/* describe.h - prints what the registry tells about kernels. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include <cuferry/registry.h>

#include "base/message.h"

/* Prints a line with the name and the C prototype for each kernel and for each setter of a constant. */
void describe_all(const cf_module *module);

/* Prints all data of kernel `name`, of each member of that family, or of a setter such as "set_dt". */
int describe_named(const cf_module *module, const char *name, struct message *message);

#endif
