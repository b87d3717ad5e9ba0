/* heat3d.cu - one step of diffusion in three dimensions; each thread keeps its values along z in registers. */
#include <cstdlib>
#include <sys/time.h>

#define I3D(nx, ny, i, j, k) ((i) + (nx) * ((j) + (ny) * (k)))

typedef enum { DIRICHLET = 0, PERIODIC = 1 } boundary_t;

static double get_time()
{
    struct timeval tv;
    gettimeofday(&tv, 0);
    return tv.tv_sec + tv.tv_usec * 1e-6;
}

#pragma cf kernel grid(dims.x, dims.y) block(16, 8) in(u[dims.z][dims.y][dims.x]) inout(v[dims.z][dims.y][dims.x]) \
    check(dims.x > 0, dims.y > 0, dims.z > 0) tolerance(1e-12)
__global__ __launch_bounds__(128, 4) void step_kernel(const double *u, double *v, const dim3 dims, double fact,
                                                      boundary_t boundary)
{
    const int nx = dims.x, ny = dims.y, nz = dims.z;
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny)
        return;
    auto at = [=](int x, int y, int z) {
        if (boundary == PERIODIC)
            return u[I3D(nx, ny, (x + nx) % nx, (y + ny) % ny, (z + nz) % nz)];
        return x < 0 || y < 0 || z < 0 || x >= nx || y >= ny || z >= nz ? 0.0 : u[I3D(nx, ny, x, y, z)];
    };
    double below = at(i, j, -1), here = at(i, j, 0);
    for (int k = 0; k < nz; k++) {
        const double above = at(i, j, k + 1);
        v[I3D(nx, ny, i, j, k)] =
            here + fact * (at(i - 1, j, k) + at(i + 1, j, k) + at(i, j - 1, k) + at(i, j + 1, k) + below + above - 6 * here);
        below = here;
        here = above;
    }
}

int main()
{
    double start = get_time();
    dim3 dims(64, 64, 64), threads(16, 8), blocks(dims.x / threads.x, dims.y / threads.y);
    step_kernel<<<blocks, threads>>>(NULL, NULL, dims, 0.1, PERIODIC);
    return get_time() < start ? EXIT_FAILURE : EXIT_SUCCESS;
}
