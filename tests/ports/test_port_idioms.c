/* test_port_idioms.c - the kernels of ports/port_idioms.cu compared with plain loops. */
#include <limits.h>

#include "ports.h"

#include "port_idioms_kernels.h"

PORT(row_reduce_by_class_and_operation_is_right)
{
    enum { ROWS = 4 };
    EACH_SIZE(port_sizes, cols)
    {
        int *x = random_ints(ROWS * cols, 1, -1000, 1000), *y = MAKE(int, ROWS);
        unsigned char *xb = MAKE(unsigned char, ROWS *cols), *yb = MAKE(unsigned char, ROWS);
        int sums[ROWS] = {0}, greatest[ROWS], greatest_b[ROWS] = {0};
        for (size_t i = 0; i < ROWS; i++)
            greatest[i] = INT_MIN;
        for (size_t i = 0; i < ROWS * cols; i++) {
            size_t row = i / cols;
            xb[i] = (unsigned char)random_below(2, i, 200);
            sums[row] += x[i];
            greatest[row] = x[i] > greatest[row] ? x[i] : greatest[row];
            greatest_b[row] = xb[i] > greatest_b[row] ? xb[i] : greatest_b[row];
        }
        EACH_WAY
        {
            RUN(port_idioms_row_reduce_sum_i32, IN(x), OUT(y), ROWS, (int)cols);
            assert_same(y, sums, ROWS);
            RUN(port_idioms_row_reduce_max_i32, IN(x), OUT(y), ROWS, (int)cols);
            assert_same(y, greatest, ROWS);
            RUN(port_idioms_row_reduce_max_u8, IN(xb), OUT(yb), ROWS, (int)cols);
            assert_same(yb, greatest_b, ROWS);
        }
        drop_arrays();
    }
}

PORT(two_phases_share_their_memory)
{
    EACH_SIZE(port_sizes, n)
    {
        int *x = random_ints(n, 1, INT_MIN, INT_MAX);
        long long *y = MAKE(long long, n), *wanted = MAKE(long long, n);
        for (size_t i = 0; i < n; i++) {
            size_t begin = i / 128 * 128, count = n - begin < 128 ? n - begin : 128, t = i - begin;
            wanted[i] = (long long)x[begin + count - 1 - t] + (t + 1 < count ? x[begin + count - 2 - t] : 0);
        }
        EACH_WAY
        {
            RUN(port_idioms_two_phases, IN(x), OUT(y), (int)n);
            assert_same(y, wanted, n);
        }
        drop_arrays();
    }
}

PORT(odd_even_sort_takes_the_rounds_that_it_needs)
{
    EACH_SIZE(port_sizes, n)
    {
        size_t blocks = (n + 63) / 64;
        short *x = MAKE(short, n), *wanted = MAKE(short, n);
        int *rounds = MAKE(int, blocks), *wanted_rounds = MAKE(int, blocks);
        for (size_t i = 0; i < n; i++)
            wanted[i] = (short)random_integer(i / 64 % 2 ? 0 : n, i / 64 % 2 ? i / 64 : i, -9999, 9999);
        for (size_t b = 0; b < blocks; b++) {
            size_t count = n - 64 * b < 64 ? n - 64 * b : 64;
            for (int has_moved = 1; has_moved; wanted_rounds[b]++) {
                has_moved = 0;
                for (size_t parity = 0; parity < 2; parity++)
                    for (size_t t = parity; t + 1 < count; t += 2) {
                        short *pair = &wanted[64 * b + t], kept = pair[0];
                        if (pair[0] > pair[1]) {
                            pair[0] = pair[1];
                            pair[1] = kept;
                            has_moved = 1;
                        }
                    }
            }
        }
        EACH_WAY
        {
            for (size_t i = 0; i < n; i++)
                x[i] = (short)random_integer(i / 64 % 2 ? 0 : n, i / 64 % 2 ? i / 64 : i, -9999, 9999);
            RUN(port_idioms_odd_even_sort, INOUT(x), OUT(rounds), (int)n);
            assert_same(x, wanted, n);
            assert_same(rounds, wanted_rounds, blocks);
        }
        drop_arrays();
    }
}

PORT(tridiagonal_systems_are_solved)
{
    enum { SYSTEMS = 3 };
    EACH_SIZE(((int[]){1, 2, 3, 31, 32, 33, 100, 511, 512}), n)
    {
        size_t count = SYSTEMS * n;
        double *a = random_doubles(count, 1, -1, 1), *b = random_doubles(count, 2, 0, 1),
               *c = random_doubles(count, 3, -1, 1), *d = random_doubles(count, 4, -1, 1), *x = MAKE(double, count),
               *residual = MAKE(double, count);
        EACH_WAY
        {
            RUN(port_idioms_tridiagonal, IN(a), IN(b), IN(c), IN(d), OUT(x), SYSTEMS, (int)n);
            for (size_t i = 0; i < count; i++)
                residual[i] = (i % n ? a[i] * x[i - 1] : 0) + (b[i] + 4) * x[i] + (i % n < n - 1 ? c[i] * x[i + 1] : 0);
            assert_near(residual, d, count, 1e-12);
        }
        drop_arrays();
    }
    double x[513] = {0}, y[513];
    assert_fails(port_idioms_tridiagonal(x, x, x, x, y, 1, 513), CF_EINVAL, "n <= 512");
}

static int expect_score(const char *a, const char *b, int m)
{
    int table[101][101] = {{0}}, best = 0;
    for (int i = 1; i <= m; i++)
        for (int j = 1; j <= m; j++) {
            int value = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 3 : -2);
            int gap = (table[i - 1][j] > table[i][j - 1] ? table[i - 1][j] : table[i][j - 1]) - 2;
            value = value > gap ? value : gap;
            table[i][j] = value > 0 ? value : 0;
            best = table[i][j] > best ? table[i][j] : best;
        }
    return best;
}

PORT(align_scores_as_the_whole_table_does)
{
    EACH_SIZE(((int[]){0, 1, 2, 20}), pairs)
    {
        char *a = MAKE(char, 100 * pairs), *b = MAKE(char, 100 * pairs);
        int *score = MAKE(int, pairs), *wanted = MAKE(int, pairs), *wanted_32 = MAKE(int, pairs);
        for (size_t i = 0; i < 100 * pairs; i++) {
            a[i] = "acgt"[random_below(1, i, 4)];
            b[i] = i % 7 ? a[i] : "acgt"[random_below(2, i, 4)];
        }
        for (size_t p = 0; p < pairs; p++) {
            wanted[p] = expect_score(a + 100 * p, b + 100 * p, 100);
            wanted_32[p] = expect_score(a + 32 * p, b + 32 * p, 32);
        }
        EACH_WAY
        {
            RUN(port_idioms_align_m100, IN(a), IN(b), OUT(score), (int)pairs);
            assert_same(score, wanted, pairs);
            RUN(port_idioms_align_m32, IN(a), IN(b), OUT(score), (int)pairs);
            assert_same(score, wanted_32, pairs);
        }
        drop_arrays();
    }
}

static int expect_call(int what, int x)
{
    int steps = 0;
    if (what == 0 || what == 1)
        return what == 0 ? 2 * (x & 0xffff) : -(x & 0xffff);
    if (what == 3)
        return 2 * (x & 3) + 3; /* Ackermann's function for the first argument 2 */
    for (x &= 0xffff; x > 1; steps++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    return steps;
}

PORT(dispatch_calls_itself_and_by_pointer)
{
    EACH_SIZE(port_sizes, n)
    {
        unsigned char *what = MAKE(unsigned char, n);
        int *x = MAKE(int, n), *wanted = MAKE(int, n);
        for (size_t i = 0; i < n; i++) {
            what[i] = (unsigned char)random_below(1, i, 4);
            wanted[i] = expect_call(what[i], (int)random_below(2, i, 1 << 20));
        }
        EACH_WAY
        {
            for (size_t i = 0; i < n; i++)
                x[i] = (int)random_below(2, i, 1 << 20);
            RUN(port_idioms_dispatch, IN(what), INOUT(x), (int)n);
            assert_same(x, wanted, n);
        }
        drop_arrays();
    }
}

PORT(hash_count_counts_each_key_in_one_slot)
{
    EACH_SIZE(port_sizes, n)
    {
        int bits = 0;
        while ((size_t)1 << bits < n / 2)
            bits++;
        size_t slots = (size_t)1 << bits, used = 0;
        unsigned long long *key = MAKE(unsigned long long, n), *keys = MAKE(unsigned long long, slots);
        unsigned int *counts = MAKE(unsigned int, slots), total = 0;
        int *slot = MAKE(int, n);
        for (size_t i = 0; i < n; i++)
            key[i] = random_bits(3, random_below(1, i, n / 2 + 2));
        EACH_WAY
        {
            memset(keys, 0xff, slots * sizeof *keys);
            memset(counts, 0, slots * sizeof *counts);
            RUN(port_idioms_hash_count, IN(key), INOUT(keys), INOUT(counts), OUT(slot), bits, (int)n);
            used = total = 0;
            for (size_t s = 0; s < slots; s++) {
                unsigned int in_slot = 0, in_all = 0;
                for (size_t i = 0; i < n; i++) {
                    in_slot += slot[i] == (int)s;
                    in_all += key[i] == keys[s];
                }
                assert_int_equal(counts[s], in_slot);
                assert_int_equal(counts[s], counts[s] ? in_all : 0);
                used += counts[s] != 0;
                total += counts[s];
            }
            for (size_t i = 0; i < n; i++) {
                assert_in_range(slot[i] + 1, 0, slots);
                assert_true(slot[i] >= 0 || used == slots); /* a key is refused only if the table is full */
                total += slot[i] < 0;
            }
            assert_int_equal(total, n);
        }
        drop_arrays();
    }
}

PORT(checksums_are_those_of_zlib)
{
    static const char digits[] = "123456789";
    uint32_t known = 0;
    assert_ok(port_idioms_checksums((const uint8_t *)digits, &known, 1, 9));
    assert_int_equal(known, 0xcbf43926);
    EACH_SIZE(((int[]){0, 1, 31, 95, 96, 97, 200}), n)
    for (size_t length = 0; length < 40; length += 13) {
        uint8_t *message = MAKE(uint8_t, n * length);
        uint32_t *crc = MAKE(uint32_t, n), *wanted = MAKE(uint32_t, n);
        for (size_t i = 0; i < n * length; i++)
            message[i] = (uint8_t)random_bits(1, i);
        for (size_t i = 0; i < n; i++) {
            uint32_t c = UINT32_MAX;
            for (size_t bit = 0; bit < 8 * length; bit++) {
                c ^= message[i * length + bit / 8] >> bit % 8 & 1;
                c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
            }
            wanted[i] = ~c;
        }
        EACH_WAY
        {
            RUN(port_idioms_checksums, IN(message), OUT(crc), (int)n, (int)length);
            assert_same(crc, wanted, n);
        }
        drop_arrays();
    }
}

static int compare_bytes(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

PORT(median_of_each_neighbourhood_is_right)
{
    EACH_SIZE(port_small_sizes, width)
    EACH_SIZE(((int[]){0, 1, 2, 3, 16, 17}), height)
    {
        unsigned char *from = MAKE(unsigned char, width *height), *to = MAKE(unsigned char, width *height),
                      *wanted = MAKE(unsigned char, width *height), v[9];
        for (size_t i = 0; i < width * height; i++)
            wanted[i] = from[i] = (unsigned char)random_below(width, i, 255);
        for (size_t y = 1; y + 1 < height; y++)
            for (size_t x = 1; x + 1 < width; x++) {
                for (size_t i = 0; i < 9; i++)
                    v[i] = from[(y + i / 3 - 1) * width + x + i % 3 - 1];
                qsort(v, 9, 1, compare_bytes);
                wanted[y * width + x] = v[4];
            }
        EACH_WAY
        {
            RUN(port_idioms_median, IN(from), OUT(to), (int)width, (int)height);
            assert_same(to, wanted, width * height);
        }
        drop_arrays();
    }
}

PORT(floyd_warshall_rounds_find_all_paths)
{
    EACH_SIZE(((int[]){1, 2, 15, 16, 17, 40}), n)
    {
        int *edges = random_ints(n * n, n, 1, 1000), *d = MAKE(int, n *n), *wanted = MAKE(int, n *n);
        for (size_t i = 0; i < n; i++)
            edges[i * n + i] = 0;
        memcpy(wanted, edges, n * n * sizeof *edges);
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < n * n; i++) {
                int through = wanted[i / n * n + k] + wanted[k * n + i % n];
                wanted[i] = through < wanted[i] ? through : wanted[i];
            }
        EACH_WAY
        {
            memcpy(d, edges, n * n * sizeof *edges);
            for (int k = 0; k < (int)n; k++)
                RUN(port_idioms_floyd_warshall, INOUT(d), (int)n, k);
            assert_same(d, wanted, n * n);
        }
        drop_arrays();
    }
}

PORT(dot_bytes_of_rows_equals_a_loop)
{
    EACH_SIZE(((int[]){0, 1, 3, 4, 5, 7, 8, 9, 100}), rows)
    EACH_SIZE(((int[]){0, 1, 7, 8, 9, 50}), words)
    {
        int *a = random_ints(rows * words, 1, INT_MIN, INT_MAX), *x = random_ints(words, 2, INT_MIN, INT_MAX);
        int *y = MAKE(int, rows), *wanted = MAKE(int, rows);
        const signed char *ab = (const signed char *)a, *xb = (const signed char *)x;
        for (size_t i = 0; i < 4 * rows * words; i++)
            wanted[i / (4 * words)] += ab[i] * xb[i % (4 * words)];
        EACH_WAY
        {
            RUN(port_idioms_dot_bytes, IN(a), IN(x), OUT(y), (int)rows, (int)words);
            assert_same(y, wanted, rows);
        }
        drop_arrays();
    }
}

PORT(dct8_equals_the_double_sum)
{
    EACH_SIZE(((int[]){0, 1, 2, 3, 11}), count)
    {
        float *pixels = random_floats(64 * count, 1, 0, 255), *result = MAKE(float, 64 * count);
        double *wanted = MAKE(double, 64 * count);
        for (size_t i = 0; i < 64 * count; i++)
            for (size_t j = 0; j < 64; j++) {
                double u = (double)(i % 8), v = (double)(i / 8 % 8), pi = 3.14159265358979323846;
                wanted[i] += (double)pixels[i / 64 * 64 + j] * cos((2 * (double)(j % 8) + 1) * u * pi / 16) *
                             cos((2 * (double)(j / 8) + 1) * v * pi / 16) * (u > 0 ? 0.5 : sqrt(0.125)) *
                             (v > 0 ? 0.5 : sqrt(0.125));
            }
        EACH_WAY
        {
            RUN(port_idioms_dct8, IN(pixels), OUT(result), (int)count);
            for (size_t i = 0; i < 64 * count; i++)
                assert_true(fabs((double)result[i] - wanted[i]) < 1e-3);
        }
        drop_arrays();
    }
}

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

PORT(philox_gives_the_published_numbers)
{
    EACH_SIZE(port_sizes, n)
    {
        uint32_t *numbers = MAKE(uint32_t, 4 * n), *wanted = MAKE(uint32_t, 4 * n);
        const uint64_t seed = n % 2 ? 0 : UINT64_C(0x123456789abcdef0);
        for (size_t i = 0; i < n; i++)
            expect_philox(i, seed, wanted + 4 * i);
        EACH_WAY
        {
            RUN(port_idioms_philox, OUT(numbers), seed, (int64_t)n);
            assert_same(numbers, wanted, 4 * n);
            if (n == 1) { /* the authors' published numbers for counter 0 and key 0 */
                static const uint32_t known[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
                assert_same(numbers, known, 4);
            }
        }
        drop_arrays();
    }
}

int main(void)
{
    return run_ports(&port_idioms_registry);
}
