/* find.h - finds the parts of CUDA on this machine. */
#ifndef CF__FIND_H
#define CF__FIND_H

#include "base/bounds.h"

/* The name of the processor's folder in toolkits and in Conda environments. */
#if defined __aarch64__
#define CF__TARGET_FOLDER "targets/sbsa-linux"
#else
#define CF__TARGET_FOLDER "targets/x86_64-linux"
#endif

/* Writes the path of a part, like cf_find(), from a toolkit whose major version is at most `most_major`. Returns a
 * status, whose message names `function`. */
int cf__find_part(const char *function, const char *name, int most_major, char path[CF__PATH]);

#endif
