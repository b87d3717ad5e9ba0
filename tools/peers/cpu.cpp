// cpu.cpp - compares kernels of well-known programs on the CPU with OpenMP loops written by hand (plain_cpu.cpp). Needs
// no GPU.
//
// usage: peers-cpu THREADS [WORD]
//
// Prints a line for each kernel: its name, its form, OpenMP's time divided by the kernel's, the same ratio for loops
// compiled with -march=native, and the three times in us. Times are medians of rounds in which all take turns. With
// WORD, it runs only kernels whose names contain it. tools/peers/cpu.py runs it with several numbers of threads and
// prints a table. Exits with 1 if a result is wrong or a call fails.
//
// With one thread, processor time is measured, which other programs do not change. With several, elapsed time is
// measured, and rounds in which a thread waited for a processor are repeated; a row with too few other rounds gets a ?.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <unistd.h>

#include "cpu_kernels.h"
#define PLAIN plain
#include "plain_cpu.h"
#undef PLAIN
#define PLAIN native
#include "plain_cpu.h"
#include "rounds.h"

namespace
{

// Largest and smallest number of rounds of a row, and the time in s after which no further round begins.
const int MOST_ROUNDS = 15, LEAST_ROUNDS = 3;
const double ROW_TIME = 1;

// Pause in us before a turn, in which the other side's threads fall asleep. After a loop, OpenMP's threads poll for
// work: gcc's for 5 to 15 ms, clang's for the time set below. On all processors, that made launches take up to 3 ms
// longer.
const useconds_t PAUSE = 20000;

enum form { LOOP, BARRIERS };

template <typename T> class Array
{
  public:
    explicit Array(int n)
        : data_(static_cast<T *>(std::aligned_alloc(4096, ((size_t)n * sizeof(T) + 4095) / 4096 * 4096)), std::free),
          size((size_t)n)
    {
        std::memset(data_.get(), 0, size * sizeof(T));
    }
    // Fills the array with the results of a function that is given pseudo-random numbers.
    template <typename Function> Array(int n, Function function) : Array(n)
    {
        uint32_t state = (uint32_t)n;
        for (size_t i = 0; i < size; i++) {
            state = state * 1664525u + 1013904223u;
            data_.get()[i] = (T)function(state >> 8);
        }
    }
    operator T *() const
    {
        return data_.get();
    }

  private:
    std::shared_ptr<T> data_;

  public:
    const size_t size;
};

// Returns an array of whole numbers as floats, so that sums and products are exact in any order.
Array<float> whole(int n, uint32_t most)
{
    return Array<float>(n, [most](uint32_t random) { return random % most; });
}

Array<float> real(int n, float low, float high)
{
    return Array<float>(n, [=](uint32_t random) { return low + (high - low) * (float)random / (1 << 24); });
}

Array<int> integers(int n, uint32_t most)
{
    return Array<int>(n, [most](uint32_t random) { return random % most; });
}

// An array that the kernel and the loop write. Both begin with the same contents.
class Output
{
  public:
    Output(const Array<float> &array) : data_(array), size_(array.size * sizeof(float)), is_real_(true), first_(copy())
    {
    }
    template <typename T>
    Output(const Array<T> &array) : data_(array), size_(array.size * sizeof(T)), is_real_(false), first_(copy())
    {
    }
    void reset() const
    {
        std::memcpy(data_, first_.data(), size_);
    }
    std::vector<char> copy() const
    {
        return {static_cast<char *>(data_), static_cast<char *>(data_) + size_};
    }
    // Compares the results. Floats may differ by `bound` times the greater of the expected value and the mean value;
    // other types must be equal.
    void compare(const std::vector<char> &other, double bound, const std::string &name) const
    {
        if (!is_real_ || bound == 0) {
            if (std::memcmp(data_, other.data(), size_) != 0)
                throw std::runtime_error(name + ": a result is wrong");
            return;
        }
        const float *actual = static_cast<const float *>(data_);
        std::vector<float> expected(size_ / sizeof(float));
        std::memcpy(expected.data(), other.data(), size_);
        double mean = 0;
        for (float value : expected)
            mean += std::fabs(value) / (double)expected.size();
        for (size_t i = 0; i < expected.size(); i++)
            if (!(std::fabs(actual[i] - expected[i]) <= bound * std::fmax(mean, std::fabs(expected[i]))))
                throw std::runtime_error(name + ": element " + std::to_string(i) + " is " + std::to_string(actual[i]) +
                                         ", and not " + std::to_string(expected[i]));
    }

  private:
    void *data_;
    size_t size_;
    bool is_real_;
    std::vector<char> first_;
};

int threads;
const char *word = "";

const char *const sides[] = {"kernel", "OpenMP", "native"};

// Measures a row and prints it for cpu.py: name, form, two ratios, the times in us, and a ? if it was disturbed.
template <typename Kernel, typename Plain, typename Native>
void measure(const char *name, form kind, double bound, const std::vector<Output> &outputs, Kernel by_kernel,
             Plain by_hand, Native by_native)
{
    const clockid_t clock = threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    // Each side runs twice. The first run is not timed: it wakes the side's threads, which in a program an earlier loop
    // has done.
    auto run = [&](int side) {
        double begin = 0;
        if (threads > 1)
            usleep(PAUSE);
        for (int i = 0; i < 2; i++) {
            for (const Output &output : outputs)
                output.reset();
            begin = seconds(clock);
            side == 0 ? by_kernel() : side == 1 ? by_hand() : by_native();
        }
        return seconds(clock) - begin;
    };
    std::vector<std::vector<char>> expected;
    run(1);
    for (const Output &output : outputs)
        expected.push_back(output.copy());
    for (int side : {2, 0}) {
        run(side);
        for (size_t i = 0; i < outputs.size(); i++)
            outputs[i].compare(expected[i], bound, std::string(name) + ", " + sides[side]);
    }
    std::vector<double> times[3], ratios[2];
    const double start = seconds();
    int disturbed = 0;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        if (round >= LEAST_ROUNDS && seconds() - start > ROW_TIME)
            break;
        double time[3], sum = 0, delay = delayed();
        for (int i = 0; i < 3; i++) {
            const int side = (round + i) % 3;
            sum += time[side] = run(side);
        }
        if (threads > 1 && delayed() - delay > DISTURBED * sum && disturbed++ < MOST_ROUNDS) {
            round--;
            continue;
        }
        for (int side = 0; side < 3; side++)
            times[side].push_back(time[side]);
        for (int side = 1; side < 3; side++)
            ratios[side - 1].push_back(time[side] / time[0]);
    }
    std::printf("%s %d %.4f %.4f %.1f %.1f %.1f %s\n", name, kind, median(ratios[0]), median(ratios[1]),
                median(times[0]) * 1e6, median(times[1]) * 1e6, median(times[2]) * 1e6,
                disturbed > MOST_ROUNDS ? "?" : "-");
}

// ---- Programs of several launches

void cpu_srad(float *image, float *north, float *south, float *west, float *east, float *diffusion, int nx, int ny,
              float q0)
{
    check(cpu_srad_coefficient(image, north, south, west, east, diffusion, nx, ny, q0));
    check(cpu_srad_update(image, north, south, west, east, diffusion, nx, ny, 0.5f));
}

void cpu_lud(float *a, int n)
{
    for (int at = 0; at < n; at += 16) {
        check(cpu_lud_diagonal(a, n, at));
        check(cpu_lud_perimeter(a, n, at));
        check(cpu_lud_internal(a, n, at));
    }
}

void cpu_hotspot(const float *power, float *from, float *to, int nx, int ny, int rounds)
{
    for (int round = 0; round < rounds; round += 2) {
        check(cpu_hotspot_steps(power, from, to, nx, ny));
        std::swap(from, to);
    }
}

void cpu_pathfinder(const int *wall, int *from, int *to, int columns, int rows)
{
    for (int row = 0; row < rows; row += 20) {
        check(cpu_pathfinder_steps(wall, from, to, columns, row, 20));
        std::swap(from, to);
    }
}

void cpu_nw(const int *match, int *score, int n, int penalty)
{
    const int tiles = n / 16;
    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        const int first = std::max(0, diagonal - tiles + 1), last = std::min(diagonal, tiles - 1);
        check(cpu_nw_diagonal(match, score, n, penalty, last - first + 1, first, diagonal - first));
    }
}

void cpu_radix_pass(const unsigned int *keys, int *counts, unsigned int *sorted, int shift, int blocks)
{
    check(cpu_radix_count(keys, counts, shift, blocks));
    check(cpu_radix_sums(counts, 16 * blocks));
    check(cpu_radix_move(keys, counts, sorted, shift, blocks));
}

// ---- The rows

// The kernel and the loops of a row have the same arguments. `loops` is the name of the loops, which may serve several
// kernels.
#define ROW_OF(name, loops, kind, bound, outputs, call, ...) \
    if (std::strstr(#name, word))                            \
    measure(                                                 \
        #name, kind, bound, outputs, [&] { call; }, [&] { plain::loops; }, [&] { native::loops; })
#define OUT(...) (std::vector<Output>{__VA_ARGS__})
#define ROW(name, kind, bound, outputs, ...) \
    ROW_OF(name, name(__VA_ARGS__), kind, bound, outputs, check(cpu_##name(__VA_ARGS__)))
#define PROGRAM(name, kind, bound, outputs, ...) \
    ROW_OF(name, name(__VA_ARGS__), kind, bound, outputs, cpu_##name(__VA_ARGS__))

void stencils()
{
    const int nx = 200, ny = 150, nz = 64, n = nx * ny * nz;
    auto u = whole(n, 16), v = whole(n, 16);
    ROW(stencil_points, LOOP, 0, OUT(v), u, v, nx, ny, nz);
    ROW(stencil_column, LOOP, 0, OUT(v), u, v, nx, ny, nz);
    ROW_OF(stencil_planes, stencil_points(u, v, nx, ny, nz), BARRIERS, 0, OUT(v),
           check(cpu_stencil_planes(u, v, nx, ny, nz)));
}

void clusters()
{
    const int n = 32768, count = 10, dims = 16;
    auto points = whole(n * 32, 256), centres = whole(count * dims, 256), weight = whole(n, 4),
         cost = whole(n, 1 << 19);
    Array<int> member(n);
    Array<float> gain(n);
    ROW(kmeans_assign, LOOP, 0, OUT(member), points, centres, member, n, count, dims);
    auto coord = whole(n * 32, 128);
    ROW(cluster_gain, BARRIERS, 0, OUT(gain, member), coord, weight, cost, gain, member, n, 32, 7);
}

void statistics()
{
    const int rows = 256, columns = 4096, n = rows * columns;
    auto x = real(n, 0, 1), w = whole(2 * n, 16);
    Array<float> mean(columns), variance(columns), sums(2 * n / 256);
    ROW(welford, LOOP, 1e-5, OUT(mean, variance), x, mean, variance, rows, columns);
    ROW(tree_sum, BARRIERS, 0, OUT(sums), w, sums, 2 * n - 100);
}

void networks()
{
    const int to = 2000, from = 1500, inputs = 131072;
    auto delta = whole(to, 16), layer = whole(from, 16), weights = whole(to * from, 16), change = whole(to * from, 16);
    ROW(adjust_weights, LOOP, 0, OUT(weights, change), delta, layer, weights, change, to, from);
    auto input = whole(inputs, 16), first = whole(16 * inputs, 16);
    Array<float> partial(inputs);
    ROW(layer_forward, BARRIERS, 0, OUT(partial), input, first, partial, inputs);
    const int rows = 1000, columns = 700;
    auto x = real(rows * columns, -2, 2), gamma = real(columns, 0.5, 1.5), beta = real(columns, -1, 1);
    Array<float> y(rows * columns);
    ROW(layer_norm, BARRIERS, 1e-4, OUT(y), x, gamma, beta, y, rows, columns);
    ROW(softmax_warp, BARRIERS, 1e-5, OUT(y), x, y, 7000, 100);
    const int queries = 300;
    auto query = real(queries * 64, -1, 1), key = real(128 * 64, -1, 1), value = real(128 * 64, -1, 1);
    Array<float> res(queries * 64);
    ROW(attention_head, BARRIERS, 1e-4, OUT(res), query, key, value, res, queries);
}

void pictures()
{
    const int nx = 700, ny = 500, n = nx * ny;
    auto image = real(n, 1, 2);
    Array<float> north(n), south(n), west(n), east(n), diffusion(n);
    PROGRAM(srad, LOOP, 1e-4, OUT(image, diffusion), image, north, south, west, east, diffusion, nx, ny, 0.05f);
    auto picture = whole(n, 256), tap = whole(25, 16);
    Array<float> result(n);
    ROW(conv2d_tile, BARRIERS, 0, OUT(result), picture, tap, result, nx, ny);
    auto power = real(n, 0, 1), from = real(n, 80, 90);
    Array<float> to(n);
    PROGRAM(hotspot, BARRIERS, 1e-5, OUT(from), power, from, to, nx, ny, 4);
    auto in = whole(1000 * 900, 256);
    Array<float> out(1000 * 900);
    ROW(transpose_tile, BARRIERS, 0, OUT(out), in, out, 1000, 900);
}

void particles()
{
    const int n = 6000, many = 20000, points = 60, nx = 128, ny = 128;
    Array<float> cumulated(n, [sum = 0.0](uint32_t random) mutable { return sum += random % 16 / 8.0 / n; });
    auto wanted = real(n, 0, 1), x = real(many, 0, 127), y = real(many, 0, 127), weight = real(many, 0.5, 1);
    Array<float> new_x(n), new_y(n), sums((many + 255) / 256);
    ROW(particle_resample, LOOP, 0, OUT(new_x, new_y), cumulated, wanted, x, y, new_x, new_y, n);
    auto seen = integers(nx * ny, 256), offset = integers(2 * points, 9);
    ROW(particle_weights, BARRIERS, 1e-4, OUT(weight, sums), seen, x, y, offset, weight, sums, many, points, nx, ny);
    const int bodies = 1536;
    auto body = real(4 * bodies, 0, 1);
    Array<float> force(4 * bodies);
    ROW_OF(nbody_direct, nbody_direct(body, force, bodies), LOOP, 1e-4, OUT(force),
           check(cpu_nbody_direct((cf_float4 *)(float *)body, (cf_float4 *)(float *)force, bodies)));
    ROW_OF(nbody_tiled, nbody_direct(body, force, bodies), BARRIERS, 1e-4, OUT(force),
           check(cpu_nbody_tiled((cf_float4 *)(float *)body, (cf_float4 *)(float *)force, bodies)));
}

void matrices()
{
    const int n = 300;
    auto a = whole(n * n, 16), b = whole(n * n, 16), x = whole(60000, 16), value = whole(1 << 20, 16);
    Array<float> c(n * n), y(60000);
    ROW(matmul_direct, LOOP, 0, OUT(c), a, b, c, n, n, n);
    ROW_OF(matmul_tiled, matmul_direct(a, b, c, 272, 272, 272), BARRIERS, 0, OUT(c),
           check(cpu_matmul_tiled(a, b, c, 272)));
    Array<int> start(60001, [sum = 0, lengths = 0](uint32_t random) mutable {
        int before = sum;
        sum += lengths++ < 60000 ? (int)(random % 33) : 0;
        return before;
    });
    const int rows = 60000, count = start[rows];
    auto column = integers(count, (uint32_t)rows);
    ROW(spmv_thread, LOOP, 0, OUT(y), start, column, value, x, y, rows, rows, count);
    ROW_OF(spmv_warp, spmv_thread(start, column, value, x, y, rows, rows, count), BARRIERS, 0, OUT(y),
           check(cpu_spmv_warp(start, column, value, x, y, rows, rows, count)));
    const int side = 384;
    auto m = real(side * side, 0, 1);
    for (int i = 0; i < side; i++)
        m[i * side + i] += (float)side;
    PROGRAM(lud, BARRIERS, 1e-4, OUT(m), m, side);
}

void signals()
{
    const int n = 2000000;
    auto x = whole(n, 256), tap = whole(15, 16);
    Array<float> y(n);
    ROW(conv1d_direct, LOOP, 0, OUT(y), x, tap, y, n / 4, 15);
    ROW(conv1d_tile, BARRIERS, 0, OUT(y), x, tap, y, n);
    const int options = 100000;
    auto price = real(options, 10, 50), strike = real(options, 10, 50), years = real(options, 0.25, 5);
    Array<float> call(options), put(options);
    ROW(black_scholes, LOOP, 1e-4, OUT(call, put), price, strike, years, call, put, 0.02f, 0.3f, options);
}

void tables()
{
    const int columns = 100000, rows = 40, n = 1024;
    auto wall = integers(columns * rows, 10), from = integers(columns, 10);
    Array<int> to(columns), score((n + 1) * (n + 1));
    PROGRAM(pathfinder, BARRIERS, 0, OUT(from), wall, from, to, columns, rows);
    Array<int> match(n * n, [](uint32_t random) { return (int)(random % 21) - 10; });
    for (int i = 0; i <= n; i++)
        score[i] = score[i * (n + 1)] = -10 * i;
    PROGRAM(nw, BARRIERS, 0, OUT(score), match, score, n, 10);
    // Node k holds the least key of each child, and the upper limit of the last child.
    const int levels = 3, nodes = 1 + 32 + 1024, queries = 50000, spans[] = {32 * 1024, 1024, 32};
    Array<int> keys(nodes * 33);
    for (int level = 0, node = 0, count = 1; level < levels; level++, count *= 32)
        for (int i = 0; i < count; i++, node++)
            for (int k = 0; k <= 32; k++)
                keys[node * 33 + k] = 3 * (i * spans[level] + k * spans[level] / 32);
    auto query = integers(queries, 3 * 32768);
    Array<int> found(queries);
    ROW(btree_search, BARRIERS, 0, OUT(found), keys, query, found, queries, nodes, levels);
}

void primitives()
{
    const int n = 1 << 21, blocks = 3000;
    Array<unsigned int> unsorted(256 * blocks, [](uint32_t random) { return random; }), sorted(256 * blocks);
    Array<int> counts(16 * blocks), y(n), bins(256);
    PROGRAM(radix_pass, BARRIERS, 0, OUT(sorted), unsorted, counts, sorted, 4, blocks);
    Array<unsigned char> bytes(2 * n, [](uint32_t random) { return random % 256; });
    ROW(histogram_shared, BARRIERS, 0, OUT(bins), bytes, bins, 2 * n - 77);
    auto x = integers(n, 100);
    ROW_OF(scan_tree, scan(x, y, n, 512), BARRIERS, 0, OUT(y), check(cpu_scan_tree(x, y, n)));
    ROW_OF(scan_steps, scan(x, y, n, 256), BARRIERS, 0, OUT(y), check(cpu_scan_steps(x, y, n)));
}

void run_rows()
{
    check(cf_device_use(CF_HOST));
    stencils();
    clusters();
    statistics();
    networks();
    pictures();
    particles();
    matrices();
    signals();
    tables();
    primitives();
    check(cf_shutdown());
}

} // namespace

int main(int argc, char **argv)
{
    threads = argc > 1 && argc < 4 ? std::atoi(argv[1]) : 0;
    word = argc > 2 ? argv[2] : "";
    if (threads < 1) {
        std::fprintf(stderr, "usage: peers-cpu THREADS [WORD]\n");
        return 1;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    try {
        run_rows();
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
        return 1;
    }
    return 0;
}
