/* test_codes.c - the kernels of ports/codes, which are files like those of research codes, compared with plain
 * loops. */
#include <complex.h>

#include "ports.h"

#include "codes_kernels.h"

static const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

PORT(a_lattice_takes_a_step)
{
    enum { NX = 37, NY = 10, CELLS = NX * NY };
    float *f = random_floats(9 * CELLS, 1, 0.1f, 1), *g = MAKE(float, 9 * CELLS), *wanted = MAKE(float, 9 * CELLS);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            double in[9], sum = 0, ux = 0, uy = 0;
            for (int q = 0; q < 9; q++) {
                in[q] = f[(q * NY + (y - dy[q] + NY) % NY) * NX + (x - dx[q] + NX) % NX];
                sum += in[q];
                ux += in[q] * dx[q];
                uy += in[q] * dy[q];
            }
            ux /= sum;
            uy /= sum;
            for (int q = 0; q < 9; q++) {
                double cu = 3 * (dx[q] * ux + dy[q] * uy), weight = q == 0 ? 4. / 9 : q < 5 ? 1. / 9 : 1. / 36;
                double rest = weight * sum * (1 + cu + cu * cu / 2 - 1.5 * (ux * ux + uy * uy));
                wanted[(q * NY + y) * NX + x] = (float)(in[q] + 1.25 * (rest - in[q]));
            }
        }
    EACH_WAY
    {
        RUN(codes_step, IN(f), OUT(g), 1.25f, NX, NY);
        assert_near(g, wanted, 9 * CELLS, 1e-5);
    }
    assert_int_equal(codes_step(f, g, 2.5f, NX, NY), CF_EINVAL);
}

PORT(a_sparse_matrix_multiplies_a_vector)
{
    enum { WIDTH = 5, COLS = 40 };
    EACH_SIZE(port_sizes, rows)
    {
        int *col = random_ints(WIDTH * rows, 1, -1, COLS - 1);
        long long *col_l = MAKE(long long, WIDTH *rows);
        float *val = random_floats(WIDTH * rows, 2, -1, 1), *x = random_floats(COLS, 3, -1, 1), *y = MAKE(float, rows);
        double *val_d = random_doubles(WIDTH * rows, 2, -1, 1), *x_d = random_doubles(COLS, 3, -1, 1);
        double *y_d = MAKE(double, rows), *wanted = MAKE(double, rows), *wanted_d = MAKE(double, rows);
        for (size_t row = 0; row < rows; row++)
            for (size_t k = 0; k < WIDTH; k++) {
                int j = col[k * rows + row];
                col_l[k * rows + row] = j;
                wanted[row] += j < 0 ? 0 : (double)val[k * rows + row] * x[j];
                wanted_d[row] += j < 0 ? 0 : val_d[k * rows + row] * x_d[j];
            }
        EACH_WAY
        {
            RUN(codes_ell_kernel_f32, (int)rows, WIDTH, IN(col), IN(val), IN(x), OUT(y), COLS);
            assert_near(y, wanted, rows, 1e-5);
            RUN(codes_ell_kernel_f64, (long long)rows, WIDTH, IN(col_l), IN(val_d), IN(x_d), OUT(y_d), COLS);
            assert_near(y_d, wanted_d, rows, 1e-12);
        }
        if (rows) {
            col[rows - 1] = COLS;
            assert_int_equal(codes_ell_kernel_f32((int)rows, WIDTH, col, val, x, y, COLS), CF_ERANGE);
        }
        drop_arrays();
    }
}

PORT(points_find_their_centres)
{
    enum { COORDS = 3, CENTRES = 7 };
    EACH_SIZE(port_sizes, n)
    {
        float *points = random_floats(COORDS * n, 1, -1, 1), *centres = random_floats(COORDS * CENTRES, 2, -1, 1);
        int *nearest = MAKE(int, n), *changed = MAKE(int, 1), *wanted = MAKE(int, n), moved = 0;
        for (size_t i = 0; i < n; i++) {
            float least = INFINITY;
            for (int c = 0; c < CENTRES; c++) {
                float sum = 0;
                for (int k = 0; k < COORDS; k++) {
                    float d = points[k * n + i] - centres[k * CENTRES + c];
                    sum += d * d;
                }
                if (sum < least) {
                    least = sum;
                    wanted[i] = c;
                }
            }
            moved += wanted[i] != 0;
        }
        EACH_WAY
        {
            changed[0] = 0;
            RUN(codes_find_nearest_cluster, COORDS, (int)n, CENTRES, IN(points), IN(centres), OUT(nearest),
                INOUT(changed));
            int different = 0; /* if two centres are almost equally near, fused arithmetic may choose another one */
            for (size_t i = 0; i < n; i++)
                different += nearest[i] != wanted[i];
            assert_in_range(different, 0, 1);
            assert_in_range(changed[0], moved - 1 < 0 ? 0 : moved - 1, moved + 1);
        }
        drop_arrays();
    }
}

PORT(all_shortest_paths_are_found)
{
    enum { N = 70, FAR = 1 << 28 };
    int *start = random_ints(N * N, 1, 1, 1000), *dist = MAKE(int, N *N), *path = MAKE(int, N *N),
        *wanted = MAKE(int, N *N);
    for (int i = 0; i < N * N; i++)
        wanted[i] = start[i] = random_below(2, (uint64_t)i, 4) ? FAR : start[i];
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (wanted[i * N + k] < FAR && wanted[k * N + j] < FAR &&
                    wanted[i * N + k] + wanted[k * N + j] < wanted[i * N + j])
                    wanted[i * N + j] = wanted[i * N + k] + wanted[k * N + j];
    EACH_WAY
    {
        memcpy(dist, start, N * N * sizeof *dist);
        for (int k = 0; k < N; k++)
            RUN(codes__Wake_GPU, k, INOUT(dist), INOUT(path), N);
        assert_same(dist, wanted, N * N);
    }
}

static int clamped(int x, int n)
{
    return x < 0 ? 0 : x >= n ? n - 1 : x;
}

PORT(images_are_blurred)
{
    enum { WIDTH = 53, HEIGHT = 21 };
    cf_uchar4 *image = MAKE(cf_uchar4, WIDTH * HEIGHT), *result = MAKE(cf_uchar4, WIDTH * HEIGHT);
    cf_uchar4 *wanted = MAKE(cf_uchar4, WIDTH * HEIGHT);
    for (int i = 0; i < 4 * WIDTH * HEIGHT; i++)
        ((unsigned char *)image)[i] = (unsigned char)random_below(1, (uint64_t)i, 256);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int sum[4] = {0};
            for (int i = 0; i < 25; i++) {
                const unsigned char *p = (const unsigned char *)&image[clamped(y + i / 5 - 2, HEIGHT) * WIDTH +
                                                                       clamped(x + i % 5 - 2, WIDTH)];
                for (int k = 0; k < 4; k++)
                    sum[k] += p[k];
            }
            for (int k = 0; k < 4; k++)
                ((unsigned char *)&wanted[y * WIDTH + x])[k] = (unsigned char)(sum[k] / 25);
        }
    EACH_WAY
    {
        RUN(codes_box_blur, IN(image), OUT(result), ((struct image_Size){WIDTH, HEIGHT}));
        assert_memory_equal(result, wanted, WIDTH * HEIGHT * sizeof *wanted);
    }
}

PORT(rows_have_their_softmax)
{
    enum { ROWS = 3 };
    EACH_SIZE(port_sizes, cols)
    {
        float *x = random_floats(ROWS * cols, 1, -3, 3), *y = MAKE(float, ROWS *cols),
              *wanted = MAKE(float, ROWS *cols);
        for (size_t row = 0; row < ROWS; row++) {
            double sum = 0;
            for (size_t i = 0; i < cols; i++)
                sum += exp(x[row * cols + i]);
            for (size_t i = 0; i < cols; i++)
                wanted[row * cols + i] = (float)(exp(x[row * cols + i]) / sum);
        }
        if (cols)
            EACH_WAY
            {
                RUN(codes_softmax_forward_t64, OUT(y), IN(x), (int)cols, ROWS);
                assert_near(y, wanted, ROWS * cols, 1e-5);
                RUN(codes_softmax_forward_t256, OUT(y), IN(x), (int)cols, ROWS);
                assert_near(y, wanted, ROWS * cols, 1e-5);
            }
        drop_arrays();
    }
}

PORT(rows_are_normalised)
{
    enum { ROWS = 3, COLS = 200 };
    float *x = random_floats(ROWS * COLS, 1, -1, 2), *weight = random_floats(COLS, 2, -1, 1);
    float *bias = random_floats(COLS, 3, -1, 1), *y = MAKE(float, ROWS *COLS), *mean = MAKE(float, ROWS);
    float *scale = MAKE(float, ROWS), *wanted = MAKE(float, ROWS *COLS), *mean_wanted = MAKE(float, ROWS);
    float *scale_wanted = MAKE(float, ROWS);
    for (int row = 0; row < ROWS; row++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < COLS; i++) {
            sum += x[row * COLS + i];
            squares += (double)x[row * COLS + i] * x[row * COLS + i];
        }
        mean_wanted[row] = (float)(sum / COLS);
        scale_wanted[row] = (float)(1 / sqrt(squares / COLS - sum / COLS * sum / COLS + 1e-5));
        for (int i = 0; i < COLS; i++)
            wanted[row * COLS + i] = scale_wanted[row] * (x[row * COLS + i] - mean_wanted[row]) * weight[i] + bias[i];
    }
    EACH_WAY
    {
        RUN(codes_layernorm_forward_f32, OUT(y), OUT(mean), OUT(scale), IN(x), IN(weight), IN(bias), ROWS, COLS);
        assert_near(y, wanted, ROWS * COLS, 1e-5);
        assert_near(mean, mean_wanted, ROWS, 1e-5);
        assert_near(scale, scale_wanted, ROWS, 1e-4);
    }
    assert_int_equal(codes_layernorm_forward_f32(y, mean, scale, x, weight, bias, ROWS, COLS - 1), CF_EINVAL);
}

PORT(pieces_have_their_sums)
{
    enum { PIECE = 128 };
    EACH_SIZE(port_sizes, n)
    {
        size_t pieces = (n + PIECE - 1) / PIECE;
        unsigned *x = MAKE(unsigned, n), *y = MAKE(unsigned, n), *sums = MAKE(unsigned, pieces);
        unsigned *wanted = MAKE(unsigned, n), *sums_wanted = MAKE(unsigned, pieces);
        for (size_t i = 0; i < n; i++) {
            x[i] = (unsigned)random_below(1, i, 1000);
            wanted[i] = sums_wanted[i / PIECE];
            sums_wanted[i / PIECE] += x[i];
        }
        EACH_WAY
        {
            RUN(codes_prescan, OUT(y), IN(x), OUT(sums), n);
            assert_same(y, wanted, n);
            assert_same(sums, sums_wanted, pieces);
        }
        drop_arrays();
    }
}

PORT(queens_have_their_places)
{
    static const unsigned long long counts[] = {0, 1, 0, 0, 2, 10, 4, 40, 92};
    unsigned long long *total = MAKE(unsigned long long, 1);
    for (int n = 1; n <= 8; n++)
        EACH_WAY
        {
            total[0] = 0;
            RUN(codes_queens, n, INOUT(total));
            assert_int_equal(total[0], counts[n]);
        }
    assert_int_equal(codes_queens(17, total), CF_EINVAL);
}

PORT(heat_flows_in_three_dimensions)
{
    enum { NX = 19, NY = 11, NZ = 5, CELLS = NX * NY * NZ };
    double *u = random_doubles(CELLS, 1, -1, 1), *v = MAKE(double, CELLS), *wanted = MAKE(double, CELLS);
    static const int sides[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (int is_periodic = 0; is_periodic < 2; is_periodic++) {
        for (int z = 0; z < NZ; z++)
            for (int y = 0; y < NY; y++)
                for (int x = 0; x < NX; x++) {
                    double sum = -6 * u[(z * NY + y) * NX + x];
                    for (int s = 0; s < 6; s++) {
                        int a = x + sides[s][0], b = y + sides[s][1], c = z + sides[s][2];
                        if (is_periodic)
                            sum += u[((c + NZ) % NZ * NY + (b + NY) % NY) * NX + (a + NX) % NX];
                        else if (a >= 0 && b >= 0 && c >= 0 && a < NX && b < NY && c < NZ)
                            sum += u[(c * NY + b) * NX + a];
                    }
                    wanted[(z * NY + y) * NX + x] = u[(z * NY + y) * NX + x] + 0.125 * sum;
                }
        EACH_WAY
        {
            RUN(codes_step_kernel, IN(u), INOUT(v), ((cf_uint3){NX, NY, NZ}), 0.125,
                is_periodic ? PERIODIC : DIRICHLET);
            assert_near(v, wanted, CELLS, 1e-12);
        }
    }
}

PORT(a_stage_of_a_transform_is_right)
{
    enum { N = 256, BATCH = 3, HALF = 16 };
    cf_complex128 *x = MAKE(cf_complex128, N * BATCH), *y = MAKE(cf_complex128, N * BATCH);
    double *wanted = MAKE(double, 2 * N * BATCH);
    for (int i = 0; i < 2 * N * BATCH; i++)
        ((double *)x)[i] = random_f64(1, (uint64_t)i);
    for (int signal = 0; signal < BATCH; signal++)
        for (int i = 0; i < N / 2; i++) {
            int at = signal * N + i / HALF * 2 * HALF + i % HALF;
            double complex turn = cexp(-I * acos(-1) * (i % HALF) / HALF);
            double complex a = x[at], b = x[at + HALF] * turn;
            wanted[2 * at] = creal(a + b);
            wanted[2 * at + 1] = cimag(a + b);
            wanted[2 * (at + HALF)] = creal(a - b);
            wanted[2 * (at + HALF) + 1] = cimag(a - b);
        }
    EACH_WAY
    {
        const double *got = (const double *)y;
        RUN(codes_stage, IN(x), OUT(y), N, HALF, BATCH);
        assert_near(got, wanted, 2 * N * BATCH, 1e-12);
        RUN(codes_stage_of_all, IN(x), OUT(y), N * BATCH, HALF);
        assert_near(got, wanted, 2 * N * BATCH, 1e-12);
    }
    assert_int_equal(codes_stage(x, y, N, 24, BATCH), CF_EINVAL);
}

PORT(darts_hit_a_circle)
{
    enum { DARTS = 100 };
    for (size_t blocks = 0; blocks < 3; blocks++) {
        size_t n = 256 * blocks;
        unsigned *hits = MAKE(unsigned, n), *wanted = MAKE(unsigned, n);
        for (size_t i = 0; i < n; i++) {
            uint32_t s[4] = {123456789u ^ (uint32_t)(7 + i), 362436069u, 521288629u, 88675123u};
            for (int dart = 0; dart < DARTS; dart++) {
                float at[2];
                for (int k = 0; k < 2; k++) {
                    uint32_t t = s[0] ^ (s[0] << 11);
                    s[0] = s[1];
                    s[1] = s[2];
                    s[2] = s[3];
                    s[3] = s[3] ^ (s[3] >> 19) ^ t ^ (t >> 8);
                    at[k] = (float)(s[3] >> 8) * (1.0f / 16777216.0f);
                }
                wanted[i] += (double)at[0] * at[0] + (double)at[1] * at[1] < 1;
            }
        }
        EACH_WAY
        {
            RUN(codes_throw_darts, OUT(hits), 7, DARTS, (unsigned)blocks);
            assert_same(hits, wanted, n);
        }
        drop_arrays();
    }
}

PORT(a_word_is_found)
{
    EACH_SIZE(port_sizes, n)
    {
        char *text = MAKE(char, n), *word = MAKE(char, 3), *mark = MAKE(char, n), *wanted = MAKE(char, n);
        unsigned *count = MAKE(unsigned, 1), found = 0;
        memcpy(word, "aba", 3);
        for (size_t i = 0; i < n; i++)
            text[i] = (char)('a' + random_below(1, i, 2));
        for (size_t i = 0; i < n; i++) {
            wanted[i] = i + 3 <= n && memcmp(text + i, word, 3) == 0 ? 'x' : '.';
            found += wanted[i] == 'x';
        }
        EACH_WAY
        {
            count[0] = 0;
            RUN(codes_find, IN(text), (long)n, IN(word), 3, OUT(mark), INOUT(count));
            assert_same(mark, wanted, n);
            assert_int_equal(count[0], found);
        }
        drop_arrays();
    }
}

PORT(small_systems_are_solved)
{
    enum { BATCH = 5, N = 16 };
    double *a = random_doubles(BATCH * N * N, 1, -1, 1), *solution = random_doubles(BATCH * N, 2, -1, 1);
    double *b = MAKE(double, BATCH *N), *x = MAKE(double, BATCH *N);
    int *rounds = MAKE(int, BATCH);
    for (int i = 0; i < BATCH * N; i++) {
        a[i * N + i % N] = 3 * N;
        for (int j = 0; j < N; j++)
            b[i] += a[i * N + j] * solution[i / N * N + j];
    }
    EACH_WAY
    {
        RUN(codes_jacobi_batch_f64, IN(a), IN(b), OUT(x), OUT(rounds), BATCH, 1000);
        assert_near(x, solution, BATCH * N, 1e-10);
        for (int i = 0; i < BATCH; i++)
            assert_in_range(rounds[i], 5, 200);
    }
}

PORT(rows_are_reduced_by_blocks)
{
    enum { ROWS = 4 };
    EACH_SIZE(port_sizes, n)
    {
        int *x = random_ints(ROWS * n, 1, -1000, 1000), *sums = MAKE(int, ROWS), *most = MAKE(int, ROWS);
        int *sums_wanted = MAKE(int, ROWS), *most_wanted = MAKE(int, ROWS);
        for (size_t i = 0; i < ROWS * n; i++) {
            sums_wanted[i / n] += x[i];
            most_wanted[i / n] = i % n == 0 || x[i] > most_wanted[i / n] ? x[i] : most_wanted[i / n];
        }
        if (n)
            EACH_WAY
            {
                RUN(codes_block_sum_warp, IN(x), OUT(sums), OUT(most), (int)n, ROWS);
                assert_same(sums, sums_wanted, ROWS);
                assert_same(most, most_wanted, ROWS);
                RUN(codes_block_sum_raking, IN(x), OUT(sums), OUT(most), (int)n, ROWS);
                assert_same(sums, sums_wanted, ROWS);
                assert_same(most, most_wanted, ROWS);
            }
        drop_arrays();
    }
}

PORT(sums_come_from_the_last_block)
{
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
                RUN(codes_sumAndMax, IN(x), INOUT(result), (int)n, use_atomics);
                assert_near(result, wanted, 2, 1e-9);
            }
        }
        drop_arrays();
    }
}

/* One level of a breadth-first search. The vertices of the next level are in any order. */
PORT(queues_have_the_next_level)
{
    enum { V = 500, EACH = 3, LEVEL = 4 };
    int *offsets = MAKE(int, V + 1), *edges = random_ints(V * EACH, 1, 0, V), *queue = MAKE(int, V), size = 0;
    int *start = MAKE(int, V), *distance = MAKE(int, V), *wanted = MAKE(int, V), *next = MAKE(int, V);
    int *next_size = MAKE(int, 1), *found = MAKE(int, V), count = 0;
    for (int v = 0; v <= V; v++)
        offsets[v] = EACH * v;
    for (int v = 0; v < V; v++) {
        start[v] = v % 5 == 0 ? LEVEL : v % 7 == 0 ? 1 : INT32_MAX;
        if (start[v] == LEVEL)
            queue[size++] = v;
    }
    memcpy(wanted, start, V * sizeof *start);
    for (int i = 0; i < size * EACH; i++)
        if (wanted[edges[EACH * queue[i / EACH] + i % EACH]] == INT32_MAX)
            wanted[edges[EACH * queue[i / EACH] + i % EACH]] = LEVEL + 1;
    for (int v = 0; v < V; v++)
        if (wanted[v] == LEVEL + 1)
            found[count++] = v;
    EACH_WAY
    {
        memcpy(distance, start, V * sizeof *start);
        *next_size = 0;
        RUN(codes_queueBfs, LEVEL, IN(offsets), IN(edges), INOUT(distance), IN(queue), size, INOUT(next),
            INOUT(next_size), V, V * EACH);
        assert_same(distance, wanted, V);
        assert_int_equal(*next_size, count);
        qsort(next, (size_t)count, sizeof *next, compare_ints);
        assert_same(next, found, count);
    }
}

PORT(tables_of_rows_are_counted)
{
    enum { ROWS = 4, WIDTH = 100, LACKING = 2 };
    float *x = random_floats(ROWS * WIDTH, 1, -1, 1), *rows[ROWS] = {NULL}, *memory, **table;
    int *counts = MAKE(int, ROWS), wanted[ROWS] = {0};
    assert_ok(cf_mem_alloc((void **)&memory, ROWS * WIDTH * sizeof *x));
    assert_ok(cf_mem_alloc((void **)&table, sizeof rows));
    for (int i = 0; i < ROWS * WIDTH; i++)
        wanted[i / WIDTH] += x[i] > 0;
    for (int row = 0; row < ROWS; row++)
        rows[row] = row == LACKING ? NULL : memory + row * WIDTH;
    wanted[LACKING] = -1;
    assert_ok(cf_mem_copy(memory, x, ROWS * WIDTH * sizeof *x));
    assert_ok(cf_mem_copy(table, rows, sizeof rows));
    EACH_WAY
    {
        RUN(codes_countPositive, table, OUT(counts), WIDTH, ROWS);
        assert_same(counts, wanted, ROWS);
    }
    assert_ok(cf_mem_free(memory));
    assert_ok(cf_mem_free(table));
}

int main(void)
{
    return run_ports(&codes_registry);
}
