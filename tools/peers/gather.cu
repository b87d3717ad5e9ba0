// gather.cu - device time of gather beside a plain kernel and the toolkit's own.
#include <thrust/execution_policy.h>
#include <thrust/gather.h>

#include "peers.h"
#include "plain.cuh"

void part_gather()
{
    const int64_t m = 1 << 27, n = 1 << 20;
    const int sets =
        16; // of indices and results, in turn: 16 x 8 MiB are past the cache, so no run finds the last one's
    Host<float> source(m), res(n);
    Host<int32_t> index(sets * n);
    fill(source, m, 0);
    fill(index, sets * n, 1, m);
    Device<float> d_source(source, m), d_res(sets * n);
    Device<int32_t> d_index(index, sets * n);
    Stream stream;
    CUfunction function = bundled("gather_f32_i32");
    int set = 0;

    auto raw = [&] {
        int32_t *in = d_index + set * n;
        float *out = d_res + set * n;
        int64_t count = n, extent = m;
        void *args[] = {&d_source.data, &in, &out, &count, &extent};
        CHECK(cuLaunchKernel(function, bundled_blocks(n), 1, 1, 256, 1, 1, 0, stream, args, nullptr));
    };
    std::vector<Peer> peers(4);
    peers[0].name = "cf_gather_async";
    peers[0].run = [&] { CHECK(cf_gather_async(stream, d_source, d_index + set * n, d_res + set * n, n, m)); };
    peers[1].name = "the same kernel, cuLaunchKernel";
    peers[1].run = raw;
    peers[2].name = "plain kernel, <<<>>>";
    peers[2].run = [&] {
        plain_gather<<<blocks_of(n), 256, 0, stream>>>(d_source, d_index + set * n, d_res + set * n, n, m);
    };
    peers[3].name = "thrust::gather";
    peers[3].run = [&] {
        thrust::gather(thrust::cuda::par_nosync.on(stream), d_index + set * n, d_index + (set + 1) * n, d_source.data,
                       d_res + set * n);
    };
    for (Peer &peer : peers) {
        CHECK(cudaMemset(d_res, poison, n * sizeof(float)));
        CHECK(cudaDeviceSynchronize());
        peer.run();
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(res, d_res, n * sizeof(float), cudaMemcpyDeviceToHost));
        expect(first_wrong_gather(source, index, res, n) < 0, peer.name);
        peer.settle = [&] { set = (set + 1) % sets; };
    }
    take_turns_on(stream, peers, 101, 3);
    print_times("gather, M = 2^27 floats, N = 2^20 random int32_t indices: device time", peers, "ms", 1e3);
    figure("cf_gather_async / plain kernel, N = 2^20, device time", peers[0].middle() / peers[2].middle(), "x");
    figure("cf_gather_async / thrust::gather, the same", peers[0].middle() / peers[3].middle(), "x");
}
