// graph.cu - compares cf_graph_launch with cuGraphLaunch for the replay of a captured graph of the library's launches
// and of raw launches.
#include "peers.h"
#include "plain.cuh"

namespace
{

constexpr int launches = 100;
constexpr int64_t n = 32, m = 1 << 16, total = launches * n;

struct Exec {
    CUgraphExec handle = nullptr;
    ~Exec()
    {
        if (handle)
            (void)cuGraphExecDestroy(handle);
    }
};

} // namespace

void part_graph()
{
    Host<float> source(m), res(total);
    Host<int32_t> index(total);
    fill(source, m, 0);
    fill(index, total, 1, m);
    Device<float> d_source(source, m), d_res(total);
    Device<int32_t> d_index(index, total);
    Stream stream;
    CUfunction function = bundled("gather_f32_i32");

    Exec ours, theirs;
    cf_graph captured = nullptr;
    CHECK(cf_stream_capture_begin(stream));
    for (int i = 0; i < launches; i++)
        CHECK(cf_gather_async(stream, d_source, d_index + i * n, d_res + i * n, n, m));
    CHECK(cf_stream_capture_end(stream, &captured));
    CHECK(cf_graph_instantiate(&ours.handle, captured));
    CHECK(cf_graph_destroy(captured));

    CUgraph graph;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < launches; i++) {
        int32_t *in = d_index + i * n;
        float *out = d_res + i * n;
        int64_t count = n, extent = m;
        void *args[] = {&d_source.data, &in, &out, &count, &extent};
        CHECK(cuLaunchKernel(function, bundled_blocks(n), 1, 1, 256, 1, 1, 0, stream, args, nullptr));
    }
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphInstantiate(&theirs.handle, graph, 0));
    CHECK(cuGraphDestroy(graph));

    std::vector<Peer> peers(4);
    peers[0].name = "cuGraphLaunch, of raw launches";
    peers[0].run = [&] { CHECK(cuGraphLaunch(theirs.handle, stream)); };
    peers[1].name = "the same again: the noise";
    peers[1].run = peers[0].run;
    peers[2].name = "cf_graph_launch, of cf_gather_async";
    peers[2].run = [&] { CHECK(cf_graph_launch(ours.handle, stream)); };
    peers[3].name = "cuGraphLaunch, of cf_gather_async";
    peers[3].run = [&] { CHECK(cuGraphLaunch(ours.handle, stream)); };
    for (Peer &peer : peers) {
        CHECK(cudaMemset(d_res, poison, total * sizeof(float)));
        CHECK(cudaDeviceSynchronize());
        peer.run();
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(res, d_res, total * sizeof(float), cudaMemcpyDeviceToHost));
        expect(first_wrong_gather(source, index, res, total) < 0, peer.name);
    }

    // Each replay is timed alone, since the time of one that is queued behind another includes the other.
    std::vector<Peer> on_device = peers;
    take_turns_on(stream, on_device, 1000, 20);
    print_times("graph of 100 gathers, N = 32 each: device time of a replay", on_device, "us", 1e6);
    for (Peer &peer : peers)
        peer.settle = [&] { CHECK(cudaStreamSynchronize(stream)); };
    take_turns(peers, 4000, 50);
    print_times("the same: host time to enqueue it", peers, "us", 1e6);
    figure("cf_graph_launch / cuGraphLaunch of raw launches, device time",
           on_device[2].middle() / on_device[0].middle(), "x", Target::at_most, 1.02);
    figure("noise: cuGraphLaunch / itself, device time", on_device[1].middle() / on_device[0].middle(), "x");
    figure("cf_graph_launch / cuGraphLaunch of raw launches, host time", peers[2].middle() / peers[0].middle(), "x",
           Target::at_most, 1.02);
    figure("noise: cuGraphLaunch / itself, host time", peers[1].middle() / peers[0].middle(), "x");
}
