/* fault_data.c - arrays and handles of the scenes of test_fault.c, with their expected values. */
#include "played_gpu.h"

#include "fault_data.h"
#include "fault_kernels.h"

#define SHARED(name, ...) \
    void name(void)       \
    {                     \
        __VA_ARGS__;      \
    }

float x[ROWS], y[ROWS], expected[ROWS];
int32_t picked[N];
float *dx, *dy;
int32_t *dpicked;
cf_stream stream, other_stream;
cf_event event, other_event;
cf_graph graph;
cf_graph_exec exec;
void *memory;
int number, other_number;
int64_t wide;
float milliseconds;
char text[64];

/* While the call is not complete, each element may be old or new; afterwards all must be new. */
int is_array_right(const float *array, int is_done)
{
    for (int i = 0; i < ROWS; i++)
        if (array[i] != expected[i] && (is_done || array[i] != OLD))
            return 0;
    return 1;
}

void fill_host(void)
{
    for (int i = 0; i < ROWS; i++) {
        x[i] = (float)(i % 89);
        y[i] = expected[i] = OLD;
    }
    for (int i = 0; i < N; i++)
        picked[i] = (i * 7) % M;
}

void expect_axpy(void)
{
    fill_host();
    for (int i = 0; i < N; i++)
        expected[i] = OLD + 2 * x[i];
}

void expect_pick(void)
{
    fill_host();
    for (int i = 0; i < N; i++)
        expected[i] = x[picked[i]];
}

void expect_rows(void)
{
    fill_host();
    for (int r = 0; r < NY; r++)
        for (int i = 0; i < NX; i++)
            expected[r * LD + i] = 2 * x[r * LD + i];
}

void expect_mirror(void)
{
    fill_host();
    for (int i = 0; i < N; i++)
        expected[i] = x[N - 1 - i];
}

void expect_copy(void)
{
    fill_host();
    memcpy(expected, x, N * sizeof *x);
}

void expect_copy_2d(void)
{
    fill_host();
    for (int r = 0; r < NY; r++)
        memcpy(expected + r * LD, x + r * NX, NX * sizeof *x);
}

void expect_fill(void)
{
    fill_host();
    memset(expected, 0x11, N * sizeof *expected);
}

/* Also creates the device arrays. */
void upload(void)
{
    NEED(cf_mem_alloc((void **)&dx, sizeof x));
    NEED(cf_mem_alloc((void **)&dy, sizeof y));
    NEED(cf_mem_alloc((void **)&dpicked, sizeof picked));
    NEED(cf_mem_copy(dx, x, sizeof x));
    NEED(cf_mem_copy(dy, y, sizeof y));
    NEED(cf_mem_copy(dpicked, picked, sizeof picked));
}

void make_stream(void)
{
    NEED(cf_stream_create(&stream));
}

void destroy_arrays(void)
{
    NEED(cf_mem_free(dx));
    NEED(cf_mem_free(dy));
    NEED(cf_mem_free(dpicked));
    dx = dy = NULL;
    dpicked = NULL;
}

void destroy_stream(void)
{
    NEED(cf_stream_destroy(stream));
    stream = NULL;
}

void destroy_both(void)
{
    if (stream)
        destroy_stream();
    destroy_arrays();
}

int is_host_right(int is_done)
{
    return is_array_right(y, is_done);
}

int is_device_right(int is_done)
{
    static float read[ROWS];
    if (stream)
        NEED(cf_stream_sync(stream));
    NEED(cf_mem_copy(read, dy, sizeof read));
    return is_array_right(read, is_done);
}

/* Arrays that are so large that they are staged through pinned buffers. */
float large_x[LARGE], large_y[LARGE], large_new[LARGE];
int32_t large_picked[LARGE];

void fill_large(void)
{
    NEED(cf_set_host_data(CF_HOST_DATA_STAGE));
    for (int i = 0; i < LARGE; i++) {
        large_x[i] = (float)(i % 1009);
        large_y[i] = OLD;
        large_picked[i] = (int32_t)((i * 7919LL) % LARGE);
    }
}

int is_large_right(int is_done)
{
    for (int i = 0; i < LARGE; i++)
        if (large_y[i] != large_new[i] && (is_done || large_y[i] != OLD))
            return 0;
    return 1;
}

/* ---- Captures ---- */
SHARED(prepare_capturing, expect_axpy(); upload(); make_stream(); NEED(cf_stream_capture_begin(stream)); graph = NULL;
       number = -77)

/* Ends the capture, whatever its state is. */
void end_capture(void)
{
    int is_capturing = 0;
    NEED(cf_stream_is_capturing(stream, &is_capturing));
    if (is_capturing && cf_stream_capture_end(stream, &graph) != CF_OK)
        graph = NULL;
}
SHARED(clean_capturing, end_capture(); NEED(cf_graph_destroy(graph)); graph = NULL; destroy_both())

/* After a successful call the graph has one node more. */
int is_capture_right(int is_done)
{
    if (!is_done)
        return 1;
    end_capture();
    NEED(cf_graph_instantiate(&exec, graph));
    NEED(cf_graph_launch(exec, stream));
    int is_right = is_device_right(1);
    NEED(cf_graph_exec_destroy(exec));
    return is_right;
}

SHARED(clean_host_data, NEED(cf_set_host_data(CF_HOST_DATA_AUTO)))
