/* race.c - data races of a kernel's threads, within a block and between blocks.
 *
 * CUDA orders accesses of two threads by __syncthreads() in a block, grid.sync() in the launch, __syncwarp() among its
 * lanes (not by shuffles or votes), and by a fence before an atomic operation or volatile write that another thread
 * reads in the same way. No race are two atomic accesses, two writes of one value, and two volatile accesses outside
 * elements of a __shared__ array. */
#include "watch/race.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "watch/finding.h"
#include "watch/region.h"
#include "watch/watch_thread.h"

#define MAX_PAIRS 64

/* One access: its thread, its time on the thread's clock, and its place in the code. */
struct access {
    const void *pc; /* NULL: no access */
    uint32_t block, epoch, grid, step;
    uint16_t thread;
    uint8_t how, bytes;
};

/* Accesses to some bytes that a later access may race with. Two reads by different threads suffice to show that another
 * thread read. */
struct cell {
    struct access write, atomic, reads[2];
};

/* Four bytes of memory, as one cell or as one per byte. */
struct race_word {
    struct cell together, *apart;
};

/* State that a thread published with an atomic access: all its work before the access. */
struct given {
    uint32_t block, warp;
    struct watch_clock clock;
};

/* An address at which atomic accesses order threads. */
struct race_sync {
    const void *address;
    struct given *given;
    uint32_t held, room;
    uint32_t merged;          /* entries at the begin that sum up earlier phases, one per warp */
    uint32_t base;            /* number of publications that they sum up */
    uint32_t phase;           /* number of publications before the current phase */
    struct race_known *known; /* knowledge of the publishing threads */
    uint32_t known_count, known_room;
    uint32_t visit, visited;   /* latest search that visited it, and the number of publications seen then */
    const cf_host_block *head; /* block whose memory contains it, and in whose list it is; NULL: none */
    struct race_sync *next;    /* next in that memory, or in the list of ended blocks */
};

static uint32_t count_of(const struct race_sync *sync)
{
    return sync->base + sync->held - sync->merged;
}

/* A thread or a block has acquired the first `count` publications of an address. */
struct race_known {
    struct race_sync *sync;
    uint32_t count;
    uint32_t epoch; /* for a block: epoch since which it holds */
};

static struct race_sync **syncs; /* hash table by address; its size is a power of two */
static size_t sync_count, sync_room;
static struct race_sync *ended; /* records of ended blocks that others reference */
static uint32_t visit;

/* A write that may repeat the value in memory; the comparison follows when it is complete. */
static struct {
    char *address;
    size_t bytes;
    unsigned char old[16];
    struct access before, now;
    struct region *region;
} pending;

/* ---- Reports ---- */

static struct {
    const void *one, *other;
} pairs[MAX_PAIRS];
static int pair_count;

static int is_new(const void *one, const void *other)
{
    for (int i = 0; i < pair_count; i++)
        if ((pairs[i].one == one && pairs[i].other == other) || (pairs[i].one == other && pairs[i].other == one))
            return 0;
    if (pair_count == MAX_PAIRS)
        return 0;
    pairs[pair_count].one = one;
    pairs[pair_count++].other = other;
    return 1;
}

static const char *verb(const struct access *access)
{
    static const char *const verbs[] = {"reads", "writes", "reads atomically", "changes atomically"};
    int is_volatile = access->how & ACCESS_LOOSE;
    return verbs[(access->how & ACCESS_WRITE ? 1 : 0) + (access->how & ACCESS_ATOMIC && !is_volatile ? 2 : 0)];
}

static void tell(const struct access *before, const struct access *now, const struct region *region,
                 const char *address)
{
    char what[200], who[96], other[96];
    if (!is_new(before->pc, now->pc))
        return;
    region_describe(region, address, what, sizeof what);
    watch_describe(now->block, now->thread, who, sizeof who);
    watch_describe(before->block, before->thread, other, sizeof other);
    finding_tell("{pc:%lx}: %s %s %s, which %s %s at {pc:%lx}: nothing orders the two", finding_offset(now->pc) - 1,
                 who, verb(now), what, other, verb(before), finding_offset(before->pc) - 1);
}

static void settle(void)
{
    if (!pending.address)
        return;
    if (memcmp(pending.address, pending.old, pending.bytes) != 0)
        tell(&pending.before, &pending.now, pending.region, pending.address);
    pending.address = NULL;
}

/* ---- Order ---- */

static int is_given(const struct access *access, const struct given *given)
{
    if (given->block != access->block)
        return access->grid < given->clock.grid;
    return access->grid < given->clock.grid || access->epoch < given->clock.epoch ||
           (access->thread / 32u == given->warp && access->step < given->clock.lanes[access->thread % 32]);
}

static int is_known(const struct access *access, const struct race_known *known, uint32_t count, uint32_t epoch)
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

/* Acquired by the thread, or by its block, through atomic accesses. */
static int is_learnt(const struct access *access, const struct watch_thread *thread)
{
    const struct watch_slot *slot = thread->slot;
    visit++;
    return is_known(access, thread->known, thread->known_count, UINT32_MAX) ||
           is_known(access, slot->known, slot->known_count, thread->clock.epoch);
}

/* 1 if an access is ordered before the running thread's current work. */
static inline int is_ordered(const struct access *access, const struct watch_thread *thread)
{
    if (access->grid < thread->clock.grid)
        return 1;
    if (access->block == thread->slot->number &&
        (access->thread == thread->number || access->epoch < thread->clock.epoch ||
         (access->thread / 32u == thread->number / 32 && access->step < thread->clock.lanes[access->thread % 32])))
        return 1;
    return sync_count && is_learnt(access, thread);
}

/* ---- Accesses ---- */

/* Old warp sums used volatile accesses to a __shared__ array alone, which is wrong since Volta. A flag is a variable of
 * its own, or its write follows a fence. */
static int looseness(const void *address, size_t bytes)
{
    const struct watch_thread *thread = watch_current;
    const struct region *region = region_find(address);
    if (!region || region->kind <= REGION_DATA || region->bytes <= bytes)
        return 0;
    uint32_t lane = thread->number % 32;
    return thread->has_fence && thread->fence.epoch == thread->clock.epoch &&
                   thread->fence.lanes[lane] == thread->clock.lanes[lane]
               ? 0
               : ACCESS_LOOSE;
}

static int is_atomic(const struct access *access)
{
    return (access->how & (ACCESS_ATOMIC | ACCESS_LOOSE)) == ACCESS_ATOMIC;
}

static void look(const struct access *before, const struct access *now, struct region *region, const char *address)
{
    const int both = before->how & now->how, are_atomic = both & ACCESS_ATOMIC && !(both & ACCESS_LOOSE);
    if (!before->pc || are_atomic || is_ordered(before, watch_current))
        return;
    int are_plain_writes = both & ACCESS_WRITE && !is_atomic(before) && !is_atomic(now);
    if (!are_plain_writes || now->bytes > sizeof pending.old) {
        tell(before, now, region, address);
        return;
    }
    if (pending.address) /* one race per access is enough */
        return;
    pending.address = (char *)(uintptr_t)address;
    pending.bytes = 1;
    memcpy(pending.old, address, pending.bytes);
    pending.before = *before;
    pending.now = *now;
    pending.region = region;
}

static void keep_read(struct cell *cell, const struct access *now)
{
    struct access *reads = cell->reads;
    for (int i = 0; i < 2; i++)
        if (!reads[i].pc || (reads[i].thread == now->thread && reads[i].block == now->block)) {
            reads[i] = *now;
            return;
        }
    for (int i = 0; i < 2; i++)
        if (is_ordered(&reads[i], watch_current)) {
            reads[i] = *now;
            return;
        }
    /* The most distant threads show most: other blocks, then other warps. */
    if (reads[0].block == reads[1].block &&
        (now->block != reads[0].block || reads[0].thread / 32 == reads[1].thread / 32))
        reads[1] = *now;
}

static void note(struct cell *cell, const struct access *now, struct region *region, const char *address)
{
    look(&cell->write, now, region, address);
    if (now->how & ACCESS_WRITE || cell->atomic.how & ACCESS_WRITE)
        look(&cell->atomic, now, region, address);
    if (!(now->how & ACCESS_WRITE)) {
        if (!is_atomic(now))
            keep_read(cell, now);
        else if (!cell->atomic.pc)
            cell->atomic = *now;
        return;
    }
    for (int i = 0; i < 2; i++)
        look(&cell->reads[i], now, region, address);
    if (is_atomic(now)) {
        cell->atomic = *now;
    } else {
        cell->write = *now;
        cell->reads[0].pc = cell->reads[1].pc = NULL;
        cell->atomic.pc = NULL;
    }
}

/* Forgets the accesses to a region. */
static void forget(struct region *region)
{
    for (size_t w = 0; region->is_split && w < region->words_bytes / sizeof *region->words; w++)
        free(region->words[w].apart);
    if (region->words) /* untouched pages take no time */
        (void)madvise(region->words, region->words_bytes, MADV_DONTNEED);
    region->is_split = 0;
}

static void end_region(struct region *region)
{
    forget(region);
    munmap(region->words, region->words_bytes);
}

/* The words of a region, initially zero. */
static struct race_word *words_of(struct region *region)
{
    if (region->words)
        return region->words;
    region->words_bytes = (region->bytes + 3) / 4 * sizeof(struct race_word);
    void *memory =
        mmap(NULL, region->words_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    region->words = memory == MAP_FAILED ? NULL : memory;
    region->end = region->words ? end_region : NULL;
    return region->words;
}

/* 1 if the bytes of a word are separate cells from now on. */
static int split(struct race_word *word)
{
    if (word->apart)
        return 1;
    word->apart = malloc(4 * sizeof *word->apart);
    for (int i = 0; word->apart && i < 4; i++)
        word->apart[i] = word->together;
    return word->apart != NULL;
}

static void note_access(struct region *region, const char *address, size_t bytes, int how, const void *pc)
{
    const struct watch_thread *thread = watch_current;
    if (!region)
        return;
    struct race_word *words = words_of(region);
    how &= ~ACCESS_WHOLE;
    settle();
    if (!words)
        return;
    struct access now = {.pc = pc,
                         .block = thread->slot->number,
                         .epoch = thread->clock.epoch,
                         .grid = thread->clock.grid,
                         .step = thread->clock.lanes[thread->number % 32],
                         .thread = (uint16_t)thread->number,
                         .how = (uint8_t)(how & ACCESS_WRITE ? how & ~ACCESS_READ : how),
                         .bytes = (uint8_t)(bytes < 255 ? bytes : 255)};
    size_t offset = (size_t)(address - region->begin), end = offset + bytes;
    for (size_t w = offset / 4; w * 4 < end; w++) {
        size_t low = w * 4 < offset ? offset - w * 4 : 0, high = end - w * 4 < 4 ? end - w * 4 : 4;
        int is_whole = low == 0 && (high == 4 || w * 4 + high == region->bytes);
        if ((is_whole && !words[w].apart) || !split(&words[w])) {
            note(&words[w].together, &now, region, region->begin + w * 4 + low);
            continue;
        }
        region->is_split = 1;
        for (size_t i = low; i < high; i++)
            note(&words[w].apart[i], &now, region, region->begin + w * 4 + i);
    }
    if (pending.address && bytes <= sizeof pending.old) { /* the whole write counts, whichever part matched first */
        pending.address = (char *)(uintptr_t)address;
        pending.bytes = bytes;
        memcpy(pending.old, address, bytes);
    }
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

static size_t place_of(const void *address);

/* A later block in the same memory must not see publications of this block; other threads keep what they reference. */
static void end_block(struct watch_slot *slot)
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

static void begin_block(struct watch_slot *slot)
{
    settle();
    region_each(slot->head, forget); /* its shared memory belonged to another block */
    end_block(slot);
    free(slot->known);
    slot->known = NULL;
    slot->known_count = slot->known_room = 0;
}

static void arrive(struct watch_thread *thread)
{
    struct watch_slot *slot = thread->slot;
    settle();
    for (uint32_t i = 0; i < thread->known_count; i++) {
        struct race_known known = thread->known[i];
        known.epoch = thread->clock.epoch + 1;
        learn(&slot->known, &slot->known_count, &slot->known_room, known);
    }
}

static void sync_lanes(struct watch_slot *slot, uint32_t warp, uint32_t lanes)
{
    struct watch_thread *threads = &slot->threads[32 * warp];
    struct watch_clock all = {0};
    settle();
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

static void note_fence(void)
{
    struct watch_thread *thread = watch_current;
    settle();
    thread->clock.lanes[thread->number % 32]++;
    thread->fence = thread->clock;
    thread->has_fence = 1;
}

static size_t place_of(const void *address)
{
    size_t place = (uintptr_t)address * 0x9e3779b97f4a7c15u >> 20 & (sync_room - 1);
    while (syncs[place] && syncs[place]->address != address)
        place = (place + 1) & (sync_room - 1);
    return place;
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

/* 1 if an address is in a block's memory: a shared variable, or a barrier of its tiles. */
static int is_of(const struct watch_slot *slot, const void *address)
{
    const struct region *region = region_find(address);
    return (uintptr_t)address - (uintptr_t)slot->head < sizeof *slot->head || (region && region->block == slot->head);
}

/* Record of an address; NULL if there is none, or, with `is_new`, without memory. */
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

static void note_atomic(const void *address, int is_read, int is_write, int is_release)
{
    struct watch_thread *thread = watch_current;
    struct race_sync *sync = is_read ? sync_at(address, 0) : NULL;
    if (sync && count_of(sync))
        learn(&thread->known, &thread->known_count, &thread->known_room, (struct race_known){sync, count_of(sync), 0});
    if (is_write && is_release)
        note_fence();
    if (is_write && thread->has_fence)
        give(thread, address);
}

/* Merges two publications of one warp. */
static void merge(struct given *into, const struct given *from)
{
    struct watch_clock *a = &into->clock;
    const struct watch_clock *b = &from->clock;
    a->epoch = a->epoch > b->epoch ? a->epoch : b->epoch;
    a->grid = a->grid > b->grid ? a->grid : b->grid;
    for (int i = 0; i < 32; i++)
        a->lanes[i] = a->lanes[i] > b->lanes[i] ? a->lanes[i] : b->lanes[i];
}

/* A thread at a barrier acquires all publications of earlier phases, so that one entry per warp represents them. */
static void begin_phase(const void *address)
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

static void end_launch(void)
{
    pending.address = NULL;
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

/* Launches run in order. */
static void begin_launch(void)
{
    region_each(NULL, forget);
}

const struct check_ops race_check = {.kind = CHECK_RACE,
                                     .begin_launch = begin_launch,
                                     .end_launch = end_launch,
                                     .begin_block = begin_block,
                                     .end_block = end_block,
                                     .settle = settle,
                                     .arrive = arrive,
                                     .sync_lanes = sync_lanes,
                                     .begin_phase = begin_phase,
                                     .access = note_access,
                                     .looseness = looseness,
                                     .atomic = note_atomic,
                                     .fence = note_fence};
