/* large_tiles.cuh - cooperative_groups: tiles of several warps. Included by tiles.cuh. */
#ifndef CUFERRY_CPU_LARGE_TILES_CUH
#define CUFERRY_CPU_LARGE_TILES_CUH

#include <cuferry/cpu/sync/barrier.cuh>
#include <cuferry/cpu/sync/warp.cuh>

#include "groups.cuh"

namespace cooperative_groups
{
/* Memory in which the warps of a tile exchange one value each. A warp belongs to one tile at a time. */
struct cf__tile_memory {
    uint64_t values[32];
};

CF__FN cf__tile_memory &cf__memory_of_tiles()
{
    static const cf_host_shape cf__K_of_tiles = cf__shape<cf__tile_memory>();
    return cf__shared<cf__tile_memory>(&cf__K_of_tiles, alignof(cf__tile_memory));
}

template <typename T> CF__FN constexpr void cf__check_large()
{
    static_assert(__is_trivially_copyable(T) && sizeof(T) <= 8,
                  "tiles of more than 32 threads exchange types that are trivially copyable and have at most 8 bytes");
}

template <unsigned int Size> class cf__tile<Size, false>
{
  public:
    cf__tile(unsigned int meta_rank, unsigned int meta_size) : cf__meta_rank(meta_rank), cf__meta_size(meta_size)
    {
        /* A kernel that only uses ranks runs as a loop without barriers, and has no state of a block. */
        cf_host_block *block = cf__index.state;
        cf__word = block ? &block->tiles[1024 / Size + thread_block::thread_rank() / Size] : nullptr;
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
        return thread_block::thread_rank() % Size;
    }

    unsigned int meta_group_rank() const
    {
        return cf__meta_rank;
    }

    unsigned int meta_group_size() const
    {
        return cf__meta_size;
    }

    CF__INLINE void sync(CF__WHERE) const
    {
        cf__wait_for_all("thread_block_tile::sync()", file, line);
    }

    template <typename T> T shfl(T value, unsigned int rank, CF__WHERE) const
    {
        cf__check_large<T>();
        if (thread_rank() == rank)
            cf__put(cf__first_warp() + rank / 32, value);
        cf__wait_for_all("thread_block_tile::shfl()", file, line);
        const T result = cf__get<T>(cf__first_warp() + rank / 32 % cf__warps);
        cf__wait_for_all("thread_block_tile::shfl()", file, line);
        return result;
    }

    int any(int predicate, CF__WHERE) const
    {
        const int held = cf__ballot(0xffffffff, predicate, "thread_block_tile::any()", file, line) != 0;
        int found = 0;
        if (cf__lane() == 0)
            cf__put(cf__first_warp() + cf__warp_rank(), held);
        cf__wait_for_all("thread_block_tile::any()", file, line);
        for (unsigned int warp = 0; warp < cf__warps; warp++)
            found |= cf__get<int>(cf__first_warp() + warp);
        cf__wait_for_all("thread_block_tile::any()", file, line);
        return found;
    }

    int all(int predicate, CF__WHERE) const
    {
        return !any(!predicate, file, line);
    }

    /* Private to these headers. */
    static constexpr unsigned int cf__warps = Size / 32;

    static unsigned int cf__warp_rank()
    {
        return thread_rank() / 32;
    }

    static unsigned int cf__first_warp()
    {
        return thread_block::thread_rank() / Size * cf__warps;
    }

    template <typename T> static void cf__put(unsigned int warp, const T &value)
    {
        __builtin_memcpy(&cf__memory_of_tiles().values[warp], &value, sizeof value);
    }

    template <typename T> static T cf__get(unsigned int warp)
    {
        alignas(T) unsigned char bytes[sizeof(T)];
        __builtin_memcpy(bytes, &cf__memory_of_tiles().values[warp], sizeof bytes);
        return *reinterpret_cast<T *>(bytes);
    }

    CF__INLINE void cf__wait_for_all(const char *what, const char *file, int line) const
    {
        cf__no_completion nothing;
        if (!cf__word)
            __builtin_trap();
        if (__atomic_load_n(cf__word, __ATOMIC_RELAXED) == 0)
            __atomic_store_n(cf__word, cf__new_barrier(Size), __ATOMIC_RELAXED);
        cf__meet<true>(cf__word, nothing, what, what, file, line);
    }

  private:
    uint64_t *cf__word;
    unsigned int cf__meta_rank, cf__meta_size;
};

} /* namespace cooperative_groups */

#endif
