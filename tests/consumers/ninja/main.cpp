// main.cpp - a C++ program that calls its own kernel on device memory.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "poly.h"

static int evaluate(const std::vector<double> &coefficients, const std::vector<double> &x, std::vector<double> &y)
{
    const std::int64_t n = x.size();
    void *memory = nullptr;
    cf_stream stream = nullptr;
    int status = cf_mem_alloc(&memory, (4 + 2 * n) * sizeof(double));
    double *device = static_cast<double *>(memory);
    if (status == CF_OK)
        status = cf_stream_create(&stream);
    if (status == CF_OK)
        status = cf_mem_copy_async(stream, device, coefficients.data(), 4 * sizeof(double));
    if (status == CF_OK)
        status = cf_mem_copy_async(stream, device + 4, x.data(), n * sizeof(double));
    if (status == CF_OK)
        status = poly_horner_f64_3_async(stream, device, device + 4, device + 4 + n, n);
    if (status == CF_OK)
        status = cf_mem_copy_async(stream, y.data(), device + 4 + n, n * sizeof(double));
    if (status == CF_OK)
        status = cf_stream_sync(stream);
    if (cf_stream_destroy(stream) != CF_OK || cf_mem_free(memory) != CF_OK)
        return 1;
    return status;
}

int main()
{
    std::vector<double> x{0, 1, 2, -1}, y(4);
    if (evaluate({1, 2, 3, 4}, x, y) != CF_OK) {
        std::fprintf(stderr, "%s\n", cf_last_error());
        return 1;
    }
    std::printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
    return 0;
}
