// gather.cu - device time of gather beside a plain kernel and Thrust: few random elements, as many as the source has,
// all elements in order, and elements with gaps.
#include <thrust/execution_policy.h>
#include <thrust/gather.h>

#include "peers.h"
#include "plain.cuh"

namespace
{

struct Case {
    const char *name;
    int64_t m, n;
    int64_t stride; // between two indices; 0: random indices
    int sets;       // of indices and results, in turn, so that no run finds the previous data in the cache
    int rounds;
    double of_plain, of_thrust; // targets; 0: none
    bool has_random;            // also measures cf_gather_random
    double of_random;           // the plain kernel beside cf_gather_random
};

void fill_in_steps(int32_t *index, int64_t n, int64_t stride, int64_t m)
{
    on_all_cores(n, [=](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++)
            index[i] = (int32_t)((int64_t)i * stride % m);
    });
}

void figure_of(const std::string &what, const Peer &peer, const Peer &ours, double target)
{
    figure(what, peer.middle() / ours.middle(), "x", target > 0 ? Target::at_least : Target::none, target);
}

void gathers(const Case &made, const Host<float> &source, const Device<float> &d_source)
{
    const int64_t m = made.m, n = made.n;
    const int sets = made.sets;
    Host<float> res(n);
    Host<int32_t> index(sets * n);
    if (made.stride == 0)
        fill(index, sets * n, 1, m);
    else
        fill_in_steps(index, n, made.stride, m);
    Device<float> d_res(sets * n);
    Device<int32_t> d_index(index, sets * n);
    Stream stream;
    CUfunction function = bundled("gather_f32_i32");
    int set = 0;

    std::vector<Peer> peers(4);
    peers[0].name = "cf_gather_async";
    peers[0].run = [&] { CHECK(cf_gather_async(stream, d_source, d_index + set * n, d_res + set * n, n, m)); };
    peers[1].name = "the same kernel, cuLaunchKernel";
    peers[1].run = [&] {
        const float *from = d_source;
        int32_t *in = d_index + set * n;
        float *out = d_res + set * n;
        int64_t count = n, extent = m;
        void *args[] = {&from, &in, &out, &count, &extent};
        CHECK(cuLaunchKernel(function, bundled_blocks(n), 1, 1, 256, 1, 1, 0, stream, args, nullptr));
    };
    peers[2].name = "plain kernel, <<<>>>";
    peers[2].run = [&] {
        plain_gather<<<blocks_of(n), 256, 0, stream>>>(d_source, d_index + set * n, d_res + set * n, n, m);
    };
    peers[3].name = "thrust::gather";
    peers[3].run = [&] {
        thrust::gather(thrust::cuda::par_nosync.on(stream), d_index + set * n, d_index + (set + 1) * n, d_source.data,
                       d_res + set * n);
    };
    if (made.has_random) {
        peers.emplace_back();
        peers.back().name = "cf_gather_random_async";
        peers.back().run = [&] {
            CHECK(cf_gather_random_async(stream, d_source, d_index + set * n, d_res + set * n, n, m));
        };
    }
    for (Peer &peer : peers) {
        CHECK(cudaMemset(d_res, poison, n * sizeof(float)));
        CHECK(cudaDeviceSynchronize());
        peer.run();
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(res, d_res, n * sizeof(float), cudaMemcpyDeviceToHost));
        expect(first_wrong_gather(source, index, res, n) < 0, peer.name);
        peer.prepare = [&] { delay(stream); };
        peer.settle = [&] { set = (set + 1) % sets; };
    }
    take_turns_on(stream, peers, made.rounds, 3);
    print_times(std::string("gather of floats by int32_t indices, ") + made.name + ": device time", peers, "ms", 1e3);
    figure_of(std::string("plain kernel / cf_gather_async, ") + made.name, peers[2], peers[0], made.of_plain);
    figure_of(std::string("thrust::gather / cf_gather_async, ") + made.name, peers[3], peers[0], made.of_thrust);
    if (made.has_random)
        figure_of(std::string("plain kernel / cf_gather_random_async, ") + made.name, peers[2], peers[4],
                  made.of_random);
}

} // namespace

void part_gather()
{
    const int64_t few = 1 << 20, many = 1 << 27, most = 1 << 28;
    const Case cases[] = {{"M = 2^27, N = 2^20, random", many, few, 0, 16, 101, 0, 1.05, false, 0},
                          {"M = 2^27, N = 2^24, random", many, many / 8, 0, 2, 31, 0, 0, true, 1.0},
                          {"M = N = 2^28, random", most, most, 0, 1, 11, 0, 0, true, 1.5},
                          {"M = N = 2^28, in order", most, most, 1, 1, 31, 1.6, 0, true, 0},
                          {"M = N = 2^27, stride 8", many, many, 8, 1, 11, 0.97, 0, false, 0},
                          {"M = N = 2^27, stride 16", many, many, 16, 1, 11, 0.97, 0, false, 0},
                          {"M = N = 2^27, stride 64", many, many, 64, 1, 11, 0.97, 0, false, 0},
                          {"M = N = 2^27, stride 65536", many, many, 65536, 1, 11, 0.97, 0, false, 0}};
    Host<float> source(most);
    fill(source, most, 0);
    Device<float> d_source(source, most);
    for (const Case &made : cases)
        gathers(made, source, d_source);
}
