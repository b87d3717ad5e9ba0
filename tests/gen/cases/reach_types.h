/* reach_types.h - types that the kernels of reach.cu share with C. */
#ifndef REACH_TYPES_H
#define REACH_TYPES_H

struct view {
    const float *data;
    int count;
};

struct range {
    int first[2], count;
};

#endif
