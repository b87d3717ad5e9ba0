/* trace_file.h - opens and locks the file of a trace. */
#ifndef CF__TRACE_FILE_H
#define CF__TRACE_FILE_H

#include <limits.h>

/* Opens and locks the file whose name CF_TRACE gives in `name`, and writes its path. Returns a descriptor, or -1 with
 * `errno`, which is EAGAIN if a living writer has the file. */
int cf__trace_open_file(const char *name, char path[PATH_MAX]);

#endif
