/* bounds.h - limits that several rooms share. */
#ifndef CF__BOUNDS_H
#define CF__BOUNDS_H

#include <stddef.h>
#include <stdint.h>

/* A thread on a GPU has at most 512 KiB of local memory, and few have more than some hundred bytes. Here that much fits,
 * with what calls and saved registers take beside it. Only what is touched is taken from the system. */
#define CF__STACK_BYTES ((size_t)640 << 10)

/* The longest pitch that a copy of rows may have, on every device. */
#define CF__MAX_PITCH ((size_t)INT32_MAX)

/* Bytes of the longest detail of a failure. */
#define CF__DETAIL 768

#endif
