/* bezier.cu - bicubic Bézier surfaces: points S(u, v) = Σ Bᵢ(u) Bⱼ(v) Pᵢⱼ on a grid of each patch. */
#include <array>
#include <cstdio>

namespace géometrie // un espace de noms avec un accent
{
constexpr int degree = 3, controls = (degree + 1) * (degree + 1);

constexpr int binomial(int n, int k)
{
    return k == 0 || k == n ? 1 : binomial(n - 1, k - 1) + binomial(n - 1, k);
}
template <int I> constexpr int coefficient = binomial(degree, I);
static_assert(coefficient<1> == 3, "C(3, 1)");

template <int I> __device__ inline float bernstein(float t)
{
    float value = coefficient<I>;
#pragma unroll
    for (int k = 0; k < I; ++k)
        value *= t; // tⁱ
#pragma unroll
    for (int k = 0; k < degree - I; ++k)
        value *= 1 - t; // (1 − t)³⁻ⁱ
    return value;
}

struct Weights {
    float w[degree + 1];
    __device__ Weights(float t) : w{bernstein<0>(t), bernstein<1>(t), bernstein<2>(t), bernstein<3>(t)} {}
    __device__ float operator[](int i) const { return w[i]; }
};

__device__ inline float3 &operator+=(float3 &a, const float3 &b)
{
    a.x += b.x, a.y += b.y, a.z += b.z;
    return a;
}
} // namespace géometrie

/* 曲面を計算する: the control points of a patch pass through shared memory. */
#pragma cf kernel name(surface) grid(m, m, patches) block(8, 8) in(control[patches][4][4]) out(surface[patches][m][m]) \
    check(m > 1) tolerance(1e-5)
__global__ void bezier_surface(const float3 *control, float3 *surface, int m, int patches)
{
    using namespace géometrie;
    __shared__ float3 p[4][4];
    if (threadIdx.y * 8 + threadIdx.x < controls)
        p[threadIdx.y * 2 + threadIdx.x / 4][threadIdx.x % 4] =
            control[blockIdx.z * controls + threadIdx.y * 8 + threadIdx.x];
    __syncthreads();
    const int iu = blockIdx.x * 8 + threadIdx.x, iv = blockIdx.y * 8 + threadIdx.y;
    if (iu >= m || iv >= m)
        return;
    const Weights u(iu / (m - 1.0f)), v(iv / (m - 1.0f));
    float3 sum = make_float3(0, 0, 0);
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) {
            const float w = u[i] * v[j];
            sum += make_float3(w * p[j][i].x, w * p[j][i].y, w * p[j][i].z);
        }
    surface[((size_t)blockIdx.z * m + iv) * m + iu] = sum;
}

int main()
{
    std::array<float3, géometrie::controls> théière{};
    bezier_surface<<<dim3(2, 2, 1), dim3(8, 8)>>>(théière.data(), nullptr, 16, 1);
    std::puts("théière: ½ · ∞");
}
