// sort.cu - compares the device time of sorting keys, pairs and indices with that of CUB, for a call on an idle stream
// and a call behind other work.
#include <atomic>

#include <cub/device/device_radix_sort.cuh>

#include "beside_cub.cuh"

namespace
{

void fill_bits(uint32_t *keys, int64_t n, uint64_t seed)
{
    on_all_cores((size_t)n, [=](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++)
            keys[i] = (uint32_t)(random_bits(seed, i) >> 16);
    });
}

// All arrays have n elements per set.
struct Arrays {
    const uint32_t *keys;
    const int32_t *values;
    uint32_t *sorted;
    int32_t *moved;
};

// Returns the sum of the hashed keys, which is the same for any order.
uint64_t checksum(const uint32_t *keys, int64_t n)
{
    std::atomic<uint64_t> sum(0);
    on_all_cores((size_t)n, [&](size_t begin, size_t end) {
        uint64_t part = 0;
        for (size_t i = begin; i < end; i++)
            part += random_bits(7, keys[i]);
        sum += part;
    });
    return sum;
}

// Tests that `moved` holds the indices of the keys in stable sorted order, and `sorted` (or nullptr) the keys in this
// order. If all n indices are valid and each two neighbours are in strict order, each index occurs once.
bool is_sorted(const uint32_t *keys, const uint32_t *sorted, const int32_t *moved, int64_t n)
{
    return first_wrong((size_t)n, [&](size_t i) {
               const int32_t at = moved[i], before = i ? moved[i - 1] : 0;
               return at >= 0 && at < n && before >= 0 && before < n && (!sorted || sorted[i] == keys[at]) &&
                      (i == 0 || keys[before] < keys[at] || (keys[before] == keys[at] && before < at));
           }) < 0;
}

bool is_sorted(const uint32_t *keys, const uint32_t *sorted, int64_t n)
{
    return first_wrong((size_t)n - 1, [&](size_t i) { return sorted[i] <= sorted[i + 1]; }) < 0 &&
           checksum(keys, n) == checksum(sorted, n);
}

enum Kind { keys_alone, pairs, indices };

void compare_sorts(Kind kind, int log, const Arrays &all, const uint32_t *keys)
{
    const Sizes sizes(log);
    const int64_t n = sizes.n;
    Stream stream;
    Temporary temporary;
    Host<uint32_t> found((size_t)n);
    Host<int32_t> found_values((size_t)n);
    int set = 0;
    const char *const names[] = {"cf_sort_keys_async", "cf_sort_pairs_async", "cf_argsort_async"};
    const char *const whats[] = {" uint32_t", " pairs of uint32_t, int32_t", " uint32_t, indices alone"};
    auto sort = [&](void *memory, size_t &bytes) {
        const Arrays a = {all.keys + set * n, all.values + set * n, all.sorted + set * n, all.moved + set * n};
        // The count is converted to int, because CUB is faster with counts of 32 bits.
        return kind == keys_alone
                   ? cub::DeviceRadixSort::SortKeys(memory, bytes, a.keys, a.sorted, (int)n, 0, 32, stream)
                   : cub::DeviceRadixSort::SortPairs(memory, bytes, a.keys, a.sorted, a.values, a.moved, (int)n, 0, 32,
                                                     stream);
    };
    temporary.make(sort);
    std::vector<Peer> peers(2);
    peers[0].name = names[kind];
    peers[0].run = [&] {
        const Arrays a = {all.keys + set * n, all.values + set * n, all.sorted + set * n, all.moved + set * n};
        if (kind == keys_alone)
            CHECK(cf_sort_keys_async(stream, a.keys, a.sorted, n, false));
        else if (kind == pairs)
            CHECK(cf_sort_pairs_async(stream, a.keys, a.values, a.sorted, a.moved, n, false));
        else
            CHECK(cf_argsort_async(stream, a.keys, a.moved, n, false));
    };
    peers[1].name = kind == keys_alone ? "cub::DeviceRadixSort::SortKeys" : "cub::DeviceRadixSort::SortPairs";
    peers[1].run = [&] { CHECK(sort(temporary.memory, temporary.bytes)); };
    for (Peer &peer : peers) {
        CHECK(cudaMemset(all.sorted, poison, (size_t)n * sizeof(uint32_t)));
        CHECK(cudaMemset(all.moved, poison, (size_t)n * sizeof(int32_t)));
        CHECK(cudaDeviceSynchronize());
        set = 0;
        peer.run();
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(found, all.sorted, (size_t)n * sizeof(uint32_t), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(found_values, all.moved, (size_t)n * sizeof(int32_t), cudaMemcpyDeviceToHost));
        const bool has_keys = kind != indices || &peer == &peers[1];
        expect(kind == keys_alone ? is_sorted(keys, found, n)
                                  : is_sorted(keys, has_keys ? (const uint32_t *)found : nullptr, found_values, n),
               peer.name);
        peer.settle = [&] { set = (set + 1) % sizes.sets; };
    }
    compare("sort of 2^" + std::to_string(log) + whats[kind], stream, peers, log > 26 ? 21 : 101,
            kind == indices ? 0 : 0.95);
}

} // namespace

void part_sort()
{
    const int64_t most = (int64_t)1 << 28;
    Host<uint32_t> host(most);
    Host<int32_t> host_values(most);
    fill_bits(host, most, 11);
    on_all_cores((size_t)most, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++)
            host_values[i] = (int32_t)i;
    });
    Device<uint32_t> keys(host, most), sorted(most);
    Device<int32_t> values(host_values, most), moved(most);
    const Arrays all = {keys, values, sorted, moved};
    for (int log : {10, 20, 24, 28})
        for (Kind kind : {keys_alone, pairs, indices})
            compare_sorts(kind, log, all, host);
}
