/* instance.h - finds the kernel that a name on the command line means. */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stddef.h>

#include <cuferry/registry.h>

#include "kernel/argument.h"
#include "base/message.h"

/* 1 if `name` is the kernel's or its family's name, or a name of their C functions. */
int instance_is_named(const cf_module *module, const cf_kernel *kernel, const char *name);

/* Kernels or families that a command line names (none: all), less the excluded ones. Kernels that only serve operations
 * count among all only if `with_internal`. */
struct instance_names {
    int with_internal;
    char *const *names;
    size_t count;
    char *const *exceptions;
    size_t exception_count;
};

/* Checks that every name means a kernel; tests a kernel against the choice. */
int instance_check_names(const cf_module *module, const struct instance_names *names, struct message *message);
int instance_is_meant(const cf_module *module, const cf_kernel *kernel, const struct instance_names *names);

/* Any kernel that `name` means, since a family shares its parameter names; NULL if there is none. */
const cf_kernel *instance_any(const cf_module *module, const char *name, struct message *message);

/* The kernel that `name` means and that suits the given arrays best; NULL if not exactly one. */
const cf_kernel *instance_pick(const cf_module *module, const char *name, const struct argument *arguments,
                               struct message *message);

#endif
