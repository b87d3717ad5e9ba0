/* shifts.cuh - the results of shuffles, which are read from an array with the values of all lanes.
 *
 * There is memory for 32 more values before the values of the first warp and after those of the last warp. */
#ifndef CUFERRY_CPU_SHIFTS_CUH
#define CUFERRY_CPU_SHIFTS_CUH

#include <stdint.h>

#include <cuferry/cpu/sync/together.cuh>
#include <cuferry/cpu/words.cuh>

#include "loop.cuh"

/* The values of lanes whose masks may not name all lanes. A lane that gave no value has the mask 0. */
template <typename T> struct cf__masked {
    const T *values;
    const uint32_t *masks;
};

/* Returns the mask that is noted for a lane. A mask of 0 would mean that the lane gave no value; a mask that names
 * another lane takes its place. */
static inline CF__INLINE uint32_t cf__noted(int t, uint32_t mask)
{
    return mask ? mask : 2u << (t & 30);
}

/* True if the masks of all lanes of a warp name all lanes. */
static inline CF__INLINE bool cf__are_whole(const uint32_t *masks)
{
    uint32_t all = 0xffffffffu;
    for (int t = 0; t < 32; t++)
        all &= masks[t];
    return all == 0xffffffffu;
}

static inline CF__INLINE void cf__check_width(int width, const char *file, int line)
{
    if (width <= 0 || width > 32 || width & (width - 1))
        cf__fail(0, "a shuffle whose width is not a power of two up to 32", file, line);
}

/* Reads a value for each result, even if the result is not used, so that compilers vectorize the loop around it. */
#define CF__FROM_LANE(name, type, condition, other)                                                                    \
    template <typename T> static inline CF__INLINE T cf__read_##name(const T *values, int t, int by, int width)        \
    {                                                                                                                  \
        const T own = values[t], far = values[other];                                                                  \
        return condition ? far : own;                                                                                  \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    static inline CF__INLINE T cf__read_##name(const cf__masked<T> &lanes, int t, int by, int width)                   \
    {                                                                                                                  \
        const T *const values = lanes.values;                                                                          \
        const T own = values[t], far = values[other];                                                                  \
        return !(condition) ? own : lanes.masks[t] >> ((other)&31) & 1 ? far : T();                                    \
    }                                                                                                                  \
    template <typename Lanes>                                                                                          \
    static inline CF__INLINE auto cf__lane_##name(const Lanes &lanes, int t, type argument, int width = 32, CF__WHERE) \
    {                                                                                                                  \
        cf__check_width(width, file, line);                                                                            \
        return cf__read_##name(lanes, t, (int)argument & 31, width);                                                   \
    }
CF__FROM_LANE(up, unsigned int, (t & (width - 1)) >= by, t - by)
CF__FROM_LANE(down, unsigned int, (t & (width - 1)) + by < width, t + by)
CF__FROM_LANE(xor, int, ((t ^ by) & 31) <= ((t & 31) | (width - 1)), t ^ by)
CF__FROM_LANE(at, int, true, (t & ~(width - 1)) | (by & (width - 1)))
#undef CF__FROM_LANE

/* A vector of 32 bytes whose elements have `size` bytes. */
template <size_t size> struct cf__vector {
    static constexpr int cf__lanes = 0;
};
template <> struct cf__vector<4> {
    typedef int32_t type __attribute__((vector_size(32), may_alias));
    static constexpr int cf__lanes = 8;
};
template <> struct cf__vector<8> {
    typedef int64_t type __attribute__((vector_size(32), may_alias));
    static constexpr int cf__lanes = 4;
};
#ifdef __clang__
#define CF__SHUFFLE __builtin_shufflevector
#else
#define CF__SHUFFLE(low, high, ...) __builtin_shuffle(low, high, Vector{__VA_ARGS__})
#endif

/* The direction from which a lane reads in a shuffle with a constant distance, a power of 2. */
enum cf__shift { CF__UP, CF__DOWN, CF__XOR };
template <cf__shift kind, int by> static constexpr int cf__source(int t)
{
    const int other = kind == CF__UP ? t - by : kind == CF__DOWN ? t + by : t ^ by;
    return other < 0 || other > 31 ? t : other;
}

/* Moves the values of a warp by a constant distance, from vector `i` on. The code uses shuffle instructions, which
 * compilers do not make from loops. */
template <cf__shift kind, int by, int i, typename Vector>
static inline CF__INLINE CF__OF_BLOCK void cf__move(const Vector *old, Vector *values)
{
    constexpr int size = sizeof(Vector) / sizeof old[0][0];
    if constexpr (i * size < 32) {
        constexpr int first = cf__source<kind, by>(i * size) / size;
        constexpr int last = cf__source<kind, by>(i * size + size - 1) / size;
        constexpr int low = first < last ? first : last, high = first < last ? last : first;
#define CF__FROM(j) \
    (cf__source<kind, by>(i * size + (j)) - (cf__source<kind, by>(i * size + (j)) / size == low ? begin : end))
        constexpr int begin = low * size, end = (high - 1) * size;
        if constexpr (size == 8)
            values[i] = CF__SHUFFLE(old[low], old[high], CF__FROM(0), CF__FROM(1), CF__FROM(2), CF__FROM(3),
                                    CF__FROM(4), CF__FROM(5), CF__FROM(6), CF__FROM(7));
        else
            values[i] = CF__SHUFFLE(old[low], old[high], CF__FROM(0), CF__FROM(1), CF__FROM(2), CF__FROM(3));
#undef CF__FROM
        cf__move<kind, by, i + 1>(old, values);
    }
}

/* Moves the values of a warp by a distance. Returns false if no code for this distance exists. */
template <cf__shift kind, typename T>
static inline CF__INLINE CF__OF_BLOCK bool cf__moves([[maybe_unused]] T *lanes, [[maybe_unused]] int by)
{
    constexpr int size = cf__vector<sizeof(T)>::cf__lanes;
    if constexpr (size > 0) {
        typedef typename cf__vector<sizeof(T)>::type vector;
        vector *const values = reinterpret_cast<vector *>(lanes);
        vector old[32 / size];
        CF__UNROLL for (int i = 0; i < 32 / size; i++) old[i] = values[i];
        switch (by) {
#define CF__CASE(distance)                        \
    case distance:                                \
        cf__move<kind, distance, 0>(old, values); \
        return true;
            CF__CASE(1)
            CF__CASE(2)
            CF__CASE(4)
            CF__CASE(8)
            CF__CASE(16)
#undef CF__CASE
        }
    }
    return false;
}

/* Replaces the values of a warp by the results of a shuffle whose other arguments are the same in all lanes. `masks`:
 * the lanes' masks, which are 0 for lanes that gave no value. */
#define CF__SHIFT(name, type, fast)                                                                                 \
    template <typename T>                                                                                           \
    static inline CF__INLINE CF__OF_BLOCK void cf__shift_##name(T *lanes, type argument, int width = 32, CF__WHERE) \
    {                                                                                                               \
        const int by = (int)argument & 31;                                                                          \
        if (fast)                                                                                                   \
            return;                                                                                                 \
        cf__check_width(width, file, line);                                                                         \
        T found[32];                                                                                                \
        for (int t = 0; t < 32; t++)                                                                                \
            found[t] = cf__read_##name(lanes, t, by, width);                                                        \
        for (int t = 0; t < 32; t++)                                                                                \
            lanes[t] = found[t];                                                                                    \
    }                                                                                                               \
    template <typename T>                                                                                           \
    static inline CF__INLINE CF__OF_BLOCK void cf__shift_##name(T *lanes, const uint32_t *masks, type argument,     \
                                                                int width = 32, CF__WHERE)                          \
    {                                                                                                               \
        if (cf__are_whole(masks))                                                                                   \
            return cf__shift_##name(lanes, argument, width, file, line);                                            \
        uint32_t any = 0;                                                                                           \
        for (int t = 0; t < 32; t++)                                                                                \
            any |= masks[t];                                                                                        \
        if (!any)                                                                                                   \
            return;                                                                                                 \
        cf__check_width(width, file, line);                                                                         \
        const int by = (int)argument & 31;                                                                          \
        T found[32];                                                                                                \
        for (int t = 0; t < 32; t++)                                                                                \
            found[t] = cf__read_##name(cf__masked<T>{lanes, masks}, t, by, width);                                  \
        for (int t = 0; t < 32; t++)                                                                                \
            lanes[t] = found[t];                                                                                    \
    }
CF__SHIFT(up, unsigned int, width == 32 && cf__moves<CF__UP>(lanes, by))
CF__SHIFT(down, unsigned int, width == 32 && cf__moves<CF__DOWN>(lanes, by))
CF__SHIFT(xor, int,
          (width == 32 || (by < width && width < 32 && !(width & (width - 1)))) && cf__moves<CF__XOR>(lanes, by))
CF__SHIFT(at, int, false)
#undef CF__SHIFT

#endif
