/* crc32.c - computes the checksum of images. */
#include <stdint.h>

#include "base/crc32.h"

/* The table is indexed by four bits of the data at a time. */
uint32_t cf__crc32(const unsigned char *begin, const unsigned char *end)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t crc = UINT32_MAX;
    for (const unsigned char *byte = begin; byte < end; byte++) {
        crc ^= *byte;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}
