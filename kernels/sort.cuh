/* sort.cuh - the steps of a radix sort, least significant digit first: one launch counts the digits of all passes, and
 * one launch for each pass of 8 bits moves every key, with its value, to its position
 *
 * This is the "one sweep" of Adinolfi and Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs"
 * (2022): a pass reads and writes each key once, and a tile learns the number of earlier keys of each digit by
 * decoupled look-back over earlier tiles, which publish their counts before they move anything.
 *
 * Keys are moved as they are. Their order is that of codes, unsigned numbers of the same size. The code of an integer
 * is its bits, of which those in `flip` are inverted, for the sign and for descending order; for floats see
 * sort_ordered(). Thus all types of the same size, and both orders, have the same machine code. */
#ifndef KERNELS_SORT_CUH
#define KERNELS_SORT_CUH

#include <stdint.h>
#include <string.h>

#ifdef __CUDA_ARCH__
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_scan.cuh>
#endif

#include "share.cuh"
#include "sort.h"

/* Type of `size` bytes by which keys and values are moved. */
struct sort_nothing {
};
template <int size> struct sort_bits;
template <> struct sort_bits<0> {
    typedef sort_nothing type;
};
template <> struct sort_bits<4> {
    typedef uint32_t type;
};
template <> struct sort_bits<8> {
    typedef uint64_t type;
};

/* Returns a float's bits as an unsigned number with the same order: -0 becomes 0, and every NaN the largest number. On
 * a GPU, a sum that is NaN has the sign bit 0 and all other bits 1. */
template <typename U> __device__ __forceinline__ U sort_ordered(U bits)
{
    constexpr U sign = (U)1 << (8 * sizeof(U) - 1), infinity = sizeof(U) == 4 ? 0x7f800000 : (U)0x7ff0000000000000;
#ifdef __CUDA_ARCH__
    if constexpr (sizeof(U) == 4) {
        asm("add.rn.f32 %0, %0, 0f00000000;" : "+r"(bits));
        return bits ^ ((U)((int32_t)bits >> 31) | sign);
    }
#endif
    if ((U)(bits & ~sign) > infinity)
        return ~(U)0;
    return bits < sign ? bits | sign : bits == sign ? sign : ~bits;
}

/* True if only one key has this code, so that sort_unordered() restores the key. */
template <typename U> __device__ __forceinline__ bool sort_is_unique(U code)
{
    return code != ~(U)0 && code != (U)1 << (8 * sizeof(U) - 1);
}

template <typename U> __device__ __forceinline__ U sort_unordered(U code)
{
    constexpr U sign = (U)1 << (8 * sizeof(U) - 1);
    return code & sign ? code ^ sign : ~code;
}

/* Computes the codes of keys. */
template <typename U> struct sort_order {
    U flip;
    bool is_float;

    __device__ __forceinline__ U code(U key) const
    {
        return (is_float ? sort_ordered(key) : key) ^ flip;
    }
};

#ifdef __CUDA_ARCH__

/* ---- On a GPU: counting ---- */

/* Counts digits. A block counts in 32 bits, and adds to counts of 64 bits at its end. It has fewer than 2^32 keys,
 * since no GPU has memory for so many in each block. */
template <typename U, int threads, int items>
__device__ __forceinline__ void sort_count_grid(const U *keys, int64_t n, sort_order<U> order,
                                                unsigned long long *counts, unsigned int *done, int64_t *begins)
{
    constexpr int passes = sizeof(U), tile = threads * items;
    typedef cub::BlockScan<unsigned long long, threads, cub::BLOCK_SCAN_WARP_SCANS> block_scan;
    __shared__ union {
        unsigned int counts[passes][SORT_DIGITS];
        typename block_scan::TempStorage scan;
    } memory;
    __shared__ bool is_last;
    static_assert(threads == SORT_DIGITS, "a thread for a digit");
    unsigned int *const own = &memory.counts[0][0];
    for (int i = threadIdx.x; i < passes * SORT_DIGITS; i += threads)
        own[i] = 0;
    __syncthreads();

    const int64_t step = (int64_t)gridDim.x * tile;
    for (int64_t begin = (int64_t)blockIdx.x * tile; begin < n; begin += step) {
        const int size = n - begin < tile ? (int)(n - begin) : tile;
        U codes[items];
#pragma unroll
        for (int i = 0; i < items; i++)
            codes[i] = (int)threadIdx.x + i * threads < size ? keys[begin + threadIdx.x + i * threads] : 0;
        if (order.is_float)
#pragma unroll
            for (int i = 0; i < items; i++)
                codes[i] = sort_ordered(codes[i]);
#pragma unroll
        for (int i = 0; i < items; i++)
            codes[i] ^= order.flip;
#pragma unroll
        for (int i = 0; i < items; i++)
            if ((int)threadIdx.x + i * threads < size)
#pragma unroll
                for (int pass = 0; pass < passes; pass++)
                    atomicAdd(&memory.counts[pass][codes[i] >> 8 * pass & 255], 1);
    }
    __syncthreads();
#pragma unroll
    for (int pass = 0; pass < passes; pass++) {
        const unsigned int sum = memory.counts[pass][threadIdx.x];
        if (sum)
            atomicAdd(counts + pass * SORT_DIGITS + threadIdx.x, (unsigned long long)sum);
    }

    /* The last block finds the first position of each digit in each pass. */
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicAdd(done, 1) == gridDim.x - 1;
    __syncthreads();
    if (!is_last)
        return;
    __threadfence();
#pragma unroll 1
    for (int pass = 0; pass < passes; pass++) {
        const int digit = pass * SORT_DIGITS + threadIdx.x;
        unsigned long long begin;
        block_scan(memory.scan).ExclusiveSum(__ldcg(counts + digit), begin);
        begins[digit] = (int64_t)begin;
        __syncthreads();
    }
}

/* ---- On a GPU: a pass ----
 *
 * There is a word for each tile and digit. It is 0 at first, then the number of the tile's keys with the digit (with
 * SORT_OWN), and in the end the number of such keys up to the tile's end (with SORT_ALL). Blocks start in the order of
 * their numbers, as in scan.cuh. Launches use two sets of words in turn, and each clears the set of the next. */
#define SORT_OWN (1u << 30)
#define SORT_ALL (1u << 31)

/* Returns the number of keys with a digit before a tile; `words` points to the word of the tile and the digit. */
template <int together> __device__ __forceinline__ uint32_t sort_before(const uint32_t *words, int tile)
{
    uint32_t before = 0;
    for (;;) {
        uint32_t word[together];
#pragma unroll
        for (int k = 0; k < together; k++)
            word[k] = tile - 1 - k >= 0 ? share_load_word(words - (int64_t)(k + 1) * SORT_DIGITS) : SORT_ALL;
#pragma unroll
        for (int k = 0; k < together; k++) {
            while (!word[k])
                word[k] = share_load_word(words - (int64_t)(k + 1) * SORT_DIGITS);
            before += word[k] & (SORT_OWN - 1);
            if (word[k] & SORT_ALL)
                return before;
        }
        tile -= together;
        words -= together * SORT_DIGITS;
    }
}

template <typename U> struct sort_digit {
    int shift;
    uint32_t flip; /* bits of the digit that are inverted */
    __device__ __forceinline__ uint32_t Digit(U code) const
    {
        return ((uint32_t)(code >> shift) ^ flip) & (SORT_DIGITS - 1);
    }
};

/* Makes the compiler compute digits from codes again, so that it does not keep them in registers, which are scarce. */
__device__ __forceinline__ void sort_forget(uint32_t &code)
{
    asm volatile("" : "+r"(code));
}

__device__ __forceinline__ void sort_forget(uint64_t &code)
{
    asm volatile("" : "+l"(code));
}

/* Publishes the number of a tile's keys with a digit as soon as it is known. */
template <typename U, int items> struct sort_publish {
    U (&codes)[items];
    uint32_t *words;
    int tile;
    int &own;
    __device__ __forceinline__ void operator()(int (&counts)[1]) const
    {
        own = counts[0];
        if (threadIdx.x < SORT_DIGITS)
            share_store_word(words, (tile ? SORT_OWN : SORT_ALL) | (uint32_t)own);
#pragma unroll
        for (int i = 0; i < items; i++)
            sort_forget(codes[i]);
    }
};

/* Digits of keys, four in each register. */
template <int items> struct sort_packed {
    uint32_t at[(items + 3) / 4];

    __device__ __forceinline__ void set(int i, uint32_t digit)
    {
        uint32_t &word = at[i / 4];
        word = i % 4 ? word | digit << i % 4 * 8 : digit;
    }
    __device__ __forceinline__ uint32_t get(int i) const
    {
        return at[i / 4] >> i % 4 * 8 & (SORT_DIGITS - 1);
    }
};

/* Copies keys and values in order, for a pass in which all keys have the same digit. */
template <typename U, typename V, int threads>
__device__ __forceinline__ void sort_copy_grid(const U *__restrict__ keys, U *__restrict__ sorted,
                                               const V *__restrict__ values, V *__restrict__ moved,
                                               const int64_t *__restrict__ begins, int64_t *next_begins, uint32_t digit,
                                               int64_t begin, int size, int64_t n, int64_t index)
{
    const int64_t to = begins[digit] + begin;
    if (sorted)
#pragma unroll 8
        for (int i = threadIdx.x; i < size; i += threads)
            sorted[to + i] = keys[i];
    if constexpr (sizeof(V) > 1) {
#pragma unroll 8
        for (int i = threadIdx.x; i < size; i += threads)
            moved[to + i] = values ? values[i] : (V)(index + i);
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x < SORT_DIGITS)
        next_begins[threadIdx.x] = begins[threadIdx.x] + (threadIdx.x == digit ? n : 0);
}

template <typename U, typename V, int threads, int items, int together>
__device__ __forceinline__ void sort_pass_grid(const U *__restrict__ keys, U *__restrict__ sorted,
                                               const V *__restrict__ values, V *__restrict__ moved,
                                               const int64_t *__restrict__ begins, int64_t *next_begins,
                                               uint32_t *words, uint32_t *next_words, int64_t n, int64_t next_tiles,
                                               int64_t total, int shift, sort_order<U> order, int64_t index)
{
    constexpr int all = threads * items;
    constexpr bool has_values = sizeof(V) > 1;
    static_assert(threads >= SORT_DIGITS, "a thread for a digit");
    typedef cub::BlockRadixRankMatchEarlyCounts<threads, 8, false, cub::BLOCK_SCAN_WARP_SCANS> block_rank;
    __shared__ union {
        typename block_rank::TempStorage rank;
        U keys[all];
        V values[has_values ? all : 1];
    } memory;
    __shared__ int64_t to[SORT_DIGITS];
    const int tile = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t begin = (int64_t)tile * all;
    const int size = n - begin < all ? (int)(n - begin) : all, first = warp * items * 32 + lane;
    const sort_digit<U> digit_of = {shift, (uint32_t)(order.flip >> shift)};
    const bool is_digit = threadIdx.x < SORT_DIGITS;
    words += (int64_t)tile * SORT_DIGITS + threadIdx.x;
    if (is_digit)
        for (int64_t i = tile; i < next_tiles; i += gridDim.x)
            next_words[i * SORT_DIGITS + threadIdx.x] = 0;
    keys += begin;
    index += begin;
    if (has_values && values)
        values += begin;

    /* Positions past the last key get the last digit, and sort after all keys that have it. */
    const int64_t digit_begin = is_digit ? begins[threadIdx.x] : 0;
    U own[items];
    if (size == all)
#pragma unroll
        for (int i = 0; i < items; i++)
            own[i] = keys[first + 32 * i];
    else
#pragma unroll
        for (int i = 0; i < items; i++)
            own[i] = first + 32 * i < size ? keys[first + 32 * i] : (U)~order.flip;
    const uint32_t some = digit_of.Digit(order.is_float ? sort_ordered(keys[0]) : keys[0]);
    if ((some < SORT_DIGITS - 1 ? begins[some + 1] : total) - begins[some] == total) {
        sort_copy_grid<U, V, threads>(keys, sorted, values, moved, begins, next_begins, some, begin, size, n, index);
        return;
    }
    if (order.is_float)
#pragma unroll
        for (int i = 0; i < items; i++)
            own[i] = first + 32 * i < size ? sort_ordered(own[i]) : own[i];

    int ranks[items], digit_front[1], count = 0;
    block_rank(memory.rank)
        .RankKeys(own, ranks, digit_of, digit_front, sort_publish<U, items>{own, words, tile, count});
    if (order.is_float)
#pragma unroll
        for (int i = 0; i < items; i++) {
            if (sort_is_unique(own[i]))
                own[i] = sort_unordered(own[i]);
            else if (first + 32 * i < size)
                own[i] = keys[first + 32 * i];
        }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < items; i++)
        memory.keys[ranks[i]] = own[i];

    if (is_digit) {
        const uint32_t before = tile ? sort_before<together>(words, tile) : 0;
        if (tile)
            share_store_word(words, SORT_ALL | (before + (uint32_t)count));
        to[threadIdx.x] = digit_begin + before - digit_front[0];
        if (tile == (int)gridDim.x - 1)
            next_begins[threadIdx.x] = digit_begin + before + count;
    }
    __syncthreads();

    sort_packed<items> digits;
#pragma unroll
    for (int i = 0; i < items; i++) {
        const int at = threadIdx.x + i * threads;
        const U key = memory.keys[at];
        const uint32_t digit = digit_of.Digit(order.is_float ? sort_ordered(key) : key);
        if (has_values)
            digits.set(i, digit);
        if (at < size && sorted)
            sorted[to[digit] + at] = key;
        __syncwarp(); /* keeps the compiler from computing all addresses first, which takes registers */
    }
    if constexpr (has_values) {
        V with[items];
#pragma unroll
        for (int i = 0; i < items; i++)
            if (!values)
                with[i] = (V)(index + first + 32 * i);
            else
                with[i] = first + 32 * i < size ? values[first + 32 * i] : V();
        __syncthreads();
#pragma unroll
        for (int i = 0; i < items; i++)
            memory.values[ranks[i]] = with[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < items; i++) {
            const int at = threadIdx.x + i * threads;
            if (at < size)
                moved[to[digits.get(i)] + at] = memory.values[at];
            __syncwarp();
        }
    }
}

/* ---- On a GPU: few keys ----
 *
 * One block has all keys, and keeps them from pass to pass. Values are moved at the end, by the keys' indices. */
template <typename U, int threads, int items>
__device__ __forceinline__ void sort_small_grid(const U *keys, U *sorted, const void *values, void *moved,
                                                int value_size, int n, sort_order<U> order)
{
    constexpr int all = threads * items;
    typedef cub::BlockRadixRankMatchEarlyCounts<threads, 8, false, cub::BLOCK_SCAN_WARP_SCANS> block_rank;
    __shared__ union {
        typename block_rank::TempStorage rank;
        U keys[all];
    } memory;
    __shared__ uint16_t indices[all];
    const int first = threadIdx.x / 32 * items * 32 + threadIdx.x % 32;
    U own[items];
    uint16_t index[items];
#pragma unroll
    for (int i = 0; i < items; i++) {
        own[i] = first + 32 * i < n ? keys[first + 32 * i] : 0;
        index[i] = (uint16_t)(first + 32 * i);
    }
#pragma unroll 1
    for (int shift = 0; shift < 8 * (int)sizeof(U); shift += 8) {
        U codes[items];
        int ranks[items];
#pragma unroll
        for (int i = 0; i < items; i++)
            codes[i] = first + 32 * i < n ? order.code(own[i]) : ~(U)0;
        block_rank(memory.rank).RankKeys(codes, ranks, sort_digit<U>{shift, 0});
        __syncthreads();
#pragma unroll
        for (int i = 0; i < items; i++) {
            memory.keys[ranks[i]] = own[i];
            if (value_size)
                indices[ranks[i]] = index[i];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < items; i++) {
            own[i] = memory.keys[first + 32 * i];
            if (value_size)
                index[i] = indices[first + 32 * i];
        }
        __syncthreads();
    }

    uint64_t with[items];
#pragma unroll
    for (int i = 0; i < items; i++) {
        with[i] = index[i];
        if (first + 32 * i < n && values)
            with[i] = value_size == 4 ? static_cast<const uint32_t *>(values)[index[i]]
                                      : static_cast<const uint64_t *>(values)[index[i]];
    }
    __syncthreads(); /* all values are read; `moved` may be the same array */
#pragma unroll
    for (int i = 0; i < items; i++) {
        const int at = first + 32 * i;
        if (at < n && sorted)
            sorted[at] = own[i];
        if (at < n && value_size == 4)
            static_cast<uint32_t *>(moved)[at] = (uint32_t)with[i];
        else if (at < n && value_size == 8)
            static_cast<uint64_t *>(moved)[at] = with[i];
    }
}

#else

/* ---- On the CPU: a thread for each chunk, with the same passes ----
 *
 * Threads take the chunks in order, and take turns to find the positions of a chunk's keys, as in select.cuh. */

/* Returns a key's code without a branch for the sign, which would be mispredicted half the time. */
template <typename U, bool is_float> __device__ __forceinline__ U sort_code(U key, U flip)
{
    if constexpr (is_float) {
        constexpr U sign = (U)1 << (8 * sizeof(U) - 1), infinity = sizeof(U) == 4 ? 0x7f800000 : (U)0x7ff0000000000000;
        const U bits = key == sign ? 0 : key, code = bits ^ ((U)(0 - (bits >> (8 * sizeof(U) - 1))) | sign);
        key = (U)(bits & ~sign) > infinity ? ~(U)0 : code;
    }
    return key ^ flip;
}

template <typename U, bool is_float>
__device__ __forceinline__ void sort_count_digits(const U *keys, int size, U flip, uint32_t (*counts)[SORT_DIGITS])
{
    for (int i = 0; i < size; i++) {
        const U code = sort_code<U, is_float>(keys[i], flip);
        for (int pass = 0; pass < (int)sizeof(U); pass++)
            counts[pass][code >> 8 * pass & 255]++;
    }
}

/* Counts the digits of a chunk. The thread that finishes last finds the first position of each digit in each pass. */
template <typename U>
__device__ __forceinline__ void sort_count_next(const U *keys, int64_t n, sort_order<U> order, uint64_t *counts,
                                                uint64_t *begun, uint64_t *done, int64_t *begins)
{
    const int64_t chunk = (int64_t)__atomic_fetch_add(begun, 1, __ATOMIC_RELAXED), begin = chunk * SORT_CHUNK;
    const int size = n - begin < SORT_CHUNK ? (int)(n - begin) : SORT_CHUNK;
    uint32_t own[sizeof(U)][SORT_DIGITS] = {};
    if (order.is_float)
        sort_count_digits<U, true>(keys + begin, size, order.flip, own);
    else
        sort_count_digits<U, false>(keys + begin, size, order.flip, own);
    for (int pass = 0; pass < (int)sizeof(U); pass++)
        for (int digit = 0; digit < SORT_DIGITS; digit++)
            if (own[pass][digit])
                __atomic_fetch_add(counts + pass * SORT_DIGITS + digit, own[pass][digit], __ATOMIC_RELAXED);
    if ((int64_t)__atomic_add_fetch(done, 1, __ATOMIC_ACQ_REL) != n / SORT_CHUNK + (n % SORT_CHUNK > 0))
        return;
    for (int pass = 0; pass < (int)sizeof(U); pass++) {
        int64_t sum = 0;
        for (int digit = pass * SORT_DIGITS; digit < (pass + 1) * SORT_DIGITS; digit++) {
            begins[digit] = sum;
            sum += (int64_t)counts[digit];
        }
    }
}

/* State of a pass; all bytes are 0 before the first chunk. */
struct sort_state {
    uint64_t begun; /* number of chunks taken; atomic */
    uint64_t turn;  /* the chunk whose turn it is; atomic */
};

/* Sets `to` to the positions of a chunk's keys for each digit, and `next` to those of the next chunk. */
__device__ __forceinline__ void sort_turn(sort_state *state, int64_t chunk, const int64_t *begins, int64_t *next,
                                          const uint32_t *own, int64_t *to)
{
    share_await(&state->turn, (uint64_t)chunk);
    memcpy(to, chunk ? next : begins, SORT_DIGITS * sizeof *to);
    for (int digit = 0; digit < SORT_DIGITS; digit++)
        next[digit] = to[digit] + own[digit];
    __atomic_store_n(&state->turn, (uint64_t)chunk + 1, __ATOMIC_RELEASE);
}

/* A chunk of keys to move. If values is NULL, the values are indices from `index` on. */
template <typename U, typename V, bool is_float> struct sort_chunk {
    const U *keys;
    U *sorted;
    const V *values;
    V *moved;
    int64_t index;
    int size, shift;
    U flip;

    __device__ __forceinline__ int digit(int i) const
    {
        return (int)(sort_code<U, is_float>(keys[i], flip) >> shift & (SORT_DIGITS - 1));
    }
    __device__ __forceinline__ void count(uint32_t *own) const
    {
        for (int i = 0; i < size; i++)
            own[digit(i)]++;
    }
    __device__ __forceinline__ void move(int64_t *to) const
    {
        for (int i = 0; i < size; i++) {
            const int64_t at = to[digit(i)]++;
            if (sorted)
                sorted[at] = keys[i];
            if constexpr (sizeof(V) > 1)
                moved[at] = values ? values[i] : (V)(index + i);
        }
    }
};

template <typename U, typename V, bool is_float>
__device__ __forceinline__ void sort_one_chunk(const sort_chunk<U, V, is_float> &part, sort_state *state, int64_t chunk,
                                               const int64_t *begins, int64_t *next_begins)
{
    uint32_t own[SORT_DIGITS] = {};
    int64_t to[SORT_DIGITS];
    part.count(own);
    sort_turn(state, chunk, begins, next_begins, own, to);
    part.move(to);
}

template <typename U, typename V>
__device__ __forceinline__ void sort_pass_next(const U *keys, U *sorted, const V *values, V *moved,
                                               const int64_t *begins, int64_t *next_begins, void *work, void *next_work,
                                               int64_t n, int shift, sort_order<U> order, int64_t index)
{
    sort_state *const state = static_cast<sort_state *>(work);
    const int64_t chunk = (int64_t)__atomic_fetch_add(&state->begun, 1, __ATOMIC_RELAXED), begin = chunk * SORT_CHUNK;
    const int size = n - begin < SORT_CHUNK ? (int)(n - begin) : SORT_CHUNK;
    const V *of_chunk = values;
    if constexpr (sizeof(V) > 1)
        of_chunk = values ? values + begin : values;
    if (chunk == 0)
        memset(next_work, 0, sizeof(sort_state));
    if (order.is_float)
        sort_one_chunk<U, V, true>({keys + begin, sorted, of_chunk, moved, index + begin, size, shift, order.flip},
                                   state, chunk, begins, next_begins);
    else
        sort_one_chunk<U, V, false>({keys + begin, sorted, of_chunk, moved, index + begin, size, shift, order.flip},
                                    state, chunk, begins, next_begins);
}

/* ---- On the CPU: few keys ----
 *
 * One thread sorts in its own stack, which may be small, on some systems 128 KiB by default. Therefore it sorts indices
 * of two bytes, and then moves keys and values by these. */

/* Memory for sorting few keys. Elements of 8 bytes need half of it, since they are moved four bytes at a time. */
union sort_memory {
    struct {
        uint16_t other[SORT_SMALL];
        uint16_t counts[8][SORT_DIGITS];
    } sort;
    uint32_t moved[SORT_SMALL];
};

/* Sorts very few keys by insertion. */
template <typename U>
__device__ __forceinline__ void sort_insert(const U *keys, uint16_t *indices, int n, sort_order<U> order)
{
    U codes[SORT_FEW];
    for (int i = 0; i < n; i++) {
        const U code = order.code(keys[i]);
        int at = i;
        for (; at > 0 && codes[at - 1] > code; at--) {
            codes[at] = codes[at - 1];
            indices[at] = indices[at - 1];
        }
        codes[at] = code;
        indices[at] = (uint16_t)i;
    }
}

/* Sorts by the same digits as passes over many keys, leaving out digits that all keys share. */
template <typename U, bool is_float>
__device__ __forceinline__ void sort_indices(const U *keys, uint16_t *indices, sort_memory *memory, int n, U flip)
{
    constexpr int passes = sizeof(U);
    uint16_t(*const counts)[SORT_DIGITS] = memory->sort.counts;
    uint16_t *from = indices, *into = memory->sort.other;
    memset(counts, 0, passes * sizeof *counts);
    for (int i = 0; i < n; i++) {
        const U code = sort_code<U, is_float>(keys[i], flip);
        for (int pass = 0; pass < passes; pass++)
            counts[pass][code >> 8 * pass & (SORT_DIGITS - 1)]++;
    }
    const U any = sort_code<U, is_float>(keys[0], flip);
    bool is_first = true;
    for (int pass = 0; pass < passes; pass++) {
        uint16_t *const to = counts[pass];
        const int shift = 8 * pass;
        if (to[any >> shift & (SORT_DIGITS - 1)] == n)
            continue;
        int sum = 0;
        for (int digit = 0; digit < SORT_DIGITS; digit++) {
            const int count = to[digit];
            to[digit] = (uint16_t)sum;
            sum += count;
        }
        if (is_first)
            for (int i = 0; i < n; i++)
                into[to[sort_code<U, is_float>(keys[i], flip) >> shift & (SORT_DIGITS - 1)]++] = (uint16_t)i;
        else
            for (int i = 0; i < n; i++) {
                const uint16_t index = from[i];
                into[to[sort_code<U, is_float>(keys[index], flip) >> shift & (SORT_DIGITS - 1)]++] = index;
            }
        is_first = false;
        uint16_t *const other = from;
        from = into;
        into = other;
    }
    if (is_first)
        for (int i = 0; i < n; i++)
            indices[i] = (uint16_t)i;
    else if (from != indices)
        memcpy(indices, from, (size_t)n * sizeof *from);
}

/* Moves elements by their indices: to another array directly, within the same array by way of `memory`. */
template <typename T>
__device__ __forceinline__ void sort_pick(const T *elements, T *picked, const uint16_t *indices, sort_memory *memory,
                                          int n)
{
    if (!elements) {
        for (int i = 0; i < n; i++)
            picked[i] = (T)indices[i];
    } else if (elements != picked) {
        for (int i = 0; i < n; i++)
            picked[i] = elements[indices[i]];
    } else {
        for (int shift = 0; shift < 8 * (int)sizeof(T); shift += 32) {
            const T others = sizeof(T) == 4 ? 0 : ~((T)UINT32_MAX << shift);
            for (int i = 0; i < n; i++)
                memory->moved[i] = (uint32_t)(elements[indices[i]] >> shift);
            for (int i = 0; i < n; i++)
                picked[i] = (picked[i] & others) | (T)memory->moved[i] << shift;
        }
    }
}

template <typename U>
__device__ __forceinline__ void sort_small_next(const U *keys, U *sorted, const void *values, void *moved,
                                                int value_size, int n, sort_order<U> order)
{
    uint16_t indices[SORT_SMALL];
    sort_memory memory;
    if (n <= SORT_FEW)
        sort_insert(keys, indices, n, order);
    else if (order.is_float)
        sort_indices<U, true>(keys, indices, &memory, n, order.flip);
    else
        sort_indices<U, false>(keys, indices, &memory, n, order.flip);
    if (value_size == 4)
        sort_pick(static_cast<const uint32_t *>(values), static_cast<uint32_t *>(moved), indices, &memory, n);
    else if (value_size == 8)
        sort_pick(static_cast<const uint64_t *>(values), static_cast<uint64_t *>(moved), indices, &memory, n);
    if (sorted)
        sort_pick(keys, sorted, indices, &memory, n);
}

#endif
#endif
