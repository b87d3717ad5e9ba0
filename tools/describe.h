/* describe.h - prints what the registry knows of kernels. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include <cuferry/registry.h>

#include "message.h"

/* Prints one line for each kernel: its name and its C prototype. */
void describe_all(void);

/* Prints all that is known of the kernel called `name`, or of each of that family. */
int describe_named(const char *name, struct message *message);

#endif
