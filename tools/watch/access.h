/* access.h - reads and writes of a kernel that was compiled to tell of them. */
#ifndef ACCESS_H
#define ACCESS_H

#include <stddef.h>

#include "watch/region.h"
#include "watch/watch.h"

/* ACCESS_LOOSE is of volatile ones, beside ACCESS_ATOMIC: two of them are a race. ACCESS_WHOLE is of what is larger than
 * any number, which is only copied. */
enum { ACCESS_WRITE = 1, ACCESS_ATOMIC = 2, ACCESS_READ = 4, ACCESS_LOOSE = 8, ACCESS_WHOLE = 16 };

/* `pc` is behind the access in the code. Memory that is in no region is not looked at. */
void access_note(const void *address, size_t bytes, int how, const void *pc);

/* ---- race.c: accesses that nothing orders ---- */

void race_access(struct region *region, const char *address, size_t bytes, int how, const void *pc);
void race_fence(void);

/* ACCESS_LOOSE where a volatile access is one of those of a warp that goes without __syncwarp(), else 0. */
int race_looseness(const void *address, size_t bytes);

/* Looks at what was written last, as long as its memory is there. */
void race_settle(void);

/* The thread, or lanes of its warp together, have reached what orders what was before. */
void race_begin_block(struct watch_slot *slot);
void race_end_block(struct watch_slot *slot);

/* Forgets the accesses to a region. */
void race_forget(struct region *region);
void race_arrive(struct watch_thread *thread);
void race_sync_lanes(struct watch_slot *slot, uint32_t warp, uint32_t lanes);

/* An atomic access gives what the thread did before a fence, and takes what others gave. */
void race_atomic(const void *address, int is_read, int is_write, int is_release);

/* All have come to the barrier in memory at an address. */
void race_begin_phase(const void *address);

/* The state of a launch ends. */
void race_end(void);

/* ---- poison.c: reads of memory that nobody wrote ---- */

/* `region` is NULL for memory that is in none. */
void poison_access(struct region *region, const char *address, size_t bytes, int how, const void *pc);
void poison_copy(char *target, const char *source, size_t bytes, const void *pc);

/* Tells what was kept back, as long as its memory is there. */
void poison_settle(void);

/* What should be written, and was not. */
void poison_unwritten(const cf_kernel *kernel, void *const args[]);

/* What should be 0 again, and is not. */
void poison_not_rezeroed(const cf_kernel *kernel, void *const args[]);

#endif
