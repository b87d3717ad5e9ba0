/* port_stencil.cu - stencils and images in typical CUDA style: halos, marching, constant filters. */
#include <stdint.h>

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

/* ---- Five points of a plane, a tile with a halo ---- */

#define BX 32
#define BY 8

/* v = u + c (the sum of the four neighbors - 4 u) inside; v = u on the border. */
#pragma cf kernel grid(nx, ny) block(BX, BY) in(u[ny][nx]) out(v[ny][nx]) pitch(u: ld; v: ld) check(ld >= nx) \
    tolerance(1e-6) flops(6.0 * nx * ny) bytes(8.0 * nx * ny)
__global__ void heat(const float *__restrict__ u, float *__restrict__ v, float c, int nx, int ny, int ld)
{
    __shared__ float tile[BY + 2][BX + 2];
    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const bool is_there = x < nx && y < ny;
    const int at = y * ld + x;
    if (is_there) {
        tile[ty][tx] = u[at];
        if (threadIdx.x == 0 && x > 0)
            tile[ty][0] = u[at - 1];
        if (threadIdx.x == BX - 1 && x + 1 < nx)
            tile[ty][BX + 1] = u[at + 1];
        if (threadIdx.y == 0 && y > 0)
            tile[0][tx] = u[at - ld];
        if (threadIdx.y == BY - 1 && y + 1 < ny)
            tile[BY + 1][tx] = u[at + ld];
    }
    __syncthreads();
    if (!is_there)
        return;
    if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1)
        v[at] = tile[ty][tx];
    else
        v[at] = tile[ty][tx] + c * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] -
                                    4.0f * tile[ty][tx]);
}

/* ---- Seven points of a box: a plane of threads marches along z ---- */

struct box {
    int nx, ny, nz;
};

#define INDEX(i, j, k) (((size_t)(k)*b.ny + (j)) * b.nx + (i))

/* Computes the Laplacian inside; the border of v is unchanged. */
#pragma cf kernel grid(nx, ny) block(16, 4) in(u[nz][ny][nx]) inout(v[nz][ny][nx]) tolerance(1e-12)
__global__ void laplace(const double *u, double *v, int nx, int ny, int nz)
{
    __shared__ double plane[6][18];
    const box b = {nx, ny, nz};
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    const bool is_there = i < nx && j < ny, is_inside = i > 0 && j > 0 && i < nx - 1 && j < ny - 1;
    double below = 0, here = is_there && nz > 0 ? u[INDEX(i, j, 0)] : 0;
    double above = is_there && nz > 1 ? u[INDEX(i, j, 1)] : 0;
    for (int k = 1; k < nz - 1; k++) {
        below = here;
        here = above;
        above = is_there ? u[INDEX(i, j, k + 1)] : 0;
        __syncthreads();
        plane[ty][tx] = here;
        if (is_inside && threadIdx.x == 0)
            plane[ty][0] = u[INDEX(i - 1, j, k)];
        if (is_inside && threadIdx.x == blockDim.x - 1)
            plane[ty][tx + 1] = u[INDEX(i + 1, j, k)];
        if (is_inside && threadIdx.y == 0)
            plane[0][tx] = u[INDEX(i, j - 1, k)];
        if (is_inside && threadIdx.y == blockDim.y - 1)
            plane[ty + 1][tx] = u[INDEX(i, j + 1, k)];
        __syncthreads();
        if (is_inside)
            v[INDEX(i, j, k)] = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below +
                                above - 6 * here;
    }
}

/* The same with threads in three dimensions and no shared memory. */
#pragma cf kernel grid(nx, ny, nz) block(8, 8, 4) in(u[nz][ny][nx]) inout(v[nz][ny][nx]) tolerance(1e-12)
__global__ void laplace_plain(const double *u, double *v, int nx, int ny, int nz)
{
    const box b = {nx, ny, nz};
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    const int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1)
        return;
    v[INDEX(i, j, k)] = u[INDEX(i - 1, j, k)] + u[INDEX(i + 1, j, k)] + u[INDEX(i, j - 1, k)] + u[INDEX(i, j + 1, k)] +
                        u[INDEX(i, j, k - 1)] + u[INDEX(i, j, k + 1)] - 6 * u[INDEX(i, j, k)];
}

/* ---- Jacobi's iteration, with the largest change ---- */

__device__ float atomic_max_of_positive(float *address, float value)
{
    return __int_as_float(atomicMax(reinterpret_cast<int *>(address), __float_as_int(value)));
}

/* One step for n unknowns of -u'' = f on a line; `change` is raised to the maximum of |v - u|. */
#pragma cf kernel grid(n) block(128) in(u[n], f[n]) out(v[n]) inout(change[1]) tolerance(1e-6)
__global__ void jacobi(const float *__restrict__ u, const float *__restrict__ f, float *__restrict__ v, float *change,
                       int n)
{
    __shared__ float largest[4];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = 0;
    if (i < n) {
        const float left = i > 0 ? u[i - 1] : 0.0f, right = i < n - 1 ? u[i + 1] : 0.0f;
        const float next = 0.5f * (left + right + f[i]);
        mine = fabsf(next - u[i]);
        v[i] = next;
    }
    for (int offset = 16; offset; offset /= 2)
        mine = fmaxf(mine, __shfl_down_sync(0xffffffff, mine, offset));
    if ((threadIdx.x & 31) == 0)
        largest[threadIdx.x >> 5] = mine;
    __syncthreads();
    if (threadIdx.x == 0)
        atomic_max_of_positive(change, fmaxf(fmaxf(largest[0], largest[1]), fmaxf(largest[2], largest[3])));
}

/* ---- The Game of Life on a torus ---- */

#pragma cf kernel grid(width, height) block(16, 16) in(before[height][width]) out(after[height][width]) \
    check(before[:] <= 1)
__global__ void life(const unsigned char *before, unsigned char *after, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                alive += before[(y + dy + height) % height * width + (x + dx + width) % width];
    after[y * width + x] = alive == 3 || (alive == 2 && before[y * width + x]);
}

/* ---- Convolution with a filter in constant memory ---- */

#define RADIUS 4

__constant__ float filter[2 * RADIUS + 1] = {1.0f};

/* Along rows; elements outside count as 0. The tile has a halo at both ends. */
#pragma cf kernel grid(width, height) block(64, 4) in(from[height][width]) out(to[height][width]) tolerance(1e-5)
__global__ void convolve_rows(const float *from, float *to, int width, int height)
{
    __shared__ float tile[4][64 + 2 * RADIUS];
    const int y = blockIdx.y * 4 + threadIdx.y, begin = blockIdx.x * 64 - RADIUS;
    for (int i = threadIdx.x; i < 64 + 2 * RADIUS; i += 64) {
        const int x = begin + i;
        tile[threadIdx.y][i] = y < height && x >= 0 && x < width ? from[y * width + x] : 0.0f;
    }
    __syncthreads();
    const int x = blockIdx.x * 64 + threadIdx.x;
    if (x >= width || y >= height)
        return;
    float sum = 0;
#pragma unroll
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += filter[k] * tile[threadIdx.y][threadIdx.x + k];
    to[y * width + x] = sum;
}

/* Along columns, from global memory. */
#pragma cf kernel grid(width, height) block(32, 8) in(from[height][width]) out(to[height][width]) tolerance(1e-5)
__global__ void convolve_columns(const float *from, float *to, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        if (y + k >= 0 && y + k < height)
            sum += filter[k + RADIUS] * from[(y + k) * width + x];
    to[y * width + x] = sum;
}

/* ---- Images ---- */

#pragma cf kernel grid(width, height) block(32, 8) in(colours[height][width]) out(grey[height][width])
__global__ void rgb_to_grey(const uchar4 *__restrict__ colours, unsigned char *__restrict__ grey, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uchar4 c = colours[y * width + x];
    grey[y * width + x] = (unsigned char)((77u * c.x + 150u * c.y + 29u * c.z + 128u) >> 8);
}

/* The size of the gradient at each pixel; the border is extended outward. */
#pragma cf kernel grid(width, height) block(16, 16) in(grey[height][width]) out(edges[height][width])
__global__ void sobel(const unsigned char *grey, unsigned char *edges, int width, int height)
{
    __shared__ unsigned char tile[18][18];
    const int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 16 - 1;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
        const int x = min(max(x0 + i % 18, 0), width - 1), y = min(max(y0 + i / 18, 0), height - 1);
        tile[i / 18][i % 18] = grey[y * width + x];
    }
    __syncthreads();
    const int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
#define P(dx, dy) ((int)tile[ty + (dy)][tx + (dx)])
    const int gx = P(1, -1) + 2 * P(1, 0) + P(1, 1) - P(-1, -1) - 2 * P(-1, 0) - P(-1, 1);
    const int gy = P(-1, 1) + 2 * P(0, 1) + P(1, 1) - P(-1, -1) - 2 * P(0, -1) - P(1, -1);
#undef P
    edges[y * width + x] = (unsigned char)min(255, abs(gx) + abs(gy));
}
