/* tensor_map - kernels for GPUs take tensor maps by value and by pointer, and __grid_constant__ parameters. */
#include <cuda.h>

struct Tile {
    int rows, columns;
};

#pragma cf kernel blocks(rows / 8) block(32) resident(maps) out(y[rows][8]) host(none)
__global__ void fetch(const __grid_constant__ CUtensorMap map, const CUtensorMap *maps, float *y,
                      const int __grid_constant__ rows)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map));
    y[blockIdx.x * 32 + threadIdx.x] = maps != nullptr;
}

#pragma cf kernel grid(tile.rows, tile.columns) inout(x[tile.columns][tile.rows])
__global__ void scale(float *x, __grid_constant__ const Tile tile, const __grid_constant__ float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < tile.rows && j < tile.columns)
        x[j * tile.rows + i] *= by;
}
