/* warp_scan.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_WARP_SCAN_CUH
#define CUFERRY_CUB_WARP_SCAN_CUH

#include "../thread/thread_operators.cuh"

#if !defined CF__SCAN
#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
template <typename T, int LOGICAL_WARP_THREADS = 32> class WarpScan
{
    cf__lanes lanes;

    T last_of(T value) const
    {
        return lanes.from(value, lanes.size - 1);
    }

    /* The first lane gets an empty value. */
    T value_below(T inclusive) const
    {
        const T below = lanes.from(inclusive, lanes.rank - 1);
        return lanes.rank == 0 ? T() : below;
    }

    template <typename Operator> T value_below(T inclusive, const T &initial_value, Operator &op) const
    {
        const T below = value_below(inclusive);
        return lanes.rank == 0 ? initial_value : (T)op(initial_value, below);
    }

  public:
    typedef cf__storage<cf__nothing> TempStorage;

    explicit WarpScan(TempStorage &, CF__WHERE)
        : lanes(cf__lanes_of<LOGICAL_WARP_THREADS>({"cub::WarpScan", file, line}))
    {
    }

    template <typename Operator> void InclusiveScan(T input, T &inclusive_output, Operator op)
    {
        inclusive_output = lanes.scan(input, op);
    }

    template <typename Operator> void InclusiveScan(T input, T &inclusive_output, Operator op, T &warp_aggregate)
    {
        inclusive_output = lanes.scan(input, op);
        warp_aggregate = last_of(inclusive_output);
    }

    template <typename Operator> void InclusiveScan(T input, T &inclusive_output, T initial_value, Operator op)
    {
        inclusive_output = op(initial_value, lanes.scan(input, op));
    }

    /* The aggregate does not include the initial value. */
    template <typename Operator>
    void InclusiveScan(T input, T &inclusive_output, T initial_value, Operator op, T &warp_aggregate)
    {
        InclusiveScan(input, inclusive_output, op, warp_aggregate);
        inclusive_output = op(initial_value, inclusive_output);
    }

    template <typename Operator> void ExclusiveScan(T input, T &exclusive_output, Operator op)
    {
        exclusive_output = value_below(lanes.scan(input, op));
    }

    template <typename Operator> void ExclusiveScan(T input, T &exclusive_output, T initial_value, Operator op)
    {
        exclusive_output = value_below(lanes.scan(input, op), initial_value, op);
    }

    template <typename Operator> void ExclusiveScan(T input, T &exclusive_output, Operator op, T &warp_aggregate)
    {
        const T inclusive = lanes.scan(input, op);
        exclusive_output = value_below(inclusive);
        warp_aggregate = last_of(inclusive);
    }

    template <typename Operator>
    void ExclusiveScan(T input, T &exclusive_output, T initial_value, Operator op, T &warp_aggregate)
    {
        const T inclusive = lanes.scan(input, op);
        exclusive_output = value_below(inclusive, initial_value, op);
        warp_aggregate = last_of(inclusive);
    }

    template <typename Operator> void Scan(T input, T &inclusive_output, T &exclusive_output, Operator op)
    {
        inclusive_output = lanes.scan(input, op);
        exclusive_output = value_below(inclusive_output);
    }

    template <typename Operator>
    void Scan(T input, T &inclusive_output, T &exclusive_output, T initial_value, Operator op)
    {
        const T inclusive = lanes.scan(input, op);
        inclusive_output = op(initial_value, inclusive);
        exclusive_output = value_below(inclusive, initial_value, op);
    }

    void InclusiveSum(T input, T &inclusive_output)
    {
        InclusiveScan(input, inclusive_output, ::cuda::std::plus<>());
    }

    void InclusiveSum(T input, T &inclusive_output, T &warp_aggregate)
    {
        InclusiveScan(input, inclusive_output, ::cuda::std::plus<>(), warp_aggregate);
    }

    void ExclusiveSum(T input, T &exclusive_output)
    {
        ExclusiveScan(input, exclusive_output, T(), ::cuda::std::plus<>());
    }

    void ExclusiveSum(T input, T &exclusive_output, T &warp_aggregate)
    {
        ExclusiveScan(input, exclusive_output, T(), ::cuda::std::plus<>(), warp_aggregate);
    }

    T Broadcast(T input, unsigned int src_lane)
    {
        return lanes.from(input, (int)src_lane);
    }
};
} /* namespace cub */
#endif

#endif
