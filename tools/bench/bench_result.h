/* bench_result.h - what a benchmark has found: the machine, its copy bandwidth, and a result for each kernel and size. */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "bench/bench_statistics.h"

/* All of it is plain data that goes through a pipe: longer texts are cut. */
#define BENCH_NAME 160
#define BENCH_REASON 512

/* How fast the device copies memory of its own. */
struct bench_copy {
    double bytes; /* read and written by one copy */
    struct bench_statistics seconds;
};

struct bench_machine {
    char version[32]; /* of Cuferry */
    char date[16];    /* of the run, "2026-05-01"; empty where it is not known */
    char system[BENCH_NAME];
    char processor[BENCH_NAME];
    int threads;     /* that run kernels on the CPU */
    int on_cuda;     /* else on the CPU */
    char driver[32]; /* version of CUDA that the driver is for: "13.0"; empty on the CPU */
    int device;
    char device_name[BENCH_NAME];
    int64_t capability;
    int64_t memory, cache; /* bytes; the cache is the last one before memory */
    struct bench_copy copy;
};

enum bench_outcome {
    BENCH_MEASURED,
    BENCH_LEFT_OUT, /* it cannot be run, or not at that size */
    BENCH_FAILED    /* the kernel is wrong */
};

struct bench_result {
    char kernel[BENCH_NAME];
    char variant[BENCH_NAME]; /* "BLOCK=128,ITEMS=2" of a tuned kernel; else empty */
    int64_t size;
    enum bench_outcome outcome;
    char reason[BENCH_REASON];       /* empty of BENCH_MEASURED, whose are the fields below */
    char values[BENCH_NAME];         /* of the parameters: "n = 1024" */
    int64_t elements;                /* of the largest array */
    int size_class;                  /* that the library has it in, to choose a variant */
    double bytes, flops;             /* of one launch; flops below 0 where they are not declared */
    int64_t copies;                  /* of the arrays, which the launches take in turn */
    int64_t batch;                   /* launches of a sample */
    int is_verified;                 /* compared with the CPU before */
    struct bench_statistics seconds; /* of one launch */
};

/* Bytes per second. */
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
