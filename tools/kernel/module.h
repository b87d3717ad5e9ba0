/* module.h - opens the kernels of a shared object or an object that cfcc made. */
#ifndef MODULE_H
#define MODULE_H

#include <cuferry/registry.h>

#include "base/message.h"

/* Opens a file that `cfcc --shared` made; or one that cfcc made, of which the cfcc beside this program first makes a
 * shared object. NULL where it is none, or one of another version. The kernels are there until the process ends. */
const cf_module *module_open(const char *path, struct message *message);

#endif
