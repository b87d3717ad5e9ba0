// select.cu - compares the device time of picking flagged elements with that of CUB. Few, half or all flags are set;
// calls are on an idle stream and behind other work.
#include <cub/device/device_select.cuh>

#include "beside_cub.cuh"

namespace
{

// Flags one of `every` elements at random.
void fill_flags(uint8_t *flag, int64_t n, uint32_t every, uint64_t seed)
{
    on_all_cores((size_t)n, [=](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++)
            flag[i] = random_bits(seed, i) % every == 0;
    });
}

struct Pick {
    const char *name;
    uint32_t every;
};

// Returns the number of the first byte of y that differs from a plain loop's result, including the bytes after the
// result, which must be untouched; -1 if none does.
int64_t first_wrong_select(const float *x, const uint8_t *flag, const float *y, int64_t count, int64_t n)
{
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++)
        if (flag[i]) {
            if (std::memcmp(&y[at], &x[i], sizeof *x) != 0)
                return at * (int64_t)sizeof *y;
            at++;
        }
    if (at != count)
        return 0;
    const unsigned char *rest = (const unsigned char *)y;
    for (int64_t b = at * (int64_t)sizeof *y; b < n * (int64_t)sizeof *y; b++)
        if (rest[b] != poison)
            return b;
    return -1;
}

void compare_selects(int log, const Pick &pick, const float *host, const float *x, float *y, uint8_t *host_flag,
                     uint8_t *flag)
{
    const Sizes sizes(log);
    const int64_t n = sizes.n, all = n * sizes.sets;
    fill_flags(host_flag, all, pick.every, 9 + pick.every);
    CHECK(cudaMemcpy(flag, host_flag, (size_t)all, cudaMemcpyHostToDevice));
    Stream stream;
    Temporary temporary;
    Host<float> found((size_t)n);
    Device<int64_t> count(1);
    int set = 0;
    auto select = [&](void *memory, size_t &bytes) {
        return cub::DeviceSelect::Flagged(memory, bytes, x + set * n, flag + set * n, y + set * n, (int64_t *)count, n,
                                          stream);
    };
    temporary.make(select);
    std::vector<Peer> peers(2);
    peers[0].name = "cf_select_async";
    peers[0].run = [&] { CHECK(cf_select_async(stream, x + set * n, flag + set * n, y + set * n, count, n)); };
    peers[1].name = "cub::DeviceSelect::Flagged";
    peers[1].run = [&] { CHECK(select(temporary.memory, temporary.bytes)); };
    for (Peer &peer : peers) {
        for (int run = 0; run < (log > 26 ? 1 : 3); run++) {
            CHECK(cudaMemset(y + set * n, poison, (size_t)n * sizeof(float)));
            CHECK(cudaMemset(count, poison, sizeof(int64_t)));
            CHECK(cudaDeviceSynchronize());
            peer.run();
            CHECK(cudaStreamSynchronize(stream));
            CHECK(cudaMemcpy(found, y + set * n, (size_t)n * sizeof(float), cudaMemcpyDeviceToHost));
            expect(first_wrong_select(host + set * n, host_flag + set * n, found, read<int64_t>(count), n) < 0,
                   peer.name + ", " + pick.name);
        }
        peer.settle = [&] { set = (set + 1) % sizes.sets; };
    }
    compare("select of 2^" + std::to_string(log) + " floats, " + pick.name, stream, peers, log > 26 ? 31 : 101, 0);
}

} // namespace

void part_select()
{
    const int64_t most = (int64_t)1 << 28;
    const Pick picks[] = {{"1 of 64 flagged", 64}, {"half flagged", 2}, {"all flagged", 1}};
    Host<float> host(most);
    Host<uint8_t> host_flag(most);
    fill(host, most, 8);
    Device<float> x(host, most), y(most);
    Device<uint8_t> flag(most);
    for (int log : {20, 24, 28})
        for (const Pick &pick : picks)
            compare_selects(log, pick, host, x, y, host_flag, flag);
}
