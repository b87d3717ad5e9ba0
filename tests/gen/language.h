/* language.h - types that language.cu and test_language.c share. */
#ifndef LANGUAGE_H
#define LANGUAGE_H

#include <cuferry/types.h>

typedef double real;

enum mode { COPY, NEGATE, SCALE_BY = 7 };

struct field {
    int nx, ny, ld;
    float h[2];
};

struct tag {
    short kinds[3];
};

struct joint {
    double weight;
    cf_int2 ends;
    struct tag tag;
};

struct particle {
    cf_float4 position;
    int cell;
};

#endif
