/* loop.cuh - runs kernels whose threads do not wait for one another as loops that compilers vectorize.
 *
 * The generator gives such kernels their indices as a parameter (see gen/cpu/loops.py). Here it is a local object, and
 * the global index along x is the variable of one loop over all blocks of a row. */
#ifndef CUFERRY_CPU_LOOP_CUH
#define CUFERRY_CPU_LOOP_CUH

#include <stdint.h>

#include <cuferry/cpu/abi.h>
#include <cuferry/cpu/words.cuh>

#include "threads.cuh"

/* All threads run one by one, since sanitizers check each access and debuggers show each thread's variables. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || !defined __OPTIMIZE__
#define CF__ONE_BY_ONE
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CF__ONE_BY_ONE
#endif
#endif

/* CPU bodies are compiled twice if processors differ in features. If clang only gets features, it unrolls loops for the
 * oldest processor; so request x86-64-v3, and disable those of its features that the library does not test for. */
#if defined __x86_64__ && !defined CF__ONE_BY_ONE && !defined __AVX2__
#ifdef __clang__
#define CF__V3 __attribute__((target("arch=x86-64-v3,no-f16c,no-lzcnt,no-movbe")))
#else
#define CF__V3 __attribute__((target("avx2,bmi,bmi2,fma")))
#endif
#endif

/* Unrolls a short loop, so that gcc can vectorize the loop around it. */
#ifdef __clang__
#define CF__UNROLL
#else
#define CF__UNROLL _Pragma("GCC unroll 32")
#endif

/* Only processors with x86-64-v3 run blocks as regions if processors differ in features, since compiling the regions
 * twice would take too long. */
#ifndef CF__V3
#define CF__OF_BLOCK
#else
#define CF__OF_BLOCK CF__V3
#endif

/* Kinds of guards: 2 * axis for a guard that holds from an index on, and 2 * axis + 1 for one that holds up to an
 * index. */
enum { CF__LOWER_X, CF__UPPER_X, CF__LOWER_Y, CF__UPPER_Y, CF__LOWER_Z, CF__UPPER_Z };

enum { CF__ASK_ALL = -1, CF__ASK_NONE = 0x7fffffff };

/* The properties of a numeric type. They are unknown for classes. */
template <typename T> struct cf__number {
    static constexpr bool is_number = __is_enum(T), is_whole = is_number, cf__is_wide = false;
};
#define CF__NUMBER(type, whole, wide)                                                 \
    template <> struct cf__number<type> {                                             \
        static constexpr bool is_number = true, is_whole = whole, cf__is_wide = wide; \
    };
CF__NUMBER(bool, true, false)
CF__NUMBER(char, true, false)
CF__NUMBER(signed char, true, false)
CF__NUMBER(unsigned char, true, false)
CF__NUMBER(short, true, false)
CF__NUMBER(unsigned short, true, false)
CF__NUMBER(int, true, true)
CF__NUMBER(unsigned int, true, true)
CF__NUMBER(long, true, true)
CF__NUMBER(unsigned long, true, true)
CF__NUMBER(long long, true, true)
CF__NUMBER(unsigned long long, true, true)
CF__NUMBER(float, false, false)
CF__NUMBER(double, false, false)
CF__NUMBER(long double, false, false)
#undef CF__NUMBER

/* True if a type is at least as wide as int, so that it holds a global index, exactly or modulo its range. */
template <typename T> static constexpr CF__INLINE bool cf__is_wide(const T &)
{
    return cf__number<T>::cf__is_wide;
}

/* True if a type's sums and products are exact. */
template <typename T> static constexpr CF__INLINE bool cf__is_whole(const T &)
{
    return cf__number<T>::is_whole;
}

/* True if < compares values of the type as numbers. The answer is unknown for classes. */
template <typename T> static constexpr CF__INLINE bool cf__is_number(const T &)
{
    return cf__number<T>::is_number;
}

/* The result that a guard has in one thread. */
struct cf__answer {
    bool holds, grows;
    int64_t index; /* the value of the compared variable */
};

/* The indices of one thread. Names with cf__ stand in a kernel's text, so that no macro of its file may have them. */
struct cf__indices {
    uint3 cf__thread, cf__block, cf__block_size, cf__grid_size;
    uint64_t at[3];     /* block * block_size + thread */
    uint32_t narrow[3]; /* the same values in 32 bits, as in CUDA, so that compilers see one width in a loop */
    int asked;          /* number of the guard that is evaluated, or a value for all guards or for none */
    struct cf__answer *answer;

    /* blockIdx.x * blockDim.x + threadIdx.x, where one of the first two is cast to T. */
    template <typename T> CF__INLINE auto cf__global(int axis) const -> decltype((T)0u * 0u + 0u)
    {
        typedef decltype((T)0u * 0u + 0u) result;
#ifdef __clang__
        if (axis == 0) /* x is read after the other two; see cf__each() */
            __builtin_assume((uint32_t)at[2] == narrow[2] && (uint32_t)at[1] == narrow[1]);
#endif
        if constexpr (cf__number<T>::cf__is_wide)
            return sizeof(T) > sizeof(int) ? (result)at[axis] : (result)narrow[axis];
        else
            return (T)(&cf__block.x)[axis] * (&cf__block_size.x)[axis] + (&cf__thread.x)[axis];
    }

    CF__INLINE void set(int axis, uint64_t value)
    {
        at[axis] = value;
        narrow[axis] = (uint32_t)value;
    }

    /* Evaluates guard `number` of the kernel, which compares the variable `index`. `grows` is true if the guard holds
     * for a range of threads. */
    template <typename T> CF__INLINE bool cf__in(int number, bool grows, T index, bool holds) const
    {
        if (asked == CF__ASK_ALL || (asked == CF__ASK_NONE && !grows))
            return holds;
        if (asked != number)
            return true;
        *answer = {holds, grows, (int64_t)index};
        return false; /* the thread ends here */
    }
};

/* The parameter has the name of the object that other functions read, and hides the object in a kernel. */
#define CF__PARAMETER [[maybe_unused]] const cf__indices &cf__index

/* Tells compilers that the steps of a loop over threads are independent. A thread's own arrays are an exception,
 * because all threads use the same memory for them: then compilers have to analyse the loop. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* no warning about loops that cannot be vectorized */
#define CF__INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define CF__VECTORIZE _Pragma("clang loop vectorize(enable)")
#else
#define CF__INDEPENDENT _Pragma("GCC ivdep")
#define CF__VECTORIZE
#endif

/* The threads whose global indices are in [low, high) along each axis. */
struct cf__box {
    uint64_t low[3], high[3];
};

template <bool is_mirrored> static inline CF__INLINE void cf__mirror(const cf__indices &index)
{
    if (is_mirrored) {
        threadIdx = index.cf__thread;
        blockIdx = index.cf__block;
    }
}

static inline CF__INLINE cf__indices cf__first(const cf_host_launch *launch)
{
    const cf_dim3 grid = launch->grid, block = launch->block;
    return {{0, 0, 0},   {0, 0, 0}, {block.x, block.y, block.z}, {grid.x, grid.y, grid.z}, {0, 0, 0}, {0, 0, 0},
            CF__ASK_ALL, nullptr};
}

/* Runs every thread of the blocks one by one. */
template <bool is_mirrored, typename Thread>
static __attribute__((noinline)) void cf__one_by_one(const cf_host_launch *launch, uint64_t begin, uint64_t end,
                                                     Thread thread)
{
    const cf_dim3 grid = launch->grid, block = launch->block;
    cf__indices index = cf__first(launch);
    for (uint64_t b = begin; b < end; b++) {
        index.cf__block = {(unsigned int)(b % grid.x), (unsigned int)(b / grid.x % grid.y),
                           (unsigned int)(b / grid.x / grid.y)};
        for (unsigned int z = 0; z < block.z; z++)
            for (unsigned int y = 0; y < block.y; y++)
                for (unsigned int x = 0; x < block.x; x++) {
                    index.cf__thread = {x, y, z};
                    index.set(0, (uint64_t)index.cf__block.x * block.x + x);
                    index.set(1, (uint64_t)index.cf__block.y * block.y + y);
                    index.set(2, (uint64_t)index.cf__block.z * block.z + z);
                    cf__mirror<is_mirrored>(index);
                    thread(index);
                }
    }
}

/* Runs the threads in the order that the library gives. The threads run the code of the loop, so that compilers
 * contract the same operations in both. */
template <typename Thread>
static __attribute__((noinline)) void cf__in_order(const cf_host_launch *launch, uint64_t begin, uint64_t end,
                                                   Thread thread)
{
    const auto one = [=]() CF__INLINE {
        cf__indices index = cf__first(launch);
        index.cf__thread = threadIdx;
        index.cf__block = blockIdx;
        for (int axis = 0; axis < 3; axis++)
            index.set(axis, (uint64_t)(&index.cf__block.x)[axis] * (&index.cf__block_size.x)[axis] +
                                (&index.cf__thread.x)[axis]);
        thread(index);
    };
#ifdef CF__V3
    if (launch->processor & CF_HOST_X86_64_V3) {
        cf__run_together(launch, begin, end, [=]() CF__V3 { one(); });
        return;
    }
#endif
    cf__run_together(launch, begin, end, one);
}

/* Evaluates guard `number` in the threads with index `at` along its axis. */
template <bool is_mirrored, int number, int axis, typename Thread>
static __attribute__((noinline)) cf__answer cf__ask(const cf_host_launch *launch, uint64_t at, Thread thread)
{
    const uint32_t size = (&launch->block.x)[axis];
    cf__answer answer = {true, false, 0};
    cf__indices index = cf__first(launch);
    (&index.cf__thread.x)[axis] = (unsigned int)(at % size);
    (&index.cf__block.x)[axis] = (unsigned int)(at / size);
    index.set(axis, at);
    index.asked = number;
    index.answer = &answer;
    cf__mirror<is_mirrored>(index);
    thread(index);
    return answer;
}

/* True if a variable that is a sum of products grows in equal steps from thread to thread, starting at 0 or more,
 * within the range of int. Then a comparison of it with a number of any type changes at most once along the threads. */
template <bool is_mirrored, int number, int axis, typename Thread>
static bool cf__is_even(const cf_host_launch *launch, int64_t first, Thread thread)
{
    constexpr uint64_t most = 0x7fffffff - 0x100000;
    const uint64_t size = (&launch->block.x)[axis], count = size * (&launch->grid.x)[axis];
    auto beyond = [=](uint64_t at) {
        return (uint64_t)cf__ask<is_mirrored, number, axis>(launch, at, thread).index - (uint64_t)first;
    };
    if (first < 0 || first > 0x100000)
        return false;
    const uint64_t step = count > 1 ? beyond(1) : 1;
    return step > 0 && step <= most && step * count <= most && (count == size || beyond(size) == step * size) &&
           beyond(count - 1) == step * (count - 1);
}

/* Removes from the box the indices for which a guard does not hold. Returns true if the guard holds for a range. */
template <bool is_mirrored, int number, int guard, typename Thread>
static __attribute__((noinline)) bool cf__narrow(const cf_host_launch *launch, cf__box *box, Thread thread)
{
    constexpr int axis = guard / 2;
    constexpr bool is_upper = guard % 2;
    uint64_t low = box->low[axis], high = box->high[axis];
    const cf__answer first = cf__ask<is_mirrored, number, axis>(launch, 0, thread);
    if (!first.grows || low >= high)
        return true;
    if (!cf__is_even<is_mirrored, number, axis>(launch, first.index, thread))
        return false;
    if (cf__ask<is_mirrored, number, axis>(launch, is_upper ? high - 1 : low, thread).holds)
        return true;
    /* The result of the guard changes once between `low` and `high`. */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (cf__ask<is_mirrored, number, axis>(launch, middle, thread).holds == is_upper)
            low = middle + 1;
        else
            high = middle;
    }
    (is_upper ? box->high : box->low)[axis] = low;
    return true;
}

template <bool is_mirrored, int... guards> struct cf__guards {
    template <int number, typename Thread> static bool narrow(const cf_host_launch *, cf__box *, Thread)
    {
        return true;
    }
};

template <bool is_mirrored, int guard, int... guards> struct cf__guards<is_mirrored, guard, guards...> {
    template <int number, typename Thread> static bool narrow(const cf_host_launch *launch, cf__box *box, Thread thread)
    {
        return cf__narrow<is_mirrored, number, guard>(launch, box, thread) &&
               cf__guards<is_mirrored, guards...>::template narrow<number + 1>(launch, box, thread);
    }
};

/* With so few blocks, indices fit int for any block size. */
#define CF__FEW_BLOCKS 0x1fffff

/* True if the launch has only the axes of the loop, and so few threads along each that global indices, with a margin,
 * fit int. */
static inline bool cf__is_small(const cf_host_launch *launch, int axes, bool is_flat)
{
    constexpr uint64_t limit = 0x7fffffff - (1 << 20);
    if (axes == 1 && (launch->grid.y | launch->grid.z | launch->block.y | launch->block.z) != 1)
        return false;
    if (!is_flat && launch->grid.x > CF__FEW_BLOCKS)
        return false;
    return (uint64_t)launch->grid.x * launch->block.x <= limit && (uint64_t)launch->grid.y * launch->block.y <= limit &&
           (uint64_t)launch->grid.z * launch->block.z <= limit;
}

/* Runs steps `begin` to `end` - 1; compilers may run several at the same time. `is_numeric`: a thread has no arrays.
 * Clang adds values in the order in which they are read. In z * plane + y * nx + x no sum can overflow, but for x + z *
 * plane + y * nx it would widen each index in each step. So the other values are copied before x is read. */
template <bool is_numeric, typename Step> static inline CF__INLINE void cf__each(int begin, int end, const Step &given)
{
    const Step step = given;
    if constexpr (is_numeric) {
        CF__INDEPENDENT
        for (int t = begin; t < end; t++)
            step(t);
    } else {
        CF__VECTORIZE
        for (int t = begin; t < end; t++)
            step(t);
    }
}

/* Runs the threads of one row with x in [low, high), for which all guards hold. */
template <bool is_mirrored, bool is_numeric, typename Thread>
static inline CF__INLINE void cf__flat_row(cf__indices index, uint64_t low, uint64_t high, Thread thread)
{
    const unsigned int size = index.cf__block_size.x;
    const int begin = (int)(low & 0x7fffffff); /* tells compilers that the count is not negative */
    cf__each<is_numeric>(0, low < high ? (int)(high - low) : 0, [=](const int &number) CF__INLINE {
        cf__indices own = index;
        const Thread body = thread;
        const int x = begin + number; /* x is read last; see cf__each() */
        __builtin_assume(x >= 0);
        own.set(0, (uint64_t)(int64_t)x);
        own.cf__thread.x = (unsigned int)x % size;
        own.cf__block.x = (unsigned int)x / size;
        cf__mirror<is_mirrored>(own);
        body(own);
    });
}

/* Runs the threads of a row block by block, for a kernel that uses the thread's index within the block. */
template <bool is_mirrored, bool is_numeric, typename Thread>
static inline CF__INLINE void cf__row(cf__indices index, uint64_t low, uint64_t high, Thread thread)
{
    const unsigned int size = index.cf__block_size.x;
    for (uint64_t x = low; x < high;) {
        index.cf__block.x = (unsigned int)(x / size) & CF__FEW_BLOCKS;
        const int base = (int)(index.cf__block.x * size & 0x7fffffff), begin = (int)(x - (uint64_t)base);
        const int end = high - (uint64_t)base < size ? (int)(high - (uint64_t)base) : (int)size;
        cf__each<is_numeric>(begin, end, [=](int t) CF__INLINE {
            __builtin_assume(t >= 0 && t < 1024);
            cf__indices own = index;
            own.cf__thread.x = (unsigned int)t;
            own.set(0, (uint64_t)(int64_t)(base + t));
            cf__mirror<is_mirrored>(own);
            thread(own);
        });
        x = (uint64_t)base + size;
    }
}

static inline CF__INLINE void cf__clip(uint64_t *low, uint64_t *high, uint64_t least, uint64_t most)
{
    *low = *low < least ? least : *low;
    *high = *high > most ? most : *high;
}

/* Adjacent blocks in some rows of one layer. */
struct cf__rectangle {
    uint64_t x, y, z, columns, rows;
};

/* Runs the threads of a rectangle that are inside the box, in the order of their global indices. */
template <bool is_flat, bool is_mirrored, bool is_numeric, typename Thread>
static inline CF__INLINE void cf__blocks(cf__indices index, const cf__rectangle &blocks, const cf__box &box,
                                         Thread thread)
{
    const uint3 size = index.cf__block_size;
    uint64_t low[3] = {blocks.x * size.x, blocks.y * size.y, blocks.z * size.z};
    uint64_t high[3] = {low[0] + blocks.columns * size.x, low[1] + blocks.rows * size.y, low[2] + size.z};
    for (int axis = 0; axis < 3; axis++)
        cf__clip(&low[axis], &high[axis], box.low[axis], box.high[axis]);
    index.cf__block.z = (unsigned int)blocks.z;
    /* These variables are int like the variable along x, so that compilers compute a row's address only once. */
    const int first_y = (int)(low[1] & 0x7fffffff), end_y = (int)(high[1] & 0x7fffffff);
    const int first_z = (int)(low[2] & 0x7fffffff), end_z = (int)(high[2] & 0x7fffffff);
    for (int z = first_z; z < end_z; z++)
        for (int y = first_y; y < end_y; y++) {
            __builtin_assume(y >= 0 && z >= 0);
            index.set(1, (uint64_t)(int64_t)y);
            index.set(2, (uint64_t)(int64_t)z);
            index.cf__thread.z = (unsigned int)z % size.z;
            index.cf__thread.y = (unsigned int)y % size.y;
            index.cf__block.y = (unsigned int)y / size.y;
            if (is_flat)
                cf__flat_row<is_mirrored, is_numeric>(index, low[0], high[0], thread);
            else
                cf__row<is_mirrored, is_numeric>(index, low[0], high[0], thread);
        }
}

/* Runs blocks `begin` to `end` - 1. `axes`: number of axes of the grid. `is_flat`: the kernel uses only the global
 * index along x. `is_mirrored`: functions read the indices too. `is_numeric`: a thread has no arrays. */
template <int axes, bool is_flat, bool is_mirrored, bool is_numeric, int... guards, typename Thread>
static inline CF__INLINE void cf__loop(const cf_host_launch *launch, uint64_t begin, uint64_t end, Thread thread)
{
    if (launch->is_ordered) {
        cf__in_order(launch, begin, end, thread);
        return;
    }
    if (is_mirrored)
        cf__set_sizes(launch);
#ifndef CF__ONE_BY_ONE
    const cf_dim3 grid = launch->grid, size = launch->block;
    cf__box box = {{0, 0, 0}, {(uint64_t)grid.x * size.x, (uint64_t)grid.y * size.y, (uint64_t)grid.z * size.z}};
    if (cf__is_small(launch, axes, is_flat) &&
        cf__guards<is_mirrored, guards...>::template narrow<0>(launch, &box, thread)) {
        cf__indices index = cf__first(launch);
        index.asked = CF__ASK_NONE;
        if (axes == 1) {
            uint64_t low = begin * size.x, high = end * size.x;
            cf__clip(&low, &high, box.low[0], box.high[0]);
            if (is_flat)
                cf__flat_row<is_mirrored, is_numeric>(index, low, high, thread);
            else
                cf__row<is_mirrored, is_numeric>(index, low, high, thread);
            return;
        }
        cf__rectangle blocks = {begin % grid.x, begin / grid.x % grid.y, begin / grid.x / grid.y, 1, 1};
        for (uint64_t left = end - begin; left > 0; left -= blocks.columns * blocks.rows) {
            const uint64_t rest = grid.x - blocks.x;
            blocks.columns = !is_flat ? 1 : rest < left ? rest : left;
            blocks.rows = 1;
            if (blocks.columns == grid.x && left >= 2 * grid.x) {
                const uint64_t whole = left / grid.x, there = grid.y - blocks.y;
                blocks.rows = whole < there ? whole : there;
            }
            cf__blocks<is_flat, is_mirrored, is_numeric>(index, blocks, box, thread);
            blocks.x += blocks.columns;
            if (blocks.x == grid.x) {
                blocks.x = 0;
                blocks.y += blocks.rows;
            }
            if (blocks.y == grid.y) {
                blocks.y = 0;
                blocks.z++;
            }
        }
        return;
    }
#endif
    cf__one_by_one<is_mirrored>(launch, begin, end, thread);
}

/* The CPU body of a kernel. */
#ifdef CF__V3
#define CF__BODY(name, loop)                                                                 \
    CF__V3 static void loop##_v3(const cf_host_launch *launch, uint64_t begin, uint64_t end) \
    {                                                                                        \
        loop(launch, begin, end);                                                            \
    }                                                                                        \
    extern "C" void name(const cf_host_launch *launch, uint64_t begin, uint64_t end)         \
    {                                                                                        \
        if (launch->processor & CF_HOST_X86_64_V3)                                           \
            loop##_v3(launch, begin, end);                                                   \
        else                                                                                 \
            loop(launch, begin, end);                                                        \
    }
#else
#define CF__BODY(name, loop)                                                         \
    extern "C" void name(const cf_host_launch *launch, uint64_t begin, uint64_t end) \
    {                                                                                \
        loop(launch, begin, end);                                                    \
    }
#endif

#endif
