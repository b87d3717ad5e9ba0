/* test_stream.c - streams: their lifetime, waiting, queries, and the order between streams. */
#include "handmade_kernel.h"

#include <limits.h>
#include <pthread.h>

#include "base/fast.h"

static unsigned short seed[3] = {4, 5, 6};

static cf_stream create(void)
{
    cf_stream stream = NULL;
    assert_ok(cf_stream_create(&stream));
    assert_non_null(stream);
    return stream;
}

static void *allocate(size_t bytes)
{
    void *memory = NULL;
    assert_ok(cf_mem_alloc(&memory, bytes));
    return memory;
}

TEST(stream_create_null_is_invalid)
{
    assert_fails(cf_stream_create(NULL), CF_EINVAL, "cf_stream_create: stream is NULL");
}

TEST(stream_create_gives_a_stream_of_its_own)
{
    cf_stream first = create(), second = create();
    assert_ptr_not_equal(first, second);
    assert_true((uintptr_t)first > 2 && (uintptr_t)second > 2);
    assert_int_equal(cf__cpu_owns(first), !on_cuda());
    assert_ok(cf_stream_sync(first));
    assert_ok(cf_stream_query(second));
    assert_ok(cf_stream_destroy(first));
    assert_ok(cf_stream_sync(second));
    assert_ok(cf_stream_destroy(second));
}

TEST(stream_destroy_null_succeeds)
{
    assert_ok(cf_stream_destroy(NULL));
}

TEST(stream_destroy_default_stream_is_invalid)
{
    assert_fails(cf_stream_destroy((cf_stream)1), CF_EINVAL, "cf_stream_destroy: a default stream");
    assert_fails(cf_stream_destroy((cf_stream)2), CF_EINVAL, "cf_stream_destroy: a default stream");
    assert_ok(cf_stream_sync((cf_stream)1));
    assert_ok(cf_stream_sync((cf_stream)2));
}

TEST(stream_destroy_lets_its_work_finish)
{
    size_t bytes = 32 << 20;
    unsigned char *read = malloc(bytes);
    assert_non_null(read);
    void *memory = allocate(bytes);
    assert_ok(cf_mem_fill(memory, 0, bytes));
    cf_stream stream = create();
    assert_ok(cf_mem_fill_async(stream, memory, 0x5a, bytes));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_device_sync());
    assert_ok(cf_mem_copy(read, memory, bytes));
    for (size_t i = 0; i < bytes; i++)
        if (read[i] != 0x5a)
            fail_msg("byte %zu is %d", i, read[i]);
    assert_ok(cf_mem_free(memory));
    free(read);
}

TEST(stream_functions_default_streams_are_taken)
{
    cf_event event;
    assert_ok(cf_event_create(&event));
    for (uintptr_t handle = 0; handle <= 2; handle++) {
        cf_stream stream = (cf_stream)handle;
        assert_ok(cf_stream_sync(stream));
        assert_ok(cf_stream_query(stream));
        assert_ok(cf_event_record(event, stream));
        assert_ok(cf_stream_wait(stream, event));
        assert_ok(cf_stream_sync(stream));
    }
    assert_ok(cf_event_destroy(event));
}

TEST(stream_functions_destroyed_stream_is_invalid)
{
    need_cpu();
    cf_event event;
    assert_ok(cf_event_create(&event));
    cf_stream stream = create();
    assert_ok(cf_stream_destroy(stream));
    assert_fails(cf_stream_sync(stream), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_stream_query(stream), CF_EINVAL, ": invalid resource handle");
    char detail[96];
    snprintf(detail, sizeof detail, "cf_stream_wait: stream %p: invalid resource handle", (void *)stream);
    assert_fails(cf_stream_wait(stream, event), CF_EINVAL, detail);
    assert_fails(cf_event_record(event, stream), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_stream_destroy(stream), CF_EINVAL, ": invalid resource handle");
    assert_ok(cf_event_destroy(event));
}

TEST(stream_functions_event_as_stream_is_invalid)
{
    need_cpu();
    cf_event event;
    assert_ok(cf_event_create(&event));
    cf_stream stream = create(), wrong = (cf_stream)(void *)event, inside = (cf_stream)(void *)((char *)stream + 1);
    assert_fails(cf_stream_sync(wrong), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_stream_destroy(wrong), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_stream_sync(inside), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_stream_wait(stream, (cf_event)(void *)stream), CF_EINVAL, ": invalid resource handle");
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_event_destroy(event));
}

TEST(stream_query_busy_stream_becomes_ready_without_detail)
{
    size_t bytes = 64 << 20;
    void *memory = allocate(bytes);
    cf_stream stream = create();
    assert_fails(cf_stream_create(NULL), CF_EINVAL, "stream is NULL");
    for (int i = 0; i < 20; i++)
        assert_ok(cf_mem_fill_async(stream, memory, (unsigned char)i, bytes >> (on_cuda() ? 0 : 4)));
    int status;
    while ((status = cf_stream_query(stream)) == CF_ENOTREADY)
        assert_string_equal(cf_last_error(), "cf_stream_create: stream is NULL");
    assert_ok(status);
    assert_string_equal(cf_last_error(), "cf_stream_create: stream is NULL");
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(memory));
}

TEST(stream_wait_null_event_is_invalid)
{
    cf_stream stream = create();
    assert_fails(cf_stream_wait(stream, NULL), CF_EINVAL, "cf_stream_wait: event is NULL");
    assert_fails(cf_stream_wait(NULL, NULL), CF_EINVAL, "cf_stream_wait: event is NULL");
    assert_ok(cf_stream_destroy(stream));
}

TEST(stream_wait_destroyed_event_is_invalid)
{
    need_cpu();
    cf_stream stream = create();
    cf_event event;
    assert_ok(cf_event_create(&event));
    assert_ok(cf_event_destroy(event));
    assert_fails(cf_stream_wait(stream, event), CF_EINVAL, ": invalid resource handle");
    assert_ok(cf_stream_destroy(stream));
}

TEST(stream_wait_unrecorded_event_holds_nothing_back)
{
    cf_stream stream = create();
    cf_event event;
    assert_ok(cf_event_create(&event));
    assert_ok(cf_stream_wait(stream, event));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_event_destroy(event));
    assert_ok(cf_stream_destroy(stream));
}

TEST(stream_wait_other_stream_orders_the_work)
{
    size_t bytes = 2 << 20;
    unsigned char *read = malloc(bytes);
    assert_non_null(read);
    void *memory = allocate(bytes), *copy = allocate(bytes);
    cf_stream first = create(), second = create();
    cf_event written, consumed;
    assert_ok(cf_event_create(&written));
    assert_ok(cf_event_create(&consumed));
    for (int round = 1; round <= 20; round++) {
        unsigned char value = (unsigned char)nrand48(seed);
        memset(read, ~value, bytes);
        for (int i = 0; i < 4; i++)
            assert_ok(cf_mem_fill_async(first, memory, (unsigned char)(value + 3 - i), bytes));
        assert_ok(cf_event_record(written, first));
        assert_ok(cf_stream_wait(second, written));
        assert_ok(cf_mem_copy_async(second, copy, memory, bytes));
        assert_ok(cf_event_record(consumed, second));
        assert_ok(cf_stream_wait(first, consumed));
        assert_ok(cf_mem_copy_async(second, read, copy, bytes));
        assert_ok(cf_stream_sync(second));
        for (size_t i = 0; i < bytes; i++)
            if (read[i] != value)
                fail_msg("round %d: byte %zu is %d, not %d", round, i, read[i], value);
    }
    assert_ok(cf_stream_sync(first));
    assert_ok(cf_event_destroy(written));
    assert_ok(cf_event_destroy(consumed));
    assert_ok(cf_stream_destroy(first));
    assert_ok(cf_stream_destroy(second));
    assert_ok(cf_mem_free(memory));
    assert_ok(cf_mem_free(copy));
    free(read);
}

/* Uses the CPU and a GPU in the same process; returns the first wrong status with its line, or NULL. */
static void *cross_drivers(void *unused)
{
    static char said[64];
    cf_stream on_gpu, on_cpu;
    cf_event of_gpu, of_cpu;
    cf_graph graph;
    (void)unused;
#define EXPECT(call, status)                                                           \
    do {                                                                               \
        int got = call;                                                                \
        if (got != status) {                                                           \
            snprintf(said, sizeof said, "line %d: %s", __LINE__, cf_status_name(got)); \
            return said;                                                               \
        }                                                                              \
    } while (0)
    EXPECT(cf_stream_create(&on_gpu), CF_OK);
    EXPECT(cf_event_create(&of_gpu), CF_OK);
    EXPECT(cf_device_use(CF_HOST), CF_OK);
    EXPECT(cf_stream_create(&on_cpu), CF_OK);
    EXPECT(cf_event_create(&of_cpu), CF_OK);
    EXPECT(!cf__cpu_owns(on_gpu) && cf__cpu_owns(on_cpu) && !cf__cpu_owns(of_gpu) && cf__cpu_owns(of_cpu), 1);
    EXPECT(cf_event_record(of_gpu, on_gpu), CF_OK);
    EXPECT(cf_event_record(of_cpu, on_cpu), CF_OK);
    EXPECT(cf_stream_wait(on_gpu, of_cpu), CF_OK);
    EXPECT(cf_stream_wait(on_cpu, of_gpu), CF_OK);
    EXPECT(cf_stream_capture_begin(on_gpu), CF_OK);
    EXPECT(cf_event_record(of_gpu, on_gpu), CF_OK);
    EXPECT(cf_stream_wait(on_cpu, of_gpu), CF_ECAPTURE);
    EXPECT(!strncmp(cf_last_error(), "cf_stream_wait: event 0x", 24), 1);
    if (cf_stream_capture_end(on_gpu, &graph) == CF_OK) /* the query of the event may have broken the capture */
        EXPECT(cf_graph_destroy(graph), CF_OK);
    EXPECT(cf_stream_sync(on_gpu), CF_OK);
    EXPECT(cf_stream_capture_begin(on_cpu), CF_OK);
    EXPECT(cf_event_record(of_cpu, on_cpu), CF_OK);
    EXPECT(cf_stream_wait(on_gpu, of_cpu), CF_ECAPTURE);
    EXPECT(!strncmp(cf_last_error(), "cf_stream_wait: event 0x", 24), 1);
    EXPECT(cf_stream_capture_end(on_cpu, &graph), CF_OK);
    EXPECT(cf_graph_destroy(graph), CF_OK);
    EXPECT(cf_event_record(of_gpu, on_cpu), CF_EINVAL);
    EXPECT(cf_event_record(of_cpu, on_gpu), CF_EINVAL);
    EXPECT(cf_stream_sync(on_gpu), CF_OK);
    EXPECT(cf_stream_sync(on_cpu), CF_OK);
    EXPECT(cf_event_destroy(of_gpu), CF_OK);
    EXPECT(cf_event_destroy(of_cpu), CF_OK);
    EXPECT(cf_stream_destroy(on_gpu), CF_OK);
    EXPECT(cf_stream_destroy(on_cpu), CF_OK);
#undef EXPECT
    return NULL;
}

TEST(stream_wait_across_drivers_works)
{
    run_beside_a_gpu(cross_drivers);
}

TEST(stream_create_many_are_distinct_and_reusable)
{
    enum { COUNT = 500 };
    static cf_stream all[COUNT];
    for (int i = 0; i < COUNT; i++)
        all[i] = create();
    for (int round = 0; round < 500; round++) {
        int i = (int)(nrand48(seed) % COUNT);
        assert_ok(cf_stream_destroy(all[i]));
        all[i] = create();
    }
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < i; j++)
            if (all[i] == all[j])
                fail_msg("streams %d and %d are one", i, j);
        assert_ok(cf_stream_sync(all[i]));
    }
    for (int i = 0; i < COUNT; i++)
        assert_ok(cf_stream_destroy(all[(i + 123) % COUNT]));
}

/* Returns the number of errors. */
static void *use_streams(void *unused)
{
    intptr_t wrong = 0;
    (void)unused;
    for (int round = 0; round < 50; round++) {
        cf_stream stream = NULL;
        void *memory = NULL;
        uint64_t written = (uint64_t)(uintptr_t)&wrong + (uint64_t)round, read = 0;
        wrong += cf_stream_create(&stream) != CF_OK || cf_mem_alloc(&memory, 8) != CF_OK;
        wrong += cf_mem_copy_async(stream, memory, &written, 8) != CF_OK;
        wrong += cf_mem_copy_async(stream, &read, memory, 8) != CF_OK;
        wrong += cf_stream_sync(stream) != CF_OK || read != written || cf_stream_query(stream) != CF_OK;
        wrong += cf_stream_destroy(stream) != CF_OK || cf_mem_free(memory) != CF_OK;
    }
    return (void *)wrong;
}

TEST(stream_functions_8_threads_at_once_are_apart)
{
    run_threads(8, use_streams);
}

/* ---- Priorities, devices, calls ---- */

/* Returns the priority that the stream has in the driver. */
static int priority_of(cf_stream stream)
{
    int priority = 77;
    const struct fake_counts *counts = played_gpu_counts();
    if (counts)
        return counts->priority;
    int (*ask)(cf_stream, int *) = (int (*)(cf_stream, int *))driver_function("cuStreamGetPriority", 7000);
    assert_int_equal(ask(stream, &priority), 0);
    return priority;
}

TEST(stream_priorities_bad_arguments_are_named)
{
    int value = 77;
    assert_fails(cf_stream_priorities(NULL, &value), CF_EINVAL, "cf_stream_priorities: least is NULL");
    assert_fails(cf_stream_priorities(&value, NULL), CF_EINVAL, "cf_stream_priorities: greatest is NULL");
    assert_fails(cf_stream_create_with_priority(NULL, 0), CF_EINVAL, "cf_stream_create_with_priority: stream is NULL");
    assert_fails(cf_stream_device(NULL, NULL), CF_EINVAL, "cf_stream_device: device is NULL");
    assert_int_equal(value, 77);
}

/* If the device does not have a priority, the stream gets the nearest one. */
TEST(stream_create_with_priority_any_is_taken)
{
    int least = 77, greatest = 77;
    assert_ok(cf_stream_priorities(&least, &greatest));
    assert_true(greatest <= least && least == 0);
    if (!on_cuda())
        assert_int_equal(greatest, 0);
    const int wanted[] = {0, greatest, least, -1, 1, -1000, 1000, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        cf_stream stream;
        assert_ok(cf_stream_create_with_priority(&stream, wanted[i]));
        if (on_cuda())
            assert_int_equal(priority_of(stream), wanted[i] > least      ? least
                                                  : wanted[i] < greatest ? greatest
                                                                         : wanted[i]);
        void *memory = allocate(100);
        assert_ok(cf_mem_fill_async(stream, memory, 1, 100));
        assert_ok(cf_stream_sync(stream));
        assert_ok(cf_mem_free(memory));
        assert_ok(cf_stream_destroy(stream));
    }
}

TEST(stream_device_is_where_it_was_made)
{
    int here = on_cuda() ? 0 : CF_HOST, device;
    cf_stream stream = create();
    cf_stream all[] = {stream, NULL, (cf_stream)1, (cf_stream)2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        device = 77;
        assert_ok(cf_stream_device(all[i], &device));
        assert_int_equal(device, here);
    }
    assert_ok(cf_stream_destroy(stream));
    if (!on_cuda())
        assert_int_equal(cf_stream_device(stream, &device), CF_EINVAL);
}

static void *devices_of_streams(void *unused)
{
    int count = 0, device = 77;
    cf_stream first, last, on_cpu;
    (void)unused;
    if (cf_stream_create(&first) != CF_OK || cf_device_count(&count) != CF_OK || cf_device_use(count - 1) != CF_OK ||
        cf_stream_create(&last) != CF_OK || cf_device_use(CF_HOST) != CF_OK || cf_stream_create(&on_cpu) != CF_OK)
        return (void *)"no streams";
    if (cf_stream_device(first, &device) != CF_OK || device != 0)
        return (void *)"the first GPU's stream is elsewhere";
    if (cf_stream_device(last, &device) != CF_OK || device != count - 1)
        return (void *)"the last GPU's stream is elsewhere";
    if (cf_stream_device(on_cpu, &device) != CF_OK || device != CF_HOST)
        return (void *)"the CPU's stream is elsewhere";
    if (cf_stream_device(NULL, &device) != CF_OK || device != CF_HOST)
        return (void *)"the default stream is not the thread's";
    int least = 1, greatest = 1;
    if (cf_stream_priorities(&least, &greatest) != CF_OK || least != 0 || greatest != 0)
        return (void *)"the CPU has priorities";
    if (cf_stream_destroy(first) != CF_OK || cf_stream_destroy(last) != CF_OK || cf_stream_destroy(on_cpu) != CF_OK)
        return (void *)"they cannot be destroyed";
    return NULL;
}

TEST(stream_device_distinguishes_many_devices)
{
    run_beside_a_gpu(devices_of_streams);
}

struct seen {
    unsigned char *bytes;
    int calls, is_right;
    pthread_t thread;
};

static void see(void *data)
{
    struct seen *seen = data;
    seen->is_right = seen->bytes[0] == 0x5a && seen->bytes[99] == 0x5a;
    seen->thread = pthread_self();
    __atomic_fetch_add(&seen->calls, 1, __ATOMIC_SEQ_CST);
}

TEST(stream_call_comes_in_its_order)
{
    unsigned char bytes[100] = {0};
    cf_stream own = create();
    cf_stream all[] = {own, NULL, (cf_stream)1, (cf_stream)2};
    void *memory = allocate(sizeof bytes);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct seen seen = {.bytes = bytes};
        memset(bytes, 0, sizeof bytes);
        assert_ok(cf_mem_fill_async(all[i], memory, 0x5a, sizeof bytes));
        assert_ok(cf_mem_copy_async(all[i], bytes, memory, sizeof bytes));
        assert_ok(cf_stream_call(all[i], see, &seen));
        if (!on_cuda()) {
            assert_int_equal(seen.calls, 1);
            assert_true(pthread_equal(seen.thread, pthread_self()));
        }
        assert_ok(cf_mem_fill_async(all[i], memory, 0x11, sizeof bytes));
        assert_ok(cf_mem_copy_async(all[i], bytes, memory, sizeof bytes));
        assert_ok(cf_stream_sync(all[i]));
        assert_int_equal(seen.calls, 1);
        assert_true(seen.is_right);
        assert_int_equal(bytes[99], 0x11);
    }
    assert_ok(cf_mem_free(memory));
    assert_ok(cf_stream_destroy(own));
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
