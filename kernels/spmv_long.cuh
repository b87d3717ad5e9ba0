/* spmv_long.cuh - adds long rows of a sparse matrix: warps put the parts of long rows on a list, and other blocks add
 * the parts, later in the same launch or in the next */
#ifndef KERNELS_SPMV_LONG_CUH
#define KERNELS_SPMV_LONG_CUH

#include "share.cuh"
#include "spmv.cuh"
#include "spmv.h"

#ifdef __CUDA_ARCH__

/* ---- The list ---- */

/* A list of parts. Each part has a word, with its row and its number in the row, and a shared sum. The first word
 * counts parts. Blocks are counted by 32 counters, each in a cache line of its own, since accesses to the same line
 * would wait for one another. A counter's lower 32 bits count blocks that have put their long rows on the list, the
 * upper 32 bits blocks that have added their parts. The second word counts complete counters. All words are 0 while the
 * list is not used. */
template <typename T> struct spmv_list {
    unsigned long long *work;
    int32_t part, room; /* number of elements of a part, and largest number of parts */
    __device__ unsigned long long *blocks(unsigned int lane) const
    {
        return work + 2 + lane * SPMV_LINE;
    }
    __device__ unsigned long long *word(unsigned int place) const
    {
        return work + SPMV_COUNTS + place;
    }
    __device__ share_words<T> *sum(unsigned int place) const
    {
        return (share_words<T> *)(work + SPMV_COUNTS + room) + place;
    }
};

/* Number of lower bits of a part's word that hold the part's number in the row; the bits above hold the row. */
#define SPMV_ROW_BITS 13
#define SPMV_NO_PART (~0ull)

/* Returns the number of elements of a row's parts, which is larger if the row would have too many parts. */
__device__ __forceinline__ int64_t spmv_part_of(int64_t length, int32_t part)
{
    return length <= (int64_t)part * SPMV_PARTS_OF_A_ROW ? part : (length / SPMV_PARTS_OF_A_ROW / 32 + 1) * 32;
}

__device__ __forceinline__ unsigned int spmv_parts_of(int64_t length, int64_t part)
{
    return length >> 32 ? (unsigned int)(length / part) : (unsigned int)length / (unsigned int)part;
}

/* Returns the first element of part `number` of a row's `parts`; number = parts gives the row's end. Inner parts begin
 * at the start of a cache line. */
template <typename I>
__device__ __forceinline__ I spmv_begin_of(I first, I last, unsigned int number, unsigned int parts, int64_t length)
{
    return number == 0 ? first : number == parts ? last : (I)((first + number * length) & -32);
}

/* True if a row is long, among 32 rows with the elements `begin` to `end` - 1. If these rows together have many
 * elements, shorter rows count as long, too, because a warp would take too long for them. */
template <typename T, typename I>
__device__ __forceinline__ bool spmv_is_long(const spmv_list<T> &list, I first, I last, I begin, I end)
{
    return last - first >= (end - begin >= 2 * SPMV_LONG || list.part > SPMV_LONG ? list.part : SPMV_LONG);
}

/* ---- Leaving rows ---- */

/* Puts the parts of a row on the list, with all lanes of a warp. There is room for the parts of all rows. If row_ptr
 * does not ascend, there may be more parts, and those without room are dropped. */
template <typename T>
__device__ __forceinline__ void spmv_leave(const spmv_list<T> &list, int64_t row, int64_t elements)
{
    const unsigned int lane = threadIdx.x % 32, parts = spmv_parts_of(elements, spmv_part_of(elements, list.part));
    const unsigned long long room = (unsigned long long)list.room;
    unsigned long long base = 0;
    if (lane == 0)
        base = atomicAdd(list.work, (unsigned long long)parts);
    base = __shfl_sync(SPMV_WARP, base, 0);
#pragma unroll 1
    for (unsigned int part = lane; part < parts && base + part < room; part += 32)
        __stcg(list.word((unsigned int)base + part),
               base + parts <= room ? (unsigned long long)row << SPMV_ROW_BITS | part : SPMV_NO_PART);
}

/* Puts the long rows among a warp's 32 rows from `base` on the list. Returns true if there are any. */
template <typename T, typename I>
__device__ __forceinline__ bool spmv_leave_long(const spmv_list<T> &list, int64_t base, I first, I last, bool is_long)
{
    const unsigned int longs = __ballot_sync(SPMV_WARP, is_long);
    for (unsigned int left = longs; left; left &= left - 1) {
        const int owner = __ffs((int)left) - 1;
        spmv_leave(list, base + owner, __shfl_sync(SPMV_WARP, last - first, owner));
    }
    return longs != 0;
}

/* Puts the long rows of a block from `base` on the list, with the block's first warp, and counts the block, since
 * counting each warp would take longer. */
template <typename T, typename I>
__device__ __forceinline__ void spmv_leave_of_block(const spmv_list<T> &list, const I *__restrict__ row_ptr,
                                                    int64_t rows, int64_t base)
{
    constexpr int warps = SPMV_THREADS / 32;
    const int lane = (int)(threadIdx.x % 32);
    I bound[warps + 1];
#pragma unroll
    for (int w = 0; w <= warps; w++) {
        const int64_t row = base + 32 * w + (w < warps ? lane : 0);
        bound[w] = __ldg(row_ptr + (row < rows ? row : rows));
    }
    bool has_long = false;
#pragma unroll
    for (int w = 0; w < warps; w++) {
        const I begin = __shfl_sync(SPMV_WARP, bound[w], 0), end = __shfl_sync(SPMV_WARP, bound[w + 1], 0);
        const I first = bound[w], next = __shfl_down_sync(SPMV_WARP, first, 1), last = lane == 31 ? end : next;
        has_long |= spmv_leave_long(list, base + 32 * w, first, last, spmv_is_long(list, first, last, begin, end));
    }
    if (has_long) { /* the same in all lanes; parts become visible before the block is counted */
        __threadfence();
        __syncwarp();
    }
    if (lane == 0)
        atomicAdd(list.blocks(blockIdx.x % SPMV_LANES), 1ull);
}

/* ---- Their parts ---- */

/* Waits until the first `blocks` blocks of the launch have put their long rows on the list. These blocks are running or
 * have ended, because blocks start in the order of their numbers, as in scan.cuh. */
template <typename T>
__device__ __forceinline__ void spmv_wait_until_left(const spmv_list<T> &list, unsigned int blocks)
{
    static_assert(SPMV_LANES == 32, "");
    if (threadIdx.x < 32) {
        while (spmv_sum_of((unsigned int)share_load_word((uint64_t *)list.blocks(threadIdx.x))) != blocks)
            __nanosleep(100);
        __threadfence(); /* keeps reads after the wait */
    }
    __syncthreads();
}

/* A part of a row on the list. */
template <typename I> struct spmv_part {
    int64_t row;
    I begin, end;
    unsigned int number, parts; /* its number in the row and the row's number of parts; 0 parts: dropped */
};

template <typename T, typename I, typename J>
__device__ __forceinline__ spmv_part<I> spmv_read_part(const spmv_matrix<T, I, J> &a, const spmv_list<T> &list,
                                                       unsigned int place, unsigned int end)
{
    spmv_part<I> part = {0, 0, 0, 0, 0};
    const unsigned long long word = place < end ? *list.word(place) : SPMV_NO_PART;
    if (word != SPMV_NO_PART) {
        part.row = (int64_t)(word >> SPMV_ROW_BITS);
        part.number = (unsigned int)(word & ((1 << SPMV_ROW_BITS) - 1));
        const I first = __ldg(a.row_ptr + part.row), last = __ldg(a.row_ptr + part.row + 1);
        const int64_t length = spmv_part_of(last - first, list.part);
        part.parts = spmv_parts_of(last - first, length);
        part.begin = spmv_begin_of(first, last, part.number, part.parts, length);
        part.end = spmv_begin_of(first, last, part.number + 1, part.parts, length);
    }
    return part;
}

/* Waits for `parts` shared sums from `place` on and returns their sum. All lanes of a warp call it, and each adds every
 * 32nd. Earlier warps have stored the sums or will soon. */
template <typename T>
__device__ __forceinline__ T spmv_collect(const spmv_list<T> &list, unsigned int place, unsigned int parts)
{
    constexpr int count = 4; /* number of loads that do not wait for one another */
    T sum = 0;
#pragma unroll 1
    for (unsigned int base = threadIdx.x % 32; base < parts; base += 32 * count) {
        T one[count];
        bool is_there[count], are_all;
#pragma unroll
        for (int u = 0; u < count; u++) {
            one[u] = 0;
            is_there[u] = base + u * 32 >= parts;
        }
        do {
            are_all = true;
#pragma unroll
            for (int u = 0; u < count; u++)
                share_look(list.sum(place + base + u * 32), is_there[u], one[u]);
#pragma unroll
            for (int u = 0; u < count; u++)
                are_all = are_all && is_there[u];
        } while (!are_all);
#pragma unroll
        for (int u = 0; u < count; u++)
            sum += one[u];
    }
    for (unsigned int part = threadIdx.x % 32; part < parts; part += 32)
        share_clear(list.sum(place + part));
    return spmv_sum_of(sum);
}

/* Adds the parts `begin` to `end` - 1. When all parts of the block are added, it adds the sums of those rows whose last
 * part is among them. Sets the list's words to 0 again. */
template <int count, typename T, typename I, typename J>
__device__ __forceinline__ void spmv_sum_parts(const spmv_matrix<T, I, J> &a, const spmv_list<T> &list,
                                               unsigned int begin, unsigned int end)
{
    const int lane = (int)(threadIdx.x % 32);
#pragma unroll 1
    for (unsigned int base = begin; base < end; base += 32) {
        const spmv_part<I> own = spmv_read_part(a, list, base + lane, end);
        const int left = end - base < 32 ? (int)(end - base) : 32;
#pragma unroll 1
        for (int i = 0; i < left; i++) {
            const T sum = spmv_sum_elements<count>(a, __shfl_sync(SPMV_WARP, own.begin, i),
                                                   __shfl_sync(SPMV_WARP, own.end, i));
            if (lane == i && own.parts == 1)
                spmv_set(a.y + own.row, a.alpha, sum, a.beta);
            else if (lane == i && own.parts > 1)
                share_store(list.sum(base + i), sum);
        }
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned int base = begin; base < end; base += 32) {
        const spmv_part<I> own = spmv_read_part(a, list, base + lane, end);
        const bool is_last = own.parts > 1 && own.number + 1 == own.parts;
#pragma unroll 1
        for (unsigned int left = __ballot_sync(SPMV_WARP, is_last); left; left &= left - 1) {
            const int i = __ffs((int)left) - 1;
            const unsigned int parts = __shfl_sync(SPMV_WARP, own.parts, i);
            const T sum = spmv_collect(list, base + i + 1 - parts, parts);
            if (lane == i)
                spmv_set(a.y + own.row, a.alpha, sum, a.beta);
        }
        if (base + lane < end)
            *list.word(base + lane) = 0;
    }
}

/* Returns true if this is the last of `blocks` blocks to call it. */
template <typename T>
__device__ __forceinline__ bool spmv_is_last(const spmv_list<T> &list, unsigned int number, unsigned int blocks)
{
    const unsigned int lane = number % SPMV_LANES, lanes = blocks < SPMV_LANES ? blocks : SPMV_LANES;
    const unsigned int of_lane = (blocks - lane + SPMV_LANES - 1) / SPMV_LANES;
    const unsigned long long before = atomicAdd(list.blocks(lane), 1ull << 32) >> 32;
    return before + 1 == of_lane && atomicAdd(list.work + 1, 1ull) + 1 == lanes;
}

/* Adds the share of block `number` of `blocks`. All warps have the same number of consecutive parts. */
template <typename T, typename I, typename J>
__device__ __forceinline__ void spmv_take_parts(const spmv_matrix<T, I, J> &a, const spmv_list<T> &list,
                                                unsigned int number, unsigned int blocks)
{
    __shared__ bool is_last;
    const unsigned long long all = *(const volatile unsigned long long *)list.work;
    const unsigned int parts = all < (unsigned long long)list.room ? (unsigned int)all : (unsigned int)list.room;
    if (parts > 0) {
        constexpr int count = sizeof(T) + sizeof(J) > 8 ? 8 : 16;
        const unsigned int warps = blocks * (SPMV_THREADS / 32), own = number * (SPMV_THREADS / 32) + threadIdx.x / 32;
        const unsigned int each = parts / warps, more = parts % warps, begin = own * each + (own < more ? own : more);
        spmv_sum_parts<count>(a, list, begin, begin + each + (own < more));
    }
    __syncthreads(); /* no thread reads the counts any more */
    if (threadIdx.x == 0)
        is_last = spmv_is_last(list, number, blocks);
    __syncthreads();
    if (is_last)
        for (int word = threadIdx.x; word < SPMV_COUNTS; word += SPMV_THREADS)
            list.work[word] = 0;
}

#endif
#endif
