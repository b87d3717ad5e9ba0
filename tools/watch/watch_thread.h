/* watch_thread.h - the threads and blocks of a checked kernel. */
#ifndef WATCH_THREAD_H
#define WATCH_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include <cuferry/registry.h>

/* Position of a lane in the order of a block's work. An access keeps the position at which it was made. */
struct watch_clock {
    uint32_t epoch;     /* number of the block's barriers passed */
    uint32_t grid;      /* number of the grid's barriers passed */
    uint32_t lanes[32]; /* per lane of the warp: the lane's work before that step is ordered before this thread */
};

/* A CUDA thread that runs or waits. */
struct watch_thread {
    struct watch_slot *slot;
    uint32_t number; /* number in the block */
    uint32_t took_part;
    cf_host_where end; /* place of the kernel's end, once it has arrived there */
    struct watch_clock clock;
    struct watch_clock fence; /* clock at the latest fence */
    int has_fence;
    struct race_known *known; /* acquired through atomic accesses */
    uint32_t known_count, known_room;
};

/* A block that runs. */
struct watch_slot {
    const cf_host_block *head;
    cf_dim3 index;
    uint32_t number; /* number of the block */
    uint32_t ended;  /* threads that have ended */
    /* The latest barrier with a waiting thread, and the thread that first arrived at the kernel's end. */
    cf_host_where barrier;
    struct watch_thread *waiting, *past;
    uint32_t epoch; /* epoch of that barrier */
    struct watch_thread *threads;
    struct watch_warp *warps;
    struct race_known *known; /* knowledge of its threads at the latest barrier */
    uint32_t known_count, known_room;
    struct race_sync *syncs; /* records in its memory */
    int is_known;            /* other threads have acquired from those records */
};

/* The running thread; NULL outside kernels. */
extern struct watch_thread *watch_current;

/* The launch of the running thread. */
extern const cf_host_launch *watch_launched;

/* Writes "thread (1, 0, 0) of block (2, 0, 0)". */
void watch_describe(uint32_t block, uint32_t thread, char *text, size_t size);

#endif
