/* test_samples.c - the kernels of ports/samples, which are files like vendors' samples, compared with plain loops. */
#include "ports.h"

#include "samples_kernels.h"

PORT(blocks_are_reduced)
{
    enum { BLOCKS = 3 };
    EACH_SIZE(port_sizes, n)
    {
        int *x = random_ints(n, 1, -1000, 1000), *sums = MAKE(int, BLOCKS);
        double *xd = random_doubles(1024, 2, -1, 1), *sums_d = MAKE(double, BLOCKS), wanted_d = 0;
        int wanted = 0;
        for (size_t i = 0; i < n; i++)
            wanted += x[i];
        for (size_t i = 0; i < 1024; i++)
            wanted_d += xd[i];
        EACH_WAY
        {
            RUN(samples_reduce_i32, IN(x), OUT(sums), (unsigned)n, BLOCKS);
            assert_int_equal(sums[0] + sums[1] + sums[2], wanted);
            RUN(samples_reduce_f64, IN(xd), OUT(sums_d), 1024, BLOCKS);
            double got = sums_d[0] + sums_d[1] + sums_d[2];
            assert_near(&got, &wanted_d, 1, 1e-12);
        }
        drop_arrays();
    }
}

PORT(rows_are_convolved)
{
    enum { WIDTH = 256, HEIGHT = 12, RADIUS = 8 };
    float weights[2 * RADIUS + 1];
    for (int j = 0; j <= 2 * RADIUS; j++)
        weights[j] = random_f32(3, (uint64_t)j);
    float *x = random_floats(WIDTH * HEIGHT, 1, -1, 1);
    float *y = MAKE(float, WIDTH *HEIGHT), *wanted = MAKE(float, WIDTH *HEIGHT);
    for (int row = 0; row < HEIGHT; row++)
        for (int i = 0; i < WIDTH; i++)
            for (int j = -RADIUS; j <= RADIUS; j++)
                if (i + j >= 0 && i + j < WIDTH)
                    wanted[row * WIDTH + i] += weights[RADIUS - j] * x[row * WIDTH + i + j];
    assert_ok(samples_set_c_Kernel(weights));
    EACH_WAY
    {
        RUN(samples_convolutionRowsKernel, OUT(y), IN(x), WIDTH, HEIGHT, WIDTH);
        assert_near(y, wanted, WIDTH * HEIGHT, 1e-5);
    }
}

static double normal(double d)
{
    return 0.5 * erfc(-d / sqrt(2.0));
}

PORT(options_have_their_prices)
{
    enum { N = 1000 };
    const double riskfree = 0.02, volatility = 0.3;
    float *price = random_floats(N, 1, 5, 30), *strike = random_floats(N, 2, 1, 100);
    float *years = random_floats(N, 3, 0.25f, 10), *call = MAKE(float, N), *put = MAKE(float, N);
    double *call_wanted = MAKE(double, N), *put_wanted = MAKE(double, N);
    for (int i = 0; i < N; i++) {
        double root = sqrt(years[i]),
               d1 = log(price[i] / strike[i]) + (riskfree + 0.5 * volatility * volatility) * years[i];
        d1 /= volatility * root;
        double d2 = d1 - volatility * root, discounted = strike[i] * exp(-riskfree * years[i]);
        call_wanted[i] = price[i] * normal(d1) - discounted * normal(d2);
        put_wanted[i] = discounted * (1 - normal(d2)) - price[i] * (1 - normal(d1));
    }
    EACH_WAY
    {
        RUN(samples_BlackScholesGPU, OUT(call), OUT(put), IN(price), IN(strike), IN(years), (float)riskfree,
            (float)volatility, N);
        assert_near(call, call_wanted, N, 1e-4);
        assert_near(put, put_wanted, N, 1e-4);
    }
}

PORT(bodies_attract_one_another)
{
    enum { N = 192 };
    const double softening = 0.01, step = 0.016f, damping = 0.995f;
    double *at = random_doubles(4 * N, 1, -1, 1), *speed = random_doubles(4 * N, 2, -1, 1),
           *moved = MAKE(double, 4 * N);
    double *moved_wanted = MAKE(double, 4 * N), *start = MAKE(double, 4 * N);
    memcpy(start, speed, 4 * N * sizeof *speed);
    for (int i = 0; i < N; i++) {
        double pull[3] = {0};
        for (int j = 0; j < N; j++) {
            double r[3], square = softening;
            for (int k = 0; k < 3; k++) {
                r[k] = at[4 * j + k] - at[4 * i + k];
                square += r[k] * r[k];
            }
            for (int k = 0; k < 3; k++)
                pull[k] += r[k] * fabs(at[4 * j + 3]) / (square * sqrt(square));
        }
        for (int k = 0; k < 3; k++)
            moved_wanted[4 * i + k] = at[4 * i + k] + (start[4 * i + k] + pull[k] * step) * damping * step;
        moved_wanted[4 * i + 3] = fabs(at[4 * i + 3]);
    }
    for (int i = 0; i < N; i++)
        at[4 * i + 3] = fabs(at[4 * i + 3]);
    assert_ok(samples_set_softeningSquared_fp64(softening));
    EACH_WAY
    {
        memcpy(speed, start, 4 * N * sizeof *speed);
        RUN(samples_integrateBodies_f64, OUT(moved), IN(at), INOUT(speed), (float)step, (float)damping, N / 64, N);
        assert_near(moved, moved_wanted, 4 * N, 1e-9);
    }
    assert_int_equal(samples_integrateBodies_f64((void *)moved, (void *)at, (void *)speed, 0, 0, 2, N), CF_EINVAL);
    drop_arrays();
    float *at_f = random_floats(4 * N, 1, 0, 1), *speed_f = MAKE(float, 4 * N), *moved_f = MAKE(float, 4 * N);
    assert_ok(samples_set_softeningSquared((float)softening));
    EACH_WAY
    {
        RUN(samples_integrateBodies_f32, OUT(moved_f), IN(at_f), INOUT(speed_f), 0, 0, N / 64, N);
        assert_near(moved_f, at_f, 4 * N, 0); /* a time step of 0 */
    }
}

PORT(the_mandelbrot_set_has_its_colours)
{
    enum { WIDTH = 70, HEIGHT = 33, MOST = 64 };
    cf_uchar4 *image = MAKE(cf_uchar4, WIDTH * HEIGHT), *wanted = MAKE(cf_uchar4, WIDTH * HEIGHT);
    for (int row = 0; row < HEIGHT; row++)
        for (int column = 0; column < WIDTH; column++) {
            double a = column * 0.03125 - 1.5, b = row * 0.03125 - 0.5, x = 0, y = 0;
            int i = MOST;
            while (--i && x * x + y * y < 4) {
                double next = x * x - y * y + a;
                y = y * x * 2 + b;
                x = next;
            }
            int m = i > 0 ? MOST - i : 0;
            wanted[row * WIDTH + column] =
                (cf_uchar4){(unsigned char)(m * 3), (unsigned char)(m * 5), (unsigned char)(m * 7), 0};
        }
    EACH_WAY
    {
        RUN(samples_Mandelbrot0_f64, OUT(image), WIDTH, HEIGHT, MOST, -1.5, -0.5, 0.03125, ((cf_uchar4){3, 5, 7, 0}));
        int different = 0; /* rounding may move points across the edge of the set */
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            different += memcmp(&image[i], &wanted[i], sizeof *image) != 0;
        assert_in_range(different, 0, 8);
        RUN(samples_Mandelbrot0_f32, OUT(image), WIDTH, HEIGHT, MOST, -1.5f, -0.5f, 0.03125f,
            ((cf_uchar4){3, 5, 7, 0}));
        different = 0;
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            different += memcmp(&image[i], &wanted[i], sizeof *image) != 0;
        assert_in_range(different, 0, 40);
    }
}

static int compare_uints(const void *a, const void *b)
{
    unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    return (left > right) - (left < right);
}

PORT(pieces_are_sorted_with_their_values)
{
    enum { PIECES = 3, LENGTH = 256, N = PIECES * LENGTH };
    unsigned *keys = MAKE(unsigned, N), *values = MAKE(unsigned, N), *sorted = MAKE(unsigned, N);
    unsigned *moved = MAKE(unsigned, N), *wanted = MAKE(unsigned, N);
    for (unsigned i = 0; i < N; i++) {
        wanted[i] = keys[i] = (unsigned)random_integer(1, i, 0, 500);
        values[i] = i;
    }
    for (int piece = 0; piece < PIECES; piece++)
        qsort(wanted + piece * LENGTH, LENGTH, sizeof *wanted, compare_uints);
    EACH_WAY
    {
        RUN(samples_bitonicSortShared, OUT(sorted), OUT(moved), IN(keys), IN(values), LENGTH, 1, PIECES);
        assert_same(sorted, wanted, N);
        for (int i = 0; i < N; i++) {
            assert_true(moved[i] / LENGTH == (unsigned)i / LENGTH);
            assert_int_equal(keys[moved[i]], sorted[i]);
        }
    }
    assert_int_equal(samples_bitonicSortShared(sorted, moved, keys, values, 128, 1, PIECES), CF_EINVAL);
}

PORT(particles_move_and_have_cells)
{
    EACH_SIZE(port_small_sizes, n)
    {
        Particle *p = MAKE(Particle, n), *start = MAKE(Particle, n);
        struct SimParams box = {.gridSize = {64, 64, 64},
                                .numCells = 64 * 64 * 64,
                                .worldOrigin = {-1, -1, -1},
                                .cellSize = {0.03125f, 0.03125f, 0.03125f},
                                .gravity = {0, -0.5f, 0},
                                .globalDamping = 1,
                                .particleRadius = 0.015625f,
                                .boundaryDamping = -0.5f};
        for (size_t i = 0; i < n; i++) {
            start[i].at = (cf_float3){random_f32(1, i), random_f32(2, i) - 0.9f, random_f32(3, i)};
            start[i].speed = (cf_float3){random_f32(4, i), -random_f32(5, i), random_f32(6, i)};
            start[i].alive = (int)i;
        }
        EACH_WAY
        {
            memcpy(p, start, n * sizeof *p);
            RUN(samples_integrate, INOUT(p), box, 0.125f, (unsigned)n);
            for (size_t i = 0; i < n; i++) {
                float at[3] = {start[i].at.x + start[i].speed.x * 0.125f,
                               start[i].at.y + (start[i].speed.y - 0.0625f) * 0.125f,
                               start[i].at.z + start[i].speed.z * 0.125f};
                int is_below = at[1] < -1 + box.particleRadius;
                float at_y = is_below ? -1 + box.particleRadius : at[1];
                float speed_y = (start[i].speed.y - 0.0625f) * (is_below ? -0.5f : 1);
                assert_near(&p[i].at.x, &at[0], 1, 1e-6);
                assert_near(&p[i].at.y, &at_y, 1, 1e-6);
                assert_near(&p[i].speed.y, &speed_y, 1, 1e-6);
                int cell[3] = {(int)floorf((p[i].at.x + 1) / 0.03125f), (int)floorf((p[i].at.y + 1) / 0.03125f),
                               (int)floorf((p[i].at.z + 1) / 0.03125f)};
                assert_int_equal(p[i].cell, ((cell[2] & 63) * 64 + (cell[1] & 63)) * 64 + (cell[0] & 63));
                assert_int_equal(p[i].alive, i);
            }
        }
        drop_arrays();
    }
}

PORT(matrices_are_multiplied)
{
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
        RUN(samples_sgemmVectorize_t64, M, N, K, 0.5f, IN(a), IN(b), 2, INOUT(c));
        assert_near(c, wanted, M * N, 1e-4);
    }
}

PORT(matrices_of_structs_are_multiplied)
{
    enum { M = 32, N = 48, K = 16 };
    Matrix a = {K, M, K, NULL}, b = {N, K, N, NULL}, c = {N, M, N, NULL};
    float *x = random_floats(M * K, 1, -1, 1), *y = random_floats(K * N, 2, -1, 1), *product = MAKE(float, M *N);
    double *wanted = MAKE(double, M *N);
    for (int i = 0; i < M * N; i++)
        for (int k = 0; k < K; k++)
            wanted[i] += (double)x[i / N * K + k] * y[k * N + i % N];
    assert_ok(cf_mem_alloc((void **)&a.elements, M * K * sizeof *x));
    assert_ok(cf_mem_alloc((void **)&b.elements, K * N * sizeof *y));
    assert_ok(cf_mem_alloc((void **)&c.elements, M * N * sizeof *product));
    assert_ok(cf_mem_copy(a.elements, x, M * K * sizeof *x));
    assert_ok(cf_mem_copy(b.elements, y, K * N * sizeof *y));
    EACH_WAY
    {
        assert_ok(cf_mem_fill(c.elements, 0xff, M * N * sizeof *product));
        RUN(samples_MatMulKernel, a, b, c);
        assert_ok(cf_mem_copy(product, c.elements, M * N * sizeof *product));
        assert_near(product, wanted, M * N, 1e-5);
    }
    assert_ok(cf_mem_free(a.elements));
    assert_ok(cf_mem_free(b.elements));
    assert_ok(cf_mem_free(c.elements));
    b.height++;
    assert_int_equal(samples_MatMulKernel(a, b, c), CF_EINVAL);
}

int main(void)
{
    return run_ports(&samples_registry);
}
