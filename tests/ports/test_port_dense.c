/* test_port_dense.c - the kernels of ports/port_dense.cu compared with plain loops. */
#include "ports.h"

#include "port_dense_kernels.h"

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

PORT(matmul_of_any_shape_equals_three_loops)
{
    EACH_SIZE(port_small_sizes, n)
    check_matmul(n, n, n);
    check_matmul(5, 70, 33);
    check_matmul(70, 5, 1);
    check_matmul(33, 17, 0);
    check_matmul(0, 17, 5);
}

PORT(matvec_of_any_shape_equals_a_loop)
{
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

/* ---- Sparse matrices ---- */

/* Returns where each row starts. Rows have up to `longest` elements, and some rows are empty. */
static int *make_rows(size_t rows, uint64_t longest)
{
    int *begins = MAKE(int, rows + 1);
    for (size_t row = 0; row < rows; row++)
        begins[row + 1] = begins[row] + (int)(row % 4 ? random_below(7, row, longest + 1) : 0);
    return begins;
}

PORT(spmv_by_threads_and_by_lanes_equals_a_loop)
{
    EACH_SIZE(((int[]){0, 1, 2, 3, 4, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 500}), rows)
    {
        enum { COLS = 77 };
        int *begins = make_rows(rows, 70);
        size_t count = (size_t)begins[rows];
        int *column = random_ints(count, 1, 0, COLS);
        float *value = random_floats(count, 2, -1, 1), *x = random_floats(COLS, 3, -1, 1), *y = MAKE(float, rows);
        double *value_d = MAKE(double, count), *x_d = MAKE(double, COLS), *y_d = MAKE(double, rows),
               *wanted = MAKE(double, rows);
        for (size_t i = 0; i < count; i++)
            value_d[i] = (double)value[i];
        for (size_t i = 0; i < COLS; i++)
            x_d[i] = (double)x[i];
        for (size_t row = 0; row < rows; row++)
            for (int i = begins[row]; i < begins[row + 1]; i++)
                wanted[row] += value_d[i] * x_d[column[i]];
        int n = (int)rows, nonzeros = (int)count;
        EACH_WAY
        {
            RUN(port_dense_spmv_scalar_f32, IN(begins), IN(column), IN(value), IN(x), OUT(y), n, COLS, nonzeros);
            assert_near(y, wanted, rows, 1e-5);
            RUN(port_dense_spmv_scalar_f64, IN(begins), IN(column), IN(value_d), IN(x_d), OUT(y_d), n, COLS, nonzeros);
            assert_near(y_d, wanted, rows, 1e-13);
            RUN(port_dense_spmv_vector_lanes32, IN(begins), IN(column), IN(value), IN(x), OUT(y), n, COLS, nonzeros);
            assert_near(y, wanted, rows, 1e-5);
            RUN(port_dense_spmv_vector_lanes8, IN(begins), IN(column), IN(value), IN(x), OUT(y), n, COLS, nonzeros);
            assert_near(y, wanted, rows, 1e-5);
            RUN(port_dense_spmv_vector_lanes2, IN(begins), IN(column), IN(value), IN(x), OUT(y), n, COLS, nonzeros);
            assert_near(y, wanted, rows, 1e-5);
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

PORT(laplace_of_boxes_leaves_the_rim_alone)
{
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
            RUN(port_dense_laplace, IN(u), INOUT(v), (int)nx, (int)ny, (int)nz);
            assert_near(v, wanted, count, 1e-14);
            for (size_t i = 0; i < count; i++)
                v[i] = (double)i;
            RUN(port_dense_laplace_plain, IN(u), INOUT(v), (int)nx, (int)ny, (int)nz);
            assert_near(v, wanted, count, 1e-14);
        }
        drop_arrays();
    }
}

/* ---- Jacobi ---- */

PORT(jacobi_tells_the_largest_change)
{
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
            RUN(port_dense_jacobi, IN(u), IN(f), OUT(v), INOUT(change), (int)n);
            assert_near(v, wanted, n, 1e-6);
            assert_near(change, &largest, 1, 1e-6);
        }
        drop_arrays();
    }
}

PORT(jacobi_iterated_solves_the_equation)
{
    enum { N = 15 };
    float *u = MAKE(float, N), *v = MAKE(float, N), *f = MAKE(float, N), *change = MAKE(float, 1);
    double wanted[N];
    for (int i = 0; i < N; i++) {
        f[i] = 1;
        wanted[i] = 0.5 * (i + 1) * (N - i); /* the solution of -u[i-1] + 2 u[i] - u[i+1] = 1 */
    }
    for (int step = 0; step < 2000; step += 2) {
        *change = 0;
        assert_ok(port_dense_jacobi(u, f, v, change, N));
        assert_ok(port_dense_jacobi(v, f, u, change, N));
    }
    assert_near(u, wanted, N, 1e-4);
    assert_true(*change < 1e-4f);
}

int main(void)
{
    return run_ports(&port_dense_registry);
}
