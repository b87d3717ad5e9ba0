/* test_graph_update.c - new arguments for launches in graphs: which runs use them, and handles that are refused. */
#include "graph_fixture.h"

#include <cuferry/registry.h>

static float *twice; /* in device memory: twice the numbers in `source` */

static int set_up_twice(void **state)
{
    float numbers_twice[COUNT];
    set_up(state);
    for (int i = 0; i < COUNT; i++)
        numbers_twice[i] = 2 * numbers[i];
    assert_ok(cf_mem_alloc((void **)&twice, BYTES));
    assert_ok(cf_mem_copy(twice, numbers_twice, BYTES));
    return 0;
}

static int tear_down_twice(void **state)
{
    assert_ok(cf_mem_free(twice));
    return tear_down(state);
}

/* Captures a gather of `count` elements; the caller owns the graph. */
static cf_graph capture_gather(cf_graph_node *node, int64_t count)
{
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_gather_f32_i32_async(stream, source, index_, result, count, COUNT));
    assert_ok(cf_stream_capture_node(stream, node));
    return end();
}

static cf_graph_exec instantiate(cf_graph graph)
{
    cf_graph_exec exec = NULL;
    assert_ok(cf_graph_instantiate(&exec, graph));
    return exec;
}

static int update(cf_graph_exec exec, cf_graph_node node, const float *from)
{
    return cf_gather_f32_i32_update(exec, node, from, index_, result, COUNT, COUNT);
}

/* ---- Runs ---- */

TEST_WITH(update_counts_for_later_runs, set_up_twice, tear_down_twice)
{
    cf_graph_node node;
    cf_graph graph = capture_gather(&node, COUNT / 2);
    cf_graph_exec exec = instantiate(graph);
    run(exec, stream);
    assert_ok(update(exec, node, twice)); /* the grid also becomes larger */
    run(exec, stream);
    expect_result(2);
    assert_ok(update(exec, node, source));
    run(exec, other);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
}

TEST_WITH(update_leaves_a_run_in_flight_alone, set_up_twice, tear_down_twice)
{
    float *second, read[COUNT];
    cf_graph_node node;
    assert_ok(cf_mem_alloc((void **)&second, BYTES));
    cf_graph graph = capture_gather(&node, COUNT);
    cf_graph_exec exec = instantiate(graph);
    assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_gather_f32_i32_update(exec, node, twice, index_, second, COUNT, COUNT));
    assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_gather_f32_i32_update(exec, node, second, index_, second, 1, 1));
    assert_ok(cf_stream_sync(stream));
    expect_result(1);
    assert_ok(cf_mem_copy(read, second, BYTES));
    for (int i = 0; i < COUNT; i++)
        assert_true(read[i] == 2 * (float)order[i]);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_mem_free(second));
}

TEST_WITH(update_is_of_one_executable_graph, set_up_twice, tear_down_twice)
{
    cf_graph_node node;
    cf_graph graph = capture_gather(&node, COUNT);
    cf_graph_exec first = instantiate(graph), second = instantiate(graph);
    assert_ok(update(first, node, twice));
    run(second, stream);
    expect_result(1);
    run(first, stream);
    expect_result(2);
    cf_graph_exec third = instantiate(graph);
    run(third, stream);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(first));
    assert_ok(update(second, node, twice));
    run(second, stream);
    expect_result(2);
    assert_ok(cf_graph_exec_destroy(second));
    assert_ok(cf_graph_exec_destroy(third));
    assert_ok(cf_graph_destroy(graph));
}

/* The graph allocates memory, and has other work before and after the launch. */
TEST_WITH(update_finds_a_launch_among_other_work, set_up_twice, tear_down_twice)
{
    cf_graph_node first, second;
    float *between;
    calls = 0;
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_mem_alloc_async(stream, (void **)&between, BYTES));
    assert_ok(cf_stream_call(stream, count_call, &calls));
    assert_ok(cf_scale_f32_async(stream, 1, source, between, COUNT));
    assert_ok(cf_stream_capture_node(stream, &first));
    assert_ok(cf_gather_f32_i32_async(stream, between, index_, result, COUNT, COUNT));
    assert_ok(cf_stream_capture_node(stream, &second));
    assert_ok(cf_mem_free_async(stream, between));
    assert_true(first != second);
    cf_graph graph = end();
    cf_graph_exec exec = instantiate(graph);
    run(exec, stream);
    expect_result(1);
    assert_ok(cf_scale_f32_update(exec, first, 1, twice, between, COUNT));
    run(exec, stream);
    expect_result(2);
    assert_ok(update(exec, second, source));
    run(exec, stream);
    expect_result(1);
    assert_int_equal(calls, 3);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
}

/* ---- Nodes ---- */

static void expect_no_node(const char *why)
{
    char text[160];
    cf_graph_node node = NULL;
    snprintf(text, sizeof text,
             "cf_stream_capture_node: the latest work in stream %p is no single launch of a kernel%s", (void *)stream,
             why);
    assert_fails(cf_stream_capture_node(stream, &node), CF_EINVAL, text);
    assert_null(node);
}

TEST_WITH(node_is_of_the_latest_work, set_up_twice, tear_down_twice)
{
    cf_graph_node node = NULL, again;
    cf_event event;
    char text[128];
    assert_fails(cf_stream_capture_node(stream, NULL), CF_EINVAL, "cf_stream_capture_node: node is NULL");
    assert_fails(cf_stream_capture_node(NULL, &node), CF_EINVAL,
                 "cf_stream_capture_node: a default stream is not being captured");
    snprintf(text, sizeof text, "cf_stream_capture_node: stream %p is not being captured", (void *)stream);
    assert_fails(cf_stream_capture_node(stream, &node), CF_EINVAL, text);
    assert_ok(cf_event_create(&event));
    assert_ok(cf_stream_capture_begin(stream));
    expect_no_node("");
    assert_ok(cf_mem_fill_async(stream, result, 0, BYTES));
    expect_no_node("");
    assert_ok(gather(stream));
    assert_ok(cf_stream_capture_node(stream, &node));
    assert_ok(cf_event_record(event, stream));
    assert_ok(cf_stream_wait(other, event));
    assert_ok(cf_stream_capture_node(other, &again));
    assert_ptr_equal(node, again);
    assert_ok(gather(other));
    assert_ok(gather(stream));
    assert_ok(cf_event_record(event, other));
    assert_ok(cf_stream_wait(stream, event));
    expect_no_node("");
    assert_ok(gather(stream));
    assert_ok(cf_stream_capture_node(stream, &again));
    assert_ptr_not_equal(node, again);
    assert_ok(cf_graph_destroy(end()));
    assert_ok(cf_event_destroy(event));
}

/* An event that is recorded before any work joins another stream to the capture. That stream launches the only node,
 * which is also the latest node of the first stream once it has waited. */
TEST_WITH(node_after_no_work_is_of_the_other_stream, set_up_twice, tear_down_twice)
{
    cf_graph_node node = NULL, again = NULL;
    cf_event begun, done;
    assert_ok(cf_event_create(&begun));
    assert_ok(cf_event_create(&done));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_event_record(begun, stream));
    assert_ok(cf_stream_wait(other, begun));
    assert_ok(gather(other));
    assert_ok(cf_stream_capture_node(other, &node));
    assert_ok(cf_stream_wait(other, begun));
    assert_ok(cf_stream_capture_node(other, &again));
    assert_ptr_equal(node, again);
    assert_ok(cf_event_record(done, other));
    assert_ok(cf_stream_wait(stream, done));
    again = NULL;
    assert_ok(cf_stream_capture_node(stream, &again));
    assert_ptr_equal(node, again);
    assert_ok(cf_graph_destroy(end()));
    assert_ok(cf_event_destroy(begun));
    assert_ok(cf_event_destroy(done));
}

/* ---- Handles and arguments that are refused ---- */

static void expect_wrong_node(cf_graph_exec exec, cf_graph_node node, const char *format, const void *first,
                              const void *second)
{
    char what[160], text[192];
    snprintf(what, sizeof what, format, first, second);
    snprintf(text, sizeof text, "cf_gather_f32_i32: %s", what);
    assert_fails(update(exec, node, twice), CF_EINVAL, text);
}

TEST_WITH(update_of_other_handles_is_invalid, set_up_twice, tear_down_twice)
{
    cf_graph_node node, of_other, of_copy;
    const char *gone = "node %p is not of cf_stream_capture_node(), or its graph was destroyed";
    const char *foreign = "node %p is not of the graph that exec %p was made of";
    cf_graph graph = capture_gather(&node, COUNT), other_graph = capture_gather(&of_other, COUNT);
    cf_graph_exec exec = instantiate(graph), other_exec = instantiate(other_graph);
    assert_fails(update(NULL, node, twice), CF_EINVAL, "cf_graph_update: exec is NULL");
    assert_fails(update(exec, NULL, twice), CF_EINVAL, "cf_graph_update: node is NULL");
    assert_fails(cf_graph_update(exec, node, NULL, NULL), CF_EINVAL, "cf_graph_update: kernel is NULL");
    expect_wrong_node(exec, of_other, foreign, of_other, exec);
    expect_wrong_node(other_exec, node, foreign, node, other_exec);
    assert_ok(cf_graph_destroy(other_graph));
    expect_wrong_node(other_exec, of_other, gone, of_other, NULL);
    expect_wrong_node(exec, of_other, gone, of_other, NULL);

    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_scale_f32_async(stream, 1, source, result, COUNT));
    assert_ok(cf_stream_capture_node(stream, &of_copy));
    cf_graph copy = end();
    cf_graph_exec copy_exec = instantiate(copy);
    expect_wrong_node(copy_exec, of_copy, "node %p launches another kernel", of_copy, NULL);
    assert_ok(cf_graph_exec_destroy(copy_exec));
    assert_int_equal(update(copy_exec, of_copy, twice), CF_EINVAL);
    assert_ok(cf_graph_destroy(copy));

    run(exec, stream); /* the failed updates have changed nothing */
    run(other_exec, stream);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_exec_destroy(other_exec));
    assert_ok(cf_graph_destroy(graph));
}

TEST_WITH(update_of_a_destroyed_exec_is_invalid, set_up_twice, tear_down_twice)
{
    cf_graph_node node;
    cf_graph graph = capture_gather(&node, COUNT);
    cf_graph_exec exec = instantiate(graph);
    char text[96];
    assert_ok(cf_graph_exec_destroy(exec));
    snprintf(text, sizeof text, "cf_gather_f32_i32: exec %p was destroyed, or was not captured", (void *)exec);
    assert_fails(update(exec, node, twice), CF_EINVAL, text);
    assert_ok(cf_graph_destroy(graph));
}

/* Each device has a graph of its own. */
TEST_WITH(update_of_another_device_is_invalid, set_up_twice, tear_down_twice)
{
    int count;
    assert_ok(cf_device_count(&count));
    for (int device = CF_HOST; device < (count < 2 ? count : 2); device++) {
        cf_graph_node node, of_other;
        cf_graph graph = capture_gather(&node, COUNT), other_graph;
        cf_graph_exec exec = instantiate(graph), other_exec;
        cf_stream there;
        float *data;
        assert_ok(cf_device_use(device));
        assert_ok(cf_stream_create(&there));
        assert_ok(cf_mem_alloc((void **)&data, BYTES));
        assert_ok(cf_stream_capture_begin(there));
        assert_ok(cf_scale_f32_async(there, 1, data, data + COUNT / 2, COUNT / 2));
        assert_ok(cf_stream_capture_node(there, &of_other));
        assert_ok(cf_stream_capture_end(there, &other_graph));
        assert_ok(cf_graph_instantiate(&other_exec, other_graph));
        assert_int_equal(update(exec, of_other, twice), CF_EINVAL);
        assert_int_equal(update(other_exec, node, twice), CF_EINVAL);
        assert_ok(cf_graph_exec_destroy(other_exec));
        assert_ok(cf_graph_destroy(other_graph));
        assert_ok(cf_mem_free(data));
        assert_ok(cf_stream_destroy(there));
        assert_ok(cf_device_use(on_cuda() ? 0 : CF_HOST));
        assert_ok(cf_graph_exec_destroy(exec));
        assert_ok(cf_graph_destroy(graph));
    }
}

TEST_WITH(update_checks_arguments, set_up_twice, tear_down_twice)
{
    cf_graph_node node;
    cf_graph graph = capture_gather(&node, COUNT);
    cf_graph_exec exec = instantiate(graph);
    assert_fails(cf_gather_f32_i32_update(exec, node, NULL, index_, result, COUNT, COUNT), CF_EINVAL,
                 "cf_gather_f32_i32: source is NULL and its extent is 1000");
    assert_int_equal(cf_gather_f32_i32_update(exec, node, source, index_, result, -1, COUNT), CF_EINVAL);
    assert_fails(cf_gather_f32_i32_update(exec, node, source, index_, result, 0, COUNT), CF_EINVAL,
                 "cf_gather_f32_i32: a launch in a graph has at least one thread, and this one has none");
    run(exec, stream);
    expect_result(1);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
}

TEST_WITH(update_by_an_operation_is_not_supported, set_up_twice, tear_down_twice)
{
    cf_graph_node node;
    int64_t count = COUNT;
    cf_graph graph = capture_gather(&node, COUNT);
    cf_graph_exec exec = instantiate(graph);
    const cf_kernel *sum = cf_kernel_find(&cf_registry, "sum_f32");
    assert_non_null(sum);
    assert_fails(cf_graph_update(exec, node, sum, (void *const[]){&source, &result, &count, &count, &count}),
                 CF_ENOTSUP,
                 "cf_sum_f32: a graph is updated by single launches, without scratch memory or memory that the library "
                 "sets to 0");
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
}

TEST_WITH(update_by_a_kernel_with_memory_set_to_0_is_not_supported, set_up_twice, tear_down_twice)
{
    cf_graph_node node;
    const int64_t count = COUNT;
    cf_graph graph = capture_gather(&node, COUNT);
    cf_graph_exec exec = instantiate(graph);
    static const cf_zero zeros[] = {{.array = 2}}; /* the result */
    cf_kernel clearing = *cf_kernel_find(&cf_registry, "gather_f32_i32");
    clearing.nzeros = 1;
    clearing.zeros = zeros;
    assert_fails(cf_graph_update(exec, node, &clearing,
                                 (void *const[]){&source, &index_, &result, (void *)&count, (void *)&count}),
                 CF_ENOTSUP,
                 "cf_gather_f32_i32: a graph is updated by single launches, without scratch memory or memory");
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
}

FAKE_TEST(update_checks_pointers_if_told, "CF_DRIVER=cuda", "CF_CHECK=1")
{
    cf_graph_node node;
    set_up_twice(state);
    cf_graph graph = capture_gather(&node, COUNT);
    cf_graph_exec exec = instantiate(graph);
    assert_fails(update(exec, node, numbers), CF_EINVAL, "cf_gather_f32_i32: source is host memory");
    assert_ok(update(exec, node, twice));
    run(exec, stream);
    expect_result(2);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    tear_down_twice(state);
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, NULL, NULL);
}
