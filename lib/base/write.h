/* write.h - writes to files without a signal that ends the process. */
#ifndef CF__WRITE_H
#define CF__WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* Writes all bytes at offset `at` of a file. Returns -1 with `errno` on failure, after which some may be written. The
 * signals that accompany EFBIG and EPIPE, which would end the process, are suppressed. */
int cf__write(int file, const char *bytes, size_t count, off_t at);

#endif
