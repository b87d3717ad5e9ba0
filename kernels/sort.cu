/* sort - arrays in ascending or descending order, alone, with values, or as the indices that sort them: the launches of
 * which sort.c makes them. */
#include <stdint.h>

#include "sort.cuh"

#define SORT_CHUNKS (n / SORT_CHUNK + (n % SORT_CHUNK > 0))
#define SORT_COUNT_BLOCKS min(n / 4096 + (n % 4096 > 0), 1056)
#define SORT_PASS_BLOCKS (n / SORT_TILE(KEY, VALUE) + (n % SORT_TILE(KEY, VALUE) > 0))

/* Counts the digits of all passes in counts, and sets begins to where each begins. All bytes of counters and counts are
 * 0 at first. */
#pragma cf kernel blocks(SORT_COUNT_BLOCKS) block(SORT_DIGITS) host(grid(SORT_CHUNKS))
#pragma cf instances(u32: 4; u64: 8)
template <int KEY>
__global__ void __launch_bounds__(256) sort_count(const void *keys, uint64_t *counters, uint64_t *counts,
                                                  int64_t *begins, int64_t n, uint64_t flip, bool is_float)
{
    typedef typename sort_bits<KEY>::type U;
    const sort_order<U> order = {(U)flip, is_float};
#ifdef __CUDA_ARCH__
    sort_count_grid<U, 256, 16, 4>(static_cast<const U *>(keys), n, order,
                                   reinterpret_cast<unsigned long long *>(counts),
                                   reinterpret_cast<unsigned int *>(counters), begins);
#else
    sort_count_next(static_cast<const U *>(keys), n, order, counts, counters, counters + 1, begins);
#endif
}

/* Moves keys, with values, to where begins says of the digit at `shift`, and sets next_begins to where more of them would
 * go. All bytes of words are 0 at first, and those of next_words in the end. Values that are NULL are indices from
 * `index` on; sorted may be NULL. */
#pragma cf kernel blocks(SORT_PASS_BLOCKS) block(SORT_THREADS) host(grid(SORT_CHUNKS))
#pragma cf instances(u32: 4, 0; u64: 8, 0; u32_b32: 4, 4; u32_b64: 4, 8; u64_b32: 8, 4; u64_b64: 8, 8)
template <int KEY, int VALUE>
__global__ void __launch_bounds__(384, KEY == 4 && VALUE == 0 ? 3 : 2)
    sort_pass(const void *keys, void *sorted, const void *values, void *moved, const int64_t *begins,
              int64_t *next_begins, void *words, void *next_words, int64_t n, int64_t index, int shift, uint64_t flip,
              bool is_float)
{
    typedef typename sort_bits<KEY>::type U;
    typedef typename sort_bits<VALUE>::type V;
    const sort_order<U> order = {(U)flip, is_float};
#ifdef __CUDA_ARCH__
    sort_pass_grid<U, V, SORT_THREADS, SORT_ITEMS(KEY, VALUE), 4>(
        static_cast<const U *>(keys), static_cast<U *>(sorted), static_cast<const V *>(values), static_cast<V *>(moved),
        begins, next_begins, static_cast<uint32_t *>(words), static_cast<uint32_t *>(next_words), n, shift, order, index);
#else
    sort_pass_next(static_cast<const U *>(keys), static_cast<U *>(sorted), static_cast<const V *>(values),
                   static_cast<V *>(moved), begins, next_begins, words, next_words, n, shift, order, index);
#endif
}

/* All at once, of up to SORT_SMALL keys, with values of value_size bytes, 0 for none; as sort_pass in all else. */
#pragma cf kernel blocks(n > 0) block(SORT_SMALL_THREADS) host(grid(n > 0)) check(n <= SORT_SMALL)
#pragma cf instances(u32: 4; u64: 8)
template <int KEY>
__global__ void __launch_bounds__(512) sort_small(const void *keys, void *sorted, const void *values, void *moved,
                                                  int value_size, int64_t n, uint64_t flip, bool is_float)
{
    typedef typename sort_bits<KEY>::type U;
    const sort_order<U> order = {(U)flip, is_float};
#ifdef __CUDA_ARCH__
    sort_small_grid<U, SORT_SMALL_THREADS, SORT_SMALL / SORT_SMALL_THREADS>(
        static_cast<const U *>(keys), static_cast<U *>(sorted), values, moved, value_size, (int)n, order);
#else
    sort_small_next(static_cast<const U *>(keys), static_cast<U *>(sorted), values, moved, value_size, (int)n, order);
#endif
}
