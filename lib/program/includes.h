/* includes.h - the headers that a source may include, read from its text. */
#ifndef CF__INCLUDES_H
#define CF__INCLUDES_H

#include <stddef.h>

/* Called with the name of a header, which is not terminated. Returns 0, or another number to stop the scan. */
typedef int cf__include_found(void *data, const char *name, size_t length);

/* Reads each #include of a text, also those in comments, strings and branches that are left out. Returns 0; the
 * callback's other result; or -1 if the text does not tell the headers or has a date: #include MACRO, __has_include,
 * #embed, __DATE__, __TIME__, __TIMESTAMP__ or trigraphs. `text` is changed: its line splices are removed. */
int cf__includes_scan(char *text, size_t length, cf__include_found *found, void *data);

#endif
