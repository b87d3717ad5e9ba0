// stream.cu - compares the device time of copy and axpy with driver copies of as many bytes, and with cuBLAS.
#include "cublas.h"
#include "peers.h"

namespace
{

constexpr int64_t most = 1 << 28;
constexpr float a = 0.5f;

struct Arrays {
    Host<float> x{most}, y{most}, out{most};
    Device<float> d_x{most}, d_y{most}, d_z{most};
    Arrays()
    {
        fill(x, most, 1);
        fill(y, most, 2);
        CHECK(cudaMemcpy(d_x, x, most * sizeof(float), cudaMemcpyHostToDevice));
    }
};

// Compares runs over n elements. Each run uses the next slice of the arrays, so that it does not find its data in the
// cache.
void passes(Arrays &arrays, const CublasOnStream &blas, cudaStream_t stream, int64_t n, int rounds)
{
    const int64_t slices = most / n;
    const std::string where = n == most ? ", n = 2^28" : ", n = 2^24";
    int64_t slice = 0;
    auto x = [&] { return arrays.d_x + slice * n; };
    auto y = [&] { return arrays.d_y + slice * n; };
    auto z = [&] { return arrays.d_z + slice * n; };
    std::vector<Peer> peers(blas.handle ? 5 : 4);
    peers[0].name = "cudaMemcpyAsync";
    peers[0].run = [&] { CHECK(cudaMemcpyAsync(z(), x(), n * sizeof(float), cudaMemcpyDeviceToDevice, stream)); };
    peers[1] = peers[0];
    peers[1].name = "the same again: the noise";
    peers[2].name = "cf_copy_async";
    peers[2].run = [&] { CHECK(cf_copy_f32_async(stream, x(), z(), n)); };
    peers[3].name = "cf_axpy_async";
    peers[3].run = [&] { CHECK(cf_axpy_f32_async(stream, a, x(), y(), n)); };
    if (blas.handle) {
        peers[4].name = "cublasSaxpy";
        peers[4].run = [&] { expect(blas.saxpy(blas.handle, (int)n, &a, x(), 1, y(), 1) == 0, "cublasSaxpy"); };
    }
    for (size_t p = 0; p < peers.size(); p++) {
        const bool is_axpy = p > 2;
        CHECK(cudaMemcpyAsync(arrays.d_y, arrays.y, n * sizeof(float), cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemsetAsync(arrays.d_z, poison, n * sizeof(float), stream));
        peers[p].run();
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(arrays.out, is_axpy ? arrays.d_y : arrays.d_z, n * sizeof(float), cudaMemcpyDeviceToHost));
        expect(is_axpy ? first_wrong_axpy(a, arrays.x, arrays.y, arrays.out, n) < 0
                       : std::memcmp(arrays.out, arrays.x, n * sizeof(float)) == 0,
               peers[p].name);
        peers[p].prepare = [&] { delay(stream); };
        peers[p].settle = [&] { slice = (slice + 1) % slices; };
    }
    take_turns_on(stream, peers, rounds, 3);
    print_times("kernels that pass over arrays once" + where + ": device time", peers, "ms", 1e3);
    const double copy = peers[0].middle();
    // Both times include the launch, which matters at the smaller size.
    figure("cudaMemcpy / cf_copy_async" + where, copy / peers[2].middle(), "x",
           n == most ? Target::at_least : Target::none, 1);
    if (blas.handle)
        figure("cublasSaxpy / cf_axpy_async" + where, peers[4].middle() / peers[3].middle(), "x", Target::at_least,
               1.25);
    else
        no_figure("cublasSaxpy / cf_axpy_async" + where, "libcublas cannot be loaded");
    figure("noise: cudaMemcpy / itself" + where, peers[1].middle() / copy, "x");
    std::printf("  cudaMemcpy %.0f GB/s, cf_axpy_async %.0f GB/s\n", 2.0 * n * sizeof(float) / copy / 1e9,
                3.0 * n * sizeof(float) / peers[3].middle() / 1e9);
}

} // namespace

void part_stream()
{
    Stream stream;
    CublasOnStream blas(stream);
    Arrays arrays;
    passes(arrays, blas, stream, 1 << 24, 101);
    passes(arrays, blas, stream, most, 41);
}
