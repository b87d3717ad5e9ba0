/* cf-demo.c - a demonstration written like an application: gathers 1,048,576 of 134,217,728 floats by random indices,
 * first from host arrays and then on the device, and compares every element with a plain C loop. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cuferry.h>
#include <cuferry/kernels.h>

#include "data/random.h"

#define M INT64_C(134217728)
#define N INT64_C(1048576)
#define REPEATS 21
#define SEED_SOURCE 0
#define SEED_INDEX 1

struct data {
    float *source;    /* M elements */
    int32_t *index;   /* N elements */
    float *expected;  /* N elements, from the plain loop */
    float *from_host; /* N elements, gathered from host arrays */
    float *resident;  /* N elements, gathered on the device */
};

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int report(int status)
{
    if (status != CF_OK)
        fprintf(stderr, "cf-demo: %s (%s)\n", cf_last_error(), cf_status_name(status));
    return status;
}

/* Prints progress. On a terminal, a line overwrites the one before; elsewhere, only the last line is printed. */
static void progress(const char *step, int64_t done, int64_t of)
{
    if (done < of && !isatty(STDOUT_FILENO))
        return;
    printf("%s %3d %%%s", step, (int)(100 * done / of), done == of ? "\n" : "\r");
    fflush(stdout);
}

static void fill(struct data *data)
{
    int64_t part = M / 16;
    for (int64_t i = 0; i < M; i++) {
        if (i % part == 0)
            progress("making 134217728 floats and 1048576 indices ...", i, M);
        data->source[i] = random_f32(SEED_SOURCE, (uint64_t)i);
    }
    for (int64_t i = 0; i < N; i++)
        data->index[i] = (int32_t)random_integer(SEED_INDEX, (uint64_t)i, 0, M);
    progress("making 134217728 floats and 1048576 indices ...", M, M);
    memset(data->from_host, 0xA5, N * sizeof(float)); /* a value that no gather writes */
    memset(data->resident, 0xA5, N * sizeof(float));
}

static int print_device(void)
{
    int device;
    char name[128];
    int status = cf_device_current(&device);
    if (status == CF_OK)
        status = cf_device_name(device, name, sizeof name);
    if (status == CF_OK)
        printf("driver                    %s\ndevice                    %s\n", device == CF_HOST ? "host" : "cuda",
               name);
    return status;
}

/* Makes the plain call, with host arrays for inputs and output. The first call starts the driver and loads the
 * kernel. */
static int gather_from_host(struct data *data)
{
    double begin = milliseconds();
    int status = cf_gather(data->source, data->index, data->from_host, N, M);
    double middle = milliseconds();
    if (status == CF_OK)
        status = cf_gather(data->source, data->index, data->from_host, N, M);
    if (status == CF_OK)
        printf("host arrays, first call   %.3f ms\nhost arrays, second call  %.3f ms\n", middle - begin,
               milliseconds() - middle);
    return status;
}

static int ascending(const void *left, const void *right)
{
    float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

struct device_arrays {
    void *source, *index, *res;
    cf_stream stream;
    cf_event start, stop;
};

static int time_gathers(struct device_arrays *on, float *median)
{
    float times[REPEATS];
    int status =
        cf_gather_async(on->stream, (const float *)on->source, (const int32_t *)on->index, (float *)on->res, N, M);
    for (int i = 0; i < REPEATS && status == CF_OK; i++) {
        status = cf_event_record(on->start, on->stream);
        if (status == CF_OK)
            status = cf_gather_async(on->stream, (const float *)on->source, (const int32_t *)on->index,
                                     (float *)on->res, N, M);
        if (status == CF_OK)
            status = cf_event_record(on->stop, on->stream);
        if (status == CF_OK)
            status = cf_stream_sync(on->stream);
        if (status == CF_OK)
            status = cf_event_elapsed(&times[i], on->start, on->stop);
    }
    if (status == CF_OK) {
        qsort(times, REPEATS, sizeof *times, ascending);
        *median = times[REPEATS / 2];
    }
    return status;
}

static int gather_resident(struct data *data)
{
    struct device_arrays on = {0};
    float median = 0;
    int status = cf_mem_alloc(&on.source, M * sizeof(float));
    if (status == CF_OK)
        status = cf_mem_alloc(&on.index, N * sizeof(int32_t));
    if (status == CF_OK)
        status = cf_mem_alloc(&on.res, N * sizeof(float));
    if (status == CF_OK)
        status = cf_mem_copy(on.source, data->source, M * sizeof(float));
    if (status == CF_OK)
        status = cf_mem_copy(on.index, data->index, N * sizeof(int32_t));
    if (status == CF_OK)
        status = cf_mem_fill(on.res, 0xA5, N * sizeof(float));
    if (status == CF_OK)
        status = cf_stream_create(&on.stream);
    if (status == CF_OK)
        status = cf_event_create(&on.start);
    if (status == CF_OK)
        status = cf_event_create(&on.stop);
    if (status == CF_OK)
        status = time_gathers(&on, &median);
    if (status == CF_OK)
        status = cf_mem_copy(data->resident, on.res, N * sizeof(float));
    if (status == CF_OK) /* bytes per element: an index, an element and a result */
        printf("device arrays, kernel     %.4f ms (median of %d), %.1f GB/s\n", (double)median, REPEATS,
               (double)N * (2 * sizeof(float) + sizeof(int32_t)) / 1e6 / (double)median);
    int given_back[] = {cf_event_destroy(on.start), cf_event_destroy(on.stop), cf_stream_destroy(on.stream),
                        cf_mem_free(on.source),     cf_mem_free(on.index),     cf_mem_free(on.res)};
    for (size_t i = 0; i < sizeof given_back / sizeof *given_back && status == CF_OK; i++)
        status = given_back[i];
    return status;
}

/* Prints suggestions for users whose first step was tools/demo. */
static void print_next(void)
{
    printf("\nto try next, README.md tells more of each:\n"
           "  ./configure --prefix=$HOME/.local && ninja -C build && ninja -C build install   installs what programs "
           "need\n"
           "  cf-run --list   shows all kernels; cf-run runs one on files or on made-up numbers\n"
           "  cfcc heat.cu    compiles a kernel of your own\n"
           "  tools/check     runs all tests\n");
}

static int64_t count_matches(struct data *data)
{
    double begin = milliseconds();
    for (int64_t i = 0; i < N; i++)
        data->expected[i] = data->source[data->index[i]];
    printf("plain C loop, one thread  %.3f ms\n", milliseconds() - begin);
    int64_t matches = 0;
    for (int64_t i = 0; i < N; i++)
        matches += memcmp(&data->from_host[i], &data->expected[i], sizeof(float)) == 0 &&
                   memcmp(&data->resident[i], &data->expected[i], sizeof(float)) == 0;
    return matches;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        fprintf(stderr, "cf-demo: %s: there are no arguments\nusage: cf-demo\n", argv[1]);
        return EXIT_FAILURE;
    }
    struct data data = {malloc(M * sizeof(float)), malloc(N * sizeof(int32_t)), malloc(N * sizeof(float)),
                        malloc(N * sizeof(float)), malloc(N * sizeof(float))};
    int64_t matches = 0;
    if (!data.source || !data.index || !data.expected || !data.from_host || !data.resident) {
        fprintf(stderr, "cf-demo: needs 528 MiB of memory\n");
    } else if (report(print_device()) == CF_OK) {
        fill(&data);
        if (report(gather_from_host(&data)) == CF_OK && report(gather_resident(&data)) == CF_OK) {
            matches = count_matches(&data);
            printf("%" PRId64 " of %" PRId64 " match\n", matches, N);
            print_next();
        }
    }
    free(data.source);
    free(data.index);
    free(data.expected);
    free(data.from_host);
    free(data.resident);
    int status = report(cf_shutdown());
    return matches == N && status == CF_OK ? 0 : 1;
}
