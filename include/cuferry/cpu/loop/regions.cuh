/* regions.cuh - runs kernels with barriers block by block: each region between two barriers is a loop over the block's
 * threads.
 *
 * The generator writes such a kernel a second time (see gen/cpu/regions.py). This form runs on the stack that one CUDA
 * thread has otherwise, so that its variables may be large. */
#ifndef CUFERRY_CPU_REGIONS_CUH
#define CUFERRY_CPU_REGIONS_CUH

/* gcc warns of hints before loops of one step, and has no flag against it. */
#pragma GCC system_header

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/sync/atomics.cuh>
#include <cuferry/cpu/sync/together.cuh>
#include <cuferry/cpu/words.cuh>

#include "loop.cuh"
#include "scans.cuh"
#include "shifts.cuh"
#include "spans.cuh"
#include "threads.cuh"

/* Loops over the threads of a block or a warp: CF__ROWS, then CF__INDEPENDENT or CF__VECTORIZE, then CF__ROW. */
#define CF__ROWS                                                        \
    for (int cf__z = 0; cf__z < (int)cf__extents(cf__scope).z; cf__z++) \
        for (int cf__y = 0; cf__y < (int)cf__extents(cf__scope).y; cf__y++)
#define CF__ROW for (int cf__x = 0; cf__x < (int)cf__extents(cf__scope).x; cf__x++)

/* A loop over the warps of a block whose rows are a multiple of 32 threads, and the indices of each one's first lane. */
#define CF__WARPS                                                             \
    for (int cf__z = 0; cf__z < (int)cf__index.cf__block_size.z; cf__z++)     \
        for (int cf__y = 0; cf__y < (int)cf__index.cf__block_size.y; cf__y++) \
            for (int cf__x = 0; cf__x < (int)cf__index.cf__block_size.x; cf__x += 32)
#define CF__WARP cf__indices_of(cf__index, cf__x, cf__y, cf__z)

/* The same for the lanes of a warp, with the code for each eight lanes written out: gcc vectorizes it before it writes
 * the parts out, and then holds the values in registers. clang does so with the whole loop. */
#ifdef __clang__
#define CF__PARTS
#define CF__PART CF__ROW
#else
#define CF__PARTS _Pragma("GCC unroll 4") for (int cf__part = 0; cf__part < 32; cf__part += 8)
#define CF__PART for (int cf__x = cf__part; cf__x < cf__part + 8; cf__x++)
#endif

#define CF__SPAN_ROW for (int cf__x = cf__span.cf__begin; cf__x < cf__span.cf__end; cf__x++)
#define CF__STEP_ROW for (int cf__x = cf__span.cf__begin; cf__x < cf__span.cf__end; cf__x += cf__span.cf__step)

/* Begins a thread's turn. */
#define CF__ENTER                                                                     \
    [[maybe_unused]] const int cf__t = cf__number_of(cf__scope, cf__x, cf__y, cf__z); \
    [[maybe_unused]] const cf__indices cf__index = cf__indices_of(cf__scope, cf__x, cf__y, cf__z);
#define CF__ENTER_MIRRORED CF__ENTER cf__mirror<true>(cf__index);
/* Begins code that asks for the types of a thread's variables and never runs. */
#define CF__FIRST                             \
    [[maybe_unused]] constexpr int cf__t = 0; \
    [[maybe_unused]] const cf__indices cf__index = cf__scope;

/* Begins code about a row of threads, in its first one. */
#define CF__FIRST_OF_ROW                      \
    [[maybe_unused]] constexpr int cf__x = 0; \
    CF__ENTER

#define CF__LEAVE_IF_ENDED                             \
    if (cf__ended.cf__count == cf__threads(cf__scope)) \
        return;

/* Threads that have left the kernel while others go on. */
struct cf__ends {
    bool cf__has[1024];
    int cf__count = 0;

    template <typename Scope> explicit CF__INLINE cf__ends(const Scope &scope)
    {
        for (int t = 0; t < cf__threads(scope); t++)
            cf__has[t] = false;
    }

    CF__INLINE void cf__end(int thread)
    {
        cf__has[thread] = true;
        cf__count++;
    }
};

template <typename T> struct cf__variable {
    typedef T type;
};
template <typename T> struct cf__variable<const T> : cf__variable<T> {
};
/* Bools are kept as int: compilers make masks of a comparison, and not of bools in memory. */
template <> struct cf__variable<bool> {
    typedef int type;
};

/* Types of two to four numbers, such as float4: the number of elements, and their type; one element for other types. */
template <typename T, typename = void> struct cf__elements {
    static constexpr int count = 1;
    typedef T type;
};
template <typename T> struct cf__elements<T, decltype((void)T::x)> {
    typedef typename cf__variable<decltype(T::x)>::type type;
    static constexpr bool is_vector = __is_trivially_copyable(T) && cf__number<type>::is_number &&
                                      sizeof(T) % sizeof(type) == 0 && sizeof(T) <= 4 * sizeof(type);
    static constexpr int count = is_vector ? (int)(sizeof(T) / sizeof(type)) : 1;
};

/* The arrays on the stack, where compilers know all accesses, that keep a variable: one for each element. A large
 * variable has none. */
template <typename T> constexpr int cf__count_arrays()
{
    return sizeof(T) <= 8 || (cf__elements<T>::count > 1 && sizeof(T) <= 16) ? cf__elements<T>::count : 0;
}

/* The elements of one thread's variable. Those of neighbouring threads are neighbours in memory. */
template <typename T, int most, int arrays> struct cf__kept_elements {
    typedef typename cf__elements<T>::type element;
    element *first;

    CF__INLINE operator T() const
    {
        typename cf__variable<T>::type value;
        for (int i = 0; i < arrays; i++)
            reinterpret_cast<element *>(&value)[i] = first[i * most];
        return value;
    }
};

/* A variable of each thread of a block or a warp, of at most `most`. */
template <typename T, int most, int arrays = cf__count_arrays<T>()> struct cf__kept {
    struct {
        alignas(32) typename cf__elements<T>::type elements[arrays * most];

        CF__INLINE cf__kept_elements<T, most, arrays> operator[](int t)
        {
            return {&elements[t]};
        }
    } cf__values;

    explicit CF__INLINE cf__kept(const cf_host_shape *)
    {
    }
};

template <typename T, int most> struct cf__kept<T, most, 1> {
    union {
        alignas(32) typename cf__variable<T>::type cf__values[most];
    };

    explicit CF__INLINE cf__kept(const cf_host_shape *)
    {
    }

    CF__INLINE ~cf__kept()
    {
    }
};

template <typename T, int most> struct cf__kept<T, most, 0> {
    typedef typename cf__variable<T>::type type;
    type *cf__values;

    explicit CF__INLINE cf__kept(const cf_host_shape *key)
    {
        cf_host_block *block = static_cast<const cf__running &>(::cf__index).state;
        cf__values = static_cast<type *>(block->ops->shared(
            block, key, (blockDim.x * blockDim.y * blockDim.z) * sizeof(type), alignof(T) > 64 ? alignof(T) : 64));
    }
};

/* The elements of one thread's array. Those of neighbouring threads are neighbours in memory. */
template <typename T, int most> struct cf__column {
    T *first;

    CF__INLINE T &operator[](int64_t number) const
    {
        return first[number * most];
    }
};

template <typename T, int most> struct cf__columns {
    T *first;

    CF__INLINE cf__column<T, most> operator[](int t) const
    {
        return {first + t};
    }
};

/* An array of each thread, of which only elements are read and written: on the stack, in other memory if `arrays` is 0,
 * or, if it is long, those of the threads one after the other. */
template <typename T, int most, int arrays = 1, bool is_short = sizeof(T) <= 64>
struct cf__kept_column : cf__kept<T, most, 0> {
    using cf__kept<T, most, 0>::cf__kept;
};

template <typename T, size_t length, int most> struct cf__kept_column<T[length], most, 1, true> {
    struct {
        alignas(32) T elements[length * most];

        CF__INLINE cf__column<T, most> operator[](int t)
        {
            return {elements + t};
        }
    } cf__values;

    explicit CF__INLINE cf__kept_column(const cf_host_shape *)
    {
    }
};

template <typename T, size_t length, int most> struct cf__kept_column<T[length], most, 0, true> {
    cf__columns<T, most> cf__values;

    explicit CF__INLINE cf__kept_column(const cf_host_shape *key)
    {
        cf_host_block *block = static_cast<const cf__running &>(::cf__index).state;
        cf__values.first = static_cast<T *>(block->ops->shared(block, key, length * most * sizeof(T), 64));
    }
};

static inline CF__INLINE void cf__fail_lacking(const char *file, int line)
{
    cf__fail(0, "a warp operation without some lanes of its mask", file, line);
}

/* Threads without which an operation of their warp began: others wait until they end. */
struct cf__lacking {
    bool cf__has[1024];
    bool cf__is_any = false;

    template <typename Scope> explicit CF__INLINE cf__lacking(const Scope &scope)
    {
        for (int t = 0; t < cf__threads(scope); t++)
            cf__has[t] = false;
    }

    /* Fails if such threads reach an operation that is for all. */
    template <typename Scope> CF__INLINE void cf__meet(const Scope &scope, const bool *ended, CF__WHERE) const
    {
        for (int t = 0; cf__is_any && t < cf__threads(scope); t++)
            if (cf__has[t] && (!ended || !ended[t]))
                cf__fail_lacking(file, line);
    }
};

/* Returns the lanes that are missing of those that the masks of `given` lanes name among those `left`. */
static inline CF__INLINE uint32_t cf__find_lacking(const uint32_t *masks, uint32_t given, uint32_t left,
                                                   const char *file, int line)
{
    uint32_t named = 0;
    for (uint32_t rest = given; rest;) {
        const uint32_t mask = masks[__builtin_ctz(rest)] & left;
        uint32_t same = 0;
        for (int lane = 0; lane < 32; lane++)
            same |= (uint32_t)((masks[lane] & left) == mask) << lane;
        same &= rest;
        if (same & ~mask)
            cf__fail(0, "a warp operation whose mask leaves its own lane out", file, line);
        if (mask & given & ~same)
            cf__fail_lacking(file, line);
        named |= mask;
        rest &= ~same;
    }
    return named & ~given;
}

/* The values that threads of a block give to other lanes of their warps. In front of and behind them is memory for reads
 * whose results are not used. */
struct cf__lanes {
    union {
        alignas(32) uint64_t cf__memory[32 + 1024 + 32];
    };
    union {
        alignas(32) uint32_t cf__masks[1024];
    };

    CF__INLINE cf__lanes()
    {
    }

    CF__INLINE ~cf__lanes()
    {
    }

    /* Lanes that give no value have 0, as on an H200. `clears`: these may be any lanes, and otherwise only those behind
     * the last thread. `notes`: threads note their masks. */
    template <typename T, typename Scope> CF__INLINE T *cf__of(const Scope &scope, bool clears, bool notes)
    {
        static_assert(sizeof(T) <= sizeof *cf__memory, "a shuffle of a large type");
        T *const values = reinterpret_cast<T *>(cf__memory) + 32;
        const int threads = cf__threads(scope), first = clears ? 0 : threads, end = (threads + 31) & ~31;
        if (first < end)
            __builtin_memset(static_cast<void *>(values + first), 0, (end - first) * sizeof(T));
        if (notes)
            __builtin_memset(cf__masks, 0, end * sizeof *cf__masks);
        return values;
    }

    template <typename T> CF__INLINE cf__masked<T> cf__by_masks(const T *values) const
    {
        return {values, cf__masks};
    }

    /* Notes the lanes of a mask that gave no value, which the others wait for until they end, and fails if one of those
     * that did was noted before. `lacked`: NULL if no lane can be waited for; `may_lack`: false if it fails at once. */
    template <typename Scope>
    CF__INLINE void cf__check(const Scope &scope, const bool *ended, cf__lacking *lacked, bool may_lack,
                              CF__WHERE) const
    {
        for (int first = 0; first < cf__threads(scope); first += 32) {
            uint32_t given = 0, left = 0;
            bool fails = false;
            for (int t = first; t < first + 32 && t < cf__threads(scope); t++) {
                given |= (uint32_t)(cf__masks[t] != 0) << (t & 31);
                left |= (uint32_t)(!ended || !ended[t]) << (t & 31);
                fails |= lacked && cf__masks[t] && lacked->cf__has[t];
            }
            const uint32_t lacks = cf__find_lacking(cf__masks + first, given, left, file, line);
            if (fails || (lacks && lacked && !may_lack))
                cf__fail_lacking(file, line);
            for (int t = first; lacks && lacked && t < first + 32 && t < cf__threads(scope); t++)
                lacked->cf__has[t] |= lacks >> (t & 31) & 1;
            if (lacked)
                lacked->cf__is_any |= lacks != 0;
        }
    }
};

/* Replaces the votes of each warp's lanes by a mask of those that are not 0, as the value of the first lane. */
template <typename Scope> static inline CF__INLINE void cf__count_votes(const Scope &scope, int *votes)
{
    for (int first = 0; first < cf__threads(scope); first += 32) {
        unsigned int found = 0;
        for (int lane = 0; lane < 32; lane++)
            found |= (unsigned int)(votes[first + lane] != 0) << lane;
        votes[first] = (int)found;
    }
}

static inline CF__INLINE unsigned int cf__lanes_of(const int *votes, int t)
{
    return (unsigned int)votes[t & ~31];
}

static inline CF__INLINE int cf__lanes_any(const int *votes, int t)
{
    return votes[t & ~31] != 0;
}

/* The votes are the opposite ones. */
static inline CF__INLINE int cf__lanes_all(const int *votes, int t)
{
    return votes[t & ~31] == 0;
}

static inline CF__INLINE unsigned int cf__lanes_of(const cf__masked<int> &votes, int t)
{
    return (unsigned int)votes.values[t & ~31] & votes.masks[t];
}

static inline CF__INLINE int cf__lanes_any(const cf__masked<int> &votes, int t)
{
    return cf__lanes_of(votes, t) != 0;
}

static inline CF__INLINE int cf__lanes_all(const cf__masked<int> &votes, int t)
{
    return cf__lanes_of(votes, t) == 0;
}

/* Replaces the first vote of a block by the number of those that are not 0. */
template <typename Scope> static inline CF__INLINE void cf__count_of_block(const Scope &scope, int *votes)
{
    int count = 0;
    for (int t = 0; t < cf__threads(scope); t++)
        count += votes[t] != 0;
    votes[0] = count;
}

static inline CF__INLINE int cf__block_count(const int *votes, int)
{
    return votes[0];
}

static inline CF__INLINE int cf__block_any(const int *votes, int)
{
    return votes[0] != 0;
}

/* The votes are the opposite ones. */
static inline CF__INLINE int cf__block_all(const int *votes, int)
{
    return votes[0] == 0;
}

/* Replaces the values of each warp's lanes by what an operation makes of those in their masks. */
template <typename Scope, typename T, typename Operation>
static inline CF__INLINE void cf__reduce_lanes(const Scope &scope, T *values, const uint32_t *masks, Operation combine)
{
    for (int first = 0; first < cf__threads(scope); first += 32) {
        if (cf__are_whole(masks + first)) {
            T sum = values[first];
            for (int t = first + 1; t < first + 32; t++)
                sum = combine(sum, values[t]);
            for (int t = first; t < first + 32; t++)
                values[t] = sum;
            continue;
        }
        uint32_t rest = 0;
        for (int lane = 0; lane < 32; lane++)
            rest |= (uint32_t)(masks[first + lane] != 0) << lane;
        while (rest) {
            const int lowest = __builtin_ctz(rest);
            const uint32_t group = masks[first + lowest] & rest;
            T sum = values[first + lowest];
            for (uint32_t others = group & (group - 1); others; others &= others - 1)
                sum = combine(sum, values[first + __builtin_ctz(others)]);
            for (uint32_t others = group; others; others &= others - 1)
                values[first + __builtin_ctz(others)] = sum;
            rest &= ~group;
        }
    }
}

#define CF__REDUCE_LANES(name, expression)                                                               \
    template <typename Scope, typename T>                                                                \
    static inline CF__INLINE void cf__lanes_##name(const Scope &scope, T *values, const uint32_t *masks) \
    {                                                                                                    \
        cf__reduce_lanes(scope, values, masks, [](T a, T b) { return (T)(expression); });                \
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

/* Replaces the mask of each lane by that of the lanes in it that gave the same bits. */
template <typename Scope, typename T>
static inline CF__INLINE void cf__lanes_match(const Scope &scope, const T *values, uint32_t *masks)
{
    for (int first = 0; first < cf__threads(scope); first += 32) {
        typename cf__bits_of_size<sizeof(T)>::type bits[32];
        __builtin_memcpy(bits, values + first, sizeof bits);
        uint32_t given = 0, found[32] = {};
        for (int lane = 0; lane < 32; lane++) {
            given |= (uint32_t)(masks[first + lane] != 0) << lane;
            for (int t = 0; t < 32; t++)
                found[t] |= (uint32_t)(bits[t] == bits[lane]) << lane;
        }
        for (int t = 0; t < 32; t++)
            masks[first + t] &= found[t] & given;
    }
}

/* A __shared__ variable of a block. Where it is not large, it is on the stack. */
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

/* Keeps the value of a variable. Constants and their members are written here alone. */
template <typename T> static inline CF__INLINE void cf__keep(T &kept, const T &value)
{
    if constexpr (__is_assignable(T &, const T &))
        kept = value;
    else
        __builtin_memcpy((void *)&kept, &value, sizeof kept);
}

template <typename T, int most, int arrays>
static inline CF__INLINE void cf__keep(cf__kept_elements<T, most, arrays> kept,
                                       const typename cf__variable<T>::type &value)
{
    for (int i = 0; i < arrays; i++)
        kept.first[i * most] = reinterpret_cast<const typename cf__elements<T>::type *>(&value)[i];
}

template <typename T, int most, size_t length>
static inline CF__INLINE void cf__keep(const cf__column<T, most> &kept, const T (&values)[length])
{
    for (size_t i = 0; i < length; i++)
        kept[(int64_t)i] = values[i];
}

static inline CF__INLINE void cf__keep(int &kept, bool value)
{
    kept = value;
}

template <typename T, size_t count> static inline CF__INLINE void cf__keep(T (&kept)[count], const T (&values)[count])
{
    for (size_t i = 0; i < count; i++)
        cf__keep(kept[i], values[i]);
}

/* Atomic functions of a __shared__ variable in a block that one CPU thread runs. */
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

/* Without these bounds gcc keeps the tests of cf__number_of(), and does not vectorize. */
static inline CF__INLINE void cf__assume_extents(const uint3 &extents)
{
    __builtin_assume(extents.x > 0 && extents.x <= 1024 && extents.y > 0 && extents.y <= 1024 && extents.z > 0 &&
                     extents.z <= 1024);
}

/* Runs blocks `begin` to `end` - 1 of a kernel that only reads global indices, with adjacent blocks along x as one, and
 * with fewer rows: long rows are read at the memory's speed. */
template <typename Block>
static inline CF__INLINE CF__OF_BLOCK void cf__run_joined(cf_dim3 grid, cf_dim3 given, uint64_t begin, uint64_t end,
                                                          Block block)
{
    blockDim = {1024, 1, 1};
    for (uint64_t b = begin; b < end;) {
        const uint64_t rest = grid.x - b % grid.x, columns = rest < end - b ? rest : end - b;
        const unsigned int first_x = (unsigned int)(b % grid.x) * given.x, width = (unsigned int)columns * given.x;
        const unsigned int first_y = (unsigned int)(b / grid.x % grid.y) * given.y;
        const unsigned int first_z = (unsigned int)(b / grid.x / grid.y) * given.z;
        const unsigned int most = given.y > 1 ? 256 : 1024, parts = (width + most - 1) / most;
        const unsigned int step_x = ((width + parts - 1) / parts + 15) & ~15u, room = 1024 / step_x;
        const unsigned int step_y = room < given.y ? room : given.y;
        for (unsigned int z = 0; z < given.z; z++)
            for (unsigned int y = 0; y < given.y; y += step_y)
                for (unsigned int x = 0; x < width; x += step_x) {
                    const unsigned int rest_x = width - x, rest_y = given.y - y;
                    const uint3 extents = {rest_x < step_x ? rest_x : step_x, rest_y < step_y ? rest_y : step_y, 1};
                    cf__assume_extents(extents);
                    const cf__indices index = {{0, 0, 0},
                                               {0, 0, 0},
                                               extents,
                                               {grid.x, grid.y, grid.z},
                                               {first_x + x, first_y + y, first_z + z},
                                               {first_x + x, first_y + y, first_z + z},
                                               CF__ASK_ALL,
                                               nullptr};
                    block(index);
                }
        b += columns;
    }
}

/* Blocks that run in one turn: the library needs 40 ns for a turn, and looks between turns whether others have failed. */
#define CF__BLOCKS_OF_TURN 64

/* Runs blocks `begin` to `end` - 1, one after the other. */
template <typename Block>
static inline CF__INLINE CF__OF_BLOCK void cf__run_blocks(cf_dim3 grid, const uint3 extents, uint64_t begin,
                                                          uint64_t end, Block block)
{
    cf_host_block *const state = cf__index.state;
    uint3 at = {(unsigned int)(begin % grid.x), (unsigned int)(begin / grid.x % grid.y),
                (unsigned int)(begin / grid.x / grid.y)};
    cf__assume_extents(extents);
    blockDim = extents;
    for (uint64_t b = begin; b < end; b++) {
        blockIdx = at;
        state->index = {at.x, at.y, at.z};
        /* Launches of more threads do not run as regions. Compilers learn here that an index without a sign does not
         * begin anew at 0; a branch in the loops would keep them from vectorizing. */
        const uint3 first = {at.x * extents.x & INT32_MAX, at.y * extents.y & INT32_MAX, at.z * extents.z & INT32_MAX};
        block(cf__indices{{0, 0, 0},
                          at,
                          extents,
                          {grid.x, grid.y, grid.z},
                          {first.x, first.y, first.z},
                          {first.x, first.y, first.z},
                          CF__ASK_ALL,
                          nullptr});
        if (++at.x < grid.x)
            continue;
        at.x = 0;
        if (++at.y < grid.y)
            continue;
        at.y = 0;
        at.z++;
    }
}

/* True if a launch can run as regions: with the extents `x`, `y`, `z`, which are 0 if unknown, in the natural order, and
 * neither with clusters nor as a cooperative launch. */
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
    return has_size && is_alone && has_features && cf__is_small(launch, 3, false);
#endif
}

/* Runs blocks `begin` to `end` - 1 of a kernel as regions. Returns false if it needs its other form. */
template <unsigned int x, unsigned int y, unsigned int z, bool is_global = false, typename Block>
static inline CF__INLINE bool cf__in_regions([[maybe_unused]] const cf_host_launch *launch,
                                             [[maybe_unused]] uint64_t begin, [[maybe_unused]] uint64_t end,
                                             [[maybe_unused]] Block block)
{
#ifndef CF__ONE_BY_ONE
    const cf_dim3 grid = launch->grid, given = launch->block;
    if (cf__has_regions(launch, x, y, z)) {
        cf_host_launch own = *launch;
        own.block = {1, 1, 1};
        if constexpr (is_global) {
            own.grid = {1, 1, 1};
            cf__run_together(&own, 0, 1, [=]() CF__OF_BLOCK { cf__run_joined(grid, given, begin, end, block); });
        } else {
            own.grid = {1, 1, 1};
            uint64_t next = begin;
            cf__run_together(
                &own, 0, (end - begin + CF__BLOCKS_OF_TURN - 1) / CF__BLOCKS_OF_TURN, [=, &next]() CF__OF_BLOCK {
                    const uint64_t first = next;
                    next = end - first < CF__BLOCKS_OF_TURN ? end : first + CF__BLOCKS_OF_TURN;
                    cf__run_blocks(grid, {x ? x : given.x, y ? y : given.y, z ? z : given.z}, first, next, block);
                });
        }
        return true;
    }
#endif
    return false;
}

/* Before the form of fibers of a kernel that has another: compilers optimize it for size, in less time. */
#define CF__SELDOM __attribute__((cold))

/* Runs blocks `begin` to `end` - 1 of a kernel with barriers that has two forms. */
template <unsigned int x, unsigned int y, unsigned int z, typename Thread, typename Block>
static inline CF__INLINE void cf__regions(const cf_host_launch *launch, uint64_t begin, uint64_t end, Thread thread,
                                          Block block)
{
    if (!cf__in_regions<x, y, z>(launch, begin, end, block))
        cf__run_together(launch, begin, end, thread);
}

#endif
