/* test_turned.c - kernels in which the CPU exchanges x and y, and kernels that only look like them. In both, each
 * element must have the indices of its own thread. */
#include <stdlib.h>

#include "run_group.h"

#include <cuferry/registry.h>

#include "turned_kernels.h"

enum { ROWS = 5, COLUMNS = 12, MOST = 1 << 16 };

static int in[MOST], other[MOST], out[MOST];

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < MOST; i++) {
        in[i] = i * 37 % 101;
        other[i] = i * 53 % 89;
    }
    return cf_device_use(CF_HOST);
}

static const int shapes[][2] = {{1, 1}, {3, 70}, {70, 3}, {35, 36}, {100, 129}, {128, 64}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

TEST(plain_kernels_have_their_own_indices)
{
    const int layers = 3;
    for (int s = 0; s < SHAPES; s++) {
        const int rows = shapes[s][0], columns = shapes[s][1], grid = (rows + 3) / 4 + (columns + 7) / 8 * 8;
        assert_ok(turned_guarded(in, out, rows, columns, layers));
        for (int i = 0; i < layers * rows * columns; i++)
            assert_int_equal(out[i], in[i] + 1000 * (i / columns % rows % 4 + i % columns % 8 * 4) + 100000 * grid);
        assert_ok(turned_by_function(in, out, rows, columns));
        for (int i = 0; i < rows * columns; i++)
            assert_int_equal(out[i], in[i] + 1);
        assert_ok(turned_along_x(in, out, rows, columns));
        for (int i = 0; i < rows * columns; i++)
            assert_int_equal(out[i], in[i] + 1);
        assert_ok(turned_transposed(in, out, rows, columns));
        for (int i = 0; i < rows * columns; i++)
            assert_int_equal(out[i % columns * rows + i / columns], in[i]);
    }
}

TEST(products_have_their_own_indices)
{
    const int inner = 41;
    for (int s = 0; s < SHAPES; s++) {
        const int rows = shapes[s][0], columns = shapes[s][1];
        assert_ok(turned_product(in, other, out, rows, columns, inner));
        for (int i = 0; i < rows * columns; i++) {
            int sum = 0;
            for (int k = 0; k < inner; k++)
                sum += in[i / columns * inner + k] * other[k * columns + i % columns];
            assert_int_equal(out[i], sum);
        }
    }
}

TEST(blocks_have_their_own_indices)
{
    const int rows = 7 * ROWS, columns = 9 * COLUMNS;
    assert_ok(turned_tile(in, out, rows, columns));
    for (int i = 0; i < rows * columns; i++) {
        const int row = i / columns, mirrored = row / ROWS * ROWS + ROWS - 1 - row % ROWS;
        const int first = i % columns / COLUMNS * COLUMNS, column = first + COLUMNS - 1 - i % columns % COLUMNS;
        int sum = in[mirrored * columns + column];
        for (int k = 0; k < COLUMNS; k++)
            sum += in[row * columns + first + k] * k;
        assert_int_equal(out[i], sum + 1000000 * ROWS);
    }
    assert_ok(turned_by_turns(in, out, rows, columns));
    for (int i = 0; i < rows * columns; i++) {
        const int row = i / columns, mirrored = row / ROWS * ROWS + ROWS - 1 - row % ROWS;
        assert_int_equal(out[i], in[mirrored * columns + i % columns] + in[i]);
    }
}

/* Lanes are numbered along x first, then along y: lanes next to each other have different x. */
TEST(lanes_have_their_own_indices)
{
    const int rows = 6, columns = 64;
    assert_ok(turned_by_lanes(in, out, rows, columns));
    for (int i = 0; i < rows * columns; i++)
        assert_int_equal(out[i], in[i]);
    assert_ok(turned_by_lanes_of_function(in, out, rows, columns));
    for (int i = 0; i < rows * columns; i++)
        assert_int_equal(out[i], i / columns % 2 ? -1 : in[i + columns]);
    assert_ok(turned_by_matching(in, out, rows, columns));
    for (int i = 0; i < rows * columns; i++) {
        const int first = i / columns / 2 * 2 * columns + i % columns / 16 * 16; /* a warp has 2 rows with 16 columns */
        int count = 0;
        for (int lane = 0; lane < 32; lane++)
            count += in[first + lane % 2 * columns + lane / 2] % 3 == in[i] % 3;
        assert_int_equal(out[i], count);
    }
}

int main(void)
{
    return run_all_tests(set_up, end_library);
}
