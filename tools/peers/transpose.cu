// transpose.cu - compares the device time of transposes with a driver copy of as many bytes, and with cuBLAS.
#include "cublas.h"
#include "peers.h"

namespace
{

template <typename T>
__global__ void count_wrong(const T *in, const T *out, int64_t rows, int64_t cols, unsigned int *wrong)
{
    const int64_t all = rows * cols, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step)
        if (in[i] != out[i % cols * rows + i / cols])
            atomicAdd(wrong, 1u);
}

// Elements are integers of the same size, since a transpose does not interpret them.
template <typename T, typename Call>
void compare(const char *type, int64_t rows, int64_t cols, const char *in, char *out, cudaStream_t stream, Call call)
{
    const size_t bytes = (size_t)(rows * cols) * sizeof(T);
    const std::string what = std::string(type) + ", " + std::to_string(rows) + " x " + std::to_string(cols);
    Device<unsigned int> wrong(1);
    CublasOnStream blas(stream);
    const float one = 1, zero = 0;
    std::vector<Peer> peers(2);
    peers[0].name = "cf_transpose_async";
    peers[0].run = [&] { CHECK(call(stream, in, out, rows, cols)); };
    peers[1].name = "cudaMemcpyAsync of as many bytes";
    peers[1].run = [&] { CHECK(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream)); };
    if (sizeof(T) == 4 && blas.handle) {
        peers.push_back({});
        peers[2].name = "cublasSgeam";
        peers[2].run = [&] {
            expect(blas.sgeam(blas.handle, 1, 0, (int)rows, (int)cols, &one, (const float *)in, (int)cols, &zero,
                              (const float *)out, (int)rows, (float *)out, (int)rows) == 0,
                   "cublasSgeam");
        };
    }
    for (size_t p = 0; p < peers.size(); p += 2) {
        unsigned int count = 0;
        CHECK(cudaMemset(out, p ? 0 : poison, bytes)); // cuBLAS gets zeros, since it may multiply the old contents by 0
        CHECK(cudaMemset(wrong, 0, sizeof count));
        CHECK(cudaDeviceSynchronize());
        peers[p].run();
        CHECK(cudaStreamSynchronize(stream));
        count_wrong<<<4096, 256>>>((const T *)in, (const T *)out, rows, cols, wrong.data);
        CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
        expect(count == 0, peers[p].name + ", " + what);
    }
    take_turns_on(stream, peers, 21, 3); // 200 MB in and out, larger than any cache
    print_times("transpose of " + what + ": device time", peers, "ms", 1e3);
    figure("cf_transpose_async / cudaMemcpy, bandwidth, " + what, peers[1].middle() / peers[0].middle(), "x");
    if (peers.size() > 2)
        figure("cublasSgeam / cf_transpose_async, " + what, peers[2].middle() / peers[0].middle(), "x");
}

} // namespace

void part_transpose()
{
    const size_t most = (size_t)1 << 30;
    Device<char> in(most), out(most);
    Stream stream;
    {
        Host<int32_t> values(most / sizeof(int32_t));
        fill(values, values.count, 17, 1 << 23); // floats without NaN
        CHECK(cudaMemcpy(in, values, most, cudaMemcpyHostToDevice));
    }
    auto f32 = [](cudaStream_t s, const char *from, char *to, int64_t rows, int64_t cols) {
        return cf_transpose_f32_async(s, (const float *)from, (float *)to, rows, cols);
    };
    compare<uint32_t>("f32", 8192, 8192, in, out, stream, f32);
    compare<uint32_t>("f32", 64, 1 << 20, in, out, stream, f32);
    compare<uint32_t>("f32", 1 << 24, 3, in, out, stream, f32);
}
