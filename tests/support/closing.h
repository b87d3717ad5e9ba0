/* closing.h - the functions of the shared object that closing.c builds. */
#ifndef CLOSING_H
#define CLOSING_H

/* Uses every device; returns the status and sets its detail. */
typedef int closing_use_function(const char **detail);
__attribute__((visibility("default"))) closing_use_function closing_use;

/* Locks a mutex of the library in the calling thread and keeps it locked. */
typedef void closing_hold_function(void);
__attribute__((visibility("default"))) closing_hold_function closing_hold;

/* Returns the kernels of the shared object. */
struct cf_module;
typedef const struct cf_module *closing_module_function(void);
__attribute__((visibility("default"))) closing_module_function closing_module;

#endif
