/* block_scan.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_BLOCK_SCAN_CUH
#define CUFERRY_CUB_BLOCK_SCAN_CUH

#include "../thread/thread_reduce.cuh"
#include "../warp/warp_scan.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
/* All algorithms combine values in the order of BLOCK_SCAN_WARP_SCANS on a GPU. */
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <typename T, int BLOCK_DIM_X, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1>
class BlockScan
{
    struct Memory {
        T sums[(BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z + 31) / 32]; /* sums of the warps */
        T prefix;
    };
    typedef cf__block<Memory, BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z> Block;
    Block block;

    /* A thread's results of a scan over the block. `exclusive` of thread 0 is empty if nothing is before it. */
    struct Scanned {
        T inclusive, exclusive, sum;
    };

    template <typename Operator> Scanned scan(T input, Operator &op, const T *initial_value)
    {
        const cf__lanes lanes = block.lanes();
        const T inclusive = lanes.scan(input, op), below = lanes.from(inclusive, lanes.rank - 1);
        if (lanes.rank == lanes.size - 1)
            block.memory.sums[block.warp()] = inclusive;
        block.sync();
        T sum = block.memory.sums[0], before = sum;
        for (int warp = 1; warp < Block::warps; warp++) {
            if (warp == block.warp())
                before = sum;
            sum = op(sum, block.memory.sums[warp]);
        }
        if (initial_value)
            before = block.warp() == 0 ? *initial_value : (T)op(*initial_value, before);
        if (block.warp() == 0 && !initial_value)
            return {inclusive, lanes.rank == 0 ? T() : below, sum};
        return {(T)op(before, inclusive), lanes.rank == 0 ? before : (T)op(before, below), sum};
    }

    /* The threads of the first warp call `callback` with the sum. Thread 0's call returns the value before the
     * block. */
    template <typename Operator, typename Callback> Scanned scan_after(T input, Operator &op, Callback &callback)
    {
        Scanned scanned = scan(input, op, nullptr);
        if (block.warp() == 0) {
            const T prefix = callback(scanned.sum);
            if (block.rank == 0)
                block.memory.prefix = prefix;
        }
        block.sync();
        const T prefix = block.memory.prefix;
        scanned.inclusive = op(prefix, scanned.inclusive);
        scanned.exclusive = block.rank == 0 ? prefix : (T)op(prefix, scanned.exclusive);
        return scanned;
    }

    /* Scans a thread's own items from the value before them. Input and output may be the same array. */
    template <int items, typename Operator>
    void scan_items(T (&input)[items], T (&output)[items], Operator &op, T value, bool has_value, bool is_inclusive)
    {
        for (int i = 0; i < items; i++) {
            const T next = i > 0 || has_value ? (T)op(value, input[i]) : input[i];
            output[i] = is_inclusive ? next : value;
            value = next;
        }
    }

    CF__BLOCK_CONSTRUCTORS(BlockScan)

/* The functions of both kinds, for one item or several, and with an initial value, a sum, or a callback for the value
 * before the block. The sum does not include the value before the block. */
#define CF__SCANS(name, field, is_inclusive)                                                             \
    template <typename Operator> void name(T input, T &output, Operator op)                              \
    {                                                                                                    \
        output = scan(input, op, nullptr).field;                                                         \
    }                                                                                                    \
    template <typename Operator> void name(T input, T &output, Operator op, T &block_aggregate)          \
    {                                                                                                    \
        const Scanned scanned = scan(input, op, nullptr);                                                \
        output = scanned.field;                                                                          \
        block_aggregate = scanned.sum;                                                                   \
    }                                                                                                    \
    template <typename Operator, typename Callback>                                                      \
    void name(T input, T &output, Operator op, Callback &block_prefix_callback_op)                       \
    {                                                                                                    \
        output = scan_after(input, op, block_prefix_callback_op).field;                                  \
    }                                                                                                    \
    template <int items, typename Operator> void name(T(&input)[items], T(&output)[items], Operator op)  \
    {                                                                                                    \
        const T before = scan((T)ThreadReduce(input, op), op, nullptr).exclusive;                        \
        scan_items(input, output, op, before, block.rank > 0, is_inclusive);                             \
    }                                                                                                    \
    template <int items, typename Operator>                                                              \
    void name(T(&input)[items], T(&output)[items], Operator op, T &block_aggregate)                      \
    {                                                                                                    \
        const Scanned scanned = scan((T)ThreadReduce(input, op), op, nullptr);                           \
        block_aggregate = scanned.sum;                                                                   \
        scan_items(input, output, op, scanned.exclusive, block.rank > 0, is_inclusive);                  \
    }                                                                                                    \
    template <int items, typename Operator, typename Callback>                                           \
    void name(T(&input)[items], T(&output)[items], Operator op, Callback &block_prefix_callback_op)      \
    {                                                                                                    \
        const T before = scan_after((T)ThreadReduce(input, op), op, block_prefix_callback_op).exclusive; \
        scan_items(input, output, op, before, true, is_inclusive);                                       \
    }                                                                                                    \
    template <int items, typename Operator>                                                              \
    void name(T(&input)[items], T(&output)[items], T initial_value, Operator op)                         \
    {                                                                                                    \
        const T before = scan((T)ThreadReduce(input, op), op, &initial_value).exclusive;                 \
        scan_items(input, output, op, before, true, is_inclusive);                                       \
    }                                                                                                    \
    template <int items, typename Operator>                                                              \
    void name(T(&input)[items], T(&output)[items], T initial_value, Operator op, T &block_aggregate)     \
    {                                                                                                    \
        const Scanned scanned = scan((T)ThreadReduce(input, op), op, &initial_value);                    \
        block_aggregate = scanned.sum;                                                                   \
        scan_items(input, output, op, scanned.exclusive, true, is_inclusive);                            \
    }
    CF__SCANS(InclusiveScan, inclusive, true)
    CF__SCANS(ExclusiveScan, exclusive, false)
#undef CF__SCANS

    template <typename Operator> void ExclusiveScan(T input, T &output, T initial_value, Operator op)
    {
        output = scan(input, op, &initial_value).exclusive;
    }

    template <typename Operator>
    void ExclusiveScan(T input, T &output, T initial_value, Operator op, T &block_aggregate)
    {
        const Scanned scanned = scan(input, op, &initial_value);
        output = scanned.exclusive;
        block_aggregate = scanned.sum;
    }

    void InclusiveSum(T input, T &output)
    {
        InclusiveScan(input, output, ::cuda::std::plus<>());
    }

    void InclusiveSum(T input, T &output, T &block_aggregate)
    {
        InclusiveScan(input, output, ::cuda::std::plus<>(), block_aggregate);
    }

    template <typename Callback> void InclusiveSum(T input, T &output, Callback &block_prefix_callback_op)
    {
        InclusiveScan(input, output, ::cuda::std::plus<>(), block_prefix_callback_op);
    }

    template <int items> void InclusiveSum(T (&input)[items], T (&output)[items])
    {
        InclusiveScan(input, output, ::cuda::std::plus<>());
    }

    template <int items> void InclusiveSum(T (&input)[items], T (&output)[items], T &block_aggregate)
    {
        InclusiveScan(input, output, ::cuda::std::plus<>(), block_aggregate);
    }

    template <int items, typename Callback>
    void InclusiveSum(T (&input)[items], T (&output)[items], Callback &block_prefix_callback_op)
    {
        InclusiveScan(input, output, ::cuda::std::plus<>(), block_prefix_callback_op);
    }

    void ExclusiveSum(T input, T &output)
    {
        ExclusiveScan(input, output, T(), ::cuda::std::plus<>());
    }

    void ExclusiveSum(T input, T &output, T &block_aggregate)
    {
        ExclusiveScan(input, output, T(), ::cuda::std::plus<>(), block_aggregate);
    }

    template <typename Callback> void ExclusiveSum(T input, T &output, Callback &block_prefix_callback_op)
    {
        ExclusiveScan(input, output, ::cuda::std::plus<>(), block_prefix_callback_op);
    }

    template <int items> void ExclusiveSum(T (&input)[items], T (&output)[items])
    {
        ExclusiveScan(input, output, T(), ::cuda::std::plus<>());
    }

    template <int items> void ExclusiveSum(T (&input)[items], T (&output)[items], T &block_aggregate)
    {
        ExclusiveScan(input, output, T(), ::cuda::std::plus<>(), block_aggregate);
    }

    template <int items, typename Callback>
    void ExclusiveSum(T (&input)[items], T (&output)[items], Callback &block_prefix_callback_op)
    {
        ExclusiveScan(input, output, ::cuda::std::plus<>(), block_prefix_callback_op);
    }
};
} /* namespace cub */
#endif

#endif
