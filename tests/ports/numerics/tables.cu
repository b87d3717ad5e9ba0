/* tables.cu - linear interpolation in a table of three dimensions, by recursion over the dimensions. */
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>

constexpr int DIMENSIONS = 3;

struct Axes {
    int n[DIMENSIONS];
    float low[DIMENSIONS], step[DIMENSIONS];
};

static __device__ inline float lerp(float a, float b, float t)
{
    return a + t * (b - a);
}

static __device__ inline int clamp_index(int i, int most)
{
    return i < 0 ? 0 : i > most ? most : i;
}

template <int D> struct Interpolation {
    __device__ static float at(const float *table, const Axes &axes, const float (&point)[DIMENSIONS])
    {
        constexpr int axis = D - 1;
        const float place = (point[axis] - axes.low[axis]) / axes.step[axis];
        const int cell = clamp_index(static_cast<int>(floorf(place)), axes.n[axis] - 2);
        std::ptrdiff_t stride = 1;
        for (int k = 0; k < axis; ++k)
            stride *= axes.n[k];
        table += cell * stride;
        if constexpr (D == 1)
            return lerp(table[0], table[1], place - cell);
        else
            return lerp(Interpolation<D - 1>::at(table, axes, point),
                        Interpolation<D - 1>::at(table + stride, axes, point), place - cell);
    }
};

#pragma cf kernel grid(count) in(table[axes.n[2]][axes.n[1]][axes.n[0]], where[count]) out(values[count]) \
    check(axes.n[0] > 1, axes.n[1] > 1, axes.n[2] > 1) tolerance(1e-4)
__global__ void look_up(const float *__restrict__ table, const __grid_constant__ Axes axes,
                        const float3 *__restrict__ where, float *__restrict__ values, std::size_t count)
{
    for (std::size_t i = threadIdx.x + std::size_t{blockIdx.x} * blockDim.x; i < count;
         i += std::size_t{gridDim.x} * blockDim.x) {
        const float point[] = {where[i].x, where[i].y, where[i].z};
        values[i] = Interpolation<DIMENSIONS>::at(table, axes, point);
    }
}

std::optional<Axes> parse(std::string_view text, std::initializer_list<int> sizes)
{
    Axes axes{};
    if (text.empty() || sizes.size() != DIMENSIONS)
        return std::nullopt;
    std::copy(sizes.begin(), sizes.end(), axes.n);
    std::fill_n(axes.step, DIMENSIONS, 1.0f / std::numeric_limits<signed char>::max());
    return axes;
}

int main(int, char **argv)
{
    if (const auto axes = parse(argv[0], {8, 8, 8}); axes.has_value())
        look_up<<<4, 256>>>(nullptr, *axes, nullptr, nullptr, 0);
}
