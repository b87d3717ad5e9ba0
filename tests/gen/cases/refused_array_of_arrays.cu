/* refused_array_of_arrays - rows of a fixed length; expected: an array of arrays is refused, use a flat one. */
#define NX 128

#pragma cf kernel grid(NX, ny) block(32, 8) inout(u[ny][NX])
__global__ void damp(double u[][NX], int ny, double factor)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < NX && y < ny)
        u[y][x] *= factor;
}

#pragma cf kernel grid(NX, ny) block(32, 8) inout(u[ny][NX])
__global__ void damp_pointer(double (*u)[NX], int ny, double factor)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < NX && y < ny)
        u[y][x] *= factor;
}
