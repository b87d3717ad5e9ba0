/* gather_random.c - the launches that gather in no order: three that go through the source window by window, or, where
 * that does not pay, the one of cf_gather. */
#include "cuferry/kernels_internal.h"

#include "gather_random.h"

/* On the CPU, whose caches are others, it never pays. */
static int is_ordered(cf_stream stream, size_t element, int64_t N, int64_t M, bool *ordered)
{
    int device;
    *ordered = GATHER_RANDOM_IS_ORDERED(element);
    if (!*ordered)
        return CF_OK;
    const int status = cf_stream_device(stream, &device);
    *ordered = status == CF_OK && device != CF_HOST;
    return status;
}

/* `bits` are the types of the kernels, which move elements as such. */
#define ENQUEUE(tag, T, I, bits, of_index)                                                                            \
    int cf__enqueue_gather_random_##tag(cf_stream stream, const T *source, const I *index, T *res, uint32_t *starts,  \
                                        int64_t N, int64_t M)                                                         \
    {                                                                                                                 \
        bool ordered;                                                                                                 \
        int status = is_ordered(stream, sizeof(T), N, M, &ordered);                                                   \
        if (status != CF_OK)                                                                                          \
            return status;                                                                                            \
        if (!ordered)                                                                                                 \
            return cf_gather_##tag##_async(stream, source, index, res, N, M);                                         \
        const int shift = GATHER_RANDOM_SHIFT(sizeof(T));                                                             \
        const bool is_few = GATHER_RANDOM_WINDOWS(shift) <= 64;                                                       \
        void *const moved = res;                                                                                      \
        const void *const from = source;                                                                              \
        status = (is_few ? cf_gather_random_order_##bits##_##of_index##_few_async                                     \
                         : cf_gather_random_order_##bits##_##of_index##_many_async)(stream, index, moved, starts, N,  \
                                                                                    M, shift);                        \
        if (status == CF_OK)                                                                                          \
            status = cf_gather_random_fetch_##bits##_async(stream, from, starts, moved, N, M, shift);                 \
        if (status == CF_OK)                                                                                          \
            status = (is_few ? cf_gather_random_restore_##bits##_##of_index##_few_async                               \
                             : cf_gather_random_restore_##bits##_##of_index##_many_async)(stream, index, moved, N, M, \
                                                                                          shift);                     \
        return status;                                                                                                \
    }

ENQUEUE(f32_i32, float, int32_t, u32, i32)
ENQUEUE(f32_i64, float, int64_t, u32, i64)
ENQUEUE(f64_i32, double, int32_t, u64, i32)
ENQUEUE(f64_i64, double, int64_t, u64, i64)
ENQUEUE(i32_i32, int32_t, int32_t, u32, i32)
ENQUEUE(i32_i64, int32_t, int64_t, u32, i64)
ENQUEUE(i64_i32, int64_t, int32_t, u64, i32)
ENQUEUE(i64_i64, int64_t, int64_t, u64, i64)
