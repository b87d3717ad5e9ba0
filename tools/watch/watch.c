/* watch.c - follows launches of a checked kernel: which thread of which block runs, and errors at barriers and in
 * warps.
 *
 * A CPU body calls a table of functions for everything that threads do together. The table in this file follows the
 * running thread and calls the library's table. CF_THREADS is 1, so that one thread runs at a time. */
#include "watch/watch.h"

#include <stdlib.h>
#include <string.h>

#include "watch/check.h"
#include "watch/finding.h"
#include "watch/input.h"
#include "watch/region.h"
#include "watch/watch_arrays.h"
#include "watch/watch_thread.h"

/* Lanes that have arrived at a warp operation with the same mask. */
struct group {
    uint32_t mask, arrived;
    int is_sync;
};

struct watch_warp {
    uint32_t lanes, ended;
    struct group groups[32];
    uint32_t group_count;
    cf_host_where barrier; /* the barrier of the block at which thread `first` was the warp's first to arrive */
    uint32_t first, epoch;
};

const size_t *watch_bytes;
int watch_runs;

static const cf_host_ops *real;
static cf_host_ops ops;
static int has_failed; /* the launch failed, so that unwritten outputs are not reported */
static cf_host_thread *run_thread;
static void *run_closure;
static struct watch_slot *slots;
static size_t slot_count;

/* ---- Places ---- */

static int is_same(const cf_host_where *one, const cf_host_where *other)
{
    return one->line == other->line && strcmp(one->file, other->file) == 0;
}

/* Returns 1 if a pair of places, or one place with itself, was reported before. Only 64 pairs are kept, since generated
 * code may have many; further ones count as reported. */
static int is_told(const cf_host_where *one, const cf_host_where *other)
{
    static struct {
        cf_host_where one, other;
    } told[64];
    static int count;
    for (int i = 0; i < count; i++)
        if ((is_same(&told[i].one, one) && is_same(&told[i].other, other)) ||
            (is_same(&told[i].one, other) && is_same(&told[i].other, one)))
            return 1;
    if (count == (int)(sizeof told / sizeof *told)) {
        static int is_full;
        if (!is_full++)
            finding_tell("more than %d pairs of places: what else there is at barriers and in warps is left out",
                         count);
        return 1;
    }
    told[count].one = *one;
    told[count++].other = *other;
    return 0;
}

/* ---- Blocks and threads ---- */

static int make_slot(struct watch_slot *slot)
{
    uint32_t threads = watch_launched->block.x * watch_launched->block.y * watch_launched->block.z;
    *slot = (struct watch_slot){.threads = calloc(threads, sizeof *slot->threads),
                                .warps = calloc((threads + 31) / 32, sizeof *slot->warps)};
    return slot->threads && slot->warps;
}

static void unsee(struct region *region)
{
    if (region->seen)
        memset(region->seen, 0, region->bytes);
}

/* Starts a block in its slot. */
static void begin_block(struct watch_slot *slot, const cf_host_block *head)
{
    uint32_t threads = watch_launched->block.x * watch_launched->block.y * watch_launched->block.z;
    slot->head = head;
    slot->index = head->index;
    slot->number = (head->index.z * watch_launched->grid.y + head->index.y) * watch_launched->grid.x + head->index.x;
    slot->ended = 0;
    slot->waiting = slot->past = NULL;
    for (uint32_t i = 0; i < threads; i++) {
        struct watch_thread *thread = &slot->threads[i];
        free(thread->known);
        memset(thread, 0, sizeof *thread);
        thread->slot = slot;
        thread->number = i;
    }
    for (uint32_t w = 0; w < (threads + 31) / 32; w++) {
        uint32_t rest = threads - 32 * w;
        slot->warps[w] = (struct watch_warp){.lanes = rest < 32 ? (1u << rest) - 1 : ~0u, .epoch = UINT32_MAX};
    }
    region_each(head, unsee);
    if (check_current->begin_block)
        check_current->begin_block(slot);
    if (watch_launched->shared && !region_find(head->dynamic))
        region_add(&(struct region){.begin = head->dynamic,
                                    .bytes = watch_launched->shared,
                                    .kind = REGION_DYNAMIC,
                                    .block = head,
                                    .seen = check_is(CHECK_POISON) ? calloc(watch_launched->shared, 1) : NULL});
}

/* Returns the slot of a running block; NULL without memory. */
static struct watch_slot *slot_of(const cf_host_block *head)
{
    static size_t latest;
    size_t i = latest < slot_count && slots[latest].head == head ? latest : 0;
    while (i < slot_count && slots[i].head != head)
        i++;
    if (i == slot_count) {
        struct watch_slot *larger = realloc(slots, (slot_count + 1) * sizeof *slots);
        if (!larger)
            return NULL;
        /* The slots have moved, so that threads have to point to the new ones. */
        for (size_t s = 0; s < slot_count && larger != slots; s++)
            for (uint32_t t = 0; t < watch_launched->block.x * watch_launched->block.y * watch_launched->block.z; t++)
                larger[s].threads[t].slot = &larger[s];
        slots = larger;
        if (!make_slot(&slots[slot_count++]))
            return NULL;
        begin_block(&slots[i], head);
    } else if (memcmp(&slots[i].index, &head->index, sizeof head->index) != 0) {
        begin_block(&slots[i], head);
    }
    latest = i;
    return &slots[i];
}

static void end_slots(void)
{
    uint32_t threads = watch_launched->block.x * watch_launched->block.y * watch_launched->block.z;
    for (size_t i = 0; i < slot_count; i++) {
        for (uint32_t t = 0; slots[i].threads && t < threads; t++)
            free(slots[i].threads[t].known);
        if (check_current->end_block)
            check_current->end_block(&slots[i]);
        free(slots[i].known);
        free(slots[i].threads);
        free(slots[i].warps);
    }
    free(slots);
    slots = NULL;
    slot_count = 0;
}

/* ---- Operations of lanes ---- */

/* Completes an operation at which all remaining lanes of a group have arrived. */
static void complete(struct watch_slot *slot, uint32_t w, uint32_t i)
{
    struct watch_warp *warp = &slot->warps[w];
    const struct group group = warp->groups[i];
    warp->groups[i] = warp->groups[--warp->group_count];
    for (uint32_t rest = group.arrived; rest; rest &= rest - 1)
        slot->threads[32 * w + (uint32_t)__builtin_ctz(rest)].took_part = group.arrived;
    if (group.is_sync && check_current->sync_lanes)
        check_current->sync_lanes(slot, w, group.arrived);
}

static int is_complete(const struct watch_warp *warp, const struct group *group)
{
    return ((group->arrived | warp->ended) & group->mask) == group->mask;
}

/* Records that a lane arrives at an operation of the lanes in a mask, which includes the lane itself. */
static void arrive(struct watch_thread *thread, uint32_t mask, int is_sync)
{
    uint32_t w = thread->number / 32, i = 0;
    struct watch_warp *warp = &thread->slot->warps[w];
    while (i < warp->group_count && warp->groups[i].mask != mask)
        i++;
    if (i == warp->group_count)
        warp->groups[warp->group_count++] = (struct group){mask, 0, is_sync};
    warp->groups[i].arrived |= 1u << thread->number % 32;
    if (is_complete(warp, &warp->groups[i]))
        complete(thread->slot, w, i);
}

static void end_thread(struct watch_thread *thread)
{
    uint32_t w = thread->number / 32;
    struct watch_warp *warp = &thread->slot->warps[w];
    warp->ended |= 1u << thread->number % 32;
    thread->slot->ended++;
    for (uint32_t i = 0; i < warp->group_count;)
        if (is_complete(warp, &warp->groups[i]))
            complete(thread->slot, w, i);
        else
            i++;
}

/* ---- Table of functions ---- */

static void settle(void)
{
    if (check_current->settle)
        check_current->settle();
}

static void come(struct watch_thread *own)
{
    if (check_current->arrive)
        check_current->arrive(own);
}

static void enter(void *unused, cf_host_block *block, cf_dim3 index)
{
    (void)unused;
    struct watch_slot *slot = slot_of(block);
    if (!slot)
        return;
    const cf_dim3 size = watch_launched->block;
    struct watch_thread *own = &slot->threads[(index.z * size.y + index.y) * size.x + index.x];
    watch_current = own;
    run_thread(run_closure, block, index);
    settle();
    watch_current = NULL;
    end_thread(own);
}

static void run(const cf_host_launch *what, uint64_t begin, uint64_t end, cf_host_thread *thread, void *closure)
{
    const cf_host_launch *given = watch_launched;
    watch_launched = what; /* the library's launch, in which x and y may be exchanged */
    run_thread = thread;
    run_closure = closure;
    real->run(what, begin, end, enter, NULL);
    has_failed |= watch_current != NULL; /* a thread failed or waited forever, and did not end */
    watch_current = NULL;
    settle();
    end_slots();
    region_end(REGION_END_BLOCKS);
    watch_launched = given;
}

/* Reports lanes of one warp that arrive at different barriers, in different branches. This library and some GPUs let
 * them continue, but CUDA demands that a warp arrives at one barrier. */
static void look_at_barrier(const struct watch_thread *own, const cf_host_where *where)
{
    struct watch_warp *warp = &own->slot->warps[own->number / 32];
    char who[96], other[96];
    if (warp->epoch != own->clock.epoch) {
        warp->barrier = *where;
        warp->epoch = own->clock.epoch;
        warp->first = own->number;
    } else if (!is_same(&warp->barrier, where) && !is_told(&warp->barrier, where)) {
        watch_describe(own->slot->number, own->number, who, sizeof who);
        watch_describe(own->slot->number, warp->first, other, sizeof other);
        finding_tell("%s:%d: %s waits at %s, and %s of its warp at %s in %s:%d: not the same barrier", where->file,
                     where->line, who, where->what, other, warp->barrier.what, warp->barrier.file, warp->barrier.line);
    }
}

/* Reports threads that end without a barrier at which others wait. This library and GPUs do not wait for ended threads,
 * but in CUDA this is undefined. */
static void look_at_end(struct watch_slot *slot)
{
    char who[96], other[96];
    if (!slot->waiting || !slot->past || slot->past->clock.epoch > slot->epoch ||
        is_told(&slot->barrier, &slot->past->end))
        return;
    watch_describe(slot->number, slot->waiting->number, who, sizeof who);
    watch_describe(slot->number, slot->past->number, other, sizeof other);
    finding_tell("%s:%d: %s waits at %s, and %s comes to the end of the kernel in %s:%d without it", slot->barrier.file,
                 slot->barrier.line, who, slot->barrier.what, other, slot->past->end.file, slot->past->end.line);
}

static void come_to_barrier(struct watch_thread *own, const cf_host_where *where)
{
    struct watch_slot *slot = own->slot;
    if (slot->waiting && slot->epoch >= own->clock.epoch)
        return;
    slot->barrier = *where;
    slot->waiting = own;
    slot->epoch = own->clock.epoch;
    look_at_end(slot);
}

/* Kernels that are built for a check call this function at their closing brace. */
__attribute__((visibility("default"))) void cf__checked_end(const char *file, int line);
void cf__checked_end(const char *file, int line)
{
    struct watch_thread *own = watch_current;
    if (!own || !check_is(CHECK_RACE))
        return;
    own->end = (cf_host_where){"", file, line};
    /* The thread that passed the fewest barriers is kept, since it may have missed most. */
    if (!own->slot->past || own->clock.epoch < own->slot->past->clock.epoch)
        own->slot->past = own;
    look_at_end(own->slot);
}

static uint64_t barrier(cf_host_block *block, cf_host_vote vote, int value, const cf_host_where *where)
{
    struct watch_thread *own = watch_current;
    settle();
    if (check_is(CHECK_RACE)) {
        look_at_barrier(own, where);
        come_to_barrier(own, where);
    }
    come(own);
    uint64_t result = real->barrier(block, vote, value, where);
    own->clock.epoch++;
    watch_current = own;
    return result;
}

static void grid(cf_host_block *block, const cf_host_where *where)
{
    struct watch_thread *own = watch_current;
    come(own);
    real->grid(block, where);
    own->clock.epoch++;
    own->clock.grid++;
    watch_current = own;
}

/* Two approximations count more as ordered than is: blocks of other clusters; and a thread's accesses between its
 * arrival and its wait, with respect to other threads' accesses before their arrivals. */
static void cluster(cf_host_block *block, int steps, const cf_host_where *where)
{
    struct watch_thread *own = watch_current;
    come(own);
    real->cluster(block, steps, where);
    if (steps & CF_HOST_ARRIVE) {
        own->clock.epoch++;
        own->clock.grid++;
    }
    watch_current = own;
}

/* Returns the lane whose value a shuffle reads, or the reading lane itself if its segment has no such lane. */
static uint32_t source_of(const cf_host_warp *what, uint32_t lane)
{
    int width = what->width, first = (int)lane & ~(width - 1), last = first + width - 1, from = (int)lane;
    if (what->kind == CF_HOST_WARP_SHUFFLE)
        from = first | (what->argument & (width - 1));
    else if (what->kind == CF_HOST_WARP_SHUFFLE_UP && what->argument >= 0 && what->argument <= from - first)
        from -= what->argument;
    else if (what->kind == CF_HOST_WARP_SHUFFLE_DOWN && what->argument >= 0 && what->argument <= last - from)
        from += what->argument;
    else if (what->kind == CF_HOST_WARP_SHUFFLE_XOR && (from ^ what->argument) <= last && (from ^ what->argument) >= 0)
        from ^= what->argument;
    return (uint32_t)from;
}

/* Reports a shuffle that reads from a lane that did not take part, whose value is undefined. Whether a lane outside the
 * mask has ended may depend on the order in which lanes run. */
static void look_at_source(const struct watch_thread *own, uint32_t mask, const cf_host_warp *what,
                           const cf_host_where *where)
{
    uint32_t lane = own->number % 32, source = source_of(what, lane);
    char who[96];
    if (own->took_part >> source & 1 || is_told(where, where))
        return;
    watch_describe(own->slot->number, own->number, who, sizeof who);
    finding_tell("%s:%d: %s reads lane %u, which %s; %s", where->file, where->line, where->what, source,
                 !(mask >> source & 1)                                    ? "its mask leaves out"
                 : own->slot->warps[own->number / 32].ended >> source & 1 ? "has ended"
                 : own->slot->warps[own->number / 32].lanes >> source & 1 ? "does not take part"
                                                                          : "the block does not have",
                 who);
}

static uint64_t warp(cf_host_block *block, uint32_t mask, uint64_t value, cf_host_warp what, const cf_host_where *where)
{
    struct watch_thread *own = watch_current;
    settle();
    uint32_t lanes = mask & own->slot->warps[own->number / 32].lanes;
    if (lanes >> own->number % 32 & 1) /* the library refuses a call whose mask lacks the lane */
        arrive(own, lanes, what.kind == CF_HOST_WARP_SYNC);
    uint64_t result = real->warp(block, mask, value, what, where);
    watch_current = own;
    if (check_is(CHECK_POISON) && what.kind >= CF_HOST_WARP_SHUFFLE && what.kind <= CF_HOST_WARP_SHUFFLE_XOR)
        look_at_source(own, mask, &what, where);
    return result;
}

static uint32_t active(cf_host_block *block, const cf_host_where *where)
{
    struct watch_thread *own = watch_current;
    uint32_t lanes = real->active(block, where);
    watch_current = own;
    return lanes;
}

static void yield(cf_host_block *block)
{
    struct watch_thread *own = watch_current;
    real->yield(block);
    watch_current = own;
}

/* Waits at a barrier object. Nothing is recorded here, since atomic accesses to the object's words order the
 * threads. */
static void wait(cf_host_block *block, const uint64_t *word, uint64_t phase, const cf_host_where *where)
{
    struct watch_thread *own = watch_current;
    real->wait(block, word, phase, where);
    watch_current = own;
}

static void wake(cf_host_block *block, const uint64_t *word)
{
    if (check_current->begin_phase)
        check_current->begin_phase(word);
    real->wake(block, word);
}

static void *shared(cf_host_block *block, const cf_host_shape *key, size_t bytes, size_t align)
{
    void *memory = real->shared(block, key, bytes, align);
    if (!region_find(memory))
        region_add(&(struct region){.begin = memory,
                                    .bytes = bytes,
                                    .kind = REGION_SHARED,
                                    .key = key,
                                    .block = block,
                                    .seen = check_is(CHECK_POISON) ? calloc(bytes ? bytes : 1, 1) : NULL});
    return memory;
}

/* ---- Launches ---- */

static void begin_launch(void)
{
    has_failed = 0;
    region_end(REGION_END_LAUNCH);
    if (check_current->begin_launch)
        check_current->begin_launch();
    watch_data(finding_module());
    watch_arrays(finding_operation ? NULL : watch_bytes, watch_launched->args, 0);
}

static void end_launch(void)
{
    if (!has_failed)
        region_each(NULL, input_compare);
    if (check_current->look_at_outputs && !has_failed)
        check_current->look_at_outputs(finding_kernel, watch_launched->args);
    if (check_current->look_at_scratch && !has_failed)
        check_current->look_at_scratch(finding_kernel, watch_launched->args);
    if (check_current->end_launch)
        check_current->end_launch();
    if (!check_is(CHECK_ADDRESS)) /* kept, because AddressSanitizer's reports in later launches may name these arrays */
        region_end(REGION_END_LAUNCH);
}

int watch_is_looking(void)
{
    return watch_runs <= 1 || check_is(CHECK_ADDRESS);
}

/* The parts of a launch run one after the other. */
void watch_launch(const cf_kernel *of, cf_host_body *host, const cf_host_launch *what, uint64_t begin, uint64_t end)
{
    cf_host_launch own = *what;
    watch_launched = &own;
    finding_kernel = of;
    if (!watch_is_looking()) {
        host(what, begin, end);
        return;
    }
    real = what->ops;
    ops = *real;
    ops.run = run;
    ops.barrier = barrier;
    ops.warp = warp;
    ops.active = active;
    ops.grid = grid;
    ops.cluster = cluster;
    ops.yield = yield;
    ops.wait = wait;
    ops.wake = wake;
    ops.shared = shared;
    own.ops = &ops;
    own.is_ordered = 1; /* every thread runs; the CPU body skips none */
    if (begin == 0)
        begin_launch();
    if (check_current->begin_part)
        check_current->begin_part(own.args);
    host(&own, begin, end);
    if (check_current->end_part)
        check_current->end_part(own.args);
    if (end == (uint64_t)own.grid.x * own.grid.y * own.grid.z || finding_kernel->is_cpu_whole)
        end_launch();
}
