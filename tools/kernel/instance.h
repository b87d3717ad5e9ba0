/* instance.h - finds the kernel that a name on the command line means. */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "kernel/argument.h"
#include "base/message.h"

/* Returns 1 if `name` is the name of the kernel, of its family, or of one of their C functions. */
int instance_is_named(const cf_module *module, const cf_kernel *kernel, const char *name);

/* Kernels or families that a command line names, and those that it excludes. Without names, all kernels are meant, but
 * those that only operations use only if `with_internal`. */
struct instance_names {
    int with_internal;
    char *const *names;
    size_t count;
    char *const *exceptions;
    size_t exception_count;
};

/* instance_check_names() fails with a message if a name means no kernel. instance_is_meant() returns 1 if a name means
 * `kernel`. */
int instance_check_names(const cf_module *module, const struct instance_names *names, struct message *message);
int instance_is_meant(const cf_module *module, const cf_kernel *kernel, const struct instance_names *names);

/* Returns any kernel that `name` means, which tells the names of parameters, since they are the same in a family.
 * Returns NULL with a message if there is none. */
const cf_kernel *instance_any(const cf_module *module, const char *name, struct message *message);

/* Returns the kernel that `name` means and that suits the given arrays best; NULL with a message if there is not
 * exactly one. */
const cf_kernel *instance_pick(const cf_module *module, const char *name, const struct argument *arguments,
                               struct message *message);

#endif
