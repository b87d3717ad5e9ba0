/* real_cfd - kernels of computational fluid dynamics: halos, pitches, states of pointers, limiters. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <math.h>

#include "real_types.h"

#pragma cf include("real_types.h")

#define TILE_X 32
#define TILE_Y 8
#define GAMMA 1.4

namespace cg = cooperative_groups;

#define CUDA_CHECK(call)           \
    do {                           \
        cudaError_t status = call; \
        if (status != cudaSuccess) \
            return status;         \
    } while (0)

/* Weights of the five points of the filter, the middle one third. */
__constant__ double filter_weight[5];

__constant__ real relaxation;

namespace
{
__device__ __forceinline__ double limited(double a, double b, limiter kind)
{
    if (kind == LIMITER_NONE)
        return 0.5 * (a + b);
    if (a * b <= 0)
        return 0;
    double least = fabs(a) < fabs(b) ? a : b;
    if (kind == LIMITER_MINMOD)
        return least;
    double most = fabs(a) < fabs(b) ? b : a;
    return fabs(2 * least) < fabs(most) ? 2 * least : most;
}
} // namespace

static inline __host__ __device__ double pressure(double density, double momentum, double energy)
{
    return (GAMMA - 1) * (energy - 0.5 * momentum * momentum / density);
}

namespace cfd
{
/* One explicit step of diffusion inside a box with a halo one cell wide. */
#pragma cf kernel grid(nx, ny, nz) block(TILE_X, TILE_Y, 1) in(u[nz + 2][ny + 2][nx + 2]) \
    inout(v[1:nz][1:ny][1:nx]) pitch(v: nx + 2, ny + 2) check(nx > 0, ny > 0, nz > 0)
__global__ void diffuse(const double *__restrict__ u, double *__restrict__ v, const int nx, const int ny, const int nz,
                        const double lambda)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    const int j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int k = blockIdx.z * blockDim.z + threadIdx.z + 1;
    if (i > nx || j > ny || k > nz)
        return;
    const long row = nx + 2, plane = row * (ny + 2), at = k * plane + j * row + i;
    v[at] = u[at] +
            lambda * (u[at - 1] + u[at + 1] + u[at - row] + u[at + row] + u[at - plane] + u[at + plane] - 6.0 * u[at]);
}

/* The same in a plane of a mesh whose rows are padded. */
#pragma cf kernel grid(m.nx, m.ny) block(TILE_X, TILE_Y), in(u[m.ny][m.nx]), out(v[m.ny][m.nx]), \
    pitch(u: m.pitch; v: m.pitch) check(m.halo == 0, m.pitch >= m.nx)
static __global__ void __launch_bounds__(TILE_X *TILE_Y) relax(double const *u, double *v, struct mesh m)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= m.nx || y >= m.ny)
        return;
    long at = y * m.pitch + x;
    double left = x > 0 ? u[at - 1] : u[at], right = x + 1 < m.nx ? u[at + 1] : u[at];
    v[at] = u[at] + relaxation * (left - 2 * u[at] + right) / m.spacing[0];
}

/* Rusanov fluxes between cells, from a state given as a struct of pointers. */
#pragma cf kernel grid(n - 1) block(128) out(mass[n - 1], momentum[n - 1], energy[n - 1]) check(n >= 2)
__launch_bounds__(128, 4) __global__ void fluxes(flow_state state, double *__restrict mass, double *__restrict momentum,
                                                 double *__restrict energy, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1)
        return;
    double flux[2][3], u[2][3], speed = 0;
    for (int side = 0; side < 2; side++) {
        double r = state.density[i + side], m = state.momentum[i + side], e = state.energy[i + side];
        double p = pressure(r, m, e), s = fabs(m / r) + sqrt(GAMMA * p / r);
        u[side][0] = r, u[side][1] = m, u[side][2] = e;
        flux[side][0] = m, flux[side][1] = m * m / r + p, flux[side][2] = (e + p) * m / r;
        speed = s > speed ? s : speed;
    }
    mass[i] = 0.5 * (flux[0][0] + flux[1][0] - speed * (u[1][0] - u[0][0]));
    momentum[i] = 0.5 * (flux[0][1] + flux[1][1] - speed * (u[1][1] - u[0][1]));
    energy[i] = 0.5 * (flux[0][2] + flux[1][2] - speed * (u[1][2] - u[0][2]));
}

/* Slopes of every cell, by the limiter that the caller chooses. */
#pragma cf kernel grid(n) in(u[n]) out(slope[n]) check(LIMITER_NONE <= kind <= LIMITER_SUPERBEE)
__global__ void slopes(const real u[], real slope[], int n, limiter kind)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        slope[i] = i > 0 && i < n - 1 ? (real)limited(u[i] - u[i - 1], u[i + 1] - u[i], kind) : 0;
}

/* Upwind advection of some order. */
#pragma cf kernel grid(n) in(u[n]) out(v[n]) check(n > 2 * ORDER)
#pragma cf instances(f32_1: float, 1; f32_2: float, 2; f64_1: double, 1; f64_2: double, 2)
template <typename T, int ORDER> __global__ void advect(const T *__restrict__ u, T *__restrict__ v, int n, T courant)
{
    static_assert(ORDER == 1 || ORDER == 2, "first and second order");
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    T here = u[i], left = u[(i + n - 1) % n];
    v[i] = here - courant * (here - left);
    if (ORDER == 2)
        v[i] -= T(0.5) * courant * (T(1) - courant) * (u[(i + 1) % n] - 2 * here + left);
}
} // namespace cfd

extern "C" {
/* Fills the halo at one side of x with what stands inside. An enumeration by its tag alone, as C++ may write it. */
#pragma cf kernel name(fill_halo) grid(ny) inout(u[ny][nx + 2 * halo]) check(halo >= 1, nx >= halo)
__global__ void fill_halo_kernel(double *u, int nx, int ny, int halo, side where, bool reflect)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= ny)
        return;
    double *row = u + (long)j * (nx + 2 * halo);
    for (int h = 0; h < halo; h++) {
        int to = where == SIDE_LOW ? halo - 1 - h : nx + halo + h;
        int from = where == SIDE_LOW ? halo + h : nx + halo - 1 - h;
        row[to] = reflect ? -row[from] : row[from];
    }
}

/* A filter of five points, its weights in constant memory. */
#pragma cf kernel grid(n - 4) in(u[n]) inout(v[2:n - 4]) check(n > 4)
__global__ void filter(const double *u, double *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 2;
    if (i >= n - 2)
        return;
    double sum = 0;
    for (int k = 0; k < 5; k++)
        sum += filter_weight[k] * u[i + k - 2];
    v[i] = sum;
}
}

/* A tile and its rim in shared memory of a size that the launch gives. */
#pragma cf kernel grid(nx, ny) block(TILE_X, TILE_Y) shared((TILE_X + 2) * (TILE_Y + 2) * sizeof(real)) \
    in(u[ny][nx]) out(v[ny][nx]) tolerance(1e-12) flops(5.0 * nx * ny)
__global__ void smooth(const real *__restrict__ u, real *__restrict__ v, int nx, int ny)
{
    extern __shared__ real tile[];
    int x = blockIdx.x * TILE_X + threadIdx.x, y = blockIdx.y * TILE_Y + threadIdx.y;
    for (int t = threadIdx.y * TILE_X + threadIdx.x; t < (TILE_X + 2) * (TILE_Y + 2); t += TILE_X * TILE_Y) {
        int tx = blockIdx.x * TILE_X + t % (TILE_X + 2) - 1, ty = blockIdx.y * TILE_Y + t / (TILE_X + 2) - 1;
        tile[t] = tx >= 0 && tx < nx && ty >= 0 && ty < ny ? u[(long)ty * nx + tx] : real(0);
    }
    __syncthreads();
    int at = (threadIdx.y + 1) * (TILE_X + 2) + threadIdx.x + 1;
    if (x < nx && y < ny)
        v[(long)y * nx + x] = (tile[at - 1] + tile[at + 1] + tile[at - TILE_X - 2] + tile[at + TILE_X + 2]) / 4;
}

/* The CPU's form of `largest_speed`. */
void largest_speed_cpu(const double *density, const double *momentum, const double *energy, double *speed,
                       double *partial, int n)
{
    (void)partial;
    *speed = 0;
    for (int i = 0; i < n; i++) {
        double p = pressure(density[i], momentum[i], energy[i]);
        double s = fabs(momentum[i] / density[i]) + sqrt(GAMMA * p / density[i]);
        *speed = s > *speed ? s : *speed;
    }
}

/* The fastest wave: partial maxima of blocks, then of all after the barrier of a cooperative grid. */
#pragma cf kernel blocks(64) block(256) cooperative host(largest_speed_cpu) in(density[n], momentum[n], energy[n]) \
    out(speed[1]) scratch(partial[64]) bytes(24.0 * n)
__global__ void largest_speed(const double *density, const double *momentum, const double *energy, double *speed,
                              double *partial, int n)
{
    __shared__ double most[256];
    double own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double p = pressure(density[i], momentum[i], energy[i]);
        own = fmax(own, fabs(momentum[i] / density[i]) + sqrt(GAMMA * p / density[i]));
    }
    most[threadIdx.x] = own;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if ((int)threadIdx.x < half)
            most[threadIdx.x] = fmax(most[threadIdx.x], most[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = most[0];
    cg::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *speed = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            *speed = fmax(*speed, partial[b]);
    }
}

/* Has no entry point: the launcher below starts it. */
__global__ void clear_rim(double *u, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nx)
        u[i] = u[(long)(ny - 1) * nx + i] = 0;
}

cudaError_t clear(double *u, int nx, int ny, cudaStream_t stream)
{
    clear_rim<<<(nx + 255) / 256, 256, 0, stream>>>(u, nx, ny);
    CUDA_CHECK(cudaGetLastError());
    return cudaSuccess;
}
