// peers.cu - the bundled kernels beside what a CUDA programmer would call instead, in one process: the same data, the
// same events, ratios. Built and run by tools/gpu-check, where the toolkit and a GPU are.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include <cuda.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>

#include <cuferry.h>
#include <cuferry/kernels.h>

#include "random.h"

namespace
{

void check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "peers: %s: %s\n", what, cudaGetErrorString(error));
        std::exit(1);
    }
}

void check_cf(int status)
{
    if (status != CF_OK) {
        std::fprintf(stderr, "peers: %s\n", cf_last_error());
        std::exit(1);
    }
}

__global__ void plain_gather(const float *source, const int *index, float *res, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        res[i] = source[index[i]];
}

template <typename T> T *device_copy(const std::vector<T> &host)
{
    T *device = nullptr;
    check(cudaMalloc(&device, host.size() * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    return device;
}

double median(std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

struct Peer {
    const char *name;
    std::function<void(cudaStream_t, int set)> run;
};

// Device milliseconds, median; several sets of indices and results in turn, so that no run finds the last one's in the
// cache. The peers alternate, so that all see the same machine.
std::vector<double> kernel_times(const std::vector<Peer> &peers, int sets, int repeats)
{
    cudaStream_t stream;
    cudaEvent_t start, stop;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&stop), "cudaEventCreate");
    std::vector<std::vector<double>> times(peers.size());
    for (int r = -3; r < repeats; r++)
        for (size_t p = 0; p < peers.size(); p++) {
            check(cudaEventRecord(start, stream), "cudaEventRecord");
            peers[p].run(stream, (r + 3) % sets);
            check(cudaEventRecord(stop, stream), "cudaEventRecord");
            check(cudaEventSynchronize(stop), peers[p].name);
            float ms = 0;
            check(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
            if (r >= 0)
                times[p].push_back(ms);
        }
    std::vector<double> medians;
    for (auto &t : times)
        medians.push_back(median(t));
    return medians;
}

// Host nanoseconds to enqueue one tiny launch, median over batches that stay inside the launch queue.
std::vector<double> enqueue_times(const std::vector<Peer> &peers)
{
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    std::vector<std::vector<double>> times(peers.size());
    for (int batch = -5; batch < 200; batch++)
        for (size_t p = 0; p < peers.size(); p++) {
            auto begin = std::chrono::steady_clock::now();
            for (int i = 0; i < 200; i++)
                peers[p].run(stream, 0);
            auto end = std::chrono::steady_clock::now();
            check(cudaStreamSynchronize(stream), peers[p].name);
            if (batch >= 0)
                times[p].push_back(std::chrono::duration<double, std::nano>(end - begin).count() / 200);
        }
    std::vector<double> medians;
    for (auto &t : times)
        medians.push_back(median(t));
    return medians;
}

void print(const char *title, const char *unit, const std::vector<Peer> &peers, const std::vector<double> &times)
{
    std::printf("%s\n", title);
    for (size_t p = 0; p < peers.size(); p++)
        std::printf("  %-28s %10.4f %s   %5.3f x the first\n", peers[p].name, times[p], unit, times[p] / times[0]);
}

} // namespace

int main()
{
    const long m = 1L << 27, n = 1L << 20;
    const int sets = 16; // 16 x 8 MiB of indices and results: past the 60 MB cache
    std::vector<float> source(m), res(n);
    for (long i = 0; i < m; i++)
        source[i] = random_f32(0, (uint64_t)i);
    float *d_source = device_copy(source);
    std::vector<int *> d_index;
    std::vector<float *> d_res;
    std::vector<std::vector<int>> index(sets, std::vector<int>(n));
    for (int s = 0; s < sets; s++) {
        for (long i = 0; i < n; i++)
            index[s][i] = (int)random_integer((uint64_t)s + 1, (uint64_t)i, 0, m);
        d_index.push_back(device_copy(index[s]));
        d_res.push_back(device_copy(res));
    }

    CUfunction function;
    check(cudaGetFuncBySymbol(&function, (const void *)plain_gather), "cudaGetFuncBySymbol");
    auto raw = [&](cudaStream_t stream, int s, long count) {
        void *args[] = {&d_source, &d_index[s], &d_res[s], &count};
        if (cuLaunchKernel(function, (unsigned)((count + 255) / 256), 1, 1, 256, 1, 1, 0, stream, args, nullptr))
            std::exit(1);
    };
    auto gather = [&](long count) {
        return std::vector<Peer>{
            {"cf_gather_async",
             [&, count](cudaStream_t stream, int s) {
                 check_cf(cf_gather_async(stream, d_source, d_index[s], d_res[s], count, m));
             }},
            {"plain kernel, cuLaunchKernel", [&, count](cudaStream_t stream, int s) { raw(stream, s, count); }},
            {"plain kernel, <<<>>>",
             [&, count](cudaStream_t stream, int s) {
                 plain_gather<<<(unsigned)((count + 255) / 256), 256, 0, stream>>>(d_source, d_index[s], d_res[s],
                                                                                   count);
             }},
            {"thrust::gather", [&, count](cudaStream_t stream, int s) {
                 thrust::gather(thrust::cuda::par_nosync.on(stream), d_index[s], d_index[s] + count, d_source,
                                d_res[s]);
             }}};
    };

    // Right before fast: every peer writes over poison, every element is compared.
    auto full = gather(n);
    for (auto &peer : full) {
        check(cudaMemset(d_res[0], 0xA5, n * sizeof(float)), "cudaMemset");
        check(cudaDeviceSynchronize(), "cudaMemset");
        peer.run(nullptr, 0);
        check(cudaDeviceSynchronize(), peer.name);
        check(cudaMemcpy(res.data(), d_res[0], n * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
        for (long i = 0; i < n; i++)
            if (std::memcmp(&res[i], &source[index[0][i]], sizeof(float)) != 0) {
                std::fprintf(stderr, "peers: %s: wrong at %ld\n", peer.name, i);
                return 1;
            }
    }
    print("gather, M = 2^27 floats, N = 2^20 random int32_t indices: device time", "ms", full,
          kernel_times(full, sets, 101));
    auto tiny = gather(32);
    tiny.pop_back(); // not thrust: what it does beside the launch is not what is compared here
    print("gather, N = 32: host time to enqueue", "ns", tiny, enqueue_times(tiny));
    return 0;
}
