/* test_wild.c - the kernels of ports/wild, files in the shapes of whole repositories, compared with plain loops. */
#include "ports.h"

#include "wild_kernels.h"

static void heat_spreads_in_a_square(void **state)
{
    (void)state;
    enum { D = 64 };
    float *from = random_floats(D * D, 1, 0, 1), *fixed = MAKE(float, D *D), *to = MAKE(float, D *D);
    float *heated = MAKE(float, D *D);
    double *wanted = MAKE(double, D *D);
    for (int i = 0; i < D * D; i++) {
        int x = i % D, y = i / D;
        fixed[i] = i % 7 ? 0 : 0.75f;
        wanted[i] = from[i] + 0.25 * ((double)from[y ? i - D : i] + from[y < D - 1 ? i + D : i] + from[x ? i - 1 : i] +
                                      from[x < D - 1 ? i + 1 : i] - 4.0 * from[i]);
    }
    EACH_WAY
    {
        RUN(wild_blend_kernel, OUT(to), IN(from));
        assert_near(to, wanted, D * D, 1e-5);
        memcpy(heated, from, D * D * sizeof *from);
        RUN(wild_copy_const_kernel, INOUT(heated), IN(fixed));
        for (int i = 0; i < D * D; i++)
            assert_true(heated[i] == (fixed[i] != 0 ? fixed[i] : from[i]));
    }
}

static void blocks_add_products(void **state)
{
    (void)state;
    enum { N = 33 * 1024, BLOCKS = 32 };
    float *a = random_floats(N, 1, 0, 1), *b = random_floats(N, 2, 0, 1), *c = MAKE(float, BLOCKS);
    double wanted[BLOCKS] = {0};
    for (int i = 0; i < N; i++)
        wanted[i / 256 % BLOCKS] += (double)a[i] * b[i];
    EACH_WAY
    {
        RUN(wild_dot, IN(a), IN(b), OUT(c));
        assert_near(c, wanted, BLOCKS, 1e-4);
    }
}

static void chips_warm_up(void **state)
{
    (void)state;
    enum { W = 37, H = 21 };
    float *power = random_floats(W * H, 1, 0, 1), *from = random_floats(W * H, 2, 70, 90), *to = MAKE(float, W *H);
    double *wanted = MAKE(double, W *H);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double own = from[y * W + x];
            double north = from[(y ? y - 1 : y) * W + x], south = from[(y < H - 1 ? y + 1 : y) * W + x];
            double west = from[y * W + (x ? x - 1 : x)], east = from[y * W + (x < W - 1 ? x + 1 : x)];
            wanted[y * W + x] = own + 0.125 * (power[y * W + x] + (north + south - 2 * own) / 2 +
                                               (west + east - 2 * own) / 4 + (80 - own) / 8);
        }
    EACH_WAY
    {
        RUN(wild_calculate_temp, 1, IN(power), IN(from), OUT(to), W, H, 1, 1, 4, 4, 2, 8, 0.5f);
        assert_near(to, wanted, W * H, 1e-5);
    }
}

static void samples_have_phases(void **state)
{
    (void)state;
    enum { K = 9, N = 512 };
    float *x = random_floats(N, 1, -1, 1), *y = random_floats(N, 2, -1, 1), *z = random_floats(N, 3, -1, 1);
    float *re = MAKE(float, N), *im = MAKE(float, N), *phi = MAKE(float, N);
    double *wanted_re = MAKE(double, N), *wanted_im = MAKE(double, N), *wanted_phi = MAKE(double, N);
    static struct kValues k[512];
    for (uint64_t i = 0; i < K; i++)
        k[i] = (struct kValues){random_f32(4, i), random_f32(5, i), random_f32(6, i), 0.5f};
    assert_ok(wild_set_ck(k));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < K; j++) {
            double phase = 2 * acos(-1) * ((double)k[j].Kx * x[i] + (double)k[j].Ky * y[i] + (double)k[j].Kz * z[i]);
            wanted_re[i] += 0.5 * cos(phase);
            wanted_im[i] += 0.5 * sin(phase);
        }
        wanted_phi[i] = (double)x[i] * x[i] + (double)y[i] * y[i];
    }
    EACH_WAY
    {
        memset(re, 0, N * sizeof *re);
        memset(im, 0, N * sizeof *im);
        RUN(wild_compute_q, K, 0, IN(x), IN(y), IN(z), INOUT(re), INOUT(im), N);
        assert_near(re, wanted_re, N, 1e-4);
        assert_near(im, wanted_im, N, 1e-4);
        RUN(wild_compute_phi, IN(x), IN(y), OUT(phi), N);
        assert_near(phi, wanted_phi, N, 1e-5);
    }
}

static void matrices_are_multiplied(void **state)
{
    (void)state;
    enum { M = 64, N = 128, K = 40 };
    float *a = random_floats(M * K, 1, -1, 1), *b = random_floats(K * N, 2, -1, 1), *c = MAKE(float, M *N);
    double *wanted = MAKE(double, M *N);
    for (int i = 0; i < M * N; i++) {
        wanted[i] = 3;
        for (int k = 0; k < K; k++)
            wanted[i] += 0.5 * a[i / N * K + k] * b[k * N + i % N];
    }
    EACH_WAY
    {
        for (int i = 0; i < M * N; i++)
            c[i] = 1.5f;
        RUN(wild_sgemmVectorize_t64, M, N, K, 0.5f, IN(a), IN(b), 2, INOUT(c));
        assert_near(c, wanted, M * N, 1e-4);
    }
}

static void regions_have_greatest_values(void **state)
{
    (void)state;
    enum { CHANNELS = 3, PIXELS = 24, POOLED = 4, ROIS = 5, N = ROIS * CHANNELS * POOLED };
    double *input = random_doubles(CHANNELS * PIXELS, 1, -1, 1), *output = MAKE(double, N), *wanted = MAKE(double, N);
    int *rois = random_ints(2 * ROIS, 2, 0, PIXELS + 1), *most = MAKE(int, N), *wanted_most = MAKE(int, N);
    for (int i = 0; i < N; i++) {
        int start = rois[i / POOLED / CHANNELS * 2], end = rois[i / POOLED / CHANNELS * 2 + 1];
        end = end > start ? end : start;
        int bin = (end - start + POOLED - 1) / POOLED, first = start + i % POOLED * bin, last = first + bin;
        first = first < end ? first : end;
        last = last < end ? last : end;
        const double *channel = input + i / POOLED % CHANNELS * PIXELS;
        wanted_most[i] = -1;
        for (int p = first; p < last; p++)
            if (wanted_most[i] < 0 || channel[p] > channel[wanted_most[i]])
                wanted_most[i] = p;
        wanted[i] = 1 / (1 + exp(wanted_most[i] < 0 ? 0 : -channel[wanted_most[i]]));
    }
    EACH_WAY
    {
        RUN(wild_roi_pool_forward_kernel_f64, N, IN(input), IN(rois), OUT(output), OUT(most), CHANNELS, 4, 6, POOLED);
        assert_near(output, wanted, N, 1e-12);
        assert_same(most, wanted_most, N);
    }
}

static void functors_change_elements(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        int *data = random_ints(n, 1, -9, 19), *powers = MAKE(int, n), *wanted = MAKE(int, n);
        unsigned *count = MAKE(unsigned, 2), even = 0;
        int32_t *negative = MAKE(int32_t, n), *changed = MAKE(int32_t, n);
        for (size_t i = 0; i < n; i++) {
            even += data[i] % 2 == 0;
            wanted[i] = data[i] * data[i] * data[i] * data[i];
        }
        EACH_WAY
        {
            memcpy(powers, data, n * sizeof *data);
            RUN(wild_fourth_powers_i32, INOUT(powers), (long long)n);
            assert_same(powers, wanted, n);
            count[0] = count[1] = 0;
            RUN(wild_count_even, IN(data), INOUT(count), (int)n);
            assert_int_equal(count[0], even);
            assert_int_equal(count[1], n - even);
            RUN(wild_zip_kernel_mul_i32, IN(data), IN(data), OUT(changed), (int)n);
            RUN(wild_unary_neg, IN(data), OUT(negative), n);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(changed[i], data[i] * data[i] > 8 ? 8 : data[i] * data[i]);
                assert_int_equal(negative[i], -data[i]);
            }
        }
        drop_arrays();
    }
}

static void counters_stay_on_the_device(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        int *start = random_ints(n, 1, 0, 1000), *data = MAKE(int, n), *wanted = MAKE(int, n);
        unsigned *count = MAKE(unsigned, 1), even = 0;
        for (size_t i = 0; i < n; i++) {
            wanted[i] = start[i] + (int)i;
            even += wanted[i] % 2 == 0;
        }
        EACH_WAY
        {
            memcpy(data, start, n * sizeof *data);
            RUN(wild_add_counts, INOUT(data), (int)n);
            assert_same(data, wanted, n);
            RUN(wild_read_and_clear_count, INOUT(count));
            assert_int_equal(*count, even);
            RUN(wild_later, INOUT(data), (int)n);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(data[i], (int)(3 * i) + 2 * wanted[i]);
        }
        drop_arrays();
    }
}

static void warps_add_rows(void **state)
{
    (void)state;
    enum { ROWS = 3 };
    EACH_SIZE(port_small_sizes, n)
    {
        double *x = random_doubles(n, 2, 0, 1), *sums = MAKE(double, (n + 31) / 32), *wanted_sums = MAKE(double, n);
        float *in = random_floats(ROWS * n, 1, 0, 1), *out = MAKE(float, ROWS);
        double wanted[ROWS] = {0};
        for (size_t i = 0; i < ROWS * n; i++)
            wanted[i / n] += in[i];
        for (size_t i = 0; i < n; i++)
            wanted_sums[i / 32] += x[i];
        EACH_WAY
        {
            RUN(wild_row_sums, IN(in), OUT(out), ROWS, (int)n);
            assert_near(out, wanted, ROWS, 1e-4);
            RUN(wild_tile_sums, IN(x), OUT(sums), (int)n);
            assert_near(sums, wanted_sums, (n + 31) / 32, 1e-12);
        }
        drop_arrays();
    }
}

static void instructions_of_ptx_compact_and_swap(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        int *x = random_ints(n, 1, -9, 10), *kept = MAKE(int, n), *total = MAKE(int, 1), positive = 0, wanted[10] = {0};
        uint32_t *words = MAKE(uint32_t, n), *digits = MAKE(uint32_t, n), *wanted_digits = MAKE(uint32_t, n);
        for (size_t i = 0; i < n; i++) {
            positive += x[i] > 0;
            wanted[x[i] > 0 ? x[i] : 0]++;
            words[i] = (uint32_t)random_bits(2, i);
            uint32_t swapped = 0, bits = 0;
            for (int k = 0; k < 32; k++) {
                swapped |= (words[i] >> k & 1) << (24 - k / 8 * 8 + k % 8);
                bits += words[i] >> k & 1;
            }
            wanted_digits[i] = (swapped >> 11 & 0xff) + (bits << 16);
        }
        EACH_WAY
        {
            *total = 0;
            RUN(wild_compact, IN(x), INOUT(kept), INOUT(total), (int)n);
            assert_int_equal(*total, positive);
            int found[10] = {(int)n - positive};
            for (int i = 0; i < positive; i++)
                found[kept[i]]++;
            assert_same(found, wanted, 10);
            RUN(wild_digits, IN(words), OUT(digits), (int)n, 11);
            assert_same(digits, wanted_digits, n);
        }
        drop_arrays();
    }
}

static void cells_live_and_values_are_counted(void **state)
{
    (void)state;
    enum { W = 19, H = 13, BINS = 10 };
    uint8_t *from = MAKE(uint8_t, W * H), *to = MAKE(uint8_t, W * H), *wanted = MAKE(uint8_t, W * H);
    uint32_t *values = MAKE(uint32_t, W * H), *bins = MAKE(uint32_t, BINS), wanted_bins[BINS] = {0};
    for (uint64_t i = 0; i < W * H; i++) {
        from[i] = (uint8_t)random_below(1, i, 2);
        values[i] = (uint32_t)random_below(2, i, 1000);
        wanted_bins[values[i] % BINS]++;
    }
    for (int i = 0; i < W * H; i++) {
        int alive = -from[i];
        for (int k = 0; k < 9; k++)
            alive += from[(i / W + H + k / 3 - 1) % H * W + (i % W + W + k % 3 - 1) % W];
        wanted[i] = alive == 3 || (alive == 2 && from[i]);
    }
    EACH_WAY
    {
        RUN(wild_simpleLifeKernel, IN(from), W, H, OUT(to));
        assert_same(to, wanted, W * H);
        memset(bins, 0, BINS * sizeof *bins);
        RUN(wild_histogram, IN(values), INOUT(bins), W * H, BINS);
        assert_same(bins, wanted_bins, BINS);
    }
}

static void sums_come_from_the_last_block(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        double *x = random_doubles(n, 1, 0, 1), *result = MAKE(double, 2), wanted[2] = {0};
        for (size_t i = 0; i < n; i++) {
            wanted[0] += x[i];
            wanted[1] = fmax(wanted[1], x[i]);
        }
        EACH_WAY
        {
            for (int use_atomics = 0; use_atomics < 2; use_atomics++) {
                result[0] = result[1] = 0;
                RUN(wild_sumAndMax, IN(x), INOUT(result), (int)n, use_atomics);
                assert_near(result, wanted, 2, 1e-9);
            }
        }
        drop_arrays();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PORT(heat_spreads_in_a_square),
        PORT(blocks_add_products),
        PORT(chips_warm_up),
        PORT(samples_have_phases),
        PORT(matrices_are_multiplied),
        PORT(regions_have_greatest_values),
        PORT(functors_change_elements),
        PORT(counters_stay_on_the_device),
        PORT(warps_add_rows),
        PORT(instructions_of_ptx_compact_and_swap),
        PORT(cells_live_and_values_are_counted),
        PORT(sums_come_from_the_last_block),
    };
    return RUN_PORTS(wild_registry, tests);
}
