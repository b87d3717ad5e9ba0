/* warp.c - operations of a warp's lanes on the CPU: the last lane to arrive performs the operation for all. */
#include <stdint.h>
#include <string.h>

#include "cpu/warp.h"

#include "cpu/runner.h"

static uint32_t lowest_lane(uint32_t lanes)
{
    return (uint32_t)__builtin_ctz(lanes);
}

/* ---- Operations of lanes that have all arrived ---- */

/* Returns the lane whose value a shuffle gives to `lane`, which is `lane` itself if its segment has no such lane. */
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
    default: /* the shuffle may read from a lower segment, but not from a higher one */
        from = lane ^ argument;
    }
    return from > last ? lane : from;
}

/* The value of a lane outside the mask is undefined in CUDA. It is 0 here as on an H200, because common reductions of a
 * warp's first lanes rely on that. */
static inline void shuffle_lanes(struct cf__warp *warp, uint32_t lanes, uint32_t kind)
{
    if (lanes == UINT32_MAX) {
        for (uint32_t lane = 0; lane < 32; lane++)
            warp->result[lane] = warp->value[source_lane(kind, &warp->arrivals[lane], lane)];
        return;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest_lane(rest), source = source_lane(kind, &warp->arrivals[lane], lane);
        warp->result[lane] = lanes >> source & 1 ? warp->value[source] : 0;
    }
}

static void set_results(struct cf__warp *warp, uint32_t lanes, uint32_t value)
{
    if (lanes == UINT32_MAX)
        for (int lane = 0; lane < 32; lane++)
            warp->result[lane] = value;
    else
        for (uint32_t rest = lanes; rest; rest &= rest - 1)
            warp->result[lowest_lane(rest)] = value;
}

static uint32_t ballot_lanes(const struct cf__warp *warp, uint32_t lanes)
{
    uint32_t found = 0;
    for (uint32_t lane = 0; lane < 32; lane++)
        found |= (uint32_t)(warp->value[lane] != 0) << lane; /* the values of other lanes are stale */
    return found & lanes;
}

static uint32_t find_equal(const struct cf__warp *warp, uint32_t lanes, uint32_t lane)
{
    uint32_t equal = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        equal |= (uint32_t)(warp->value[lowest_lane(rest)] == warp->value[lane]) << lowest_lane(rest);
    return equal;
}

static void match_any(struct cf__warp *warp, uint32_t lanes)
{
    for (uint32_t rest = lanes; rest;) {
        uint32_t equal = find_equal(warp, rest, lowest_lane(rest));
        set_results(warp, equal, equal);
        rest &= ~equal;
    }
}

#define DEFINE_REDUCE(name, type, expression)                               \
    static uint32_t name(const struct cf__warp *warp, uint32_t lanes)       \
    {                                                                       \
        type a = (type)warp->value[lowest_lane(lanes)];                     \
        for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1) { \
            type b = (type)warp->value[lowest_lane(rest)];                  \
            a = expression;                                                 \
        }                                                                   \
        return (uint32_t)a;                                                 \
    }
DEFINE_REDUCE(reduce_add, uint32_t, a + b)
DEFINE_REDUCE(reduce_min, uint32_t, b < a ? b : a)
DEFINE_REDUCE(reduce_max, uint32_t, b > a ? b : a)
DEFINE_REDUCE(reduce_min_signed, int32_t, b < a ? b : a)
DEFINE_REDUCE(reduce_max_signed, int32_t, b > a ? b : a)
DEFINE_REDUCE(reduce_and, uint32_t, a &b)
DEFINE_REDUCE(reduce_or, uint32_t, a | b)
DEFINE_REDUCE(reduce_xor, uint32_t, a ^ b)

static void perform_operation(struct cf__warp *warp, uint32_t lanes, uint32_t kind)
{
    static uint32_t (*const reduce[])(const struct cf__warp *warp, uint32_t lanes) = {
        [CF_HOST_WARP_BALLOT] = ballot_lanes,
        [CF_HOST_WARP_ADD] = reduce_add,
        [CF_HOST_WARP_MIN] = reduce_min,
        [CF_HOST_WARP_MAX] = reduce_max,
        [CF_HOST_WARP_MIN_SIGNED] = reduce_min_signed,
        [CF_HOST_WARP_MAX_SIGNED] = reduce_max_signed,
        [CF_HOST_WARP_AND] = reduce_and,
        [CF_HOST_WARP_OR] = reduce_or,
        [CF_HOST_WARP_XOR] = reduce_xor,
    };
    switch (kind) {
    case CF_HOST_WARP_SYNC:
        break;
    case CF_HOST_WARP_SHUFFLE: /* a constant kind lets the loop compile without branches */
        shuffle_lanes(warp, lanes, CF_HOST_WARP_SHUFFLE);
        break;
    case CF_HOST_WARP_SHUFFLE_UP:
        shuffle_lanes(warp, lanes, CF_HOST_WARP_SHUFFLE_UP);
        break;
    case CF_HOST_WARP_SHUFFLE_DOWN:
        shuffle_lanes(warp, lanes, CF_HOST_WARP_SHUFFLE_DOWN);
        break;
    case CF_HOST_WARP_SHUFFLE_XOR:
        shuffle_lanes(warp, lanes, CF_HOST_WARP_SHUFFLE_XOR);
        break;
    case CF_HOST_WARP_MATCH_ANY:
        match_any(warp, lanes);
        break;
    case CF_HOST_WARP_MATCH_ALL:
        set_results(warp, lanes, find_equal(warp, lanes, lowest_lane(lanes)) == lanes ? lanes : 0);
        break;
    default:
        set_results(warp, lanes, reduce[kind](warp, lanes));
    }
}

/* ---- Arriving ---- */

/* Makes lanes ready, except for the running lane. */
static void release_lanes(struct cf__runner *runner, uint32_t first, uint32_t lanes, uint32_t running)
{
    if (lanes == UINT32_MAX) {
        cf__runner_add_ready_range(runner, first, first + running);
        cf__runner_add_ready_range(runner, first + running + 1, first + 32);
        return;
    }
    for (uint32_t rest = lanes & ~(1u << running); rest;) {
        const uint32_t lane =
            runner->seed == CF__ORDER_REVERSE ? 31 - (uint32_t)__builtin_clz(rest) : lowest_lane(rest);
        cf__runner_add_ready(runner, first + lane);
        rest &= ~(1u << lane);
    }
}

/* Returns the mask of the lanes that wait in an operation with this mask. */
static uint32_t find_waiting(const struct cf__warp *warp, uint32_t mask)
{
    uint32_t found = 0;
    for (uint32_t rest = warp->in_operation & mask; rest; rest &= rest - 1)
        found |= (uint32_t)(warp->arrivals[lowest_lane(rest)].mask == mask) << lowest_lane(rest);
    return found;
}

static CF__NOINLINE uint64_t fail_operation(cf_host_block *head, const cf_host_where *where, const char *what)
{
    head->ops->fail(head, 0, &(cf_host_where){what, where->file, where->line});
    return 0;
}

/* Completes an operation; the running lane arrived last. */
static CF__NOINLINE uint64_t complete_operation(struct cf__runner *runner, struct cf__warp *warp, uint32_t arrived,
                                                uint32_t kind, uint32_t running, const cf_host_where *where)
{
    warp->group_mask = 0;
    perform_operation(warp, arrived, kind);
    warp->in_operation &= ~arrived;
    release_lanes(runner, runner->current - running, arrived, running);
    return cf__runner_continue(runner, where, &warp->result[running]);
}

/* Makes the lanes of `mask` the current group. It is called when the latest lane had another mask or completed its
 * group. */
static CF__NOINLINE uint64_t begin_group(cf_host_block *head, struct cf__warp *warp, uint32_t mask, uint64_t value,
                                         cf_host_warp what, const cf_host_where *where)
{
    warp->group_arrived = find_waiting(warp, mask);
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
        return fail_operation(head, where, "a warp operation whose mask leaves its own lane out");
    if (warp->group_mask != mask)
        return begin_group(head, warp, mask, value, what, where);
    if (!what.width || what.width > 32 || what.width & (what.width - 1))
        return fail_operation(head, where, "a shuffle whose width is not a power of two up to 32");
    uint32_t arrived = warp->group_arrived;
    if (arrived && warp->arrivals[lowest_lane(arrived)].kind != what.kind)
        return fail_operation(head, where, "lanes of one mask are at different warp operations");
    warp->value[lane] = value;
    warp->arrivals[lane] = (struct cf__arrival){mask, what.kind, what.width, what.argument & 31};
    arrived |= bit;
    if (((arrived | warp->ended) & mask) == mask)
        return complete_operation(runner, warp, arrived, what.kind, lane, where);
    warp->group_arrived = arrived;
    warp->in_operation |= bit;
    return cf__runner_wait(block, where, &warp->result[lane]);
}

uint32_t cf__warp_active(cf_host_block *head, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    uint32_t thread = runner->current - block->first, lane = thread % 32;
    struct cf__warp *warp = &block->warps[thread / 32];
    warp->in_active |= 1u << lane;
    runner->in_active++;
    runner->suspended[runner->current].where = where;
    cf__warp_settle(runner, warp, runner->current - lane);
    return (uint32_t)cf__runner_suspend(runner, where, &warp->result[lane]); /* the thread may be in the ring already */
}

/* ---- Operations that complete without an arrival ---- */

static int is_same_place(const cf_host_where *a, const cf_host_where *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* Completes active() when no lane of the warp can run: each lane gets the mask of the lanes that wait at the same
 * place. */
static void complete_active(struct cf__runner *runner, struct cf__warp *warp, uint32_t first)
{
    uint32_t asking = warp->in_active;
    warp->in_active = 0;
    runner->in_active -= (uint32_t)__builtin_popcount(asking);
    for (uint32_t left = asking; left;) {
        const cf_host_where *where = runner->suspended[first + lowest_lane(left)].where;
        uint32_t together = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            together |= (uint32_t)is_same_place(runner->suspended[first + lowest_lane(rest)].where, where)
                        << lowest_lane(rest);
        set_results(warp, together, together);
        left &= ~together;
    }
    for (uint32_t rest = asking; rest; rest &= rest - 1)
        cf__runner_add_ready(runner, first + lowest_lane(rest));
}

/* Returns 1 if every lane is suspended or has ended. */
static int are_all_stopped(const struct cf__runner *runner, const struct cf__warp *warp, uint32_t first)
{
    for (uint32_t rest = warp->lanes & ~(warp->in_operation | warp->in_active); rest; rest &= rest - 1)
        if (runner->states[first + lowest_lane(rest)] == CF__THREAD_READY)
            return 0;
    return 1;
}

void cf__warp_settle(struct cf__runner *runner, struct cf__warp *warp, uint32_t first)
{
    for (uint32_t rest = warp->ended ? warp->in_operation : 0; rest;) {
        uint32_t mask = warp->arrivals[lowest_lane(rest)].mask, arrived = find_waiting(warp, mask);
        rest &= ~arrived;
        if (((arrived | warp->ended) & mask) != mask)
            continue;
        perform_operation(warp, arrived, warp->arrivals[lowest_lane(arrived)].kind);
        warp->in_operation &= ~arrived;
        if (warp->group_mask == mask)
            warp->group_mask = 0;
        for (uint32_t lanes = arrived; lanes; lanes &= lanes - 1)
            cf__runner_add_ready(runner, first + lowest_lane(lanes));
    }
    if (warp->in_active && are_all_stopped(runner, warp, first))
        complete_active(runner, warp, first);
}
