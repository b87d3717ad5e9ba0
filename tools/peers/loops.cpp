// loops.cpp - kernels on the CPU beside hand-written OpenMP loops, in one process: the same data, in turns, the median
// of many rounds. Needs no GPU.
//
// usage: peers-loops [--strict] [cache|memory]
//
// cache: 65,536 elements, or 8,192 for the bundled kernels, by one thread, in processor time, so that other programs do
// not count; memory: 16 Mi by all threads, or by one with CF_THREADS=1 and OMP_NUM_THREADS=1. Exits with 0 if every
// result is right, 1 if one is wrong or a call fails; with --strict 2 if a target is missed, 3 if the machine was too
// busy to tell.
//
// After a loop, OpenMP's threads poll for work, for some ms with gcc and 200 ms with clang, on processors that the
// kernel's threads need. OMP_WAIT_POLICY=passive makes them sleep; waking them takes well under a hundredth of a loop
// in memory. A round in which a thread of this program waited for a processor does not count.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <cuferry.h>
#include <cuferry/registry.h>

#include "loops_kernels.h"
#include "plain_loops.h"
#include "rounds.h"

extern "C" const cf_module loops_registry;

namespace
{

const struct {
    loop_kind kind;
    const char *name;
    double target;
} loops[] = {{SAXPY, "saxpy", 1.05},
             {TAKE, "take", 1.05},
             {POLYNOMIAL, "polynomial", 1.05},
             {STENCIL_2D, "stencil_2d", 1.2},
             {STENCIL_3D, "stencil_3d", 1.2}};
const char *const indices[] = {"i32", "u32", "i64"};

// Arguments of a kernel; its extents have the type of its index.
struct Arguments {
    float a = 1.5f;
    loop_data data;
    int64_t wide[3];
    int32_t narrow[3];
    std::vector<void *> list;
    Arguments(loop_kind kind, index_kind index, const loop_data &of) : data(of)
    {
        const int64_t extents[] = {of.nx, kind == TAKE ? of.nx : of.ny, of.nz};
        void *n[3];
        for (int i = 0; i < 3; i++) {
            wide[i] = extents[i], narrow[i] = (int32_t)extents[i];
            n[i] = index == I64 ? (void *)&wide[i] : (void *)&narrow[i];
        }
        if (kind == SAXPY)
            list = {&a, &data.x, &data.y, n[0]};
        else if (kind == TAKE)
            list = {&data.x, &data.index, &data.y, n[0], n[1]};
        else
            list = {&data.x, &data.y, n[0], n[1], n[2]};
    }
};

// One thread runs all blocks, with the code for this kind of processor.
void run_body(const cf_kernel *kernel, loop_kind kind, const loop_data &data, void **args, uint32_t processor)
{
    cf_host_launch launch = {};
    const uint32_t blocks[][3] = {{256, 1, 1}, {32, 8, 1}, {32, 4, 2}};
    const uint32_t *block = blocks[kind == STENCIL_3D ? 2 : kind == STENCIL_2D];
    launch.block = {block[0], block[1], block[2]};
    launch.grid = {(uint32_t)((data.nx + block[0] - 1) / block[0]), (uint32_t)((data.ny + block[1] - 1) / block[1]),
                   (uint32_t)((data.nz + block[2] - 1) / block[2])};
    launch.args = args;
    launch.processor = processor;
    kernel->cpu_body(&launch, 0, (uint64_t)launch.grid.x * launch.grid.y * launch.grid.z);
}

struct Arrays {
    float *x, *y, *expected;
    int32_t *index;
    int64_t n;
    template <typename T> static T *array(int64_t n)
    {
        void *memory = std::aligned_alloc(4096, (size_t)(n * (int64_t)sizeof(T) + 4095) / 4096 * 4096);
        if (!memory)
            throw std::bad_alloc();
        return static_cast<T *>(memory);
    }
    explicit Arrays(int64_t count) : n(count)
    {
        x = array<float>(n), y = array<float>(n), expected = array<float>(n), index = array<int32_t>(n);
        uint32_t state = 1;
        for (int64_t i = 0; i < n; i++) {
            state = state * 1664525u + 1013904223u;
            x[i] = (float)(state >> 8) / (1 << 24);
            index[i] = (int32_t)(state % (uint32_t)n);
        }
    }
    void reset(float *array)
    {
        for (int64_t i = 0; i < n; i++)
            array[i] = (float)(i % 7);
    }
};

int missed, not_judged;

// Times a kernel and a loop in turns, on all threads by the clock or on one by processor time, and prints the
// comparison.
template <typename Kernel, typename Loop>
void take_turns(const std::string &name, const char *build, int rounds, double target, bool is_large, Kernel by_kernel,
                Loop by_hand)
{
    // Both of a round run in one moment: other programs and the processor's frequency affect both.
    const int least = is_large ? rounds / 3 : rounds;
    std::vector<double> times[2], ratios;
    for (int round = 0; round < 8 * rounds && (int)ratios.size() < rounds; round++) {
        double time[2], sum = 0, delay = is_large ? delayed() : 0;
        for (int side = 0; side < 2; side++) {
            const double begin = seconds(is_large ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
            if ((round + side) % 2)
                by_kernel();
            else
                by_hand();
            sum += time[(round + side) % 2] = seconds(is_large ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID) - begin;
        }
        if (is_large && delayed() - delay > DISTURBED * sum) {
            usleep(50000);
            continue;
        }
        for (int side = 0; side < 2; side++)
            times[side].push_back(time[side]);
        ratios.push_back(time[1] / time[0]);
    }
    if ((int)ratios.size() < least) {
        not_judged++;
        std::printf("%-16s %-9s not judged: something else has the processors\n", name.c_str(), build);
        return;
    }
    const double ratio = median(ratios);
    const bool is_met = ratio <= target;
    missed += !is_met;
    std::printf("%-16s %-9s %10.1f us %10.1f us %7.2f   <= %.2f%s\n", name.c_str(), build, median(times[0]) * 1e6,
                median(times[1]) * 1e6, ratio, target, is_met ? "" : "   missed");
}

void compare(Arrays &arrays, bool is_large, int number, index_kind index, const char *build, uint32_t processor)
{
    const loop_kind kind = loops[number].kind;
    loop_data data = {arrays.x, arrays.index, arrays.y, is_large ? 1 << 24 : 65536, 1, 1};
    if (kind == STENCIL_2D)
        data.nx = data.ny = is_large ? 4096 : 256;
    else if (kind == STENCIL_3D)
        data.nx = data.ny = is_large ? 256 : 64, data.nz = is_large ? 256 : 16;
    const std::string name = std::string(loops[number].name) + "_" + indices[index];
    const cf_kernel *kernel = cf_kernel_find(&loops_registry, name.c_str());
    if (!kernel)
        throw std::runtime_error(name + " is not there");
    auto by_hand = [&](float *y) {
        loop_data own = data;
        own.y = y;
        (processor ? plain_loop_v3 : plain_loop)(kind, index, !is_large, own);
    };
    auto by_kernel = [&] {
        Arguments arguments(kind, index, data);
        if (is_large)
            check(cf_launch(kernel, nullptr, arguments.list.data()));
        else
            run_body(kernel, kind, data, arguments.list.data(), processor);
    };
    arrays.reset(arrays.y), arrays.reset(arrays.expected);
    by_hand(arrays.expected);
    by_kernel();
    for (int64_t i = 0; i < arrays.n; i++)
        if (!(std::fabs(arrays.y[i] - arrays.expected[i]) <= 1e-6f * std::fmax(1, std::fabs(arrays.expected[i]))))
            throw std::runtime_error(name + ": element " + std::to_string(i) + " is wrong");
    take_turns(name, build,
               !is_large      ? 501
               : kind == TAKE ? 5
                              : 21,
               loops[number].target, is_large, by_kernel, [&] { by_hand(arrays.y); });
}

// A bundled kernel; the target is nine tenths of the loop's speed.
const char *const streams[STREAMS] = {"fill",  "copy",   "scale",   "multiply",   "axpy",
                                      "waxpy", "gather", "scatter", "gather_rows"};

template <typename T>
void compare_stream(stream_kind kind, const char *tag, int64_t n, int64_t width, bool is_large, const char *build,
                    uint32_t processor)
{
    std::string name = std::string(streams[kind]) + "_" + tag + (kind >= GATHER ? "_i32" : "");
    const cf_kernel *kernel = cf_kernel_find(&cf_registry, name.c_str());
    if (!kernel)
        throw std::runtime_error(name + " is not there");
    int64_t rows = n / width, count = kind == GATHER_ROWS ? rows : n;
    T *arrays[4], a = (T)1.5;
    int32_t *index = Arrays::array<int32_t>(n);
    uint32_t state = 1;
    for (T *&array : arrays) {
        array = Arrays::array<T>(n);
        for (int64_t i = 0; i < n; i++)
            array[i] = (T)(i % 7);
    }
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        index[i] = (int32_t)((state >> 4) % (uint32_t)count);
    }
    if (kind == SCATTER) // a permutation
        for (int64_t i = 0; i < n; i++)
            index[i] = (int32_t)((uint32_t)i * 40503u % (uint32_t)n);
    stream_data<T> data = {a, arrays[0], arrays[1], index, arrays[3], n, width};
    T *z = arrays[2];
    const T *x = arrays[0], *y = arrays[1];
    std::vector<void *> args;
    switch (kind) {
    case FILL:
        args = {&a, &z, &n};
        break;
    case COPY:
        args = {&x, &z, &n};
        break;
    case SCALE:
    case AXPY:
        args = {&a, &x, &z, &n};
        break;
    case MULTIPLY:
        args = {&x, &y, &z, &n};
        break;
    case WAXPY:
        args = {&a, &x, &y, &z, &n};
        break;
    case GATHER:
    case SCATTER:
        args = {&x, &index, &z, &n, &n};
        break;
    default:
        args = {&x, &index, &z, &rows, &width, &rows};
    }
    const cf_kernel *body = kernel->nvariants ? kernel->variants[0] : kernel; // a tuned kernel has no body of its own
    cf_launch_size size;
    if (!body->sizes(args.data(), &size))
        throw std::runtime_error(name + " has no size");
    auto by_hand = [&] { processor ? plain_stream_v3(kind, !is_large, data) : plain_stream(kind, !is_large, data); };
    auto by_kernel = [&] {
        cf_host_launch launch = {};
        launch.block = {size.block[0], 1, 1};
        launch.grid = {size.grid[0], 1, 1};
        launch.args = args.data();
        launch.processor = processor;
        if (is_large)
            check(cf_launch(kernel, nullptr, args.data()));
        else
            body->cpu_body(&launch, 0, launch.grid.x);
    };
    by_hand();
    by_kernel();
    for (int64_t i = 0; i < n; i++)
        if (!(std::fabs(z[i] - data.z[i]) <= 1e-6 * std::fmax(1, std::fabs(z[i]))))
            throw std::runtime_error(name + ": element " + std::to_string(i) + " is wrong");
    if (kind == GATHER_ROWS)
        name = std::string("rows of ") + std::to_string(width) + " " + tag;
    take_turns(name, build, !is_large ? 501 : 21, 1 / 0.9, is_large, by_kernel, by_hand);
    for (T *array : arrays)
        std::free(array);
    std::free(index);
}

void bundled(bool is_large, const char *build, uint32_t processor)
{
    const int64_t n = is_large ? 1 << 24 : 1 << 13;
    for (int kind = 0; kind < GATHER_ROWS; kind++) {
        compare_stream<float>((stream_kind)kind, "f32", n, 1, is_large, build, processor);
        compare_stream<double>((stream_kind)kind, "f64", n, 1, is_large, build, processor);
    }
    for (int64_t width : {4, 16, 64, 1024})
        compare_stream<float>(GATHER_ROWS, "f32", n, width, is_large, build, processor);
}

void part(bool is_large)
{
    Arrays arrays(is_large ? 1 << 24 : 1 << 16);
    std::printf("\n%s\n%-16s %-9s %13s %13s %7s   target\n",
                is_large ? "16 Mi elements, all threads" : "65,536 elements, one thread", "kernel", "code", "OpenMP",
                "Cuferry", "ratio");
#if defined __x86_64__
    const bool has_v3 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#else
    const bool has_v3 = false;
#endif
    for (uint32_t processor = 0; processor <= (has_v3 ? 1 : 0); processor++) {
        if (is_large && has_v3 && !processor) // the library chooses
            continue;
        for (int number = 0; number < 5; number++)
            for (int index = 0; index < 3; index++)
                compare(arrays, is_large, number, (index_kind)index, processor ? "v3" : "baseline", processor);
        bundled(is_large, processor ? "v3" : "baseline", processor);
    }
}

} // namespace

int main(int argc, char **argv)
{
    bool is_strict = false, wants[2] = {true, true};
    for (int i = 1; i < argc; i++) {
        if (!std::strcmp(argv[i], "--strict"))
            is_strict = true;
        else if (!std::strcmp(argv[i], "cache"))
            wants[1] = false;
        else if (!std::strcmp(argv[i], "memory"))
            wants[0] = false;
        else {
            std::fprintf(stderr, "usage: peers-loops [--strict] [cache|memory]\n");
            return 1;
        }
    }
    if (!std::getenv("OMP_WAIT_POLICY")) { // it is read before main()
        setenv("OMP_WAIT_POLICY", "passive", 1);
        execv("/proc/self/exe", argv);
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // a row may take minutes on a busy machine
    try {
        check(cf_device_use(CF_HOST));
        for (int large = 0; large < 2; large++)
            if (wants[large])
                part(large);
        check(cf_shutdown());
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
        return 1;
    }
    std::printf("\n%d targets missed, %d not judged\n", missed, not_judged);
    return !is_strict ? 0 : missed ? 2 : not_judged ? 3 : 0;
}
