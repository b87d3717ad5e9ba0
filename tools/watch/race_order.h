/* race_order.h - tells which accesses barriers, fences and atomic accesses order before a thread's current work. */
#ifndef RACE_ORDER_H
#define RACE_ORDER_H

#include <stdint.h>

#include "watch/watch_thread.h"

/* One access: its thread, its time on the thread's clock, and its address in the code. */
struct race_access {
    const void *pc; /* NULL: no access */
    uint32_t block, epoch, grid, step;
    uint16_t thread;
    uint8_t how, bytes;
};

/* Returns 1 if the thread or its block has acquired an access through atomic accesses. */
int race_order_is_learnt(const struct race_access *access, const struct watch_thread *thread);

/* Returns 1 if an access is ordered before the running thread's current work. */
static inline int race_order_is_before(const struct race_access *access, const struct watch_thread *thread)
{
    if (access->grid < thread->clock.grid)
        return 1;
    if (access->block == thread->slot->number &&
        (access->thread == thread->number || access->epoch < thread->clock.epoch ||
         (access->thread / 32u == thread->number / 32 && access->step < thread->clock.lanes[access->thread % 32])))
        return 1;
    return race_order_is_learnt(access, thread);
}

/* Functions for `struct check_ops`, which update the order. */
void race_order_begin_block(struct watch_slot *slot);
void race_order_end_block(struct watch_slot *slot);
void race_order_arrive(struct watch_thread *thread);
void race_order_sync_lanes(struct watch_slot *slot, uint32_t warp, uint32_t lanes);
void race_order_begin_phase(const void *address);
void race_order_atomic(const void *address, int is_read, int is_write, int is_release);
void race_order_fence(void);
void race_order_end_launch(void);

#endif
