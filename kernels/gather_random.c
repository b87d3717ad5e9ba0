/* gather_random.c - enqueues a gather in no order: three launches that go through the source window by window, or
 * the launch of cf_gather if these would be slower */
#include "cuferry/kernels_internal.h"

#include "gather_random.h"

/* The choice for the stream's device, and the blocks of the three launches there. They are faster if the source has
 * more than 1.25 times the L2 cache; on the CPU, whose caches differ, they never are. */
struct way {
    bool is_by_windows;
    int32_t blocks;
};

static int find_way(cf_stream stream, size_t element, int64_t M, struct way *way)
{
    int64_t cache, multiprocessors;
    int device, status = cf_stream_device(stream, &device);
    *way = (struct way){.is_by_windows = false};
    if (status != CF_OK || device == CF_HOST)
        return status;
    status = cf_device_property(device, CF_PROPERTY_L2_CACHE, &cache);
    if (status == CF_OK)
        status = cf_device_property(device, CF_PROPERTY_MULTIPROCESSORS, &multiprocessors);
    if (status != CF_OK)
        return status;
    way->is_by_windows = cache >= GATHER_RANDOM_CACHE && (double)M * (double)element > 1.25 * (double)cache;
    way->blocks = (int32_t)(4 * multiprocessors);
    return CF_OK;
}

/* `bits` is the type in which the kernels move elements. */
#define WINDOWS(U, I, bits, of_index)                                                                               \
    static int by_windows_##bits##_##of_index(cf_stream stream, const struct way *way, const U *source,             \
                                              const I *index, U *res, int64_t N, int64_t M, uint32_t *starts,       \
                                              uint32_t *next)                                                       \
    {                                                                                                               \
        const int shift = GATHER_RANDOM_SHIFT(sizeof(U));                                                           \
        const bool is_few = GATHER_RANDOM_WINDOWS(shift) <= 64;                                                     \
        int status = (is_few ? cf_gather_random_order_##bits##_##of_index##_few_async                               \
                             : cf_gather_random_order_##bits##_##of_index##_many_async)(                            \
            stream, index, res, starts, next, N, M, shift, way->blocks);                                            \
        if (status == CF_OK)                                                                                        \
            status =                                                                                                \
                cf_gather_random_fetch_##bits##_async(stream, source, starts, res, next, N, M, shift, way->blocks); \
        if (status == CF_OK)                                                                                        \
            status = (is_few ? cf_gather_random_restore_##bits##_##of_index##_few_async                             \
                             : cf_gather_random_restore_##bits##_##of_index##_many_async)(stream, index, res, N, M, \
                                                                                          shift, way->blocks);      \
        return status;                                                                                              \
    }

WINDOWS(uint32_t, int32_t, u32, i32)
WINDOWS(uint32_t, int64_t, u32, i64)
WINDOWS(uint64_t, int32_t, u64, i32)
WINDOWS(uint64_t, int64_t, u64, i64)

#define ENQUEUE(tag, T, I, bits, of_index)                                                                     \
    int cf__enqueue_gather_random_##tag(cf_stream stream, const T *source, const I *index, T *res, int64_t N,  \
                                        int64_t M, uint32_t *starts, uint32_t *next)                           \
    {                                                                                                          \
        struct way way = {.is_by_windows = false};                                                             \
        const void *const from = source;                                                                       \
        void *const to = res;                                                                                  \
        const int status = GATHER_RANDOM_IS_ORDERED(sizeof(T)) ? find_way(stream, sizeof(T), M, &way) : CF_OK; \
        if (status != CF_OK)                                                                                   \
            return status;                                                                                     \
        if (!way.is_by_windows)                                                                                \
            return cf_gather_##tag##_async(stream, source, index, res, N, M);                                  \
        return by_windows_##bits##_##of_index(stream, &way, from, index, to, N, M, starts, next);              \
    }

ENQUEUE(f32_i32, float, int32_t, u32, i32)
ENQUEUE(f32_i64, float, int64_t, u32, i64)
ENQUEUE(f64_i32, double, int32_t, u64, i32)
ENQUEUE(f64_i64, double, int64_t, u64, i64)
ENQUEUE(i32_i32, int32_t, int32_t, u32, i32)
ENQUEUE(i32_i64, int32_t, int64_t, u32, i64)
ENQUEUE(i64_i32, int64_t, int32_t, u64, i32)
ENQUEUE(i64_i64, int64_t, int64_t, u64, i64)
