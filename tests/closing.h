/* closing.h - what the shared object of closing.c has. */
#ifndef CLOSING_H
#define CLOSING_H

/* Uses every device, and gives the status, with its detail. */
typedef int closing_use_function(const char **detail);
__attribute__((visibility("default"))) closing_use_function closing_use;

#endif
