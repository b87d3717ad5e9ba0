/* chunk_pipeline.h - a call in parts that overlap. */
#ifndef CF__CHUNK_PIPELINE_H
#define CF__CHUNK_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

struct cf__scope;
struct cf__staging_set;
struct cf__transfer;

/* A call in parts, one after the other, each with its part of all arrays: these are cut into as many pieces of as many
 * bytes, but for the last. */
struct cf__chunk_pipeline {
    const struct cf__scope *scope;
    struct cf__staging_set *stage;
    const char *function;
    const struct cf__transfer *arrays;
    size_t count;
    int64_t elements, part;                                   /* all, and those of a part */
    int (*launch)(void *data, int64_t first, int64_t length); /* enqueues the kernel for so many elements from number
                                `first` on, on the default stream; called for one part after another, from any thread */
    void *data;
};

/* Copies in, launches and copies out, so that each waits for its own part alone, behind what the set's stream and the
 * default stream hold. Complete when it returns. */
int cf__chunk_pipeline_run(const struct cf__chunk_pipeline *pipeline);

#endif
