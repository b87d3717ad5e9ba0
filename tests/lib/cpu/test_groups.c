/* test_groups.c - cooperative groups: ranks, shuffles, votes, reductions and scans of every group. */
#include "expect_all.h"

#include "groups_kernels.h"

static const int shapes[][3] = {{32, 1, 1}, {256, 1, 1}, {8, 12, 1}, {4, 8, 4}, {1024, 1, 1}, {2, 2, 8}};
static const int odd_shapes[][3] = {{1, 1, 1}, {31, 1, 1}, {33, 1, 1}, {5, 7, 3}, {7, 9, 1}, {1000, 1, 1}, {64, 1, 1}};

TEST(groups_know_their_ranks)
{
    for (size_t i = 0; i < sizeof odd_shapes / sizeof *odd_shapes; i++) {
        const int *b = odd_shapes[i];
        expect_all(15 * b[0] * b[1] * b[2], groups_ranks, 5, 3, b[0], b[1], b[2]);
    }
}

/* Kernels whose threads wait for one another are not marked as bounded; see registry.h. */
TEST(groups_of_ranks_alone_run_in_a_loop)
{
    int found = 0;
    for (uint32_t i = 0; i < groups_registry.count; i++) {
        const cf_kernel *kernel = groups_registry.kernels[i];
        const int is_ranks = strcmp(kernel->name, "ranks_alone") == 0;
        found += is_ranks;
        assert_int_equal(kernel->is_bounded, is_ranks);
    }
    assert_int_equal(found, 1);
    int y[3 * 32];
    assert_ok(groups_ranks_alone(3, y));
    for (int i = 0; i < 3 * 32; i++)
        assert_int_equal(y[i], i % 16 + i % 32 / 16 * 100);
}

TEST(groups_that_are_tiles_exchange_values)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int *b = shapes[i];
        expect_all(3 * b[0] * b[1] * b[2], groups_tiles, b[0], b[1], b[2]);
    }
}

TEST(groups_are_divided_at_run_time)
{
    for (size_t i = 0; i < sizeof odd_shapes / sizeof *odd_shapes; i++) {
        const int *b = odd_shapes[i];
        expect_all(2 * b[0] * b[1] * b[2], groups_partitions, b[0], b[1], b[2]);
    }
}

TEST(groups_of_a_branch_exchange_values)
{
    static const int sizes[] = {1, 2, 5, 31, 32, 33, 64, 100, 1024};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        expect_all(2 * sizes[i], groups_coalesced, sizes[i]);
}

TEST(groups_elect_one_of_them)
{
    for (int n = 32; n <= 1024; n *= 2) {
        int sums[4] = {0, 0, -1, 0};
        expect_all(n, groups_elections, n, sums);
        assert_int_equal(sums[0], n / 32);
        assert_int_equal(sums[1], n * (n - 1) / 2);
        assert_int_equal(sums[2], n - 1);
        assert_int_equal(sums[3], n);
    }
}

TEST(groups_wait_for_their_threads)
{
    expect_all(3 * 128, groups_syncs, 3);
}

TEST(groups_copy_together)
{
    enum { ROWS = 17 };
    float x[ROWS * 96], y[ROWS * 96];
    for (int i = 0; i < ROWS * 96; i++)
        x[i] = (float)i;
    expect_all(ROWS * 64, groups_copies, ROWS, x, y);
    for (int i = 0; i < ROWS * 96; i++)
        assert_true(y[i] == (float)(i / 96 * 96 + 95 - i % 96));
}

TEST(groups_of_the_whole_grid_wait)
{
    for (int n = 64; n <= 2048; n *= 2) {
        int x[2048], sum = 0;
        for (int i = 0; i < n; i++)
            sum += x[i] = i * 7 % 13;
        expect_all(n, groups_grid_sums, n, x);
        for (int i = 0; i < n; i++)
            assert_int_equal(x[i], sum);
    }
}

/* On a GPU this would make the device unusable for the rest of the process. */
TEST(groups_that_cannot_wait_say_so)
{
    expect_all(64, groups_grid_that_is_not_resident, 0);
    need_cpu();
    int wrong[2] = {0, 0};
    assert_fails(groups_grid_that_is_not_resident(1, wrong), CF_EFAULT,
                 "grid.sync() in a kernel that is not cooperative: add `cooperative` to the annotation");
    assert_fails(groups_wrong_tile(12, wrong), CF_EFAULT, "tiled_partition() of a size that is no power of 2 up to 32");
}

int main(void)
{
    return run_played(&groups_registry, NULL);
}
