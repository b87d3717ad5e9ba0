/* test_event.c - events: their lifetime, recording them in streams, waiting, queries, and elapsed time. */
#include "played_gpu.h"

#include <math.h>
#include <time.h>

#include "driver/driver.h"

static cf_event create(void)
{
    cf_event event = NULL;
    assert_ok(cf_event_create(&event));
    assert_non_null(event);
    return event;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void pause_for(long milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
}

/* ---- Arguments ---- */

TEST(event_functions_null_event_is_invalid)
{
    float elapsed = -1;
    cf_event event = create();
    assert_ok(cf_event_record(event, NULL));
    assert_fails(cf_event_create(NULL), CF_EINVAL, "cf_event_create: event is NULL");
    assert_fails(cf_event_record(NULL, NULL), CF_EINVAL, "cf_event_record: event is NULL");
    assert_fails(cf_event_sync(NULL), CF_EINVAL, "cf_event_sync: event is NULL");
    assert_fails(cf_event_query(NULL), CF_EINVAL, "cf_event_query: event is NULL");
    assert_fails(cf_event_elapsed(NULL, event, event), CF_EINVAL, "cf_event_elapsed: milliseconds is NULL");
    assert_fails(cf_event_elapsed(&elapsed, NULL, event), CF_EINVAL, "cf_event_elapsed: start is NULL");
    assert_fails(cf_event_elapsed(&elapsed, event, NULL), CF_EINVAL, "cf_event_elapsed: stop is NULL");
    assert_true(elapsed == -1);
    assert_ok(cf_event_destroy(event));
}

TEST(event_destroy_null_succeeds)
{
    assert_ok(cf_event_destroy(NULL));
}

TEST(event_functions_destroyed_event_is_invalid)
{
    need_cpu();
    float elapsed = -1;
    char detail[96];
    cf_event event = create(), other = create();
    assert_ok(cf_event_record(event, NULL));
    assert_ok(cf_event_record(other, NULL));
    assert_ok(cf_event_destroy(event));
    snprintf(detail, sizeof detail, "cf_event_record: event %p: invalid resource handle", (void *)event);
    assert_fails(cf_event_record(event, NULL), CF_EINVAL, detail);
    snprintf(detail, sizeof detail, "cf_stream_wait: event %p: invalid resource handle", (void *)event);
    assert_fails(cf_stream_wait(NULL, event), CF_EINVAL, detail);
    assert_fails(cf_event_sync(event), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_event_query(event), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_event_elapsed(&elapsed, event, other), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_event_elapsed(&elapsed, other, event), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_event_destroy(event), CF_EINVAL, ": invalid resource handle");
    assert_true(elapsed == -1);
    assert_ok(cf_event_destroy(other));
}

TEST(event_functions_stream_as_event_is_invalid)
{
    need_cpu();
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    cf_event wrong = (cf_event)(void *)stream;
    assert_fails(cf_event_record(wrong, NULL), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_event_sync(wrong), CF_EINVAL, ": invalid resource handle");
    assert_fails(cf_event_destroy(wrong), CF_EINVAL, ": invalid resource handle");
    assert_ok(cf_stream_destroy(stream));
}

TEST(event_record_destroyed_stream_leaves_it_unrecorded)
{
    need_cpu();
    float elapsed = -1;
    cf_stream stream;
    cf_event event = create(), other = create();
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_event_record(other, NULL));
    char detail[96];
    snprintf(detail, sizeof detail, "cf_event_record: stream %p: invalid resource handle", (void *)stream);
    assert_fails(cf_event_record(event, stream), CF_EINVAL, detail);
    assert_fails(cf_event_elapsed(&elapsed, other, event), CF_EINVAL, "; stop was never recorded");
    assert_ok(cf_event_destroy(event));
    assert_ok(cf_event_destroy(other));
}

/* ---- Recording ---- */

TEST(event_sync_unrecorded_event_counts_as_done)
{
    cf_event event = create();
    assert_ok(cf_event_sync(event));
    assert_ok(cf_event_query(event));
    assert_ok(cf_event_destroy(event));
}

TEST(event_record_any_stream_is_reached)
{
    cf_stream own;
    assert_ok(cf_stream_create(&own));
    cf_stream streams[] = {NULL, (cf_stream)1, (cf_stream)2, own};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        cf_event event = create();
        assert_ok(cf_event_record(event, streams[i]));
        assert_ok(cf_event_sync(event));
        assert_ok(cf_event_query(event));
        assert_ok(cf_event_destroy(event));
    }
    assert_ok(cf_stream_destroy(own));
}

TEST(event_query_busy_stream_becomes_done_without_detail)
{
    size_t bytes = 64 << 20;
    void *memory = NULL;
    cf_stream stream;
    cf_event event = create();
    assert_ok(cf_mem_alloc(&memory, bytes));
    assert_ok(cf_stream_create(&stream));
    assert_fails(cf_event_sync(NULL), CF_EINVAL, "cf_event_sync: event is NULL");
    for (int i = 0; i < 20; i++)
        assert_ok(cf_mem_fill_async(stream, memory, (unsigned char)i, bytes >> (on_cuda() ? 0 : 4)));
    assert_ok(cf_event_record(event, stream));
    int status;
    while ((status = cf_event_query(event)) == CF_ENOTREADY)
        assert_string_equal(cf_last_error(), "cf_event_sync: event is NULL");
    assert_ok(status);
    assert_string_equal(cf_last_error(), "cf_event_sync: event is NULL");
    assert_ok(cf_stream_query(stream));
    assert_ok(cf_event_destroy(event));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(memory));
}

TEST(event_sync_recorded_event_waits_for_the_work)
{
    size_t bytes = 16 << 20;
    unsigned char *read = malloc(bytes);
    void *memory = NULL;
    cf_stream stream;
    cf_event event = create();
    assert_non_null(read);
    assert_ok(cf_mem_alloc(&memory, bytes));
    assert_ok(cf_stream_create(&stream));
    for (int round = 1; round < 6; round++) {
        unsigned char value = (unsigned char)(37 * round);
        memset(read, 0, bytes);
        assert_ok(cf_mem_fill_async(stream, memory, value, bytes));
        assert_ok(cf_mem_copy_async(stream, read, memory, bytes));
        assert_ok(cf_event_record(event, stream));
        assert_ok(cf_event_sync(event));
        for (size_t i = 0; i < bytes; i++)
            if (read[i] != value)
                fail_msg("round %d: byte %zu is %d", round, i, read[i]);
    }
    assert_ok(cf_event_destroy(event));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(memory));
    free(read);
}

TEST(event_destroy_recorded_event_succeeds)
{
    cf_event event = create();
    assert_ok(cf_event_record(event, NULL));
    assert_ok(cf_event_destroy(event));
    assert_ok(cf_device_sync());
}

/* ---- Captures ---- */

enum asker { SYNC, QUERY, START, STOP, ASKERS };

/* Checks the error of a function that asks for the time or state of `marked`, an event of a capture; `other` is an
 * event that was recorded. For elapsed times, drivers may or may not distinguish an open capture from one that has
 * ended. */
static void expect_captured(enum asker asker, cf_event marked, cf_event other, int is_going_on)
{
    static const char *const functions[ASKERS] = {"cf_event_sync: event", "cf_event_query: event",
                                                  "cf_event_elapsed: start", "cf_event_elapsed: stop"};
    float elapsed = -1;
    char detail[160];
    int got = asker == SYNC    ? cf_event_sync(marked)
              : asker == QUERY ? cf_event_query(marked)
              : asker == START ? cf_event_elapsed(&elapsed, marked, other)
                               : cf_event_elapsed(&elapsed, other, marked);
    if (asker == START || asker == STOP)
        is_going_on = is_going_on && got == CF_ECAPTURE;
    snprintf(detail, sizeof detail, "%s %p was last recorded in %s, and has no mark: ", functions[asker],
             (void *)marked, is_going_on ? "a stream that is being captured" : "a capture");
    assert_fails(got, is_going_on ? CF_ECAPTURE : CF_EINVAL, detail);
    assert_int_equal(cf_last_driver_result(), is_going_on ? CUDA_ERROR_CAPTURED_EVENT : CUDA_ERROR_INVALID_VALUE);
    assert_true(elapsed == -1);
}

TEST(event_functions_event_of_a_capture_has_no_mark)
{
    cf_stream stream;
    cf_event marked = create(), other = create();
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_event_record(marked, stream));
    assert_ok(cf_event_record(other, stream));
    assert_ok(cf_event_sync(other));
    for (enum asker asker = SYNC; asker < ASKERS; asker++) {
        cf_graph graph = NULL;
        assert_ok(cf_stream_capture_begin(stream));
        assert_ok(cf_event_record(marked, stream));
        expect_captured(asker, marked, other, 1);
        int status = cf_stream_capture_end(stream, &graph);
        assert_true(status == CF_OK || status == CF_ECAPTURE); /* the query may have broken the capture */
        assert_ok(cf_graph_destroy(graph));
        assert_ok(cf_stream_capture_begin(stream));
        assert_ok(cf_event_record(marked, stream));
        assert_ok(cf_stream_capture_end(stream, &graph));
        expect_captured(asker, marked, other, 0);
        assert_ok(cf_graph_destroy(graph));
    }
    assert_ok(cf_event_record(marked, stream));
    assert_ok(cf_event_sync(marked));
    assert_ok(cf_event_query(marked));
    assert_ok(cf_event_destroy(marked));
    assert_ok(cf_event_destroy(other));
    assert_ok(cf_stream_destroy(stream));
}

/* ---- Time ---- */

TEST(event_elapsed_unrecorded_event_is_invalid)
{
    float elapsed = -1;
    char detail[128];
    cf_event recorded = create(), fresh = create();
    assert_ok(cf_event_record(recorded, NULL));
    assert_ok(cf_event_sync(recorded));
    snprintf(detail, sizeof detail,
             "cf_event_elapsed: start %p, stop %p; stop was never recorded, or has no times: ", (void *)recorded,
             (void *)fresh);
    assert_fails(cf_event_elapsed(&elapsed, recorded, fresh), CF_EINVAL, detail);
    snprintf(detail, sizeof detail,
             "cf_event_elapsed: start %p, stop %p; start was never recorded, or has no times: ", (void *)fresh,
             (void *)recorded);
    assert_fails(cf_event_elapsed(&elapsed, fresh, recorded), CF_EINVAL, detail);
    snprintf(detail, sizeof detail,
             "cf_event_elapsed: start %p, stop %p; neither was ever recorded, or they have no times", (void *)fresh,
             (void *)fresh);
    assert_fails(cf_event_elapsed(&elapsed, fresh, fresh), CF_EINVAL, detail);
    assert_true(elapsed == -1);
    assert_ok(cf_event_destroy(recorded));
    assert_ok(cf_event_destroy(fresh));
}

TEST(event_create_with_flags_makes_such_an_event)
{
    cf_event timed, event = NULL;
    char text[160];
    float time;
    assert_fails(cf_event_create_with(NULL, 0), CF_EINVAL, "cf_event_create_with: event is NULL");
    assert_fails(cf_event_create_with(&event, 6), CF_EINVAL,
                 "cf_event_create_with: flags are 0x6, and only CF_EVENT_NO_TIMING and CF_EVENT_BLOCKING exist");
    assert_null(event);
    assert_ok(cf_event_create(&timed));
    assert_ok(cf_event_record(timed, NULL));
    for (unsigned int flags = 0; flags <= (CF_EVENT_NO_TIMING | CF_EVENT_BLOCKING); flags++) {
        assert_ok(cf_event_create_with(&event, flags));
        if (played_gpu_counts())
            assert_int_equal(played_gpu_counts()->event_flags,
                             (flags & CF_EVENT_NO_TIMING ? CU_EVENT_DISABLE_TIMING : 0) |
                                 (flags & CF_EVENT_BLOCKING ? CU_EVENT_BLOCKING_SYNC : 0));
        assert_ok(cf_event_record(event, NULL));
        assert_ok(cf_event_sync(event));
        assert_ok(cf_event_query(event));
        if (flags & CF_EVENT_NO_TIMING) {
            snprintf(text, sizeof text,
                     "cf_event_elapsed: start %p, stop %p; stop was never recorded, or has no times: ", (void *)timed,
                     (void *)event);
            assert_fails(cf_event_elapsed(&time, timed, event), CF_EINVAL, text);
        } else {
            assert_ok(cf_event_elapsed(&time, timed, event));
        }
        assert_ok(cf_event_destroy(event));
    }
    assert_ok(cf_event_destroy(timed));
}

TEST(event_elapsed_same_event_is_0)
{
    float elapsed = -1;
    cf_event event = create();
    assert_ok(cf_event_record(event, NULL));
    assert_ok(cf_event_sync(event));
    assert_ok(cf_event_elapsed(&elapsed, event, event));
    assert_true(elapsed == 0);
    assert_ok(cf_event_destroy(event));
}

TEST(event_elapsed_pause_is_measured)
{
    cf_stream own;
    assert_ok(cf_stream_create(&own));
    cf_stream streams[] = {NULL, (cf_stream)2, own};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        float elapsed = -1;
        cf_event start = create(), stop = create();
        double before = now();
        assert_ok(cf_event_record(start, streams[i]));
        assert_ok(cf_event_sync(start));
        double started = now();
        pause_for(30);
        double paused = now();
        assert_ok(cf_event_record(stop, streams[i]));
        assert_ok(cf_event_sync(stop));
        double after = now();
        assert_ok(cf_event_elapsed(&elapsed, start, stop));
        /* The clocks of device and host may differ slightly. */
        if (!(elapsed >= 0.99 * (paused - started) - 0.1 && elapsed <= 1.01 * (after - before) + 0.1))
            fail_msg("%g ms lie between the events, %g to %g on the clock", (double)elapsed, paused - started,
                     after - before);
        assert_ok(cf_event_destroy(start));
        assert_ok(cf_event_destroy(stop));
    }
    assert_ok(cf_stream_destroy(own));
}

TEST(event_elapsed_marks_in_order_add_up)
{
    enum { COUNT = 6 };
    cf_event events[COUNT];
    float sum = 0, whole = -1;
    for (int i = 0; i < COUNT; i++) {
        events[i] = create();
        assert_ok(cf_event_record(events[i], NULL));
        pause_for(2);
    }
    assert_ok(cf_event_sync(events[COUNT - 1]));
    for (int i = 1; i < COUNT; i++) {
        float part = -1;
        assert_ok(cf_event_elapsed(&part, events[i - 1], events[i]));
        if (!(part >= 0))
            fail_msg("%g ms from mark %d to the next", (double)part, i - 1);
        sum += part;
    }
    assert_ok(cf_event_elapsed(&whole, events[0], events[COUNT - 1]));
    assert_true(fabsf(whole - sum) < 0.05F);
    for (int i = 0; i < COUNT; i++)
        assert_ok(cf_event_destroy(events[i]));
}

TEST(event_record_again_moves_the_mark)
{
    float first = -1, second = -1;
    cf_event start = create(), stop = create();
    assert_ok(cf_event_record(start, NULL));
    assert_ok(cf_event_record(stop, NULL));
    assert_ok(cf_event_sync(stop));
    assert_ok(cf_event_elapsed(&first, start, stop));
    pause_for(20);
    assert_ok(cf_event_record(stop, NULL));
    assert_ok(cf_event_sync(stop));
    assert_ok(cf_event_elapsed(&second, start, stop));
    assert_true(first >= 0 && second > first + 19);
    assert_ok(cf_event_destroy(start));
    assert_ok(cf_event_destroy(stop));
}

/* Uses two GPUs; returns an error text, or NULL on success. */
static void *record_across_devices(void *unused)
{
    static char wrong[512];
    cf_event event;
    cf_stream stream;
    char detail[128];
    (void)unused;
    if (cf_device_use(1) != CF_OK)
        return NULL; /* there is only one GPU */
    if (cf_event_create(&event) != CF_OK || cf_device_use(0) != CF_OK || cf_stream_create(&stream) != CF_OK)
        return (void *)"an event and a stream cannot be made";
    snprintf(detail, sizeof detail, "cf_event_record: event %p and stream %p are of different devices: cuEventRecord",
             (void *)event, (void *)stream);
    if (cf_event_record(event, stream) != CF_EINVAL || strncmp(cf_last_error(), detail, strlen(detail)) != 0) {
        snprintf(wrong, sizeof wrong, "%s, not %s", cf_last_error(), detail);
        return wrong;
    }
    return cf_stream_destroy(stream) != CF_OK || cf_event_destroy(event) != CF_OK ? (void *)"they stay" : NULL;
}

TEST(event_record_stream_of_another_gpu_is_named)
{
    run_beside_a_gpu(record_across_devices);
}

/* Uses the CPU and a GPU in the same process; returns an error text, or NULL on success. */
static void *cross_drivers(void *unused)
{
    cf_event of_gpu, of_cpu;
    float elapsed = -1;
    (void)unused;
    if (cf_event_create(&of_gpu) != CF_OK || cf_event_record(of_gpu, NULL) != CF_OK ||
        cf_device_use(CF_HOST) != CF_OK || cf_event_create(&of_cpu) != CF_OK || cf_event_record(of_cpu, NULL) != CF_OK)
        return (void *)"an event of each cannot be made";
    if (cf_event_elapsed(&elapsed, of_gpu, of_cpu) != CF_EINVAL || !strstr(cf_last_error(), "different devices") ||
        cf_event_elapsed(&elapsed, of_cpu, of_gpu) != CF_EINVAL || !strstr(cf_last_error(), "different devices"))
        return (void *)"cf_event_elapsed() takes events of two devices";
    if (cf_event_record(of_gpu, NULL) != CF_EINVAL || !strstr(cf_last_error(), "different devices"))
        return (void *)"cf_event_record() takes an event and a stream of two devices";
    if (cf_event_sync(of_gpu) != CF_OK || cf_event_query(of_gpu) != CF_OK || cf_event_sync(of_cpu) != CF_OK)
        return (void *)"an event of another device than the thread's cannot be waited for";
    if (cf_event_destroy(of_gpu) != CF_OK || cf_event_destroy(of_cpu) != CF_OK)
        return (void *)"an event of another device than the thread's cannot be destroyed";
    return NULL;
}

TEST(event_functions_distinguish_two_drivers)
{
    run_beside_a_gpu(cross_drivers);
}

/* ---- Many events ---- */

TEST(event_create_many_are_distinct_and_reusable)
{
    enum { COUNT = 1000 };
    static cf_event all[COUNT];
    static unsigned short seed[3] = {7, 8, 9};
    for (int i = 0; i < COUNT; i++)
        all[i] = create();
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < i; j++)
            if (all[i] == all[j])
                fail_msg("events %d and %d are one", i, j);
    for (int round = 0; round < 3000; round++) {
        int i = (int)(nrand48(seed) % COUNT);
        float elapsed;
        assert_ok(cf_event_record(all[i], NULL));
        assert_ok(cf_event_destroy(all[i]));
        all[i] = create();
        if (round % 16 == 0) /* a new event counts as not recorded, even if it reuses a slot */
            assert_int_equal(cf_event_elapsed(&elapsed, all[i], all[i]), CF_EINVAL);
    }
    for (int i = 0; i < COUNT; i++)
        assert_ok(cf_event_destroy(all[(i + 777) % COUNT]));
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
