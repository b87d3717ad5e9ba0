/* module.h - opens the kernels of a kernel file, or of a shared object or object made by cfcc. */
#ifndef MODULE_H
#define MODULE_H

#include <cuferry/registry.h>

#include "base/message.h"

/* Opens a file made by `cfcc --shared`; or an object made by cfcc, or a kernel file, of which the cfcc beside this
 * program first makes a shared object. The kernels stay until the process ends. NULL with a message for other files and
 * versions. */
const cf_module *module_open(const char *path, struct message *message);

/* Returns 1 for the name of a kernel file. */
int module_is_source(const char *path);

#endif
