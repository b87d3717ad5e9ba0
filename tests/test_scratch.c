/* test_scratch.c - memory that the library supplies for the time of a launch. */
#include "on_made.h"

/* ---- A kernel that works in scratch memory: y[i] = x[n - 1 - i] by way of it ---- */

enum { X, FIRST, Y, SECOND, N, PARAMS, MANY = 100 };

static const cf_expr n_elements = NUMBER("n", N), plus_3 = {"n + 3", OPS(PARAM(N), CONST(3), OP(ADD))};
static const cf_expr minus_5 = {"n - 5", OPS(PARAM(N), CONST(5), OP(SUB))}, three = FIXED(3);
static const cf_expr too_much = FIXED(70000), zero = FIXED(0);

#define ARRAY(param_name, where, extent)                                                                               \
    {.name = param_name, .ctype = "double *", .type = CF_F64, .direction = where, .lanes = 1, .bytes = 8, .align = 8,  \
     .ndims = 1, .extents = &(extent)}

static cf_param params[MANY] = {
    ARRAY("x", CF_IN, n_elements),
    ARRAY("first", CF_SCRATCH, plus_3),
    ARRAY("y", CF_OUT, n_elements),
    ARRAY("second", CF_SCRATCH, n_elements),
    VALUE("n", int64_t, CF_I64),
};

static void *last_first, *last_second;

static void reverse(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    const double *x = *(double *const *)launch->args[X];
    double *first = *(double *const *)launch->args[FIRST], *y = *(double *const *)launch->args[Y];
    double *second = *(double *const *)launch->args[SECOND];
    int64_t n = *(const int64_t *)launch->args[N];
    (void)begin, (void)end;
    last_first = first;
    last_second = second;
    for (int64_t i = 0; i < n; i++)
        first[i] = x[i];
    first[n + 2 + (params[FIRST].lowers ? 3 : 0)] = 9; /* the last element that there is */
    for (int64_t i = 0; i < n; i++)
        second[i] = first[n - 1 - i];
    for (int64_t i = 0; i < n; i++)
        y[i] = second[i];
}

static struct made_image image;
static cf_kernel kernel = {MADE_KERNEL("reverse", image), .nparams = PARAMS, .params = params,
                           .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .host = reverse};
static const cf_kernel *const kernels[] = {&kernel};
static const cf_module module = {.size = sizeof module, .version = CF_REGISTRY_VERSION, .prefix = "made", .count = 1,
                                 .kernels = kernels};

static int set_up(void **state)
{
    (void)state;
    last_first = last_second = NULL;
    kernel.nparams = PARAMS;
    kernel.launch.shared = (cf_expr){NULL, NULL};
    params[FIRST].extents = &plus_3;
    params[FIRST].lowers = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

enum { COUNT = 1000 };
static double x[COUNT], y[COUNT];

static void fill(void)
{
    for (int i = 0; i < COUNT; i++) {
        x[i] = i;
        y[i] = -1;
    }
}

static void expect_reversed(const double of[])
{
    for (int i = 0; i < COUNT; i++)
        assert_true(of[i] == COUNT - 1 - i);
}

/* Calls with arguments whose scratch pointers are `ignored`. */
static int call(void *const ignored[2], int64_t n)
{
    void *source = x, *target = y;
    void *const args[] = {&source, ignored[0], &target, ignored[1], &n};
    return cf_call(&kernel, args);
}

/* ---- Results ---- */

static void scratch_is_supplied_and_given_back(void **state)
{
    (void)state;
    void *nonsense = (void *)1;
    void *const none[] = {NULL, NULL}, *const some[] = {&nonsense, &nonsense};
    for (int i = 0; i < 4; i++) {
        fill();
        assert_ok(call(i % 2 ? some : none, COUNT));
        expect_reversed(y);
        assert_true(last_first && last_second && last_first != nonsense);
        assert_int_equal((uintptr_t)last_first % 256, 0);
    }
    assert_ptr_equal(nonsense, (void *)1);
}

/* In the order of the stream: given back behind the launch, and not before. */
static void scratch_of_launches_on_a_stream_is_right(void **state)
{
    (void)state;
    fill();
    double *source = upload(x, sizeof x), *target = upload(y, sizeof y);
    int64_t n = COUNT;
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < 5; i++) {
        void *from = i % 2 ? target : source, *to = i % 2 ? source : target;
        void *const args[] = {&from, NULL, &to, NULL, &n};
        assert_ok(cf_launch(&kernel, stream, args));
    }
    assert_ok(cf_mem_copy_async(stream, y, target, sizeof y));
    assert_ok(cf_stream_sync(stream));
    expect_reversed(y);
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(source));
    assert_ok(cf_mem_free(target));
}

static void scratch_of_no_elements_is_null(void **state)
{
    (void)state;
    void *const none[] = {NULL, NULL};
    last_second = &image;
    assert_ok(call(none, 0));
    assert_non_null(last_first); /* of 3 elements */
    assert_null(last_second);
}

static void scratch_begins_where_its_pointer_does(void **state)
{
    (void)state;
    void *const none[] = {NULL, NULL};
    params[FIRST].lowers = &three; /* the memory before the section is there too */
    fill();
    assert_ok(call(none, COUNT));
    expect_reversed(y);
}

static void scratch_is_as_large_as_its_section_reaches(void **state)
{
    (void)state;
    void *const none[] = {NULL, NULL};
    const struct fake_counts *counts = fake_counts();
    params[SECOND].extents = &zero; /* so that first is the one that is asked for last */
    params[FIRST].lowers = &three;
    assert_ok(call(none, 0));
    assert_int_equal(counts->alloc_bytes, 6 * sizeof(double));
    params[SECOND].extents = &n_elements;
    assert_ok(call(none, 10));
    assert_int_equal(counts->alloc_bytes, 10 * sizeof(double));
}

/* ---- Failures ---- */

static void scratch_of_negative_extent_is_invalid(void **state)
{
    (void)state;
    void *const none[] = {NULL, NULL};
    params[FIRST].extents = &minus_5;
    assert_fails(call(none, 4), CF_EINVAL, "made_reverse: the extent first[n - 5] is negative with n = 4");
    params[FIRST].extents = &plus_3;
    assert_fails(call(none, INT64_MAX), CF_EOVERFLOW, "made_reverse: ");
    assert_null(last_first);
}

static void launch_without_memory_for_scratch_is_enomem(void **state)
{
    (void)state;
    void *const none[] = {NULL, NULL};
    fill();
    const struct fake_counts *counts = fake_counts();
    assert_int_equal(call(none, 100), CF_ENOMEM); /* x, y and first have room in 3000 bytes; second has not */
    assert_string_equal(cf_last_error(), "made_reverse: 800 bytes for second: cuMemAllocFromPoolAsync returned 2 "
                                         "(CUDA_ERROR_OUT_OF_MEMORY, out of memory)");
    assert_true(y[0] == -1 && !last_first);
    assert_int_equal(counts->alloc_async, 3); /* which are given back, too */
    assert_int_equal(counts->free_async, 3);
    assert_ok(call(none, 50));
}

static void launch_that_fails_gives_scratch_back(void **state)
{
    (void)state;
    void *const none[] = {NULL, NULL};
    kernel.launch.shared = too_much;
    fill();
    assert_fails(call(none, COUNT), CF_EINVAL, "made_reverse: shared(70000) is 70000 bytes, and the device has at");
    const struct fake_counts *counts = fake_counts();
    assert_int_equal(counts->alloc_async, 4);
    assert_int_equal(counts->free_async, 4);
    kernel.launch.shared = (cf_expr){NULL, NULL};
    assert_ok(call(none, COUNT));
    expect_reversed(y);
}

static void launch_of_an_empty_grid_needs_no_scratch(void **state)
{
    (void)state;
    void *const none[] = {NULL, NULL};
    cf_kernel empty = kernel;
    int64_t n = COUNT;
    void *source = x, *target = y;
    void *const args[] = {&source, none[0], &target, none[1], &n};
    empty.launch.grid[0] = (cf_expr){"0", OPS(CONST(0))};
    assert_ok(cf_call(&empty, args));
    assert_null(last_first);
}

/* ---- Many parameters ---- */

static void launch_of_many_parameters_is_right(void **state)
{
    (void)state;
    double values[MANY];
    void *args[MANY], *source = x, *target = y;
    int64_t n = COUNT;
    for (int i = PARAMS; i < MANY; i++)
        params[i] = (cf_param)VALUE("value", double, CF_F64);
    for (int i = 0; i < MANY; i++)
        args[i] = &values[i];
    args[X] = &source;
    args[FIRST] = args[SECOND] = NULL;
    args[Y] = &target;
    args[N] = &n;
    static const uint32_t counts[] = {PARAMS, 15, 16, 17, MANY};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        kernel.nparams = counts[i];
        fill();
        assert_ok(cf_call(&kernel, args));
        expect_reversed(y);
        assert_ok(cf_shutdown());
    }
}

int main(int argc, char *argv[])
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(scratch_is_supplied_and_given_back),
        TEST(scratch_of_launches_on_a_stream_is_right),
        TEST(scratch_of_no_elements_is_null),
        TEST(scratch_begins_where_its_pointer_does),
        TEST(scratch_of_negative_extent_is_invalid),
        TEST(launch_of_an_empty_grid_needs_no_scratch),
        TEST(launch_of_many_parameters_is_right),
        fake_test(scratch_is_as_large_as_its_section_reaches, "CF_DRIVER"),
        fake_test(launch_without_memory_for_scratch_is_enomem, "CF_DRIVER", "FAKE_CUDA=oom=3000"),
        fake_test(launch_that_fails_gives_scratch_back, "CF_DRIVER", "FAKE_CUDA=shared=65536"),
    };
#undef TEST
    make_image(&image, 4);
    return RUN_MADE(argc, argv, &module, tests, set_up, tear_down);
}
