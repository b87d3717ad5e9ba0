/* lanes.cuh - shuffles, votes, reductions and matches of a warp in the regions of a kernel. */
#ifndef CUFERRY_CPU_LANES_CUH
#define CUFERRY_CPU_LANES_CUH

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/words.cuh>

#include "loop.cuh"
#include "shifts.cuh"
#include "spans.cuh"

static inline CF__INLINE void cf__fail_lacking(const char *file, int line)
{
    cf__fail(0, "a warp operation without some lanes of its mask", file, line);
}

/* The threads of a block that missed an operation of their warp. All other lanes wait until such threads end. */
struct cf__lacking {
    bool cf__has[1024];
    bool cf__is_any = false;
    const char *cf__file = nullptr; /* source location of the first operation that waits for such threads */
    int cf__line = 0;

    template <typename Scope> explicit CF__INLINE cf__lacking(const Scope &scope)
    {
        for (int t = 0; t < cf__threads(scope); t++)
            cf__has[t] = false;
    }

    /* Fails if a thread that missed an operation of its warp reaches an operation of all threads. */
    template <typename Scope> CF__INLINE void cf__meet(const Scope &scope, const int *ended) const
    {
        for (int t = 0; cf__is_any && t < cf__threads(scope); t++)
            if (cf__has[cf__place_of(scope) + t] && (!ended || !ended[t]))
                cf__fail_lacking(cf__file, cf__line);
    }

    CF__INLINE void cf__note(int first, uint32_t lanes, const char *file, int line)
    {
        for (; lanes; lanes &= lanes - 1)
            cf__has[first + __builtin_ctz(lanes)] = true;
        cf__file = cf__is_any ? cf__file : file;
        cf__line = cf__is_any ? cf__line : line;
        cf__is_any = true;
    }
};

/* Returns the lanes among `left` that masks of the lanes `given` name, although they are not in `given`. */
static inline CF__INLINE uint32_t cf__find_lacking(const uint32_t *masks, uint32_t given, uint32_t left,
                                                   const char *file, int line)
{
    uint32_t named = 0;
    for (uint32_t rest = given; rest; rest &= rest - 1)
        if (!(masks[__builtin_ctz(rest)] >> __builtin_ctz(rest) & 1))
            cf__fail(0, "a warp operation whose mask leaves its own lane out", file, line);
    for (uint32_t rest = given; rest;) {
        const uint32_t mask = masks[__builtin_ctz(rest)] & left;
        uint32_t same = 0;
        for (int lane = 0; lane < 32; lane++)
            same |= (uint32_t)((masks[lane] & left) == mask) << lane;
        same &= rest;
        if (mask & given & ~same)
            cf__fail_lacking(file, line);
        named |= mask;
        rest &= ~same;
    }
    return named & ~given;
}

/* The values that the lanes of a warp give to one another. Memory before and after the values allows reads whose
 * results are not used. */
struct cf__lanes {
    union {
        alignas(32) uint64_t cf__memory[32 + 32 + 32];
    };
    union {
        alignas(32) uint32_t cf__masks[32];
    };

    CF__INLINE cf__lanes()
    {
    }

    CF__INLINE ~cf__lanes()
    {
    }

    /* Returns the array of values. A lane that gives no value has 0, as on an H200. `clears`: any lane may give none;
     * otherwise only lanes after the last thread. `notes`: threads note their masks. */
    template <typename T, typename Scope> CF__INLINE T *cf__of(const Scope &scope, bool clears, bool notes)
    {
        static_assert(sizeof(T) <= sizeof *cf__memory, "a shuffle of a large type");
        T *const values = reinterpret_cast<T *>(cf__memory) + 32;
        const int first = clears ? 0 : cf__threads(scope);
        if (first < 32)
            __builtin_memset(static_cast<void *>(values + first), 0, (32 - first) * sizeof(T));
        if (notes)
            __builtin_memset(cf__masks, 0, sizeof cf__masks);
        return values;
    }

    template <typename T> CF__INLINE cf__masked<T> cf__by_masks(const T *values) const
    {
        return {values, cf__masks};
    }

    /* Notes the lanes that masks name and that gave no value: all others wait until these end. Fails if a lane that
     * gave a value was noted before. `lacked`: NULL if lanes cannot wait; `may_lack`: false if a missing lane is an
     * error at once. */
    template <typename Scope>
    CF__INLINE void cf__check(const Scope &scope, const int *ended, cf__lacking *lacked, bool may_lack, CF__WHERE) const
    {
        const int threads = cf__threads(scope), place = cf__place_of(scope);
        uint32_t given = 0, any = 0, differ = 0, left = ~0u >> (32 - threads);
        for (int lane = 0; lane < 32; lane++)
            any |= cf__masks[lane];
        for (int lane = 0; lane < 32; lane++) {
            const uint32_t mask = cf__masks[lane];
            given |= (uint32_t)(mask != 0) << lane;
            differ |= mask ? mask ^ any : 0;
        }
        for (int lane = 0; ended && lane < threads; lane++)
            left &= ~((uint32_t)(ended[lane] != 0) << lane);
        /* In most warps, all lanes that give values have the same mask, which names exactly these lanes. */
        if (!any || (!differ && given == (any & left) && !(lacked && lacked->cf__is_any)))
            return;
        bool fails = false;
        for (int lane = 0; lacked && lane < threads; lane++)
            fails |= cf__masks[lane] && lacked->cf__has[place + lane];
        const uint32_t lacks = cf__find_lacking(cf__masks, given, left, file, line);
        if (fails)
            cf__fail_lacking(lacked->cf__file, lacked->cf__line);
        if (lacks && lacked && !may_lack)
            cf__fail_lacking(file, line);
        if (lacks && lacked)
            lacked->cf__note(place, lacks, file, line);
    }
};

/* Stores the value of a lane, or 0 if the lane has ended. */
template <typename T>
static inline CF__INLINE void cf__give(T &to, const typename cf__plain_type<T>::type &value, int has_ended)
{
    if constexpr (cf__number<T>::is_number)
        to = has_ended ? T() : value;
    else if (has_ended)
        __builtin_memset(static_cast<void *>(&to), 0, sizeof to);
    else
        to = value;
}

/* Replaces the first lane's vote by the mask of the lanes whose votes are not 0. */
static inline CF__INLINE void cf__count_votes(int *votes)
{
    unsigned int found = 0;
    for (int lane = 0; lane < 32; lane++)
        found |= (unsigned int)(votes[lane] != 0) << lane;
    votes[0] = (int)found;
}

static inline CF__INLINE unsigned int cf__lanes_of(const int *votes, int)
{
    return (unsigned int)votes[0];
}

static inline CF__INLINE int cf__lanes_any(const int *votes, int)
{
    return votes[0] != 0;
}

/* Returns the result of __all_sync(). `votes` holds the negated votes. */
static inline CF__INLINE int cf__lanes_all(const int *votes, int)
{
    return votes[0] == 0;
}

static inline CF__INLINE unsigned int cf__lanes_of(const cf__masked<int> &votes, int t)
{
    return (unsigned int)votes.values[0] & votes.masks[t];
}

static inline CF__INLINE int cf__lanes_any(const cf__masked<int> &votes, int t)
{
    return cf__lanes_of(votes, t) != 0;
}

static inline CF__INLINE int cf__lanes_all(const cf__masked<int> &votes, int t)
{
    return cf__lanes_of(votes, t) == 0;
}

/* Replaces the value of each lane by the result of an operation on the values of the lanes in its mask. */
template <typename T, typename Operation>
static inline CF__INLINE void cf__reduce_lanes(T *values, const uint32_t *masks, Operation combine)
{
    if (cf__are_whole(masks)) {
        T sum = values[0];
        for (int t = 1; t < 32; t++)
            sum = combine(sum, values[t]);
        for (int t = 0; t < 32; t++)
            values[t] = sum;
        return;
    }
    uint32_t rest = 0;
    for (int lane = 0; lane < 32; lane++)
        rest |= (uint32_t)(masks[lane] != 0) << lane;
    while (rest) {
        const int lowest = __builtin_ctz(rest);
        const uint32_t group = masks[lowest] & rest;
        T sum = values[lowest];
        for (uint32_t others = group & (group - 1); others; others &= others - 1)
            sum = combine(sum, values[__builtin_ctz(others)]);
        for (uint32_t others = group; others; others &= others - 1)
            values[__builtin_ctz(others)] = sum;
        rest &= ~group;
    }
}

#define CF__REDUCE_LANES(name, expression)                                                                 \
    template <typename T> static inline CF__INLINE void cf__lanes_##name(T *values, const uint32_t *masks) \
    {                                                                                                      \
        cf__reduce_lanes(values, masks, [](T a, T b) { return (T)(expression); });                         \
    }
CF__REDUCE_LANES(add, (uint32_t)a + (uint32_t)b)
CF__REDUCE_LANES(min, b < a ? b : a)
CF__REDUCE_LANES(max, b > a ? b : a)
CF__REDUCE_LANES(and, a &b)
CF__REDUCE_LANES(or, a | b)
CF__REDUCE_LANES(xor, a ^ b)
#undef CF__REDUCE_LANES

template <size_t size> struct cf__bits_of_size;
template <> struct cf__bits_of_size<4> {
    typedef uint32_t type;
};
template <> struct cf__bits_of_size<8> {
    typedef uint64_t type;
};

/* Replaces the mask of each lane by the mask of those lanes in it that gave the same bits. */
template <typename T> static inline CF__INLINE void cf__lanes_match(const T *values, uint32_t *masks)
{
    typename cf__bits_of_size<sizeof(T)>::type bits[32];
    __builtin_memcpy(bits, values, sizeof bits);
    uint32_t given = 0, found[32] = {};
    for (int lane = 0; lane < 32; lane++) {
        given |= (uint32_t)(masks[lane] != 0) << lane;
        for (int t = 0; t < 32; t++)
            found[t] |= (uint32_t)(bits[t] == bits[lane]) << lane;
    }
    for (int t = 0; t < 32; t++)
        masks[t] &= found[t] & given;
}

#endif
