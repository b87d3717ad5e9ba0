/* gather_random.h - what the kernels of gather_random.cu, their scratch memory and gather_random.c agree about. */
#ifndef KERNELS_GATHER_RANDOM_H
#define KERNELS_GATHER_RANDOM_H

/* A block has a tile, of 32 KiB of results that have so many bytes each, and a thread 16 results. */
#define GATHER_RANDOM_ITEMS 16
#define GATHER_RANDOM_THREADS(element) ((element) == 4 ? 512 : 256)
#define GATHER_RANDOM_TILE(element) (GATHER_RANDOM_THREADS(element) * GATHER_RANDOM_ITEMS)
#define GATHER_RANDOM_TILES(element) (N / GATHER_RANDOM_TILE(element) + (N % GATHER_RANDOM_TILE(element) > 0))

/* Windows have 2^shift elements of the source, which are 16 MiB: they stay in the second cache while they are read.
 * Where there would be more than 128 of them they have 32 MiB. Fewer cost less: there are kernels for up to 64. */
#define GATHER_RANDOM_LEAST_SHIFT(element) ((element) == 4 ? 22 : 21)
#define GATHER_RANDOM_SHIFT(element) \
    (GATHER_RANDOM_LEAST_SHIFT(element) + (M > 128 << GATHER_RANDOM_LEAST_SHIFT(element)))
#define GATHER_RANDOM_WINDOWS(shift) (((M - 1) >> (shift)) + 1)

/* Whether a GPU may be faster so than with cf_gather: the source is more than a second cache has, windows are not too
 * many, and there are enough elements of each. What of two sizes is fetched from memory is the same, a sector, but not
 * what is moved beside it: larger ones have to be more. */
#define GATHER_RANDOM_IS_ORDERED(element)                                                                \
    (N >= 4194304 && N >= M / ((element) == 4 ? 8 : 2) && M > 4 << GATHER_RANDOM_LEAST_SHIFT(element) && \
     M <= 256 << GATHER_RANDOM_LEAST_SHIFT(element))

/* The least second cache in which a window stays, in bytes. */
#define GATHER_RANDOM_CACHE 33554432

/* Where the runs begin and end in their tiles: of the first window in each tile, then of the second, and so on. */
#define GATHER_RANDOM_RUNS(element, shift) (GATHER_RANDOM_WINDOWS(shift) * GATHER_RANDOM_TILES(element))

/* A warp fetches a run, and a block those of as many tiles, which are a group. */
#define GATHER_RANDOM_WARPS 8
#define GATHER_RANDOM_GROUPS(element) ((GATHER_RANDOM_TILES(element) + GATHER_RANDOM_WARPS - 1) / GATHER_RANDOM_WARPS)

#endif
