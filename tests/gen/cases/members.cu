// Checks on members of structs and components of vectors.
#include "declared_types.h"

#pragma cf include("declared_types.h")

#pragma cf kernel grid(n) in(edges[n]) inout(boxes[n / 2][2]) \
    check(0 <= edges[:].x < m, edges[:].y >= 0, boxes[:].low.z <= boxes_z, 1 <= boxes[:].high.x)
__global__ void place(const int2 *edges, box *boxes, int n, int m, long boxes_z)
{
}

/* The type of the members is the instance's. */
#pragma cf kernel grid(n) in(x[n], grids[n]) out(y[n]) check(x[:].w < 3, grids[:].halo[1] > 0, grids[:].step.count > 0)
#pragma cf instances(i32: int4; u8: uchar4)
template <typename T> __global__ void pick(const T *x, const grid_t *grids, float *y, int n)
{
}
