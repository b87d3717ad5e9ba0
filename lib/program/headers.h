/* headers.h - the user's header files that a compilation may read, and their state. */
#ifndef CF__HEADERS_H
#define CF__HEADERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/sha256.h"
#include "program/compiled.h"

/* State of a file, or of the place of one that is not there: a later file in it would be included. */
struct cf__header_state {
    int64_t bytes; /* negative: there is no regular file */
    int64_t device, inode;
    int64_t seconds,
        nanoseconds; /* of its last change (ctime); -1: it was so short ago that another may have the same */
    unsigned char digest[CF__SHA256_BYTES]; /* 0 for a file that is too large for one */
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

/* Collects the headers of a request; headers of the folder `toolkit` are left out. Returns NULL, or the reason why they
 * cannot be told. */
const char *cf__headers_collect(struct cf__headers *headers, const struct cf__request *request, const char *toolkit);

/* Refuses a pipe in the place of a header of a request: a compiler would wait for its writer for ever. Returns a status. */
int cf__headers_check(const struct cf__request *request, const char *toolkit);

/* Fills the headers with the inputs that cfcc wrote, which began to read them at the time `began` by the clock of file
 * systems. Returns NULL, or the reason why the program cannot be kept. */
const char *cf__headers_read(struct cf__headers *headers, const struct cf__compiled *compiled,
                             const struct timespec *began);

/* Returns 1 if the file is as it was: the same file of the same size and time, or a file of the same content. */
int cf__header_is_unchanged(const char *path, const struct cf__header_state *state);

/* Returns 1 if this is so for all of them. */
int cf__headers_are_unchanged(const struct cf__headers *headers);

/* Returns the end of the comment or literal that begins at `at`; `at` if there is none. */
const char *cf__text_skip(const char *at);

void cf__headers_free(struct cf__headers *headers);

#endif
