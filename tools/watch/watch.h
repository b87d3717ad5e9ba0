/* watch.h - what happens in a checked kernel: which thread of which block runs, and what is found. */
#ifndef WATCH_H
#define WATCH_H

#include <stdint.h>

#include <cuferry/registry.h>

#include "base/message.h"

enum watch_kind { WATCH_NOTHING, WATCH_ADDRESS, WATCH_RACE, WATCH_POISON };

/* What is checked in this process: set by the cf-run that started this one. */
extern enum watch_kind watch_what;

/* The environment variable that tells it: "race:7:/tmp/x/module.so" - what, the descriptor where findings go, the module. */
#define WATCH_VARIABLE "CF__CHECKED"

/* AddressSanitizer's report is in the module's folder, in a file of this name and the process's number. */
#define WATCH_REPORT "asan"

/* Reads that variable. The module's path; NULL where nothing is checked here. */
const char *watch_begin(void);

/* A twin of a kernel that is watched as it runs: its first launch from now on. `bytes` has the size of each parameter's
 * array. NULL where the kernel has no form for the CPU. */
const cf_kernel *watch_kernel(const cf_kernel *kernel, const size_t *bytes, struct message *message);

/* ---- Between watch.c, watch_address.c, watch_arrays.c, watch_section.c and watch_operation.c ---- */

/* Looks at a part of a launch of `kernel` by its own CPU body. */
void watch_launch(const cf_kernel *kernel, cf_host_body *host, const cf_host_launch *what, uint64_t begin,
                  uint64_t end);

/* The kernel that findings are told of; and the operation that it is launched by, or NULL. */
extern const cf_kernel *watch_told, *watch_operation;

/* Has the arrays and the scratch memory of `watch_told` known by their names. `bytes` has the size of each array; NULL: it is
 * as declared. Those that are there stay as they are. */
void watch_arrays(const size_t *bytes, void *const args[], int is_kept);

/* Until the second call accesses to what the arrays of `watch_told` have beside their sections end the run. */
void watch_sections(void *const args[]);
void watch_sections_end(void *const args[]);

/* Has what the module can write of its own known. */
void watch_data(const char *module_path);

/* Has AddressSanitizer's report told as a finding, and written beside the module. */
void watch_deaths(const char *module_path);

/* How often the kernel, or operation, has begun to run since it is watched; and whether this one is looked at: the timed ones
 * are the same as the first. */
extern int watch_runs;
int watch_is_looking(void);

/* The CPU body of a kernel, of which watch_enqueue() may have taken the place. */
cf_host_body *watch_host(const cf_kernel *kernel);

/* Has the kernels of an operation watched; -1 with a message where that cannot be. What takes the place of its function. */
int watch_uses(const cf_kernel *operation, struct message *message);
cf_enqueue_body watch_enqueue;
extern const size_t *watch_bytes; /* of each of its arrays */

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

/* Writes "thread (1, 0, 0) of block (2, 0, 0)". */
void watch_describe(uint32_t block, uint32_t thread, char *text, size_t size);

/* Tells one finding. In the text stands {pc:N} for the source line of the module's byte N, {key:N} for the name of a
 * __shared__ variable there, {data:N} for one of the module's own data. */
void watch_find(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where in the module's file an address is. */
unsigned long watch_offset(const void *address);

#endif
