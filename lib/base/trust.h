/* trust.h - checks that no other user can have written a folder or file. A trusted one belongs to the effective user or
 * root, and neither its group nor others can write to it. The folders above it may also be sticky, as /tmp is.
 * tools/compile/trust.py implements the same rule. */
#ifndef CF__TRUST_H
#define CF__TRUST_H

#include "base/bounds.h"

/* Resolves symbolic links, then opens a folder and checks it and each folder above by their descriptors. Creates
 * missing folders if `is_made`. Returns a descriptor, or -1 with the reason in `why`. */
int cf__trust_open_folder(const char *path, int is_made, char why[CF__DETAIL]);

/* Opens a regular file of a trusted folder for reading. Returns a descriptor, or -1 with `errno`, which is EPERM if the
 * file is not trusted. */
int cf__trust_open_file(int folder, const char *name);

#endif
