/* test_port_reduce.c - the kernels of ports/port_reduce.cu compared with plain loops. */
#include "ports.h"

#include "port_reduce_kernels.h"

/* ---- Warps ---- */

PORT(warp_dot_and_count_add_to_what_is_there)
{
    EACH_SIZE(port_sizes, n)
    {
        float *x = random_floats(n, 1, -1, 1), *y = random_floats(n, 2, -1, 1), *dot = MAKE(float, 1);
        double *xd = random_doubles(n, 3, -1, 1), *yd = random_doubles(n, 4, -1, 1), *dot_d = MAKE(double, 1);
        unsigned int *count = MAKE(unsigned int, 1), wanted_count = 7;
        double wanted = 3, wanted_d = -5;
        for (size_t i = 0; i < n; i++) {
            wanted_count += x[i] > 0;
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
            *count = 7;
            RUN(port_reduce_count_positive, IN(x), INOUT(count), (int)n);
            assert_same(count, &wanted_count, 1);
        }
        drop_arrays();
    }
}

/* ---- Rows and segments ---- */

PORT(row_argmin_gives_the_first_of_equal_ones)
{
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

PORT(segment_sum_of_uneven_segments_equals_a_loop)
{
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
        if (segments > 1) { /* the checks fail before the kernel writes anything */
            begins[1] = (int)n + 1;
            assert_fails(port_reduce_segment_sum(x, begins, sums, (int)segments, (int)n), CF_ERANGE, "begins[1]");
            assert_near(sums, wanted, segments, 1e-12);
        }
        drop_arrays();
    }
}

PORT(warp_scan_of_rows_equals_a_loop)
{
    EACH_SIZE(port_sizes, cols)
    {
        enum { ROWS = 3 };
        size_t count = ROWS * cols;
        int64_t *x = MAKE(int64_t, count), *y = MAKE(int64_t, count), *wanted = MAKE(int64_t, count);
        float *xf = random_floats(count, 2, 0, 1), *yf = MAKE(float, count);
        double *wanted_f = MAKE(double, count);
        for (size_t i = 0; i < count; i++) {
            x[i] = random_integer(1, i, INT32_MIN, INT32_MAX) * 65536;
            wanted[i] = x[i] + (i % cols ? wanted[i - 1] : 0);
            wanted_f[i] = (double)xf[i] + (i % cols ? wanted_f[i - 1] : 0);
        }
        EACH_WAY
        {
            RUN(port_reduce_warp_scan_i64, IN(x), OUT(y), ROWS, (int)cols);
            assert_same(y, wanted, count);
            RUN(port_reduce_warp_scan_f32, IN(xf), OUT(yf), ROWS, (int)cols);
            assert_near(yf, wanted_f, count, 1e-5);
        }
        drop_arrays();
    }
}

/* ---- Compaction ---- */

static void check_compact(size_t n, int limit)
{
    int *x = random_ints(n, n, -50, 50), *kept = MAKE(int, n), *wanted = MAKE(int, n);
    unsigned int *count = MAKE(unsigned int, 1), wanted_count = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] > limit)
            wanted[wanted_count++] = x[i];
    for (size_t i = wanted_count; i < n; i++)
        wanted[i] = -77;
    qsort(wanted, wanted_count, sizeof *wanted, compare_ints);
    EACH_WAY
    {
        *count = 0;
        for (size_t i = 0; i < n; i++)
            kept[i] = -77;
        RUN(port_reduce_compact_active, IN(x), INOUT(kept), INOUT(count), limit, (int)n);
        assert_int_equal(*count, wanted_count);
        qsort(kept, wanted_count, sizeof *kept, compare_ints);
        assert_same(kept, wanted, n);
    }
    drop_arrays();
}

PORT(compact_keeps_each_element_once)
{
    EACH_SIZE(port_sizes, n)
    {
        check_compact(n, 0);
        check_compact(n, -51);
        check_compact(n, 45);
        check_compact(n, 50);
    }
}

/* ---- Digits ---- */

PORT(digit_count_ranks_the_equal_keys_of_a_warp)
{
    EACH_SIZE(port_sizes, n)
    {
        size_t blocks = (n + 127) / 128;
        const int shift = 8;
        uint32_t *keys = MAKE(uint32_t, n);
        unsigned int *counts = MAKE(unsigned int, 16 * blocks), *ranks = MAKE(unsigned int, n),
                     *wanted = MAKE(unsigned int, 16 * blocks), *wanted_ranks = MAKE(unsigned int, n);
        for (size_t i = 0; i < n; i++) {
            keys[i] = (uint32_t)random_bits(5, i);
            wanted[i / 128 * 16 + (keys[i] >> shift & 15)]++;
            for (size_t j = i / 32 * 32; j < i; j++)
                wanted_ranks[i] += (keys[j] >> shift & 15) == (keys[i] >> shift & 15);
        }
        EACH_WAY
        {
            RUN(port_reduce_digit_count, IN(keys), OUT(counts), OUT(ranks), shift, (int)n);
            assert_same(counts, wanted, 16 * blocks);
            assert_same(ranks, wanted_ranks, n);
        }
        drop_arrays();
    }
}

int main(void)
{
    return run_ports(&port_reduce_registry);
}
