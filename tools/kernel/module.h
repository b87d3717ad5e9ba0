/* module.h - opens the kernels of a kernel file, or of a shared object or object made by cfcc. */
#ifndef MODULE_H
#define MODULE_H

#include <cuferry/registry.h>

#include "base/message.h"

/* Opens a shared object made by `cfcc --shared`, an object made by cfcc, or a kernel file. The last two are first made
 * a shared object by the cfcc in the folder of this program. The kernels stay valid until the process ends. Returns
 * NULL with a message for other files and versions. */
const cf_module *module_open(const char *path, struct message *message);

/* Returns 1 for the name of a kernel file. */
int module_is_source(const char *path);

#endif
