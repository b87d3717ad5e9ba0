// scan.cu - compares the device time of prefix sums with that of CUB, for a call on an idle stream and a call behind
// other work.
#include <cmath>

#include <cub/device/device_scan.cuh>

#include "beside_cub.cuh"

namespace
{

// Returns the first i for which y[i] is not the sum of the elements before x[i], up to rounding of float additions.
int64_t first_wrong_scan(const float *x, const float *y, int64_t n)
{
    double exact = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(std::fabs(y[i] - exact) <= 4e-6 * exact))
            return i;
        exact += x[i];
    }
    return -1;
}

void compare_scans(int log, const float *host, const float *x, float *y, double times)
{
    const Sizes sizes(log);
    const int64_t n = sizes.n;
    Stream stream;
    Temporary temporary;
    Host<float> found(n), first(n);
    int set = 0;
    auto scan = [&](void *memory, size_t &bytes) {
        return cub::DeviceScan::ExclusiveSum(memory, bytes, x + set * n, y + set * n, n, stream);
    };
    temporary.make(scan);
    std::vector<Peer> peers(2);
    peers[0].name = "cf_exclusive_scan_async";
    peers[0].run = [&] { CHECK(cf_exclusive_scan_async(stream, x + set * n, y + set * n, n)); };
    peers[1].name = "cub::DeviceScan::ExclusiveSum";
    peers[1].run = [&] { CHECK(scan(temporary.memory, temporary.bytes)); };
    for (Peer &peer : peers) {
        for (int run = 0; run < 3; run++) {
            CHECK(cudaMemset(y, poison, n * sizeof(float)));
            CHECK(cudaDeviceSynchronize());
            peer.run();
            CHECK(cudaStreamSynchronize(stream));
            CHECK(cudaMemcpy(found, y, n * sizeof(float), cudaMemcpyDeviceToHost));
            if (run == 0) {
                std::memcpy(first, found, n * sizeof(float));
                expect(first_wrong_scan(host, found, n) < 0, peer.name);
            }
            expect(&peer != &peers[0] || std::memcmp(found, first, n * sizeof(float)) == 0, peer.name + ", run again");
        }
        peer.settle = [&] { set = (set + 1) % sizes.sets; };
    }
    compare("scan of 2^" + std::to_string(log) + " floats", stream, peers, log > 26 ? 31 : 101, times);
}

} // namespace

void part_scan()
{
    const int64_t most = (int64_t)1 << 28;
    Host<float> host(most);
    fill(host, most, 8);
    Device<float> x(host, most), y(most);
    compare_scans(20, host, x, y, 1.1);
    compare_scans(24, host, x, y, 1.03);
    compare_scans(28, host, x, y, 1);
}
