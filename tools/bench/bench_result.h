/* bench_result.h - results of a benchmark: the machine, its measured bandwidth, and a result per kernel and size. */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "bench/bench_statistics.h"

/* Texts are arrays of these sizes, because results are written to a pipe as plain data; longer texts are cut. */
#define BENCH_NAME 160
#define BENCH_REASON 512

/* Ways to access arrays in memory; bench_limit_name() names them. */
enum bench_access {
    BENCH_COPY,   /* y[i] = x[i]; on a GPU, the driver copies */
    BENCH_UPDATE, /* y[i] += a x[i] */
    BENCH_READ    /* the sum of x[i] and y[i] */
};
#define BENCH_ACCESSES 3

/* The highest measured speed at which the device accesses memory, which is the limit for kernels. */
struct bench_limit {
    enum bench_access access;
    double bytes; /* bytes read and written by one pass */
    struct bench_statistics seconds;
};

struct bench_machine {
    char version[32]; /* Cuferry's version */
    char date[16];    /* day of the run, "2026-05-01"; empty if unknown */
    char system[BENCH_NAME];
    char processor[BENCH_NAME];
    int threads;     /* number of threads that run kernels on the CPU */
    int on_cuda;     /* 1: on a GPU, 0: on the CPU */
    char driver[32]; /* CUDA version of the driver: "13.0"; empty on the CPU */
    int device;
    char device_name[BENCH_NAME];
    int64_t capability;
    int64_t memory, cache; /* bytes; the cache is the last-level cache */
    struct bench_limit limit;
};

enum bench_outcome {
    BENCH_MEASURED,
    BENCH_LEFT_OUT, /* the kernel cannot run, or not at that size */
    BENCH_FAILED    /* the kernel is wrong */
};

struct bench_result {
    char kernel[BENCH_NAME];
    char variant[BENCH_NAME]; /* "BLOCK=128,ITEMS=2" for a tuned kernel; otherwise empty */
    int64_t size;
    enum bench_outcome outcome;
    char reason[BENCH_REASON];       /* empty for BENCH_MEASURED; only then are the fields below set */
    char values[BENCH_NAME];         /* values of the parameters: "n = 1024" */
    int64_t elements;                /* number of elements in the largest array */
    int size_class;                  /* the library's class of the size, by which it chooses a variant */
    double bytes, flops;             /* work of one launch; flops below 0: not declared */
    int64_t copies;                  /* number of copies of the arrays, used in turn */
    int64_t batch;                   /* launches per sample */
    int is_verified;                 /* the result was compared with the CPU's */
    struct bench_statistics seconds; /* per launch */
};

/* Returns bytes per second. */
static inline double bench_bandwidth(double bytes, const struct bench_statistics *seconds)
{
    return seconds->median > 0 ? bytes / seconds->median : 0;
}

struct bench_run {
    struct bench_machine machine;
    struct bench_result *results;
    size_t count;
};

#endif
