/* test_port_graph.c - the kernels of ports/port_graph.cu compared with plain loops. */
#include "ports.h"

#include "port_graph_kernels.h"

/* ---- Sparse matrices ---- */

/* Returns the start of each row; rows have up to `longest` elements and some are empty. */
static int *make_rows(size_t rows, uint64_t longest)
{
    int *begins = MAKE(int, rows + 1);
    for (size_t row = 0; row < rows; row++)
        begins[row + 1] = begins[row] + (int)(row % 4 ? random_below(7, row, longest + 1) : 0);
    return begins;
}

static void spmv_by_threads_and_by_lanes_equals_a_loop(void **state)
{
    (void)state;
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
            RUN(port_graph_spmv_scalar_f32, IN(begins), IN(column), IN(value), IN(x), OUT(y), n, COLS, nonzeros);
            assert_near(y, wanted, rows, 1e-5);
            RUN(port_graph_spmv_scalar_f64, IN(begins), IN(column), IN(value_d), IN(x_d), OUT(y_d), n, COLS, nonzeros);
            assert_near(y_d, wanted, rows, 1e-13);
            RUN(port_graph_spmv_vector_lanes32, IN(begins), IN(column), IN(value), IN(x), OUT(y), n, COLS, nonzeros);
            assert_near(y, wanted, rows, 1e-5);
            RUN(port_graph_spmv_vector_lanes8, IN(begins), IN(column), IN(value), IN(x), OUT(y), n, COLS, nonzeros);
            assert_near(y, wanted, rows, 1e-5);
            RUN(port_graph_spmv_vector_lanes2, IN(begins), IN(column), IN(value), IN(x), OUT(y), n, COLS, nonzeros);
            assert_near(y, wanted, rows, 1e-5);
        }
        drop_arrays();
    }
}

/* ---- Search from a vertex ---- */

static void expect_levels(const int *begins, const int *target, int *levels, int vertices)
{
    for (int level = 0; level < vertices; level++)
        for (int v = 0; v < vertices; v++)
            for (int e = begins[v]; levels[v] == level && e < begins[v + 1]; e++)
                if (levels[target[e]] < 0)
                    levels[target[e]] = level + 1;
}

static void bfs_step_after_step_finds_all_levels(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){1, 2, 33, 257, 600}), vertices)
    {
        int *begins = make_rows(vertices, 3), edges = begins[vertices];
        int *target = random_ints((size_t)edges, 1, 0, (int)vertices), *levels = MAKE(int, vertices);
        int *frontier = MAKE(int, vertices), *next = MAKE(int, vertices), *wanted = MAKE(int, vertices);
        unsigned int *next_count = MAKE(unsigned int, 1);
        int from = (int)vertices / 2 | 1; /* a vertex with edges */
        from = from < (int)vertices ? from : 0;
        memset(wanted, -1, vertices * sizeof *wanted);
        wanted[from] = 0;
        expect_levels(begins, target, wanted, (int)vertices);
        EACH_WAY
        {
            int count = 1;
            memset(levels, -1, vertices * sizeof *levels);
            levels[from] = 0;
            frontier[0] = from;
            for (int level = 0; count; level++) {
                /* The array has exactly the declared extent. */
                int *exact = MAKE(int, count);
                memcpy(exact, frontier, (size_t)count * sizeof *exact);
                *next_count = 0;
                RUN(port_graph_bfs_step, IN(begins), IN(target), IN(exact), INOUT(levels), INOUT(next),
                    INOUT(next_count), level, (int)vertices, edges, count);
                free(port_arrays[--port_count].host);
                count = (int)*next_count;
                memcpy(frontier, next, (size_t)count * sizeof *next);
            }
            assert_same(levels, wanted, vertices);
        }
        drop_arrays();
    }
}

/* ---- Components ---- */

/* Labels each vertex with the lowest vertex of its component. */
static void expect_components(const int *edge, int *labels, int vertices, int edges)
{
    for (int v = 0; v < vertices; v++)
        labels[v] = v;
    for (int is_changed = 1; is_changed;) {
        is_changed = 0;
        for (int e = 0; e < edges; e++) {
            int *a = &labels[edge[2 * e]], *b = &labels[edge[2 * e + 1]];
            is_changed |= *a != *b;
            *a = *b = *a < *b ? *a : *b;
        }
    }
}

static void check_components(size_t vertices, size_t edges)
{
    int *edge = MAKE(int, 2 * edges), *from = MAKE(int, edges), *to = MAKE(int, edges), *changed = MAKE(int, 1);
    int *labels = MAKE(int, vertices), *wanted = MAKE(int, vertices);
    for (size_t e = 0; e < edges; e++) {
        edge[2 * e] = from[e] = (int)random_below(1, e, vertices);
        edge[2 * e + 1] = to[e] = (int)random_below(2, e, vertices);
    }
    expect_components(edge, wanted, (int)vertices, (int)edges);
    EACH_WAY
    {
        for (size_t v = 0; v < vertices; v++)
            labels[v] = (int)v;
        size_t steps = 0;
        for (*changed = 1; *changed; steps++) {
            *changed = 0;
            RUN(port_graph_label_step, IN(from), IN(to), INOUT(labels), INOUT(changed), (int)vertices, (int)edges);
            assert_true(steps <= vertices);
        }
        assert_same(labels, wanted, vertices);
        for (size_t v = 0; v < vertices; v++)
            labels[v] = (int)v;
        RUN(port_graph_union_edges, IN(edge), INOUT(labels), (int)vertices, (int)edges);
        RUN(port_graph_flatten, INOUT(labels), (int)vertices);
        assert_same(labels, wanted, vertices); /* a root has the lowest number because parents have lower numbers */
    }
    drop_arrays();
}

static void components_by_labels_and_by_trees_are_the_same(void **state)
{
    (void)state;
    EACH_SIZE(((int[]){0, 1, 31, 32, 33, 255, 256, 257, 2000}), edges)
    {
        check_components(edges + 1, edges);
        check_components(edges / 2 + 1, edges);
        check_components(3, edges);
    }
}

/* ---- Text ---- */

static void string_search_finds_overlaps_and_ends(void **state)
{
    (void)state;
    static const char *const patterns[] = {"a", "ab", "aba", "bbbbbbb", "abaabaaab", "cabc"};
    EACH_SIZE(port_sizes, n)
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        size_t m = strlen(patterns[p]);
        char *text = MAKE(char, n), *pattern = MAKE(char, m);
        unsigned char *is_match = MAKE(unsigned char, n), *wanted = MAKE(unsigned char, n);
        unsigned int *matches = MAKE(unsigned int, 1), wanted_matches = 5;
        memcpy(pattern, patterns[p], m);
        for (size_t i = 0; i < n; i++)
            text[i] = "aab"[random_below(1, i, 3)];
        if (n >= m)
            memcpy(text + n - m, pattern, m);
        for (size_t i = 0; i + m <= n; i++)
            wanted_matches += wanted[i] = memcmp(text + i, pattern, m) == 0;
        EACH_WAY
        {
            *matches = 5;
            RUN(port_graph_string_search, IN(text), IN(pattern), OUT(is_match), INOUT(matches), (int)n, (int)m);
            assert_same(is_match, wanted, n);
            assert_int_equal(*matches, wanted_matches);
        }
        drop_arrays();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PORT(spmv_by_threads_and_by_lanes_equals_a_loop),
        PORT(bfs_step_after_step_finds_all_levels),
        PORT(components_by_labels_and_by_trees_are_the_same),
        PORT(string_search_finds_overlaps_and_ends),
    };
    return RUN_PORTS(port_graph_registry, tests);
}
