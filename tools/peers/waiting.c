/* waiting.c - measures the cost on the CPU of waits among CUDA threads: nanoseconds per thread for barriers and warp
 * operations, compared with a bare loop that switches between as many stacks. Needs no GPU.
 *
 * The least time of many short runs counts, since other programs can only increase times.
 *
 * usage: peers-waiting
 *
 * Exits with 0 if every kernel ran right. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cuferry.h>

#include "waiting_kernels.h"
#include "cpu/fiber.h"

enum { RUNS = 31, SWITCHES = 1 << 18, MOST = 1024 };

/* Returns the CPU time of this thread, which runs everything, in seconds. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* ---- The bare loop ---- */

static struct {
    struct cf__stacks stacks;
    struct cf__fiber fibers[MOST + 1]; /* the last one is the program's own stack */
    int count, rounds;
} ring;

static void go_round(void *data)
{
    int own = (int)(size_t)data, next = own + 1 < ring.count ? own + 1 : 0;
    for (int i = 0; i < ring.rounds; i++)
        cf__fiber_jump(&ring.fibers[own].sp, ring.fibers[next].sp, &cf__fiber_nothing);
    cf__fiber_jump(&ring.fibers[own].sp, ring.fibers[MOST].sp, &cf__fiber_nothing);
}

static double bare_loop(int count)
{
    ring.count = count;
    ring.rounds = SWITCHES / count;
    for (int i = 0; i < count; i++)
        cf__fiber_create(&ring.fibers[i], &ring.stacks, (size_t)i, go_round, (void *)(size_t)i);
    double begin = now();
    cf__fiber_jump(&ring.fibers[MOST].sp, ring.fibers[0].sp, &cf__fiber_nothing);
    return (now() - begin) / ring.rounds / count;
}

/* ---- Kernels ---- */

typedef int kernel(int *ended, int blocks, int size, int rounds);

static const struct {
    const char *name;
    kernel *run;
} kernels[] = {{"__syncthreads()", waiting_barriers},
               {"__shfl_xor_sync()", waiting_shuffles},
               {"cuda::barrier", waiting_memory_barriers},
               {"thread_block_tile", waiting_tile_barriers}};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static double time_kernel(kernel *run, int size)
{
    int ended, rounds = SWITCHES / size;
    double begin = now();
    int status = run(&ended, 1, size, rounds);
    double time = (now() - begin) / rounds / size;
    if (status != CF_OK || ended != rounds) {
        printf("wrong: %d of %d rounds\n", ended, rounds);
        exit(1);
    }
    return time;
}

/* The kernels and the loop take turns, so that all see the same machine. */
static void measure(int size)
{
    double least[KERNELS + 1];
    for (int run = 0; run < RUNS; run++)
        for (int i = 0; i <= KERNELS; i++) {
            double time = i < KERNELS ? time_kernel(kernels[i].run, size) : bare_loop(size);
            least[i] = run == 0 || time < least[i] ? time : least[i];
        }
    for (int i = 0; i <= KERNELS; i++)
        printf("%-22s %7d %12.1f %12.2f\n", i < KERNELS ? kernels[i].name : "bare loop", size, least[i],
               least[i] / least[KERNELS]);
}

int main(void)
{
    if (setenv("CF_DRIVER", "host", 1) != 0 || cf_device_use(CF_HOST) != CF_OK ||
        !cf__stacks_reserve(&ring.stacks, MOST)) {
        fprintf(stderr, "peers-waiting: no memory\n");
        return 1;
    }
    printf("%-22s %7s %12s %12s\n", "operation", "threads", "ns a thread", "of bare loop");
    for (int size = 32; size <= MOST; size *= size < 256 ? 8 : 4)
        measure(size);
    cf__stacks_free(&ring.stacks);
    return cf_shutdown() != CF_OK;
}
