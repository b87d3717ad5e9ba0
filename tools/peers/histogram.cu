// histogram.cu - compares the device time of histograms with that of CUB.
#include <cub/device/device_histogram.cuh>

#include "peers.h"

namespace
{

void compare(const std::string &what, const Device<float> &x, int64_t n, int64_t bins,
             const std::vector<int64_t> &wanted, int sets, double target)
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
    figure("cub::DeviceHistogram / cf_histogram_async, " + what, peers[1].middle() / peers[0].middle(), "x",
           target > 0 ? Target::at_least : Target::none, target);
}

} // namespace

void part_histogram()
{
    const int64_t most = (int64_t)1 << 28;
    Host<float> host(most);
    fill(host, most, 7); // multiples of 2^-24, so that bins by powers of two are exact
    Device<float> x(host, most);
    struct {
        int log;
        int64_t bins;
        float same; // value of all elements; 0: random values
        double target;
    } const cases[] = {{20, 256, 0, 1.0},    {24, 256, 0, 1.0},   {28, 256, 0, 1.0},
                       {27, 4096, 0, 8.4},   {28, 1 << 20, 0, 0}, {27, 10, 0.3f, 1.0},
                       {27, 256, 0.3f, 1.0}, {27, 256, 0.5f, 0},  {28, 1 << 20, 0.3f, 0}};
    float filled = 0;
    for (const auto &one : cases) {
        const int64_t n = (int64_t)1 << one.log;
        std::vector<int64_t> wanted(one.bins);
        if (one.same != filled) {
            for (int64_t i = 0; i < most; i++)
                host[i] = one.same;
            CHECK(cudaMemcpy(x, host, most * sizeof(float), cudaMemcpyHostToDevice));
            filled = one.same;
        }
        for (int64_t i = 0; i < n; i++)
            wanted[(int64_t)(host[i] * (float)one.bins)]++;
        char same[32];
        snprintf(same, sizeof same, ", all %g", one.same);
        compare("n = 2^" + std::to_string(one.log) + ", " + std::to_string(one.bins) + " bins" +
                    (one.same > 0 ? same : ""),
                x, n, one.bins, wanted, (int)(most / n), one.target);
    }
}
