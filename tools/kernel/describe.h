/* describe.h - prints what the registry knows of kernels. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include <cuferry/registry.h>

#include "base/message.h"

/* Prints one line for each kernel, and for each setter of a constant: its name and its C prototype. */
void describe_all(const cf_module *module);

/* Prints all that is known of the kernel called `name`, or of each of that family, or of a setter such as "set_dt". */
int describe_named(const cf_module *module, const char *name, struct message *message);

#endif
