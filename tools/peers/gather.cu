// gather.cu - compares the device time of gather with those of a plain kernel, Thrust and cf_gather_random. Indices are
// few at random, as many as the source has elements, in order, with gaps, or at random within windows.
#include <thrust/execution_policy.h>
#include <thrust/gather.h>

#include "peers.h"
#include "plain.cuh"

namespace
{

struct Case {
    const char *name;
    int64_t m, n;
    int64_t window; // elements of a window; index i is random in window i / `window`; 0: indices in steps
    int64_t stride; // distance between two indices
    double target;  // target of the ratio to the plain kernel, or to cf_gather; 0: none
};

void fill_index(const Case &made, int32_t *index, int64_t count)
{
    on_all_cores(count, [=](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++)
            index[i] = made.window
                           ? (int32_t)(((int64_t)i / made.window * made.window + random_integer(1, i, 0, made.window)) %
                                       made.m)
                           : (int32_t)((int64_t)i * made.stride % made.m);
    });
}

// Checks the results of the peers, which write to `res + set * n`, and then compares their times. Several sets of
// indices and results are used in turn, so that no run finds the previous data in the cache.
template <typename T>
void compare(const Case &made, std::vector<Peer> &peers, cudaStream_t stream, const Host<T> &source,
             const Host<int32_t> &index, T *res, int &set, int sets)
{
    Host<T> found(made.n);
    for (Peer &peer : peers) {
        CHECK(cudaMemset(res, poison, made.n * sizeof(T)));
        CHECK(cudaDeviceSynchronize());
        peer.run();
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(found, res, made.n * sizeof(T), cudaMemcpyDeviceToHost));
        expect(first_wrong(made.n, [&](size_t i) { return found[i] == source[index[i]]; }) < 0, peer.name);
        peer.prepare = [=] { delay(stream); };
        peer.settle = [&set, sets] { set = (set + 1) % sets; };
    }
    take_turns_on(stream, peers, sets > 1 ? 101 : 11, 3);
    print_times(std::string("gather by int32_t indices, ") + made.name + ": device time", peers, "ms", 1e3);
}

void beside_thrust(const Case &made, const Host<float> &source, const Device<float> &d_source)
{
    const int64_t m = made.m, n = made.n;
    const int sets = n > 1 << 24 ? 1 : 16;
    Host<int32_t> index(sets * n);
    fill_index(made, index, sets * n);
    Device<float> d_res(sets * n);
    Device<int32_t> d_index(index, sets * n);
    Stream stream;
    int set = 0;
    std::vector<Peer> peers(3);
    peers[0].name = "cf_gather_async";
    peers[0].run = [&] { CHECK(cf_gather_async(stream, d_source, d_index + set * n, d_res + set * n, n, m)); };
    peers[1].name = "plain kernel, <<<>>>";
    peers[1].run = [&] {
        plain_gather<<<blocks_of(n), 256, 0, stream>>>(d_source, d_index + set * n, d_res + set * n, n, m);
    };
    peers[2].name = "thrust::gather";
    peers[2].run = [&] {
        thrust::gather(thrust::cuda::par_nosync.on(stream), d_index + set * n, d_index + (set + 1) * n, d_source.data,
                       d_res + set * n);
    };
    compare<float>(made, peers, stream, source, index, d_res, set, sets);
    figure(std::string("plain kernel / cf_gather_async, ") + made.name, peers[1].middle() / peers[0].middle(), "x",
           made.target > 0 ? Target::at_least : Target::none, made.target);
    figure(std::string("thrust::gather / cf_gather_async, ") + made.name, peers[2].middle() / peers[0].middle(), "x");
}

// Compares cf_gather with cf_gather_random, for a table in kernels/KERNELS.md.
template <typename T> void beside_random(const char *type, const Case &made, const Host<T> &source, const T *d_source)
{
    const int64_t m = made.m, n = made.n;
    Host<int32_t> index(n);
    fill_index(made, index, n);
    Device<T> d_res(n);
    Device<int32_t> d_index(index, n);
    Stream stream;
    int set = 0;
    std::vector<Peer> peers(2);
    peers[0].name = "cf_gather_random_async";
    peers[0].run = [&] { CHECK(cf_gather_random_async(stream, d_source, d_index.data, d_res.data, n, m)); };
    peers[1].name = "cf_gather_async";
    peers[1].run = [&] { CHECK(cf_gather_async(stream, d_source, d_index.data, d_res.data, n, m)); };
    compare<T>(made, peers, stream, source, index, d_res, set, 1);
    figure(std::string("cf_gather_async / cf_gather_random_async, ") + type + ", " + made.name,
           peers[1].middle() / peers[0].middle(), "x");
}

template <typename T> void all_beside_random(const char *type)
{
    const int64_t most = 1 << 28, half = 1 << 27, quarter = 1 << 26, window = 1 << 20; // windows of 4 or 8 MiB
    Host<T> source(most);
    on_all_cores(most, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++)
            source[i] = (T)random_f32(2, i);
    });
    Device<T> d_source(source, most);
    const Case cases[] = {{"2^28 of 2^28 at random", most, most, most, 0, 0},
                          {"2^28 of 2^25 at random", 1 << 25, most, 1 << 25, 0, 0},
                          {"2^27 of 2^28 at random", most, half, most, 0, 0},
                          {"2^26 of 2^26 at random", quarter, quarter, quarter, 0, 0},
                          {"2^28 of 2^28 in order", most, most, 0, 1, 0},
                          {"2^26 of 2^26 in order", quarter, quarter, 0, 1, 0},
                          {"2^28 of 2^28 at random within 2^20", most, most, window, 0, 0}};
    for (const Case &made : cases)
        beside_random<T>(type, made, source, d_source);
}

} // namespace

void part_gather()
{
    const int64_t few = 1 << 20, many = 1 << 27, most = 1 << 28;
    {
        const Case cases[] = {{"M = 2^27, N = 2^20, random", many, few, many, 0, 1.05},
                              {"M = N = 2^28, random", most, most, most, 0, 0},
                              {"M = N = 2^28, in order", most, most, 0, 1, 1.6},
                              {"M = N = 2^28, random within 16 KiB", most, most, 4096, 0, 1.5},
                              {"M = N = 2^27, stride 16", many, many, 0, 16, 0.97},
                              {"M = N = 2^27, stride 1009", many, many, 0, 1009, 0.97}};
        Host<float> source(most);
        fill(source, most, 0);
        Device<float> d_source(source, most);
        for (const Case &made : cases)
            beside_thrust(made, source, d_source);
    }
    all_beside_random<float>("float");
    all_beside_random<double>("double");
}
