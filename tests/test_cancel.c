/* test_cancel.c - threads that are cancelled inside the library leave no lock behind, no buffers, and nothing of their
 * stack: every call of the driver, and every kernel on the CPU, is a point of cancellation here. */
#include "on_made.h"

#include <pthread.h>

#include <cuferry/kernels.h>

#include "internal.h"

/* ---- A driver whose functions wait, or may do so ---- */

static const struct cf__driver *below[2];
static struct cf__driver waiting[2];

static _Thread_local int calls_left = -1; /* until the thread is cancelled; negative: it is not */

static void meet_point(void)
{
    if (calls_left >= 0 && calls_left-- == 0)
        pthread_cancel(pthread_self());
    pthread_testcancel();
}

#define WAITS_ON(side, name, parameters, names)      \
    static CUresult waits_##side##_##name parameters \
    {                                                \
        meet_point();                                \
        return below[side]->name names;              \
    }
#define WAITS(name, version, parameters, names) \
    WAITS_ON(0, name, parameters, names)        \
    WAITS_ON(1, name, parameters, names)
CF__DRIVER_FUNCS(WAITS)
#undef WAITS

const struct cf__driver *cf__driver_wrap(const struct cf__driver *driver)
{
    int side = driver->is_host != 0;
    below[side] = driver;
    waiting[side].is_host = driver->is_host;
#define FILL(name, version, parameters, names) \
    waiting[side].name = !driver->name ? NULL : side ? waits_1_##name : waits_0_##name;
    CF__DRIVER_FUNCS(FILL)
#undef FILL
    return &waiting[side];
}

/* ---- Calls ---- */

enum { LENGTH = 1 << 19, FEW = 100 };
static float source[LENGTH], *copy;
static int32_t indices[LENGTH];
static void *on_device; /* LENGTH elements, and FEW behind them */

UNWATCHED static int is_gathered(const float *res, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        if (res[i] != source[indices[i]])
            return 0;
    return 1;
}

static int gather(int64_t length)
{
    float *res = malloc((size_t)length * sizeof *res);
    if (!res)
        return CF_ENOMEM;
    int status = cf_gather_f32_i32(source, indices, res, length, LENGTH);
    if (status == CF_OK && !is_gathered(res, length))
        status = CF_ECALL;
    free(res);
    return status;
}

static int gather_many(void)
{
    return gather(LENGTH);
}

static int gather_few(void)
{
    return gather(FEW);
}

static int gather_on_device(void)
{
    return cf_gather_f32_i32(on_device, on_device, (float *)on_device + LENGTH, FEW, LENGTH);
}

static int copy_many(void)
{
    return cf_mem_copy(on_device, source, sizeof source);
}

static int copy_back(void)
{
    return cf_mem_copy(copy, on_device, sizeof source);
}

static int preload(void)
{
    return cf_preload(&cf_registry);
}

static int enable_peer(void)
{
    int possible;
    int status = on_cuda() ? cf_peer_possible(0, 1, &possible) : CF_ENODEV;
    status = status == CF_OK && possible ? cf_peer_enable(0, 1) : CF_OK;
    return status;
}

/* `is_whole`: ends behind the call, not in it. Others may end in it, and leave the library as it has to be. */
static const struct {
    const char *name;
    int (*call)(void);
    int is_whole;
} calls[] = {
    {"many host elements", gather_many, 1},
    {"few host elements", gather_few, 1},
    {"device arrays", gather_on_device, 1},
    {"a copy in", copy_many, 0},
    {"a copy out", copy_back, 0},
    {"a wait for the device", cf_device_sync, 0},
    {"loading", preload, 0},
    {"a peer", enable_peer, 0},
    {"the end", cf_shutdown, 1},
};
enum { CALLS = sizeof calls / sizeof *calls };

struct attempt {
    int number, is_done, status;
};

static void *call_cancelled(void *of)
{
    struct attempt *attempt = of;
    pthread_cancel(pthread_self()); /* takes effect at the next such point */
    attempt->status = calls[attempt->number].call();
    attempt->is_done = 1;
    pthread_testcancel();
    return NULL;
}

static void cancel_one(int number)
{
    struct attempt attempt = {.number = number};
    pthread_t thread;
    void *value;
    assert_int_equal(pthread_create(&thread, NULL, call_cancelled, &attempt), 0);
    assert_int_equal(pthread_join(thread, &value), 0);
    assert_ptr_equal(value, PTHREAD_CANCELED);
    if (calls[number].is_whole && !(attempt.is_done && attempt.status == CF_OK))
        fail_msg("%s: the thread ended in the call", calls[number].name);
}

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < LENGTH; i++) {
        source[i] = (float)i;
        indices[i] = LENGTH - 1 - i;
    }
    copy = malloc(sizeof source);
    return copy ? cf_set_host_data(CF_HOST_DATA_STAGE) : 1;
}

static void make_memory(void)
{
    assert_ok(cf_mem_alloc(&on_device, sizeof source + FEW * sizeof *source));
    assert_ok(cf_mem_copy(on_device, indices, sizeof indices));
}

static int tear_down(void **state)
{
    (void)state;
    free(copy);
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

/* Twice: as its first use, and later. The next thread's calls do not wait, nor is anything left at the end. */
static void threads_cancelled_inside_do_not_hold_up_others(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * CALLS; i++) {
        int is_end = calls[i / 2].call == cf_shutdown;
        if (!is_end)
            make_memory();
        for (int again = 0; again < 4; again++) /* more than there are sets of buffers */
            cancel_one(i / 2);
        if (is_end)
            make_memory();
        for (int other = 0; other < CALLS - 1; other++)
            assert_ok(calls[other].call());
        assert_ok(cf_mem_copy(copy, on_device, sizeof source));
        assert_memory_equal(copy, source, sizeof source);
        assert_ok(cf_mem_free(on_device));
        if (i % 2)
            assert_ok(cf_shutdown());
        if (i % 2)
            assert_nothing_alive();
    }
}

/* While others call. */
static int stop;

static void *keep_calling(void *wrong)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED) && !*(int *)wrong)
        *(int *)wrong = gather_few() != CF_OK || gather_many() != CF_OK || cf_device_sync() != CF_OK;
    return NULL;
}

static void threads_cancelled_among_others_do_not_hold_them_up(void **state)
{
    enum { OTHERS = 3 };
    pthread_t threads[OTHERS];
    int wrong[OTHERS] = {0};
    (void)state;
    make_memory();
    __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
    for (int t = 0; t < OTHERS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, keep_calling, &wrong[t]), 0);
    for (int i = 0; i < 10 * (CALLS - 1); i++) {
        struct attempt attempt = {.number = i % (CALLS - 1)};
        pthread_t thread;
        void *value;
        assert_int_equal(pthread_create(&thread, NULL, call_cancelled, &attempt), 0);
        assert_int_equal(pthread_join(thread, &value), 0);
        assert_ptr_equal(value, PTHREAD_CANCELED);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int t = 0; t < OTHERS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        assert_int_equal(wrong[t], 0);
    }
    assert_ok(cf_mem_free(on_device));
}

/* ---- At any call of the driver ---- */

static cf_stream stream;

/* Memory of a pool is freed behind a wait for the device. */
static int free_pooled(void)
{
    return cf_mem_free(on_device);
}

static int launch_and_wait(void)
{
    int status = cf_mem_fill_async(stream, on_device, 0, 100); /* indices, too */
    if (status == CF_OK)
        status = cf_gather_f32_i32_async(stream, on_device, on_device, on_device, 1, 1);
    return status == CF_OK ? cf_stream_sync(stream) : status;
}

static int (*const anywhere[])(void) = {free_pooled, launch_and_wait};

static void *call_until_cancelled(void *of)
{
    struct attempt *attempt = of;
    int (*call)(void) = anywhere[attempt->number];
    calls_left = attempt->status;
    attempt->status = call();
    attempt->is_done = 1;
    return NULL;
}

/* The calls again, and a capture, which waits for waits for its device, from another thread. */
static void expect_usable(void)
{
    cf_graph graph;
    assert_ok(launch_and_wait());
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_device_sync());
}

static void threads_cancelled_anywhere_inside_do_not_hold_up_others(void **state)
{
    void *more;
    (void)state;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 2; i++) {
        struct attempt attempt = {.number = i};
        int calls_before = 0;
        for (; calls_before < 200 && !attempt.is_done; calls_before++) {
            pthread_t thread;
            attempt.status = calls_before;
            assert_ok(cf_mem_alloc_async(stream, &on_device, 100));
            assert_ok(cf_mem_alloc_async(stream, &more, 100));
            assert_int_equal(pthread_create(&thread, NULL, call_until_cancelled, &attempt), 0);
            assert_int_equal(pthread_join(thread, NULL), 0);
            int status = cf_mem_free(on_device);
            assert_true(status == CF_OK || status == CF_EINVAL); /* it may have been freed */
            on_device = more;
            expect_usable();
            assert_ok(cf_mem_free(more));
        }
        assert_true(attempt.is_done && calls_before > 3);
        assert_ok(attempt.status);
    }
    assert_ok(cf_stream_destroy(stream));
}

int main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {
        fake_test(threads_cancelled_inside_do_not_hold_up_others, "CF_DRIVER=cuda", "CF_THREADS=4"),
        fake_test(threads_cancelled_inside_do_not_hold_up_others, "CF_DRIVER=host", "CF_THREADS=4"),
        fake_test(threads_cancelled_among_others_do_not_hold_them_up, "CF_DRIVER=cuda", "CF_THREADS=4"),
        fake_test(threads_cancelled_among_others_do_not_hold_them_up, "CF_DRIVER=host", "CF_THREADS=4"),
        fake_test(threads_cancelled_anywhere_inside_do_not_hold_up_others, "CF_DRIVER=cuda"),
        fake_test(threads_cancelled_anywhere_inside_do_not_hold_up_others, "CF_DRIVER=cuda", "CF_TRACE=/dev/null"),
    };
    return RUN_WITH_FAKE(argc, argv, tests, set_up, tear_down);
}
