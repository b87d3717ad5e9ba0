// call.cu - compares the plain call on device pointers with a launch and a synchronization; and if the call checks
// elements, with these and one pass over the checked array.
#include <algorithm>

#include "peers.h"
#include "plain.cuh"

namespace
{

constexpr int64_t m = 1 << 27, largest = 1 << 20;

// Raises bounds[0] to the largest ~x and bounds[1] to the largest x, as unsigned numbers. The caller sets both to 0.
__global__ void bounds_of(const int32_t *x, uint32_t *bounds, int64_t count)
{
    uint32_t lowest = 0, highest = 0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x) {
        lowest = max(lowest, ~(uint32_t)x[i]);
        highest = max(highest, (uint32_t)x[i]);
    }
    for (int lane = 16; lane > 0; lane /= 2) {
        lowest = max(lowest, __shfl_xor_sync(0xffffffff, lowest, lane));
        highest = max(highest, __shfl_xor_sync(0xffffffff, highest, lane));
    }
    if (threadIdx.x % 32 == 0) {
        atomicMax(&bounds[0], lowest);
        atomicMax(&bounds[1], highest);
    }
}

struct Arrays {
    Host<float> source{m}, res{largest};
    Host<int32_t> index{largest};
    Device<float> d_source{m}, d_res{largest};
    Device<int32_t> d_index{largest};
    CUfunction function = bundled("gather_f32_i32");
    Device<uint32_t> bounds{2};
    uint32_t *read; // pinned
    int blocks;
    Arrays()
    {
        fill(source, m, 0);
        fill(index, largest, 1, m);
        CHECK(cudaMemcpy(d_source, source, m * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_index, index, largest * sizeof(int32_t), cudaMemcpyHostToDevice));
        CHECK(cudaMallocHost((void **)&read, 2 * sizeof *read));
        CHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0));
        blocks *= 8;
    }
    ~Arrays()
    {
        (void)cudaFreeHost(read);
    }

    void launch_and_wait(int64_t n)
    {
        int64_t count = n, extent = m;
        void *args[] = {&d_source.data, &d_index.data, &d_res.data, &count, &extent};
        CHECK(cuLaunchKernel(function, bundled_blocks(n), 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
        CHECK(cuStreamSynchronize(nullptr));
    }

    void pass_and_read(int64_t n)
    {
        CHECK(cuMemsetD8Async((CUdeviceptr)bounds.data, 0, 2 * sizeof *read, nullptr));
        bounds_of<<<std::min(blocks_of(n), (unsigned int)blocks), 256>>>(d_index, bounds, n);
        CHECK(cuMemcpyDtoHAsync(read, (CUdeviceptr)bounds.data, 2 * sizeof *read, nullptr));
        CHECK(cuStreamSynchronize(nullptr));
        expect(read[1] < m, "the pass over index");
    }
};

std::string label(const char *what, int64_t n)
{
    return std::string(what) + ", N = " + (n == largest ? "2^20" : std::to_string(n));
}

// Compares gathers from the call to the complete result, with arrays on the device.
void gathers(Arrays &arrays, int64_t n, int rounds)
{
    std::vector<Peer> peers(5);
    peers[0].name = "cuLaunchKernel, cuStreamSynchronize";
    peers[0].run = [&, n] { arrays.launch_and_wait(n); };
    peers[1] = peers[0];
    peers[1].name = "the same again: the noise";
    peers[2].name = "one pass over index, read back; then the same";
    peers[2].run = [&, n] {
        arrays.pass_and_read(n);
        arrays.launch_and_wait(n);
    };
    peers[3].name = "cf_gather, CF_CHECK_NONE";
    peers[3].prepare = [] { CHECK(cf_set_check(CF_CHECK_NONE)); };
    peers[3].run = [&, n] { CHECK(cf_gather(arrays.d_source, arrays.d_index, arrays.d_res, n, m)); };
    peers[4] = peers[3];
    peers[4].name = "cf_gather, CF_CHECK_ELEMENTS";
    peers[4].prepare = [] { CHECK(cf_set_check(CF_CHECK_ELEMENTS)); };
    for (Peer &peer : peers) {
        CHECK(cudaMemset(arrays.d_res, poison, n * sizeof(float)));
        CHECK(cudaDeviceSynchronize());
        if (peer.prepare)
            peer.prepare();
        peer.run();
        CHECK(cudaMemcpy(arrays.res, arrays.d_res, n * sizeof(float), cudaMemcpyDeviceToHost));
        expect(first_wrong_gather(arrays.source, arrays.index, arrays.res, n) < 0, peer.name);
    }
    take_turns(peers, rounds, 50);
    CHECK(cf_set_check(CF_CHECK_ELEMENTS));
    print_times(label("gather on device pointers", n), peers, "us", 1e6);
    const double base = peers[0].middle(), checked = peers[4].middle();
    figure(label("launch + synchronize / cf_gather with CF_CHECK_NONE", n), base / peers[3].middle(), "x",
           Target::at_least, 0.95);
    figure(label("launch + synchronize / cf_gather", n), base / checked, "x");
    figure(label("launch + synchronize + one pass over index / cf_gather", n), peers[2].middle() / checked, "x",
           Target::at_least, 0.95);
    figure(label("noise: launch + synchronize / itself", n), base / peers[1].middle(), "x");
}

// Memory allocated by the library, freed at the end of its scope.
struct Owned {
    float *data = nullptr;
    Owned(const float *values, size_t count)
    {
        CHECK(cf_mem_alloc((void **)&data, count * sizeof *data));
        CHECK(cf_mem_copy(data, values, count * sizeof *data));
    }
    ~Owned()
    {
        (void)cf_mem_free(data);
    }
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;
};

// Compares calls of a kernel without checks of elements.
void axpys(int64_t n, int rounds)
{
    const float a = 0.5f;
    Host<float> x(n), y0(n), y(n);
    fill(x, n, 1);
    fill(y0, n, 2);
    Device<float> d_x(x, n), d_y(y0, n);
    CUfunction function = bundled("axpy_f32");

    Owned own_x(x, n), own_y(y0, n);

    std::vector<Peer> peers(4);
    peers[0].name = "cuLaunchKernel, cuStreamSynchronize";
    peers[0].run = [&] {
        float factor = a;
        int64_t count = n;
        void *args[] = {&factor, &d_x.data, &d_y.data, &count};
        CHECK(cuLaunchKernel(function, bundled_blocks(n), 1, 1, 256, 1, 1, 0, nullptr, args, nullptr));
        CHECK(cuStreamSynchronize(nullptr));
    };
    peers[1].name = "the same again: the noise";
    peers[1].run = peers[0].run;
    peers[2].name = "cf_axpy";
    peers[2].run = [&] { CHECK(cf_axpy_f32(a, d_x, d_y, n)); };
    peers[3].name = "cf_axpy, memory from cf_mem_alloc()";
    peers[3].run = [&] { CHECK(cf_axpy_f32(a, own_x.data, own_y.data, n)); };
    for (Peer &peer : peers) {
        float *target = &peer == &peers[3] ? own_y.data : d_y.data;
        CHECK(cudaMemcpy(target, y0, n * sizeof(float), cudaMemcpyHostToDevice));
        peer.run();
        CHECK(cudaMemcpy(y, target, n * sizeof(float), cudaMemcpyDeviceToHost));
        expect(first_wrong_axpy(a, x, y0, y, n) < 0, peer.name);
    }
    take_turns(peers, rounds, 50);
    print_times(label("axpy on device pointers", n), peers, "us", 1e6);
    const double base = peers[0].middle();
    figure(label("launch + synchronize / cf_axpy", n), base / peers[2].middle(), "x", Target::at_least, 0.95);
    figure(label("the same, memory from cf_mem_alloc()", n), base / peers[3].middle(), "x", Target::at_least, 0.95);
    figure(label("noise: launch + synchronize / itself", n), base / peers[1].middle(), "x");
}

} // namespace

void part_call()
{
    axpys(32, 20000);
    axpys(largest, 10000);
    Arrays arrays;
    gathers(arrays, 32, 20000);
    gathers(arrays, largest, 5000);
}
