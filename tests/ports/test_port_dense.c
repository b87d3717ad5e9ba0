/* test_port_dense.c - the kernels of ports/port_dense.cu compared with plain loops. */
#include "ports.h"

#include "data/float16.h"

#include "port_dense_kernels.h"

#define HALF_DIGITS 10

/* ---- Products ---- */

static void check_matmul(size_t m, size_t n, size_t k)
{
    float *a = random_floats(m * k, 1, -1, 1), *b = random_floats(k * n, 2, -1, 1), *c = MAKE(float, m *n);
    double *ad = MAKE(double, m *k), *bd = MAKE(double, k *n), *cd = MAKE(double, m *n), *wanted = MAKE(double, m *n);
    for (size_t i = 0; i < m * k; i++)
        ad[i] = (double)a[i];
    for (size_t i = 0; i < k * n; i++)
        bd[i] = (double)b[i];
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            for (size_t l = 0; l < k; l++)
                wanted[i * n + j] += ad[i * k + l] * bd[l * n + j];
    EACH_WAY
    {
        RUN(port_dense_matmul_f32_16, IN(a), IN(b), OUT(c), (int)m, (int)n, (int)k);
        assert_near(c, wanted, m * n, 1e-5);
        RUN(port_dense_matmul_f32_32, IN(a), IN(b), OUT(c), (int)m, (int)n, (int)k);
        assert_near(c, wanted, m * n, 1e-5);
        RUN(port_dense_matmul_f64_8, IN(ad), IN(bd), OUT(cd), (int)m, (int)n, (int)k);
        assert_near(cd, wanted, m * n, 1e-13);
    }
    drop_arrays();
}

static void matmul_of_any_shape_equals_three_loops(void **state)
{
    (void)state;
    EACH_SIZE(port_small_sizes, n)
    check_matmul(n, n, n);
    check_matmul(5, 70, 33);
    check_matmul(70, 5, 1);
    check_matmul(33, 17, 0);
    check_matmul(0, 17, 5);
}

static void matvec_of_any_shape_equals_a_loop(void **state)
{
    (void)state;
    EACH_SIZE(port_small_sizes, rows)
    EACH_SIZE(((int[]){0, 1, 7, 32, 33, 65}), quads)
    {
        float *a = random_floats(4 * rows * quads, 1, -1, 1), *x = random_floats(4 * quads, 2, -1, 1);
        float *y = MAKE(float, rows);
        double *wanted = MAKE(double, rows);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < 4 * quads; j++)
                wanted[i] += (double)a[4 * i * quads + j] * (double)x[j];
        EACH_WAY
        {
            RUN(port_dense_matvec, IN(a), IN(x), OUT(y), (int)rows, (int)quads);
            assert_near(y, wanted, rows, 1e-5);
        }
        drop_arrays();
    }
}

static void half_axpy_rounds_once(void **state)
{
    (void)state;
    EACH_SIZE(port_sizes, n)
    {
        cf_half a = {float16_bits(-0.75, HALF_DIGITS)}, *x = MAKE(cf_half, n), *y = MAKE(cf_half, n);
        uint16_t *wanted = MAKE(uint16_t, n);
        for (size_t i = 0; i < n; i++) {
            x[i].bits = float16_bits(4 * random_f64(1, i) - 2, HALF_DIGITS);
            double y_i = float16_number(float16_bits(random_f64(2, i), HALF_DIGITS), HALF_DIGITS);
            wanted[i] = float16_bits(y_i - 0.75 * float16_number(x[i].bits, HALF_DIGITS), HALF_DIGITS);
        }
        EACH_WAY
        {
            for (size_t i = 0; i < n; i++)
                y[i].bits = float16_bits(random_f64(2, i), HALF_DIGITS);
            RUN(port_dense_half_axpy, a, IN(x), INOUT(y), (int)n);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(y[i].bits, wanted[i]);
        }
        drop_arrays();
    }
}

/* ---- Transposition ---- */

static void transpose_of_any_shape_moves_each_element(void **state)
{
    (void)state;
    EACH_SIZE(port_small_sizes, width)
    EACH_SIZE(((int[]){0, 1, 31, 32, 33, 70}), height)
    {
        size_t count = width * height;
        float *from = random_floats(count, 1, -1, 1), *to = MAKE(float, count);
        uint16_t *from_u = MAKE(uint16_t, count), *to_u = MAKE(uint16_t, count);
        float *from_2 = random_floats(2 * count, 1, -1, 1), *to_2 = MAKE(float, 2 * count);
        for (size_t i = 0; i < count; i++)
            from_u[i] = (uint16_t)(i % 65535);
        EACH_WAY
        {
            RUN(port_dense_transpose_f32, IN(from), OUT(to), (int)width, (int)height);
            RUN(port_dense_transpose_u16, IN(from_u), OUT(to_u), (int)width, (int)height);
            RUN(port_dense_transpose_f2, IN(from_2), OUT(to_2), (int)width, (int)height);
            for (size_t y = 0; y < height; y++)
                for (size_t x = 0; x < width; x++) {
                    size_t source = y * width + x, target = x * height + y;
                    assert_true(to[target] == from[source]);
                    assert_int_equal(to_u[target], from_u[source]);
                    assert_true(to_2[2 * target] == from_2[2 * source] &&
                                to_2[2 * target + 1] == from_2[2 * source + 1]);
                }
        }
        drop_arrays();
    }
}

/* ---- LU ---- */

static void lu_steps_decompose_a_matrix(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){1, 2, 15, 16, 17, 33, 50}), n)
    {
        double *a = random_doubles(n * n, 1, -1, 1), *lu = MAKE(double, n *n), *product = MAKE(double, n *n);
        for (size_t i = 0; i < n; i++)
            a[i * n + i] += (double)n; /* makes pivoting unnecessary */
        EACH_WAY
        {
            memcpy(lu, a, n * n * sizeof *a);
            for (int k = 0; k < (int)n; k++) {
                RUN(port_dense_lu_column, INOUT(lu), (int)n, k);
                RUN(port_dense_lu_rest, INOUT(lu), (int)n, k);
            }
            memset(product, 0, n * n * sizeof *product);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    for (size_t k = 0; k <= i && k <= j; k++)
                        product[i * n + j] += (k == i ? 1 : lu[i * n + k]) * lu[k * n + j];
            assert_near(product, a, n * n, 1e-12);
        }
        assert_fails(port_dense_lu_rest(a, (int)n, (int)n), CF_EINVAL, "k < n");
        drop_arrays();
    }
}

/* ---- Rows ---- */

static void softmax_of_rows_is_right_for_large_numbers_too(void **state)
{
    (void)state;
    enum { ROWS = 5 };
    EACH_SIZE(((int[]){1, 2, 31, 32, 33, 95, 96, 97, 500}), cols)
    {
        float *x = random_floats(ROWS * cols, 1, -100, 300), *y = MAKE(float, ROWS *cols);
        double *wanted = MAKE(double, ROWS *cols);
        for (size_t row = 0; row < ROWS; row++) {
            double sum = 0, largest = -1000;
            for (size_t i = 0; i < cols; i++)
                largest = fmax(largest, (double)x[row * cols + i]);
            for (size_t i = 0; i < cols; i++)
                sum += exp((double)x[row * cols + i] - largest);
            for (size_t i = 0; i < cols; i++)
                wanted[row * cols + i] = exp((double)x[row * cols + i] - largest) / sum;
        }
        EACH_WAY
        {
            RUN(port_dense_softmax, IN(x), OUT(y), ROWS, (int)cols);
            assert_near(y, wanted, ROWS * cols, 1e-6);
        }
        drop_arrays();
    }
}

static void expect_norm(const double *x, const float *gain, const float *bias, double *wanted, size_t rows, size_t cols)
{
    for (size_t row = 0; row < rows; row++) {
        double mean = 0, squares = 0;
        for (size_t i = 0; i < cols; i++)
            mean += x[row * cols + i] / (double)cols;
        for (size_t i = 0; i < cols; i++)
            squares += (x[row * cols + i] - mean) * (x[row * cols + i] - mean);
        double scale = 1 / sqrt(squares / (double)cols + 1e-5);
        for (size_t i = 0; i < cols; i++)
            wanted[row * cols + i] = (x[row * cols + i] - mean) * scale * (double)gain[i] + (double)bias[i];
    }
}

static void layer_norm_of_floats_and_halves_is_right(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){0, 1, 3, 4, 5, 9}), rows)
    EACH_SIZE(((int[]){1, 2, 31, 32, 33, 300}), cols)
    {
        size_t count = rows * cols;
        float *x = random_floats(count, 1, -3, 5), *y = MAKE(float, count);
        float *gain = random_floats(cols, 2, 0.5, 2), *bias = random_floats(cols, 3, -1, 1);
        cf_half *xh = MAKE(cf_half, count), *yh = MAKE(cf_half, count);
        double *xd = MAKE(double, count), *wanted = MAKE(double, count), *yd = MAKE(double, count);
        EACH_WAY
        {
            RUN(port_dense_layer_norm_f32, IN(x), IN(gain), IN(bias), OUT(y), 1e-5f, (int)rows, (int)cols);
            for (size_t i = 0; i < count; i++)
                xd[i] = (double)x[i];
            expect_norm(xd, gain, bias, wanted, rows, cols);
            assert_near(y, wanted, count, 2e-4);
            for (size_t i = 0; i < count; i++) {
                xh[i].bits = float16_bits((double)x[i], HALF_DIGITS);
                xd[i] = float16_number(xh[i].bits, HALF_DIGITS);
            }
            expect_norm(xd, gain, bias, wanted, rows, cols);
            RUN(port_dense_layer_norm_f16, IN(xh), IN(gain), IN(bias), OUT(yh), 1e-5f, (int)rows, (int)cols);
            for (size_t i = 0; i < count; i++)
                yd[i] = float16_number(yh[i].bits, HALF_DIGITS);
            assert_near(yd, wanted, count, 2e-3);
        }
        drop_arrays();
    }
}

static void layer_norm_every_variant_gives_the_same(void **state)
{
    (void)state;
    enum { ROWS = 11, COLS = 40 };
    const cf_kernel *kernel = cf_kernel_find(&port_dense_registry, "layer_norm_f32");
    assert_non_null(kernel);
    assert_int_equal(kernel->nvariants, 2);
    float *x = random_floats(ROWS * COLS, 1, -3, 5), *gain = random_floats(COLS, 2, 0.5, 2),
          *bias = random_floats(COLS, 3, -1, 1), *y = MAKE(float, ROWS *COLS), *again = MAKE(float, ROWS *COLS);
    float epsilon = 1e-5f;
    int rows = ROWS, cols = COLS;
    assert_ok(port_dense_layer_norm_f32(x, gain, bias, y, epsilon, rows, cols));
    void *args[] = {&x, &gain, &bias, &again, &epsilon, &rows, &cols};
    for (uint32_t v = 0; v < kernel->nvariants; v++) {
        memset(again, PORT_POISON, sizeof *again * ROWS * COLS);
        assert_ok(cf_call(kernel->variants[v], args));
        assert_near(again, y, ROWS * COLS, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PORT(matmul_of_any_shape_equals_three_loops),
        PORT(matvec_of_any_shape_equals_a_loop),
        PORT(half_axpy_rounds_once),
        PORT(transpose_of_any_shape_moves_each_element),
        PORT(lu_steps_decompose_a_matrix),
        PORT(softmax_of_rows_is_right_for_large_numbers_too),
        PORT(layer_norm_of_floats_and_halves_is_right),
        PORT(layer_norm_every_variant_gives_the_same),
    };
    return RUN_PORTS(port_dense_registry, tests);
}
