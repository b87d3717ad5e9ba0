/* test_cluster.c - the kernels of cluster.cu find the blocks of their cluster, and wait for them. */
#include "played_gpu.h"

#include "cluster_kernels.h"

enum { THREADS = 32, BLOCKS = 24, ITEMS = 4000 };

static int x[BLOCKS * THREADS], y[BLOCKS * THREADS], many[ITEMS];

static int fill(void **state)
{
    (void)state;
    for (int i = 0; i < BLOCKS * THREADS; i++)
        x[i] = y[i] = i * 7 % 1000;
    for (int i = 0; i < ITEMS; i++)
        many[i] = i * i % 977;
    return 0;
}

TEST_WITH(clusters_have_ranks_and_sizes, fill, NULL)
{
    static int results[16 * 48 * 12];
    assert_int_equal(cluster_ranks(results), CF_OK);
    for (int b = 0; b < 48; b++)
        for (int t = 0; t < 16; t++) {
            const int bx = b % 4 % 2, by = b / 4 % 6 % 3, rank = by * 2 + bx;
            const int wanted[12] = {rank, 6, rank * 16 + t, 96, bx, by, 0, 2, 3, 1, bx * 8 + t % 8, 6};
            assert_memory_equal(results + (b * 16 + t) * 12, wanted, sizeof wanted);
        }
}

TEST_WITH(kernels_without_clusters_have_clusters_of_one_block, fill, NULL)
{
    assert_int_equal(cluster_single(y, BLOCKS), CF_OK);
    for (int b = 0; b < BLOCKS; b++) {
        const int wanted[4] = {63 * 32, 1, 0, 64};
        assert_memory_equal(y + b * 4, wanted, sizeof wanted);
    }
}

TEST_WITH(blocks_count_into_each_others_memory, fill, NULL)
{
    static const struct {
        int (*run)(const int *, int, int *);
        int size;
    } forms[] = {{cluster_histogram_one, 1}, {cluster_histogram_two, 2}, {cluster_histogram_four, 4}};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (int n = 1; n <= ITEMS; n += 1333) {
            const int count = forms[f].size * 16;
            int bins[64] = {0}, wanted[64] = {0};
            assert_int_equal(forms[f].run(many, n, bins), CF_OK);
            for (int i = 0; i < n; i++)
                wanted[many[i] % count]++;
            assert_memory_equal(bins, wanted, (size_t)count * sizeof *bins);
        }
}

TEST_WITH(rows_go_round_a_cluster, fill, NULL)
{
    for (int rounds = 0; rounds < 6; rounds++) {
        fill(NULL);
        assert_int_equal(cluster_rotate(y, BLOCKS, rounds), CF_OK);
        for (int i = 0; i < BLOCKS * THREADS; i++) {
            const int block = i / THREADS, t = i % THREADS;
            assert_int_equal(y[i], x[(block / 4 * 4 + (block + rounds) % 4) * THREADS + (t + rounds) % THREADS]);
        }
    }
}

TEST_WITH(clusters_do_not_wait_for_threads_that_ended, fill, NULL)
{
    assert_int_equal(cluster_leave(y, BLOCKS), CF_OK);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        assert_int_equal(y[i], i % THREADS < 24 ? (i / THREADS ^ 1) : -1);
}

TEST_WITH(threads_arrive_before_they_wait, fill, NULL)
{
    for (int rounds = 0; rounds < 5; rounds++) {
        assert_int_equal(cluster_cross(y, BLOCKS / 2, rounds), CF_OK);
        for (int i = 0; i < BLOCKS * THREADS; i++)
            assert_int_equal(y[i], rounds % 2 ? (i / 64 ^ 1) * 64 + 63 - i % 64 : i);
    }
}

TEST_WITH(arrivals_and_waits_alternate_on_the_cpu, fill, NULL)
{
    static const struct {
        int arrivals, waits;
        const char *text;
    } cases[] = {
        {0, 0, NULL},
        {1, 0, NULL},
        {1, 1, NULL},
        {2, 1, "a thread arrives at its cluster's barrier again, without barrier_wait() after barrier_arrive()"},
        {0, 1, "barrier_wait() of a cluster without barrier_arrive() before it: call barrier_arrive() first"},
        {1, 2, "barrier_wait() of a cluster without barrier_arrive() before it: call barrier_arrive() first"},
    };
    need_cpu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(cluster_steps(cases[i].arrivals, cases[i].waits, y), cases[i].text ? CF_EFAULT : CF_OK);
        for (int t = 0; t < 128 && !cases[i].text; t++)
            assert_int_equal(y[t], t % 32 % 3 ? cases[i].waits : cases[i].arrivals);
        if (cases[i].text && (!strstr(cf_last_error(), cases[i].text) || !strstr(cf_last_error(), "cluster.cu:")))
            fail_msg("no '%s' in '%s'", cases[i].text, cf_last_error());
    }
}

TEST_WITH(mistakes_are_errors_on_the_cpu, fill, NULL)
{
    static const struct {
        int rank, is_shared, is_asked, is_alone;
        const char *text;
    } cases[] = {
        {2, 1, 0, 0, "map_shared_rank() of a block that the cluster does not have"},
        {-1, 1, 0, 0, "map_shared_rank() of a block that the cluster does not have"},
        {1, 0, 0, 0, "map_shared_rank() of an address outside of the block's __shared__ variables"},
        {1, 1, 1, 0, "query_shared_rank() of an address outside of the cluster's __shared__ variables"},
        {0, 1, 0, 1, "31 of 64 threads wait at cluster_group::sync() in "},
    };
    need_cpu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(cluster_mistake(cases[i].rank, cases[i].is_shared, cases[i].is_asked, cases[i].is_alone, y),
                         CF_EFAULT);
        if (!strstr(cf_last_error(), cases[i].text) || !strstr(cf_last_error(), "cluster.cu:"))
            fail_msg("no '%s' in '%s'", cases[i].text, cf_last_error());
    }
}

TEST_WITH(barriers_of_clusters_are_refused_in_cooperative_kernels, fill, NULL)
{
    need_cpu();
    assert_int_equal(cluster_together(y), CF_EFAULT);
    if (!strstr(cf_last_error(),
                "in a cooperative kernel: take grid.sync(), or remove `cooperative` from the annotation"))
        fail_msg("%s", cf_last_error());
}

TEST_WITH(grids_that_clusters_do_not_divide_are_refused, fill, NULL)
{
    assert_fails(cluster_rotate(y, 6, 1), CF_EINVAL,
                 "cluster_rotate: its grid of 6 x 1 x 1 blocks is no multiple of its clusters' 4 x 1 x 1");
    assert_fails(cluster_leave(y, 3), CF_EINVAL,
                 "cluster_leave: its grid of 3 x 1 x 1 blocks is no multiple of its clusters' 2 x 1 x 1");
}

int main(void)
{
    return run_played(&cluster_registry, NULL);
}
