/* closing.h - what the shared object of closing.c has. */
#ifndef CLOSING_H
#define CLOSING_H

/* Uses every device, and gives the status, with its detail. */
typedef int closing_use_function(const char **detail);
__attribute__((visibility("default"))) closing_use_function closing_use;

/* Has the calling thread hold a lock of its library's. */
typedef void closing_hold_function(void);
__attribute__((visibility("default"))) closing_hold_function closing_hold;

/* Its kernels. */
struct cf_module;
typedef const struct cf_module *closing_module_function(void);
__attribute__((visibility("default"))) closing_module_function closing_module;

#endif
