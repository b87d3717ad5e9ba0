/* test_port_groups.c - the kernels of ports/port_groups.cu compared with plain loops. */
#include "ports.h"

#include "port_groups_kernels.h"

PORT(group_sum_of_tiles_of_any_size_equals_a_loop)
{
    EACH_SIZE(port_sizes, n)
    {
        int *x = random_ints(n, 1, INT32_MIN, INT32_MAX);
        long long *sum = MAKE(long long, 1), wanted = -9;
        for (size_t i = 0; i < n; i++)
            wanted += x[i];
        EACH_WAY
        {
            *sum = -9;
            RUN(port_groups_group_sum_tile32, IN(x), INOUT(sum), (int)n);
            assert_same(sum, &wanted, 1);
            *sum = -9;
            RUN(port_groups_group_sum_tile4, IN(x), INOUT(sum), (int)n);
            assert_same(sum, &wanted, 1);
        }
        drop_arrays();
    }
}

PORT(group_reverse_turns_each_row_round)
{
    EACH_SIZE(((int[]){0, 1, 5, 100}), rows)
    {
        float *x = random_floats(64 * rows, 1, -1, 1), *y = MAKE(float, 64 * rows), *wanted = MAKE(float, 64 * rows);
        for (size_t i = 0; i < 64 * rows; i++)
            wanted[i] = x[i / 64 * 64 + 63 - i % 64];
        EACH_WAY
        {
            RUN(port_groups_group_reverse, IN(x), OUT(y), (int)rows);
            assert_near(y, wanted, 64 * rows, 0);
        }
        drop_arrays();
    }
}

PORT(grid_sum_waits_for_all_blocks)
{
    EACH_SIZE(((int[]){0, 1, 31, 127, 128, 129, 2047, 2048, 2049, 50000}), n)
    {
        double *x = random_doubles(n, 1, -1, 1), *sum = MAKE(double, 1), wanted = 0;
        for (size_t i = 0; i < n; i++)
            wanted += x[i];
        EACH_WAY
        {
            RUN(port_groups_grid_sum, IN(x), OUT(sum), (int64_t)n);
            assert_near(sum, &wanted, 1, 1e-10);
        }
        drop_arrays();
    }
}

PORT(grid_heat_of_many_steps_equals_a_loop)
{
    EACH_SIZE(((int[]){0, 1, 2, 63, 64, 65, 511, 512, 513, 2000}), n)
    for (int steps = 0; steps < 10; steps += 3) {
        float *begin = random_floats(n, 1, -1, 1), *u = MAKE(float, n), *v = MAKE(float, n);
        double *now = MAKE(double, n), *next = MAKE(double, n);
        for (size_t i = 0; i < n; i++)
            now[i] = (double)begin[i];
        for (int step = 0; step < steps; step++) {
            for (size_t i = 0; i < n; i++)
                next[i] = 0.25 * now[(i + n - 1) % n] + 0.5 * now[i] + 0.25 * now[(i + 1) % n];
            memcpy(now, next, n * sizeof *now);
        }
        EACH_WAY
        {
            memcpy(u, begin, n * sizeof *u);
            memset(v, PORT_POISON, n * sizeof *v);
            RUN(port_groups_grid_heat, INOUT(u), INOUT(v), steps, (int)n);
            assert_near(steps % 2 ? v : u, now, n, 1e-5);
        }
        drop_arrays();
    }
}

int main(void)
{
    return run_ports(&port_groups_registry);
}
