/* test_instead.c - kernels in whose place a GPU runs an operation, which instead.cu declares: in which calls, whichever way
 * they are made, and what happens where the operation has no memory, or fails. */
#include "fake_ask.h"
#include "on_fake.h"

#include <cuferry/registry.h>
#include <cuferry/tuning.h>
#include <stdint.h>

#include "instead_kernels_internal.h"

static int calls, fails; /* fails: 1: before the last launch; 2: behind it */

#define ADD_SLOWLY(tag, T)                                                                                 \
    int instead__enqueue_add_slowly_##tag(cf_stream stream, const T *x, T *y, int64_t n, T *one, T *other) \
    {                                                                                                      \
        calls++;                                                                                           \
        int status = instead_plus_##tag##_async(stream, x, one, 4, n);                                     \
        if (status == CF_OK)                                                                               \
            status = instead_plus_##tag##_async(stream, one, other, -3, n);                                \
        if (fails == 1)                                                                                    \
            return CF_ENOTSUP;                                                                             \
        if (status == CF_OK)                                                                               \
            status = instead_plus_##tag##_async(stream, other, y, 1, n);                                   \
        return status == CF_OK && fails ? CF_ENOTSUP : status;                                             \
    }
ADD_SLOWLY(f32, float)
ADD_SLOWLY(f64, double)

int instead__enqueue_add_twice(cf_stream stream, const float *x, float *y, float *between, int64_t n)
{
    int status = instead_plus_f32_async(stream, x, between, 1, n);
    return status == CF_OK ? instead_add_f32_async(stream, between, y, n) : status;
}

int instead__enqueue_deep_1(cf_stream stream, const float *x, float *y, int64_t n)
{
    return instead_add_f32_async(stream, x, y, n);
}

#define DEEP(number, below)                                                                   \
    int instead__enqueue_deep_##number(cf_stream stream, const float *x, float *y, int64_t n) \
    {                                                                                         \
        return instead_deep_##below##_async(stream, x, y, n);                                 \
    }
DEEP(2, 1)
DEEP(3, 2)
DEEP(4, 3)

int instead__enqueue_shift_other(cf_stream stream, const float *x, float *y, int64_t n, int64_t m)
{
    (void)m;
    return instead_plus_f32_async(stream, x, y, 2, n);
}

int instead__enqueue_pick_other(cf_stream stream, const float *x, const int32_t *index, float *y, int32_t n, int32_t m)
{
    calls++;
    int status = instead_pick_behind_async(stream, x, index, y, n, m);
    return status == CF_OK && fails ? CF_EINVAL : status;
}

/* ---- Data ---- */

enum { LEAST = 1000, MOST = 999999, ROOM = 1000001, OLD = -7 };
static float x[ROOM], y[ROOM], *dx, *dy;
static int32_t index_of[ROOM];

static int set_up_all(void **state)
{
    (void)state;
    fake_cuda_add_function *add = NULL;
    void *library = on_cuda() || !getenv("CF_DRIVER") ? dlopen("libcuda.so.1", RTLD_NOW) : NULL;
    if (library)
        *(void **)&add = dlsym(library, "fake_cuda_add");
    if (add)
        add(&instead_registry);
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    calls = fails = 0;
    for (int i = 0; i < ROOM; i++) {
        x[i] = (float)(i % 1021);
        y[i] = OLD;
        index_of[i] = (i * 7) % ROOM;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_set_host_data(CF_HOST_DATA_STAGE));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

static int is_gpu(void)
{
    int device;
    assert_ok(cf_device_current(&device));
    return device != CF_HOST;
}

static void expect_added(const float *found, int64_t n, float added)
{
    for (int64_t i = 0; i < n; i++)
        if (found[i] != x[i] + added)
            fail_msg("element %lld of %lld is %g and not %g", (long long)i, (long long)n, found[i], x[i] + added);
}

static void on_device(void (*body)(void))
{
    assert_ok(cf_mem_alloc((void **)&dx, sizeof x));
    assert_ok(cf_mem_alloc((void **)&dy, sizeof y));
    assert_ok(cf_mem_copy(dx, x, sizeof x));
    body();
    assert_ok(cf_mem_free(dx));
    assert_ok(cf_mem_free(dy));
}

/* ---- In which calls ---- */

static void expect_way(int64_t n, int is_instead)
{
    cf_stream stream;
    const int before = calls;
    assert_ok(cf_stream_create(&stream));
    for (int way = 0; way < 3; way++) {
        assert_ok(cf_mem_copy(dy, y, sizeof y));
        if (way < 2)
            assert_ok(instead_add_f32_async(way ? stream : NULL, dx, dy, n));
        else
            assert_ok(instead_add(dx, dy, n));
        assert_ok(cf_stream_sync(way == 1 ? stream : NULL));
        static float found[ROOM];
        assert_ok(cf_mem_copy(found, dy, sizeof found));
        expect_added(found, n, is_instead && is_gpu() ? 2 : 1);
        assert_true(n == ROOM || found[n] == OLD);
    }
    assert_ok(cf_stream_destroy(stream));
    assert_int_equal(calls - before, is_instead && is_gpu() ? 3 : 0);
}

static void expect_each_way(void)
{
    for (int round = 0; round < 2; round++) { /* the first of a kernel goes another way */
        expect_way(1, 0);
        expect_way(LEAST - 1, 0);
        expect_way(LEAST, 1);
        expect_way(MOST, 1);
        expect_way(MOST + 1, 0);
    }
}

static void instead_is_where_the_condition_holds(void **state)
{
    (void)state;
    on_device(expect_each_way);
}

static void instead_is_the_kernel_where_the_condition_is_no_number(void **state)
{
    (void)state;
    static const struct {
        int64_t m;
        int is_instead;
    } cases[] = {{2, 1}, {4, 1}, {0, 0}, {3, 0}, {INT64_C(1) << 40, 0}, {INT64_MIN, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        assert_ok(instead_shift(x, y, 100, cases[c].m));
        expect_added(y, 100, cases[c].is_instead && is_gpu() ? 2 : 1);
    }
}

static void instead_is_for_instances_that_have_one(void **state)
{
    (void)state;
    const cf_kernel *f64 = cf_kernel_find(&instead_registry, "add_f64");
    assert_string_equal(cf_kernel_instead(f64)->name, "add_slowly_f64");
    assert_string_equal(f64->instead_where.text, "n >= 1000 && n * n < 1000000000000");
    assert_null(cf_kernel_instead(cf_kernel_find(&instead_registry, "add_i32")));
    assert_null(cf_kernel_instead(cf_kernel_find(&instead_registry, "plus_f32")));
    assert_null(cf_kernel_instead(cf_kernel_find(&instead_registry, "add_twice")));
    assert_null(cf_kernel_instead(NULL));
    int32_t whole[LEAST] = {5}, found[LEAST];
    assert_ok(instead_add_i32(whole, found, LEAST));
    assert_true(found[0] == 6 && found[LEAST - 1] == 1 && calls == 0);
    double real[LEAST] = {5}, sums[LEAST];
    assert_ok(instead_add_f64(real, sums, LEAST));
    assert_true(sums[0] == (is_gpu() ? 7 : 6) && calls == is_gpu());
}

/* Checks are the kernel's. */
static void instead_has_the_checks_of_the_kernel(void **state)
{
    (void)state;
    assert_fails(instead_add_f32(x, y, 13), CF_EINVAL, "instead_add_f32: the check n != 13 fails");
    assert_fails(instead_add_f32(x, y, -1), CF_EINVAL, "instead_add_f32: ");
    assert_fails(instead_add_f32(x, NULL, LEAST), CF_EINVAL, "instead_add_f32: y is NULL and its extent is 1000");
    assert_ok(instead_add_f32(NULL, NULL, 0));
    const int32_t bad[3] = {0, 4, 1};
    assert_fails(instead_pick(x, bad, y, 3, 4), CF_ERANGE, "instead_pick: index[1] = 4 is outside [0, 4)");
    assert_true(y[0] == OLD && calls == 0);
}

/* ---- Arrays of the host ---- */

/* Few are copied whole; many are taken apart, and each part is a call of its own. */
static void instead_with_arrays_of_the_host_is_right(void **state)
{
    (void)state;
    assert_ok(instead_add(x, y, LEAST));
    expect_added(y, LEAST, is_gpu() ? 2 : 1);
    assert_int_equal(calls, is_gpu());
    assert_ok(instead_add(x, y, MOST + 1));
    expect_added(y, MOST + 1, 1);
    assert_ok(cf_set_host_data(CF_HOST_DATA_HOST)); /* where they are */
    assert_ok(instead_add(x, y, LEAST));
    expect_added(y, LEAST, 1);
    assert_int_equal(calls, is_gpu());
}

static void instead_of_a_tuned_kernel_is_right(void **state)
{
    (void)state;
    const int32_t n = 12345, m = ROOM;
    assert_ok(instead_pick(x, index_of, y, n, m));
    for (int i = 0; i < n; i++)
        assert_true(y[i] == x[(index_of[i] + is_gpu()) % m]);
    assert_int_equal(calls, is_gpu());
    assert_ok(instead_pick(x, index_of, y, 0, m));
    assert_int_equal(calls, is_gpu());
}

/* ---- Within an operation, in a graph, loaded before ---- */

static void within_an_operation(void)
{
    for (int64_t n = 10; n <= LEAST; n += LEAST - 10) {
        static float found[ROOM];
        assert_ok(instead_add_twice_async(NULL, dx, dy, n));
        assert_ok(cf_stream_sync(NULL));
        assert_ok(cf_mem_copy(found, dy, sizeof found));
        expect_added(found, n, n == LEAST && is_gpu() ? 3 : 2);
    }
}

static void instead_within_an_operation_has_memory_of_its_own(void **state)
{
    (void)state;
    on_device(within_an_operation);
    assert_ok(instead_add_twice(x, y, LEAST)); /* which is what ran */
    expect_added(y, LEAST, is_gpu() ? 3 : 2);
    assert_null(strstr(cf_last_plan(), "ran instead"));
}

/* It would have memory of the graph's, which could have one instance alone. */
static void in_a_graph(void)
{
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec execs[2];
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(instead_add_async(stream, dx, dy, LEAST));
    assert_ok(cf_stream_capture_end(stream, &graph));
    for (int i = 0; i < 2; i++)
        assert_ok(cf_graph_instantiate(&execs[i], graph));
    assert_ok(cf_graph_destroy(graph));
    for (int i = 0; i < 2; i++) {
        assert_ok(cf_mem_fill(dy, 0xa5, sizeof y));
        assert_ok(cf_graph_launch(execs[i], stream));
        assert_ok(cf_stream_sync(stream));
        assert_ok(cf_mem_copy(y, dy, sizeof y));
        expect_added(y, LEAST, 1);
        assert_ok(cf_graph_exec_destroy(execs[i]));
    }
    assert_int_equal(calls, 0);
    assert_ok(cf_stream_destroy(stream));
}

static void instead_in_a_capture_is_the_kernel(void **state)
{
    (void)state;
    on_device(in_a_graph);
}

static void too_deep(void)
{
    static float found[ROOM];
    assert_ok(instead_deep_3_async(NULL, dx, dy, LEAST));
    assert_ok(cf_stream_sync(NULL));
    assert_ok(cf_mem_copy(found, dy, sizeof found));
    expect_added(found, LEAST, is_gpu() ? 2 : 1);
    assert_ok(instead_deep_4_async(NULL, dx, dy, LEAST));
    assert_ok(cf_stream_sync(NULL));
    assert_ok(cf_mem_copy(found, dy, sizeof found));
    expect_added(found, LEAST, 1);
}

static void instead_within_too_many_is_the_kernel(void **state)
{
    (void)state;
    on_device(too_deep);
}

/* ---- Where it cannot run ---- */

/* Its memory is as much as that of both arrays, for which there is room, and not for more. */
static void instead_is_the_kernel_where_memory_is_short(void **state)
{
    (void)state;
    set_up(NULL);
    assert_ok(cf_mem_alloc((void **)&dx, sizeof x));
    assert_ok(cf_mem_alloc((void **)&dy, sizeof y));
    assert_ok(cf_mem_copy(dx, x, sizeof x));
    assert_fails(cf_set_check(77), CF_EINVAL, "77");
    char before[200];
    snprintf(before, sizeof before, "%s", cf_last_error());
    assert_ok(instead_add_async(NULL, dx, dy, MOST));
    assert_ok(cf_stream_sync(NULL));
    assert_string_equal(cf_last_error(), before);
    assert_ok(cf_mem_copy(y, dy, sizeof y));
    expect_added(y, MOST, 1);
    assert_int_equal(calls, 0);
    assert_ok(instead_add_async(NULL, dx, dy, LEAST)); /* for less there is */
    assert_ok(cf_stream_sync(NULL));
    assert_ok(cf_mem_copy(y, dy, sizeof y));
    expect_added(y, LEAST, 2);
    assert_int_equal(calls, 1);
    assert_ok(cf_mem_free(dx));
    assert_ok(cf_mem_free(dy));
    tear_down(NULL);
}

static void instead_that_fails_is_told(void **state)
{
    (void)state;
    fails = 1;
    if (is_gpu()) {
        assert_fails(instead_add(x, y, LEAST), CF_ENOTSUP,
                     "instead_add_f32: in instead_add_slowly_f32: its function returned CF_ENOTSUP");
        assert_true(y[0] == OLD);
        assert_string_equal(cf_last_plan(), "instead_add_f32: did not run; add_slowly_f32 ran instead");
    } else {
        assert_ok(instead_add(x, y, LEAST));
    }
}

/* What it had enqueued is done when the call returns: the arrays are the caller's again. */
static void instead_that_fails_is_awaited(void **state)
{
    (void)state;
    float *pinned;
    set_up(NULL);
    fails = 2;
    assert_ok(cf_mem_alloc_pinned((void **)&pinned, 2 * LEAST * sizeof *pinned));
    memcpy(pinned, x, LEAST * sizeof *pinned);
    for (int i = 0; i < LEAST; i++)
        pinned[LEAST + i] = OLD;
    assert_fails(instead_add(pinned, pinned + LEAST, LEAST), CF_ENOTSUP, "returned CF_ENOTSUP");
    expect_added(pinned + LEAST, LEAST, 2);
    assert_ok(cf_mem_free(pinned));
    tear_down(NULL);
}

/* A variant that is refused is tried again with the first one; what ran in its place is not, as it may have been at
 * work. */
static void instead_of_a_variant_is_not_tried_again(void **state)
{
    (void)state;
    const cf_kernel *pick = cf_kernel_find(&instead_registry, "pick");
    char path[64], lock[80];
    set_up(NULL);
    snprintf(path, sizeof path, "/tmp/cf_instead_%ld", (long)getpid());
    snprintf(lock, sizeof lock, "%s.lock", path);
    for (int size_class = 0; size_class < CF_TUNING_CLASSES; size_class++) {
        const cf_tuning result = {pick->variants[1], 90, size_class, 1, 2};
        assert_ok(cf_tuning_save(path, &result, 1));
    }
    assert_int_equal(setenv("CF_TUNING", path, 1), 0);
    assert_ok(cf_shutdown());
    assert_ok(instead_pick(x, index_of, y, 100, ROOM));
    assert_string_equal(cf_last_plan(),
                        "instead_pick: on device 0, 4000404 bytes copied in and 400 out; as CF_HOST_DATA asks; "
                        "variant BLOCK=128; pick_other ran instead");
    fails = 1;
    calls = 0;
    assert_fails(instead_pick(x, index_of, y, 100, ROOM), CF_EINVAL,
                 "instead_pick: in instead_pick_other: its function");
    assert_int_equal(calls, 1);
    (void)unlink(path);
    (void)unlink(lock);
    tear_down(NULL);
}

int main(int argc, char *argv[])
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(instead_is_where_the_condition_holds),
        TEST(instead_is_the_kernel_where_the_condition_is_no_number),
        TEST(instead_is_for_instances_that_have_one),
        TEST(instead_has_the_checks_of_the_kernel),
        TEST(instead_with_arrays_of_the_host_is_right),
        TEST(instead_of_a_tuned_kernel_is_right),
        TEST(instead_within_an_operation_has_memory_of_its_own),
        TEST(instead_in_a_capture_is_the_kernel),
        TEST(instead_within_too_many_is_the_kernel),
        TEST(instead_that_fails_is_told),
        fake_test(instead_is_the_kernel_where_memory_is_short, "CF_DRIVER=cuda", "FAKE_CUDA=oom=12000000"),
        fake_test(instead_that_fails_is_awaited, "CF_DRIVER=cuda", "FAKE_CUDA=late=1"),
        fake_test(instead_of_a_variant_is_not_tried_again, "CF_DRIVER=cuda"),
    };
#undef TEST
    set_up_all(NULL);
    return RUN_WITH_FAKE(argc, argv, tests, NULL, NULL);
}
