/* bounds.h - limits that several rooms share. */
#ifndef CF__BOUNDS_H
#define CF__BOUNDS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a kernel thread's stack on the CPU: the 512 KiB of local memory that a GPU thread may have, and room for
 * calls and saved registers. The system commits only the pages that are touched. */
#define CF__STACK_BYTES ((size_t)640 << 10)

/* Longest pitch of a copy of rows, in bytes, on every device. */
#define CF__MAX_PITCH ((size_t)INT32_MAX)

/* Bytes of a failure's detail, with the closing zero. */
#define CF__DETAIL 768

/* Bytes of a file's path, with the closing zero. */
#define CF__PATH 4096

#endif
