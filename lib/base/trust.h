/* trust.h - folders and files that no other user can have written. The effective user or root owns each, and no group
 * and no other user can write to it; a folder above may be sticky, as /tmp is. tools/compile/trust.py has the same
 * rule. */
#ifndef CF__TRUST_H
#define CF__TRUST_H

#include "base/bounds.h"

/* Opens a folder after checking it and each folder above it, all by their descriptors; symbolic links are resolved
 * first. Creates missing folders if `is_made`. Returns a descriptor, or -1 with the reason in `why`. */
int cf__trust_open_folder(const char *path, int is_made, char why[CF__DETAIL]);

/* Opens a regular file of such a folder for reading. Returns a descriptor, or -1 with `errno`; EPERM: the file is not
 * trusted. */
int cf__trust_open_file(int folder, const char *name);

#endif
