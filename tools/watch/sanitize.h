/* sanitize.h - runs cf-run again on kernels that were rebuilt for a check, and prints the findings. */
#ifndef SANITIZE_H
#define SANITIZE_H

#include "base/message.h"

/* Rebuilds the kernels of `module` for check `kind` ("address", "undefined", "race", "poison") with the C++ compiler
 * `cxx` (NULL: the configured one), runs this program on them with the same arguments, and prints the findings. A
 * `module` of NULL stands for the bundled kernels: those that `family` needs, or all if it is NULL. Returns -1 after
 * findings or a failure. */
int sanitize_run(const char *kind, const char *module, const char *family, const char *cxx, char **argv,
                 struct message *message);

#endif
