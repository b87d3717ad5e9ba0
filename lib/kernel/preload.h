/* preload.h - loads kernels before their first launch. */
#ifndef CF__PRELOAD_H
#define CF__PRELOAD_H

#include <cuferry/registry.h>

struct cf__loaded;
struct cf__scope;

/* Loads everything that a launch of a kernel or an operation may run, which includes used kernels and variants. Returns
 * a status and the node of `kernel`. */
int cf__load_all(const cf_kernel *kernel, const struct cf__scope *scope, struct cf__loaded **loaded);

#endif
