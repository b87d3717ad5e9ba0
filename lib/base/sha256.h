/* sha256.h - the checksum SHA-256 (FIPS 180-4). */
#ifndef CF__SHA256_H
#define CF__SHA256_H

#include <stddef.h>
#include <stdint.h>

#define CF__SHA256_BYTES 32

struct cf__sha256 {
    uint32_t state[8];
    uint64_t bytes; /* number of bytes added so far */
    unsigned char block[64];
};

/* Begins a checksum of data that comes in several pieces. */
void cf__sha256_begin(struct cf__sha256 *sum);

/* Adds the next piece. */
void cf__sha256_add(struct cf__sha256 *sum, const void *data, size_t bytes);

/* Adds a string with its zero byte, or a marker for NULL, so that different lists that end with NULL have different
 * sums. */
void cf__sha256_add_text(struct cf__sha256 *sum, const char *text);

/* Writes the checksum of all pieces. */
void cf__sha256_end(struct cf__sha256 *sum, unsigned char digest[CF__SHA256_BYTES]);

/* Computes the checksum of data in one piece. */
void cf__sha256_of(const void *data, size_t bytes, unsigned char digest[CF__SHA256_BYTES]);

#endif
