/* graph_fixture.h - shared by tests of captures and of graphs: streams, a kernel with its arrays, and functions that
 * make a graph. */
#ifndef GRAPH_FIXTURE_H
#define GRAPH_FIXTURE_H

#include "played_gpu.h"

#include <cuferry/kernels.h>

enum { COUNT = 1000, BYTES = COUNT * (int)sizeof(float) };

static cf_stream stream, other;
static float *source, *result; /* in device memory */
static int32_t *index_;
static float numbers[COUNT];
static int32_t order[COUNT];

static inline int set_up(void **state)
{
    (void)state;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_create(&other));
    assert_ok(cf_mem_alloc((void **)&source, BYTES));
    assert_ok(cf_mem_alloc((void **)&index_, BYTES));
    assert_ok(cf_mem_alloc((void **)&result, BYTES));
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = (float)i;
        order[i] = i * 7 % COUNT;
    }
    assert_ok(cf_mem_copy(source, numbers, BYTES));
    assert_ok(cf_mem_copy(index_, order, BYTES));
    assert_ok(cf_mem_fill(result, 0, BYTES));
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_stream_destroy(other));
    assert_ok(cf_mem_free(source));
    assert_ok(cf_mem_free(index_));
    assert_ok(cf_mem_free(result));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

static inline int gather(cf_stream on)
{
    return cf_gather_f32_i32_async(on, source, index_, result, COUNT, COUNT);
}

static inline void expect_result(float scale)
{
    static float read[COUNT];
    memset(read, 0xff, sizeof read);
    assert_ok(cf_mem_copy(read, result, BYTES));
    for (int i = 0; i < COUNT; i++)
        if (read[i] != scale * (float)order[i])
            fail_msg("element %d is %g, not %g", i, (double)read[i], (double)(scale * (float)order[i]));
}

static inline cf_graph end(void)
{
    cf_graph graph = NULL;
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_non_null(graph);
    return graph;
}

/* Ends the capture of `stream` and returns an executable graph; the captured graph is destroyed. */
static inline cf_graph_exec end_and_instantiate(void)
{
    cf_graph graph = end();
    cf_graph_exec exec = NULL;
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_non_null(exec);
    assert_ok(cf_graph_destroy(graph));
    return exec;
}

static inline void run(cf_graph_exec exec, cf_stream on)
{
    assert_ok(cf_graph_launch(exec, on));
    assert_ok(cf_stream_sync(on));
}

static inline void expect_capturing(cf_stream on, int expected)
{
    int is_capturing = 77;
    assert_ok(cf_stream_is_capturing(on, &is_capturing));
    assert_int_equal(is_capturing, expected);
}

static int calls;

static inline void count_call(void *data)
{
    __atomic_fetch_add((int *)data, 1, __ATOMIC_SEQ_CST);
}

static inline int nothing(void **state)
{
    (void)state;
    return 0;
}

#endif
