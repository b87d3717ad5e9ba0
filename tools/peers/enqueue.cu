// enqueue.cu - compares the host's time to enqueue a small kernel by cf_gather_async, cuLaunchKernel and <<<>>>.
#include "peers.h"
#include "plain.cuh"

namespace
{

constexpr int64_t n = 32, m = 1024;

// A batch is much smaller than the launch queue, which holds about a thousand; many short rounds average out the noise.
constexpr int batch = 100, rounds = 2500;

struct Data {
    Host<float> source{m}, res{n};
    Host<int32_t> index{n};
    Data()
    {
        fill(source, m, 0);
        fill(index, n, 1, m);
    }
};

} // namespace

void part_enqueue()
{
    Data data;
    Stream stream;
    Device<float> source(data.source, m), res(n);
    Device<int32_t> index(data.index, n);
    CUfunction function = bundled("gather_f32_i32");

    auto raw = [&] {
        for (int i = 0; i < batch; i++) {
            const float *s = source;
            const int32_t *x = index;
            float *r = res;
            int64_t count = n, extent = m;
            void *args[] = {&s, &x, &r, &count, &extent};
            if (cuLaunchKernel(function, bundled_blocks(n), 1, 1, 256, 1, 1, 0, stream, args, nullptr) != CUDA_SUCCESS)
                throw std::runtime_error("cuLaunchKernel failed");
        }
    };
    std::vector<Peer> peers(4);
    peers[0].name = "cuLaunchKernel, the same kernel";
    peers[0].run = raw;
    peers[1].name = "the same again: the noise";
    peers[1].run = raw;
    peers[2].name = "cf_gather_async";
    peers[2].run = [&] {
        for (int i = 0; i < batch; i++)
            if (cf_gather_async(stream, source, index, res, n, m) != CF_OK)
                throw std::runtime_error(cf_last_error());
    };
    peers[3].name = "plain kernel, <<<>>>";
    peers[3].run = [&] {
        for (int i = 0; i < batch; i++)
            plain_gather<<<blocks_of(n), 256, 0, stream>>>(source, index, res, n, m);
    };
    for (Peer &peer : peers) {
        peer.settle = [&] { CHECK(cudaStreamSynchronize(stream)); };
        CHECK(cudaMemset(res, poison, n * sizeof(float)));
        CHECK(cudaDeviceSynchronize());
        peer.run();
        peer.settle();
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(data.res, res, n * sizeof(float), cudaMemcpyDeviceToHost));
        expect(first_wrong_gather(data.source, data.index, data.res, n) < 0, peer.name);
    }
    take_turns(peers, rounds, 50);
    print_times("gather, N = 32: host time to enqueue", peers, "ns", 1e9 / batch);
    const double ours = peers[2].middle();
    figure("cuLaunchKernel / cf_gather_async", peers[0].middle() / ours, "x", Target::at_least, 0.98);
    figure("<<<>>> / cf_gather_async", peers[3].middle() / ours, "x", Target::at_least, 1);
    figure("noise: cuLaunchKernel / itself", peers[1].middle() / peers[0].middle(), "x");
}
