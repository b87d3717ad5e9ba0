/* cache.h - looks up compiled programs in a folder, and stores them there. */
#ifndef CF__CACHE_H
#define CF__CACHE_H

#include "program/compiled.h"

/* Compiles or links the program of a request. Fills `compiled` and returns a status. */
typedef int cf__maker(void *data, struct cf__compiled *compiled);

/* Fills `compiled` from the folder of the request's options or of CF_CACHE. If the program is not there, calls
 * make(data, compiled) in the locale "C" while others with the same request wait, then stores the result unless a
 * header has changed. Returns a status. `library` is the compiler's or linker's path, `toolkit` the folder of its
 * headers. */
int cf__cache_make(const struct cf__request *request, const char *library, const char *toolkit, cf__maker *make,
                   void *data, struct cf__compiled *compiled);

#endif
