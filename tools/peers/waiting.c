/* waiting.c - what it costs on the CPU that a CUDA thread waits for others: nanoseconds a thread for each barrier and each warp
 * operation, beside a bare loop that switches between as many stacks. Needs no GPU.
 *
 * usage: peers-waiting [--strict]
 *
 * Exits with 0 where every kernel ran right, 1 where one did not, and with --strict 2 where a target is missed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuferry.h>

#include "waiting_kernels.h"
#include "fiber.h"

enum { RUNS = 15, SWITCHES = 1 << 21, MOST = 1024 };
#define TARGET 15.0

/* Of this thread, which runs all: others may be busy meanwhile. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

/* ---- The bare loop ---- */

static struct {
    struct cf__stacks stacks;
    struct cf__fiber fibers[MOST + 1]; /* the last is the program's own stack */
    int count, rounds;
} ring;

static void go_round(void *data)
{
    int own = (int)(size_t)data, next = own + 1 < ring.count ? own + 1 : 0;
    for (int i = 0; i < ring.rounds; i++)
        cf__fiber_jump(&ring.fibers[own].sp, ring.fibers[next].sp);
    cf__fiber_jump(&ring.fibers[own].sp, ring.fibers[MOST].sp);
}

static double bare_loop(int count)
{
    double times[RUNS];
    if (!cf__stacks_reserve(&ring.stacks, MOST))
        return 0;
    ring.count = count;
    ring.rounds = SWITCHES / count;
    for (int run = 0; run < RUNS; run++) {
        for (int i = 0; i < count; i++)
            cf__fiber_create(&ring.fibers[i], &ring.stacks, (size_t)i, go_round, (void *)(size_t)i);
        double begin = now();
        cf__fiber_jump(&ring.fibers[MOST].sp, ring.fibers[0].sp);
        times[run] = (now() - begin) / ring.rounds / count;
    }
    return median(times, RUNS);
}

/* ---- Kernels ---- */

typedef int kernel(int *ended, int blocks, int size, int rounds);

static const struct {
    const char *name;
    kernel *run;
} kernels[] = {
    {"__syncthreads()", waiting_barriers},   {"__syncthreads_or()", waiting_votes_of_blocks},
    {"__syncwarp()", waiting_warp_barriers}, {"__shfl_xor_sync()", waiting_shuffles},
    {"__ballot_sync()", waiting_votes},      {"__reduce_add_sync()", waiting_warp_sums},
};

static double time_kernel(kernel *run, int size)
{
    double times[RUNS];
    int ended, rounds = SWITCHES / size;
    for (int i = 0; i < RUNS; i++) {
        double begin = now();
        int status = run(&ended, 1, size, rounds);
        times[i] = (now() - begin) / rounds / size;
        if (status != CF_OK || ended != rounds) {
            printf("wrong: %d of %d rounds, %s\n", ended, rounds, status == CF_OK ? "" : cf_last_error());
            exit(1);
        }
    }
    return median(times, RUNS);
}

int main(int argc, char **argv)
{
    int is_strict = argc > 1 && strcmp(argv[1], "--strict") == 0, missed = 0;
    if (cf_device_use(CF_HOST) != CF_OK)
        return 1;
    printf("%-22s %7s %12s %8s %12s\n", "operation", "threads", "ns a thread", "target", "of bare loop");
    for (int size = 32; size <= MOST; size *= size < 256 ? 8 : 4) {
        double bare = bare_loop(size);
        printf("%-22s %7d %12.1f\n", "bare loop", size, bare);
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
            double time = time_kernel(kernels[i].run, size);
            missed |= time > TARGET;
            printf("%-22s %7d %12.1f %8.0f %12.2f%s\n", kernels[i].name, size, time, TARGET, time / bare,
                   time > TARGET ? "  missed" : "");
        }
    }
    cf__stacks_free(&ring.stacks);
    if (cf_shutdown() != CF_OK)
        return 1;
    return is_strict && missed ? 2 : 0;
}
