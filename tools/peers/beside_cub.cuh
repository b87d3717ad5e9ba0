// beside_cub.cuh - shared by the comparisons with CUB's device-wide algorithms.
#ifndef BESIDE_CUB_CUH
#define BESIDE_CUB_CUH

#include "peers.h"

namespace
{

constexpr size_t least_bytes = (size_t)192 << 20; // bytes of all sets together, larger than any cache

struct Sizes {
    int64_t n;
    int sets; // used in turn
    explicit Sizes(int log) : n((int64_t)1 << log), sets((int)((least_bytes - 1) / ((size_t)n * sizeof(float)) + 1))
    {
    }
};

// Temporary storage that CUB needs for one kind of call.
struct Temporary {
    void *memory = nullptr;
    size_t bytes = 0;
    template <typename Call> void make(Call call)
    {
        CHECK(call(memory, bytes));
        CHECK(cudaMalloc(&memory, bytes));
    }
    Temporary() = default;
    ~Temporary()
    {
        (void)cudaFree(memory);
    }
    Temporary(const Temporary &) = delete;
    Temporary &operator=(const Temporary &) = delete;
};

template <typename T> T read(const T *device)
{
    T value;
    CHECK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

// Compares two peers, the library's first, on an idle stream and behind other work. `times` is the target for CUB's
// time divided by the library's; 0: no target. It applies behind other work, where only the device's time counts: on an
// idle stream, times of identical launches differ by 10 % with the host's timing.
void compare(const std::string &what, cudaStream_t stream, std::vector<Peer> &peers, int rounds, double times)
{
    const char *const ways[] = {"idle stream", "behind other work"};
    for (int way = 0; way < 2; way++) {
        for (Peer &peer : peers) {
            peer.times.clear();
            peer.prepare = nullptr;
            if (way == 1)
                peer.prepare = [=] { delay(stream); };
        }
        take_turns_on(stream, peers, rounds, 3);
        print_times(what + ", " + ways[way], peers, "us", 1e6);
        figure(peers.back().name + " / " + peers[0].name + ", " + what + ", " + ways[way],
               peers.back().middle() / peers[0].middle(), "x", times > 0 && way == 1 ? Target::at_least : Target::none,
               times);
    }
}

} // namespace

#endif
