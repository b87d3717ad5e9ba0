/* race.c - finds data races of a kernel's threads, within a block and between blocks.
 *
 * CUDA orders accesses of two threads by __syncthreads() in a block, by grid.sync() in the launch, by __syncwarp()
 * among its lanes (not by shuffles or votes), and by a fence before an atomic operation or volatile write that another
 * thread reads in the same way. Two atomic accesses do not race, nor do two writes of the same value, nor two volatile
 * accesses outside arrays in __shared__ memory. */
#include "watch/race.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "watch/finding.h"
#include "watch/race_order.h"
#include "watch/region.h"
#include "watch/watch_thread.h"

#define MAX_PAIRS 64

/* Accesses to the same bytes with which a later access may race. Two reads by different threads are enough: one of them
 * was made by a thread other than that of a later write. */
struct cell {
    struct race_access write, atomic, reads[2];
};

/* Accesses to four bytes of memory, in one cell or in a cell for each byte. */
struct race_word {
    struct cell together, *apart;
};

/* A racing write that may store the value that is in memory already. The values are compared when it is complete. */
static struct {
    char *address;
    size_t bytes;
    unsigned char old[16];
    struct race_access before, now;
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

static const char *verb(const struct race_access *access)
{
    static const char *const verbs[] = {"reads", "writes", "reads atomically", "changes atomically"};
    int is_volatile = access->how & ACCESS_LOOSE;
    return verbs[(access->how & ACCESS_WRITE ? 1 : 0) + (access->how & ACCESS_ATOMIC && !is_volatile ? 2 : 0)];
}

static void tell(const struct race_access *before, const struct race_access *now, const struct region *region,
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

/* ---- Accesses ---- */

/* Recognises old code that sums in a warp by volatile accesses to a __shared__ array without __syncwarp(), which is
 * wrong since Volta. A flag, in contrast, is a separate variable, or is written after a fence. */
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

static int is_atomic(const struct race_access *access)
{
    return (access->how & (ACCESS_ATOMIC | ACCESS_LOOSE)) == ACCESS_ATOMIC;
}

static void look(const struct race_access *before, const struct race_access *now, struct region *region,
                 const char *address)
{
    const int both = before->how & now->how, are_atomic = both & ACCESS_ATOMIC && !(both & ACCESS_LOOSE);
    if (!before->pc || are_atomic || race_order_is_before(before, watch_current))
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

static void keep_read(struct cell *cell, const struct race_access *now)
{
    struct race_access *reads = cell->reads;
    for (int i = 0; i < 2; i++)
        if (!reads[i].pc || (reads[i].thread == now->thread && reads[i].block == now->block)) {
            reads[i] = *now;
            return;
        }
    for (int i = 0; i < 2; i++)
        if (race_order_is_before(&reads[i], watch_current)) {
            reads[i] = *now;
            return;
        }
    /* Reads of threads far apart are kept, because they race with most writes: of another block, then of another
     * warp. */
    if (reads[0].block == reads[1].block &&
        (now->block != reads[0].block || reads[0].thread / 32 == reads[1].thread / 32))
        reads[1] = *now;
}

static void note(struct cell *cell, const struct race_access *now, struct region *region, const char *address)
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
    if (region->words) /* returns the pages to the system, so that unused ones take no time */
        (void)madvise(region->words, region->words_bytes, MADV_DONTNEED);
    region->is_split = 0;
}

static void end_region(struct region *region)
{
    forget(region);
    munmap(region->words, region->words_bytes);
}

/* Returns the words of a region, which are zero at first; NULL without memory. */
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

/* Gives each byte of a word a cell of its own. Returns 1, or 0 without memory. */
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
    struct race_access now = {.pc = pc,
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
    if (pending.address && bytes <= sizeof pending.old) { /* compare the whole write, not only this part */
        pending.address = (char *)(uintptr_t)address;
        pending.bytes = bytes;
        memcpy(pending.old, address, bytes);
    }
}

/* ---- Events ---- */

/* Forgets all accesses at the beginning of a launch, because launches run in order. */
static void begin_launch(void)
{
    region_each(NULL, forget);
}

static void end_launch(void)
{
    pending.address = NULL;
    race_order_end_launch();
}

static void begin_block(struct watch_slot *slot)
{
    settle();
    region_each(slot->head, forget); /* the shared memory belonged to another block before */
    race_order_begin_block(slot);
}

static void arrive(struct watch_thread *thread)
{
    settle();
    race_order_arrive(thread);
}

static void sync_lanes(struct watch_slot *slot, uint32_t warp, uint32_t lanes)
{
    settle();
    race_order_sync_lanes(slot, warp, lanes);
}

static void note_fence(void)
{
    settle();
    race_order_fence();
}

static void note_atomic(const void *address, int is_read, int is_write, int is_release)
{
    if (is_write && is_release)
        settle();
    race_order_atomic(address, is_read, is_write, is_release);
}

const struct check_ops race_check = {.kind = CHECK_RACE,
                                     .begin_launch = begin_launch,
                                     .end_launch = end_launch,
                                     .begin_block = begin_block,
                                     .end_block = race_order_end_block,
                                     .settle = settle,
                                     .arrive = arrive,
                                     .sync_lanes = sync_lanes,
                                     .begin_phase = race_order_begin_phase,
                                     .access = note_access,
                                     .looseness = looseness,
                                     .atomic = note_atomic,
                                     .fence = note_fence};
