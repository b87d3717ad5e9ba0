/* write.h - writes to files so that nothing ends the process. */
#ifndef CF__WRITE_H
#define CF__WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* Writes all bytes at a place of a file; -1 with errno where that cannot be, and part of them may be there then. The
 * signals that the system sends with EFBIG and EPIPE, which end a process, do not reach it. */
int cf__write(int file, const char *bytes, size_t count, off_t at);

#endif
