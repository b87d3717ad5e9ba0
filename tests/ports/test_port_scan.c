/* test_port_scan.c - the kernels of ports/port_scan.cu compared with plain loops. */

#include "ports.h"

#include "port_scan_kernels.h"

static void blelloch_and_add_before_scan_any_length(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000, 20000, 65536}), n)
    {
        size_t blocks = (n + 255) / 256;
        unsigned int *x = MAKE(unsigned int, n), *y = MAKE(unsigned int, n), *sums = MAKE(unsigned int, blocks),
                     *before = MAKE(unsigned int, blocks), *total = MAKE(unsigned int, 1),
                     *wanted = MAKE(unsigned int, n);
        unsigned int sum = 0;
        for (size_t i = 0; i < n; i++) {
            x[i] = (unsigned int)random_bits(1, i);
            wanted[i] = sum;
            sum += x[i];
        }
        EACH_WAY
        {
            RUN(port_scan_blelloch, IN(x), OUT(y), OUT(sums), (int)n);
            RUN(port_scan_blelloch, IN(sums), OUT(before), OUT(total), (int)blocks);
            RUN(port_scan_add_before, IN(before), INOUT(y), (int)n);
            assert_same(y, wanted, n);
            if (n)
                assert_int_equal(*total, sum);
        }
        drop_arrays();
    }
}

static void warp_scan_of_rows_equals_a_loop(void **state)
{
    (void)state;
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
            RUN(port_scan_warp_scan_i64, IN(x), OUT(y), ROWS, (int)cols);
            assert_same(y, wanted, count);
            RUN(port_scan_warp_scan_f32, IN(xf), OUT(yf), ROWS, (int)cols);
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
    for (int is_active = 0; is_active < 2; is_active++)
        EACH_WAY
        {
            *count = 0;
            for (size_t i = 0; i < n; i++)
                kept[i] = -77;
            if (is_active)
                RUN(port_scan_compact_active, IN(x), INOUT(kept), INOUT(count), limit, (int)n);
            else
                RUN(port_scan_compact, IN(x), INOUT(kept), INOUT(count), limit, (int)n);
            assert_int_equal(*count, wanted_count);
            qsort(kept, wanted_count, sizeof *kept, compare_ints);
            assert_same(kept, wanted, n);
        }
    drop_arrays();
}

static void compact_keeps_each_element_once(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        check_compact(n, 0);
        check_compact(n, -51);
        check_compact(n, 45);
        check_compact(n, 50);
    }
}

/* ---- Sorting and counting ---- */

static void sort_stretches(void *x, size_t n, size_t stretch, int (*compare)(const void *, const void *))
{
    for (size_t i = 0; i < n; i += stretch)
        qsort((char *)x + 4 * i, n - i < stretch ? n - i : stretch, 4, compare);
}

static void bitonic_sort_sorts_each_stretch(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        int *x = random_ints(n, n, -1000, 1000), *y = MAKE(int, n), *wanted = MAKE(int, n);
        int *wanted_64 = MAKE(int, n);
        float *xf = random_floats(n, n, -1, 1), *yf = MAKE(float, n), *wanted_f = MAKE(float, n);
        memcpy(wanted, x, n * 4);
        memcpy(wanted_64, x, n * 4);
        memcpy(wanted_f, xf, n * 4);
        sort_stretches(wanted, n, 1024, compare_ints);
        sort_stretches(wanted_64, n, 64, compare_ints);
        sort_stretches(wanted_f, n, 256, compare_floats);
        EACH_WAY
        {
            memcpy(y, x, n * 4);
            RUN(port_scan_bitonic_sort_i32_1024, INOUT(y), (int64_t)n);
            assert_same(y, wanted, n);
            memcpy(y, x, n * 4);
            RUN(port_scan_bitonic_sort_i32_64, INOUT(y), (int64_t)n);
            assert_same(y, wanted_64, n);
            memcpy(yf, xf, n * 4);
            RUN(port_scan_bitonic_sort_f32_256, INOUT(yf), (int64_t)n);
            assert_near(yf, wanted_f, n, 0);
        }
        drop_arrays();
    }
}

static void histogram_of_even_and_skewed_bytes_is_right(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    for (unsigned int span = 1; span <= 256; span *= 16) {
        uint8_t *bytes = MAKE(uint8_t, n);
        unsigned int *bins = MAKE(unsigned int, 256), wanted[256];
        for (size_t b = 0; b < 256; b++)
            wanted[b] = (unsigned int)b;
        for (size_t i = 0; i < n; i++)
            wanted[bytes[i] = (uint8_t)random_below(span, i, span)]++;
        EACH_WAY
        {
            for (size_t b = 0; b < 256; b++)
                bins[b] = (unsigned int)b;
            RUN(port_scan_histogram, IN(bytes), INOUT(bins), n);
            assert_same(bins, wanted, 256);
        }
        drop_arrays();
    }
}

static void digit_count_ranks_the_equal_keys_of_a_warp(void **state)
{
    (void)state;
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
            RUN(port_scan_digit_count, IN(keys), OUT(counts), OUT(ranks), shift, (int)n);
            assert_same(counts, wanted, 16 * blocks);
            assert_same(ranks, wanted_ranks, n);
        }
        drop_arrays();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PORT(blelloch_and_add_before_scan_any_length),
        PORT(warp_scan_of_rows_equals_a_loop),
        PORT(compact_keeps_each_element_once),
        PORT(bitonic_sort_sorts_each_stretch),
        PORT(histogram_of_even_and_skewed_bytes_is_right),
        PORT(digit_count_ranks_the_equal_keys_of_a_warp),
    };
    return RUN_PORTS(port_scan_registry, tests);
}
