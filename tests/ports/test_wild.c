/* test_wild.c - the kernels of ports/wild, which are files like those of whole repositories, compared with plain
 * loops. */
#include "ports.h"

#include "wild_kernels.h"

PORT(blocks_add_products)
{
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

PORT(chips_warm_up)
{
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

PORT(samples_have_phases)
{
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

PORT(regions_have_greatest_values)
{
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

PORT(functors_change_elements)
{
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

PORT(counters_stay_on_the_device)
{
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

PORT(warps_add_rows)
{
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

PORT(instructions_of_ptx_compact_and_swap)
{
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

PORT(cells_live_and_values_are_counted)
{
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

/* ---- Photographs ---- */

static int clamp_int(int x, int least, int most)
{
    return x < least ? least : x > most ? most : x;
}

PORT(photographs_are_filtered)
{
    enum { W = 37, H = 21, RADIUS = 2, SIDE = 2 * RADIUS + 1 };
    float filter[SIDE][SIDE];
    RGB *colours = MAKE(RGB, W * H);
    uint8_t *grey = MAKE(uint8_t, W * H), *wanted_grey = MAKE(uint8_t, W * H);
    uint8_t *smooth = MAKE(uint8_t, W * H), *wanted = MAKE(uint8_t, 2 * W * H);
    cf_uchar4 *pixels = MAKE(cf_uchar4, W * H);
    for (int i = 0; i < SIDE * SIDE; i++) /* sums of these numbers are exact */
        filter[i / SIDE][i % SIDE] = (float)(i % 7 - 1) / 64;
    assert_ok(wild_set_filter((void *)filter));
    for (uint64_t i = 0; i < W * H; i++) {
        colours[i] = (RGB){(uint8_t)random_bits(1, i), (uint8_t)random_bits(2, i), (uint8_t)random_bits(3, i)};
        wanted_grey[i] = (uint8_t)((colours[i].r + 2 * colours[i].g + colours[i].b) / 4);
    }
    for (int i = 0; i < 2 * W * H; i++) {
        float sum = 0;
        for (int k = 0; k < SIDE * SIDE; k++) {
            int x = i % W + k % SIDE - RADIUS, y = i / W % H + k / SIDE - RADIUS;
            int inside = x == clamp_int(x, 0, W - 1) && y == clamp_int(y, 0, H - 1);
            if (inside || i < W * H)
                sum += filter[k / SIDE][k % SIDE] *
                       (float)wanted_grey[clamp_int(y, 0, H - 1) * W + clamp_int(x, 0, W - 1)];
        }
        wanted[i] = (uint8_t)fminf(fmaxf(sum, 0), 255);
    }
    EACH_WAY
    {
        RUN(wild_toGray, IN(colours), OUT(grey), W, H);
        assert_same(grey, wanted_grey, W * H);
        RUN(wild_convolve, IN(grey), OUT(smooth), W, H, BORDER_CLAMP);
        assert_same(smooth, wanted, W * H);
        RUN(wild_convolve, IN(grey), OUT(smooth), W, H, BORDER_ZERO);
        assert_same(smooth, wanted + W * H, W * H);
        for (int i = 0; i < W * H; i++)
            pixels[i] = (cf_uchar4){colours[i].r, colours[i].g, colours[i].b, (uint8_t)i};
        RUN(wild_brighten, INOUT(pixels), W * H, 70);
        for (int i = 0; i < W * H; i++) {
            assert_int_equal(pixels[i].x, clamp_int(colours[i].r + 70, 0, 255));
            assert_int_equal(pixels[i].y, clamp_int(colours[i].g + 70, 0, 255));
            assert_int_equal(pixels[i].z, abs(colours[i].b - 70));
            assert_int_equal(pixels[i].w, i % 256);
        }
    }
}

/* ---- Digests ---- */

static const uint32_t constants[8] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
                                      0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5};

static uint32_t rotated(uint32_t x)
{
    return x << 7 | x >> 25;
}

static void digest_block(uint32_t digest[4], const uint8_t data[64])
{
    uint32_t a = digest[0], b = digest[1], c = digest[2], d = digest[3];
    for (int i = 0; i < 16; i++) {
        uint32_t word = 0, turned = 0;
        for (int k = 0; k < 4; k++)
            word = word << 8 | data[4 * i + k];
        a = (a + word + constants[i % 8]) ^ rotated(b);
        b -= a;
        c = (c + d) ^ rotated(a);
        a -= c;
        for (int k = 0; k < 32; k++)
            turned |= (d >> k & 1) << (31 - k);
        d = turned ^ (uint32_t)(((uint64_t)c << 32 | a) << i >> 32);
    }
    digest[0] += a, digest[1] += b, digest[2] += c, digest[3] += d;
}

PORT(digests_and_nonces_are_found)
{
    enum { N = 50, LONGEST = 130 };
    static const int lengths[] = {0, 1, 63, 64, 65, LONGEST};
    uint8_t *texts = MAKE(uint8_t, N * LONGEST);
    uint32_t *digests = MAKE(uint32_t, N * 4), *wanted = MAKE(uint32_t, N * 4);
    unsigned long long *nonce = MAKE(unsigned long long, 1);
    assert_ok(wild_set_dev_k(constants));
    for (uint64_t i = 0; i < N * LONGEST; i++)
        texts[i] = (uint8_t)random_bits(1, i);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const int length = lengths[l];
        for (int i = 0; i < N; i++) {
            static const uint32_t begin[4] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a};
            memcpy(wanted + 4 * i, begin, sizeof begin);
            for (int at = 0; at <= length / 64 * 64; at += 64) {
                uint8_t data[64];
                for (int k = 0; k < 64; k++)
                    data[k] = at + k < length ? texts[i * length + at + k] : 0x80;
                digest_block(wanted + 4 * i, data);
            }
        }
        EACH_WAY
        {
            RUN(wild_hash_all, IN(texts), OUT(digests), N, length);
            assert_same(digests, wanted, N * 4);
        }
    }
    uint64_t best = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t x = 12345 + i;
        x = (x ^ x >> 33) * 0xff51afd7ed558ccd;
        if (((uint32_t)(x ^ x >> 33) & 0xff) == 0)
            best = i;
    }
    assert_true(best > 0);
    EACH_WAY
    {
        RUN(wild_search_nonce, OUT(nonce), 12345, 0xff, 5000);
        assert_int_equal(*nonce, best);
    }
}

/* ---- Prices ---- */

static double uniform(uint64_t *random)
{
    *random = *random * 6364136223846793005 + 1442695040888963407;
    return ((double)(*random >> 32) + 0.5) / 4294967296.0;
}

PORT(options_have_prices)
{
    enum { STEPS = 12, SEED = 99 };
    const double pi = acos(-1), step = (double)(0.5f / STEPS);
    EACH_SIZE(port_small_sizes, n)
    {
        double *prices = MAKE(double, n), *wanted = MAKE(double, n);
        for (int is_put = 0; is_put < 2; is_put++) {
            const struct mc_Option option = {.spot = 100,
                                             .strike = 95,
                                             .rate = 0.05,
                                             .volatility = 0.2,
                                             .years = 0.5f,
                                             .kind = is_put ? mc_Option_PUT : mc_Option_CALL};
            for (size_t i = 0; i < n; i++) {
                uint64_t random = (SEED + i) * 6364136223846793005 + 1442695040888963407;
                double price = 100;
                for (int s = 0; s < STEPS; s++) {
                    const double u = uniform(&random), angle = 2 * pi * uniform(&random);
                    price *= exp(0.03 * step + 0.2 * sqrt(step) * sqrt(-2 * log(u)) * cos(angle));
                }
                wanted[i] = exp(-0.05 * 0.5) * fmax(is_put ? 95 - price : price - 95, 0);
            }
            EACH_WAY
            {
                RUN(wild_simulate, OUT(prices), option, (int)n, STEPS, SEED);
                assert_near(prices, wanted, n, 1e-9);
            }
        }
        drop_arrays();
    }
}

/* ---- Halves ---- */

/* The numbers can be represented exactly, and none is subnormal. */
static uint16_t bits_of_half(double x)
{
    int exponent;
    const double fraction = frexp(fabs(x), &exponent);
    return (uint16_t)(x == 0 ? 0 : (x < 0) << 15 | (exponent + 14) << 10 | (int)(fraction * 2048 - 1024));
}

static double half_of_bits(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

PORT(halves_change)
{
    enum { N = 1024 };
    cf_half *x = MAKE(cf_half, N), *y = MAKE(cf_half, N);
    cf_bfloat16 *a = MAKE(cf_bfloat16, N), *b = MAKE(cf_bfloat16, N), *c = MAKE(cf_bfloat16, N);
    double *got = MAKE(double, N), *wanted = MAKE(double, N);
    for (int i = 0; i < N; i++) {
        const double number = (double)(i % 64 - 32) / 8;
        const float numbers[2] = {(float)(i % 17 - 8), (float)(i % 13 - 6)};
        uint32_t bits[2];
        memcpy(bits, numbers, sizeof bits);
        x[i].bits = bits_of_half(number);
        a[i].bits = (uint16_t)(bits[0] >> 16);
        b[i].bits = (uint16_t)(bits[1] >> 16);
        wanted[i] = 0.5 * number * (1 + tanh(0.79788456 * number));
    }
    EACH_WAY
    {
        RUN(wild_gelu_f16x8, IN(x), OUT(y), N);
        for (int i = 0; i < N; i++)
            got[i] = half_of_bits(y[i].bits);
        assert_near(got, wanted, N, 4e-3);
        RUN(wild_axpby_bf16, IN(a), IN(b), OUT(c), 0.5f, N);
        for (int i = 0; i < N; i++) {
            const uint32_t bits = (uint32_t)c[i].bits << 16;
            float sum;
            memcpy(&sum, &bits, sizeof sum);
            assert_true(sum == (float)(i % 17 - 8 + 2 * (i % 13 - 6)));
        }
    }
}

/* ---- Rows and elements ---- */

PORT(elements_change_and_rows_turn)
{
    EACH_SIZE(port_small_sizes, n)
    {
        float *x = random_floats(n * n, 1, -1, 1), *start = random_floats(n * n, 2, -1, 1), *y = MAKE(float, n *n);
        float *turned = MAKE(float, n *n);
        double *doubles = random_doubles(n, 3, -1, 1), *halves = MAKE(double, n);
        int *rows = random_ints(64 * n, 4, -999, 1000), *most = MAKE(int, n);
        EACH_WAY
        {
            RUN(wild_unary_relu, IN(x), OUT(y), n * n);
            for (size_t i = 0; i < n * n; i++)
                assert_true(y[i] == fmaxf(x[i], 0));
            memcpy(y, start, n * n * sizeof *y);
            RUN(wild_saxpy_kernel, 0.5f, IN(x), INOUT(y), n * n);
            RUN(wild_transpose_t32, IN(x), OUT(turned), (int)n);
            for (size_t i = 0; i < n * n; i++) {
                assert_true(is_near((double)y[i], 0.5 * (double)x[i] + (double)start[i], 1e-6));
                assert_true(turned[i] == x[i % n * n + i / n]);
            }
            RUN(wild_unary_half_of, IN(doubles), OUT(halves), n);
            RUN(wild_row_max_i32, IN(rows), OUT(most), (int)n);
            for (size_t i = 0; i < n; i++) {
                int wanted = rows[64 * i];
                for (int k = 1; k < 64; k++)
                    wanted = rows[64 * i + (size_t)k] > wanted ? rows[64 * i + (size_t)k] : wanted;
                assert_int_equal(most[i], wanted);
                assert_true(halves[i] == doubles[i] / 2);
            }
        }
        drop_arrays();
    }
}

PORT(a_sphere_is_seen)
{
    enum { W = 32, H = 16 };
    const struct Sphere spheres[8] = {[3] = {.r = 1, .b = 0.5f, .g = 0.25f, .radius = 6, .x = 1, .y = -9, .z = 2}};
    cf_uchar4 *image = MAKE(cf_uchar4, W * H);
    assert_ok(wild_set_s(spheres));
    EACH_WAY
    {
        RUN(wild_trace_spheres, OUT(image), W, H);
        for (int i = 0; i < W * H; i++) {
            int dx = i % W - 16 - 1, dy = i / W - 16 + 9;
            double light = dx * dx + dy * dy < 36 ? sqrt(36 - dx * dx - dy * dy) / 6 : 0;
            const int got[4] = {image[i].x, image[i].y, image[i].z, image[i].w};
            const double wanted[4] = {255 * light, 255 * light / 4, 255 * light / 2, 255};
            for (int k = 0; k < 4; k++)
                assert_true(fabs(got[k] - wanted[k]) <= 1);
        }
    }
}

PORT(shapes_have_their_areas)
{
    static const double weights[4] = {0.125, 0.375, 0.375, 0.125};
    static const int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
    EACH_SIZE(port_sizes, n)
    {
        float *x = random_floats(n, 1, 0, 8), *y = random_floats(n, 2, -12, 12), *got = MAKE(float, n);
        double *areas = MAKE(double, n), *products = MAKE(double, n), *sums = MAKE(double, n);
        for (size_t i = 0; i < n; i++) {
            int cell = (int)floorf(x[i]);
            double square = ((double)x[i] - cell) * ((double)x[i] - cell), circle = acos(-1) * square;
            areas[i] = weights[cell & 3] * (circle + square) + primes[cell & 7] + 3;
            products[i] = -(weights[cell & 3] * circle * square + primes[cell & 7] + 3);
            sums[i] = fmin(fmax((double)x[i] + (double)y[i], -8), 8);
        }
        EACH_WAY
        {
            RUN(wild_areas, IN(x), OUT(got), (int)n, mylib_Layout_RowMajor, mylib_Op_Add);
            assert_near(got, areas, n, 1e-5);
            RUN(wild_areas, IN(x), OUT(got), (int)n, mylib_Layout_ColMajor, mylib_Op_Mul);
            assert_near(got, products, n, 1e-5);
            RUN(wild_zip_kernel_add_f32, IN(x), IN(y), OUT(got), (int)n);
            assert_near(got, sums, n, 1e-6);
        }
        drop_arrays();
    }
}

PORT(loops_of_templates_are_unrolled)
{
    EACH_SIZE(((int[]){0, 4, 1020, 1024, 1028}), n)
    {
        int *x = random_ints(n, 1, -1000, 1000), *y = MAKE(int, n), *wanted = MAKE(int, n);
        for (size_t i = 0; i < n; i++)
            wanted[i] = 3 * x[i] + (i % 2 ? -3 : 3);
        EACH_WAY
        {
            RUN(wild_unrolled, IN(x), OUT(y), (unsigned)n);
            assert_same(y, wanted, n);
        }
        drop_arrays();
    }
}

int main(void)
{
    return run_ports(&wild_registry);
}
