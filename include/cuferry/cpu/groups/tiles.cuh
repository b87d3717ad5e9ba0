/* tiles.cuh - cooperative_groups: groups of lanes of one warp, and the partitions of groups into them. */
#ifndef CUFERRY_CPU_TILES_CUH
#define CUFERRY_CPU_TILES_CUH

#include "groups.cuh"

namespace cooperative_groups
{
/* Returns the number of the n-th lane in a mask, counted from 0; 32 if the mask has no such lane. */
CF__FN unsigned int cf__nth(unsigned int mask, unsigned int n)
{
    for (; n && mask; n--)
        mask &= mask - 1;
    return mask ? (unsigned int)__builtin_ctz(mask) : 32;
}

/* Returns the bits of `lanes` at the places where the mask has a 1, moved together at the low end. */
CF__FN unsigned int cf__packed(unsigned int lanes, unsigned int mask)
{
    if (mask == 0xffffffff)
        return lanes;
    unsigned int packed = 0;
    for (unsigned int rank = 0; mask; rank++, mask &= mask - 1)
        packed |= (lanes >> __builtin_ctz(mask) & 1) << rank;
    return packed;
}

template <typename T> CF__FN constexpr void cf__check_shuffled()
{
    static_assert(__is_trivially_copyable(T) && sizeof(T) <= 32,
                  "cooperative_groups shuffles types that are trivially copyable and have at most 32 bytes");
}

template <typename T> CF__FN constexpr void cf__check_matched()
{
    static_assert(__is_trivially_copyable(T) && (sizeof(T) == 4 || sizeof(T) == 8),
                  "cooperative_groups matches types of 4 and of 8 bytes");
}

/* Members that tiles and coalesced groups share. */
class cf__lane_group : public thread_group
{
  public:
    unsigned int num_threads() const
    {
        return (unsigned int)__builtin_popcount(cf__mask);
    }

    unsigned int size() const
    {
        return num_threads();
    }

    unsigned int thread_rank() const
    {
        return (unsigned int)__builtin_popcount(cf__mask & ((1u << cf__lane()) - 1));
    }

    unsigned int meta_group_rank() const
    {
        return cf__meta_rank;
    }

    unsigned int meta_group_size() const
    {
        return cf__meta_size;
    }

    int any(int predicate, CF__WHERE) const
    {
        return cf__ballot(cf__mask, predicate, "any()", file, line) != 0;
    }

    int all(int predicate, CF__WHERE) const
    {
        return cf__ballot(cf__mask, !predicate, "all()", file, line) == 0;
    }

    unsigned int cf__lanes() const
    {
        return cf__mask;
    }

  protected:
    cf__lane_group(unsigned int mask, unsigned int meta_rank, unsigned int meta_size)
        : thread_group(LANES, mask, meta_rank, meta_size)
    {
    }
};

/* ---- Any lanes ---- */

class coalesced_group : public cf__lane_group
{
  public:
    explicit coalesced_group(unsigned int mask, unsigned int meta_rank = 0, unsigned int meta_size = 1)
        : cf__lane_group(mask, meta_rank, meta_size)
    {
    }

    void sync(CF__WHERE) const
    {
        cf__exchange(CF_HOST_WARP_SYNC, cf__mask, 0, 0, warpSize, "coalesced_group::sync()", file, line);
    }

    template <typename T> T shfl(T value, int rank, CF__WHERE) const
    {
        return cf__from(value, rank, "coalesced_group::shfl()", file, line);
    }

    template <typename T> T shfl_up(T value, unsigned int delta, CF__WHERE) const
    {
        return cf__from(value, (int)thread_rank() - (int)delta, "coalesced_group::shfl_up()", file, line);
    }

    template <typename T> T shfl_down(T value, unsigned int delta, CF__WHERE) const
    {
        return cf__from(value, (int)thread_rank() + (int)delta, "coalesced_group::shfl_down()", file, line);
    }

    unsigned int ballot(int predicate, CF__WHERE) const
    {
        return cf__packed(cf__ballot(cf__mask, predicate, "coalesced_group::ballot()", file, line), cf__mask);
    }

    template <typename T> unsigned int match_any(T value, CF__WHERE) const
    {
        cf__check_matched<T>();
        return cf__packed(
            cf__match(CF_HOST_WARP_MATCH_ANY, cf__mask, value, "coalesced_group::match_any()", file, line), cf__mask);
    }

    template <typename T> unsigned int match_all(T value, int &all, CF__WHERE) const
    {
        cf__check_matched<T>();
        const unsigned int lanes =
            cf__match(CF_HOST_WARP_MATCH_ALL, cf__mask, value, "coalesced_group::match_all()", file, line);
        all = lanes != 0;
        return cf__packed(lanes, cf__mask);
    }

  private:
    /* Returns the value of the thread with this rank, or the calling thread's value if there is no such thread. */
    template <typename T> T cf__from(T value, int rank, const char *what, const char *file, int line) const
    {
        cf__check_shuffled<T>();
        const unsigned int found = rank < 0 ? 32 : cf__nth(cf__mask, (unsigned int)rank);
        const unsigned int lane = found < 32 ? found : cf__lane();
        return cf__shuffle(CF_HOST_WARP_SHUFFLE, cf__mask, value, (int)lane, warpSize, what, file, line);
    }
};

CF__FN coalesced_group coalesced_threads(CF__WHERE)
{
    return coalesced_group(__activemask(file, line));
}

/* ---- Tiles: adjacent lanes, whose number is a power of 2 ---- */

template <unsigned int Size, bool is_in_warp> class cf__tile;

template <unsigned int Size> class cf__tile<Size, true> : public cf__lane_group
{
  public:
    cf__tile(unsigned int meta_rank, unsigned int meta_size)
        : cf__lane_group(0xffffffffu >> (32 - Size) << (cf__lane() & ~(Size - 1)), meta_rank, meta_size)
    {
    }

    static constexpr unsigned int num_threads()
    {
        return Size;
    }

    static constexpr unsigned int size()
    {
        return Size;
    }

    static unsigned int thread_rank()
    {
        return cf__lane() % Size;
    }

    void sync(CF__WHERE) const
    {
        cf__exchange(CF_HOST_WARP_SYNC, cf__mask, 0, 0, warpSize, "thread_block_tile::sync()", file, line);
    }

    template <typename T> T shfl(T value, int rank, CF__WHERE) const
    {
        cf__check_shuffled<T>();
        return cf__shuffle(CF_HOST_WARP_SHUFFLE, cf__mask, value, rank, Size, "thread_block_tile::shfl()", file, line);
    }

    template <typename T> T shfl_up(T value, unsigned int delta, CF__WHERE) const
    {
        cf__check_shuffled<T>();
        return cf__shuffle(CF_HOST_WARP_SHUFFLE_UP, cf__mask, value, (int)delta, Size, "thread_block_tile::shfl_up()",
                           file, line);
    }

    template <typename T> T shfl_down(T value, unsigned int delta, CF__WHERE) const
    {
        cf__check_shuffled<T>();
        return cf__shuffle(CF_HOST_WARP_SHUFFLE_DOWN, cf__mask, value, (int)delta, Size,
                           "thread_block_tile::shfl_down()", file, line);
    }

    template <typename T> T shfl_xor(T value, unsigned int ranks, CF__WHERE) const
    {
        cf__check_shuffled<T>();
        return cf__shuffle(CF_HOST_WARP_SHUFFLE_XOR, cf__mask, value, (int)ranks, Size, "thread_block_tile::shfl_xor()",
                           file, line);
    }

    unsigned int ballot(int predicate, CF__WHERE) const
    {
        return cf__ballot(cf__mask, predicate, "thread_block_tile::ballot()", file, line) >> cf__first();
    }

    template <typename T> unsigned int match_any(T value, CF__WHERE) const
    {
        cf__check_matched<T>();
        return cf__match(CF_HOST_WARP_MATCH_ANY, cf__mask, value, "thread_block_tile::match_any()", file, line) >>
               cf__first();
    }

    template <typename T> unsigned int match_all(T value, int &all, CF__WHERE) const
    {
        cf__check_matched<T>();
        const unsigned int lanes =
            cf__match(CF_HOST_WARP_MATCH_ALL, cf__mask, value, "thread_block_tile::match_all()", file, line);
        all = lanes != 0;
        return lanes >> cf__first();
    }

  private:
    static unsigned int cf__first()
    {
        return cf__lane() & ~(Size - 1);
    }
};

} /* namespace cooperative_groups */

#include "large_tiles.cuh"

namespace cooperative_groups
{
template <unsigned int Size, typename Parent = void> class thread_block_tile;

template <unsigned int Size> class thread_block_tile<Size, void> : public cf__tile<Size, Size <= 32>
{
    static_assert(Size >= 1 && Size <= 1024 && (Size & (Size - 1)) == 0, "the size of a tile is a power of 2");

  public:
    using cf__tile<Size, Size <= 32>::cf__tile;
};

/* A tile whose type names its parent. */
template <unsigned int Size, typename Parent> class thread_block_tile : public thread_block_tile<Size>
{
  public:
    explicit thread_block_tile(const Parent &parent)
        : thread_block_tile<Size>(parent.thread_rank() / Size, (parent.num_threads() + Size - 1) / Size)
    {
    }
};

template <unsigned int Size, typename Parent>
CF__FN thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
    return thread_block_tile<Size, Parent>(parent);
}

CF__FN thread_block_tile<1> this_thread()
{
    return thread_block_tile<1>(0, 1);
}

/* ---- Partitions ---- */

CF__FN void cf__check_tile(unsigned int size, const char *file, int line)
{
    if (size == 0 || size > 32 || (size & (size - 1)))
        cf__fail(0, "tiled_partition() of a size that is no power of 2 up to 32", file, line);
}

/* Returns the lanes of the running thread's tile. The lanes of `mask` are divided by rank into tiles of `size` lanes.
 * */
CF__FN unsigned int cf__tile_of(unsigned int mask, unsigned int size)
{
    const unsigned int rank = (unsigned int)__builtin_popcount(mask & ((1u << cf__lane()) - 1));
    unsigned int rest = mask, tile = 0;
    for (unsigned int i = 0; i < rank / size * size; i++)
        rest &= rest - 1;
    for (unsigned int i = 0; i < size && rest; i++, rest &= rest - 1)
        tile |= rest & -rest;
    return tile;
}

CF__FN coalesced_group tiled_partition(const coalesced_group &parent, unsigned int size, CF__WHERE)
{
    cf__check_tile(size, file, line);
    if (parent.size() <= size)
        return parent;
    return coalesced_group(cf__tile_of(parent.cf__lanes(), size), parent.thread_rank() / size,
                           (parent.size() + size - 1) / size);
}

/* Divides a block or a group of lanes into tiles of `size` threads, and returns the running thread's tile. */
CF__FN thread_group tiled_partition(const thread_group &parent, unsigned int size, CF__WHERE)
{
    cf__check_tile(size, file, line);
    if (parent.cf__kind == thread_group::LANES)
        return tiled_partition(coalesced_group(parent.cf__mask, parent.cf__meta_rank, parent.cf__meta_size), size, file,
                               line);
    if (parent.cf__kind == thread_group::GRID)
        cf__fail(0, "tiled_partition() of a grid", file, line);
    const unsigned int threads = thread_block::num_threads(), rank = thread_block::thread_rank();
    const unsigned int in_warp = threads - rank / 32 * 32;
    const unsigned int warp = in_warp < 32 ? (1u << in_warp) - 1 : 0xffffffff;
    return coalesced_group(cf__tile_of(warp, size), rank / size, (threads + size - 1) / size);
}

template <typename Group>
CF__FN coalesced_group cf__binary_partition(const Group &group, bool predicate, const char *file, int line)
{
    const unsigned int mask = group.cf__lanes();
    const unsigned int held = cf__ballot(mask, predicate, "binary_partition()", file, line) & mask;
    const unsigned int own = predicate ? held : mask & ~held;
    return own == mask || held == 0 ? coalesced_group(own) : coalesced_group(own, predicate, 2);
}

CF__FN coalesced_group binary_partition(const coalesced_group &group, bool predicate, CF__WHERE)
{
    return cf__binary_partition(group, predicate, file, line);
}

template <unsigned int Size, typename Parent>
CF__FN coalesced_group binary_partition(const thread_block_tile<Size, Parent> &group, bool predicate, CF__WHERE)
{
    return cf__binary_partition(group, predicate, file, line);
}

template <typename Group>
CF__FN coalesced_group cf__labeled_partition(const Group &group, unsigned long long label, const char *file, int line)
{
    const unsigned int mask = group.cf__lanes();
    const unsigned int own = cf__match(CF_HOST_WARP_MATCH_ANY, mask, label, "labeled_partition()", file, line);
    const unsigned int first = (unsigned int)__builtin_ctz(own);
    const unsigned int leaders = cf__ballot(mask, first == cf__lane(), "labeled_partition()", file, line);
    return coalesced_group(own, (unsigned int)__builtin_popcount(leaders & ((1u << first) - 1)),
                           (unsigned int)__builtin_popcount(leaders));
}

template <typename Label> CF__FN coalesced_group labeled_partition(const coalesced_group &group, Label label, CF__WHERE)
{
    return cf__labeled_partition(group, (unsigned long long)label, file, line);
}

template <typename Label, unsigned int Size, typename Parent>
CF__FN coalesced_group labeled_partition(const thread_block_tile<Size, Parent> &group, Label label, CF__WHERE)
{
    return cf__labeled_partition(group, (unsigned long long)label, file, line);
}

CF__FN coalesced_group labeled_partition(const coalesced_group &group, bool label, CF__WHERE)
{
    return cf__binary_partition(group, label, file, line);
}

template <unsigned int Size, typename Parent>
CF__FN coalesced_group labeled_partition(const thread_block_tile<Size, Parent> &group, bool label, CF__WHERE)
{
    return cf__binary_partition(group, label, file, line);
}

/* ---- One thread that runs a function for all ---- */

template <typename Group, typename Function, typename... Arguments>
CF__FN void invoke_one(const Group &group, Function &&function, Arguments &&...arguments)
{
    if (group.thread_rank() == 0)
        static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...);
}

template <typename Group, typename Function, typename... Arguments>
CF__FN auto invoke_one_broadcast(const Group &group, Function &&function, Arguments &&...arguments)
    -> decltype(function(arguments...))
{
    decltype(function(arguments...)) result{};
    if (group.thread_rank() == 0)
        result = static_cast<Function &&>(function)(static_cast<Arguments &&>(arguments)...);
    return group.shfl(result, 0);
}

} /* namespace cooperative_groups */

#endif
