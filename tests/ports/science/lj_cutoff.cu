/* lj_cutoff.cu - forces of a pair potential over neighbour lists of limited length; the potential is a functor. */
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

template <typename Real> struct LennardJones {
    Real epsilon, sigma2;

    // Returns the force divided by the distance, for a squared distance.
    __host__ __device__ Real operator()(Real r2) const
    {
        const Real s2 = sigma2 / r2, s6 = s2 * s2 * s2;
        return Real(24) * epsilon * s6 * (Real(2) * s6 - Real(1)) / r2;
    }
};

template <typename Real> __device__ inline Real nearest_image(Real d, Real box)
{
    return d > box / 2 ? d - box : d < -box / 2 ? d + box : d;
}

template <typename Real, typename Potential>
__device__ void add_pair(Real (&force)[3], const Real *xi, const Real *xj, Real box, Real cutoff2,
                         const Potential &pair)
{
    Real d[3], r2 = 0;
    for (int k = 0; k < 3; ++k) {
        d[k] = nearest_image(xi[k] - xj[k], box);
        r2 += d[k] * d[k];
    }
    if (r2 >= cutoff2)
        return;
    const Real scale = pair(r2);
    for (int k = 0; k < 3; ++k)
        force[k] += scale * d[k];
}

#pragma cf kernel name(pair_forces) grid(natoms) block(128) in(x[natoms][3], neighbours[most][natoms], counts[natoms]) \
    out(f[natoms][3]) check(box > 0, 0 <= counts[:] <= most, 0 <= neighbours[:] < natoms) tolerance(1e-4)
#pragma cf instances(f32: float; f64: double)
template <typename Real>
__global__ void __launch_bounds__(128)
    lj_cutoff_kernel(const Real *x, const int *neighbours, const unsigned char *counts, Real *f, int natoms, int most,
                     Real box, Real cutoff, Real epsilon, Real sigma)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= natoms)
        return;
    const LennardJones<Real> pair{epsilon, sigma * sigma};
    Real force[3] = {};
    const int *neighbour = neighbours + i;
    for (unsigned char k = 0; k != counts[i]; ++k, neighbour += natoms)
        add_pair(force, x + 3 * i, x + 3 * *neighbour, box, cutoff * cutoff, pair);
    f[3 * i + 0] = force[0];
    f[3 * i + 1] = force[1];
    f[3 * i + 2] = force[2];
}

template <typename Real, typename... Rest>
cudaError_t launch(const dim3 gridDim, const dim3 blockDim, cudaStream_t stream, Rest... rest)
{
    lj_cutoff_kernel<Real><<<gridDim, blockDim, 0, stream>>>(rest...);
    return cudaGetLastError();
}

int main(int argc, char **argv)
{
    const std::map<std::string, std::function<double(double)>> potentials = {{"lj", LennardJones<double>{1.0, 1.0}}};
    std::vector<double> x(3 * 1000);
    double *d_x = nullptr, *d_f = nullptr;
    int *d_list = nullptr;
    unsigned char *d_counts = nullptr;
    cudaMalloc(&d_x, x.size() * sizeof x[0]);
    cudaMalloc(&d_f, x.size() * sizeof x[0]);
    launch<double>(dim3(8), dim3(128), 0, d_x, d_list, d_counts, d_f, 1000, 64, 10.0, 2.5, 1.0, 1.0);
    return std::printf("%g\n", potentials.at(argc > 1 ? argv[1] : "lj")(1.5)) < 0;
}
