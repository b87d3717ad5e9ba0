// peers.h - shared by the parts of the comparison: checked calls, timing in turns, data, and the table.
#ifndef PEERS_H
#define PEERS_H

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#include <cuferry.h>
#include <cuferry/kernels.h>
#include <cuferry/registry.h>

#include "../data/random.h"
#include "rounds.h"

// ---- Checked calls: a failure ends the part, and the program's exit status is 1 ----

void check(cudaError_t error, const char *call);
void check(CUresult result, const char *call);
void check(int status, const char *call); // a status of Cuferry
#define CHECK(call) check(call, #call)

// ---- Timing ----

// One side of a comparison. Only `run` is timed.
struct Peer {
    std::string name;
    std::function<void()> run;
    std::function<void()> prepare, settle;
    std::vector<double> times; // seconds
    double middle() const
    {
        return median(times);
    }
};

// Runs the peers in turns, in another order each round, so that all see the same machine.
void take_turns(std::vector<Peer> &peers, int rounds, int warm_ups);

// Runs the peers in turns, timed by the device between two events on `stream`.
void take_turns_on(cudaStream_t stream, std::vector<Peer> &peers, int rounds, int warm_ups);

// Keeps a stream busy for 40 microseconds while the host enqueues the timed work, so that only the device's time
// counts, without gaps between calls of the host.
void delay(cudaStream_t stream);

// Prints the medians, with `scale` units per second, and their ratios to the first peer's.
void print_times(const std::string &title, const std::vector<Peer> &peers, const char *unit, double scale);

// ---- The table ----

enum class Target { at_most, at_least, none };

// Adds a figure with its target to the table.
void figure(const std::string &what, double value, const char *unit, Target kind = Target::none, double target = 0);

// Adds a row with the reason for a missing figure.
void no_figure(const std::string &what, const std::string &why);

// Ends the part if `right` is false, so that no times are reported for wrong results.
void expect(bool right, const std::string &what);

// Returns the path of the program's own file.
std::string own_path();

// ---- Data ----

// Calls body(begin, end) for parts of [0, count) on all cores.
void on_all_cores(size_t count, const std::function<void(size_t, size_t)> &body);

// Fill an array with random floats in [0, 1), or with random indices in [0, m).
void fill(float *values, size_t count, uint64_t seed);
void fill(int32_t *values, size_t count, uint64_t seed, int64_t m);

// Returns the first i below n for which is_right(i) is false, searched on all cores; -1 if there is none.
template <typename Right> int64_t first_wrong(size_t n, const Right &is_right)
{
    std::atomic<int64_t> first(INT64_MAX);
    on_all_cores(n, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i++)
            if (!is_right(i)) {
                int64_t before = first;
                while ((int64_t)i < before && !first.compare_exchange_weak(before, (int64_t)i))
                    continue;
                return;
            }
    });
    return first == INT64_MAX ? -1 : first.load();
}

// Returns the index of the first element whose bits differ from the expected ones; -1 if there is none.
int64_t first_wrong_gather(const float *source, const int32_t *index, const float *res, size_t n);
// Tests whether y = a x + y0, where the result may be rounded once or twice.
bool is_axpy(float a, float x, float y0, float y);
int64_t first_wrong_axpy(float a, const float *x, const float *y0, const float *y, size_t n);

constexpr unsigned char poison = 0xA5; // -2.87e-16 as a float

// Device memory, freed at the end of its scope.
template <typename T> struct Device {
    T *data = nullptr;
    explicit Device(size_t count)
    {
        CHECK(cudaMalloc((void **)&data, count * sizeof(T)));
    }
    Device(const T *values, size_t count) : Device(count)
    {
        CHECK(cudaMemcpy(data, values, count * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Device()
    {
        (void)cudaFree(data);
    }
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    operator T *() const
    {
        return data;
    }
};

// Pageable memory with all pages present. Huge pages are neither requested nor refused, since all peers use the same
// arrays.
template <typename T> struct Host {
    T *data;
    size_t count;
    explicit Host(size_t elements) : data((T *)std::malloc(elements * sizeof(T))), count(elements)
    {
        if (!data)
            throw std::runtime_error("no host memory");
        on_all_cores(count, [this](size_t begin, size_t end) {
            std::memset((void *)(data + begin), poison, (end - begin) * sizeof(T));
        });
    }
    ~Host()
    {
        std::free(data);
    }
    Host(const Host &) = delete;
    Host &operator=(const Host &) = delete;
    operator T *() const
    {
        return data;
    }
};

// ---- The driver API's side ----

// Returns a bundled kernel for the driver API: the same machine code, loaded a second time.
CUfunction bundled(const char *name);

// Returns the number of blocks for a gather or axpy of floats, whose threads take four elements each.
inline unsigned int bundled_blocks(int64_t n)
{
    return (unsigned int)((n + 1023) / 1024);
}

// A stream that does not wait for the default stream.
struct Stream {
    cudaStream_t handle;
    Stream()
    {
        CHECK(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking));
    }
    ~Stream()
    {
        (void)cudaStreamDestroy(handle);
    }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    operator cudaStream_t() const
    {
        return handle;
    }
};

// ---- The parts ----

void part_gather();
void part_reduce();
void part_scan();
void part_select();
void part_sort();
void part_enqueue();
void part_graph();
void part_call();
void part_arrays();
void part_stage();
void part_start();
void part_spmv();
void part_transpose();
void part_histogram();
void part_stream();

#endif
