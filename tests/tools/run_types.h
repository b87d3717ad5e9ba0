/* run_types.h - types of the parameters of kernels in run.cu. */
#ifndef RUN_TYPES_H
#define RUN_TYPES_H

#include <cuferry/types.h>

enum colour { RED, GREEN = -5 };

/* 24 bytes; the last 7 are padding. */
struct body {
    double mass;
    int64_t id;
    char kind;
};

struct reading {
    cf_half value;
    cf_float3 at;
};

struct grid {
    int nx, ny, step;
};

#endif
