/* test_port_reduce.c - the kernels of ports/port_reduce.cu compared with plain loops. */

#include "ports.h"

#include "port_reduce_kernels.h"

/* ---- Trees ---- */

/* Sums sections of 512 elements with a loop. */
#define EXPECT_STRETCHES(type, x, n, wanted)                              \
    for (size_t b_ = 0; b_ < ((n) + 511) / 512; b_++) {                   \
        type sum_ = 0;                                                    \
        for (size_t i_ = 512 * b_; i_ < (n) && i_ < 512 * b_ + 512; i_++) \
            sum_ += (type)(x)[i_];                                        \
        (wanted)[b_] = sum_;                                              \
    }

static void tree_sum_of_any_size_equals_a_loop(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        size_t blocks = (n + 511) / 512;
        float *xf = random_floats(n, 1, -1, 1), *sf = MAKE(float, blocks);
        double *xd = random_doubles(n, 2, -1, 1), *sd = MAKE(double, blocks), *wanted = MAKE(double, blocks);
        int *xi = random_ints(n, 3, -1000, 1000), *si = MAKE(int, blocks), *wanted_i = MAKE(int, blocks);
        unsigned long long *xu = MAKE(unsigned long long, n), *su = MAKE(unsigned long long, blocks),
                           *wanted_u = MAKE(unsigned long long, blocks);
        for (size_t i = 0; i < n; i++)
            xu[i] = random_bits(4, i); /* sums wrap around */
        EXPECT_STRETCHES(int, xi, n, wanted_i)
        EXPECT_STRETCHES(unsigned long long, xu, n, wanted_u)
        EACH_WAY
        {
            RUN(port_reduce_tree_sum_f32, IN(xf), OUT(sf), (int)n);
            EXPECT_STRETCHES(double, xf, n, wanted)
            assert_near(sf, wanted, blocks, 1e-5);
            RUN(port_reduce_tree_sum_f64, IN(xd), OUT(sd), (int)n);
            EXPECT_STRETCHES(double, xd, n, wanted)
            assert_near(sd, wanted, blocks, 1e-13);
            RUN(port_reduce_tree_sum_i32, IN(xi), OUT(si), (int)n);
            assert_same(si, wanted_i, blocks);
            RUN(port_reduce_tree_sum_u64, IN(xu), OUT(su), (int)n);
            assert_same(su, wanted_u, blocks);
        }
        drop_arrays();
    }
}

/* ---- Warps and last blocks ---- */

static void warp_dot_adds_to_what_is_there(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        float *x = random_floats(n, 1, -1, 1), *y = random_floats(n, 2, -1, 1), *dot = MAKE(float, 1);
        double *xd = random_doubles(n, 3, -1, 1), *yd = random_doubles(n, 4, -1, 1), *dot_d = MAKE(double, 1);
        double wanted = 3, wanted_d = -5;
        for (size_t i = 0; i < n; i++) {
            wanted += (double)x[i] * (double)y[i];
            wanted_d += xd[i] * yd[i];
        }
        EACH_WAY
        {
            *dot = 3;
            *dot_d = -5;
            RUN(port_reduce_warp_dot_f32, IN(x), IN(y), INOUT(dot), (int64_t)n);
            assert_near(dot, &wanted, 1, 1e-4);
            RUN(port_reduce_warp_dot_f64, IN(xd), IN(yd), INOUT(dot_d), (int64_t)n);
            assert_near(dot_d, &wanted_d, 1, 1e-12);
        }
        drop_arrays();
    }
}

static void last_block_sum_is_right_launch_after_launch(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){0, 1, 255, 256, 257, 1023, 1024, 1025, 5000, 100000}), n)
    {
        float *x = random_floats(n, 1, -1, 1), *sum = MAKE(float, 1);
        double wanted = 0;
        for (size_t i = 0; i < n; i++)
            wanted += (double)x[i];
        EACH_WAY
        {
            RUN(port_reduce_last_block_sum, IN(x), OUT(sum), (unsigned int)n);
            assert_near(sum, &wanted, 1, 1e-3);
        }
        drop_arrays();
    }
}

/* ---- Rows and segments ---- */

static void row_argmin_gives_the_first_of_equal_ones(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){1, 2, 31, 32, 33, 63, 64, 65, 300}), cols)
    {
        enum { ROWS = 9 };
        float *x = MAKE(float, ROWS *cols);
        int *place = MAKE(int, ROWS), wanted[ROWS] = {0};
        for (size_t i = 0; i < ROWS * cols; i++)
            x[i] = (float)random_integer(cols, i, -20, 20);
        for (size_t row = 0; row < ROWS; row++)
            for (size_t i = 0; i < cols; i++)
                if (x[row * cols + i] < x[row * cols + (size_t)wanted[row]])
                    wanted[row] = (int)i;
        EACH_WAY
        {
            RUN(port_reduce_row_argmin, IN(x), OUT(place), ROWS, (int)cols);
            assert_same(place, wanted, ROWS);
        }
        drop_arrays();
    }
    float x = 0;
    int place = 7;
    assert_fails(port_reduce_row_argmin(&x, &place, 1, 0), CF_EINVAL, "cols > 0");
    assert_int_equal(place, 7);
}

static void segment_sum_of_uneven_segments_equals_a_loop(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){0, 1, 3, 4, 5, 31, 100}), segments)
    {
        size_t n = 0;
        int *begins = MAKE(int, segments + 1);
        for (size_t s = 0; s < segments; s++)
            begins[s + 1] = (int)(n += random_below(segments, s, s % 3 ? 90 : 2));
        double *x = random_doubles(n, 1, -1, 1), *sums = MAKE(double, segments), *wanted = MAKE(double, segments);
        for (size_t s = 0; s < segments; s++)
            for (int i = begins[s]; i < begins[s + 1]; i++)
                wanted[s] += x[i];
        EACH_WAY
        {
            RUN(port_reduce_segment_sum, IN(x), IN(begins), OUT(sums), (int)segments, (int)n);
            assert_near(sums, wanted, segments, 1e-12);
        }
        if (segments > 1) { /* checks fail before anything is written */
            begins[1] = (int)n + 1;
            assert_fails(port_reduce_segment_sum(x, begins, sums, (int)segments, (int)n), CF_ERANGE, "begins[1]");
            assert_near(sums, wanted, segments, 1e-12);
        }
        drop_arrays();
    }
}

/* ---- Monte Carlo ---- */

static unsigned long long count_hits(uint64_t seed, int throws)
{
    uint32_t w[4];
    unsigned long long hits = 0;
    for (int i = 0; i < 4; i++) {
        seed += 0x9e3779b97f4a7c15u;
        w[i] = (uint32_t)((seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u >> 32) | 1;
    }
    for (int i = 0; i < throws; i++) {
        float point[2];
        for (int p = 0; p < 2; p++) {
            uint32_t t = w[3] ^ w[3] << 11;
            w[3] = w[2], w[2] = w[1], w[1] = w[0];
            w[0] = w[0] ^ w[0] >> 19 ^ t ^ t >> 8;
            point[p] = (float)(w[0] >> 8) * 0x1p-24f;
        }
        volatile float x = point[0] * point[0], y = point[1] * point[1], sum = x + y;
        hits += sum <= 1;
    }
    return hits;
}

static void monte_carlo_pi_counts_the_same_points(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){0, 1, 127, 128, 129, 1000}), threads)
    {
        enum { THROWS = 100 };
        unsigned long long *hits = MAKE(unsigned long long, 1), wanted = 11;
        for (size_t t = 0; t < threads; t++)
            wanted += count_hits(99 + t * 0x632be59bd9b4e019u, THROWS);
        EACH_WAY
        {
            *hits = 11;
            RUN(port_reduce_monte_carlo_pi, INOUT(hits), 99, THROWS, (int)threads);
            assert_same(hits, &wanted, 1);
        }
        if (threads == 1000)
            assert_true(fabs(4.0 * (double)(*hits - 11) / (1000.0 * THROWS) - 3.14159) < 0.03);
        drop_arrays();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PORT(tree_sum_of_any_size_equals_a_loop),           PORT(warp_dot_adds_to_what_is_there),
        PORT(last_block_sum_is_right_launch_after_launch),  PORT(row_argmin_gives_the_first_of_equal_ones),
        PORT(segment_sum_of_uneven_segments_equals_a_loop), PORT(monte_carlo_pi_counts_the_same_points),
    };
    return RUN_PORTS(port_reduce_registry, tests);
}
