/* warp_reduce.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_WARP_REDUCE_CUH
#define CUFERRY_CUB_WARP_REDUCE_CUH

#include "../thread/thread_operators.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
template <typename T, int LOGICAL_WARP_THREADS = 32> class WarpReduce
{
    cf__lanes lanes;

    /* Combines the values from this lane to the end of its segment. */
    template <typename Operator> T reduce_segment(T input, unsigned int ends, Operator &op)
    {
        const unsigned int above = ends >> lanes.rank;
        return lanes.reduce(input, above ? lanes.rank + __builtin_ctz(above) : lanes.size - 1, op);
    }

  public:
    typedef cf__storage<cf__nothing> TempStorage;

    explicit WarpReduce(TempStorage &, CF__WHERE)
        : lanes(cf__lanes_of<LOGICAL_WARP_THREADS>({"cub::WarpReduce", file, line}))
    {
    }

    /* Combines the values of the first `valid_items` lanes. Lane 0 gets the result. */
    template <typename Operator> T Reduce(T input, Operator op, int valid_items)
    {
        return lanes.reduce(input, valid_items - 1, op);
    }

    template <typename Operator> T Reduce(T input, Operator op)
    {
        return Reduce(input, op, LOGICAL_WARP_THREADS);
    }

    /* The first lane of each segment gets its result. */
    template <typename Operator, typename Flag> T HeadSegmentedReduce(T input, Flag head_flag, Operator op)
    {
        return reduce_segment(input, lanes.ballot((bool)head_flag) >> 1, op);
    }

    template <typename Operator, typename Flag> T TailSegmentedReduce(T input, Flag tail_flag, Operator op)
    {
        return reduce_segment(input, lanes.ballot((bool)tail_flag), op);
    }

    T Sum(T input)
    {
        return Reduce(input, ::cuda::std::plus<>());
    }

    T Sum(T input, int valid_items)
    {
        return Reduce(input, ::cuda::std::plus<>(), valid_items);
    }

    template <typename Flag> T HeadSegmentedSum(T input, Flag head_flag)
    {
        return HeadSegmentedReduce(input, head_flag, ::cuda::std::plus<>());
    }

    template <typename Flag> T TailSegmentedSum(T input, Flag tail_flag)
    {
        return TailSegmentedReduce(input, tail_flag, ::cuda::std::plus<>());
    }
};
} /* namespace cub */
#endif

#endif
