/* allocation_cache.h - memory that cf_mem_alloc() gave. */
#ifndef CF__ALLOCATION_CACHE_H
#define CF__ALLOCATION_CACHE_H

#include <stddef.h>

struct cf__scope;

/* Notes memory that cf_mem_alloc() gave in the scope's context; and before it is freed that it is no longer there. */
void cf__allocation_add(const struct cf__scope *scope, const void *begin, size_t bytes);
void cf__allocation_drop(const void *begin);
void cf__allocation_forget(void); /* all, at cf_shutdown() */

/* Whether that many bytes from the beginning of such memory are known to be there, in the context of that id. */
int cf__allocation_has(unsigned long long context, const void *begin, size_t bytes);

#endif
