/* instance.h - finds the kernel that a name on the command line means. */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "kernel/argument.h"
#include "base/message.h"

/* Whether `name` is a kernel's name, or else its family's; the names of their C functions do too. */
int instance_is_named(const cf_module *module, const cf_kernel *kernel, const char *name);

/* What a command line names: kernels or families, all where there are none, and those that are left out. Those that serve
 * operations alone are among all only where `with_internal` says so. */
struct instance_names {
    int with_internal;
    char *const *names;
    size_t count;
    char *const *exceptions;
    size_t exception_count;
};

/* Every name has to mean a kernel; and whether a kernel is meant. */
int instance_check_names(const cf_module *module, const struct instance_names *names, struct message *message);
int instance_is_meant(const cf_module *module, const cf_kernel *kernel, const struct instance_names *names);

/* Any kernel that `name` means, as all of a family have the same parameter names; NULL where there is none. */
const cf_kernel *instance_any(const cf_module *module, const char *name, struct message *message);

/* The one kernel that `name` means and that the given arrays suit best; NULL where there is not one. */
const cf_kernel *instance_pick(const cf_module *module, const char *name, const struct argument *arguments,
                               struct message *message);

#endif
