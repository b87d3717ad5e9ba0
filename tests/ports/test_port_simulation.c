/* test_port_simulation.c - the kernels of ports/port_simulation.cu compared with plain loops. */
#include "ports.h"

#include "port_simulation_kernels.h"

#define PI 3.14159265358979323846

/* ---- Bodies ---- */

static void nbody_pulls_as_two_loops_do(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){0, 1, 2, 31, 32, 33, 63, 64, 65, 200}), n)
    {
        float *bodies = random_floats(4 * n, 1, -1, 1), *pull = MAKE(float, 3 * n);
        double *wanted = MAKE(double, 3 * n);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double d[3], squared = 0.25;
                for (size_t k = 0; k < 3; k++) {
                    d[k] = (double)bodies[4 * j + k] - (double)bodies[4 * i + k];
                    squared += d[k] * d[k];
                }
                for (size_t k = 0; k < 3; k++)
                    wanted[3 * i + k] += d[k] * (double)bodies[4 * j + 3] / (squared * sqrt(squared));
            }
        EACH_WAY
        {
            RUN(port_simulation_nbody, IN(bodies), OUT(pull), 0.25f, (int)n);
            assert_near(pull, wanted, 3 * n, 1e-4);
        }
        drop_arrays();
    }
}

/* ---- Options ---- */

static void black_scholes_prices_agree_with_libm(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){0, 1, 127, 128, 129, 1000, 10000}), n)
    {
        double *price = random_doubles(n, 1, 5, 30), *strike = random_doubles(n, 2, 1, 100);
        double *years = random_doubles(n, 3, 0.25, 10), *call = MAKE(double, n), *put = MAKE(double, n);
        double *wanted_call = MAKE(double, n), *wanted_put = MAKE(double, n);
        for (size_t i = 0; i < n; i++) {
            double s = price[i] + 1, x = strike[i] + 1, t = years[i] + 0.25;
            double d1 = (log(s / x) + (0.02 + 0.045) * t) / (0.3 * sqrt(t)), d2 = d1 - 0.3 * sqrt(t);
            double paid = x * exp(-0.02 * t);
            wanted_call[i] = s * 0.5 * erfc(-d1 / sqrt(2)) - paid * 0.5 * erfc(-d2 / sqrt(2));
            wanted_put[i] = paid * 0.5 * erfc(d2 / sqrt(2)) - s * 0.5 * erfc(d1 / sqrt(2));
        }
        EACH_WAY
        {
            RUN(port_simulation_black_scholes, IN(price), IN(strike), IN(years), OUT(call), OUT(put), 0.02, 0.3,
                (int)n);
            assert_near(call, wanted_call, n, 1e-10);
            assert_near(put, wanted_put, n, 1e-10);
        }
        drop_arrays();
    }
}

/* ---- Fourier transform ---- */

static void fft_steps_transform_as_the_sum_does(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 512; n *= 2) {
        float *x = random_floats(2 * n, 1, -1, 1), *a = MAKE(float, 2 * n), *b = MAKE(float, 2 * n);
        double *wanted = MAKE(double, 2 * n);
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < n; i++) {
                double angle = -2 * PI * (double)(k * i % n) / (double)n;
                double re = (double)x[2 * i], im = (double)x[2 * i + 1];
                wanted[2 * k] += re * cos(angle) - im * sin(angle);
                wanted[2 * k + 1] += re * sin(angle) + im * cos(angle);
            }
        EACH_WAY
        {
            memcpy(a, x, 2 * n * sizeof *x);
            for (size_t width = 1; width < n; width *= 2) {
                RUN(port_simulation_fft_step, IN(a), OUT(b), (int)n, (int)width);
                memcpy(a, b, 2 * n * sizeof *x);
            }
            assert_near(a, wanted, 2 * n, 1e-4);
        }
        drop_arrays();
    }
    float x[8] = {0}, y[8];
    assert_fails(port_simulation_fft_step((void *)x, (void *)y, 4, 4), CF_EINVAL, "width < n");
    assert_fails(port_simulation_fft_step((void *)x, (void *)y, 3, 1), CF_EINVAL, "n % (2 * width) == 0");
}

/* ---- Mandelbrot ---- */

static int count_steps(double left, double top, int limit)
{
    volatile double x = 0, y = 0, xx = 0, yy = 0, sum = 0; /* volatile rounds each operation */
    int count = 0;
    while (count < limit && sum <= 4) {
        volatile double twice = x + x, product = twice * y, difference = xx - yy;
        y = product + top;
        x = difference + left;
        xx = x * x;
        yy = y * y;
        sum = xx + yy;
        count++;
    }
    return count;
}

static void mandelbrot_counts_the_same_steps(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){0, 1, 15, 16, 17, 64}), width)
    EACH_SIZE(((int[]){0, 1, 7, 8, 9, 40}), height)
    {
        enum { LIMIT = 200 };
        const double left = -2, top = -1.25, pixel = 0.0625;
        unsigned short *steps = MAKE(unsigned short, width *height);
        int *wanted = MAKE(int, width *height);
        for (size_t i = 0; i < width * height; i++)
            wanted[i] = count_steps(left + (double)(i % width) * pixel, top + (double)(i / width) * pixel, LIMIT);
        EACH_WAY
        {
            RUN(port_simulation_mandelbrot, OUT(steps), left, top, pixel, (int)width, (int)height, LIMIT);
            assert_same(steps, wanted, width * height);
        }
        drop_arrays();
    }
}

/* ---- Clusters ---- */

static int nearest_centre(const float *points, const float *centres, size_t i, size_t n, size_t k, size_t dims)
{
    int best = 0;
    float least = HUGE_VALF;
    for (size_t c = 0; c < k; c++) {
        float squared = 0;
        for (size_t d = 0; d < dims; d++) {
            volatile float delta = points[d * n + i] - centres[c * dims + d];
            squared = fmaf(delta, delta, squared);
        }
        if (squared < least) {
            least = squared;
            best = (int)c;
        }
    }
    return best;
}

static void kmeans_step_adds_up_the_nearest(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        size_t k = n % 7 + 1, dims = n % 5 + 1;
        float *points = random_floats(n * dims, 1, -1, 1), *centres = random_floats(k * dims, 2, -1, 1);
        float *sums = MAKE(float, k *dims);
        int *nearest = MAKE(int, n), *wanted = MAKE(int, n);
        unsigned int *counts = MAKE(unsigned int, k), *wanted_counts = MAKE(unsigned int, k);
        double *wanted_sums = MAKE(double, k *dims);
        for (size_t i = 0; i < n; i++) {
            wanted[i] = nearest_centre(points, centres, i, n, k, dims);
            wanted_counts[wanted[i]]++;
            for (size_t d = 0; d < dims; d++)
                wanted_sums[(size_t)wanted[i] * dims + d] += (double)points[d * n + i];
        }
        EACH_WAY
        {
            memset(sums, 0, k * dims * sizeof *sums);
            memset(counts, 0, k * sizeof *counts);
            RUN(port_simulation_kmeans_step, IN(points), IN(centres), OUT(nearest), INOUT(sums), INOUT(counts), (int)n,
                (int)k, (int)dims);
            assert_same(nearest, wanted, n);
            assert_same(counts, wanted_counts, k);
            assert_near(sums, wanted_sums, k * dims, 1e-3);
        }
        drop_arrays();
    }
}

/* ---- Random numbers ---- */

static void expect_philox(uint64_t i, uint64_t seed, uint32_t c[4])
{
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    c[0] = (uint32_t)i, c[1] = (uint32_t)(i >> 32), c[2] = c[3] = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t p = UINT64_C(0xd2511f53) * c[0], q = UINT64_C(0xcd9e8d57) * c[2];
        uint32_t next[4] = {(uint32_t)(q >> 32) ^ c[1] ^ key[0], (uint32_t)q, (uint32_t)(p >> 32) ^ c[3] ^ key[1],
                            (uint32_t)p};
        memcpy(c, next, sizeof next);
        key[0] += 0x9e3779b9;
        key[1] += 0xbb67ae85;
    }
}

static void philox_gives_the_published_numbers(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        uint32_t *numbers = MAKE(uint32_t, 4 * n), *wanted = MAKE(uint32_t, 4 * n);
        const uint64_t seed = n % 2 ? 0 : UINT64_C(0x123456789abcdef0);
        for (size_t i = 0; i < n; i++)
            expect_philox(i, seed, wanted + 4 * i);
        EACH_WAY
        {
            RUN(port_simulation_philox, OUT(numbers), seed, (int64_t)n);
            assert_same(numbers, wanted, 4 * n);
            if (n == 1) { /* for counter 0 and key 0, as published by the authors */
                static const uint32_t known[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
                assert_same(numbers, known, 4);
            }
        }
        drop_arrays();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PORT(nbody_pulls_as_two_loops_do),         PORT(black_scholes_prices_agree_with_libm),
        PORT(fft_steps_transform_as_the_sum_does), PORT(mandelbrot_counts_the_same_steps),
        PORT(kmeans_step_adds_up_the_nearest),     PORT(philox_gives_the_published_numbers),
    };
    return RUN_PORTS(port_simulation_registry, tests);
}
