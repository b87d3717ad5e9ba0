/* watch_thread.h - the state of threads and blocks of a checked kernel. */
#ifndef WATCH_THREAD_H
#define WATCH_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Position of a lane in the order of a block's work. Each recorded access stores its position. */
struct watch_clock {
    uint32_t epoch;     /* number of barriers of the block that it has passed */
    uint32_t grid;      /* number of barriers of the grid that it has passed */
    uint32_t lanes[32]; /* per lane of the warp: the step before which its work is ordered before this thread */
};

/* A CUDA thread that runs or waits. */
struct watch_thread {
    struct watch_slot *slot;
    uint32_t number; /* number in the block */
    uint32_t took_part;
    cf_host_where end; /* place of the kernel's end, set when the thread arrives there */
    struct watch_clock clock;
    struct watch_clock fence; /* clock at the latest fence */
    int has_fence;
    struct race_known *known; /* knowledge that it acquired through atomic accesses */
    uint32_t known_count, known_room;
};

/* A block that runs. */
struct watch_slot {
    const cf_host_block *head;
    cf_dim3 index;
    uint32_t number; /* number of the block */
    uint32_t ended;  /* threads that have ended */
    /* The latest barrier at which a thread waits, that thread, and the thread that has arrived at the kernel's end
     * after the fewest barriers. */
    cf_host_where barrier;
    struct watch_thread *waiting, *past;
    uint32_t epoch; /* epoch of the waiting thread */
    struct watch_thread *threads;
    struct watch_warp *warps;
    struct race_known *known; /* knowledge that its threads had at the latest barrier */
    uint32_t known_count, known_room;
    struct race_sync *syncs; /* records of addresses in its memory */
    int is_known;            /* threads of other blocks have acquired publications of these records */
};

/* The running thread; NULL outside kernels. */
extern struct watch_thread *watch_current;

/* The launch to which the running thread belongs. */
extern const cf_host_launch *watch_launched;

/* Writes a text such as "thread (1, 0, 0) of block (2, 0, 0)". */
void watch_describe(uint32_t block, uint32_t thread, char *text, size_t size);

#endif
