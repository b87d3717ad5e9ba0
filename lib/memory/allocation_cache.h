/* allocation_cache.h - live allocations of cf_mem_alloc(). */
#ifndef CF__ALLOCATION_CACHE_H
#define CF__ALLOCATION_CACHE_H

#include <stddef.h>

struct cf__scope;

/* Thread-safe without locks. */

/* Adds an allocation of cf_mem_alloc() in the scope's context. */
void cf__allocation_add(const struct cf__scope *scope, const void *begin, size_t bytes);

/* Removes an allocation before it is freed. */
void cf__allocation_drop(const void *begin);
void cf__allocation_forget(void); /* removes all, at cf_shutdown() */

/* Returns 1 if an allocation that begins at `begin` in the context with that id is known to have `bytes` or more. */
int cf__allocation_has(unsigned long long context, const void *begin, size_t bytes);

#endif
