/* trace_file.h - the file of a trace. */
#ifndef CF__TRACE_FILE_H
#define CF__TRACE_FILE_H

#include <limits.h>

/* Opens the file that `name`, the value of CF_TRACE, stands for, and locks it: returns its descriptor and writes its path.
 * -1 with `errno` on failure; EAGAIN where a living writer has the file. */
int cf__trace_file(const char *name, char path[PATH_MAX]);

#endif
