/* test_dependent.c - dependent kernels see the results of the kernels before them, in a stream and in a graph. */
#include "played_gpu.h"

#include "dependent_kernels.h"

enum { COUNT = 1 << 18, ROUNDS = 20 };

static cf_stream stream;
static int *x, *y, numbers[COUNT];

static int set_up(void **state)
{
    (void)state;
    played_gpu_add(&dependent_registry);
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_alloc((void **)&x, sizeof numbers));
    assert_ok(cf_mem_alloc((void **)&y, sizeof numbers));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_mem_free(x));
    assert_ok(cf_mem_free(y));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

/* Each round reverses the numbers twice. */
static void enqueue(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        assert_ok(dependent_turn_async(stream, x, y, COUNT));
        assert_ok(dependent_turn_in_pairs_async(stream, y, x, COUNT));
    }
}

static void start(void)
{
    for (int i = 0; i < COUNT; i++)
        numbers[i] = i;
    assert_ok(cf_mem_copy(x, numbers, sizeof numbers));
}

static void expect_rounds(int rounds)
{
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_mem_copy(numbers, x, sizeof numbers));
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] != i + 2 * rounds)
            fail_msg("element %d is %d, not %d", i, numbers[i], i + 2 * rounds);
}

TEST_WITH(dependent_kernels_see_all_results, set_up, tear_down)
{
    start();
    enqueue();
    expect_rounds(ROUNDS);
}

TEST_WITH(dependent_kernels_of_a_graph_see_all_results, set_up, tear_down)
{
    cf_graph graph;
    cf_graph_exec exec;
    start();
    assert_ok(cf_stream_capture_begin(stream));
    int status = dependent_turn_async(stream, y, x, COUNT);
    assert_int_equal(cf_stream_capture_end(stream, &graph), CF_OK);
    assert_ok(cf_graph_destroy(graph));
    if (status == CF_ENOTSUP)
        skip_test("needs a driver for CUDA 12.3 or newer");
    assert_ok(cf_stream_capture_begin(stream));
    enqueue();
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    for (int run = 0; run < 3; run++)
        assert_ok(cf_graph_launch(exec, stream));
    expect_rounds(3 * ROUNDS);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
}

/* The graph has the node of a dependent launch, after another node. */
TEST_WITH(dependent_kernels_of_a_graph_are_updated, set_up, tear_down)
{
    cf_graph graph;
    cf_graph_node node;
    cf_graph_exec exec;
    start();
    assert_ok(cf_mem_fill(y, 0, sizeof numbers));
    assert_ok(cf_stream_capture_begin(stream));
    if (dependent_turn_async(stream, y, x, COUNT) == CF_ENOTSUP) {
        assert_ok(cf_stream_capture_end(stream, &graph));
        assert_ok(cf_graph_destroy(graph));
        skip_test("needs a driver for CUDA 12.3 or newer");
    }
    assert_ok(cf_stream_capture_node(stream, &node));
    assert_ok(dependent_turn_in_pairs_async(stream, y, x, COUNT));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(dependent_turn_update(exec, node, x, y, COUNT));
    assert_ok(cf_graph_launch(exec, stream));
    expect_rounds(1);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
}

int main(void)
{
    return run_all_tests(NULL, NULL);
}
