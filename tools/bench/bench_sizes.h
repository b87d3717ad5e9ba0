/* bench_sizes.h - reads the sizes of a sweep: 2^10:2^28, 1000:10^6:10, 1000,2^20. */
#ifndef BENCH_SIZES_H
#define BENCH_SIZES_H

#include <stddef.h>
#include <stdint.h>

#include "base/message.h"

/* Sizes in ascending order, without duplicates. */
struct bench_sizes {
    int64_t *list;
    size_t count;
};

/* Largest number of sizes. */
#define BENCH_SIZES 1000

/* Reads items separated by commas: a number, A:B or A:B:FACTOR. A range begins with A and multiplies by FACTOR (default
 * 2) up to B. Numbers are 1 to 2^62 and may be powers such as 2^20. The caller frees the sizes in every case. */
int bench_sizes_read(struct bench_sizes *sizes, const char *text, struct message *message);
void bench_sizes_free(struct bench_sizes *sizes);

/* Writes "2^20" for powers of two from 2^10 on, otherwise the number. */
#define BENCH_SIZE_TEXT 24
void bench_size_format(int64_t size, char text[BENCH_SIZE_TEXT]);

#endif
