/* warp_exchange.cuh - replaces the toolkit's header when the C++ compiler reads a kernel file. */
#ifndef CUFERRY_CUB_WARP_EXCHANGE_CUH
#define CUFERRY_CUB_WARP_EXCHANGE_CUH

#include "../config.cuh"

#if !defined CF__SCAN
#include <type_traits>

#include <cuferry/cpu/cub/collective.cuh>

namespace cub
{
enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };

template <typename InputT, int ITEMS_PER_THREAD, int LOGICAL_WARP_THREADS = 32,
          WarpExchangeAlgorithm WARP_EXCHANGE_ALGORITHM = WARP_EXCHANGE_SMEM>
class WarpExchange
{
    enum { is_shuffle = WARP_EXCHANGE_ALGORITHM == WARP_EXCHANGE_SHUFFLE };
    struct Items {
        InputT items[LOGICAL_WARP_THREADS * ITEMS_PER_THREAD];
    };
    typedef typename ::std::conditional<is_shuffle, cf__nothing, Items>::type Memory;
    cf__lanes lanes;
    Memory &memory;

    int blocked(int i) const
    {
        return lanes.rank * ITEMS_PER_THREAD + i;
    }

    int striped(int i) const
    {
        return lanes.rank + i * LOGICAL_WARP_THREADS;
    }

    template <typename From, typename To, typename Output>
    void exchange(const InputT (&input)[ITEMS_PER_THREAD], Output (&output)[ITEMS_PER_THREAD], From from, To to)
    {
        for (int i = 0; i < ITEMS_PER_THREAD; i++)
            memory.items[from(i)] = input[i];
        lanes.sync();
        for (int i = 0; i < ITEMS_PER_THREAD; i++)
            output[i] = memory.items[to(i)];
    }

    /* Both arrangements of a square are each other's transposes. */
    template <typename Output>
    void transpose(const InputT (&input)[ITEMS_PER_THREAD], Output (&output)[ITEMS_PER_THREAD])
    {
        static_assert(ITEMS_PER_THREAD == LOGICAL_WARP_THREADS, "WARP_EXCHANGE_SHUFFLE needs as many items as threads");
        Output values[ITEMS_PER_THREAD];
        for (int lane = 0; lane < LOGICAL_WARP_THREADS; lane++)
            for (int i = 0; i < ITEMS_PER_THREAD; i++) {
                const InputT value = lanes.from(input[i], lane);
                if (i == lanes.rank)
                    values[lane] = value;
            }
        for (int i = 0; i < ITEMS_PER_THREAD; i++)
            output[i] = values[i];
    }

  public:
    typedef cf__storage<Memory> TempStorage;

    explicit WarpExchange(TempStorage &storage, CF__WHERE)
        : lanes(cf__lanes_of<LOGICAL_WARP_THREADS>({"cub::WarpExchange", file, line})), memory(storage.Alias())
    {
    }

    template <typename Output>
    void BlockedToStriped(const InputT (&input_items)[ITEMS_PER_THREAD], Output (&output_items)[ITEMS_PER_THREAD])
    {
        if constexpr (is_shuffle)
            transpose(input_items, output_items);
        else
            exchange(
                input_items, output_items, [this](int i) { return blocked(i); }, [this](int i) { return striped(i); });
    }

    template <typename Output>
    void StripedToBlocked(const InputT (&input_items)[ITEMS_PER_THREAD], Output (&output_items)[ITEMS_PER_THREAD])
    {
        if constexpr (is_shuffle)
            transpose(input_items, output_items);
        else
            exchange(
                input_items, output_items, [this](int i) { return striped(i); }, [this](int i) { return blocked(i); });
    }

    template <typename Output, typename Offset>
    void ScatterToStriped(const InputT (&input_items)[ITEMS_PER_THREAD], Output (&output_items)[ITEMS_PER_THREAD],
                          Offset (&ranks)[ITEMS_PER_THREAD])
    {
        static_assert(!is_shuffle, "ScatterToStriped() needs WARP_EXCHANGE_SMEM");
        exchange(
            input_items, output_items, [&](int i) { return (int)ranks[i]; }, [this](int i) { return striped(i); });
    }

    template <typename Offset>
    void ScatterToStriped(InputT (&items)[ITEMS_PER_THREAD], Offset (&ranks)[ITEMS_PER_THREAD])
    {
        ScatterToStriped(items, items, ranks);
    }
};
} /* namespace cub */
#endif

#endif
