/* real_md - kernels of molecular dynamics: packed positions, columns of particles, neighbours, cells. */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "real_types.h"

#pragma cf include("real_types.h")

#ifndef MAX_NEIGHBOURS
#define MAX_NEIGHBOURS 64
#endif

#define FULL_MASK 0xffffffffu

namespace md
{
namespace kernels
{

__device__ __host__ static inline float nearest(float d, float length)
{
    return length > 0.f ? d - length * rintf(d / length) : d;
}

struct sum4 {
    float x = 0, y = 0, z = 0, w = 0;
    __host__ __device__ void add(float a, float b, float c, float d)
    {
        x += a, y += b, z += c, w += d;
    }
};

/* Forces and energies of Lennard-Jones particles, with lists of neighbours stored column by column. */
#pragma cf kernel grid(n) block(auto) in(position[n], neighbour[MAX_NEIGHBOURS][n], count[n]) out(force[n]) \
    check(0 <= neighbour[:] < n, 0 <= count[:] <= MAX_NEIGHBOURS) tolerance(1e-4)
__global__ void lennard_jones(float4 const *__restrict__ const position, float4 *__restrict__ const force,
                              int const *__restrict__ const neighbour, int const *__restrict__ const count, int const n,
                              float const cutoff, float const length)
{
    int const i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 const own = position[i];
    sum4 sum;
    for (int k = 0; k < count[i]; k++) {
        float4 const other = position[neighbour[(size_t)k * n + i]];
        float const dx = nearest(own.x - other.x, length), dy = nearest(own.y - other.y, length),
                    dz = nearest(own.z - other.z, length), square = dx * dx + dy * dy + dz * dz;
        if (square >= cutoff * cutoff || square == 0.f)
            continue;
        float const inverse = 1.f / square, six = inverse * inverse * inverse;
        float const scale = 24.f * inverse * six * (2.f * six - 1.f);
        sum.add(scale * dx, scale * dy, scale * dz, 2.f * six * (six - 1.f));
    }
    force[i] = make_float4(sum.x, sum.y, sum.z, sum.w);
}

/* Half a step of the velocities and one of the positions; everything stands in a struct of pointers. */
#pragma cf kernel grid(p.count) check(p.count >= 0)
__global__ void kick_drift(particles p, float dt, bool frozen)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.count || frozen)
        return;
    p.x[i] += dt * p.vx[i];
    p.y[i] += dt * p.vy[i];
    p.z[i] += dt * p.vz[i];
}

/* The cell of each particle. */
#pragma cf kernel grid(n) in(position[n]) out(cell[n], rank[n]) check(cells.x > 0, cells.y > 0, cells.z > 0)
__global__ void assign_cells(const float3 *position, unsigned int *cell, unsigned *rank, int3 cells, float3 origin,
                             float inverse, unsigned int n)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = (int)((position[i].x - origin.x) * inverse), y = (int)((position[i].y - origin.y) * inverse),
        z = (int)((position[i].z - origin.z) * inverse);
    x = min(max(x, 0), cells.x - 1), y = min(max(y, 0), cells.y - 1), z = min(max(z, 0), cells.z - 1);
    cell[i] = (unsigned)((z * cells.y + y) * cells.x + x);
    rank[i] = i;
}

/* The same by a box with arrays of its own; its cells are counted by atomics. */
#pragma cf kernel grid(n) in(x[n], y[n], z[n]) inout(population[box.cells[2]][box.cells[1]][box.cells[0]]) \
    check(box.cells[0] > 0, box.cells[1] > 0, box.cells[2] > 0)
__global__ void count_cells(const float *x, const float *y, const float *z, int *population,
                            const __grid_constant__ cell_box box, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float place[3] = {x[i], y[i], z[i]};
    int at = 0;
    for (int d = 2; d >= 0; d--) {
        int c = (int)floorf((place[d] - box.origin[d]) / box.size[d] * (float)box.cells[d]);
        if (box.periodic[d])
            c = (c % box.cells[d] + box.cells[d]) % box.cells[d];
        at = at * box.cells[d] + min(max(c, 0), box.cells[d] - 1);
    }
    atomicAdd(&population[at], 1);
}

/* Where each cell begins and ends among sorted particles. */
#pragma cf kernel grid(n) in(cell[n]) inout(begin[cells], end[cells]) check(0 <= cell[:] < cells)
__global__ void cell_bounds(const uint *__restrict__ cell, uint *__restrict__ begin, uint *__restrict__ end, uint n,
                            uint cells)
{
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (i == 0 || cell[i] != cell[i - 1])
        begin[cell[i]] = i;
    if (i + 1 == n || cell[i] != cell[i + 1])
        end[cell[i]] = i + 1;
}

/* Springs between pairs of particles, an array of structs. */
#pragma cf kernel grid(bonds) in(bond[bonds], x[n]) inout(force[n])
__global__ void springs(const struct bond *bond, int bonds, const double *x, double *force, int n)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= bonds || bond[b].first >= n || bond[b].second >= n)
        return;
    double d = x[bond[b].second] - x[bond[b].first], f = bond[b].stiffness * (d - bond[b].length);
    atomicAdd(&force[bond[b].first], f);
    atomicAdd(&force[bond[b].second], -f);
}

template <typename Real> void kinetic_cpu(const Real *velocity, const Real *mass, Real *energy, int n)
{
    Real sum = 0;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            sum += mass[i] * velocity[3 * i + d] * velocity[3 * i + d] / 2;
    *energy = sum;
}

/* Kinetic energy by the shuffles of one block. */
#pragma cf instances(f32: float; f64: double;)
#pragma cf kernel blocks(1), block(32), in(velocity[n][3], mass[n]), out(energy[1]), host(kinetic_cpu), \
    tolerance(1e-4)
template <class Real>
__global__ __launch_bounds__(32) void kinetic(const Real *velocity, const Real *mass, Real *energy, int n)
{
    Real sum = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        for (int d = 0; d < 3; d++)
            sum += mass[i] * velocity[3 * i + d] * velocity[3 * i + d] / 2;
    for (int lane = 16; lane > 0; lane >>= 1)
        sum += __shfl_down_sync(FULL_MASK, sum, lane);
    if (threadIdx.x == 0)
        *energy = sum;
}

/* Columns of a table of pointers, moved back into the box. */
#pragma cf kernel grid(n, 3) block(64, 1) resident(columns)
__global__ void wrap(float **columns, int n, float length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, d = blockIdx.y;
    if (i < n)
        columns[d][i] -= length * floorf(columns[d][i] / length);
}

/* Pairs of floats stored as halves. */
#pragma cf kernel grid(n) in(wide[n]) out(narrow[n])
__global__ void pack(const float2 *wide, __half2 *narrow, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        narrow[i] = __floats2half2_rn(wide[i].x, wide[i].y);
}

} // namespace kernels
} // namespace md
