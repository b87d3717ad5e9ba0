/* write.h - writes to files without raising a signal that would end the process. */
#ifndef CF__WRITE_H
#define CF__WRITE_H

#include <stddef.h>
#include <sys/types.h>

/* Writes all bytes at offset `at` of a file. Returns -1 with `errno` on failure; some bytes may be written then.
 * Suppresses the signals that accompany EFBIG and EPIPE and would end the process. */
int cf__write(int file, const char *bytes, size_t count, off_t at);

#endif
