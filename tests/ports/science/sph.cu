/* sph.cu - densities of smoothed particles over all pairs; the smoothing function is a class with constants. */
#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>

namespace fluid
{
enum { TILE = 64, DIMENSIONS = 3 };

inline namespace v1
{
struct Particle {
    float position[DIMENSIONS];
    float mass;
};
} // namespace v1

namespace smoothing
{
template <typename T> struct CubicSpline {
    static_assert(std::is_floating_point_v<T>);
    static constexpr T support = T(2);
    static constexpr T norm = T(0.31830988618379067154); // 1 / pi

    __device__ static T value(T r, T h)
    {
        const T q = r / h;
        if (q >= support)
            return T();
        const T outer = support - q, scale = norm / (h * h * h);
        if (q >= T(1))
            return scale * T(0.25) * outer * outer * outer;
        return scale * (T(1) - T(1.5) * q * q + T(0.75) * q * q * q);
    }
};
} // namespace smoothing
} // namespace fluid

namespace fluid::gpu
{
using namespace smoothing;
using Kernel = CubicSpline<float>;

#pragma cf kernel grid(n) block(TILE) in(particles[n]) out(density[n]) check(h > 0) tolerance(1e-4)
__global__ void densities(const Particle *particles, float *density, unsigned n, float h)
{
    __shared__ Particle tile[TILE];
    const unsigned i = blockIdx.x * TILE + threadIdx.x;
    const Particle mine = i < n ? particles[i] : Particle{};
    float sum = 0;
    for (unsigned first = 0; first < n; first += TILE) {
        if (first + threadIdx.x < n)
            tile[threadIdx.x] = particles[first + threadIdx.x];
        __syncthreads();
        const unsigned count = min((unsigned)TILE, n - first);
        for (unsigned j = 0; j < count; ++j) {
            float square = 0;
            for (const float *a = mine.position, *b = tile[j].position; a != mine.position + DIMENSIONS; ++a, ++b)
                square += (*a - *b) * (*a - *b);
            sum += tile[j].mass * Kernel::value(sqrtf(square), h);
        }
        __syncthreads();
    }
    if (i >= n)
        return;
    density[i] = sum;
}
} // namespace fluid::gpu

using namespace fluid;

std::string describe(const Particle *particles, float *density, std::size_t n)
{
    if (n > std::numeric_limits<unsigned>::max())
        throw std::string("too many particles");
    gpu::densities<<<(unsigned)((n + TILE - 1) / TILE), TILE>>>(particles, density, (unsigned)n, 0.1f);
    std::ostringstream text;
    text << n << " particles, support " << smoothing::CubicSpline<double>::support;
    return text.str();
}
