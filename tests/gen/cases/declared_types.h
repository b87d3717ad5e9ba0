/* declared_types.h - types that kernels share with C programs. */
#ifndef DECLARED_TYPES_H
#define DECLARED_TYPES_H

#include <cuferry/types.h>

typedef double real;

enum color { RED, GREEN = 4, BLUE };

struct body {
    cf_float4 position;
    real mass;
};

typedef struct {
    int nx, ny;
    int halo[2];
    struct {
        float h;
        int count;
    } step;
    real *field;
} grid_t;

struct state {
    enum { IDLE, BUSY } now;
};

typedef struct box {
    cf_int3 low, high;
} box;

#endif
