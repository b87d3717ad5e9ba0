/* allocation_cache.h - remembers live allocations of cf_mem_alloc(). */
#ifndef CF__ALLOCATION_CACHE_H
#define CF__ALLOCATION_CACHE_H

#include <stddef.h>

struct cf__scope;

/* These functions are thread-safe without locks. */

/* Adds an allocation of cf_mem_alloc() in the scope's context. */
void cf__allocation_add(const struct cf__scope *scope, const void *begin, size_t bytes);

/* Removes an allocation before it is freed. */
void cf__allocation_drop(const void *begin);
void cf__allocation_forget(void); /* removes all allocations, at cf_shutdown() */

/* Returns 1 if the allocation at `begin` in the context with this id is in the cache and has at least `bytes` bytes. */
int cf__allocation_has(unsigned long long context, const void *begin, size_t bytes);

#endif
