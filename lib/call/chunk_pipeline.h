/* chunk_pipeline.h - overlaps the copies and launches of a split call. */
#ifndef CF__CHUNK_PIPELINE_H
#define CF__CHUNK_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

struct cf__scope;
struct cf__staging_set;
struct cf__transfer;

/* A call in chunks. Each chunk has a segment of every array; all segments of an array but the last have the same
 * size. */
struct cf__chunk_pipeline {
    const struct cf__scope *scope;
    struct cf__staging_set *set;
    const char *function; /* name of the entry point, for error messages */
    const struct cf__transfer *arrays;
    size_t count;
    int64_t elements, chunk_length; /* number of elements in all and in a chunk */
    /* Enqueues the kernel on the default stream for `length` elements from number `first` on. It is called chunk by
     * chunk, from any thread. */
    int (*launch)(void *data, int64_t first, int64_t length);
    void *data; /* argument of launch() */
};

/* Copies in, launches and copies out, after the earlier work of the set's stream and of the default stream. Each step
 * waits only for the steps of its own chunk. Waits for the end and returns a status. */
int cf__chunk_pipeline_run(const struct cf__chunk_pipeline *pipeline);

#endif
