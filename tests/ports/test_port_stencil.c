/* test_port_stencil.c - the kernels of ports/port_stencil.cu compared with plain loops. */
#include "ports.h"

#include "port_stencil_kernels.h"

static const int widths[] = {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100};
static const int heights[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33};

/* ---- Heat ---- */

static void heat_of_padded_rows_equals_a_loop(void **state)
{
    (void)state;
    EACH_SIZE(widths, nx)
    EACH_SIZE(heights, ny)
    {
        size_t ld = nx + nx % 3;
        float *u = random_floats(ld * ny, 1, -1, 1), *v = MAKE(float, ld *ny);
        double *wanted = MAKE(double, ld *ny);
        for (size_t y = 0; y < ny; y++)
            for (size_t x = 0; x < nx; x++) {
                const float *at = u + y * ld + x;
                int is_rim = x == 0 || y == 0 || x == nx - 1 || y == ny - 1;
                wanted[y * ld + x] = (double)*at;
                if (!is_rim)
                    wanted[y * ld + x] +=
                        0.1 * ((double)at[-1] + (double)at[1] + (double)*(at - ld) + (double)at[ld] - 4 * (double)*at);
            }
        EACH_WAY
        {
            RUN(port_stencil_heat, IN(u), OUT(v), 0.1f, (int)nx, (int)ny, (int)ld);
            for (size_t y = 0; y < ny; y++) {
                assert_near(v + y * ld, wanted + y * ld, nx, 1e-6);
                for (size_t x = nx; x < ld; x++)
                    assert_true(isnan(v[y * ld + x])); /* the padding is unchanged */
            }
        }
        drop_arrays();
    }
}

/* ---- Boxes ---- */

static void expect_laplace(const double *u, double *v, size_t nx, size_t ny, size_t nz)
{
    for (size_t i = 0; i < nx * ny * nz; i++) {
        size_t x = i % nx, y = i / nx % ny, z = i / nx / ny;
        int is_inside = x > 0 && y > 0 && z > 0 && x < nx - 1 && y < ny - 1 && z < nz - 1;
        v[i] = is_inside ? u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] + u[i - nx * ny] + u[i + nx * ny] - 6 * u[i]
                         : (double)i;
    }
}

static void laplace_of_boxes_leaves_the_rim_alone(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){0, 1, 2, 3, 15, 16, 17, 18, 33}), nx)
    EACH_SIZE(((int[]){1, 3, 4, 5, 6, 9}), ny)
    EACH_SIZE(((int[]){0, 1, 2, 3, 5, 8}), nz)
    {
        size_t count = nx * ny * nz;
        double *u = random_doubles(count, 1, -1, 1), *v = MAKE(double, count), *wanted = MAKE(double, count);
        expect_laplace(u, wanted, nx, ny, nz);
        EACH_WAY
        {
            for (size_t i = 0; i < count; i++)
                v[i] = (double)i;
            RUN(port_stencil_laplace, IN(u), INOUT(v), (int)nx, (int)ny, (int)nz);
            assert_near(v, wanted, count, 1e-14);
            for (size_t i = 0; i < count; i++)
                v[i] = (double)i;
            RUN(port_stencil_laplace_plain, IN(u), INOUT(v), (int)nx, (int)ny, (int)nz);
            assert_near(v, wanted, count, 1e-14);
        }
        drop_arrays();
    }
}

/* ---- Jacobi ---- */

static void jacobi_tells_the_largest_change(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        float *u = random_floats(n, 1, -1, 1), *f = random_floats(n, 2, -1, 1), *v = MAKE(float, n);
        float *change = MAKE(float, 1);
        double *wanted = MAKE(double, n), largest = 0;
        for (size_t i = 0; i < n; i++) {
            wanted[i] = 0.5 * ((i ? (double)u[i - 1] : 0) + (i + 1 < n ? (double)u[i + 1] : 0) + (double)f[i]);
            largest = fmax(largest, fabs(wanted[i] - (double)u[i]));
        }
        EACH_WAY
        {
            *change = 0;
            RUN(port_stencil_jacobi, IN(u), IN(f), OUT(v), INOUT(change), (int)n);
            assert_near(v, wanted, n, 1e-6);
            assert_near(change, &largest, 1, 1e-6);
        }
        drop_arrays();
    }
}

static void jacobi_iterated_solves_the_equation(void **state)
{
    (void)state;
    enum { N = 15 };
    float *u = MAKE(float, N), *v = MAKE(float, N), *f = MAKE(float, N), *change = MAKE(float, 1);
    double wanted[N];
    for (int i = 0; i < N; i++) {
        f[i] = 1;
        wanted[i] = 0.5 * (i + 1) * (N - i); /* the solution of -u[i-1] + 2 u[i] - u[i+1] = 1 */
    }
    for (int step = 0; step < 2000; step += 2) {
        *change = 0;
        assert_ok(port_stencil_jacobi(u, f, v, change, N));
        assert_ok(port_stencil_jacobi(v, f, u, change, N));
    }
    assert_near(u, wanted, N, 1e-4);
    assert_true(*change < 1e-4f);
}

/* ---- Life ---- */

static void life_on_a_torus_follows_the_rules(void **state)
{
    (void)state;
    EACH_SIZE(widths, width)
    EACH_SIZE(heights, height)
    {
        size_t count = width * height;
        unsigned char *before = MAKE(unsigned char, count), *after = MAKE(unsigned char, count),
                      *wanted = MAKE(unsigned char, count);
        for (size_t i = 0; i < count; i++)
            before[i] = random_bits(1, i) % 3 == 0;
        for (size_t i = 0; i < count; i++) {
            int alive = -before[i];
            for (size_t dy = 0; dy < 3; dy++)
                for (size_t dx = 0; dx < 3; dx++)
                    alive +=
                        before[(i / width + height + dy - 1) % height * width + (i % width + width + dx - 1) % width];
            wanted[i] = alive == 3 || (alive == 2 && before[i]);
        }
        EACH_WAY
        {
            RUN(port_stencil_life, IN(before), OUT(after), (int)width, (int)height);
            assert_same(after, wanted, count);
        }
        drop_arrays();
    }
    unsigned char before[4] = {0, 1, 2, 0}, after[4] = {9, 9, 9, 9};
    assert_fails(port_stencil_life(before, after, 2, 2), CF_ERANGE, "before[1][0] = 2 is outside");
    assert_int_equal(after[0], 9);
}

/* ---- Convolution ---- */

static void check_convolution(const float taps[9], size_t width, size_t height)
{
    size_t count = width * height;
    float *from = random_floats(count, 1, -1, 1), *to = MAKE(float, count);
    double *rows = MAKE(double, count), *columns = MAKE(double, count);
    for (size_t i = 0; i < count; i++)
        for (int k = -4; k <= 4; k++) {
            int x = (int)(i % width) + k, y = (int)(i / width) + k;
            double tap = (double)taps[k + 4];
            rows[i] += x >= 0 && x < (int)width ? tap * (double)from[(int)i + k] : 0;
            columns[i] += y >= 0 && y < (int)height ? tap * (double)from[(int)i + k * (int)width] : 0;
        }
    EACH_WAY
    {
        RUN(port_stencil_convolve_rows, IN(from), OUT(to), (int)width, (int)height);
        assert_near(to, rows, count, 1e-6);
        RUN(port_stencil_convolve_columns, IN(from), OUT(to), (int)width, (int)height);
        assert_near(to, columns, count, 1e-6);
    }
    drop_arrays();
}

static void convolution_follows_the_filter_in_constant_memory(void **state)
{
    (void)state;
    static const float first[9] = {1}, second[9] = {0.1f, -0.2f, 0.3f, 0.4f, 1, -0.4f, 0.25f, 2, -1};
    assert_ok(port_stencil_set_filter(first));
    check_convolution(first, 65, 9);
    assert_ok(port_stencil_set_filter(second));
    EACH_SIZE(widths, width)
    EACH_SIZE(heights, height)
    check_convolution(second, width, height);
    assert_ok(port_stencil_set_filter(first));
}

/* ---- Pictures ---- */

static int at_rim(int value, size_t size)
{
    return value < 0 ? 0 : value >= (int)size ? (int)size - 1 : value;
}

static int expect_edge(const unsigned char *grey, size_t i, size_t width, size_t height)
{
    static const int weights[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
    int gx = 0, gy = 0;
    for (int dy = 0; dy < 3; dy++)
        for (int dx = 0; dx < 3; dx++) {
            int x = at_rim((int)(i % width) + dx - 1, width), y = at_rim((int)(i / width) + dy - 1, height);
            gx += weights[dy][dx] * grey[y * (int)width + x];
            gy += weights[dx][dy] * grey[y * (int)width + x];
        }
    return abs(gx) + abs(gy) > 255 ? 255 : abs(gx) + abs(gy);
}

static void pictures_turn_grey_and_into_edges(void **state)
{
    (void)state;
    EACH_SIZE(widths, width)
    EACH_SIZE(heights, height)
    {
        size_t count = width * height;
        unsigned char *colours = MAKE(unsigned char, 4 * count), *grey = MAKE(unsigned char, count),
                      *edges = MAKE(unsigned char, count), *wanted = MAKE(unsigned char, count);
        int *wanted_edges = MAKE(int, count);
        for (size_t i = 0; i < 4 * count; i++)
            colours[i] = (unsigned char)(i % 61 < 40 ? random_bits(1, i) % 40 : random_bits(1, i) % 256);
        for (size_t i = 0; i < count; i++)
            wanted[i] =
                (unsigned char)((77 * colours[4 * i] + 150 * colours[4 * i + 1] + 29 * colours[4 * i + 2] + 128) >> 8);
        for (size_t i = 0; i < count; i++)
            wanted_edges[i] = expect_edge(wanted, i, width, height);
        EACH_WAY
        {
            RUN(port_stencil_rgb_to_grey, IN(colours), OUT(grey), (int)width, (int)height);
            assert_same(grey, wanted, count);
            RUN(port_stencil_sobel, IN(grey), OUT(edges), (int)width, (int)height);
            assert_same(edges, wanted_edges, count);
        }
        drop_arrays();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PORT(heat_of_padded_rows_equals_a_loop), PORT(laplace_of_boxes_leaves_the_rim_alone),
        PORT(jacobi_tells_the_largest_change),   PORT(jacobi_iterated_solves_the_equation),
        PORT(life_on_a_torus_follows_the_rules), PORT(convolution_follows_the_filter_in_constant_memory),
        PORT(pictures_turn_grey_and_into_edges),
    };
    return RUN_PORTS(port_stencil_registry, tests);
}
