/* pieces_cub.cuh - the parts of CUB that the bundled kernels use, for tests that run these as on a GPU, on the CPU: the
 * same order of operations, and accesses to the same shared memory between the same barriers. */
#ifndef PIECES_CUB_CUH
#define PIECES_CUB_CUH

namespace pieces
{

enum BlockLoadAlgorithm { BLOCK_LOAD_WARP_TRANSPOSE };
enum BlockStoreAlgorithm { BLOCK_STORE_WARP_TRANSPOSE };
enum BlockScanAlgorithm { BLOCK_SCAN_WARP_SCANS };

template <typename T, int threads> struct BlockReduce {
    struct TempStorage {
        T values[threads];
    };
    TempStorage &memory;
    __device__ explicit BlockReduce(TempStorage &storage) : memory(storage)
    {
    }

    /* Only thread 0 gets the result. */
    template <typename Op> __device__ T Reduce(T value, Op op)
    {
        const int thread = threadIdx.x;
        memory.values[thread] = value;
        for (int width = 1; width < 32; width *= 2) {
            __syncwarp();
            if (thread % (2 * width) == 0)
                memory.values[thread] = op(memory.values[thread], memory.values[thread + width]);
        }
        __syncthreads();
        if (thread == 0)
            for (int warp = 32; warp < threads; warp += 32)
                memory.values[0] = op(memory.values[0], memory.values[warp]);
        return memory.values[thread];
    }
};

template <typename T, int threads, BlockScanAlgorithm> struct BlockScan {
    struct TempStorage {
        T values[2][threads], prefix;
    };
    TempStorage &memory;
    __device__ explicit BlockScan(TempStorage &storage) : memory(storage)
    {
    }

    template <typename Op, typename Prefix> __device__ void ExclusiveScan(T value, T &result, Op op, Prefix &prefix)
    {
        const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
        int now = 0;
        memory.values[0][thread] = value;
        for (int distance = 1; distance < 32; distance *= 2, now = !now) {
            __syncwarp();
            const T *from = memory.values[now] + thread;
            memory.values[!now][thread] = lane < distance ? *from : op(from[-distance], *from);
        }
        __syncthreads();
        const T *sums = memory.values[now];
        T total = sums[31], before = total;
        for (int other = 1; other < threads / 32; other++) {
            if (other == warp)
                before = total;
            total = op(total, sums[other * 32 + 31]);
        }
        if (lane > 0)
            result = warp ? op(before, sums[thread - 1]) : sums[thread - 1];
        else
            result = before;
        if (warp == 0) {
            const T of_block = prefix(total);
            if (lane == 0)
                memory.prefix = of_block;
        }
        __syncthreads();
        result = thread ? op(memory.prefix, result) : memory.prefix;
    }

    /* For integers; every thread gets the total. */
    __device__ void ExclusiveSum(T value, T &result, T &total)
    {
        auto none = [](T) { return T(); };
        ExclusiveScan(
            value, result, [](T a, T b) { return a + b; }, none);
        total = 0;
        for (int warp = 0; warp < threads / 32; warp++)
            total += memory.values[1][warp * 32 + 31];
    }
    __device__ void ExclusiveSum(T value, T &result)
    {
        T total;
        ExclusiveSum(value, result, total);
    }
};

template <typename T, int threads, int items, BlockLoadAlgorithm> struct BlockLoad {
    struct TempStorage {
        T values[threads * items];
    };
    TempStorage &memory;
    __device__ explicit BlockLoad(TempStorage &storage) : memory(storage)
    {
    }

    __device__ void Load(const T *from, T (&elements)[items], int count, T rest)
    {
        const int thread = threadIdx.x, first = thread / 32 * 32 * items + thread % 32;
        for (int i = 0; i < items; i++)
            memory.values[first + 32 * i] = first + 32 * i < count ? from[first + 32 * i] : rest;
        __syncwarp();
        for (int i = 0; i < items; i++)
            elements[i] = memory.values[thread * items + i];
    }
    __device__ void Load(const T *from, T (&elements)[items])
    {
        Load(from, elements, threads * items, T());
    }
};

template <typename T, int threads, int items, BlockStoreAlgorithm> struct BlockStore {
    struct TempStorage {
        T values[threads * items];
    };
    TempStorage &memory;
    __device__ explicit BlockStore(TempStorage &storage) : memory(storage)
    {
    }

    __device__ void Store(T *to, const T (&elements)[items], int count)
    {
        const int thread = threadIdx.x, first = thread / 32 * 32 * items + thread % 32;
        for (int i = 0; i < items; i++)
            memory.values[thread * items + i] = elements[i];
        __syncwarp();
        for (int i = 0; i < items; i++)
            if (first + 32 * i < count)
                to[first + 32 * i] = memory.values[first + 32 * i];
    }
    __device__ void Store(T *to, const T (&elements)[items])
    {
        Store(to, elements, threads * items);
    }
};

/* Ranks keys that warps hold in rows of 32. */
template <int threads, int bits, bool, BlockScanAlgorithm> struct BlockRadixRankMatchEarlyCounts {
    enum { all = 1 << bits, each = (all + threads - 1) / threads };
    struct TempStorage {
        int counts[threads / 32][all], begins[all];
        uint16_t places[threads * 32]; /* bits of up to 32 rows with the digit, then the number of earlier such rows */
    };
    TempStorage &memory;
    __device__ explicit BlockRadixRankMatchEarlyCounts(TempStorage &storage) : memory(storage)
    {
    }

    template <typename U, int items, typename Digit, typename Counted>
    __device__ void RankKeys(U (&keys)[items], int (&ranks)[items], Digit digit_of, int (&front)[each], Counted counted)
    {
        const int thread = threadIdx.x, warp = thread / 32;
        uint16_t *const places = memory.places + warp * 1024;
        static_assert(items <= 32, "");
        for (int i = 0; i < items; i++)
            places[32 * i + thread % 32] = (uint16_t)digit_of.Digit(keys[i]);
        __syncwarp();
        if (thread % 32 == 0) {
            for (int digit = 0; digit < all; digit++)
                memory.counts[warp][digit] = 0;
            for (int i = 0; i < 32 * items; i++)
                places[i] = (uint16_t)memory.counts[warp][places[i]]++;
        }
        __syncwarp();
        for (int i = 0; i < items; i++)
            ranks[i] = places[32 * i + thread % 32];
        __syncthreads();
        int sums[each] = {};
        for (int k = 0; k < each; k++)
            for (int other = 0; other < threads / 32 && thread * each + k < all; other++)
                sums[k] += memory.counts[other][thread * each + k];
        counted(sums);
        if (thread == 0)
            for (int digit = 0, sum = 0; digit < all; digit++) {
                memory.begins[digit] = sum;
                for (int other = 0; other < threads / 32; other++)
                    sum += memory.counts[other][digit];
            }
        __syncthreads();
        for (int k = 0; k < each && thread * each + k < all; k++)
            front[k] = memory.begins[thread * each + k];
        for (int i = 0; i < items; i++) {
            const int digit = (int)digit_of.Digit(keys[i]);
            ranks[i] += memory.begins[digit];
            for (int other = 0; other < warp; other++)
                ranks[i] += memory.counts[other][digit];
        }
    }
    template <typename U, int items, typename Digit>
    __device__ void RankKeys(U (&keys)[items], int (&ranks)[items], Digit digit_of, int (&front)[each])
    {
        RankKeys(keys, ranks, digit_of, front, [](int (&)[each]) {});
    }
    template <typename U, int items, typename Digit>
    __device__ void RankKeys(U (&keys)[items], int (&ranks)[items], Digit digit_of)
    {
        int front[each];
        RankKeys(keys, ranks, digit_of, front);
    }
};

/* Returns the bits of x + 0; on a GPU every NaN has the same bits. */
inline uint32_t plus_zero(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    number += 0.0f;
    memcpy(&bits, &number, sizeof bits);
    return number == number ? bits : 0x7fffffff;
}

} // namespace pieces

#endif
