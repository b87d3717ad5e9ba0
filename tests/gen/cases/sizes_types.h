/* sizes_types.h - types that the kernels of sizes.cu share with C. */
#ifndef SIZES_TYPES_H
#define SIZES_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include <cuferry/types.h>

enum way { HERE, THERE = 7 };

typedef struct particle {
    double position[3];
    int cell;
} particle_t;

struct __attribute__((packed)) odd {
    char before;
    int odd;
};

struct box {
    int size[2];
    uint64_t count;
    unsigned int width;
    enum way kind;
    float ratio;
    struct odd packed;
    struct {
        short depth;
    } nested;
    bool flag;
};

#endif
