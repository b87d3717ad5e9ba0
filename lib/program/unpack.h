/* unpack.h - decompresses code. */
#ifndef CF__UNPACK_H
#define CF__UNPACK_H

#include <stddef.h>

enum cf__packing { CF__PACKED_LZ4, CF__PACKED_ZSTD };

/* Decompresses `size` bytes to exactly `unpacked` bytes, with the system's library if it is installed. Returns 1 and
 * the code, which the caller frees. Returns 0 if there is no such library or no memory, and -1 if the data is
 * damaged. */
int cf__unpack(enum cf__packing packing, const void *data, size_t size, size_t unpacked, char **code);

#endif
