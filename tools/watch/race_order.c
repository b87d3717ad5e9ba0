/* race_order.c - tells which accesses barriers, fences and atomic accesses order before a thread's current work.
 *
 * A fence and a later atomic write to an address publish the thread's work before the fence. An atomic read of the
 * address acquires all work that was published there. */
#include "watch/race_order.h"

#include <stdlib.h>
#include <string.h>

#include "watch/region.h"

/* A publication: the state of a thread's clock when it published all its earlier work by an atomic access. */
struct given {
    uint32_t block, warp;
    struct watch_clock clock;
};

/* An address at which atomic accesses order threads. */
struct race_sync {
    const void *address;
    struct given *given;
    uint32_t held, room;
    uint32_t merged;          /* number of first entries, one per warp, that merge the publications of earlier phases */
    uint32_t base;            /* number of publications that those entries merge */
    uint32_t phase;           /* number of publications before the current phase */
    struct race_known *known; /* knowledge of the publishing threads */
    uint32_t known_count, known_room;
    uint32_t visit, visited;   /* number of the latest search that visited it, and of publications seen then */
    const cf_host_block *head; /* block whose memory contains the address, with this record in its list */
    struct race_sync *next;    /* next in the block's list, or in the list of ended blocks */
};

static uint32_t count_of(const struct race_sync *sync)
{
    return sync->base + sync->held - sync->merged;
}

/* Knowledge of a thread or a block: it has acquired the first `count` publications of an address. */
struct race_known {
    struct race_sync *sync;
    uint32_t count;
    uint32_t epoch; /* for a block: epoch since which its threads have this knowledge */
};

static struct race_sync **syncs; /* hash table by address; its size is a power of two */
static size_t sync_count, sync_room;
static struct race_sync *ended; /* records of ended blocks, which other threads still reference */
static uint32_t visit;

/* ---- Order ---- */

static int is_given(const struct race_access *access, const struct given *given)
{
    if (given->block != access->block)
        return access->grid < given->clock.grid;
    return access->grid < given->clock.grid || access->epoch < given->clock.epoch ||
           (access->thread / 32u == given->warp && access->step < given->clock.lanes[access->thread % 32]);
}

static int is_known(const struct race_access *access, const struct race_known *known, uint32_t count, uint32_t epoch)
{
    for (uint32_t i = 0; i < count; i++) {
        struct race_sync *sync = known[i].sync;
        if (known[i].epoch > epoch || (sync->visit == visit && sync->visited >= known[i].count))
            continue;
        uint32_t later = known[i].count > sync->base ? known[i].count - sync->base : 0;
        for (uint32_t g = 0; g < sync->merged + later && g < sync->held; g++)
            if (is_given(access, &sync->given[g]))
                return 1;
        int is_first = sync->visit != visit;
        sync->visit = visit;
        sync->visited = known[i].count;
        if (is_first && is_known(access, sync->known, sync->known_count, UINT32_MAX))
            return 1;
    }
    return 0;
}

int race_order_is_learnt(const struct race_access *access, const struct watch_thread *thread)
{
    const struct watch_slot *slot = thread->slot;
    if (!sync_count)
        return 0;
    visit++;
    return is_known(access, thread->known, thread->known_count, UINT32_MAX) ||
           is_known(access, slot->known, slot->known_count, thread->clock.epoch);
}

/* ---- Synchronization ---- */

static int room_for(void **array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return 1;
    uint32_t larger = *room ? 2 * *room : 8;
    void *memory = realloc(*array, larger * size);
    if (!memory)
        return 0;
    *array = memory;
    *room = larger;
    return 1;
}

/* Adds or extends the knowledge of an address in a list. */
static void learn(struct race_known **known, uint32_t *count, uint32_t *room, struct race_known what)
{
    for (uint32_t i = 0; i < *count; i++)
        if ((*known)[i].sync == what.sync && (*known)[i].epoch <= what.epoch && (*known)[i].count >= what.count)
            return;
        else if ((*known)[i].sync == what.sync && (*known)[i].epoch == what.epoch) {
            (*known)[i].count = what.count;
            return;
        }
    if (room_for((void **)known, *count, room, sizeof **known))
        (*known)[(*count)++] = what;
}

static void empty(struct race_sync *sync)
{
    free(sync->given);
    free(sync->known);
    sync->given = NULL;
    sync->known = NULL;
    sync->held = sync->room = sync->known_count = sync->known_room = 0;
    sync->merged = sync->base = sync->phase = 0;
}

static size_t place_of(const void *address)
{
    size_t place = (uintptr_t)address * 0x9e3779b97f4a7c15u >> 20 & (sync_room - 1);
    while (syncs[place] && syncs[place]->address != address)
        place = (place + 1) & (sync_room - 1);
    return place;
}

/* Removes a block's publications, because a later block may use the same memory. Records that other threads reference
 * are kept. */
void race_order_end_block(struct watch_slot *slot)
{
    struct race_sync *own = slot->syncs;
    while (own) {
        struct race_sync *sync = own, *fresh = slot->is_known ? calloc(1, sizeof *fresh) : NULL;
        own = sync->next;
        sync->head = NULL;
        if (fresh) {
            fresh->address = sync->address;
            syncs[place_of(sync->address)] = fresh;
            sync->next = ended;
            ended = sync;
        } else if (!slot->is_known) {
            empty(sync);
        }
    }
    slot->syncs = NULL;
    slot->is_known = 0;
}

void race_order_begin_block(struct watch_slot *slot)
{
    race_order_end_block(slot);
    free(slot->known);
    slot->known = NULL;
    slot->known_count = slot->known_room = 0;
}

void race_order_arrive(struct watch_thread *thread)
{
    struct watch_slot *slot = thread->slot;
    for (uint32_t i = 0; i < thread->known_count; i++) {
        struct race_known known = thread->known[i];
        known.epoch = thread->clock.epoch + 1;
        learn(&slot->known, &slot->known_count, &slot->known_room, known);
    }
}

void race_order_sync_lanes(struct watch_slot *slot, uint32_t warp, uint32_t lanes)
{
    struct watch_thread *threads = &slot->threads[32 * warp];
    struct watch_clock all = {0};
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        threads[lane].clock.lanes[lane]++;
        for (int i = 0; i < 32; i++)
            if (threads[lane].clock.lanes[i] > all.lanes[i])
                all.lanes[i] = threads[lane].clock.lanes[i];
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        struct watch_thread *thread = &threads[__builtin_ctz(rest)];
        memcpy(thread->clock.lanes, all.lanes, sizeof all.lanes);
        for (uint32_t others = lanes; sync_count && others; others &= others - 1) {
            const struct watch_thread *other = &threads[__builtin_ctz(others)];
            for (uint32_t i = 0; other != thread && i < other->known_count; i++)
                learn(&thread->known, &thread->known_count, &thread->known_room, other->known[i]);
        }
    }
}

void race_order_fence(void)
{
    struct watch_thread *thread = watch_current;
    thread->clock.lanes[thread->number % 32]++;
    thread->fence = thread->clock;
    thread->has_fence = 1;
}

static int grow(void)
{
    struct race_sync **old = syncs;
    size_t old_room = sync_room;
    if (2 * sync_count < sync_room)
        return 1;
    struct race_sync **larger = calloc(old_room ? 2 * old_room : 64, sizeof *larger);
    if (!larger)
        return 0;
    syncs = larger;
    sync_room = old_room ? 2 * old_room : 64;
    for (size_t i = 0; i < old_room; i++)
        if (old[i])
            syncs[place_of(old[i]->address)] = old[i];
    free(old);
    return 1;
}

/* Returns 1 if an address is in a block's memory, as that of a shared variable or of a barrier of its tiles. */
static int is_of(const struct watch_slot *slot, const void *address)
{
    const struct region *region = region_find(address);
    return (uintptr_t)address - (uintptr_t)slot->head < sizeof *slot->head || (region && region->block == slot->head);
}

/* Returns the record of an address. If there is none, makes one if `is_new`. Returns NULL without a record or
 * memory. */
static struct race_sync *sync_at(const void *address, int is_new)
{
    if (is_new && !grow())
        return NULL;
    if (!sync_room)
        return NULL;
    size_t place = place_of(address);
    if (!syncs[place] && is_new && (syncs[place] = calloc(1, sizeof **syncs)) != NULL) {
        syncs[place]->address = address;
        sync_count++;
    }
    struct watch_slot *slot = watch_current->slot;
    struct race_sync *sync = is_new ? syncs[place] : NULL;
    if (sync && !sync->head && !count_of(sync) && is_of(slot, address)) {
        sync->head = slot->head;
        sync->next = slot->syncs;
        slot->syncs = sync;
    }
    return syncs[place];
}

static void give(struct watch_thread *thread, const void *address)
{
    struct race_sync *sync = sync_at(address, 1);
    if (!sync || !room_for((void **)&sync->given, sync->held, &sync->room, sizeof *sync->given))
        return;
    sync->given[sync->held++] =
        (struct given){.block = thread->slot->number, .warp = thread->number / 32, .clock = thread->fence};
    thread->slot->is_known |= sync->head != thread->slot->head;
    for (uint32_t i = 0; i < thread->known_count; i++)
        learn(&sync->known, &sync->known_count, &sync->known_room, thread->known[i]);
    for (uint32_t i = 0; i < thread->slot->known_count; i++)
        if (thread->slot->known[i].epoch <= thread->clock.epoch) {
            struct race_known known = thread->slot->known[i];
            known.epoch = 0;
            learn(&sync->known, &sync->known_count, &sync->known_room, known);
        }
}

void race_order_atomic(const void *address, int is_read, int is_write, int is_release)
{
    struct watch_thread *thread = watch_current;
    struct race_sync *sync = is_read ? sync_at(address, 0) : NULL;
    if (sync && count_of(sync))
        learn(&thread->known, &thread->known_count, &thread->known_room, (struct race_known){sync, count_of(sync), 0});
    if (is_write && is_release)
        race_order_fence();
    if (is_write && thread->has_fence)
        give(thread, address);
}

/* Merges two publications of the same warp. */
static void merge(struct given *into, const struct given *from)
{
    struct watch_clock *a = &into->clock;
    const struct watch_clock *b = &from->clock;
    a->epoch = a->epoch > b->epoch ? a->epoch : b->epoch;
    a->grid = a->grid > b->grid ? a->grid : b->grid;
    for (int i = 0; i < 32; i++)
        a->lanes[i] = a->lanes[i] > b->lanes[i] ? a->lanes[i] : b->lanes[i];
}

/* Merges the publications of earlier phases to one per warp. Nothing is lost, because a thread that passes the barrier
 * acquires all of them. */
void race_order_begin_phase(const void *address)
{
    struct race_sync *sync = sync_at(address, 0);
    if (!sync)
        return;
    uint32_t end = sync->merged + sync->phase - sync->base, kept = sync->merged, count = count_of(sync);
    for (uint32_t i = sync->merged; i < end; i++) {
        uint32_t g = 0;
        while (g < kept && (sync->given[g].block != sync->given[i].block || sync->given[g].warp != sync->given[i].warp))
            g++;
        if (g < kept)
            merge(&sync->given[g], &sync->given[i]);
        else
            sync->given[kept++] = sync->given[i];
    }
    memmove(sync->given + kept, sync->given + end, (sync->held - end) * sizeof *sync->given);
    sync->held -= end - kept;
    sync->merged = kept;
    sync->base = sync->phase;
    sync->phase = count;
}

void race_order_end_launch(void)
{
    for (size_t i = 0; i < sync_room; i++)
        if (syncs[i]) {
            empty(syncs[i]);
            free(syncs[i]);
        }
    while (ended) {
        struct race_sync *sync = ended;
        ended = sync->next;
        empty(sync);
        free(sync);
    }
    free(syncs);
    syncs = NULL;
    sync_count = sync_room = 0;
}
