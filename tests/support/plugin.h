/* plugin.h - the functions of the shared object that plugin.c builds. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <cuferry.h>

/* Uses every device; returns the status, with its detail. */
typedef int plugin_use_function(const char **detail);
__attribute__((visibility("default"))) plugin_use_function plugin_use;

/* Locks a mutex of the library in the calling thread, and never unlocks it. */
typedef void plugin_hold_function(void);
__attribute__((visibility("default"))) plugin_hold_function plugin_hold;

/* Calls cf_set_log() of the shared object. */
typedef void plugin_set_log_function(cf_log *log, void *data);
__attribute__((visibility("default"))) plugin_set_log_function plugin_set_log;

/* Returns the kernels of the shared object. */
struct cf_module;
typedef const struct cf_module *plugin_module_function(void);
__attribute__((visibility("default"))) plugin_module_function plugin_module;

#endif
