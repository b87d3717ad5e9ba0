// stage.cu - measures axpy on large host arrays. The plain call is compared with copies of pageable memory and, for
// pinned memory, with the bandwidth of the link.
#include <algorithm>
#include <cstdio>

#include "peers.h"
#include "plain.cuh"

namespace
{

constexpr int64_t n = 1 << 27;
constexpr size_t bytes = n * sizeof(float);
constexpr float a = 0.5f;

__global__ void plain_axpy(float factor, const float *x, float *y, int64_t count)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] = factor * x[i] + y[i];
}

void copy_in_parallel(float *target, const float *source)
{
    on_all_cores(n, [=](size_t begin, size_t end) {
        std::memcpy(target + begin, source + begin, (end - begin) * sizeof(float));
    });
}

// Pinned memory of the library or of the CUDA runtime.
struct Pinned {
    float *data = nullptr;
    bool is_ours;
    explicit Pinned(bool by_library) : is_ours(by_library)
    {
        if (is_ours)
            CHECK(cf_mem_alloc_pinned((void **)&data, bytes));
        else
            CHECK(cudaMallocHost((void **)&data, bytes));
    }
    ~Pinned()
    {
        if (!is_ours)
            (void)cudaFreeHost(data);
        else if (cf_mem_free(data) != CF_OK)
            std::printf("cf_mem_free: %s\n", cf_last_error());
    }
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;
    operator float *() const
    {
        return data;
    }
};

// Copies host arrays to existing device memory, launches, and copies the result back.
void copies(const float *x, float *y, float *d_x, float *d_y)
{
    CHECK(cudaMemcpy(d_x, x, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y, bytes, cudaMemcpyHostToDevice));
    plain_axpy<<<blocks_of(n), 256>>>(a, d_x, d_y, n);
    CHECK(cudaMemcpy(y, d_y, bytes, cudaMemcpyDeviceToHost));
}

// Runs each peer once to check its result, and then for the time. Before each run, `y` is set to y0.
void measure(std::vector<Peer> &peers, const float *x, const float *y0, float *y, int rounds)
{
    for (Peer &peer : peers) {
        peer.prepare = [=] { copy_in_parallel(y, y0); };
        peer.prepare();
        peer.run();
        expect(first_wrong_axpy(a, x, y0, y, n) < 0, peer.name);
    }
    take_turns(peers, rounds, 1);
}

void pageable(const Host<float> &x, const Host<float> &y0, float *d_x, float *d_y)
{
    Host<float> y(n);
    CHECK(cf_set_host_data(CF_HOST_DATA_STAGE));
    std::vector<Peer> peers(2);
    peers[0].name = "cudaMemcpy in, launch, cudaMemcpy out";
    peers[0].run = [&] { copies(x, y, d_x, d_y); };
    peers[1].name = "cf_axpy, CF_HOST_DATA=stage";
    peers[1].run = [&] { CHECK(cf_axpy_f32(a, x, y, n)); };
    measure(peers, x, y0, y, 9);
    print_times("axpy of pageable arrays, n = 2^27", peers, "ms", 1e3);
    std::printf("  plan: %s\n", cf_last_plan());
    figure("copy in, launch, copy out / cf_axpy, pageable arrays, staged", peers[0].middle() / peers[1].middle(), "x",
           Target::at_least, 3.5);
    CHECK(cf_set_host_data(CF_HOST_DATA_AUTO));
}

void pinned(const Host<float> &x0, const Host<float> &y0, float *d_x, float *d_y)
{
    Pinned x(true), y(true), other(false);
    copy_in_parallel(x, x0);
    copy_in_parallel(other, x0);
    Device<float> d_out(n);
    Stream in, out;
    std::vector<Peer> link(3);
    link[0].name = "cudaMemcpy of 512 MiB pinned memory, in";
    link[0].run = [&] { CHECK(cudaMemcpy(d_x, other, bytes, cudaMemcpyHostToDevice)); };
    link[1].name = "the same, out";
    link[1].run = [&] { CHECK(cudaMemcpy(other, d_x, bytes, cudaMemcpyDeviceToHost)); };
    link[2].name = "2 x 512 MiB in and 512 MiB out at once, as axpy has it";
    link[2].run = [&] {
        CHECK(cudaMemcpyAsync(d_x, x, bytes, cudaMemcpyHostToDevice, in));
        CHECK(cudaMemcpyAsync(other, d_out, bytes, cudaMemcpyDeviceToHost, out));
        CHECK(cudaMemcpyAsync(d_y, y, bytes, cudaMemcpyHostToDevice, in));
        CHECK(cudaStreamSynchronize(in));
        CHECK(cudaStreamSynchronize(out));
    };
    std::vector<Peer> peers(2);
    peers[0].name = "cf_axpy, pinned arrays, in place";
    peers[0].run = [&] {
        CHECK(cf_set_host_data(CF_HOST_DATA_AUTO));
        CHECK(cf_axpy_f32(a, x, y, n));
    };
    peers[1].name = "cf_axpy, pinned arrays, CF_HOST_DATA=stage";
    peers[1].run = [&] {
        CHECK(cf_set_host_data(CF_HOST_DATA_STAGE));
        CHECK(cf_axpy_f32(a, x, y, n));
    };
    take_turns(link, 9, 1);
    measure(peers, x, y0, y, 9);
    print_times("what the link carries", link, "ms", 1e3);
    print_times("axpy of pinned arrays, n = 2^27", peers, "ms", 1e3);
    std::printf("  plan: %s\n", cf_last_plan());
    CHECK(cf_set_host_data(CF_HOST_DATA_AUTO));
    double one_way = std::max(2 * link[0].middle(), link[1].middle());
    figure("copies in alone / cf_axpy, pinned arrays, CF_HOST_DATA=stage", one_way / peers[1].middle(), "",
           Target::at_least, 0.9);
    // In place, the kernel reads over the link, and output slows input down. On an H200, even a kernel that writes
    // nothing reaches only 0.93 of the speed of copies in.
    figure("copies of the same bytes in and out at once / cf_axpy, pinned arrays, in place",
           link[2].middle() / peers[0].middle(), "", Target::at_least, 0.9);
    figure("copies in alone / cf_axpy, pinned arrays, in place", one_way / peers[0].middle(), "");
}

} // namespace

void part_stage()
{
    Host<float> x(n), y0(n);
    fill(x, n, 1);
    fill(y0, n, 2);
    Device<float> d_x(n), d_y(n);
    pageable(x, y0, d_x, d_y);
    pinned(x, y0, d_x, d_y);
}
