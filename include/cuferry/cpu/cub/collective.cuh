/* collective.cuh - CUB: the threads that call a function of a block or a warp together, and their memory. */
#ifndef CUFERRY_CPU_CUB_COLLECTIVE_CUH
#define CUFERRY_CPU_CUB_COLLECTIVE_CUH

#include <cuferry/cpu/loop/threads.cuh>
#include <cuferry/cpu/sync/together.cuh>
#include <cuferry/cpu/sync/warp.cuh>
#include <cuferry/cpu/words.cuh>

namespace cub
{
/* Memory that the caller provides. The class has no constructor, so that it can be a member of a union. */
template <typename Contents> struct cf__storage {
    alignas(Contents) unsigned char cf__bytes[sizeof(Contents)];

    Contents &Alias()
    {
        return *reinterpret_cast<Contents *>(cf__bytes);
    }
};

/* Memory for objects whose caller provides none. Within a block, all objects of a class use the same memory. */
template <typename Class, typename TempStorage> CF__FN TempStorage &cf__private_storage()
{
    static const cf_host_shape key = cf__shape<TempStorage>();
    return cf__shared<TempStorage>(&key, alignof(TempStorage));
}

struct cf__nothing {
};

/* The source location of a call, for messages about threads that wait forever. */
struct cf__call {
    const char *what, *file;
    int line;
};

/* The lanes of a warp, or of a part of it. */
struct cf__lanes {
    cf__call call;
    int first, size; /* number of the first lane in the warp; number of lanes */
    int rank;        /* rank of this thread's lane among them */

    cf__lanes(cf__call call_, int first_, int size_, int rank_) : call(call_), first(first_), size(size_), rank(rank_)
    {
    }

    unsigned int mask() const
    {
        return 0xffffffffu >> (32 - size) << first;
    }

    void sync() const
    {
        __syncwarp(mask(), call.file, call.line);
    }

    /* Returns the value of another of these lanes, or this lane's own value if there is no such lane. */
    template <typename T> T from(T value, int other) const
    {
        const int lane = first + (other >= 0 && other < size ? other : rank);
        return cf__shuffle(CF_HOST_WARP_SHUFFLE, mask(), value, lane, 32, call.what, call.file, call.line);
    }

    /* Returns a mask of the lanes whose flag is set. Bit 0 stands for the first lane of this group. */
    unsigned int ballot(bool flag) const
    {
        return cf__ballot(mask(), flag, call.what, call.file, call.line) >> first;
    }

    /* Returns the combined values of the lanes from this one to `last`, in the order of a GPU: first neighbours are
     * combined, then pairs of neighbours, and so on. */
    template <typename T, typename Operator> T reduce(T value, int last, Operator &op) const
    {
        for (int distance = 1; distance < size; distance *= 2) {
            const T above = from(value, rank + distance);
            if (rank + distance <= last && rank + distance < size)
                value = op(value, above);
        }
        return value;
    }

    /* Returns the combined values of the lanes up to this one, in the order of a GPU: each lane first adds the value 1
     * lane below, then 2 lanes below, 4 and so on. */
    template <typename T, typename Operator> T scan(T value, Operator &op) const
    {
        for (int distance = 1; distance < size; distance *= 2) {
            const T below = from(value, rank - distance);
            if (rank >= distance)
                value = op(below, value);
        }
        return value;
    }
};

/* Returns the lanes of the part of a warp, with `size` lanes, to which this thread belongs. */
template <int size> CF__FN cf__lanes cf__lanes_of(cf__call call)
{
    static_assert(size > 0 && size <= 32, "a warp has at most 32 threads");
    const int lane = (int)cf__lane();
    return {call, lane / size * size, size, lane % size};
}

/* Returns the number of a thread in its block, in which x varies fastest. */
CF__FN int RowMajorTid(int x, int y, int z)
{
    return ((z == 1 ? 0 : (int)threadIdx.z * y) + (y == 1 ? 0 : (int)threadIdx.y)) * x + (int)threadIdx.x;
}

/* The threads of a block. */
template <int x, int y, int z> struct cf__threads {
    static constexpr int count = x * y * z, warps = (count + 31) / 32;
    cf__call call;
    int rank;

    explicit cf__threads(cf__call call_) : call(call_), rank(RowMajorTid(x, y, z))
    {
    }

    void sync() const
    {
        cf__barrier(CF_HOST_VOTE_COUNT, 0, call.what, call.file, call.line);
    }

    int warp() const
    {
        return rank / 32;
    }

    /* The last warp of a block may have fewer lanes. */
    cf__lanes lanes() const
    {
        const int begin = rank / 32 * 32;
        return {call, 0, count - begin < 32 ? count - begin : 32, rank - begin};
    }
};

/* The threads of a block, and the memory in which they exchange values. */
template <typename Contents, int x, int y, int z> struct cf__block : cf__threads<x, y, z> {
    Contents &memory;

    cf__block(cf__storage<Contents> &storage, cf__call call) : cf__threads<x, y, z>(call), memory(storage.Alias())
    {
    }
};

/* The constructors of a class of a block, which has a member `block` and types Memory and Block. */
#define CF__BLOCK_CONSTRUCTORS(name)                                                    \
  public:                                                                               \
    typedef cf__storage<Memory> TempStorage;                                            \
    name(TempStorage &storage, CF__WHERE) : block(storage, {"cub::" #name, file, line}) \
    {                                                                                   \
    }                                                                                   \
    name(CF__WHERE) : name(cf__private_storage<name, TempStorage>(), file, line)        \
    {                                                                                   \
    }

} /* namespace cub */

#endif
