/* test_graph.c - running graphs of captured streams, their memory, and the device to which they belong. */
#include <sys/resource.h>

#include "context/enter.h"
#include "context/handle.h"
#include "graph_fixture.h"

/* ---- Arguments and states ---- */

TEST_WITH(graph_functions_bad_arguments_are_named, set_up, tear_down)
{
    cf_graph graph = NULL;
    cf_graph_exec exec = NULL;
    int is_capturing;
    for (uintptr_t handle = 0; handle <= 2; handle++) {
        assert_fails(cf_stream_capture_begin((cf_stream)handle), CF_EINVAL,
                     "cf_stream_capture_begin: a default stream cannot be captured");
        assert_fails(cf_stream_capture_end((cf_stream)handle, &graph), CF_EINVAL,
                     "cf_stream_capture_end: a default stream is not being captured");
        expect_capturing((cf_stream)handle, 0);
    }
    assert_fails(cf_stream_capture_end(stream, NULL), CF_EINVAL, "cf_stream_capture_end: graph is NULL");
    assert_fails(cf_stream_is_capturing(stream, NULL), CF_EINVAL, "cf_stream_is_capturing: is_capturing is NULL");
    assert_fails(cf_graph_instantiate(NULL, NULL), CF_EINVAL, "cf_graph_instantiate: exec is NULL");
    assert_fails(cf_graph_instantiate(&exec, NULL), CF_EINVAL, "cf_graph_instantiate: graph is NULL");
    assert_fails(cf_graph_launch(NULL, stream), CF_EINVAL, "cf_graph_launch: exec is NULL");
    assert_fails(cf_stream_call(stream, NULL, &is_capturing), CF_EINVAL, "cf_stream_call: function is NULL");
    assert_ok(cf_graph_destroy(NULL));
    assert_ok(cf_graph_exec_destroy(NULL));
    assert_null(graph);
    assert_null(exec);
}

TEST_WITH(graph_functions_other_handles_are_invalid, set_up, tear_down)
{
    need_cpu();
    cf_graph_exec exec = NULL;
    assert_ok(cf_stream_capture_begin(stream));
    cf_graph graph = end();
    assert_int_equal(cf_graph_instantiate(&exec, (cf_graph)(void *)stream), CF_EINVAL);
    char detail[96];
    snprintf(detail, sizeof detail, "cf_graph_launch: exec %p: invalid ", (void *)graph);
    assert_fails(cf_graph_launch((cf_graph_exec)(void *)graph, stream), CF_EINVAL, detail);
    cf_stream wrong = (cf_stream)(void *)graph;
    snprintf(detail, sizeof detail, "cf_graph_launch: stream %p: invalid ", (void *)wrong);
    assert_fails(cf_graph_launch((cf_graph_exec)(void *)graph, wrong), CF_EINVAL, detail);
    assert_int_equal(cf_graph_exec_destroy((cf_graph_exec)(void *)graph), CF_EINVAL);
    assert_int_equal(cf_stream_capture_begin((cf_stream)(void *)graph), CF_EINVAL);
    assert_ok(cf_graph_destroy(graph));
    assert_int_equal(cf_graph_destroy(graph), CF_EINVAL);
    assert_int_equal(cf_graph_instantiate(&exec, graph), CF_EINVAL);
    assert_null(exec);
}

/* ---- Records ---- */

#define FILLING ((uint64_t)1 << 40) /* no capture has such an id */

static rlim_t this_process_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Calls a function while the table of records is full and there is no memory to enlarge it. */
static int call_without_room(int (*call)(void *), void *data)
{
    struct cf__scope scope;
    struct rlimit before;
    uintptr_t handle = 16;
    assert_ok(cf__enter(&scope, "test", NULL));
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){this_process_bytes() + (1 << 20), before.rlim_max}), 0);
    while (cf__handle_add_captured(&scope, CF__GRAPH_NODE, (void *)(handle += 16), FILLING))
        continue;
    int status = call(data);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    cf__handle_forget_nodes(FILLING);
    cf__leave(&scope);
    return status;
}

static int end_there(void *graph)
{
    return cf_stream_capture_end(stream, graph);
}

static int instantiate_there(void *graph)
{
    cf_graph_exec exec;
    return cf_graph_instantiate(&exec, graph);
}

TEST_WITH(graph_functions_without_memory_for_a_record_fail, set_up, tear_down)
{
    if (!played_gpu_is_in_use())
        skip_test(NEEDS_ANY_GPU);
    if (SANITIZED)
        skip_test(NEEDS_NO_SANITIZER);
    cf_graph graph = NULL;
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(gather(stream));
    assert_int_equal(call_without_room(end_there, &graph), CF_ENOMEM);
    assert_null(graph);
    expect_capturing(stream, 0);
    assert_ok(cf_stream_capture_begin(stream));
    graph = end();
    assert_int_equal(call_without_room(instantiate_there, graph), CF_ENOMEM);
    assert_ok(cf_graph_destroy(graph));
}

/* ---- Runs ---- */

TEST_WITH(graph_of_nothing_runs, set_up, tear_down)
{
    assert_ok(cf_stream_capture_begin(stream));
    cf_graph_exec exec = end_and_instantiate();
    run(exec, stream);
    run(exec, NULL);
    assert_ok(cf_graph_exec_destroy(exec));
}

/* Nothing runs during the capture. Each run does the work once, with the data at that time. The kernel has not been
 * used before. */
TEST_WITH(graph_launch_repeats_the_work_with_new_data, set_up, tear_down)
{
    float in[COUNT], out[COUNT];
    memset(out, 0, sizeof out);
    memset(in, 0, sizeof in);
    calls = 0;
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_mem_copy_async(stream, source, in, sizeof in));
    assert_ok(cf_mem_fill_async(stream, result, 0xff, BYTES));
    assert_ok(gather(stream));
    assert_ok(cf_mem_copy_async(stream, out, result, sizeof out / 2));
    assert_ok(cf_mem_copy_2d_async(stream, out + COUNT / 2, 40, result + COUNT / 2, 40, 36, COUNT / 2 / 10));
    assert_ok(cf_stream_call(stream, count_call, &calls));
    cf_graph_exec exec = end_and_instantiate();
    assert_int_equal(calls, 0);
    expect_result(0);
    cf_stream all[] = {stream, other, NULL, (cf_stream)1, (cf_stream)2, stream};
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < COUNT; i++)
            in[i] = (float)((round + 2) * i);
        memset(out, 0, sizeof out);
        run(exec, all[round]);
        assert_int_equal(calls, round + 1);
        expect_result((float)(round + 2));
        for (int i = 0; i < COUNT; i++) /* one element in ten is padding between rows */
            assert_true(out[i] == (i >= COUNT / 2 && i % 10 == 9 ? 0 : (float)((round + 2) * order[i])));
    }
    assert_ok(cf_graph_exec_destroy(exec));
}

TEST_WITH(graph_launch_runs_follow_each_other, set_up, tear_down)
{
    calls = 0;
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_stream_call(stream, count_call, &calls));
    assert_ok(gather(stream));
    cf_graph_exec exec = end_and_instantiate();
    for (int i = 0; i < 50; i++)
        assert_ok(cf_graph_launch(exec, i % 2 ? stream : other));
    assert_ok(cf_graph_exec_destroy(exec)); /* waits until the runs are complete */
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_stream_sync(other));
    assert_int_equal(calls, 50);
    expect_result(1);
}

/* Makes two executable graphs of one graph. Neither can be launched in a stream that is being captured; the capture
 * remains open. */
TEST_WITH(graph_launch_in_a_capture_is_ecapture, set_up, tear_down)
{
    cf_graph_exec first, second, third;
    cf_event forked;
    calls = 0;
    assert_ok(cf_event_create(&forked));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_stream_call(stream, count_call, &calls));
    cf_graph graph = end();
    assert_ok(cf_graph_instantiate(&first, graph));
    assert_ok(cf_graph_instantiate(&second, graph));
    assert_ptr_not_equal(first, second);
    assert_ok(cf_graph_destroy(graph));
    run(first, stream); /* that a graph was launched before makes no difference */
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(gather(stream));
    assert_fails(cf_graph_launch(first, stream), CF_ECAPTURE, "graphs are not launched in graphs");
    run(second, other); /* in other streams graphs can be launched */
    assert_ok(cf_event_record(forked, stream));
    assert_ok(cf_stream_wait(other, forked));
    assert_fails(cf_graph_launch(second, other), CF_ECAPTURE, "graphs are not launched in graphs");
    assert_ok(cf_event_record(forked, other));
    assert_ok(cf_stream_wait(stream, forked));
    third = end_and_instantiate();
    assert_int_equal(calls, 2);
    expect_result(0);
    run(third, stream);
    expect_result(1);
    run(first, stream);
    run(second, other);
    assert_int_equal(calls, 4);
    assert_ok(cf_graph_exec_destroy(first));
    assert_ok(cf_graph_exec_destroy(second));
    assert_ok(cf_graph_exec_destroy(third));
    assert_ok(cf_event_destroy(forked));
}

/* ---- Memory ---- */

TEST_WITH(graph_memory_is_there_for_a_run, set_up, tear_down)
{
    float *between = NULL, out[COUNT];
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_mem_alloc_async(stream, (void **)&between, BYTES));
    assert_non_null(between);
    assert_ok(cf_gather_f32_i32_async(stream, source, index_, between, COUNT, COUNT));
    assert_ok(cf_mem_copy_async(stream, result, between, BYTES));
    assert_ok(cf_mem_copy_2d_async(stream, out, 40, between, 40, 40, COUNT / 10));
    assert_ok(cf_mem_free_async(stream, between));
    cf_graph_exec exec = end_and_instantiate();
    for (int round = 0; round < 3; round++) {
        assert_ok(cf_mem_fill(result, 0, BYTES));
        memset(out, 0, sizeof out);
        run(exec, stream);
        expect_result(1);
        assert_true(out[COUNT - 1] == (float)order[COUNT - 1]);
    }
    assert_ok(cf_graph_exec_destroy(exec));
}

TEST_WITH(graph_memory_may_be_freed_outside, set_up, tear_down)
{
    float *kept = NULL, out[COUNT];
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_mem_alloc_async(stream, (void **)&kept, BYTES));
    assert_ok(cf_gather_f32_i32_async(stream, source, index_, kept, COUNT, COUNT));
    cf_graph_exec exec = end_and_instantiate();
    for (int round = 0; round < 4; round++) {
        memset(out, 0, sizeof out);
        run(exec, stream);
        assert_ok(cf_mem_copy(out, kept, BYTES));
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i] == (float)order[i]);
        if (round % 2)
            assert_ok(cf_mem_free(kept));
        else
            assert_ok(cf_mem_free_async(stream, kept));
        assert_ok(cf_stream_sync(stream));
    }
    assert_ok(cf_graph_exec_destroy(exec));
}

/* Runs and frees alternate in the stream, and the graph is destroyed before the stream reaches them. */
TEST_WITH(graph_memory_outlives_the_graph_until_it_is_freed, set_up, tear_down)
{
    enum { ROUNDS = 3 };
    float *kept = NULL, out[ROUNDS][COUNT];
    memset(out, 0, sizeof out);
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_mem_alloc_async(stream, (void **)&kept, BYTES));
    assert_ok(cf_gather_f32_i32_async(stream, source, index_, kept, COUNT, COUNT));
    cf_graph_exec exec = end_and_instantiate();
    for (int round = 0; round < ROUNDS; round++) {
        assert_ok(cf_graph_launch(exec, stream));
        assert_ok(cf_mem_copy_async(stream, out[round], kept, BYTES));
        assert_ok(cf_mem_free_async(stream, kept));
    }
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_stream_sync(stream));
    for (int i = 0; i < ROUNDS * COUNT; i++)
        assert_true(out[i / COUNT][i % COUNT] == (float)order[i % COUNT]);
}

/* The memory is still allocated when the graph is destroyed, and then belongs to the caller. */
TEST_WITH(graph_memory_of_the_last_run_is_the_callers, set_up, tear_down)
{
    float *kept = NULL, out[COUNT];
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_mem_alloc_async(stream, (void **)&kept, BYTES));
    assert_ok(cf_gather_f32_i32_async(stream, source, index_, kept, COUNT, COUNT));
    cf_graph_exec exec = end_and_instantiate();
    assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_mem_free_async(stream, kept));
    assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_stream_sync(stream));
    memset(out, 0, sizeof out);
    assert_ok(cf_mem_copy(out, kept, BYTES));
    for (int i = 0; i < COUNT; i++)
        assert_true(out[i] == (float)order[i]);
    assert_ok(cf_mem_free(kept));
}

/* ---- The CPU together with a GPU ---- */

static void *cross_drivers(void *unused)
{
    static char said[96];
    cf_stream on_gpu, on_cpu;
    cf_graph of_gpu, of_cpu;
    cf_graph_exec run_gpu, run_cpu;
    cf_event event, of_cpu_event;
    void *memory;
    unsigned char read[64] = {0};
    (void)unused;
    calls = 0;
#define EXPECT(call, status)                                                           \
    do {                                                                               \
        int got = call;                                                                \
        if (got != status) {                                                           \
            snprintf(said, sizeof said, "line %d: %s", __LINE__, cf_status_name(got)); \
            return said;                                                               \
        }                                                                              \
    } while (0)
    EXPECT(cf_stream_create(&on_gpu), CF_OK);
    EXPECT(cf_event_create(&event), CF_OK);
    EXPECT(cf_mem_alloc(&memory, sizeof read), CF_OK);
    EXPECT(cf_device_use(CF_HOST), CF_OK);
    EXPECT(cf_stream_create(&on_cpu), CF_OK);
    EXPECT(cf_event_create(&of_cpu_event), CF_OK);
    EXPECT(cf_stream_capture_begin(on_gpu), CF_OK);
    EXPECT(cf_stream_capture_begin(on_cpu), CF_OK);
    EXPECT(cf_mem_fill_async(on_gpu, memory, 5, sizeof read), CF_OK);
    EXPECT(cf_stream_call(on_cpu, count_call, &calls), CF_OK);
    EXPECT(cf_stream_wait(on_cpu, event), CF_ECAPTURE);
    EXPECT(cf_stream_wait(on_gpu, of_cpu_event), CF_ECAPTURE);
    EXPECT(cf_stream_capture_end(on_cpu, &of_cpu), CF_OK);
    EXPECT(cf_stream_capture_end(on_gpu, &of_gpu), CF_OK);
    EXPECT(cf_graph_instantiate(&run_gpu, of_gpu), CF_OK);
    EXPECT(cf_graph_instantiate(&run_cpu, of_cpu), CF_OK);
    EXPECT(cf_graph_launch(run_gpu, on_cpu), CF_EINVAL);
    EXPECT(cf_graph_launch(run_gpu, NULL), CF_EINVAL);
    EXPECT(cf_graph_launch(run_cpu, on_gpu), CF_EINVAL);
    EXPECT(cf_graph_launch(run_cpu, NULL), CF_OK);
    EXPECT(calls, 1);
    EXPECT(cf_graph_launch(run_gpu, on_gpu), CF_OK);
    EXPECT(cf_stream_sync(on_gpu), CF_OK);
    EXPECT(cf_mem_copy(read, memory, sizeof read), CF_OK);
    EXPECT(read[63], 5);
    EXPECT(cf_device_use(0), CF_OK);
    EXPECT(cf_graph_launch(run_cpu, NULL), CF_EINVAL);
    EXPECT(cf_graph_launch(run_cpu, on_cpu), CF_OK);
    EXPECT(calls, 2);
    EXPECT(cf_graph_exec_destroy(run_cpu), CF_OK);
    EXPECT(cf_graph_exec_destroy(run_gpu), CF_OK);
    EXPECT(cf_graph_destroy(of_cpu), CF_OK);
    EXPECT(cf_graph_destroy(of_gpu), CF_OK);
    EXPECT(cf_event_destroy(event), CF_OK);
    EXPECT(cf_event_destroy(of_cpu_event), CF_OK);
    EXPECT(cf_stream_destroy(on_gpu), CF_OK);
    EXPECT(cf_stream_destroy(on_cpu), CF_OK);
    EXPECT(cf_mem_free(memory), CF_OK);
#undef EXPECT
    return NULL;
}

TEST_WITH(graph_functions_distinguish_drivers, set_up, tear_down)
{
    run_beside_a_gpu(cross_drivers);
}

/* Graphs of the second device do not cause the first device to be initialized. */
FAKE_TEST(graph_functions_of_a_thread_of_the_cpu_start_no_device, "CF_DRIVER=cuda")
{
    cf_stream second;
    cf_graph graph;
    cf_graph_exec exec;
    void *memory;
    char text[1024];
    assert_ok(cf_shutdown());
    assert_ok(cf_device_use(1));
    assert_ok(cf_stream_create(&second));
    assert_ok(cf_mem_alloc(&memory, 100));
    assert_ok(cf_device_use(CF_HOST));
    assert_ok(cf_stream_capture_begin(second));
    assert_ok(cf_mem_fill_async(second, memory, 1, 100));
    assert_ok(cf_stream_capture_end(second, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_launch(exec, second));
    assert_ok(cf_stream_sync(second));
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_mem_free(memory));
    assert_ok(cf_stream_destroy(second));
    assert_int_equal(count_alive(text, sizeof text), 1);
    assert_string_equal(text, "primary context of device 1, retained 1 times\n");
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, nothing, end_library_empty);
}
