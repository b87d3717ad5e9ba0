/* cache_folder.h - manages the folder of compiled programs: its owner, its counts and its size. */
#ifndef CF__CACHE_FOLDER_H
#define CF__CACHE_FOLDER_H

#include <stddef.h>

/* Opens the folder if it is trusted and writable; creates it if `is_made`. Returns a status, whose message names
 * `function`. The caller closes the descriptor. */
int cf__cache_folder_open(const char *function, const char *path, int is_made, int *folder);

/* Counts one hit or miss. */
void cf__cache_folder_count(int folder, int is_hit);

/* Removes the least recently used entries until the folder is within its cap. */
void cf__cache_folder_trim(int folder);

/* Characters of an entry's name: two for each byte of a SHA-256. */
#define CF__CACHE_NAME ((size_t)64)

#endif
