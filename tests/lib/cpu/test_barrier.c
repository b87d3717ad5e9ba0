/* test_barrier.c - barriers in a kernel's memory: cuda::barrier, tiles of several warps, and the errors about a barrier
 * where some threads never arrive. */
#include "expect_all.h"

#include "barrier_kernels.h"

enum { FEW = SANITIZED ? 4 : 40 };

static const int sizes[] = {1, 2, 31, 32, 33, 64, 100, 256, 1000, 1024};

/* ---- cuda::barrier ---- */

TEST(barrier_orders_its_threads)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        expect_all(3 * sizes[i], barrier_pass_on, 3, sizes[i], 10);
}

/* Barriers whose addresses differ by a multiple of 512 bytes share one list of waiting threads. */
TEST(barrier_of_some_threads_does_not_hold_others)
{
    for (int groups = 1; groups <= 4; groups++)
        for (int apart = 2; apart <= 64; apart += 31)
            expect_all(3 * 256, barrier_mingle, 3, groups, apart, 25);
}

TEST(barrier_of_producers_and_consumers_goes_beside_others)
{
    expect_all(FEW * 128, barrier_produce, FEW, 50);
}

TEST(barrier_phases_are_waited_for_by_token_and_by_parity)
{
    for (int n = 2; n <= 1024; n *= 3)
        expect_all(n, barrier_phases, n);
}

TEST(barrier_threads_that_drop_are_not_waited_for)
{
    static int rounds[3 * 1024];
    for (int n = 1; n <= (SANITIZED ? 100 : 1024); n = n * 2 + 1) {
        assert_ok(barrier_drop(3, n, rounds));
        for (int i = 0; i < 3 * n; i++)
            assert_int_equal(rounds[i], i % n * 37 % n);
    }
}

TEST(barrier_completion_comes_before_the_next_phase)
{
    expect_all(FEW * 64, barrier_complete, FEW);
}

TEST(barrier_copies_are_complete_after_it)
{
    int x[5 * 200], y[5 * 200], wrong[2] = {0, 0};
    for (int i = 0; i < 5 * 200; i++)
        x[i] = 7 * i;
    assert_ok(barrier_copy(x, 5, y, wrong));
    assert_int_equal(wrong[1], 5 * 96);
    for (int i = 0; i < 5 * 200; i++)
        assert_int_equal(y[i], x[i / 200 * 200 + 199 - i % 200]);
}

/* ---- Between blocks ---- */

static void run_wide(int blocks, int threads, int expected)
{
    uint64_t barrier;
    int cells[64], wrong[2] = {0, 0};
    assert_ok(barrier_make_wide(&barrier, expected));
    if (barrier_wide(&barrier, cells, blocks, threads, 20, wrong) != CF_OK)
        fail_msg("%s", cf_last_error());
    assert_int_equal(wrong[0], 0);
    assert_int_equal(wrong[1], blocks * threads);
}

/* Runs on one CPU thread, and on several. */
TEST(barrier_of_a_device_orders_blocks)
{
    run_wide(1, 1, 1);
    run_wide(3, 32, 3);
    run_wide(64, 64, 64);
    if (!SANITIZED)
        run_wide(64, 512, 64);
}

TEST(thread_that_polls_lets_others_of_its_block_go_on)
{
    for (int threads = 64; threads <= 256; threads *= 4) { /* on one CPU thread or several */
        uint64_t barrier;
        int flags[2] = {0, 0};
        assert_ok(barrier_make_wide(&barrier, 2));
        assert_ok(barrier_polled(&barrier, flags, 64, threads));
        assert_int_equal(flags[1], 1);
    }
}

/* ---- Errors, where a GPU would hang ---- */

TEST(barrier_that_other_blocks_do_not_come_to_is_named)
{
    need_cpu();
    for (int threads = 32; threads <= 128; threads *= 4) { /* on one CPU thread or several */
        uint64_t barrier;
        int cells[64], wrong[2] = {0, 0};
        assert_ok(barrier_make_wide(&barrier, 65));
        assert_int_equal(barrier_wide(&barrier, cells, 64, threads, 20, wrong), CF_EFAULT);
        if (!strstr(cf_last_error(), "threads wait at cuda::barrier::arrive_and_wait() in ") ||
            !strstr(cf_last_error(), "for 1 more of 65 arrivals"))
            fail_msg("%s", cf_last_error());
    }
}

TEST(barrier_that_lacks_arrivals_is_named)
{
    need_cpu();
    int wrong[2] = {0, 0};
    assert_ok(barrier_lacks(60, wrong));
    assert_int_equal(wrong[1], 128);
    assert_int_equal(barrier_lacks(63, wrong), CF_EFAULT);
    if (!strstr(cf_last_error(), "60 of 64 threads wait at cuda::barrier::arrive_and_wait() in ") ||
        !strstr(cf_last_error(), "barrier.cu:") ||
        !strstr(cf_last_error(), " for 3 more of 63 arrivals, such as (0, 0, 0) of block ("))
        fail_msg("%s", cf_last_error());
    assert_int_equal(barrier_lacks(-1, wrong), CF_EFAULT);
    assert_non_null(strstr(cf_last_error(), "a barrier that expects less than none"));
    assert_int_equal(barrier_lacks(0, wrong), CF_EFAULT);
    assert_non_null(strstr(cf_last_error(), "arrive_and_wait() of more than it expects"));
}

TEST(barrier_of_a_tile_that_a_thread_does_not_come_to_is_named)
{
    need_cpu();
    int wrong[2] = {0, 0};
    assert_int_equal(barrier_divided(wrong), CF_EFAULT);
    if (!strstr(cf_last_error(), "63 of 64 threads wait at thread_block_tile::sync() in ") ||
        !strstr(cf_last_error(), " for 1 more of 64 arrivals, such as (0, 0, 0)") ||
        !strstr(cf_last_error(), "1 of 64 threads wait at __syncthreads() in "))
        fail_msg("%s", cf_last_error());
}

/* ---- Tiles ---- */

TEST(tiles_of_several_warps_exchange_values)
{
    expect_all(2048, barrier_tiles, 1024, 1, 1);
    expect_all(2048, barrier_tiles, 8, 16, 8);
}

TEST(tiles_of_several_warps_do_not_wait_for_each_other)
{
    expect_all(FEW * 512, barrier_own_ways, FEW);
}

TEST(tiles_of_several_warps_reserve_ranges)
{
    int total[2] = {0, 0}, wrong[2] = {0, 0};
    static int ranks[20 * 256];
    assert_ok(barrier_ranges(20, total, ranks, wrong));
    assert_int_equal(wrong[0], 0);
    assert_int_equal(wrong[1], 20 * 256);
    assert_int_equal(total[0], 20 * 256);
    assert_int_equal(total[1], 40 * 256);
    for (int i = 0; i < 20 * 256; i++)
        assert_int_equal(ranks[i], 1);
    int sums[9], all = 0;
    assert_ok(barrier_stores(9, sums, &all));
    assert_int_equal(all, 9 * 128);
    for (int i = 0; i < 9; i++)
        assert_int_equal(sums[i], 127 * 64);
}

int main(void)
{
    return run_played(&barrier_registry, NULL);
}
