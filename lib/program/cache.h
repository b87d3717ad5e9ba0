/* cache.h - looks compiled programs up in a folder, and stores them there. */
#ifndef CF__CACHE_H
#define CF__CACHE_H

#include "base/cachefile.h"
#include "program/compiled.h"
#include "program/headers.h"

/* A program that is to be stored. */
struct cf__cache_entry {
    const char *folder;
    char path[CF__PATH];
    int lock;    /* file descriptor; -1: the folder's file system has no locks */
    int is_kept; /* 0: the program is not stored */
    struct cf__headers headers;
};

/* Looks a request up. Fills `compiled` and returns CF_OK if the folder has it. Returns CF_OK with an empty `compiled`
 * if not: the caller compiles, while other processes and threads with the same request wait, and calls cf__cache_end().
 * Otherwise returns a status. `nvrtc` is the compiler's path, `toolkit` the folder of its headers. */
int cf__cache_begin(struct cf__cache_entry *entry, const struct cf__request *request, const char *folder,
                    const char *nvrtc, const char *toolkit, struct cf__compiled *compiled);

/* Stores the program, unless `compiled` is NULL or a header changed meanwhile, and lets the others go on. */
void cf__cache_end(struct cf__cache_entry *entry, const struct cf__compiled *compiled);

#endif
