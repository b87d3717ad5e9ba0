/* quaternion.cu - rotates points by quaternions, in place or not; each bone of a body has a quaternion. */
#include "quat/quat.h"

constexpr Quat identity = {1, 0, 0, 0};
static_assert((identity * identity).w == 1, "a product of constants");

template <unsigned Threads> struct Launch {
    static constexpr unsigned threads = Threads;
    template <typename Kernel, typename... Arguments>
    void operator()(Kernel kernel, unsigned n, Arguments... arguments) const
    {
        kernel<<<(n + threads - 1) / threads, threads>>>(arguments..., n);
    }
};

using Launcher = Launch<128>;

#pragma cf kernel grid(n) block(Threads) in(turns[bones], bone[n], points[n]) out(rotated[n]) \
    inplace(points, rotated) check(0 <= bone[:] < bones) param(unsigned char bones) tolerance(1e-5)
#pragma cf instances(t128: 128; t32: 32)
template <unsigned Threads = Launcher::threads>
__global__ void rotate_points(const struct Quat *turns, const unsigned char *bone, const float3 *points,
                              float3 *rotated, unsigned n)
{
    unsigned i = blockIdx.x * Threads + threadIdx.x;
    if (i >= n) {
        return;
    } else {
        const float3 p = points[i];
        const Quat q = turns[bone[i]], r = q * Quat{0, p.x, p.y, p.z} * ~q / norm2(q);
        rotated[i] = {r.x, r.y, r.z};
    }
}

int main()
{
    Launcher launch;
    launch(rotate_points<>, 1000u, (const Quat *)nullptr, (const unsigned char *)nullptr, (const float3 *)nullptr,
           (float3 *)nullptr);
    std::cout << identity << std::endl;
    return cudaPeekAtLastError();
}
