/* real_dft - kernels of electronic structure codes: orbitals, grids of points, functionals, batches of bands. */
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <math.h>

#include "real_types.h"

#pragma cf include("real_types.h")

#ifdef __cplusplus
#define EXTERN extern "C"
#else
#define EXTERN
#endif
#define GLOBAL_KERNEL EXTERN __global__ void
#define THREADS 128
#define INDEX(i, n)                                                   \
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= (n))                                                     \
    return

#if defined(REAL_SINGLE)
#define EXP expf
#else
#define EXP exp
#endif

/* Density from occupied orbitals, one per row. */
#pragma cf kernel grid(points) block(THREADS) in(psi[bands][points], occupation[bands]) out(rho[points]) \
    tolerance(1e-12)
GLOBAL_KERNEL density(const cuDoubleComplex *psi, const double *occupation, double *rho, int bands, int64_t points)
{
    INDEX(i, points);
    double sum = 0;
    for (int b = 0; b < bands; b++) {
        cuDoubleComplex z = psi[b * points + i];
        sum += occupation[b] * (cuCreal(z) * cuCreal(z) + cuCimag(z) * cuCimag(z));
    }
    rho[i] = sum;
}

/* Exchange energy density and potential of the local density approximation; other functionals leave zeros. */
#pragma cf kernel grid(n) block(THREADS) in(rho[n]) out(energy[n], potential[n]) \
    check(which == FUNCTIONAL_LDA || which == FUNCTIONAL_PBE)
GLOBAL_KERNEL exchange(double const *__restrict__ rho, double *__restrict__ energy, double *__restrict__ potential,
                       long long n, enum functional which)
{
    INDEX(i, n);
    double third = cbrt(rho[i] > 0 ? rho[i] : 0);
    energy[i] = which == FUNCTIONAL_LDA ? -0.738558766382022 * third : 0;
    potential[i] = which == FUNCTIONAL_LDA ? -0.984745021842697 * third : 0;
}

/* Gaussians of a basis at points of space; the basis travels as a struct with its exponents. */
#pragma cf kernel grid(b.points, b.count) block(THREADS, 1) in(point[b.points]) out(value[b.count][b.points]) \
    check(0 <= b.count <= 8, b.lmax == 0)
__global__ void gaussians(const basis b, const double3 *point, real *value)
{
    INDEX(i, b.points);
    const double3 p = point[i];
    value[blockIdx.y * b.points + i] = EXP(-(real)b.exponent[blockIdx.y] * (real)(p.x * p.x + p.y * p.y + p.z * p.z));
}

/* Applies a potential that all bands share, and a kinetic energy that depends on the plane wave. */
#pragma cf kernel grid(waves, bands) block(THREADS, 1) in(kinetic[waves], psi[bands][waves]) \
    out(result[bands][waves])
#pragma cf instances(c64: float2, float; c128: double2, double)
template <typename Z, typename D>
__global__ void apply_kinetic(const D *kinetic, const Z *psi, Z *result, D shift, int waves, int bands)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;
    if (g >= waves || b >= bands)
        return;
    D scale = kinetic[g] + shift;
    result[(size_t)b * waves + g].x = scale * psi[(size_t)b * waves + g].x;
    result[(size_t)b * waves + g].y = scale * psi[(size_t)b * waves + g].y;
}

/* Plane waves of a sphere put into a box, by their indices. */
#pragma cf kernel grid(waves) in(at[waves], psi[waves]) inout(box[nz][ny][nx]) check(0 <= at[:] < nx * ny * nz) \
    bytes(waves * (sizeof(int) + 2 * sizeof(double2)))
GLOBAL_KERNEL scatter_waves(const int *at, const double2 *psi, double2 *box, int waves, int nx, int ny, int nz)
{
    INDEX(i, waves);
    box[at[i]] = psi[i];
}

/* Two-electron integrals contracted with a density matrix: four dimensions. */
#pragma cf kernel grid(n, n) block(8, 8) in(integral[n][n][n][n], D[n][n]) out(J[n][n]) flops(2.0 * n * n * n * n) \
    tolerance(1e-12 * n * n)
__global__ void coulomb(const double *integral, const double *D, double *J, short n)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n)
        return;
    double sum = 0;
    for (int kl = 0; kl < n * n; kl++)
        sum += integral[((size_t)i * n + j) * n * n + kl] * D[kl];
    J[i * n + j] = sum;
}

/* Occupations by the Fermi function. */
#pragma cf kernel grid(bands) in(eigenvalue[bands]) out(occupation[bands]) block(auto) tolerance(1e-14)
__global__ void __launch_bounds__(1024)
    occupy(const double eigenvalue[], double occupation[], unsigned bands, double fermi, double beta)
{
    unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < bands)
        occupation[b] = 2 / (1 + exp(beta * (eigenvalue[b] - fermi)));
}
