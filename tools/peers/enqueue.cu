// enqueue.cu - host time to enqueue a small kernel: cf_gather_async, and a program's kernel, beside cuLaunchKernel and
// <<<>>>.
#include <cuferry/program.h>

#include "peers.h"
#include "plain.cuh"

namespace
{

constexpr int64_t n = 32, m = 1024;

// A batch stays well within the launch queue of about a thousand; many short rounds average the noise.
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

// The peers on one stream. With `is_bare`, the thread has no current context when it calls cf_gather_async(), as in a
// program that uses the library alone.
void on_stream(const Data &data, cudaStream_t stream, const char *where, bool is_bare)
{
    Device<float> source(data.source, m), res(n);
    Device<int32_t> index(data.index, n);
    CUfunction function = bundled("gather_f32_i32");
    const cf_kernel *bundle = cf_kernel_find(&cf_registry, "gather_f32_i32"), *loaded;
    cf_program *program;
    CHECK(cf_program_load(&program, bundle->image->begin, (size_t)(bundle->image->end - bundle->image->begin)));
    CHECK(cf_program_kernel(program, bundle->entry,
                            "(in float source[m], in int32_t index[n], out float res[n], int64_t n, int64_t m)"
                            " blocks((n + 1023) / 1024) block(256)",
                            &loaded));
    CUcontext context;
    CHECK(cuCtxGetCurrent(&context));

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
    std::vector<Peer> peers(5);
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
    peers[4].name = "cf_launch, the same kernel of a program";
    peers[4].run = [&] {
        for (int i = 0; i < batch; i++) {
            const float *s = source;
            const int32_t *x = index;
            float *r = res;
            int64_t count = n, extent = m;
            void *args[] = {&s, &x, &r, &count, &extent};
            if (cf_launch(loaded, (cf_stream)stream, args) != CF_OK)
                throw std::runtime_error(cf_last_error());
        }
    };
    for (Peer &peer : peers) {
        bool is_left = is_bare && (&peer == &peers[2] || &peer == &peers[4]);
        peer.prepare = [=] {
            if (is_left)
                CHECK(cuCtxSetCurrent(nullptr));
        };
        peer.settle = [=] {
            if (is_left)
                CHECK(cuCtxSetCurrent(context));
            CHECK(cudaStreamSynchronize(stream));
        };
        CHECK(cudaMemset(res, poison, n * sizeof(float)));
        CHECK(cudaDeviceSynchronize());
        peer.prepare();
        peer.run();
        peer.settle();
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(data.res, res, n * sizeof(float), cudaMemcpyDeviceToHost));
        expect(first_wrong_gather(data.source, data.index, data.res, n) < 0, peer.name);
    }
    take_turns(peers, rounds, 50);
    print_times(std::string("gather, N = 32, ") + where + ": host time to enqueue", peers, "ns", 1e9 / batch);
    double base = peers[0].middle();
    figure(std::string("cf_gather_async / cuLaunchKernel, ") + where, peers[2].middle() / base, "x", Target::at_most,
           1.02);
    figure(std::string("cf_gather_async / <<<>>>, ") + where, peers[2].middle() / peers[3].middle(), "x",
           Target::at_most, 0.999);
    figure(std::string("cf_launch of a program's kernel / cuLaunchKernel, ") + where, peers[4].middle() / base, "x",
           Target::at_most, 1.05);
    figure(std::string("noise: cuLaunchKernel / itself, ") + where, peers[1].middle() / base, "x");
    CHECK(cf_program_unload(program));
}

} // namespace

void part_enqueue()
{
    Data data;
    Stream stream;
    on_stream(data, stream, "created stream", false);
    on_stream(data, nullptr, "NULL stream", false);
    on_stream(data, stream, "created stream, no current context", true);
}
