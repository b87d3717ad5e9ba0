// plain_loops.h - the hand-written loops of plain_loops.cpp.
#ifndef PLAIN_LOOPS_H
#define PLAIN_LOOPS_H

#include <cstdint>

enum loop_kind { SAXPY, TAKE, POLYNOMIAL, STENCIL_2D, STENCIL_3D };
enum index_kind { I32, U32, I64 };

struct loop_data {
    const float *x;
    const int32_t *index;
    float *y;
    int64_t nx, ny, nz;
};

// The bundled kernels that read or write arrays once; rows of `width` elements in GATHER_ROWS.
enum stream_kind { FILL, COPY, SCALE, MULTIPLY, AXPY, WAXPY, GATHER, SCATTER, GATHER_ROWS, STREAMS };

template <typename T> struct stream_data {
    T a;
    const T *x, *y;
    const int32_t *index;
    T *z;
    int64_t n, width;
};
void plain_stream(stream_kind kind, bool by_one, const stream_data<float> &data);
void plain_stream(stream_kind kind, bool by_one, const stream_data<double> &data);
void plain_stream_v3(stream_kind kind, bool by_one, const stream_data<float> &data);
void plain_stream_v3(stream_kind kind, bool by_one, const stream_data<double> &data);

// One of the loops, on one thread or on OpenMP's threads.
void plain_loop(loop_kind kind, index_kind index, bool by_one, const loop_data &data);
void plain_loop_v3(loop_kind kind, index_kind index, bool by_one, const loop_data &data);

#endif
