/* test_pipeline.c - the pipelines of pipeline.cu deliver every batch of numbers, in order. */
#include "played_gpu.h"

#include "pipeline_kernels.h"

enum { THREADS = 64, BLOCKS = 3, MOST = 9 };

static int x[BLOCKS * THREADS * MOST * 2], y[BLOCKS * THREADS * MOST * 2];

static int fill(void **state)
{
    (void)state;
    for (int i = 0; i < (int)(sizeof x / sizeof *x); i++) {
        x[i] = i * 7 % 1000 - 300;
        y[i] = -1;
    }
    return 0;
}

/* Returns the index of the element in a batch of `width` numbers that is `step` after i, or mirrored. */
static int place(int i, int width, int step, int is_mirrored)
{
    const int own = i % width;
    return i - own + (is_mirrored ? width - 1 - own : (own + step) % width);
}

TEST_WITH(pipelines_of_threads_copy_every_batch, fill, NULL)
{
    for (int batches = 1; batches <= MOST; batches++) {
        assert_int_equal(pipeline_thread_scope(x, y, batches), CF_OK);
        for (int i = 0; i < THREADS * batches; i++)
            assert_int_equal(y[i], 3 * x[i]);
    }
}

TEST_WITH(every_form_of_memcpy_async_copies_all, fill, NULL)
{
    assert_int_equal(pipeline_forms(x, y), CF_OK);
    for (int i = 0; i < 6 * 16; i++)
        assert_int_equal(y[i], x[i] - 1);
}

TEST_WITH(barriers_track_the_copies_of_a_pipeline, fill, NULL)
{
    assert_int_equal(pipeline_commits_to_barrier(x, y), CF_OK);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(y[i], x[THREADS - 1 - i]);
}

TEST_WITH(functions_of_c_copy_parts_and_zeros, fill, NULL)
{
    for (int n = 1; n <= THREADS * 4; n += 51) {
        assert_int_equal(pipeline_primitives(x, n, y), CF_OK);
        for (int i = 0; i < THREADS * 4; i++) {
            const int from = (THREADS - 1 - i / 4) * 4 + i % 4;
            assert_int_equal(y[i], from < n ? x[from] : 0);
        }
    }
}

TEST_WITH(threads_of_a_block_read_what_others_copied, fill, NULL)
{
    int (*const forms[])(const int *, int *, int, int) = {pipeline_unified_one, pipeline_unified_two,
                                                          pipeline_unified_four};
    for (int f = 0; f < 3; f++)
        for (int batches = 1; batches <= MOST; batches++) {
            fill(NULL);
            assert_int_equal(forms[f](x, y, batches, BLOCKS), CF_OK);
            for (int i = 0; i < BLOCKS * THREADS * batches; i++)
                assert_int_equal(y[i], 5 * x[place(i, THREADS, 1, 0)]);
        }
}

TEST_WITH(consumers_read_what_producers_copied, fill, NULL)
{
    for (int batches = 1; batches <= MOST; batches++) {
        int last = 0;
        assert_int_equal(pipeline_partitioned_count(x, y, batches, &last), CF_OK);
        assert_int_equal(last, 1);
        for (int i = 0; i < 96 * batches; i++)
            assert_int_equal(y[i], x[place(i, 96, 0, 1)] + 1);
        assert_int_equal(pipeline_partitioned_role(x, y, batches, &last), CF_OK);
        assert_int_equal(last, 2);
        for (int i = 0; i < 96 * batches; i++)
            assert_int_equal(y[i], x[place(i, 96, 0, 1)] * x[place(i, 96, 0, 1)]);
    }
}

TEST_WITH(groups_wait_for_their_copies, fill, NULL)
{
    for (int batches = 1; batches <= MOST; batches++) {
        assert_int_equal(pipeline_group_copies(x, y, batches), CF_OK);
        for (int i = 0; i < THREADS * batches; i++)
            assert_int_equal(y[i], x[place(i, THREADS, 0, 1)]);
    }
}

/* A GPU would wait for ever, or continue with wrong numbers. */
TEST_WITH(mistakes_are_errors_on_the_cpu, fill, NULL)
{
    static const struct {
        int producers, filling;
        const char *text;
    } cases[] = {
        {0, 32, "producer_commit() in more threads than it has producers"},
        {64, 32, "threads wait for each other for ever: 32 of 64 threads wait at cuda::pipeline::consumer_wait() in "},
        {64, 64, "consumer_release() in more threads than it has consumers"},
        {65, 32, "cuda::make_pipeline() of more producers than threads"},
        {32, 0, " for 32 more of 32 arrivals"},
    };
    need_cpu();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(pipeline_mistake(cases[i].producers, cases[i].filling, y), CF_EFAULT);
        if (!strstr(cf_last_error(), cases[i].text) || !strstr(cf_last_error(), "pipeline.cu:"))
            fail_msg("no '%s' in '%s'", cases[i].text, cf_last_error());
    }
}

int main(void)
{
    return run_played(&pipeline_registry, NULL);
}
