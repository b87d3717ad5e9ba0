/* bench_sizes.h - the sizes of a sweep, as the command line names them: 2^10:2^28, 1000:10^6:10, 1000,2^20. */
#ifndef BENCH_SIZES_H
#define BENCH_SIZES_H

#include <stddef.h>
#include <stdint.h>

#include "base/message.h"

/* Ascending, each once. */
struct bench_sizes {
    int64_t *list;
    size_t count;
};

/* The most sizes of a sweep. */
#define BENCH_SIZES 1000

/* Reads items with commas in between, each a number, or A:B or A:B:FACTOR: from A on, each FACTOR times the one before,
 * 2 where it is left out, as long as they are not past B. Numbers are from 1 to 2^62 and may be powers, such as 2^20.
 * Whatever it returns, the sizes are then the caller's to free. */
int bench_sizes_read(struct bench_sizes *sizes, const char *text, struct message *message);
void bench_sizes_free(struct bench_sizes *sizes);

/* Writes "2^20" of powers of two from 2^10 on, else the number. */
#define BENCH_SIZE_TEXT 24
void bench_size_format(int64_t size, char text[BENCH_SIZE_TEXT]);

#endif
