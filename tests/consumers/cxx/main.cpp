// main.cpp - calls a kernel of the project on vectors and on device memory, calls a bundled kernel, and causes an
// error.
#include "saxpy.hpp"

#include <cuferry/kernels.hpp>

#include <cstdio>
#include <vector>

int main()
{
    try {
        const std::vector<float> x{1, 2, 3};
        std::vector<float> y{10, 20, 30};
        saxpy::axpy(2.0f, x, y);
        std::printf("%g %g %g\n", y[0], y[1], y[2]);

        const cf::buffer<float> on_device{cf::span<const float>(x)};
        cf::buffer<float> sum{cf::span<const float>(y)};
        cf::stream stream;
        stream.create();
        saxpy::axpy_async(stream, -1.0f, on_device, sum);
        stream.sync();
        sum.copy_to(y);
        std::printf("%g %g %g\n", y[0], y[1], y[2]);

        std::vector<int> index{2, 0, 7};
        std::vector<float> res(3);
        cf::gather(x, cf::span<const int>(index.data(), 2), cf::span<float>(res.data(), 2));
        std::printf("%g %g\n", res[0], res[1]);
        cf::gather(x, index, res);
    } catch (const cf::error &error) {
        std::printf("%s\n", error.what());
    }
}
