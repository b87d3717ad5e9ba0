/* warp.c - operations of the lanes of a warp, on the CPU: the last lane to arrive does the work for all. */
#include <stdint.h>
#include <string.h>

#include "cpu/warp.h"

#include "cpu/block.h"

static uint32_t lowest(uint32_t lanes)
{
    return (uint32_t)__builtin_ctz(lanes);
}

/* ---- Operations of lanes that have all arrived ---- */

/* The lane that a lane's value comes from: itself where the segment has no such lane. */
static inline uint32_t source_lane(uint32_t kind, const struct cf__arrival *own, uint32_t lane)
{
    uint32_t width = own->width, argument = own->argument, first = lane & ~(width - 1), last = first + width - 1, from;
    switch (kind) {
    case CF_HOST_WARP_SHUFFLE:
        return first | (argument & (width - 1));
    case CF_HOST_WARP_SHUFFLE_UP:
        return lane - first < argument ? lane : lane - argument;
    case CF_HOST_WARP_SHUFFLE_DOWN:
        from = lane + argument;
        break;
    default: /* into lower segments, too, but not into higher ones */
        from = lane ^ argument;
    }
    return from > last ? lane : from;
}

/* What a lane that takes no part gives is undefined, and 0 on an H200, which common reductions of a warp's first lanes
 * count on. */
static inline void shuffle(struct cf__warp *warp, uint32_t lanes, uint32_t kind)
{
    if (lanes == UINT32_MAX) {
        for (uint32_t lane = 0; lane < 32; lane++)
            warp->result[lane] = warp->value[source_lane(kind, &warp->arrivals[lane], lane)];
        return;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest(rest), source = source_lane(kind, &warp->arrivals[lane], lane);
        warp->result[lane] = lanes >> source & 1 ? warp->value[source] : 0;
    }
}

static void give(struct cf__warp *warp, uint32_t lanes, uint32_t value)
{
    if (lanes == UINT32_MAX)
        for (int lane = 0; lane < 32; lane++)
            warp->result[lane] = value;
    else
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            warp->result[lowest(rest)] = value;
}

static uint32_t ballot(const struct cf__warp *warp, uint32_t lanes)
{
    uint32_t found = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        found |= (uint32_t)(warp->value[lane] != 0) << lane; /* of others, it is what they brought long ago */
    return found & lanes;
}

static uint32_t equal_to(const struct cf__warp *warp, uint32_t lanes, uint32_t lane)
{
    uint32_t equal = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        equal |= (uint32_t)(warp->value[lowest(rest)] == warp->value[lane]) << lowest(rest);
    return equal;
}

static void match_any(struct cf__warp *warp, uint32_t lanes)
{
    for (uint32_t rest = lanes; rest;) {
        uint32_t equal = equal_to(warp, rest, lowest(rest));
        give(warp, equal, equal);
        rest &= ~equal;
    }
}

#define COMBINE(name, type, expression)                                     \
    static uint32_t name(const struct cf__warp *warp, uint32_t lanes)       \
    {                                                                       \
        type a = (type)warp->value[lowest(lanes)];                          \
        for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) { \
            type b = (type)warp->value[lowest(rest)];                       \
            a = expression;                                                 \
        }                                                                   \
        return (uint32_t)a;                                                 \
    }
COMBINE(sum, uint32_t, a + b)
COMBINE(least, uint32_t, b < a ? b : a)
COMBINE(greatest, uint32_t, b > a ? b : a)
COMBINE(least_signed, int32_t, b < a ? b : a)
COMBINE(greatest_signed, int32_t, b > a ? b : a)
COMBINE(all_bits, uint32_t, a &b)
COMBINE(any_bits, uint32_t, a | b)
COMBINE(odd_bits, uint32_t, a ^ b)

static void operate(struct cf__warp *warp, uint32_t lanes, uint32_t kind)
{
    static uint32_t (*const reduce[])(const struct cf__warp *warp, uint32_t lanes) = {
        [CF_HOST_WARP_BALLOT] = ballot,
        [CF_HOST_WARP_ADD] = sum,
        [CF_HOST_WARP_MIN] = least,
        [CF_HOST_WARP_MAX] = greatest,
        [CF_HOST_WARP_MIN_SIGNED] = least_signed,
        [CF_HOST_WARP_MAX_SIGNED] = greatest_signed,
        [CF_HOST_WARP_AND] = all_bits,
        [CF_HOST_WARP_OR] = any_bits,
        [CF_HOST_WARP_XOR] = odd_bits,
    };
    switch (kind) {
    case CF_HOST_WARP_SYNC:
        break;
    case CF_HOST_WARP_SHUFFLE: /* a constant for each: compilers then make loops without branches */
        shuffle(warp, lanes, CF_HOST_WARP_SHUFFLE);
        break;
    case CF_HOST_WARP_SHUFFLE_UP:
        shuffle(warp, lanes, CF_HOST_WARP_SHUFFLE_UP);
        break;
    case CF_HOST_WARP_SHUFFLE_DOWN:
        shuffle(warp, lanes, CF_HOST_WARP_SHUFFLE_DOWN);
        break;
    case CF_HOST_WARP_SHUFFLE_XOR:
        shuffle(warp, lanes, CF_HOST_WARP_SHUFFLE_XOR);
        break;
    case CF_HOST_WARP_MATCH_ANY:
        match_any(warp, lanes);
        break;
    case CF_HOST_WARP_MATCH_ALL:
        give(warp, lanes, equal_to(warp, lanes, lowest(lanes)) == lanes ? lanes : 0);
        break;
    default:
        give(warp, lanes, reduce[kind](warp, lanes));
    }
}

/* ---- Arriving ---- */

/* Lets lanes go on, all but that which runs. */
static void release(struct cf__runner *runner, uint32_t first, uint32_t lanes, uint32_t running)
{
    if (lanes == UINT32_MAX) {
        cf__lanes_ready(runner, first, first + running);
        cf__lanes_ready(runner, first + running + 1, first + 32);
        return;
    }
    for (uint32_t rest = lanes & ~(1u << running); rest; rest &= rest - 1)
        cf__lane_ready(runner, first + lowest(rest));
}

/* The lanes that wait and came with this mask. */
static uint32_t waiting_with(const struct cf__warp *warp, uint32_t mask)
{
    uint32_t found = 0;
    for (uint32_t rest = warp->in_operation & mask; rest; rest &= rest - 1)
        found |= (uint32_t)(warp->arrivals[lowest(rest)].mask == mask) << lowest(rest);
    return found;
}

static CF__NOINLINE uint64_t fail_at(cf_host_block *head, const cf_host_where *where, const char *what)
{
    head->ops->fail(head, 0, &(cf_host_where){what, where->file, where->line});
    return 0;
}

/* All lanes have arrived, of which one runs. */
static CF__NOINLINE uint64_t complete(struct cf__runner *runner, struct cf__warp *warp, uint32_t arrived, uint32_t kind,
                                      uint32_t running)
{
    warp->group_mask = 0;
    operate(warp, arrived, kind);
    warp->in_operation &= ~arrived;
    release(runner, runner->current - running, arrived, running);
    return warp->result[running];
}

/* The lane that came to the warp last had another mask, or was the last of its own: makes this one's the group. */
static CF__NOINLINE uint64_t begin_group(cf_host_block *head, struct cf__warp *warp, uint32_t mask, uint64_t value,
                                         cf_host_warp what, const cf_host_where *where)
{
    warp->group_arrived = waiting_with(warp, mask);
    warp->group_mask = mask;
    return cf__warp_exchange(head, mask, value, what, where);
}

uint64_t cf__warp_exchange(cf_host_block *head, uint32_t mask, uint64_t value, cf_host_warp what,
                           const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    uint32_t thread = runner->current - block->first, lane = thread % 32, bit = 1u << lane;
    struct cf__warp *warp = &block->warps[thread / 32];
    mask &= warp->lanes;
    if (!(mask & bit))
        return fail_at(head, where, "a warp operation whose mask leaves its own lane out");
    if (warp->group_mask != mask)
        return begin_group(head, warp, mask, value, what, where);
    if (!what.width || what.width > 32 || what.width & (what.width - 1))
        return fail_at(head, where, "a shuffle whose width is not a power of two up to 32");
    uint32_t arrived = warp->group_arrived;
    if (arrived && warp->arrivals[lowest(arrived)].kind != what.kind)
        return fail_at(head, where, "lanes of one mask are at different warp operations");
    warp->value[lane] = value;
    warp->arrivals[lane] = (struct cf__arrival){mask, what.kind, what.width, what.argument & 31};
    arrived |= bit;
    if (((arrived | warp->ended) & mask) == mask)
        return complete(runner, warp, arrived, what.kind, lane);
    warp->group_arrived = arrived;
    warp->in_operation |= bit;
    return cf__block_wait(block, where, &warp->result[lane]);
}

uint32_t cf__warp_active(cf_host_block *head, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    uint32_t thread = runner->current - block->first, lane = thread % 32;
    struct cf__warp *warp = &block->warps[thread / 32];
    warp->in_active |= 1u << lane;
    runner->asking++;
    runner->lanes[runner->current].where = where;
    cf__warp_settle(runner, warp, runner->current - lane);
    return (uint32_t)cf__lane_wait(runner, where, &warp->result[lane]); /* it may be in the ring already */
}

/* ---- What completes without a lane that arrives ---- */

static int is_same(const cf_host_where *a, const cf_host_where *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* No lane of the warp can go on: those that ask which lanes are with them are told, place by place. */
static void tell_active(struct cf__runner *runner, struct cf__warp *warp, uint32_t first)
{
    uint32_t asking = warp->in_active;
    warp->in_active = 0;
    runner->asking -= (uint32_t)__builtin_popcount(asking);
    for (uint32_t left = asking; left;) {
        const cf_host_where *where = runner->lanes[first + lowest(left)].where;
        uint32_t together = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            together |= (uint32_t)is_same(runner->lanes[first + lowest(rest)].where, where) << lowest(rest);
        give(warp, together, together);
        left &= ~together;
    }
    for (uint32_t rest = asking; rest; rest &= rest - 1)
        cf__lane_ready(runner, first + lowest(rest));
}

/* Whether each lane waits for anything, or has ended. */
static int are_all_stopped(const struct cf__runner *runner, const struct cf__warp *warp, uint32_t first)
{
    for (uint32_t rest = warp->lanes & ~(warp->in_operation | warp->in_active); rest; rest &= rest - 1)
        if (runner->states[first + lowest(rest)] == CF__LANE_READY)
            return 0;
    return 1;
}

void cf__warp_settle(struct cf__runner *runner, struct cf__warp *warp, uint32_t first)
{
    for (uint32_t rest = warp->ended ? warp->in_operation : 0; rest;) {
        uint32_t mask = warp->arrivals[lowest(rest)].mask, arrived = waiting_with(warp, mask);
        rest &= ~arrived;
        if (((arrived | warp->ended) & mask) != mask)
            continue;
        operate(warp, arrived, warp->arrivals[lowest(arrived)].kind);
        warp->in_operation &= ~arrived;
        if (warp->group_mask == mask)
            warp->group_mask = 0;
        for (uint32_t lanes = arrived; lanes; lanes &= lanes - 1)
            cf__lane_ready(runner, first + lowest(lanes));
    }
    if (warp->in_active && are_all_stopped(runner, warp, first))
        tell_active(runner, warp, first);
}
