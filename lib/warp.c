/* warp.c - operations of the lanes of a warp, on the CPU: the last lane to arrive does the work for all. */
#include <string.h>

#include "block.h"

/* The lane that a lane's value comes from: itself where the segment has no such lane. */
static uint32_t source_lane(const cf_host_warp *own, uint32_t lane)
{
    int width = own->width, first = (int)lane & ~(width - 1), last = first + width - 1, from = (int)lane;
    switch (own->kind) {
    case CF_HOST_WARP_SHUFFLE:
        return (uint32_t)(first | (own->argument & (width - 1)));
    case CF_HOST_WARP_SHUFFLE_UP:
        from -= own->argument;
        return from < first || own->argument < 0 ? lane : (uint32_t)from;
    case CF_HOST_WARP_SHUFFLE_DOWN:
        return own->argument < 0 || own->argument > last - from ? lane : (uint32_t)(from + own->argument);
    default: /* into lower segments, too, but not into higher ones */
        from ^= own->argument;
        return from < 0 || from > last ? lane : (uint32_t)from;
    }
}

static void copy(void *to, const void *from, uint32_t bytes)
{
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes);
}

/* A lane that does not take part has nothing to give: its reader keeps its own value. */
static void shuffle(const struct cf__warp *warp, uint32_t lanes)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest), source = source_lane(warp->brought[lane], lane);
        const cf_host_warp *own = warp->brought[lane];
        copy(own->out, source < 32 && lanes >> source & 1 ? warp->brought[source]->in : own->in, own->bytes);
    }
}

static void set(const struct cf__warp *warp, uint32_t lanes, uint32_t value)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        memcpy(warp->brought[__builtin_ctz(rest)]->out, &value, sizeof value);
}

static uint32_t value_of(const struct cf__warp *warp, uint32_t lane)
{
    uint32_t value;
    memcpy(&value, warp->brought[lane]->in, sizeof value);
    return value;
}

static uint32_t ballot(const struct cf__warp *warp, uint32_t lanes)
{
    uint32_t set_in = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        set_in |= (uint32_t)(value_of(warp, (uint32_t)__builtin_ctz(rest)) != 0) << __builtin_ctz(rest);
    return set_in;
}

/* The lanes that brought what `lane` did. */
static uint32_t equal_to(const struct cf__warp *warp, uint32_t lanes, uint32_t lane)
{
    const cf_host_warp *own = warp->brought[lane];
    uint32_t equal = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(rest);
        equal |= (uint32_t)(memcmp(own->in, warp->brought[other]->in, own->bytes) == 0) << other;
    }
    return equal;
}

static void match_any(const struct cf__warp *warp, uint32_t lanes)
{
    for (uint32_t rest = lanes; rest;) {
        uint32_t equal = equal_to(warp, rest, (uint32_t)__builtin_ctz(rest));
        set(warp, equal, equal);
        rest &= ~equal;
    }
}

static uint32_t combine(cf_host_warp_kind kind, uint32_t a, uint32_t b)
{
    switch (kind) {
    case CF_HOST_WARP_ADD:
        return a + b;
    case CF_HOST_WARP_MIN:
        return a < b ? a : b;
    case CF_HOST_WARP_MAX:
        return a > b ? a : b;
    case CF_HOST_WARP_MIN_SIGNED:
        return (int32_t)a < (int32_t)b ? a : b;
    case CF_HOST_WARP_MAX_SIGNED:
        return (int32_t)a > (int32_t)b ? a : b;
    case CF_HOST_WARP_AND:
        return a & b;
    case CF_HOST_WARP_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static uint32_t reduce(const struct cf__warp *warp, uint32_t lanes, cf_host_warp_kind kind)
{
    uint32_t result = value_of(warp, (uint32_t)__builtin_ctz(lanes));
    for (uint32_t rest = lanes & (lanes - 1); rest; rest &= rest - 1)
        result = combine(kind, result, value_of(warp, (uint32_t)__builtin_ctz(rest)));
    return result;
}

/* All of `lanes` have arrived with operations of one kind. */
static void operate(const struct cf__warp *warp, uint32_t lanes)
{
    uint32_t first = (uint32_t)__builtin_ctz(lanes);
    cf_host_warp_kind kind = warp->brought[first]->kind;
    switch (kind) {
    case CF_HOST_WARP_SYNC:
        break;
    case CF_HOST_WARP_SHUFFLE:
    case CF_HOST_WARP_SHUFFLE_UP:
    case CF_HOST_WARP_SHUFFLE_DOWN:
    case CF_HOST_WARP_SHUFFLE_XOR:
        shuffle(warp, lanes);
        break;
    case CF_HOST_WARP_BALLOT:
        set(warp, lanes, ballot(warp, lanes));
        break;
    case CF_HOST_WARP_MATCH_ANY:
        match_any(warp, lanes);
        break;
    case CF_HOST_WARP_MATCH_ALL:
        set(warp, lanes, equal_to(warp, lanes, first) == lanes ? lanes : 0);
        break;
    default:
        set(warp, lanes, reduce(warp, lanes, kind));
    }
}

/* Lets all of `lanes` but `running` go on. */
static void release(struct cf__runner *runner, struct cf__warp *warp, uint32_t first, uint32_t lanes, uint32_t running)
{
    warp->stopped &= ~lanes;
    for (uint32_t rest = lanes & ~running; rest; rest &= rest - 1)
        cf__lane_ready(runner, first + (uint32_t)__builtin_ctz(rest));
}

/* The first lane that came with a mask and waits; NULL where none does. */
static cf_host_warp *group_of(const struct cf__warp *warp, uint32_t mask)
{
    for (uint32_t rest = warp->in_operation & mask; rest; rest &= rest - 1)
        if (warp->brought[__builtin_ctz(rest)]->mask == mask)
            return warp->brought[__builtin_ctz(rest)]->group;
    return NULL;
}

static void fail_at(cf_host_block *head, const cf_host_warp *lane, const char *what)
{
    head->ops->fail(head, 0, &(cf_host_where){what, lane->where.file, lane->where.line});
}

void cf__warp_exchange(cf_host_block *head, cf_host_warp *lane)
{
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    uint32_t thread = runner->current - block->first, bit = 1u << thread % 32, first = runner->current - thread % 32;
    struct cf__warp *warp = &block->warps[thread / 32];
    uint32_t mask = lane->mask & warp->lanes;
    if (!(mask & bit))
        fail_at(head, lane, "a warp operation whose mask leaves its own lane out");
    lane->mask = mask;
    cf_host_warp *group = group_of(warp, mask);
    if (group && group->kind != lane->kind)
        fail_at(head, lane, "lanes of one mask are at different warp operations");
    lane->arrived = 0;
    lane->group = group ? group : lane;
    warp->brought[thread % 32] = lane;
    uint32_t arrived = lane->group->arrived |= bit;
    if (((arrived | warp->ended) & mask) == mask) {
        operate(warp, arrived);
        warp->in_operation &= ~arrived;
        release(runner, warp, first, arrived, bit);
        return;
    }
    warp->in_operation |= bit;
    warp->stopped |= bit;
    if (warp->in_active)
        cf__warp_settle(runner, warp, first);
    cf__lane_wait(runner, CF__LANE_WARP, &lane->where);
}

uint32_t cf__warp_active(cf_host_block *head, const cf_host_where *where)
{
    struct cf__block *block = (struct cf__block *)head;
    struct cf__runner *runner = block->runner;
    uint32_t thread = runner->current - block->first, bit = 1u << thread % 32, first = runner->current - thread % 32;
    struct cf__warp *warp = &block->warps[thread / 32];
    warp->in_active |= bit;
    warp->stopped |= bit;
    runner->lanes[runner->current].where = where;
    cf__warp_settle(runner, warp, first);
    /* It may be ready already: then it stands in the ring like the others. */
    cf__lane_wait(runner, runner->states[runner->current], where);
    return warp->found[thread % 32];
}

static int is_same(const cf_host_where *a, const cf_host_where *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* No lane of the warp can go on: those that ask which lanes are with them are told, place by place. */
static void tell_active(struct cf__runner *runner, struct cf__warp *warp, uint32_t first)
{
    uint32_t asking = warp->in_active;
    warp->in_active = 0;
    for (uint32_t left = asking; left;) {
        const cf_host_where *where = runner->lanes[first + (uint32_t)__builtin_ctz(left)].where;
        uint32_t together = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            together |= (uint32_t)is_same(runner->lanes[first + (uint32_t)__builtin_ctz(rest)].where, where)
                        << __builtin_ctz(rest);
        for (uint32_t rest = together; rest; rest &= rest - 1)
            warp->found[__builtin_ctz(rest)] = together;
        left &= ~together;
    }
    release(runner, warp, first, asking, 0);
}

void cf__warp_settle(struct cf__runner *runner, struct cf__warp *warp, uint32_t first)
{
    for (uint32_t rest = warp->in_operation; rest; rest &= rest - 1) {
        if (!(warp->in_operation >> __builtin_ctz(rest) & 1))
            continue; /* it came with a lane before */
        const cf_host_warp *group = warp->brought[__builtin_ctz(rest)]->group;
        uint32_t arrived = group->arrived;
        if (((arrived | warp->ended) & group->mask) != group->mask)
            continue;
        operate(warp, arrived);
        warp->in_operation &= ~arrived;
        release(runner, warp, first, arrived, 0);
    }
    if (warp->in_active && warp->stopped == warp->lanes)
        tell_active(runner, warp, first);
}
