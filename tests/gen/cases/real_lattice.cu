/* real_lattice - kernels of lattice Boltzmann and lattice gauge codes: sites, directions, links, parities. */
#include <cuComplex.h>
#include <stdint.h>

#define Q 9
#define NCOLOURS 3

#ifndef PRECISION
#define PRECISION 2
#endif

#if PRECISION == 1
typedef float scalar;
typedef float2 scalar2;
#else
typedef double scalar;
typedef double2 scalar2;
#endif

namespace lattice::detail
{
template <typename T> struct weights {
    static constexpr T rest = T(4) / T(9), straight = T(1) / T(9), diagonal = T(1) / T(36);
};

template <typename T> __device__ inline T equilibrium(T weight, T density, T along, T square)
{
    return weight * density * (T(1) + T(3) * along + T(4.5) * along * along - T(1.5) * square);
}
} // namespace lattice::detail

/* The nine directions of D2Q9. */
__constant__ int direction_x[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int direction_y[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

namespace lattice
{

/* Relaxes the populations of each site towards equilibrium. */
#pragma cf kernel grid(nx, ny) block(64, 2) inout(f[DIRECTIONS][ny][nx]) in(solid[ny][nx]) tolerance(1e-5)
#pragma cf instances(f32: float; f64: double)
template <typename T, int DIRECTIONS = 9>
__global__ void __launch_bounds__(128)
    collide(T *__restrict__ f, const uint8_t *__restrict__ solid, int nx, int ny, T omega)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny || solid[y * nx + x])
        return;
    T density = 0, ux = 0, uy = 0;
    for (int q = 0; q < DIRECTIONS; q++) {
        T value = f[(q * ny + y) * nx + x];
        density += value, ux += value * direction_x[q], uy += value * direction_y[q];
    }
    ux /= density, uy /= density;
    for (int q = 0; q < DIRECTIONS; q++) {
        T weight = q == 0  ? detail::weights<T>::rest
                   : q < 5 ? detail::weights<T>::straight
                           : detail::weights<T>::diagonal;
        T along = direction_x[q] * ux + direction_y[q] * uy;
        T &value = f[(q * ny + y) * nx + x];
        value += omega * (detail::equilibrium(weight, density, along, ux * ux + uy * uy) - value);
    }
}

/* Moves the populations along their directions, around the edges. */
#pragma cf kernel grid(size.x, size.y, Q) block(64, 2, 1) in(from[Q][size.y][size.x]) out(to[Q][size.y][size.x])
__global__ void propagate(const scalar *from, scalar *to, uint2 size)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, q = blockIdx.z;
    if (x >= size.x || y >= size.y)
        return;
    unsigned sx = (x + size.x - direction_x[q]) % size.x, sy = (y + size.y - direction_y[q]) % size.y;
    to[((size_t)q * size.y + y) * size.x + x] = from[((size_t)q * size.y + sy) * size.x + sx];
}

/* Complex colour vectors multiplied by the links of the lattice, one 3 by 3 matrix per site. */
#pragma cf kernel grid(sites) block(auto) in(link[sites][NCOLOURS][NCOLOURS], psi[sites][NCOLOURS]) \
    out(chi[sites][NCOLOURS]) flops(66.0 * sites)
__global__ void multiply_links(const cuDoubleComplex *__restrict__ link, const cuDoubleComplex *__restrict__ psi,
                               cuDoubleComplex *__restrict__ chi, int sites)
{
    int site = blockIdx.x * blockDim.x + threadIdx.x;
    if (site >= sites)
        return;
    for (int a = 0; a < NCOLOURS; a++) {
        cuDoubleComplex sum = make_cuDoubleComplex(0, 0);
        for (int b = 0; b < NCOLOURS; b++)
            sum = cuCadd(sum, cuCmul(link[(site * NCOLOURS + a) * NCOLOURS + b], psi[site * NCOLOURS + b]));
        chi[site * NCOLOURS + a] = sum;
    }
}

/* The hopping term of one parity: 8 neighbours of each site, in the pairs of numbers that such codes store. */
#pragma cf kernel grid(volume / 2) in(neighbour[8][volume / 2], psi[volume / 2]) inout(chi[volume / 2]) \
    check(volume % 2 == 0, 0 <= neighbour[:] < volume / 2, 0 <= parity <= 1)
__global__ void hop(const int32_t *neighbour, const scalar2 *psi, scalar2 *chi, long volume, int parity, scalar kappa)
{
    long site = (long)blockIdx.x * blockDim.x + threadIdx.x, half = volume / 2;
    if (site >= half)
        return;
    scalar2 sum = {0, 0};
    for (int mu = 0; mu < 8; mu++) {
        scalar2 value = psi[neighbour[mu * half + site]];
        scalar sign = ((mu + parity) & 1) ? scalar(-1) : scalar(1);
        sum.x += sign * value.x, sum.y += sign * value.y;
    }
    chi[site].x -= kappa * sum.x, chi[site].y -= kappa * sum.y;
}

/* Kernels made by a macro, as is common for families of vector operations. */
#define DEFINE_BLAS(NAME, TYPE, EXPRESSION)                                                                 \
    __global__ void NAME(const TYPE *__restrict__ x, TYPE *__restrict__ y, TYPE a, long n)                  \
    {                                                                                                       \
        for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * 1L * blockDim.x) \
            y[i] = EXPRESSION;                                                                              \
    }

/* y = a x + y */
#pragma cf kernel grid(n) in(x[n]) inout(y[n])
DEFINE_BLAS(axpy_single, float, a *x[i] + y[i])

/* y = x + a y */
#pragma cf kernel grid(n) in(x[n]) inout(y[n])
DEFINE_BLAS(xpay_double, double, x[i] + a * y[i])

#define PERIOD 16

/* Ising energies of rings of PERIOD spins. */
#pragma cf kernel grid(n) in(spin[n]) out(energy[n]) check(n % PERIOD == 0)
__global__ void ising(const signed char *spin, short *energy, unsigned long n)
{
    unsigned long i = (unsigned long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long row = i / PERIOD * PERIOD;
    energy[i] = (short)(-spin[i] * (spin[row + (i + 1) % PERIOD] + spin[row + (i + PERIOD - 1) % PERIOD]));
}

} // namespace lattice
