/* sort.h - the shapes of a radix sort, which its kernels and the C code that launches them share. */
#ifndef KERNELS_SORT_H
#define KERNELS_SORT_H

#define SORT_DIGITS 256

/* As many keys as one block sorts by itself. */
#define SORT_SMALL 4096
#define SORT_SMALL_FEW 1024
#define SORT_SMALL_KEYS(threads) ((threads) == 256 ? SORT_SMALL_FEW : SORT_SMALL)

/* Keys and values of so many bytes: what a thread takes, and a block with it. */
#define SORT_THREADS 384
#define SORT_ITEMS(key, value) ((value) == 0 ? ((key) == 4 ? 16 : 12) : (key) == 4 && (value) == 4 ? 23 : 15)
#define SORT_TILE(key, value) (SORT_THREADS * SORT_ITEMS(key, value))

/* A launch takes whole tiles, whose counts have 30 bits. */
#ifndef SORT_MOST
#define SORT_MOST ((1 << 30) - 1)
#endif
#define SORT_PART(key, value) (SORT_MOST / SORT_TILE(key, value) * SORT_TILE(key, value))

/* What a thread of the CPU takes, and how many keys it sorts by insertion. */
#define SORT_CHUNK 65536
#define SORT_FEW 40

/* Scratch memory in words of 64 bits. First what has to be 0: counters, how many keys have each digit in each pass, and
 * the words of a launch's tiles, two to one of 64 bits; then where each digit begins in each pass, and where in a launch
 * that goes on with one, of which there are two in turns; then words of tiles again. */
#define SORT_COUNTERS 16

#endif
