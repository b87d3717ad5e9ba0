/* gather_random.h - shapes that the kernels of gather_random.cu, their scratch memory and gather_random.c share */
#ifndef KERNELS_GATHER_RANDOM_H
#define KERNELS_GATHER_RANDOM_H

/* A block has a tile of 32 KiB of results of `element` bytes each, and a thread 16 results. */
#define GATHER_RANDOM_ITEMS 16
#define GATHER_RANDOM_THREADS(element) ((element) == 4 ? 512 : 256)
#define GATHER_RANDOM_TILE(element) (GATHER_RANDOM_THREADS(element) * GATHER_RANDOM_ITEMS)
#define GATHER_RANDOM_TILES(element) (N / GATHER_RANDOM_TILE(element) + (N % GATHER_RANDOM_TILE(element) > 0))

/* A window has 2^shift elements of the source, which are 16 MiB: it stays in the L2 cache while it is read. If there
 * would be more than 128 windows, they have 32 MiB. Fewer cost less: there are kernels for up to 64. */
#define GATHER_RANDOM_LEAST_SHIFT(element) ((element) == 4 ? 22 : 21)
#define GATHER_RANDOM_SHIFT(element) \
    (GATHER_RANDOM_LEAST_SHIFT(element) + (M > 128 << GATHER_RANDOM_LEAST_SHIFT(element)))
#define GATHER_RANDOM_WINDOWS(shift) (((M - 1) >> (shift)) + 1)

/* True if a GPU may be faster than with cf_gather: the source exceeds an L2 cache, windows are not too many, and
 * each has enough elements. Larger elements need more of them, since a fetch costs one sector for any size, but the
 * other moves cost more. */
#define GATHER_RANDOM_IS_ORDERED(element)                                                                \
    (N >= 4194304 && N >= M / ((element) == 4 ? 8 : 2) && M > 4 << GATHER_RANDOM_LEAST_SHIFT(element) && \
     M <= 256 << GATHER_RANDOM_LEAST_SHIFT(element))

/* The size of the smallest L2 cache in which a window stays, in bytes. */
#define GATHER_RANDOM_CACHE 33554432

/* The number of runs: those of the first window in each tile, then those of the second, and so on. */
#define GATHER_RANDOM_RUNS(element, shift) (GATHER_RANDOM_WINDOWS(shift) * GATHER_RANDOM_TILES(element))

/* A warp fetches a run; a block fetches the runs of a group, one tile for each warp. */
#define GATHER_RANDOM_WARPS 8
#define GATHER_RANDOM_GROUPS(element) ((GATHER_RANDOM_TILES(element) + GATHER_RANDOM_WARPS - 1) / GATHER_RANDOM_WARPS)

#endif
