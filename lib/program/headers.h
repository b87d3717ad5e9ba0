/* headers.h - lists the user's header files that a compilation may read, and their state. */
#ifndef CF__HEADERS_H
#define CF__HEADERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/sha256.h"
#include "program/compiled.h"

/* State of a file. A path without a file has a state too, because a file that is created there later would be
 * included. */
struct cf__header_state {
    int64_t bytes; /* size of the file; negative: not a regular file */
    int64_t device, inode;
    int64_t seconds, nanoseconds;           /* time of the last change (ctime); -1: so recent that a later change may
                                             * have the same time */
    unsigned char digest[CF__SHA256_BYTES]; /* checksum; all zero for a file that is too large for one */
};

struct cf__header {
    char *path;
    struct cf__header_state state;
    dev_t folder_device;
    ino_t folder_inode;
};

struct cf__headers {
    struct cf__header *list;
    size_t count, room;
};

/* Collects the headers of a request, except those in the folder `toolkit`. Returns NULL, or the reason why they cannot
 * be determined. */
const char *cf__headers_collect(struct cf__headers *headers, const struct cf__request *request, const char *toolkit);

/* Fails if a pipe is at the path of one of the request's headers: a compiler would wait forever for its writer. Returns
 * a status. */
int cf__headers_check(const struct cf__request *request, const char *toolkit);

/* Fills the headers with the inputs that cfcc reported. `began` is the time at which cfcc began to read them, by the
 * clock of file systems. Returns NULL, or the reason why the program cannot be cached. */
const char *cf__headers_read(struct cf__headers *headers, const struct cf__compiled *compiled,
                             const struct timespec *began);

/* Returns 1 if the file is unchanged: it is the same file with the same size and time, or a file with the same
 * content. */
int cf__header_is_unchanged(const char *path, const struct cf__header_state *state);

/* Returns 1 if all headers are unchanged. */
int cf__headers_are_unchanged(const struct cf__headers *headers);

/* Returns the end of the comment or literal that begins at `at`, or `at` if there is none. */
const char *cf__text_skip(const char *at);

void cf__headers_free(struct cf__headers *headers);

#endif
