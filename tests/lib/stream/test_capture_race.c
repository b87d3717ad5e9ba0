/* test_capture_race.c - threads that begin and end captures of one stream at the same time: each capture is known until
 * its own end.
 *
 * A wrapped driver calls the other thread between the driver's answer and the library's reaction to it. */
#include "played_gpu.h"

#include <semaphore.h>

#include "driver/driver.h"
#include "cpu/driver_cpu.h"
#include "context/drivers.h"

/* ---- A driver that runs another thread after a call ---- */

static void (*after_is_capturing)(void), (*after_info)(void), (*after_end)(void);

/* Calls the function only the first time, because calls of the other thread come here, too. */
static void call_once(void (**function)(void))
{
    void (*once)(void) = *function;
    *function = NULL;
    if (once)
        once();
}

#define FUNCTIONS(X)                                                                                                 \
    X(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus * status), (stream, status), &after_is_capturing) \
    X(cuStreamGetCaptureInfo_edges,                                                                                  \
      (CUstream stream, CUstreamCaptureStatus * status, uint64_t * id, CUgraph * graph, const CUgraphNode **nodes,   \
       const CUgraphEdgeData **edges, size_t *count),                                                                \
      (stream, status, id, graph, nodes, edges, count), &after_info)                                                 \
    X(cuStreamEndCapture, (CUstream stream, CUgraph * graph), (stream, graph), &after_end)

#define DEFINE(name, parameters, arguments, after)  \
    static CUresult(*of_host_##name) parameters;    \
    static CUresult(*of_cuda_##name) parameters;    \
    static CUresult host_##name parameters          \
    {                                               \
        CUresult result = of_host_##name arguments; \
        call_once(after);                           \
        return result;                              \
    }                                               \
    static CUresult cuda_##name parameters          \
    {                                               \
        CUresult result = of_cuda_##name arguments; \
        call_once(after);                           \
        return result;                              \
    }
FUNCTIONS(DEFINE)
#undef DEFINE

__attribute__((visibility("default"))) const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    static struct cf__driver tables[2];
    struct cf__driver *table = &tables[driver->is_cpu];
    *table = *driver;
#define TAKE(name, parameters, arguments, after)                          \
    *(driver->is_cpu ? &of_host_##name : &of_cuda_##name) = driver->name; \
    table->name = driver->is_cpu ? host_##name : cuda_##name;
    FUNCTIONS(TAKE)
#undef TAKE
    return table;
}

/* ---- The other thread, which lives until the end of the test because only it can end its captures ---- */

static cf_stream stream;
static pthread_t thread;
static sem_t requested, answered;
static int (*task)(void); /* NULL: the thread ends */
static int status;
static cf_graph graph_there;

static void *serve(void *unused)
{
    (void)unused;
    for (;;) {
        sem_wait(&requested);
        if (!task)
            return NULL;
        status = task();
        sem_post(&answered);
    }
}

static int there(int (*what)(void))
{
    task = what;
    sem_post(&requested);
    sem_wait(&answered);
    return status;
}

static int begin(void)
{
    return cf_stream_capture_begin(stream);
}

static int end(void)
{
    return cf_stream_capture_end(stream, &graph_there);
}

static int status_of_begin;

static void begin_there(void)
{
    status_of_begin = there(begin);
}

static int set_up(void **state)
{
    (void)state;
    status_of_begin = -77;
    graph_there = NULL;
    sem_init(&requested, 0, 0);
    sem_init(&answered, 0, 0);
    assert_ok(cf_stream_create(&stream));
    return pthread_create(&thread, NULL, serve, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    task = NULL;
    sem_post(&requested);
    pthread_join(thread, NULL);
    sem_destroy(&requested);
    sem_destroy(&answered);
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

/* Expects that the other thread's capture is open and known, and that only that thread can end it. */
static void expect_capture_there(void)
{
    cf_graph graph;
    char detail[96];
    assert_ok(status_of_begin);
    snprintf(detail, sizeof detail, "cf_device_sync: stream %p of the device is being captured", (void *)stream);
    assert_fails(cf_device_sync(), CF_ECAPTURE, detail);
    assert_fails(cf_stream_capture_end(stream, &graph), CF_ECAPTURE, "was begun in another thread");
    assert_ok(there(end));
    assert_non_null(graph_there);
    assert_ok(cf_device_sync());
    assert_ok(cf_graph_destroy(graph_there));
}

/* ---- Tests ---- */

TEST_WITH(capture_begun_meanwhile_is_not_forgotten, set_up, tear_down)
{
    char detail[96];
    after_is_capturing = begin_there;
    snprintf(detail, sizeof detail, "cf_stream_capture_begin: stream %p is being captured already", (void *)stream);
    assert_fails(cf_stream_capture_begin(stream), CF_ECAPTURE, detail);
    expect_capture_there();
}

TEST_WITH(capture_begun_after_the_end_of_one_is_not_forgotten, set_up, tear_down)
{
    cf_graph graph;
    assert_ok(cf_stream_capture_begin(stream));
    after_end = begin_there;
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_destroy(graph));
    expect_capture_there();
}

TEST_WITH(capture_begun_while_another_thread_ends_none_is_not_forgotten, set_up, tear_down)
{
    cf_graph graph;
    after_info = begin_there;
    assert_fails(cf_stream_capture_end(stream, &graph), CF_EINVAL, "is not being captured");
    expect_capture_there();
}

/* If another library has ended a capture, its record is removed at the next capture. */
TEST_WITH(capture_ended_elsewhere_is_forgotten, set_up, tear_down)
{
    const struct cf__driver *driver = on_cuda() ? other_library() : &cf__driver_cpu;
    CUgraph graph;
    for (int i = 0; i < 2; i++) {
        assert_ok(cf_stream_capture_begin(stream));
        assert_int_equal(driver->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
        assert_ok(cf_graph_destroy(graph));
    }
    assert_fails(cf_device_sync(), CF_ECAPTURE, "is being captured"); /* the library does not know yet that it ended */
    assert_fails(cf_stream_capture_end(stream, &graph), CF_EINVAL, "is not being captured");
    assert_ok(cf_device_sync());
}

int main(int argc, char *argv[])
{
    return run_with_fake(argc, argv, set_up, tear_down);
}
