/* test_graph_launch.c - which driver calls launching a graph makes, also while captures are open. */
#include "counting_driver.h"
#include "handmade_kernel.h"

static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made"};

enum { BYTES = 64 };

static cf_stream stream, other;
static unsigned char *memory;
static cf_graph_exec exec;

/* Makes a graph that fills the memory with 7, and runs it in `other`. */
static int set_up(void **state)
{
    cf_graph graph;
    (void)state;
    assert_ok(cf_mem_alloc((void **)&memory, BYTES));
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_create(&other));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_mem_fill_async(stream, memory, 7, BYTES));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_graph_launch(exec, other));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_stream_destroy(other));
    assert_ok(cf_mem_free(memory));
    assert_ok(cf_shutdown());
    return 0;
}

static void gpu_only(void)
{
    need_any_gpu();
}

/* Returns the number of driver calls that a launch makes, apart from cuGraphLaunch() itself. */
static int questions(void)
{
    unsigned char read[BYTES];
    int all = 0;
    assert_ok(cf_mem_fill(memory, 0, BYTES));
    memset(call_counts, 0, sizeof call_counts);
    assert_ok(cf_graph_launch(exec, other));
    for (int i = 0; i < CALL_COUNT; i++)
        all += call_counts[i];
    assert_int_equal(call_counts[CALL_cuGraphLaunch], 1);
    assert_ok(cf_stream_sync(other));
    assert_ok(cf_mem_copy(read, memory, BYTES));
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(read[i], 7);
    return all - 1;
}

TEST_WITH(graph_launch_on_a_known_stream_asks_nothing, set_up, tear_down)
{
    gpu_only();
    assert_int_equal(questions(), 0);
}

TEST_WITH(graph_launch_beside_a_capture_asks_for_its_stream_alone, set_up, tear_down)
{
    cf_graph graph;
    gpu_only();
    assert_ok(cf_stream_capture_begin(stream));
    memset(call_counts, 0, sizeof call_counts);
    assert_ok(cf_graph_launch(exec, other));
    assert_int_equal(call_counts[CALL_cuStreamIsCapturing], 1);
    assert_int_equal(call_counts[CALL_cuStreamGetCtx], 0);
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_destroy(graph));
    assert_int_equal(questions(), 0);
}

/* The library is not told that the capture has ended. */
TEST_WITH(graph_launch_after_a_capture_that_another_library_ended_queries_its_stream_alone, set_up, tear_down)
{
    CUgraph graph;
    gpu_only();
    assert_ok(cf_stream_capture_begin(stream));
    assert_int_equal(below->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(below->cuGraphDestroy(graph), CUDA_SUCCESS);
    assert_int_equal(questions(), 1);
    assert_int_equal(questions(), 1);
}

TEST_WITH(graph_launch_on_a_known_stream_that_is_captured_leaves_it_as_it_is, set_up, tear_down)
{
    cf_graph graph;
    assert_ok(cf_stream_capture_begin(other));
    assert_ok(cf_mem_fill_async(other, memory, 8, BYTES));
    memset(call_counts, 0, sizeof call_counts);
    assert_fails(cf_graph_launch(exec, other), CF_ECAPTURE, "cf_graph_launch: stream");
    assert_int_equal(call_counts[CALL_cuGraphLaunch], 0);
    assert_ok(cf_stream_capture_end(other, &graph));
    assert_ok(cf_graph_destroy(graph));
}

int main(int argc, char *argv[])
{
    return run_made(argc, argv, &module, NULL, NULL);
}
