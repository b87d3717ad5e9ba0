/* bench_memory.h - the arrays that a kernel is timed on: several copies, past the cache, that launches take in turn. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stddef.h>

#include <cuferry.h>

#include "base/message.h"
#include "verify/verify_values.h"

struct bench_memory {
    const struct verify_values *values;
    char *base;      /* all copies, one after the other */
    size_t *offsets; /* of each parameter's array in a copy */
    size_t bytes;    /* of a copy */
    size_t count;    /* of copies */
    int has_changes; /* launches read what others wrote: copies are made good from one more behind them */
    void **pointers; /* of the arrays in the copy that is next */
    void **args;     /* as cf_launch() takes them */
};

/* Makes the arrays on the thread's device: so many copies that all of them have four times `cache` bytes. Less
 * than `available` bytes are allocated. -1 with the reason, such as too little memory. Freed by the caller whatever it
 * returns. */
int bench_memory_make(struct bench_memory *memory, const struct verify_values *values, size_t cache, size_t available,
                      struct message *message);
void bench_memory_free(struct bench_memory *memory);

/* Points the arguments to copy number `copy`. */
void bench_memory_take(struct bench_memory *memory, size_t copy);

/* Enqueues on `stream` what makes every copy what it was at first. */
int bench_memory_restore(const struct bench_memory *memory, cf_stream stream, struct message *message);

#endif
