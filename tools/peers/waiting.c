/* waiting.c - the CPU cost of waits among CUDA threads: nanoseconds per thread for each barrier and warp operation,
 * beside a bare loop that switches between as many stacks, in this program and in a shared object. Needs no GPU.
 *
 * The least of many short runs counts, since other programs only add to times. A row that misses its target is measured
 * again if the bare loop, which alternates with the kernel, shows such a disturbance.
 *
 * usage: peers-waiting [--strict] [WORD]
 *
 * With a word, only operations with the word in their names.
 *
 * Exits with 0 if every kernel ran right, 1 if one did not, and with --strict 2 if a target is missed, 3 if the
 * processor was too busy to tell. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cuferry.h>

#include "waiting_kernels.h"
#include "cpu/fiber.h"

enum { RUNS = 31, SWITCHES = 1 << 18, MOST = 1024, TRIES = 4 };
#define TARGET 15.0

/* Part by which the bare loop exceeds its best time when other programs use the processor. */
#define DISTURBED 1.1

/* CPU time of this thread, which runs everything. */
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
        cf__fiber_jump(&ring.fibers[own].sp, ring.fibers[next].sp, &cf__fiber_nothing);
    cf__fiber_jump(&ring.fibers[own].sp, ring.fibers[MOST].sp, &cf__fiber_nothing);
}

static double best_loop; /* with this many threads, so far */

static double bare_loop(int count)
{
    ring.count = count;
    ring.rounds = SWITCHES / count;
    for (int i = 0; i < count; i++)
        cf__fiber_create(&ring.fibers[i], &ring.stacks, (size_t)i, go_round, (void *)(size_t)i);
    double begin = now();
    cf__fiber_jump(&ring.fibers[MOST].sp, ring.fibers[0].sp, &cf__fiber_nothing);
    double time = (now() - begin) / ring.rounds / count;
    best_loop = best_loop == 0 || time < best_loop ? time : best_loop;
    return time;
}

/* ---- Kernels ---- */

typedef int kernel(int *ended, int blocks, int size, int rounds);

static const struct {
    const char *name, *function;
    kernel *run;
} kernels[] = {
    {"__syncthreads()", "barriers", waiting_barriers},
    {"__syncthreads_or()", "votes_of_blocks", waiting_votes_of_blocks},
    {"__syncwarp()", "warp_barriers", waiting_warp_barriers},
    {"__shfl_xor_sync()", "shuffles", waiting_shuffles},
    {"__ballot_sync()", "votes", waiting_votes},
    {"__reduce_add_sync()", "warp_sums", waiting_warp_sums},
    {"cuda::barrier", "memory_barriers", waiting_memory_barriers},
    {"thread_block_tile", "tile_barriers", waiting_tile_barriers},
};

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

struct row {
    double time, loop, ratio; /* the least time; medians of the others */
};

static struct row measure(kernel *run, int size)
{
    double loops[RUNS], ratios[RUNS], least = 0;
    for (int i = 0; i < RUNS; i++) {
        double before = bare_loop(size), time = time_kernel(run, size);
        loops[i] = (before + bare_loop(size)) / 2;
        ratios[i] = time / loops[i];
        least = i == 0 || time < least ? time : least;
    }
    return (struct row){least, median(loops, RUNS), median(ratios, RUNS)};
}

enum { MET, MISSED, NOT_JUDGED };

/* Prints a row. A row that misses the target is measured again if it was disturbed. */
static int judge(const char *name, kernel *run, int size)
{
    struct row row = measure(run, size);
    for (int i = 1; i < TRIES && row.time > TARGET && row.loop > DISTURBED * best_loop; i++) {
        printf("%-22s %7d %12.1f          measured again: the bare loop takes %.1f, at best %.1f\n", name, size,
               row.time, row.loop, best_loop);
        struct row again = measure(run, size);
        row = again.time < row.time ? again : row;
    }
    static const char *const texts[] = {"", "  missed", "  not judged: something else has the processor"};
    int verdict = row.time <= TARGET ? MET : row.loop > DISTURBED * best_loop ? NOT_JUDGED : MISSED;
    printf("%-22s %7d %12.1f %8.0f %12.2f%s\n", name, size, row.time, TARGET, row.ratio, texts[verdict]);
    return verdict;
}

/* The same kernels in a shared object, which has its own copy of the library. */
static void *open_module(void)
{
    char path[PATH_MAX + 32];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
    if (!slash)
        return NULL;
    strcpy(slash + 1, "tools/peers/waiting.so");
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static kernel *find(void *module, const char *function)
{
    kernel *found = NULL;
    char name[64];
    snprintf(name, sizeof name, "module_%s", function);
    *(void **)&found = dlsym(module, name);
    return found;
}

int main(int argc, char **argv)
{
    int is_strict = argc > 1 && strcmp(argv[1], "--strict") == 0, verdicts[3] = {0, 0, 0};
    const char *word = argc > 1 + is_strict ? argv[1 + is_strict] : "";
    void *module = open_module();
    if (setenv("CF_DRIVER", "host", 1) != 0 || cf_device_use(CF_HOST) != CF_OK || !module ||
        !cf__stacks_reserve(&ring.stacks, MOST)) {
        fprintf(stderr, "peers-waiting: %s\n", module ? "no memory" : dlerror());
        return 1;
    }
    printf("%-22s %7s %12s %8s %12s\n", "operation", "threads", "ns a thread", "target", "of bare loop");
    for (int size = 32; size <= MOST; size *= size < 256 ? 8 : 4) {
        best_loop = 0;
        for (int i = 0; i < RUNS; i++)
            (void)bare_loop(size);
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
            if (!strstr(kernels[i].name, word))
                continue;
            kernel *other = find(module, kernels[i].function);
            verdicts[judge(kernels[i].name, kernels[i].run, size)]++;
            if (!other)
                return 1;
            verdicts[judge("  in a shared object", other, size)]++;
        }
        printf("%-22s %7d %12.1f\n", "bare loop, at best", size, best_loop);
    }
    cf__stacks_free(&ring.stacks);
    if (cf_shutdown() != CF_OK)
        return 1;
    printf("%d met, %d missed, %d not judged\n", verdicts[MET], verdicts[MISSED], verdicts[NOT_JUDGED]);
    return !is_strict ? 0 : verdicts[MISSED] ? 2 : verdicts[NOT_JUDGED] ? 3 : 0;
}
