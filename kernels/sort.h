/* sort.h - the shapes of a radix sort, which its kernels and the C code that launches them share. */
#ifndef KERNELS_SORT_H
#define KERNELS_SORT_H

#define SORT_DIGITS 256

/* As many keys as one block sorts by itself. */
#define SORT_SMALL 4096
#define SORT_SMALL_THREADS 512

/* Keys and values of so many bytes: what a thread takes, and a block with it. */
#define SORT_THREADS 384
#define SORT_ITEMS(key, value) ((key) == 4 ? ((value) == 8 ? 15 : (value) == 4 ? 23 : 20) : 15)
#define SORT_TILE(key, value) (SORT_THREADS * SORT_ITEMS(key, value))

/* Keys of a launch: whole tiles, whose counts have 30 bits. */
#define SORT_MOST(key, value) (((1 << 30) - 1) / SORT_TILE(key, value) * SORT_TILE(key, value))

/* What a thread of the CPU takes. */
#define SORT_CHUNK 65536

/* Scratch memory in words of 64 bits. First what has to be 0: two counters, how many keys have each digit in each pass,
 * and the words of a launch's tiles, two to one of 64 bits; then where digits begin, in each pass, and in a launch that
 * goes on with a pass, of which there are two in turns; then words of tiles again. */
#define SORT_COUNTERS 16
#define SORT_TILES(key, value)                                                                                         \
    ((n < SORT_MOST(key, value) ? n : SORT_MOST(key, value)) / SORT_TILE(key, value) +                                 \
     ((n < SORT_MOST(key, value) ? n : SORT_MOST(key, value)) % SORT_TILE(key, value) > 0))
#define SORT_WORDS(key, value) (SORT_DIGITS / 2 * SORT_TILES(key, value))
#define SORT_ZERO(key, value)                                                                                          \
    (n <= SORT_SMALL ? 0 : SORT_COUNTERS + SORT_DIGITS * (key) + SORT_WORDS(key, value))
#define SORT_WORK(key, value)                                                                                          \
    (n <= SORT_SMALL ? 0 : SORT_ZERO(key, value) + SORT_DIGITS * ((key) + 2) + SORT_WORDS(key, value))

#endif
