// histogram.cu - device time of histograms beside CUB's.
#include <cub/device/device_histogram.cuh>

#include "peers.h"

namespace
{

void compare(const std::string &what, const Device<float> &x, int64_t n, int64_t bins,
             const std::vector<int64_t> &wanted, int sets)
{
    Device<int32_t> counts(bins);
    Stream stream;
    int set = 0;
    size_t bytes = 0;
    CHECK(
        cub::DeviceHistogram::HistogramEven(nullptr, bytes, x.data, counts.data, (int)bins + 1, 0.0f, 1.0f, n, stream));
    Device<char> work(bytes);
    std::vector<Peer> peers(2);
    peers[0].name = "cf_histogram_async";
    peers[0].run = [&] { CHECK(cf_histogram_async(stream, x.data + set * n, 0, 1, counts.data, n, bins)); };
    peers[1].name = "cub::DeviceHistogram::HistogramEven";
    peers[1].run = [&] {
        CHECK(cub::DeviceHistogram::HistogramEven(work.data, bytes, x.data + set * n, counts.data, (int)bins + 1, 0.0f,
                                                  1.0f, n, stream));
    };
    for (Peer &peer : peers) {
        std::vector<int32_t> found(bins);
        CHECK(cudaMemset(counts, poison, bins * sizeof(int32_t)));
        CHECK(cudaDeviceSynchronize());
        peer.run();
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(found.data(), counts, bins * sizeof(int32_t), cudaMemcpyDeviceToHost));
        bool is_right = true;
        for (int64_t b = 0; b < bins; b++)
            is_right = is_right && found[b] == wanted[b];
        expect(is_right, peer.name + ", " + what);
        peer.settle = [&] { set = (set + 1) % sets; };
    }
    take_turns_on(stream, peers, 31, 3);
    print_times("histogram of floats, " + what + ": device time", peers, "ms", 1e3);
    figure("cub::DeviceHistogram / cf_histogram_async, " + what, peers[1].middle() / peers[0].middle(), "x");
}

} // namespace

void part_histogram()
{
    const int64_t most = (int64_t)1 << 28;
    Host<float> host(most);
    fill(host, most, 7); // multiples of 2^-24: bins by powers of two are exact
    Device<float> x(host, most);
    struct {
        int log;
        int64_t bins;
        bool is_same;
    } const cases[] = {{20, 256, false},     {24, 256, false}, {28, 256, false},   {28, 4096, false},
                       {28, 1 << 20, false}, {28, 256, true},  {28, 1 << 20, true}};
    for (const auto &one : cases) {
        const int64_t n = (int64_t)1 << one.log;
        std::vector<int64_t> wanted(one.bins);
        if (one.is_same && host[1] != host[0]) {
            for (int64_t i = 1; i < most; i++)
                host[i] = host[0];
            CHECK(cudaMemcpy(x, host, most * sizeof(float), cudaMemcpyHostToDevice));
        }
        for (int64_t i = 0; i < n; i++)
            wanted[(int64_t)(host[i] * (float)one.bins)]++;
        compare("n = 2^" + std::to_string(one.log) + ", " + std::to_string(one.bins) + " bins" +
                    (one.is_same ? ", all alike" : ""),
                x, n, one.bins, wanted, (int)(most / n));
    }
}
