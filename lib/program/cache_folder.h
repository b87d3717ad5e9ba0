/* cache_folder.h - the folder of compiled programs: its owner, its counts and its size. */
#ifndef CF__CACHE_FOLDER_H
#define CF__CACHE_FOLDER_H

#include <stddef.h>

/* Checks that the folder belongs to the user alone and can be written; creates it if `is_made`. Returns a status, whose
 * message names `function`. */
int cf__cache_folder_check(const char *function, const char *folder, int is_made);

/* Counts one hit or miss. */
void cf__cache_folder_count(const char *folder, int is_hit);

/* Removes the entries that were not used for the longest time, until the folder holds what it may. */
void cf__cache_folder_trim(const char *folder);

/* Characters of an entry's name: two for each byte of a SHA-256. */
#define CF__CACHE_NAME ((size_t)64)

#endif
