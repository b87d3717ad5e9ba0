// reduce.cu - compares the device time of reductions with that of CUB, for a call on an idle stream and a call behind
// other work.
#include <algorithm>
#include <cmath>
#include <mutex>

#include <cub/device/device_reduce.cuh>

#include "beside_cub.cuh"

namespace
{

double exact_sum(const float *values, int64_t count)
{
    double total = 0;
    std::mutex lock;
    on_all_cores((size_t)count, [&](size_t begin, size_t end) {
        double own = 0;
        for (size_t i = begin; i < end; i++)
            own += values[i];
        std::lock_guard<std::mutex> guard(lock);
        total += own;
    });
    return total;
}

void compare_sums(int log, const float *host, const float *device)
{
    const Sizes sizes(log);
    const int64_t n = sizes.n;
    Device<float> result(1);
    Stream stream;
    Temporary temporary;
    int set = 0;
    temporary.make([&](void *memory, size_t &bytes) {
        return cub::DeviceReduce::Sum(memory, bytes, device, result.data, n, stream);
    });
    std::vector<Peer> peers(2);
    peers[0].name = "cf_sum_async";
    peers[0].run = [&] { CHECK(cf_sum_async(stream, device + set * n, result.data, n)); };
    peers[1].name = "cub::DeviceReduce::Sum";
    peers[1].run = [&] {
        CHECK(cub::DeviceReduce::Sum(temporary.memory, temporary.bytes, device + set * n, result.data, n, stream));
    };
    const double exact = exact_sum(host, n);
    for (Peer &peer : peers) {
        float first = 0;
        for (int run = 0; run < 10; run++) {
            CHECK(cudaMemset(result, poison, sizeof(float)));
            CHECK(cudaDeviceSynchronize());
            peer.run();
            CHECK(cudaStreamSynchronize(stream));
            const float found = read(result.data);
            expect(std::fabs(found - exact) <= 2e-6 * exact, peer.name);
            first = run == 0 ? found : first;
            expect(&peer != &peers[0] || std::memcmp(&found, &first, sizeof found) == 0, peer.name + ", run again");
        }
        peer.settle = [&] { set = (set + 1) % sizes.sets; };
    }
    compare("sum of 2^" + std::to_string(log) + " floats", stream, peers, log > 26 ? 31 : 101, 1);
}

// Returns the index of the first of the least floats; none is NaN.
int64_t first_least(const float *values, int64_t count)
{
    int64_t least = 0;
    std::mutex lock;
    on_all_cores((size_t)count, [&](size_t begin, size_t end) {
        const int64_t own = std::min_element(values + begin, values + end) - values;
        if ((size_t)own == end)
            return;
        std::lock_guard<std::mutex> guard(lock);
        if (values[own] < values[least] || (values[own] == values[least] && own < least))
            least = own;
    });
    return least;
}

// Checks that each of two peers sets *result to the expected value of every slice, and then compares their times. `set`
// is the number of the slice that a peer reads.
template <typename T>
void compare_exact(const std::string &what, cudaStream_t stream, std::vector<Peer> &peers, T *result,
                   const std::vector<T> &expected, size_t &set)
{
    for (Peer &peer : peers) {
        for (set = 0; set < expected.size(); set++) {
            CHECK(cudaMemset(result, poison, sizeof(T)));
            CHECK(cudaDeviceSynchronize());
            peer.run();
            CHECK(cudaStreamSynchronize(stream));
            expect(read(result) == expected[set], peer.name + ", " + what);
        }
        peer.settle = [&] { set = (set + 1) % expected.size(); };
    }
    set = 0;
    compare(what, stream, peers, 21, 0);
}

void compare_others(int log, const float *host, const float *device)
{
    const Sizes sizes(log);
    const int64_t n = sizes.n;
    Device<float> result(1), least(1);
    Device<int64_t> index(1);
    Stream stream;
    Temporary for_min, for_argmin;
    size_t set = 0;
    auto min = [&](void *memory, size_t &bytes) {
        return cub::DeviceReduce::Min(memory, bytes, device + set * n, result.data, n, stream);
    };
    auto argmin = [&](void *memory, size_t &bytes) {
        return cub::DeviceReduce::ArgMin(memory, bytes, device + set * n, least.data, index.data, n, stream);
    };
    for_min.make(min);
    for_argmin.make(argmin);
    std::vector<int64_t> places;
    std::vector<float> values;
    for (int s = 0; s < sizes.sets; s++) {
        places.push_back(first_least(host + s * n, n));
        values.push_back(host[s * n + places.back()]);
    }
    std::vector<Peer> peers(2);
    peers[0].name = "cf_min_async";
    peers[0].run = [&] { CHECK(cf_min_async(stream, device + set * n, result.data, n)); };
    peers[1].name = "cub::DeviceReduce::Min";
    peers[1].run = [&] { CHECK(min(for_min.memory, for_min.bytes)); };
    compare_exact("least of 2^" + std::to_string(log) + " floats", stream, peers, result.data, values, set);
    peers[0].name = "cf_argmin_async";
    peers[0].run = [&] { CHECK(cf_argmin_async(stream, device + set * n, index.data, n)); };
    peers[1].name = "cub::DeviceReduce::ArgMin";
    peers[1].run = [&] { CHECK(argmin(for_argmin.memory, for_argmin.bytes)); };
    compare_exact("where the least of 2^" + std::to_string(log) + " floats is", stream, peers, index.data, places, set);
}

} // namespace

void part_reduce()
{
    const int64_t most = (int64_t)1 << 28;
    Host<float> host(most);
    fill(host, most, 7);
    Device<float> device(host, most);
    for (int log : {20, 24, 28})
        compare_sums(log, host, device);
    for (int log : {20, 28})
        compare_others(log, host, device);
}
