/* sort - arrays in ascending or descending order, alone, with values, or as the indices that sort them. sort.c
 * enqueues the kernels at the end of this file. */
#include <stdint.h>

#include "sort.cuh"

/* Number of bytes moved: each pass reads and writes all keys and values, and the count before the passes reads the
 * keys. */
#define SORT_BYTES(key, value) (n * (key) * (1.0 + 2.0 * ((key) + (value))))
#define SORT_OTHER (n > SORT_SMALL ? n : 0)
#define SORT_WORDS(key, value) (SORT_DIGITS / 2 * (min(n, SORT_MOST) / SORT_TILE(key, value) + 1))
#define SORT_ZERO(key, value) (n > SORT_SMALL ? SORT_COUNTERS + SORT_DIGITS * (key) + SORT_WORDS(key, value) : 0)
#define SORT_WORK(key, value) \
    (n > SORT_SMALL ? SORT_COUNTERS + SORT_DIGITS * (2 * (key) + 2) + 2 * SORT_WORDS(key, value) : 0)

/* Sets `sorted` to the n keys in ascending order, or in descending order if `descending` is true. Equal keys keep
 * their order, which shows only in zeros and NaNs: -0 and 0 are equal, and so are NaNs, which are larger than all
 * numbers. NaNs come last in ascending order, as in NumPy, and first in descending order. sorted may be keys;
 * otherwise they must not overlap. Takes scratch memory for n keys, a tenth of that, and about 40 KiB. */
#pragma cf operation in(keys[n]) out(sorted[n]) inplace(keys, sorted) scratch(other[SORT_OTHER]) \
    scratch(work[SORT_WORK(sizeof(K), 0)]) zero(work[SORT_ZERO(sizeof(K), 0)]) \
    uses(sort_small, sort_count, sort_pass) bytes(SORT_BYTES(sizeof(K), 0)) flops(0)
#pragma cf instances(u32: uint32_t; i32: int32_t; f32: float; u64: uint64_t; i64: int64_t; f64: double)
template <typename K>
void sort_keys(const K *keys, K *sorted, K *other, uint64_t *work, int64_t n, bool descending);

/* Sorts n keys, and sets sorted_values to the values in the order of their keys; values of equal keys keep their
 * order. sorted_values may be values, as sorted_keys may be keys; otherwise like sort_keys. */
#pragma cf operation in(keys[n], values[n]) out(sorted_keys[n], sorted_values[n]) \
    inplace(keys, sorted_keys; values, sorted_values) scratch(other_keys[SORT_OTHER], other_values[SORT_OTHER]) \
    scratch(work[SORT_WORK(sizeof(K), sizeof(V))]) zero(work[SORT_ZERO(sizeof(K), sizeof(V))]) \
    uses(sort_small, sort_count, sort_pass) bytes(SORT_BYTES(sizeof(K), sizeof(V))) flops(0)
#pragma cf instances(u32_i32: uint32_t, int32_t; i32_i32: int32_t, int32_t; f32_i32: float, int32_t; \
    u64_i32: uint64_t, int32_t; i64_i32: int64_t, int32_t; f64_i32: double, int32_t; \
    u32_i64: uint32_t, int64_t; i32_i64: int32_t, int64_t; f32_i64: float, int64_t; \
    u64_i64: uint64_t, int64_t; i64_i64: int64_t, int64_t; f64_i64: double, int64_t)
template <typename K, typename V>
void sort_pairs(const K *keys, const V *values, K *sorted_keys, V *sorted_values, K *other_keys, V *other_values,
                uint64_t *work, int64_t n, bool descending);

/* Sets index to the indices, from 0 on, that sort the n keys: keys[index[0]] is the first in that order, and of
 * equal keys the lower index comes first. Otherwise like sort_keys; indices of int32_t suffice for 2^31 keys. Takes
 * scratch memory for twice the keys, and for the indices. */
#pragma cf operation in(keys[n]) out(index[n]) scratch(one[SORT_OTHER], two[SORT_OTHER], other[SORT_OTHER]) \
    scratch(work[SORT_WORK(sizeof(K), sizeof(I))]) zero(work[SORT_ZERO(sizeof(K), sizeof(I))]) \
    check(sizeof(I) > 4 || n <= 2147483648) uses(sort_small, sort_count, sort_pass) \
    bytes(SORT_BYTES(sizeof(K), sizeof(I))) flops(0)
#pragma cf instances(u32_i32: uint32_t, int32_t; i32_i32: int32_t, int32_t; f32_i32: float, int32_t; \
    u64_i32: uint64_t, int32_t; i64_i32: int64_t, int32_t; f64_i32: double, int32_t; \
    u32_i64: uint32_t, int64_t; i32_i64: int32_t, int64_t; f32_i64: float, int64_t; \
    u64_i64: uint64_t, int64_t; i64_i64: int64_t, int64_t; f64_i64: double, int64_t)
template <typename K, typename I>
void argsort(const K *__restrict__ keys, I *__restrict__ index, K *one, K *two, I *other, uint64_t *work, int64_t n,
             bool descending);

/* ---- The launches ---- */

#define SORT_CHUNKS (n / SORT_CHUNK + (n % SORT_CHUNK > 0))
#define SORT_COUNTING min(n / 4096 + (n % 4096 > 0), 1056)
#define SORT_PASSING (n / SORT_TILE(KEY, VALUE) + (n % SORT_TILE(KEY, VALUE) > 0))

/* Adds the number of keys with each digit in each pass to counts, and sets begins to the first position of each
 * digit. counters are 0 at first. */
#pragma cf kernel internal blocks(SORT_COUNTING) block(SORT_DIGITS) host(grid(SORT_CHUNKS)) \
    resident(keys, counters, counts, begins)
#pragma cf instances(u32: 4; u64: 8)
template <int KEY>
__global__ void __launch_bounds__(256) sort_count(const void *keys, uint64_t *counters, uint64_t *counts,
                                                  int64_t *begins, int64_t n, uint64_t flip, bool is_float)
{
    typedef typename sort_bits<KEY>::type U;
    const sort_order<U> order = {(U)flip, is_float};
#ifdef __CUDA_ARCH__
    sort_count_grid<U, 256, 16>(static_cast<const U *>(keys), n, order,
                                reinterpret_cast<unsigned long long *>(counts),
                                reinterpret_cast<unsigned int *>(counters), begins);
#else
    sort_count_next(static_cast<const U *>(keys), n, order, counts, counters, counters + 1, begins);
#endif
}

/* Number of blocks of a pass that run on a multiprocessor at once. Registers just suffice for three blocks without
 * values; Turing can run two. */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
#define SORT_BLOCKS 2
#else
#define SORT_BLOCKS (VALUE == 0 ? 3 : 2)
#endif

/* Moves keys and their values by the digit at `shift` to the positions in `begins`. Sets next_begins to the positions
 * for the keys of a further launch, which may follow only if this launch has whole tiles; all launches together have
 * `total` keys. The bytes of words must be 0 at first; those of next_words, for next_tiles tiles, are set to 0. If
 * values is NULL, values are indices from `index` on; sorted may be NULL. */
#pragma cf kernel internal blocks(SORT_PASSING) block(SORT_THREADS) host(grid(SORT_CHUNKS)) \
    resident(keys, sorted, values, moved, begins, next_begins, words, next_words)
#pragma cf instances(u32: 4, 0; u64: 8, 0; u32_b32: 4, 4; u32_b64: 4, 8; u64_b32: 8, 4; u64_b64: 8, 8)
template <int KEY, int VALUE>
__global__ void __launch_bounds__(384, SORT_BLOCKS)
    sort_pass(const void *keys, void *sorted, const void *values, void *moved, const int64_t *begins,
              int64_t *next_begins, void *words, void *next_words, int64_t n, int64_t next_tiles, int64_t total,
              int64_t index, int shift, uint64_t flip, bool is_float)
{
    typedef typename sort_bits<KEY>::type U;
    typedef typename sort_bits<VALUE>::type V;
    const sort_order<U> order = {(U)flip, is_float};
#ifdef __CUDA_ARCH__
    sort_pass_grid<U, V, SORT_THREADS, SORT_ITEMS(KEY, VALUE), 4>(
        static_cast<const U *>(keys), static_cast<U *>(sorted), static_cast<const V *>(values), static_cast<V *>(moved),
        begins, next_begins, static_cast<uint32_t *>(words), static_cast<uint32_t *>(next_words), n, next_tiles, total,
        shift, order, index);
#else
    sort_pass_next(static_cast<const U *>(keys), static_cast<U *>(sorted), static_cast<const V *>(values),
                   static_cast<V *>(moved), begins, next_begins, words, next_words, n, shift, order, index);
#endif
}

/* Sorts few keys in one launch, with values of value_size bytes (0: without values); otherwise like sort_pass. */
#pragma cf kernel internal blocks(n > 0) block(THREADS) host(grid(n > 0)) check(n <= SORT_SMALL_KEYS(THREADS)) \
    resident(keys, sorted, values, moved)
#pragma cf instances(u32: 4, 512; u64: 8, 512; u32_few: 4, 256; u64_few: 8, 256)
template <int KEY, int THREADS>
__global__ void __launch_bounds__(THREADS) sort_small(const void *keys, void *sorted, const void *values, void *moved,
                                                      int value_size, int64_t n, uint64_t flip, bool is_float)
{
    typedef typename sort_bits<KEY>::type U;
    const sort_order<U> order = {(U)flip, is_float};
#ifdef __CUDA_ARCH__
    sort_small_grid<U, THREADS, SORT_SMALL_KEYS(THREADS) / THREADS>(
        static_cast<const U *>(keys), static_cast<U *>(sorted), values, moved, value_size, (int)n, order);
#else
    sort_small_next(static_cast<const U *>(keys), static_cast<U *>(sorted), values, moved, value_size, (int)n, order);
#endif
}
