/* real_types.h - what the kernels of real_*.cu share with their callers, in C. */
#ifndef REAL_TYPES_H
#define REAL_TYPES_H

#include <cuferry/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The precision that a build chooses once. */
#ifdef REAL_SINGLE
typedef float real;
#else
typedef double real;
#endif

/* Fixed width, and not: indices of elements and of blocks. */
typedef int32_t index_type;
typedef unsigned int uint;
typedef size_t extent;

/* ---- Fluids ---------------------------------------------------------------------------------------------------- */

/* Cells of a block of the mesh, without its halo; rows are `pitch` elements apart. */
struct mesh {
    int nx, ny, nz;
    int halo;
    long pitch;
    double spacing[3];
};

typedef struct {
    double *density, *momentum, *energy;
} flow_state;

enum side { SIDE_LOW, SIDE_HIGH };

typedef enum { LIMITER_NONE, LIMITER_MINMOD, LIMITER_SUPERBEE } limiter;

/* ---- Molecules ------------------------------------------------------------------------------------------------- */

/* Columns of `count` particles, all in device memory. */
typedef struct particles {
    float *x, *y, *z;
    float *vx, *vy, *vz;
    const float *mass;
    int count;
} particles;

struct bond {
    int32_t first, second;
    float stiffness, length;
};

typedef struct cell_box {
    float origin[3], size[3];
    int32_t cells[3];
    bool periodic[3];
} cell_box;

/* ---- Matrices -------------------------------------------------------------------------------------------------- */

struct csr {
    const int32_t *start; /* rows + 1 of them */
    const int32_t *column;
    const double *value;
    int32_t rows, columns;
    int64_t entries;
};

/* ---- Images ---------------------------------------------------------------------------------------------------- */

typedef struct image {
    unsigned char *pixels;
    unsigned width, height;
    size_t pitch; /* bytes */
} image;

typedef union pixel {
    uint32_t packed;
    uint8_t channel[4];
} pixel;

/* ---- Densities ------------------------------------------------------------------------------------------------- */

enum functional { FUNCTIONAL_LDA = 1, FUNCTIONAL_PBE = 101 };

struct basis {
    int count, lmax;
    double exponent[8];
    int64_t points;
};

#ifdef __cplusplus
}
#endif
#endif
