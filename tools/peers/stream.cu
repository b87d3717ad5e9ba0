// stream.cu - device time of the kernels that read or write arrays once, beside driver copies of as many bytes, and
// beside cuBLAS.
#include <memory>

#include "cublas.h"
#include "peers.h"
#include "plain.cuh"

namespace
{

constexpr int64_t most = 1 << 28;
constexpr float a = 0.5f;

struct Arrays {
    Host<float> x{most}, y{most}, out{most};
    Device<float> d_x{most}, d_y{most}, d_z{most};
    // Time of a copy that moves as many bytes as three arrays have, half in, half out.
    Device<char> from{most / 2 * 3 * sizeof(float)}, to{most / 2 * 3 * sizeof(float)};
    Arrays()
    {
        fill(x, most, 1);
        fill(y, most, 2);
        CHECK(cudaMemcpy(d_x, x, most * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_y, y, most * sizeof(float), cudaMemcpyHostToDevice));
        const size_t half = most / 2 * sizeof(float);
        CHECK(cudaMemcpy(from, d_x, 2 * half, cudaMemcpyDeviceToDevice));
        CHECK(cudaMemcpy(from + 2 * half, d_y, half, cudaMemcpyDeviceToDevice));
    }
};

// A handle if the library is installed.
struct Blas {
    Cublas functions;
    Cublas::Handle handle = nullptr;
    explicit Blas(cudaStream_t stream)
    {
        if (!load_cublas(&functions))
            return;
        expect(functions.create(&handle) == 0, "cublasCreate");
        expect(functions.set_stream(handle, stream) == 0, "cublasSetStream");
    }
    ~Blas()
    {
        if (handle)
            (void)functions.destroy(handle);
    }
    Blas(const Blas &) = delete;
    Blas &operator=(const Blas &) = delete;
};

// A kernel: the number of arrays that it moves, the position of its result, and the value of its element i.
struct Work {
    Peer peer;
    int moved;
    float *result;
    std::function<bool(int64_t, float)> is_right;
};

// Runs n elements, slice after slice of the arrays, so that no run finds the previous data in the cache.
struct Size {
    Arrays &arrays;
    const Blas &blas;
    cudaStream_t stream;
    int64_t n, slices = most / n, slice = 0;
    std::vector<Work> works{};

    float *x() const
    {
        return arrays.d_x + slice * n;
    }
    float *y() const
    {
        return arrays.d_y + slice * n;
    }
    float *z() const
    {
        return arrays.d_z + slice * n;
    }
    size_t bytes() const
    {
        return n * sizeof(float);
    }

    void add(const char *name, int moved, float *result, std::function<void()> run,
             std::function<bool(int64_t, float)> is_right)
    {
        Work work{{}, moved, result, std::move(is_right)};
        work.peer.name = name;
        work.peer.run = std::move(run);
        works.push_back(std::move(work));
    }

    void add_kernels()
    {
        auto of_axpy = [this](int64_t i, float found) { return is_axpy(a, arrays.x[i], arrays.y[i], found); };
        add(
            "cf_copy_async", 2, arrays.d_z, [this] { CHECK(cf_copy_f32_async(stream, x(), z(), n)); },
            [this](int64_t i, float found) { return found == arrays.x[i]; });
        add(
            "cf_scale_async", 2, arrays.d_z, [this] { CHECK(cf_scale_f32_async(stream, a, x(), z(), n)); },
            [this](int64_t i, float found) { return found == a * arrays.x[i]; });
        add(
            "cf_fill_async", 1, arrays.d_z, [this] { CHECK(cf_fill_f32_async(stream, a, z(), n)); },
            [](int64_t, float found) { return found == a; });
        add(
            "cf_multiply_async", 3, arrays.d_z, [this] { CHECK(cf_multiply_f32_async(stream, x(), y(), z(), n)); },
            [this](int64_t i, float found) { return found == arrays.x[i] * arrays.y[i]; });
        add(
            "cf_waxpy_async", 3, arrays.d_z, [this] { CHECK(cf_waxpy_f32_async(stream, a, x(), y(), z(), n)); },
            of_axpy);
        add(
            "cf_axpy_async", 3, arrays.d_y, [this] { CHECK(cf_axpy_f32_async(stream, a, x(), y(), n)); }, of_axpy);
        if (blas.handle)
            add(
                "cublasSaxpy", 3, arrays.d_y,
                [this] { expect(blas.functions.saxpy(blas.handle, (int)n, &a, x(), 1, y(), 1) == 0, "cublasSaxpy"); },
                of_axpy);
    }

    // The first slice of each result, which was poison before.
    void check_results()
    {
        for (Work &work : works) {
            CHECK(cudaMemcpyAsync(arrays.d_y, arrays.y, bytes(), cudaMemcpyHostToDevice, stream));
            CHECK(cudaMemsetAsync(arrays.d_z, poison, bytes(), stream));
            work.peer.run();
            CHECK(cudaStreamSynchronize(stream));
            CHECK(cudaMemcpy(arrays.out, work.result, bytes(), cudaMemcpyDeviceToHost));
            expect(first_wrong(n, [&](size_t i) { return work.is_right((int64_t)i, arrays.out[i]); }) < 0,
                   work.peer.name);
        }
    }

    std::vector<Peer> measure(int rounds)
    {
        std::vector<Peer> peers;
        for (const Work &work : works)
            peers.push_back(work.peer);
        for (int moved : {1, 2, 3}) {
            Peer copy;
            copy.name = "cudaMemcpyAsync that moves " + std::to_string(moved) + " x n floats";
            copy.run = [this, moved] {
                const size_t half = moved * bytes() / 2, at = slice * half;
                CHECK(cudaMemcpyAsync(arrays.to + at, arrays.from + at, half, cudaMemcpyDeviceToDevice, stream));
            };
            peers.push_back(copy);
        }
        peers.push_back(peers.back());
        peers.back().name = "the same again: the noise";
        for (Peer &peer : peers) {
            peer.prepare = [this] { delay(stream); };
            peer.settle = [this] { slice = (slice + 1) % slices; };
        }
        take_turns_on(stream, peers, rounds, 3);
        return peers;
    }
};

void passes(Arrays &arrays, const Blas &blas, cudaStream_t stream, int64_t n, int rounds)
{
    const bool is_largest = n == most;
    const std::string where = is_largest ? ", n = 2^28" : ", n = 2^24";
    Size size{arrays, blas, stream, n};
    size.add_kernels();
    size.check_results();
    const std::vector<Peer> peers = size.measure(rounds);
    print_times("kernels that pass over arrays once" + where + ": device time", peers, "ms", 1e3);
    const size_t copies = size.works.size();
    const Peer *axpy = nullptr, *saxpy = nullptr;
    for (size_t w = 0; w < copies; w++) {
        const Peer &peer = peers[w], &copy = peers[copies + (size_t)size.works[w].moved - 1];
        if (peer.name == "cublasSaxpy") {
            saxpy = &peer;
            continue;
        }
        axpy = peer.name == "cf_axpy_async" ? &peer : axpy;
        // Both times contain the launch itself, which matters at the smaller size.
        figure(peer.name + " / cudaMemcpy, bandwidth" + where, copy.middle() / peer.middle(), "x",
               is_largest ? Target::at_least : Target::none, 1);
    }
    const std::string against = "cf_axpy_async / cublasSaxpy, bandwidth" + where;
    if (saxpy)
        figure(against, saxpy->middle() / axpy->middle(), "x", Target::at_least, 1.25);
    else
        no_figure(against, "libcublas cannot be loaded");
    figure("noise: cudaMemcpy / itself" + where, peers[copies + 3].middle() / peers[copies + 2].middle(), "x");
    const double moved = 3.0 * (double)n * sizeof(float);
    std::printf("  cudaMemcpy %.0f GB/s, cf_axpy_async %.0f GB/s\n", moved / peers[copies + 2].middle() / 1e9,
                moved / axpy->middle() / 1e9);
}

} // namespace

void part_stream()
{
    Stream stream;
    Blas blas(stream);
    auto arrays = std::make_unique<Arrays>();
    passes(*arrays, blas, stream, 1 << 24, 101);
    passes(*arrays, blas, stream, most, 41);
}
