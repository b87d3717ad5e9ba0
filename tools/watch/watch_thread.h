/* watch_thread.h - the threads and blocks of a checked kernel. */
#ifndef WATCH_THREAD_H
#define WATCH_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* A lane's place in the order of what a block does. An access is known by what stood here when it was made. */
struct watch_clock {
    uint32_t epoch; /* barriers of the block that the thread has passed */
    uint32_t grid;  /* of the grid */
    uint32_t lanes
        [32]; /* for each lane of the warp: everything that it did before that step is ordered before this thread */
};

/* A CUDA thread that runs, or waits. */
struct watch_thread {
    struct watch_slot *slot;
    uint32_t number; /* in the block */
    uint32_t took_part;
    cf_host_where end; /* of the kernel, once it has come there */
    struct watch_clock clock;
    struct watch_clock fence; /* at the last fence */
    int has_fence;
    struct race_known *known; /* what it knows by atomics */
    uint32_t known_count, known_room;
};

/* A block that is resident. */
struct watch_slot {
    const cf_host_block *head;
    cf_dim3 index;
    uint32_t number; /* of the block */
    uint32_t ended;  /* threads */
    /* The latest barrier that a thread came to, and which thread; and the one that came to the kernel's end first. */
    cf_host_where barrier;
    struct watch_thread *waiting, *past;
    uint32_t epoch; /* that barrier's */
    struct watch_thread *threads;
    struct watch_warp *warps;
    struct race_known *known; /* what its threads knew when they came to a barrier */
    uint32_t known_count, known_room;
    struct race_sync *syncs; /* in its memory */
    int is_known;            /* elsewhere: what was given there */
};

/* The thread that runs; NULL outside of kernels. */
extern struct watch_thread *watch_current;

/* The launch that it is of. */
extern const cf_host_launch *watch_launched;

/* Writes "thread (1, 0, 0) of block (2, 0, 0)". */
void watch_describe(uint32_t block, uint32_t thread, char *text, size_t size);

#endif
