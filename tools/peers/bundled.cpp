// bundled.cpp - compares the bundled kernels on the CPU with code that uses OpenMP and the C++ library. Both run in one
// process, in turns, on the same data; medians count. Needs no GPU.
//
// usage: peers-bundled
//
// A figure is the other code's time divided by Cuferry's, so that Cuferry is faster if it is above 1. CF_THREADS=1 and
// OMP_NUM_THREADS=1 compare one thread with one. Exits with 0 if every result is right.
//
// OMP_WAIT_POLICY=passive is set, because OpenMP's threads would otherwise poll for work after a loop, on processors
// that the kernel's threads need.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <parallel/algorithm>

#include <unistd.h>

#include <cuferry/kernels.h>

#include "rounds.h"

namespace
{

constexpr int64_t n = 1 << 24, side = 1 << 12, bins = 256;
constexpr int rounds = 21;

template <typename T> struct Array : std::vector<T> {
    template <typename Value> explicit Array(const Value &value) : std::vector<T>((size_t)n)
    {
        uint32_t state = 1;
        for (T &element : *this) {
            state = state * 1664525u + 1013904223u;
            element = value(state);
        }
    }
};

float small(uint32_t state)
{
    return (float)(state >> 16) / (1 << 16);
}

double time_of(const std::function<void()> &side_of)
{
    const double begin = seconds();
    side_of();
    return seconds() - begin;
}

// Times both sides in turns. Before, one writes its result to `ours` and the other to `other`, which must agree.
template <typename T>
void compare(const char *name, std::vector<T> &ours, std::vector<T> &other, double tolerance,
             const std::function<void(T *)> &by_kernel, const std::function<void(T *)> &by_hand)
{
    by_kernel(ours.data());
    by_hand(other.data());
    for (size_t i = 0; i < ours.size(); i++)
        if (!(std::fabs((double)ours[i] - (double)other[i]) <= tolerance * std::fabs((double)other[i])))
            throw std::runtime_error(std::string(name) + ": element " + std::to_string(i) + " is wrong");
    std::vector<double> times[2];
    for (int turn = 0; turn < 2 * rounds; turn++) {
        const bool is_ours = (turn + turn / 2) % 2 == 0;
        times[is_ours].push_back(time_of([&] { is_ours ? by_kernel(ours.data()) : by_hand(other.data()); }));
    }
    std::printf("%-42s %9.3f ms %9.3f ms %7.2f\n", name, median(times[0]) * 1e3, median(times[1]) * 1e3,
                median(times[0]) / median(times[1]));
}

void compare_all()
{
    const Array<float> x(small);
    const Array<int32_t> index([](uint32_t state) { return (int32_t)(state >> 8); });
    const Array<uint32_t> keys([](uint32_t state) { return state; });
    const Array<uint8_t> flags([](uint32_t state) { return state >> 31; });
    Array<float> y(small), z(small);
    compare<float>(
        "axpy, an OpenMP loop", y, z, 1e-6, [&](float *to) { check(cf_axpy_f32(1e-9f, x.data(), to, n)); },
        [&](float *to) {
#pragma omp parallel for simd
            for (int64_t i = 0; i < n; i++)
                to[i] = 1e-9f * x[i] + to[i];
        });
    compare<float>(
        "gather, an OpenMP loop", y, z, 0,
        [&](float *to) { check(cf_gather_f32_i32_async(nullptr, x.data(), index.data(), to, n, n)); },
        [&](float *to) {
#pragma omp parallel for simd
            for (int64_t i = 0; i < n; i++)
                to[i] = x[index[i]];
        });
    compare<float>(
        "transpose, OpenMP over blocks of 32 x 32", y, z, 0,
        [&](float *to) { check(cf_transpose_f32(x.data(), to, side, side)); },
        [&](float *to) {
#pragma omp parallel for collapse(2)
            for (int64_t row = 0; row < side; row += 32)
                for (int64_t col = 0; col < side; col += 32)
                    for (int64_t i = row; i < row + 32; i++)
                        for (int64_t j = col; j < col + 32; j++)
                            to[j * side + i] = x[i * side + j];
        });
    std::vector<float> kept(n), kept_by_hand(n);
    compare<float>(
        "select, a loop", kept, kept_by_hand, 0,
        [&](float *to) {
            int64_t count;
            check(cf_select_f32(x.data(), flags.data(), to, &count, n));
        },
        [&](float *to) {
            for (int64_t i = 0; i < n; i++)
                if (flags[i])
                    *to++ = x[i];
        });
    std::vector<float> sum(1), sum_by_hand(1);
    compare<float>(
        "sum, an OpenMP reduction", sum, sum_by_hand, 1e-3, [&](float *to) { check(cf_sum_f32(x.data(), to, n)); },
        [&](float *to) {
            float total = 0;
#pragma omp parallel for reduction(+ : total)
            for (int64_t i = 0; i < n; i++)
                total += x[i];
            *to = total;
        });
    std::vector<int32_t> counts(bins), counts_by_hand(bins);
    compare<int32_t>(
        "histogram, a loop", counts, counts_by_hand, 0,
        [&](int32_t *to) { check(cf_histogram_f32_i32(x.data(), 0, 1, to, n, bins)); },
        [&](int32_t *to) {
            std::memset(to, 0, bins * sizeof *to);
            for (int64_t i = 0; i < n; i++)
                to[(int)(x[i] * (float)bins)]++;
        });
    std::vector<uint32_t> sorted(n), sorted_by_hand(n);
    compare<uint32_t>(
        "sort, __gnu_parallel::sort of a copy", sorted, sorted_by_hand, 0,
        [&](uint32_t *to) { check(cf_sort_keys_u32(keys.data(), to, n, 0)); },
        [&](uint32_t *to) {
            std::memcpy(to, keys.data(), n * sizeof *to);
            __gnu_parallel::sort(to, to + n);
        });
}

void time_a_call()
{
    float x[4] = {1, 2, 3, 4}, y[4] = {0};
    const int calls = 100000;
    const double time = time_of([&] {
        for (int i = 0; i < calls; i++)
            check(cf_axpy_f32(1, x, y, 4));
    });
    std::printf("a plain call of axpy, n = 4: %.2f us\n", time / calls * 1e6);
}

} // namespace

int main(int, char **argv)
{
    if (!std::getenv("OMP_WAIT_POLICY")) { // OpenMP reads it before main()
        setenv("OMP_WAIT_POLICY", "passive", 1);
        execv("/proc/self/exe", argv);
    }
    try {
        check(cf_device_use(CF_HOST));
        std::printf("2^24 elements\n%-42s %12s %12s %7s\n", "kernel, beside", "theirs", "Cuferry", "ratio");
        compare_all();
        time_a_call();
        check(cf_shutdown());
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
        return 1;
    }
    return 0;
}
