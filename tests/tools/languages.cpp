// languages.cpp - calls the kernels of languages.cu and the bundled kernels through their C++ headers, for
// test_languages.py. Prints the first difference. It is compiled both with exceptions and without.
#include "lang.hpp"

#include <cuferry/kernels.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

static int failures;

static void expect(bool is_right, int line, const char *text)
{
    if (!is_right) {
        std::printf("line %d: %s; the last error: %s\n", line, text, cf_last_error());
        failures++;
    }
}
#define EXPECT(condition) expect(condition, __LINE__, #condition)

// Returns the status of a call in either style. With exceptions, it also checks the exception's text.
#ifdef CF_NO_EXCEPTIONS
#define STATUS(call) (call)
#else
template <typename Call> static int status_of(Call call)
{
    try {
        call();
    } catch (const cf::error &error) {
        EXPECT(std::string(error.what()) == cf_last_error());
        return error.status();
    }
    return CF_OK;
}
#define STATUS(call) status_of([&] { call; })
#endif
#define WORKS(call) EXPECT(STATUS(call) == CF_OK)
#define FAILS(call, status, text) EXPECT(STATUS(call) == (status) && std::string(cf_last_error()) == (text))

static std::mt19937 generator(20261128);

template <typename T> static std::vector<T> random_vector(std::size_t size)
{
    std::vector<T> made(size);
    for (T &element : made)
        element = static_cast<T>(generator() % 1000);
    return made;
}

static void instances()
{
    const std::vector<float> x = {1, 2, 4};
    const std::vector<double> doubles = {1.5, 2};
    std::vector<float> y(3), one(1);
    double sum = 0;
    WORKS(lang::apply_plus(x, y));
    EXPECT(y == std::vector<float>({4, 5, 7}));
    WORKS(lang::apply_times(x, y));
    EXPECT(y == std::vector<float>({3, 6, 12}));
    WORKS(lang::reduce_sum_f32(x, one));
    EXPECT(one[0] == 7);
    WORKS(lang::reduce_max_f32(x, one));
    EXPECT(one[0] == 4);
    WORKS(lang::reduce(doubles, cf::span<double>(&sum, 1)));
    EXPECT(sum == 3.5);
    EXPECT(lang_reduce(doubles.data(), &sum, 2) == CF_OK);
}

template <typename T> static void axpy_of(T a)
{
    for (std::size_t size : {0, 1, 1000}) {
        const auto x = random_vector<T>(size);
        auto y = random_vector<T>(size);
        const auto before = y;
        WORKS(lang::axpy(a, x, y));
        for (std::size_t i = 0; i < size; i++)
            EXPECT(y[i] == a * x[i] + before[i]);
        cf::buffer<T> on_device, result;
        cf::stream stream;
        WORKS(on_device.allocate(size));
        WORKS(result.allocate(size));
        WORKS(stream.create());
        WORKS(on_device.copy_from(x));
        WORKS(result.copy_from(before));
        WORKS(lang::axpy_async(stream, a, on_device, result));
        WORKS(stream.sync());
        std::vector<T> back(size, T(-7));
        WORKS(result.copy_to(back));
        EXPECT(back == y);
    }
}

static void lengths()
{
    std::vector<float> x(5, 1), y(4, 2);
    FAILS(lang::axpy(2.0f, x, y), CF_EINVAL, "lang_axpy_f32: y has 4 elements, instead of 5");
    EXPECT(y == std::vector<float>(4, 2));
    FAILS(lang::axpy_async(nullptr, 2.0f, x, y), CF_EINVAL, "lang_axpy_f32_async: y has 4 elements, instead of 5");
    FAILS(lang::axpy(2.0f, cf::span<const float>(x.data(), std::size_t(1) << 31),
                     cf::span<float>(y.data(), std::size_t(1) << 31)),
          CF_EOVERFLOW, "lang_axpy_f32: x has 2147483648 elements, more than its count holds: 2147483647");
    FAILS(lang::axpy(2.0f, cf::span<const float>(static_cast<float *>(nullptr), 4), y), CF_EINVAL,
          "lang_axpy_f32: x is NULL and its extent is 4");
    WORKS(lang::spread_far(y, 0.5));
    instances();
    EXPECT(y[3] == 1.5f);
}

static void shapes()
{
    const int nx = 33, ny = 9, pitch = 40;
    const auto u = random_vector<double>(nx * ny);
    const auto v = random_vector<float>(nx);
    std::vector<double> w(pitch * ny, -1);
    WORKS(lang::rows(u, v, w, ny, pitch));
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < pitch; x++)
            EXPECT(w[y * pitch + x] == (x < nx ? u[y * nx + x] + 10 * v[x] : -1));
    // Nothing follows the part of the last row that the section declares.
    cf::span<double> exact(w.data(), (ny - 1) * pitch + nx), less(w.data(), exact.size() - 1);
    WORKS(lang::rows(u, v, exact, ny, pitch));
    FAILS(lang::rows(u, v, less, ny, pitch), CF_EINVAL,
          "lang_rows: w has 352 elements, instead of at least 353");
    FAILS(lang::rows(u, v, w, ny + 1, pitch), CF_EINVAL, "lang_rows: u has 297 elements, instead of 330");
}

static void expressions()
{
    for (unsigned n : {0u, 1u, 2u, 7u, 8u}) {
        const auto x = random_vector<std::int64_t>(3 + n);
        std::vector<std::int64_t> y((n + 1) / 2, -1);
        WORKS(lang::pairs(x, y, n, 3));
        for (unsigned i = 0; i < y.size(); i++)
            EXPECT(y[i] == x[3 + 2 * i] + (2 * i + 1 < n ? x[4 + 2 * i] : 0));
        y.push_back(0);
        EXPECT(STATUS(lang::pairs(x, y, n, 3)) == CF_EINVAL);
    }
}

static void structs()
{
    const std::array<struct place, 2> places{{{{1, 2}, 4}, {{8, 16}, 32}}};
    const cf_float4 moves[2] = {{0, 0, 0, 64}, {1, 1, 1, 128}};
    std::vector<double> sums(2, -1);
    const double extra = 0.5;
    WORKS(lang::move(places, moves, sums, nullptr, {2}, true));
    EXPECT(sums[0] == 2 * (1 + 2 + 64) + 4 && sums[1] == 2 * (8 + 16 + 128) + 32);
    WORKS(lang::move_async(nullptr, places, moves, sums, &extra, {2}, false));
    EXPECT(sums[0] == 1 + 2 + 64 + 4.5);
    FAILS(lang::move(places, moves, sums, nullptr, {3}, true), CF_EINVAL,
          "lang_move: places has 2 elements, instead of 3");

    const std::array<double, 6> weights{1, 2, 3, 4, 5, 6};
    WORKS(lang::set_slope(0.25f));
    WORKS(lang::set_weights(weights));
    WORKS(lang::set_origin_async(nullptr, {{1, 7}, 20}));
    std::array<double, 3> y{};
    WORKS(lang::constants(y));
    EXPECT(y[0] == 0.25 && y[1] == 6 && y[2] == 27);
    FAILS(lang::set_weights(cf::span<const double>(weights.data(), 5)), CF_EINVAL,
          "lang_set_weights: weights has 5 elements, instead of 6");

    std::vector<cf_half> halves{{0x3c00}, {0x4000}};     // 1 and 2
    WORKS(lang::halves(halves));
    EXPECT(halves[0].bits == 0x4000 && halves[1].bits == 0x4400);
}

static void runtime()
{
    cf::buffer<double> buffer;
    WORKS(buffer.allocate(3));
    const std::vector<double> four(4);
    FAILS(buffer.copy_from(four), CF_EINVAL, "cf::memory::copy_from: source has 4 elements, instead of 3");
    FAILS(buffer.allocate(SIZE_MAX / 4), CF_EOVERFLOW, "cf::memory: the size does not fit");
    cf::buffer<double> other = std::move(buffer);
    EXPECT(buffer.size() == 0 && !buffer.data() && other.size() == 3 && other.data());
    WORKS(other.fill(0));
    other = cf::buffer<double>();
    EXPECT(other.size() == 0 && !other.data());
    cf::stream stream;
    cf::event begin, end;
    WORKS(stream.create());
    WORKS(begin.create());
    WORKS(end.create());
    WORKS(begin.record(stream));
    WORKS(end.record(stream));
    WORKS(stream.wait(end));
    WORKS(end.sync());
    float milliseconds = -1;
    bool is_done = false;
    WORKS(end.elapsed(milliseconds, begin));
    WORKS(stream.query(is_done));
    EXPECT(milliseconds >= 0 && is_done);
    cf_stream handle = stream.release();
    EXPECT(handle && !stream.get());
    stream.reset(handle);
    EXPECT(STATUS(cf::check(cf_device_use(999))) == CF_ENODEV);
#ifndef CF_NO_EXCEPTIONS
    cf::pinned_buffer<double> pinned{cf::span<const double>(four)};
    EXPECT(pinned.size() == 4);
#endif
}

static void bundled()
{
    const std::vector<float> source{0, 10, 20, 30, 40};
    std::vector<std::int32_t> index{4, 0, 3};
    std::vector<float> res(3, -1);
    WORKS(cf::gather(source, index, res));
    EXPECT(res == std::vector<float>({40, 0, 30}));
    index[1] = 7;
    FAILS(cf::gather(source, index, res), CF_ERANGE, "cf_gather_f32_i32: index[1] = 7 is outside [0, 5)");
    res.pop_back();
    FAILS(cf::gather(source, index, res), CF_EINVAL, "cf_gather_f32_i32: res has 2 elements, instead of 3");
}

int main()
{
    axpy_of<float>(2);
    axpy_of<double>(3);
    axpy_of<int>(-4);
    axpy_of<unsigned int>(5);
    lengths();
    shapes();
    expressions();
    structs();
    runtime();
    bundled();
    return failures != 0;
}
