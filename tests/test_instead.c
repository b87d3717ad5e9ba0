/* test_instead.c - kernels in whose place a GPU runs an operation, which instead.cu declares: in which calls, whichever way
 * they are made, and what happens where the operation has no memory, or fails. */
#include "fake_ask.h"
#include "on_fake.h"

#include <cuferry/registry.h>
#include <cuferry/tuning.h>
#include <stdint.h>

#include "instead_kernels_internal.h"

static int calls, fails;

#define ADD_SLOWLY(tag, T)                                                                                 \
    int instead__enqueue_add_slowly_##tag(cf_stream stream, const T *x, T *y, int64_t n, T *one, T *other) \
    {                                                                                                      \
        calls++;                                                                                           \
        int status = instead_plus_##tag##_async(stream, x, one, 4, n);                                     \
        if (status == CF_OK)                                                                               \
            status = instead_plus_##tag##_async(stream, one, other, -3, n);                                \
        if (fails)                                                                                         \
            return CF_ENOTSUP;                                                                             \
        return status == CF_OK ? instead_plus_##tag##_async(stream, other, y, 1, n) : status;              \
    }
ADD_SLOWLY(f32, float)
ADD_SLOWLY(f64, double)

int instead__enqueue_add_twice(cf_stream stream, const float *x, float *y, float *between, int64_t n)
{
    int status = instead_plus_f32_async(stream, x, between, 1, n);
    return status == CF_OK ? instead_add_f32_async(stream, between, y, n) : status;
}

int instead__enqueue_pick_other(cf_stream stream, const float *x, const int32_t *index, float *y, int32_t n, int32_t m)
{
    calls++;
    return instead_pick_behind_async(stream, x, index, y, n, m);
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

static void instead_is_the_kernel_where_the_condition_overflows(void **state)
{
    (void)state;
    const cf_kernel *kernel = cf_kernel_find(&instead_registry, "add_f32");
    const float *from = NULL;
    float *to = NULL;
    int64_t n = INT64_C(1) << 41; /* whose square is no number, and whose grid is none either */
    void *args[] = {&from, &to, &n};
    char *memory = (char *)16;
    from = to = (float *)(void *)memory;
    assert_fails(cf_launch(kernel, NULL, args), CF_EOVERFLOW, "grid(n) asks for");
    assert_int_equal(calls, 0);
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
    cf_kernel older = *f64;
    older.size = offsetof(cf_kernel, instead);
    assert_null(cf_kernel_instead(&older));
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
}

static void in_a_graph(void)
{
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(instead_add_async(stream, dx, dy, LEAST));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    for (int round = 0; round < 2; round++) {
        assert_ok(cf_mem_fill(dy, 0xa5, sizeof y));
        assert_ok(cf_graph_launch(exec, stream));
        assert_ok(cf_stream_sync(stream));
        assert_ok(cf_mem_copy(y, dy, sizeof y));
        expect_added(y, LEAST, is_gpu() ? 2 : 1);
    }
    assert_int_equal(calls, is_gpu());
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_stream_destroy(stream));
}

static void instead_in_a_graph_is_right(void **state)
{
    (void)state;
    on_device(in_a_graph);
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
        assert_fails(instead_add(x, y, LEAST), CF_ENOTSUP, "instead_add_slowly_f32: its function returned CF_ENOTSUP");
        assert_true(y[0] == OLD);
    } else {
        assert_ok(instead_add(x, y, LEAST));
    }
}

int main(int argc, char *argv[])
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(instead_is_where_the_condition_holds),
        TEST(instead_is_the_kernel_where_the_condition_overflows),
        TEST(instead_is_for_instances_that_have_one),
        TEST(instead_has_the_checks_of_the_kernel),
        TEST(instead_with_arrays_of_the_host_is_right),
        TEST(instead_of_a_tuned_kernel_is_right),
        TEST(instead_within_an_operation_has_memory_of_its_own),
        TEST(instead_in_a_graph_is_right),
        TEST(instead_that_fails_is_told),
        fake_test(instead_is_the_kernel_where_memory_is_short, "CF_DRIVER=cuda", "FAKE_CUDA=oom=12000000"),
    };
#undef TEST
    set_up_all(NULL);
    return RUN_WITH_FAKE(argc, argv, tests, NULL, NULL);
}
