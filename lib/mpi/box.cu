/* box - copies boxes of an array of up to three dimensions to a buffer, and back, for halos. */
#include <stdint.h>

/* Number of elements that a thread copies. */
#ifdef __CUDA_ARCH__
#define BOX_RUN 1
#else
#define BOX_RUN 4096
#endif

/* A box of an array, and its position in the buffer. Distances are in elements of the array. */
struct cfmpi_box {
    int64_t begin, end;       /* range of the box's elements in the buffer */
    int64_t cell;             /* index of the box's first element in the array */
    int64_t rows, width;      /* extents of the two inner dimensions */
    int64_t plane, row, step; /* distances between elements in the three dimensions */
};

/* Boxes in the order of the buffer. Elements of the buffer between two boxes belong to neither. */
struct cfmpi_boxes {
    struct cfmpi_box at[26];
};

/* Copies elements at constant distances. Contiguous elements have a separate loop, for which the CPU's compiler
 * generates wide moves. */
template <typename T>
__device__ __forceinline__ void copy_row(T *__restrict__ to, int64_t to_step, const T *__restrict__ from,
                                         int64_t from_step, int64_t count)
{
    if (to_step == 1 && from_step == 1)
        for (int64_t i = 0; i < count; i++)
            to[i] = from[i];
    else
        for (int64_t i = 0; i < count; i++)
            to[i * to_step] = from[i * from_step];
}

/* Calls copy(element of the buffer, element of the array, step, count) for the elements of the buffer that this thread
 * copies. The buffer has n elements, and the last box ends at n. */
template <typename F>
__device__ __forceinline__ void for_rows(const cfmpi_boxes &boxes, int64_t n, F copy)
{
    int64_t begin = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * BOX_RUN;
    const int64_t end = begin + BOX_RUN < n ? begin + BOX_RUN : n;
    for (int b = 0; begin < end; b++) {
        const cfmpi_box &box = boxes.at[b];
        const int64_t stop = end < box.end ? end : box.end;
        begin = begin < box.begin ? box.begin : begin;
        if (begin >= stop)
            continue;
        const int64_t i = begin - box.begin;
        int64_t x = i % box.width, y = i / box.width % box.rows, z = i / box.width / box.rows;
        while (begin < stop) {
            const int64_t length = stop - begin < box.width - x ? stop - begin : box.width - x;
            copy(begin, box.cell + z * box.plane + y * box.row + x * box.step, box.step, length);
            begin += length;
            x = 0;
            if (++y == box.rows) {
                y = 0;
                z++;
            }
        }
    }
}

/* Copies boxes of an array, which has `cells` elements, to a buffer of n elements. */
#pragma cf kernel grid(n) host(grid((n - 1) / 4096 + 1)) in(array[cells]) inout(buffer[n])
#pragma cf instances(b8: uint8_t; b16: uint16_t; b32: uint32_t; b64: uint64_t; b128: uint4)
template <typename T>
__global__ void pack_boxes(cfmpi_boxes boxes, const T *__restrict__ array, T *__restrict__ buffer, int64_t n,
                           int64_t cells)
{
    for_rows(boxes, n, [&](int64_t at, int64_t cell, int64_t step, int64_t count) {
        copy_row(buffer + at, 1, array + cell, step, count);
    });
}

/* Copies a buffer of n elements to boxes of an array, which has `cells` elements. */
#pragma cf kernel grid(n) host(grid((n - 1) / 4096 + 1)) in(buffer[n]) inout(array[cells])
#pragma cf instances(b8: uint8_t; b16: uint16_t; b32: uint32_t; b64: uint64_t; b128: uint4)
template <typename T>
__global__ void unpack_boxes(cfmpi_boxes boxes, const T *__restrict__ buffer, T *__restrict__ array, int64_t n,
                             int64_t cells)
{
    for_rows(boxes, n, [&](int64_t at, int64_t cell, int64_t step, int64_t count) {
        copy_row(array + cell, step, buffer + at, 1, count);
    });
}
