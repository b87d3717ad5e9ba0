/* sort.h - the shapes of a radix sort, which its kernels and the C code that launches them share */
#ifndef KERNELS_SORT_H
#define KERNELS_SORT_H

#define SORT_DIGITS 256

/* The most keys that one block sorts by itself. */
#define SORT_SMALL 4096
#define SORT_SMALL_FEW 1024
#define SORT_SMALL_KEYS(threads) ((threads) == 256 ? SORT_SMALL_FEW : SORT_SMALL)

/* A thread takes SORT_ITEMS keys, and values, of the given bytes; a block takes a tile. */
#define SORT_THREADS 384
#define SORT_ITEMS(key, value) ((value) == 0 ? ((key) == 4 ? 16 : 12) : (key) == 4 && (value) == 4 ? 23 : 15)
#define SORT_TILE(key, value) (SORT_THREADS * SORT_ITEMS(key, value))

/* A launch takes whole tiles, whose counts have 30 bits. */
#ifndef SORT_MOST
#define SORT_MOST ((1 << 30) - 1)
#endif
#define SORT_PART(key, value) (SORT_MOST / SORT_TILE(key, value) * SORT_TILE(key, value))

/* The keys that a CPU thread takes, and the most that it sorts by insertion. */
#define SORT_CHUNK 65536
#define SORT_FEW 40

/* Scratch memory in words of 64 bits. The first part is 0 at first: counters, the number of keys with each digit in
 * each pass, and the words of a launch's tiles, two in 64 bits. Then come the begins of digits in each pass, two
 * sets of begins for a launch that continues another, and the second set of tiles' words. */
#define SORT_COUNTERS 16

#endif
