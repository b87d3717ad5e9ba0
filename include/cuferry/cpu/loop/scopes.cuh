/* scopes.cuh - the threads of a block or a warp along each axis. */
#ifndef CUFERRY_CPU_SCOPES_CUH
#define CUFERRY_CPU_SCOPES_CUH

#include <stddef.h>
#include <stdint.h>

#include <cuferry/cpu/types/vector.cuh>
#include <cuferry/cpu/words.cuh>

#include "loop.cuh"

template <typename T> struct cf__plain_type {
    typedef T type;
};
template <typename T> struct cf__plain_type<const T> {
    typedef T type;
};
template <typename T> struct cf__plain_type<T &> : cf__plain_type<T> {
};
template <typename T> struct cf__plain_type<T &&> : cf__plain_type<T> {
};

/* The threads of a block. x, y and z are its extents if the generator knows them as constants, else 0. */
template <int x, int y, int z> struct cf__block_scope {
    const cf__indices &cf__first;

    explicit CF__INLINE cf__block_scope(const cf__indices &first) : cf__first(first)
    {
    }

    CF__INLINE operator const cf__indices &() const
    {
        return cf__first;
    }

    constexpr CF__INLINE int cf__columns() const
    {
        return x > 0 ? x : (int)cf__first.cf__block_size.x;
    }

    constexpr CF__INLINE int cf__rows() const
    {
        return y > 0 ? y : (int)cf__first.cf__block_size.y;
    }

    constexpr CF__INLINE int cf__layers() const
    {
        return z > 0 ? z : (int)cf__first.cf__block_size.z;
    }
};

/* The lanes of a warp. The global indices are those of the first thread in the block. */
struct cf__warp_scope : cf__indices {
    explicit CF__INLINE cf__warp_scope(const cf__indices &first) : cf__indices(first)
    {
        for (int axis = 0; axis < 3; axis++)
            narrow[axis] -= (&cf__thread.x)[axis];
    }

    static constexpr CF__INLINE int cf__columns()
    {
        return 32;
    }

    static constexpr CF__INLINE int cf__rows()
    {
        return 1;
    }

    static constexpr CF__INLINE int cf__layers()
    {
        return 1;
    }
};

/* The threads of a flat block, divided into rows of `length` threads. */
template <int length> struct cf__row_scope {
    const cf__indices &cf__first;

    explicit CF__INLINE cf__row_scope(const cf__indices &first) : cf__first(first)
    {
    }

    CF__INLINE operator const cf__indices &() const
    {
        return cf__first;
    }

    static constexpr CF__INLINE int cf__columns()
    {
        return length;
    }

    CF__INLINE int cf__rows() const
    {
        return (int)cf__first.cf__block_size.x / length;
    }

    static constexpr CF__INLINE int cf__layers()
    {
        return 1;
    }
};

template <typename Scope> static constexpr CF__INLINE int cf__threads(const Scope &scope)
{
    return scope.cf__columns() * scope.cf__rows() * scope.cf__layers();
}

/* Returns the number of a thread, counted from the scope's first thread. From the assumptions, compilers know that some
 * tests of the number are redundant. */
template <typename Scope> static inline CF__INLINE int cf__number_of(const Scope &scope, int x, int y, int z)
{
    __builtin_assume((unsigned int)x < 1024);
    __builtin_assume((unsigned int)y < 1024);
    __builtin_assume((unsigned int)z < 1024);
    return (z * scope.cf__rows() + y) * scope.cf__columns() + x;
}

/* Returns the indices of the thread whose position relative to the scope's first thread is x, y, z. */
static inline CF__INLINE cf__indices cf__indices_of(const cf__indices &scope, int x, int y, int z)
{
    cf__indices own = scope;
    own.cf__thread = {scope.cf__thread.x + (unsigned int)x, scope.cf__thread.y + (unsigned int)y,
                      scope.cf__thread.z + (unsigned int)z};
    own.set(0, (uint64_t)(int64_t)((int)scope.narrow[0] + x));
    own.set(1, (uint64_t)(int64_t)((int)scope.narrow[1] + y));
    own.set(2, (uint64_t)(int64_t)((int)scope.narrow[2] + z));
    return own;
}

struct cf__turn_of;

/* The lanes of a warp in a section. `is_whole`: the block consists of whole warps. */
template <bool is_whole> struct cf__lanes_scope {
    int cf__from, cf__count; /* number of the first lane in its block; number of lanes */

    CF__INLINE cf__lanes_scope(int from, int rest) : cf__from(from), cf__count(rest < 32 ? rest : 32)
    {
    }

    constexpr CF__INLINE int cf__columns() const
    {
        return is_whole ? 32 : cf__count;
    }

    static constexpr CF__INLINE int cf__rows()
    {
        return 1;
    }

    static constexpr CF__INLINE int cf__layers()
    {
        return 1;
    }
};

/* The lanes of a warp that runs a section of a block's code. */
template <bool is_whole> struct cf__section_scope : cf__lanes_scope<is_whole> {
    const cf__turn_of &cf__first;

    CF__INLINE cf__section_scope(const cf__turn_of &first, int from, int rest)
        : cf__lanes_scope<is_whole>(from, rest), cf__first(first)
    {
    }
};

/* The lanes of a warp in a section of a block whose warps do not follow its rows. `Block`: scope of the block. */
template <typename Block, bool is_whole> struct cf__lines_scope : cf__lanes_scope<is_whole> {
    const Block &cf__block;

    CF__INLINE cf__lines_scope(const Block &block, int from)
        : cf__lanes_scope<is_whole>(from, cf__threads(block) - from), cf__block(block)
    {
    }
};

/* The lanes of a warp that are in one row, a line, and the loop over these lines. `length`: the number of threads in a
 * row if all rows consist of so many lanes of one warp, otherwise 0. */
template <typename Block, int length> struct cf__line {
    const Block &cf__block;
    int cf__x, cf__y, cf__z, cf__lane, cf__rest; /* indices of the first lane; its number; number of lanes from it on */

    template <bool is_whole>
    explicit CF__INLINE cf__line(const cf__lines_scope<Block, is_whole> &warp)
        : cf__block(warp.cf__block), cf__x(0), cf__y(warp.cf__from / warp.cf__block.cf__columns()), cf__z(0),
          cf__lane(0), cf__rest(warp.cf__columns())
    {
        cf__x = length ? 0 : warp.cf__from - cf__y * cf__block.cf__columns();
        cf__z = cf__y / cf__block.cf__rows();
        cf__y -= cf__z * cf__block.cf__rows();
    }

    CF__INLINE int cf__columns() const
    {
        const int left = cf__block.cf__columns() - cf__x;
        return length ? length : left < cf__rest ? left : cf__rest;
    }

    CF__INLINE void cf__end()
    {
        const int columns = cf__columns();
        cf__lane += columns;
        cf__rest -= columns;
        cf__x = 0;
        if (++cf__y < cf__block.cf__rows())
            return;
        cf__y = 0;
        cf__z++;
    }
};

template <int length, typename Block, bool is_whole>
static inline CF__INLINE cf__line<Block, length> cf__line_of(const cf__lines_scope<Block, is_whole> &warp)
{
    return cf__line<Block, length>(warp);
}

template <typename Block, int length>
static inline CF__INLINE int cf__number_of(const cf__line<Block, length> &line, int x, int, int)
{
    __builtin_assume((unsigned int)x < 32);
    return line.cf__lane + x;
}

/* Returns the number that the first thread of a scope has among the threads whose values are kept together. */
template <typename Scope> static constexpr CF__INLINE int cf__place_of(const Scope &)
{
    return 0;
}

template <bool is_whole> static constexpr CF__INLINE int cf__place_of(const cf__section_scope<is_whole> &scope)
{
    return scope.cf__from;
}

template <typename Block, bool is_whole>
static constexpr CF__INLINE int cf__place_of(const cf__lines_scope<Block, is_whole> &scope)
{
    return scope.cf__from;
}

/* The indices of a thread in a region. It has fewer fields than cf__indices, so that kernels compile faster. */
struct cf__turn_of {
    uint3 cf__thread;
    const uint3 &cf__block, &cf__block_size, &cf__grid_size;
    const uint32_t (&cf__origin)[3]; /* global indices of the block's first thread */

    CF__INLINE cf__turn_of(const cf__indices &scope, int x, int y, int z)
        : cf__thread{scope.cf__thread.x + (unsigned int)x, scope.cf__thread.y + (unsigned int)y,
                     scope.cf__thread.z + (unsigned int)z},
          cf__block(scope.cf__block), cf__block_size(scope.cf__block_size), cf__grid_size(scope.cf__grid_size),
          cf__origin(scope.narrow)
    {
    }

    template <bool is_whole>
    CF__INLINE cf__turn_of(const cf__section_scope<is_whole> &scope, int x, int, int)
        : cf__thread{scope.cf__first.cf__thread.x + (unsigned int)x, scope.cf__first.cf__thread.y,
                     scope.cf__first.cf__thread.z},
          cf__block(scope.cf__first.cf__block), cf__block_size(scope.cf__first.cf__block_size),
          cf__grid_size(scope.cf__first.cf__grid_size), cf__origin(scope.cf__first.cf__origin)
    {
    }

    template <typename Block, bool is_whole>
    CF__INLINE cf__turn_of(const cf__lines_scope<Block, is_whole> &scope, int x, int, int)
        : cf__turn_of(scope.cf__block, (scope.cf__from + x) % scope.cf__block.cf__columns(),
                      (scope.cf__from + x) / scope.cf__block.cf__columns() % scope.cf__block.cf__rows(),
                      (scope.cf__from + x) / scope.cf__block.cf__columns() / scope.cf__block.cf__rows())
    {
    }

    template <typename Block, int length>
    CF__INLINE cf__turn_of(const cf__line<Block, length> &line, int x, int, int)
        : cf__turn_of(line.cf__block, line.cf__x + x, line.cf__y, line.cf__z)
    {
    }

    /* Returns the global index along an axis, like the function of cf__indices with this name. */
    template <typename T> CF__INLINE auto cf__global(int axis) const -> decltype((T)0u * 0u + 0u)
    {
        /* From this limit compilers know that the sum, which cf__is_small() has tested, does not wrap around. */
        const int begin = (int)(cf__origin[axis] < 0x7ff00000 ? cf__origin[axis] : 0x7ff00000);
        if constexpr (cf__number<T>::cf__is_wide)
            return (decltype((T)0u * 0u + 0u))(begin + (int)(&cf__thread.x)[axis]);
        else
            return (T)(&cf__block.x)[axis] * (&cf__block_size.x)[axis] + (&cf__thread.x)[axis];
    }

    CF__INLINE operator cf__indices() const
    {
        cf__indices all = {cf__thread, cf__block, cf__block_size, cf__grid_size,
                           {0, 0, 0},  {0, 0, 0}, CF__ASK_ALL,    nullptr};
        for (int axis = 0; axis < 3; axis++)
            all.set(axis, (uint64_t)(int64_t)((int)cf__origin[axis] + (int)(&cf__thread.x)[axis]));
        return all;
    }
};

/* Prefetches elements of a row. They are `by` elements away from those that the row reads from `first` on. */
template <typename T> static inline CF__INLINE void cf__fetch(const volatile T *first, int64_t by, int begin, int end)
{
    constexpr int step = sizeof(T) < 64 ? (int)(64 / sizeof(T)) : 1;
    const uintptr_t row = (uintptr_t)first + (uintptr_t)by * sizeof(T);
    for (int x = begin; x < end; x += step)
        __builtin_prefetch((const void *)(row + (uintptr_t)x * sizeof(T)));
    if (begin < end)
        __builtin_prefetch((const void *)(row + (uintptr_t)(end - 1) * sizeof(T)));
}

#endif
