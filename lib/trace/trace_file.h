/* trace_file.h - the file of a trace. */
#ifndef CF__TRACE_FILE_H
#define CF__TRACE_FILE_H

#include <limits.h>

/* Opens and locks the file that `name`, the value of CF_TRACE, stands for, and writes its path. Returns a descriptor,
 * or -1 with `errno`: EAGAIN if a living writer has the file. */
int cf__trace_open_file(const char *name, char path[PATH_MAX]);

#endif
