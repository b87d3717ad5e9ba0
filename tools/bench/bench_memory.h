/* bench_memory.h - the arrays of a timed kernel: several copies, larger than the cache, used in turn. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include <stddef.h>

#include <cuferry.h>

#include "base/message.h"
#include "verify/verify_values.h"

struct bench_memory {
    const struct verify_values *values;
    char *base;      /* all copies, one after the other */
    size_t *offsets; /* offset in bytes of each parameter's array within a copy */
    size_t bytes;    /* size of a copy in bytes */
    size_t count;    /* number of copies */
    int has_changes; /* launches read what others wrote; one more copy, the last, keeps the first values */
    void **pointers; /* pointers to the arrays in the next copy */
    void **args;     /* arguments as cf_launch() takes them */
};

/* Makes the arrays on the thread's device, in as many copies as four times `cache` bytes need. Allocates less than
 * `available` bytes. Returns -1 with the reason, such as too little memory. The caller frees the memory in every
 * case. */
int bench_memory_make(struct bench_memory *memory, const struct verify_values *values, size_t cache, size_t available,
                      struct message *message);
void bench_memory_free(struct bench_memory *memory);

/* Points the arguments to copy number `copy`. */
void bench_memory_take(struct bench_memory *memory, size_t copy);

/* Enqueues the restoration of every copy on `stream`. */
int bench_memory_restore(const struct bench_memory *memory, cf_stream stream, struct message *message);

#endif
