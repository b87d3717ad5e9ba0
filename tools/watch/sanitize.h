/* sanitize.h - runs cf-run once more over kernels that were built anew to be checked. */
#ifndef SANITIZE_H
#define SANITIZE_H

#include "base/message.h"

/* Builds the kernels of `module`, NULL for the bundled ones, for a check of a kind ("address", "race", "poison") with the C++
 * compiler `cxx`, NULL for the configured one, runs this program on them with the same arguments, and prints what that
 * found. -1 where it found anything, or failed. */
int sanitize_run(const char *kind, const char *module, const char *cxx, char **argv, struct message *message);

#endif
