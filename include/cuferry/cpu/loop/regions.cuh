/* regions.cuh - runs kernels with barriers block by block: each region between two barriers is a loop over the block's
 * threads.
 *
 * The generator writes such a kernel in two forms (see gen/cpu/regions.py). The form with regions runs on a stack of
 * the size that a CUDA thread has in the other form, so its variables may be large. */
#ifndef CUFERRY_CPU_REGIONS_CUH
#define CUFERRY_CPU_REGIONS_CUH

/* gcc warns about hints before loops of one step, and no flag turns this off. */
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/sync/atomics.cuh>
#include <cuferry/cpu/sync/together.cuh>
#include <cuferry/cpu/words.cuh>

#include "kept.cuh"
#include "lanes.cuh"
#include "loop.cuh"
#include "scans.cuh"
#include "shifts.cuh"
#include "spans.cuh"
#include "threads.cuh"

/* Loops over the threads of a block or a warp: CF__ROWS, then CF__INDEPENDENT or CF__VECTORIZE, then CF__ROW. */
#define CF__ROWS                                                 \
    for (int cf__z = 0; cf__z < cf__scope.cf__layers(); cf__z++) \
        for (int cf__y = 0; cf__y < cf__scope.cf__rows(); cf__y++)
#define CF__ROW for (int cf__x = 0; cf__x < cf__scope.cf__columns(); cf__x++)

/* A loop over the warps of a block whose rows consist of whole warps. The indices are those of a warp's first lane. */
#define CF__WARPS                                                             \
    for (int cf__z = 0; cf__z < (int)cf__index.cf__block_size.z; cf__z++)     \
        for (int cf__y = 0; cf__y < (int)cf__index.cf__block_size.y; cf__y++) \
            for (int cf__x = 0; cf__x < (int)cf__index.cf__block_size.x; cf__x += 32)
#define CF__WARP cf__indices_of(cf__index, cf__x, cf__y, cf__z)

/* CF__WARPS_OF_ROWS loops over the warps of a block, and CF__SECTION_OF_ROWS begins a warp's turn: see
 * gen/cpu/sections.py. */
#define CF__WARPS_OF_ROWS                                          \
    for (int cf__z = 0; cf__z < cf__scope.cf__layers(); cf__z++)   \
        for (int cf__y = 0; cf__y < cf__scope.cf__rows(); cf__y++) \
            for (int cf__x = 0; cf__x < cf__scope.cf__columns(); cf__x += 32)
#define CF__SECTION_OF_ROWS(is_whole)                                                            \
    [[maybe_unused]] const int cf__from = cf__number_of(cf__scope, cf__x, cf__y, cf__z),         \
                               cf__rest = cf__scope.cf__columns() - cf__x;                       \
    const cf__turn_of cf__index(cf__scope, cf__x, cf__y, cf__z);                                 \
    [[maybe_unused]] const cf__section_scope<is_whole> cf__scope(cf__index, cf__from, cf__rest); \
    [[maybe_unused]] constexpr int cf__y = 0, cf__z = 0;

/* The same for a block whose warps do not follow its rows, and a loop over the lines of a warp's turn. */
#define CF__WARPS_OF_LINES for (int cf__from = 0; cf__from < cf__threads(cf__scope); cf__from += 32)
#define CF__SECTION_OF_LINES(is_whole)                                                           \
    const cf__lines_scope<decltype(cf__scope), is_whole> cf__lanes_of_warp(cf__scope, cf__from); \
    [[maybe_unused]] const auto &cf__scope = cf__lanes_of_warp;                                  \
    [[maybe_unused]] const cf__turn_of cf__index(cf__scope, 0, 0, 0);                            \
    [[maybe_unused]] constexpr int cf__y = 0, cf__z = 0;
#define CF__LINES(length)                                                                           \
    for (auto cf__here = cf__line_of<length>(cf__scope); cf__here.cf__rest > 0; cf__here.cf__end()) \
        if (const auto &cf__scope = cf__here; true)

/* A loop over the lanes of a warp in four unrolled parts of eight lanes each. gcc vectorizes a part before it unrolls
 * the loop over the parts, and then keeps the values in registers. clang does the same with a single loop over all
 * lanes. */
#ifdef __clang__
#define CF__PARTS
#define CF__PART CF__ROW
#else
#define CF__PARTS _Pragma("GCC unroll 4") for (int cf__part = 0; cf__part < 32; cf__part += 8)
#define CF__PART for (int cf__x = cf__part; cf__x < cf__part + 8; cf__x++)
#endif

/* Copies one number for each lane of a warp. */
template <typename T> static inline CF__INLINE void cf__copy_lanes(T *to, const T *from)
{
    CF__UNROLL for (int part = 0; part < 32; part += 8) for (int t = part; t < part + 8; t++) to[t] = from[t];
}

#define CF__SPAN_ROW for (int cf__x = cf__span.cf__begin; cf__x < cf__span.cf__end; cf__x++)
#define CF__STEP_ROW for (int cf__x = cf__span.cf__begin; cf__x < cf__span.cf__end; cf__x += cf__span.cf__step)

/* Begins the code of one thread in a region's loop. */
#define CF__ENTER                                                                     \
    [[maybe_unused]] const int cf__t = cf__number_of(cf__scope, cf__x, cf__y, cf__z); \
    [[maybe_unused]] const cf__turn_of cf__index(cf__scope, cf__x, cf__y, cf__z);
#define CF__ENTER_MIRRORED CF__ENTER cf__mirror<true>(cf__index);
/* Begins code that never runs. Compilers only deduce types from it that depend on a thread's variables. */
#define CF__FIRST                             \
    [[maybe_unused]] constexpr int cf__t = 0; \
    [[maybe_unused]] const cf__turn_of cf__index(cf__scope, 0, 0, 0);

/* Begins code that runs once for a row of threads, with the indices of its first thread. */
#define CF__FIRST_OF_ROW                      \
    [[maybe_unused]] constexpr int cf__x = 0; \
    CF__ENTER

#define CF__LEAVE_IF_ENDED                             \
    if (cf__ended.cf__count == cf__threads(cf__scope)) \
        return;

/* Leaves the regions of a block. The block then runs in the kernel's other form. */
#define CF__LEAVE_BLOCK             \
    {                               \
        ::cf__index.cf__undone = 1; \
        return;                     \
    }

/* The threads of a block that have left the kernel while others go on. */
struct cf__ends {
    int cf__has[1024];
    int cf__count = 0;

    template <typename Scope> explicit CF__INLINE cf__ends(const Scope &scope)
    {
        for (int t = 0; t < cf__threads(scope); t++)
            cf__has[t] = 0;
    }

    CF__INLINE void cf__end(int thread)
    {
        cf__has[thread] = 1;
        cf__count++;
    }

    template <typename Scope> CF__INLINE void cf__count_all(const Scope &scope)
    {
        cf__count = 0;
        for (int t = 0; t < cf__threads(scope); t++)
            cf__count += cf__has[t];
    }
};

/* The lanes of a warp that have left the kernel. */
struct cf__ends_of_warp {
    const int *cf__has;
    int cf__count = 0, cf__first = 0; /* number of lanes that have left; first lane that has not */

    template <typename Scope>
    CF__INLINE cf__ends_of_warp(const cf__ends &all, const Scope &scope) : cf__has(all.cf__has + cf__place_of(scope))
    {
        for (int t = 0; all.cf__count && t < cf__threads(scope); t++)
            cf__count += cf__has[t];
        while (cf__count < cf__threads(scope) && cf__has[cf__first])
            cf__first++;
    }
};

/* Skips the code of a warp whose lanes have all ended. */
#define CF__UNLESS_ENDED                                        \
    const cf__ends_of_warp cf__ended(cf__all_ended, cf__scope); \
    if (cf__ended.cf__count == cf__threads(cf__scope))          \
        continue;

/* A __shared__ variable of a block, which is on the stack unless it is large. */
template <typename T, bool is_small = sizeof(T) <= 49152> struct cf__local {
    union {
        T own;
    };

    CF__INLINE cf__local()
    {
    }

    CF__INLINE ~cf__local()
    {
    }

    CF__INLINE T &cf__value(const cf_host_shape *)
    {
        return own;
    }
};

template <typename T> struct cf__local<T, false> {
    CF__INLINE T &cf__value(const cf_host_shape *key)
    {
        cf_host_block *block = static_cast<const cf__running &>(::cf__index).state;
        return *static_cast<T *>(block->ops->shared(block, key, sizeof(T), 128));
    }
};

/* An atomic function on a __shared__ variable. It may be a plain operation if only one CPU thread runs the block. */
#define CF__PLAIN_ATOMIC(name, is_plain, ...)                                                     \
    template <typename T>                                                                         \
    static inline CF__INLINE T cf__plain_##name(T *address, typename cf__variable<T>::type value) \
    {                                                                                             \
        if constexpr (is_plain) {                                                                 \
            const T old = *address;                                                               \
            __VA_ARGS__                                                                           \
            return old;                                                                           \
        } else {                                                                                  \
            return name(address, value);                                                          \
        }                                                                                         \
    }
CF__PLAIN_ATOMIC(atomicAdd, cf__number<T>::is_number,
                 if constexpr (cf__number<T>::is_whole)(void) __builtin_add_overflow(old, value, address);
                 else *address = old + value;)
CF__PLAIN_ATOMIC(atomicSub, cf__number<T>::is_whole, (void)__builtin_sub_overflow(old, value, address);)
CF__PLAIN_ATOMIC(atomicExch, cf__number<T>::is_number, *address = value;)
CF__PLAIN_ATOMIC(atomicMin, cf__number<T>::is_whole, if (value < old) *address = value;)
CF__PLAIN_ATOMIC(atomicMax, cf__number<T>::is_whole, if (old < value) *address = value;)
CF__PLAIN_ATOMIC(atomicAnd, cf__number<T>::is_whole, *address = old & value;)
CF__PLAIN_ATOMIC(atomicOr, cf__number<T>::is_whole, *address = old | value;)
CF__PLAIN_ATOMIC(atomicXor, cf__number<T>::is_whole, *address = old ^ value;)
#undef CF__PLAIN_ATOMIC

/* gcc removes the tests in cf__number_of(), and vectorizes, only if it knows these bounds. */
static inline CF__INLINE void cf__assume_extents(const uint3 &extents)
{
    __builtin_assume(extents.x > 0 && extents.x <= 1024 && extents.y > 0 && extents.y <= 1024 && extents.z > 0 &&
                     extents.z <= 1024);
}

/* The blocks of a launch that one CPU thread runs in one turn: `at` to `end` - 1. */
struct cf__part {
    cf_dim3 grid, block;
    uint64_t at, end;
};

/* Begins the code of each block. */
#define CF__EACH_BLOCK                                \
    for (; cf__blocks.cf__rest; cf__blocks.cf__end()) \
        if ([[maybe_unused]] const cf__indices cf__index = cf__blocks.cf__begin(); true)

/* The blocks of a turn, which run one after the other. x, y and z are their extents, 0 for an unknown one. */
template <unsigned int x, unsigned int y, unsigned int z> struct cf__single_blocks {
    static constexpr cf_dim3 known = {x, y, z};
    /* Most blocks of a turn. A turn costs 40 ns, and after each one the library tests if other threads have failed. */
    static constexpr uint64_t most = 64;

    cf_host_block *state;
    uint3 extents, grid, at;
    uint64_t cf__rest;

    explicit CF__INLINE cf__single_blocks(const cf__part &part)
        : state(cf__index.state), extents{x ? x : part.block.x, y ? y : part.block.y, z ? z : part.block.z},
          grid{part.grid.x, part.grid.y, part.grid.z}, at{(unsigned int)(part.at % grid.x),
                                                          (unsigned int)(part.at / grid.x % grid.y),
                                                          (unsigned int)(part.at / grid.x / grid.y)},
          cf__rest(part.end - part.at)
    {
        blockDim = extents;
    }

    /* Begins a block. Returns the indices of its first thread. */
    CF__INLINE cf__indices cf__begin()
    {
        cf__assume_extents(extents);
        blockIdx = at;
        state->index = {at.x, at.y, at.z};
        /* Launches of more threads do not run as regions. These masks tell compilers that unsigned indices do not wrap
         * around, without a branch in the loops, which would prevent vectorization. */
        const uint3 first = {at.x * extents.x & INT32_MAX, at.y * extents.y & INT32_MAX, at.z * extents.z & INT32_MAX};
        return {{0, 0, 0},   at,     extents, grid, {first.x, first.y, first.z}, {first.x, first.y, first.z},
                CF__ASK_ALL, nullptr};
    }

    /* Ends the turn if the block has left its regions. */
    CF__INLINE void cf__end()
    {
        if (cf__index.cf__undone) {
            cf__index.cf__undone = cf__rest;
            cf__rest = 0;
            return;
        }
        cf__rest--;
        if (++at.x < grid.x)
            return;
        at.x = 0;
        if (++at.y < grid.y)
            return;
        at.y = 0;
        at.z++;
    }
};

/* The blocks of a turn for a kernel that only reads global indices. Blocks that are adjacent along x are joined and
 * divided into parts with fewer but longer rows, which are read at the memory's speed. */
template <unsigned int x, unsigned int y, unsigned int z> struct cf__joined_blocks {
    static constexpr cf_dim3 known = {x, y, z};
    static constexpr uint64_t most = UINT64_MAX;

    cf_dim3 grid, given;
    uint64_t at, cf__rest;                       /* number of the first block that has not run; number of blocks that
                                                  * have not run */
    uint3 first, next;                           /* first thread of a row of blocks; first thread of the row's next
                                                  * part */
    unsigned int columns, width, step_x, step_y; /* number of blocks in the row; number of threads in the row; extents
                                                  * of a part */

    explicit CF__INLINE cf__joined_blocks(const cf__part &part)
        : grid(part.grid), given{x ? x : part.block.x, y ? y : part.block.y, z ? z : part.block.z}, at(part.at),
          cf__rest(part.end - part.at)
    {
        blockDim = {1024, 1, 1};
        cf__begin_row();
    }

    CF__INLINE void cf__begin_row()
    {
        const uint64_t left = grid.x - at % grid.x;
        columns = (unsigned int)(left < cf__rest ? left : cf__rest);
        width = columns * given.x;
        first = {(unsigned int)(at % grid.x) * given.x, (unsigned int)(at / grid.x % grid.y) * given.y,
                 (unsigned int)(at / grid.x / grid.y) * given.z};
        next = {0, 0, 0};
        const unsigned int most = given.y > 1 ? 256 : 1024, parts = (width + most - 1) / most;
        step_x = ((width + parts - 1) / parts + 15) & ~15u;
        step_y = 1024 / step_x < given.y ? 1024 / step_x : given.y;
    }

    CF__INLINE cf__indices cf__begin() const
    {
        const unsigned int rest_x = width - next.x, rest_y = given.y - next.y;
        const uint3 extents = {rest_x < step_x ? rest_x : step_x, rest_y < step_y ? rest_y : step_y, 1};
        cf__assume_extents(extents);
        const uint3 thread = {first.x + next.x, first.y + next.y, first.z + next.z};
        return {{0, 0, 0},
                {0, 0, 0},
                extents,
                {grid.x, grid.y, grid.z},
                {thread.x, thread.y, thread.z},
                {thread.x, thread.y, thread.z},
                CF__ASK_ALL,
                nullptr};
    }

    CF__INLINE void cf__end()
    {
        if ((next.x += step_x) < width)
            return;
        next.x = 0;
        if ((next.y += step_y) < given.y)
            return;
        next.y = 0;
        if (++next.z < given.z)
            return;
        at += columns;
        cf__rest -= columns;
        if (cf__rest)
            cf__begin_row();
    }
};

/* True if a launch can run as regions: its block has the extents `x`, `y` and `z` where these are not 0, its order is
 * the natural one, and it has no clusters and is not cooperative. */
[[maybe_unused]] static __attribute__((noinline)) bool cf__has_regions(const cf_host_launch *launch, unsigned int x,
                                                                       unsigned int y, unsigned int z)
{
#ifdef CF__ONE_BY_ONE
    return false;
#else
    const cf_dim3 given = launch->block;
    const bool has_size = (!x || x == given.x) && (!y || y == given.y) && (!z || z == given.z);
    const bool is_alone = !launch->is_ordered && !launch->is_cooperative &&
                          (launch->cluster.x | launch->cluster.y | launch->cluster.z) == 1;
#ifdef CF__V3
    const bool has_features = launch->processor & CF_HOST_X86_64_V3;
#else
    const bool has_features = true;
#endif
    return has_size && is_alone && has_features && cf__is_small(launch, 3, false) && launch->grid.y <= CF__FEW_BLOCKS;
#endif
}

/* Runs blocks from `begin` on as regions, by `take`. Returns the first block that has left its regions, or `end`. */
[[maybe_unused]] static __attribute__((noinline)) uint64_t
cf__take_turns(const cf_host_launch *launch, uint64_t begin, uint64_t end, uint64_t most,
               void (*take)(const void *closure, const cf__part &part), const void *closure)
{
    cf_host_launch own = *launch;
    uint64_t left = end;
    own.grid = own.block = {1, 1, 1};
    cf__part part = {launch->grid, launch->block, begin, begin};
    cf__run_together(&own, 0, begin < end ? (end - begin - 1) / most + 1 : 0, [=, &part, &left]() {
        if (left < end)
            return;
        part.at = part.end;
        part.end = end - part.at < most ? end : part.at + most;
        take(closure, part);
        if (cf__index.cf__undone)
            left = part.end - cf__index.cf__undone;
        cf__index.cf__undone = 0;
    });
    return left;
}

template <typename Blocks, typename Body> static CF__OF_BLOCK void cf__take_turn(const void *body, const cf__part &part)
{
    (*static_cast<const Body *>(body))(Blocks(part));
}

/* Marks the form of a kernel that runs in fibers if the kernel also has regions. Compilers optimize it for size, which
 * takes less time. */
#define CF__SELDOM __attribute__((cold))

/* Runs blocks `begin` to `end` - 1 of a kernel with two forms: `body` runs them as regions, and `other` runs those that
 * have to leave the regions. */
template <typename Blocks, typename Other, typename Body>
static inline CF__INLINE void cf__regions([[maybe_unused]] const cf_host_launch *launch, uint64_t begin, uint64_t end,
                                          Other other, [[maybe_unused]] const Body &body)
{
#ifdef CF__ONE_BY_ONE
    other(begin, end);
#else
    const bool has_regions = cf__has_regions(launch, Blocks::known.x, Blocks::known.y, Blocks::known.z);
    while (begin < end) {
        const uint64_t first =
            has_regions ? cf__take_turns(launch, begin, end, Blocks::most, cf__take_turn<Blocks, Body>, &body) : begin;
        const uint64_t next = has_regions && first < end ? first + 1 : end;
        if (first < next)
            other(first, next);
        begin = next;
    }
#endif
}

#endif
