/* mpi_jacobi.cu - kernel for a step of Jacobi's method. */
#include <stdint.h>

/* A box of cells, and the side lengths of the array that contains it. */
struct jacobi_box {
    int64_t first[3], extents[3], sides[3];
};

/* v = the mean of u's six neighbours in a box of cells. */
#pragma cf kernel grid(box.extents[2], box.extents[1], box.extents[0]) block(32, 4, 2) \
    in(u[box.sides[0]][box.sides[1]][box.sides[2]]) inout(v[box.sides[0]][box.sides[1]][box.sides[2]])
__global__ void step(const double *__restrict__ u, double *__restrict__ v, jacobi_box box)
{
    const int64_t x = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t z = (int64_t)blockIdx.z * blockDim.z + threadIdx.z;
    if (x < box.extents[2] && y < box.extents[1] && z < box.extents[0]) {
        const int64_t row = box.sides[2], plane = box.sides[1] * row;
        const int64_t i = (z + box.first[0]) * plane + (y + box.first[1]) * row + x + box.first[2];
        v[i] = (u[i - 1] + u[i + 1] + u[i - row] + u[i + row] + u[i - plane] + u[i + plane]) / 6;
    }
}
