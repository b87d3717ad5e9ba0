/* test_numerics.c - the kernels of ports/numerics, which are files like those of numerical codes, compared with plain
 * loops. */
#include <complex.h>

#include "ports.h"

#include "numerics_kernels.h"

/* Computes the product of the factors in a, and puts its rows back where they were before the exchanges. */
static void multiply_factors(const double *a, const int *pivots, double *product, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            product[i * n + j] = 0;
            for (int k = 0; k <= i && k <= j; k++)
                product[i * n + j] += (k == i ? 1 : a[i * n + k]) * a[k * n + j];
        }
    for (int k = n; k-- > 0;)
        for (int j = 0; j < n; j++) {
            double kept = product[k * n + j];
            product[k * n + j] = product[pivots[k] * n + j];
            product[pivots[k] * n + j] = kept;
        }
}

PORT(matrices_have_their_factors)
{
    enum { N = 16, N_F = 8 };
    EACH_SIZE(port_small_sizes, batch)
    {
        double *start = random_doubles(batch * N * N, 1, -1, 1), *a = MAKE(double, batch *N *N);
        double *product = MAKE(double, batch *N *N), *a_d = MAKE(double, batch *N_F *N_F);
        float *start_f = random_floats(batch * N_F * N_F, 2, -1, 1), *a_f = MAKE(float, batch *N_F *N_F);
        int *pivots = MAKE(int, batch *N), *pivots_f = MAKE(int, batch *N_F);
        EACH_WAY
        {
            memcpy(a, start, batch * N * N * sizeof *a);
            RUN(numerics_lu_panel_f64_16, INOUT(a), OUT(pivots), (int)batch);
            for (size_t m = 0; m < batch; m++)
                for (int i = 0; i < N; i++) {
                    assert_in_range(pivots[m * N + i], i, N - 1);
                    for (int j = 0; j < i; j++)
                        assert_true(fabs(a[(m * N + i) * N + j]) <= 1);
                }
            for (size_t m = 0; m < batch; m++)
                multiply_factors(a + m * N * N, pivots + m * N, product + m * N * N, N);
            assert_near(product, start, batch * N * N, 1e-13);

            memcpy(a_f, start_f, batch * N_F * N_F * sizeof *a_f);
            RUN(numerics_lu_panel_f32_8, INOUT(a_f), OUT(pivots_f), (int)batch);
            for (size_t i = 0; i < batch * N_F * N_F; i++)
                a_d[i] = a_f[i];
            for (size_t m = 0; m < batch; m++)
                multiply_factors(a_d + m * N_F * N_F, pivots_f + m * N_F, product + m * N_F * N_F, N_F);
            assert_near(product, start_f, batch * N_F * N_F, 1e-5);
        }
        drop_arrays();
    }
}

PORT(positive_matrices_have_roots)
{
    enum { BATCH = 4 };
    static const int sizes[] = {1, 2, 3, 7, 16, 31, 32};
    EACH_SIZE(sizes, n)
    {
        double *root = random_doubles(BATCH * n * n, 1, -1, 1), *start = MAKE(double, BATCH *n *n);
        double *a = MAKE(double, BATCH *n *n);
        int *info = MAKE(int, BATCH);
        for (size_t m = 0; m < BATCH * n; m++)
            for (size_t j = 0; j < n; j++) {
                double *row = root + m * n;
                row[j] = j > m % n ? 0 : j == m % n ? 1 + row[j] * row[j] : row[j] / 4;
            }
        for (size_t m = 0; m < BATCH * n; m++)
            for (size_t j = 0; j < n; j++)
                for (size_t k = 0; k < n; k++)
                    start[m * n + j] += root[m * n + k] * root[(m / n * n + j) * n + k];
        start[(n * n) + n * n - 1] = -1; /* makes the last pivot of the second matrix bad */
        EACH_WAY
        {
            memcpy(a, start, BATCH * n * n * sizeof *a);
            RUN(numerics_cholesky, INOUT(a), OUT(info), (int)n, BATCH);
            for (size_t m = 0; m < BATCH; m++) {
                assert_int_equal(info[m], m == 1 ? n : 0);
                const double *got = a + m * n * n, *wanted = (m == 1 ? start : root) + m * n * n;
                assert_near(got, wanted, n * n, 1e-9);
            }
        }
        assert_ok(numerics_cholesky(a, info, (int)n, 0));
        assert_int_equal(numerics_cholesky(a, info, 0, BATCH), CF_EINVAL);
        assert_int_equal(numerics_cholesky(a, info, 33, BATCH), CF_EINVAL);
        drop_arrays();
    }
}

PORT(tridiagonal_systems_are_solved)
{
    enum { N = 128, N_F = 64 };
    EACH_SIZE(port_small_sizes, systems)
    {
        size_t count = systems * N, count_f = systems * N_F;
        double *below = random_doubles(count, 1, -1, 1), *above = random_doubles(count, 2, -1, 1);
        double *middle = random_doubles(count, 3, 3, 4), *wanted = random_doubles(count, 4, -1, 1);
        double *right = MAKE(double, count), *x = MAKE(double, count);
        float *below_f = random_floats(count_f, 1, -1, 1), *above_f = random_floats(count_f, 2, -1, 1);
        float *middle_f = random_floats(count_f, 3, 3, 4), *x_f = MAKE(float, count_f), *right_f = MAKE(float, count_f);
        for (size_t i = 0; i < count; i++)
            right[i] = middle[i] * wanted[i] + (i % N ? below[i] * wanted[i - 1] : 0) +
                       (i % N < N - 1 ? above[i] * wanted[i + 1] : 0);
        for (size_t i = 0; i < count_f; i++)
            right_f[i] = (float)(middle_f[i] * wanted[i] + (i % N_F ? below_f[i] * wanted[i - 1] : 0) +
                                 (i % N_F < N_F - 1 ? above_f[i] * wanted[i + 1] : 0));
        EACH_WAY
        {
            memcpy(x, right, count * sizeof *x);
            RUN(numerics_cyclic_reduction_f64_128, IN(below), IN(middle), IN(above), INOUT(x), (unsigned short)systems);
            assert_near(x, wanted, count, 1e-12);
            memcpy(x_f, right_f, count_f * sizeof *x_f);
            RUN(numerics_cyclic_reduction_f32_64, IN(below_f), IN(middle_f), IN(above_f), INOUT(x_f),
                (unsigned short)systems);
            assert_near(x_f, wanted, count_f, 1e-5);
        }
        drop_arrays();
    }
}

PORT(tables_are_read_between_their_points)
{
    struct Axes axes = {{5, 2, 7}, {-1, 0.5f, 2}, {0.5f, 2, 0.25f}};
    EACH_SIZE(port_sizes, n)
    {
        float *table = random_floats(5 * 2 * 7, 1, -1, 1), *where = random_floats(3 * n, 2, 0, 1);
        float *values = MAKE(float, n);
        double *wanted = MAKE(double, n);
        for (size_t i = 0; i < n; i++) {
            int cell[3];
            double part[3];
            for (int k = 0; k < 3; k++) {
                /* Some points are outside of the table, where the line of the outermost cell is extended. */
                double place = -0.5 + where[3 * i + k] * axes.n[k];
                where[3 * i + k] = (float)(axes.low[k] + place * axes.step[k]);
                place = ((double)where[3 * i + k] - axes.low[k]) / axes.step[k];
                cell[k] = place < 0 ? 0 : place > axes.n[k] - 2 ? axes.n[k] - 2 : (int)place;
                part[k] = place - cell[k];
            }
            for (int corner = 0; corner < 8; corner++) {
                int x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
                wanted[i] += (x ? part[0] : 1 - part[0]) * (y ? part[1] : 1 - part[1]) * (z ? part[2] : 1 - part[2]) *
                             table[((cell[2] + z) * 2 + cell[1] + y) * 5 + cell[0] + x];
            }
        }
        EACH_WAY
        {
            RUN(numerics_look_up, IN(table), axes, IN(where), OUT(values), n);
            assert_near(values, wanted, n, 1e-4);
        }
        struct Axes flat = axes;
        flat.n[1] = 1;
        assert_int_equal(numerics_look_up(table, flat, (void *)where, values, n), CF_EINVAL);
        drop_arrays();
    }
}

PORT(a_triangle_is_solved_by_levels)
{
    enum { N = 90, LEVEL = 30 };
    long long *row_ptr = MAKE(long long, N + 1);
    for (int i = 0; i < N; i++)
        row_ptr[i + 1] = row_ptr[i] + 1 + (i < LEVEL ? 0 : i % 53);
    size_t nonzeros = (size_t)row_ptr[N];
    int *columns = MAKE(int, nonzeros), *rows = MAKE(int, LEVEL);
    double *values = random_doubles(nonzeros, 1, -0.125, 0.125), *b = random_doubles(N, 2, -1, 1);
    double *x = MAKE(double, N), *wanted = MAKE(double, N);
    for (int i = 0; i < N; i++) {
        double sum = b[i];
        for (long long k = row_ptr[i]; k < row_ptr[i + 1] - 1; k++) {
            columns[k] = (int)random_below(3, (uint64_t)k, (uint64_t)(i / LEVEL * LEVEL));
            sum -= values[k] * wanted[columns[k]];
        }
        columns[row_ptr[i + 1] - 1] = i;
        values[row_ptr[i + 1] - 1] = 2 + i % 3;
        wanted[i] = sum / (2 + i % 3);
    }
    EACH_WAY
    {
        memset(x, 0, N * sizeof *x);
        for (int first = 0; first < N; first += LEVEL) {
            for (int i = 0; i < LEVEL; i++)
                rows[i] = first + LEVEL - 1 - i;
            RUN(numerics_solve_level, IN(rows), LEVEL, IN(row_ptr), IN(columns), IN(values), IN(b), INOUT(x), N,
                (long long)nonzeros);
        }
        assert_near(x, wanted, N, 1e-12);
    }
    assert_ok(numerics_solve_level(rows, 0, row_ptr, columns, values, b, x, N, (long long)nonzeros));
    rows[7] = N;
    assert_int_equal(numerics_solve_level(rows, LEVEL, row_ptr, columns, values, b, x, N, (long long)nonzeros),
                     CF_ERANGE);
    rows[7] = 0;
    row_ptr[5] = 0;
    assert_int_equal(numerics_solve_level(rows, LEVEL, row_ptr, columns, values, b, x, N, (long long)nonzeros),
                     CF_EINVAL);
}

PORT(matrices_have_their_eigenvalues)
{
    EACH_SIZE(port_sizes, n)
    {
        double *m = random_doubles(6 * n, 1, -2, 2), *values = MAKE(double, 3 * n);
        for (size_t i = 0; i < n; i += 5)
            m[6 * i + 1] = m[6 * i + 2] = m[6 * i + 4] = 0; /* makes some matrices diagonal */
        EACH_WAY
        {
            RUN(numerics_eigenvalues, IN(m), OUT(values), (uint32_t)n);
            for (size_t i = 0; i < n; i++) {
                const double *a = m + 6 * i, *w = values + 3 * i;
                double wanted[3] = {a[0] + a[3] + a[5], 0, 0}, got[3] = {w[0] + w[1] + w[2], 0, 0};
                wanted[1] = a[0] * a[0] + a[3] * a[3] + a[5] * a[5] + 2 * (a[1] * a[1] + a[2] * a[2] + a[4] * a[4]);
                got[1] = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
                wanted[2] = a[0] * (a[3] * a[5] - a[4] * a[4]) - a[1] * (a[1] * a[5] - a[4] * a[2]) +
                            a[2] * (a[1] * a[4] - a[3] * a[2]);
                got[2] = w[0] * w[1] * w[2];
                assert_near(got, wanted, 3, 1e-12);
                assert_true(w[0] <= w[1] && w[1] <= w[2]);
            }
        }
        drop_arrays();
    }
}

PORT(points_rotate_with_their_bones)
{
    enum { BONES = 5 };
    EACH_SIZE(port_sizes, n)
    {
        struct Quat *turns = MAKE(struct Quat, BONES);
        unsigned char *bone = MAKE(unsigned char, n);
        float *points = random_floats(3 * n, 1, -1, 1), *rotated = MAKE(float, 3 * n);
        double *wanted = MAKE(double, 3 * n);
        for (int i = 0; i < BONES; i++)
            turns[i] = (struct Quat){1, 0.25f * (float)i, -0.5f, 0.125f * (float)(i * i)};
        for (size_t i = 0; i < n; i++) {
            bone[i] = (unsigned char)random_below(2, i, BONES);
            const struct Quat q = turns[bone[i]];
            const double w = q.w, u[3] = {q.x, q.y, q.z}, size = w * w + u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
            const float *p = points + 3 * i;
            double dot = u[0] * p[0] + u[1] * p[1] + u[2] * p[2];
            for (int k = 0; k < 3; k++) {
                double cross = u[(k + 1) % 3] * p[(k + 2) % 3] - u[(k + 2) % 3] * p[(k + 1) % 3];
                wanted[3 * i + k] = ((2 * w * w - size) * p[k] + 2 * dot * u[k] + 2 * w * cross) / size;
            }
        }
        EACH_WAY
        {
            RUN(numerics_rotate_points_t128, IN(turns), IN(bone), IN(points), OUT(rotated), (unsigned)n, BONES);
            assert_near(rotated, wanted, 3 * n, 1e-5);
            RUN(numerics_rotate_points_t32, IN(turns), IN(bone), IN(points), OUT(rotated), (unsigned)n, BONES);
            assert_near(rotated, wanted, 3 * n, 1e-5);
        }
        if (n) {
            bone[n - 1] = BONES;
            assert_int_equal(
                numerics_rotate_points_t32(turns, bone, (void *)points, (void *)rotated, (unsigned)n, BONES),
                CF_ERANGE);
            bone[n - 1] = 0;
        }
        assert_ok(numerics_rotate_points_t32(turns, bone, (void *)points, (void *)points, (unsigned)n, BONES));
        for (size_t i = 0; i + 1 < n; i++)
            for (int k = 0; k < 3; k++)
                assert_true(is_near(points[3 * i + k], wanted[3 * i + k], 1e-5));
        drop_arrays();
    }
}

static int find_least(const int *parent, int site)
{
    while (parent[site] != site)
        site = parent[site];
    return site;
}

PORT(open_sites_form_clusters)
{
    enum { HEIGHT = 21 };
    static const int widths[] = {0, 1, 2, 33, 64, 75};
    EACH_SIZE(widths, width)
    {
        size_t sites = width * HEIGHT;
        bool *open = MAKE(bool, sites);
        int *parent = MAKE(int, sites), *wanted = MAKE(int, sites);
        for (int diagonal = 0; diagonal < 2; diagonal++) {
            for (size_t i = 0; i < sites; i++) {
                open[i] = random_below(1, i, 100) < 57;
                wanted[i] = (int)i;
            }
            for (bool changes = true; changes;) {
                changes = false;
                for (size_t i = 0; i < sites; i++)
                    for (int side = 0; side < 2 + diagonal; side++) {
                        size_t x = i % width + (side != 1), y = i / width + (side != 0), j = y * width + x;
                        if (x >= width || y >= HEIGHT || !open[i] || !open[j] || wanted[i] == wanted[j])
                            continue;
                        wanted[i] = wanted[j] = wanted[i] < wanted[j] ? wanted[i] : wanted[j];
                        changes = true;
                    }
            }
            EACH_WAY
            {
                for (size_t i = 0; i < sites; i++)
                    parent[i] = (int)i;
                RUN(numerics_percolate, IN(open), INOUT(parent), (int)width, HEIGHT, diagonal);
                for (size_t i = 0; i < sites; i++)
                    assert_int_equal(find_least(parent, (int)i), wanted[i]);
            }
        }
        if (sites) {
            parent[0] = (int)sites;
            assert_int_equal(numerics_percolate(open, parent, (int)width, HEIGHT, false), CF_ERANGE);
        }
        drop_arrays();
    }
}

PORT(surfaces_have_their_points)
{
    enum { PATCHES = 3 };
    static const int sizes[] = {2, 3, 8, 9, 17};
    EACH_SIZE(sizes, m)
    {
        float *control = random_floats(PATCHES * 16 * 3, 1, -1, 1), *surface = MAKE(float, PATCHES *m *m * 3);
        double *wanted = MAKE(double, PATCHES *m *m * 3);
        for (size_t at = 0; at < PATCHES * m * m; at++) {
            /* De Casteljau's algorithm, first along u, then along v. */
            double u = (double)(at % m) / (double)(m - 1), v = (double)(at / m % m) / (double)(m - 1), p[4][4];
            for (int k = 0; k < 3; k++) {
                for (int i = 0; i < 16; i++)
                    p[i / 4][i % 4] = control[(at / (m * m) * 16 + (size_t)i) * 3 + (size_t)k];
                for (int left = 3; left > 0; left--)
                    for (int j = 0; j < 4; j++)
                        for (int i = 0; i < left; i++)
                            p[j][i] += u * (p[j][i + 1] - p[j][i]);
                for (int left = 3; left > 0; left--)
                    for (int j = 0; j < left; j++)
                        p[j][0] += v * (p[j + 1][0] - p[j][0]);
                wanted[at * 3 + (size_t)k] = p[0][0];
            }
        }
        EACH_WAY
        {
            RUN(numerics_surface, IN(control), OUT(surface), (int)m, PATCHES);
            assert_near(surface, wanted, PATCHES * m * m * 3, 1e-5);
        }
        assert_ok(numerics_surface((void *)control, (void *)surface, (int)m, 0));
        assert_int_equal(numerics_surface((void *)control, (void *)surface, 1, PATCHES), CF_EINVAL);
        drop_arrays();
    }
}

PORT(signals_are_convolved)
{
    static const int taps[] = {0, 1, 63, 64, 65, 130};
    EACH_SIZE(port_small_sizes, n)
    {
        EACH_SIZE(taps, m)
        {
            float *signal = random_floats(2 * n, 1, -1, 1), *filter = random_floats(2 * m, 2, -1, 1);
            float *result = MAKE(float, 2 * n);
            double *wanted = MAKE(double, 2 * n);
            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < m; k++) {
                    size_t from = (i + m * n - k) % n;
                    double a = signal[2 * from], b = signal[2 * from + 1], c = filter[2 * k], d = filter[2 * k + 1];
                    wanted[2 * i] += a * c - b * d;
                    wanted[2 * i + 1] += a * d + b * c;
                }
            EACH_WAY
            {
                RUN(numerics_convolve_c32, IN(signal), IN(filter), OUT(result), (int)n, (int)m);
                assert_near(result, wanted, 2 * n, 1e-4);
            }
            drop_arrays();
        }
    }
    assert_int_equal(numerics_convolve_c32(NULL, NULL, NULL, 1, -1), CF_EINVAL);
}

static int read_cell(const uint64_t *cells, size_t words, size_t at)
{
    at = (at + 64 * words) % (64 * words);
    return cells[at / 64] >> at % 64 & 1;
}

PORT(cells_live_by_their_rules)
{
    EACH_SIZE(port_small_sizes, words)
    {
        uint64_t *now = MAKE(uint64_t, words), *next = MAKE(uint64_t, words), *wanted[3];
        static const int rules[3] = {30, 90, 110};
        for (size_t i = 0; i < words; i++)
            now[i] = random_bits(1, i);
        for (int rule = 0; rule < 3; rule++) {
            wanted[rule] = MAKE(uint64_t, words);
            for (size_t i = 0; i < 64 * words; i++) {
                int left = read_cell(now, words, i + 64 * words - 1), right = read_cell(now, words, i + 1);
                int seen = 4 * left + 2 * read_cell(now, words, i) + right;
                wanted[rule][i / 64] |= (uint64_t)(rules[rule] >> seen & 1) << i % 64;
            }
        }
        EACH_WAY
        {
            RUN(numerics_rule30, IN(now), OUT(next), (int64_t)words);
            assert_same(next, wanted[0], words);
            RUN(numerics_rule90, IN(now), OUT(next), (int64_t)words);
            assert_same(next, wanted[1], words);
            RUN(numerics_rule110, IN(now), OUT(next), (int64_t)words);
            assert_same(next, wanted[2], words);
        }
        assert_int_equal(numerics_rule30(now, next, -1), CF_EINVAL);
        drop_arrays();
    }
}

int main(void)
{
    return run_ports(&numerics_registry);
}
