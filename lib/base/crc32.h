/* crc32.h - checksum of images. */
#ifndef CF__CRC32_H
#define CF__CRC32_H

#include <stdint.h>

/* Returns the CRC-32 of ISO 3309 and zlib. */
uint32_t cf__crc32(const unsigned char *begin, const unsigned char *end);

#endif
