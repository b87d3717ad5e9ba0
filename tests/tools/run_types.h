/* run_types.h - types that the kernels of run.cu take. */
#ifndef RUN_TYPES_H
#define RUN_TYPES_H

#include <cuferry/types.h>

enum colour { RED, GREEN = -5 };

/* 24 bytes, 7 of them at the end unused. */
struct body {
    double mass;
    int64_t id;
    char kind;
};

struct grid {
    int nx, ny, step;
};

#endif
