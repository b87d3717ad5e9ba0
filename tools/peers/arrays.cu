// arrays.cu - compares the plain call of a gather on host arrays with copying everything to the GPU and back, and with
// a loop on all cores.
#include <chrono>
#include <cstdio>

#include "peers.h"
#include "plain.cuh"

namespace
{

// A programmer's first version: allocates memory for every array, copies everything, launches, and copies the result
// back.
void copy_all(const float *source, const int32_t *index, float *res, int64_t n, int64_t m)
{
    float *d_source, *d_res;
    int32_t *d_index;
    CHECK(cudaMalloc((void **)&d_source, m * sizeof(float)));
    CHECK(cudaMalloc((void **)&d_index, n * sizeof(int32_t)));
    CHECK(cudaMalloc((void **)&d_res, n * sizeof(float)));
    CHECK(cudaMemcpy(d_source, source, m * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_index, index, n * sizeof(int32_t), cudaMemcpyHostToDevice));
    plain_gather<<<blocks_of(n), 256>>>(d_source, d_index, d_res, n, m);
    CHECK(cudaMemcpy(res, d_res, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_source));
    CHECK(cudaFree(d_index));
    CHECK(cudaFree(d_res));
}

void loop(const float *source, const int32_t *index, float *res, int64_t n)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        res[i] = source[index[i]];
}

} // namespace

void part_arrays()
{
    const int64_t m = 1 << 27, n = 1 << 20;
    const int sets = 8; // used in turn: 8 x 8 MiB of indices and results
    Host<float> source(m), res(sets * n);
    Host<int32_t> index(sets * n);
    fill(source, m, 0);
    fill(index, sets * n, 1, m);
    CHECK(cf_set_host_data(CF_HOST_DATA_AUTO));
    int set = 0;

    std::vector<Peer> peers(4);
    peers[0].name = "cudaMalloc, copy all, launch, copy back, cudaFree";
    peers[0].run = [&] { copy_all(source, index + set * n, res + set * n, n, m); };
    peers[1].name = "cf_gather, CF_HOST_DATA=auto";
    peers[1].run = [&] { CHECK(cf_gather(source, index + set * n, res + set * n, n, m)); };
    peers[2].name = "cf_gather, CF_HOST_DATA=stage";
    peers[2].run = [&] {
        CHECK(cf_set_host_data(CF_HOST_DATA_STAGE));
        CHECK(cf_gather(source, index + set * n, res + set * n, n, m));
        CHECK(cf_set_host_data(CF_HOST_DATA_AUTO));
    };
    peers[3].name = "OpenMP loop on all cores";
    peers[3].run = [&] { loop(source, index + set * n, res + set * n, n); };
    std::string plan[2];
    for (size_t p = 0; p < peers.size(); p++) {
        // Waits until the previous peer's threads sleep; otherwise they would take cores from the next peer's threads.
        peers[p].prepare = [&] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
        peers[p].settle = [&] { set = (set + 1) % sets; };
        std::memset(res + set * n, poison, n * sizeof(float));
        peers[p].run();
        expect(first_wrong_gather(source, index + set * n, res + set * n, n) < 0, peers[p].name);
        if (p == 1 || p == 2)
            plan[p - 1] = cf_last_plan();
    }
    take_turns(peers, 31, 2);
    print_times("gather of host arrays, M = 2^27, N = 2^20", peers, "ms", 1e3);
    std::printf("  plan, auto:  %s\n  plan, stage: %s\n", plan[0].c_str(), plan[1].c_str());
    figure("copy all there and back / cf_gather, host arrays", peers[0].middle() / peers[1].middle(), "x",
           Target::at_least, 30);
    figure("copy all there and back / cf_gather with CF_HOST_DATA=stage", peers[0].middle() / peers[2].middle(), "x");
    figure("cf_gather / OpenMP loop on all cores, which checks no index", peers[1].middle() / peers[3].middle(), "x");
}
