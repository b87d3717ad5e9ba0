/* test_scratch_args.c - scratch memory that the library supplies during a launch. */
#include "handmade_kernel.h"

/* ---- A kernel that computes y[i] = x[n - 1 - i] through scratch memory ---- */

enum { X, FIRST, Y, SECOND, N, PARAMS, MANY = 100 };

static const cf_expr n_elements = NUMBER("n", N), plus_3 = {"n + 3", OPS(PARAM(N), CONST(3), OP(ADD))};
static const cf_expr minus_5 = {"n - 5", OPS(PARAM(N), CONST(5), OP(SUB))}, three = FIXED(3);
static const cf_expr too_much = FIXED(70000), zero = FIXED(0);

static cf_param params[MANY] = {
    ARRAY_1D("x", double, CF_F64, CF_IN, n_elements),
    ARRAY_1D("first", double, CF_F64, CF_SCRATCH, plus_3),
    ARRAY_1D("y", double, CF_F64, CF_OUT, n_elements),
    ARRAY_1D("second", double, CF_F64, CF_SCRATCH, n_elements),
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
    first[n + 2 + (params[FIRST].lowers ? 3 : 0)] = 9; /* the last element */
    for (int64_t i = 0; i < n; i++)
        second[i] = first[n - 1 - i];
    for (int64_t i = 0; i < n; i++)
        y[i] = second[i];
}

/* ---- A kernel that counts the bytes of its scratch memory that are not 0, and those that have changed ---- */

enum { WORK, FOUND, LENGTH, COUNT_PARAMS, LEFT = 0xa5 };

struct found {
    int64_t nonzero; /* number of bytes of the section that are not 0 */
    int64_t changed; /* number of bytes around the section that differ from the launch before */
    void *memory;
};

static const cf_expr length = NUMBER("n", LENGTH),
                     from_2 = {"n / 4 + 2", OPS(PARAM(LENGTH), CONST(4), OP(DIV), CONST(2), OP(ADD))};
static const cf_expr half = {"n / 2", OPS(PARAM(LENGTH), CONST(2), OP(DIV))}, one = FIXED(1), two = FIXED(2);
static const cf_expr less = {"n - 5", OPS(PARAM(LENGTH), CONST(5), OP(SUB))};
static const cf_expr large = {"n << 62", OPS(PARAM(LENGTH), CONST(62), OP(SHL))};
static const cf_expr more = {"n + 1", OPS(PARAM(LENGTH), CONST(1), OP(ADD))};

static cf_param counted_params[COUNT_PARAMS] = {
    SCRATCH_INTS("work", length),
    STRUCT_INOUT("found", struct found, one),
    VALUE("n", int64_t, CF_I64),
};
static cf_zero zeros[2];

static void count(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    unsigned char *work = *(unsigned char *const *)launch->args[WORK];
    struct found *found = *(struct found *const *)launch->args[FOUND];
    const int64_t n = *(const int64_t *)launch->args[LENGTH], lower = counted_params[WORK].lowers ? n / 4 + 2 : 0;
    const int64_t bytes = 4 * (n + lower), first = zeros[0].lower.ops ? 4 * (n / 4 + 2) : 4 * lower;
    const int64_t last = !zeros[0].extent.ops ? bytes : first + 4 * (zeros[0].extent.ops == half.ops ? n / 2 : 1);
    (void)begin, (void)end;
    for (int64_t i = 0; i < bytes; i++)
        if (first <= i && i < last)
            found->nonzero += work[i] != 0;
        else
            found->changed += work == found->memory && work[i] != LEFT;
    if (bytes)
        memset(work, LEFT, (size_t)bytes);
    found->memory = work;
}

static struct made_image image;
static cf_kernel counted = {MADE_KERNEL("count", image),
                            .nparams = COUNT_PARAMS,
                            .params = counted_params,
                            .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}},
                            .cpu_body = count,
                            .nzeros = 1,
                            .zeros = zeros};
static cf_kernel kernel = {MADE_KERNEL("reverse", image), .nparams = PARAMS, .params = params,
                           .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}}, .cpu_body = reverse};
static const cf_kernel *const kernels[] = {&counted, &kernel};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 2, .kernels = kernels};

static int set_up(void **state)
{
    (void)state;
    last_first = last_second = NULL;
    kernel.nparams = PARAMS;
    kernel.launch.shared = (cf_expr){NULL, NULL};
    params[FIRST].extents = &plus_3;
    params[FIRST].lowers = NULL;
    counted.nzeros = 1;
    counted.launch.grid[0] = one;
    counted_params[WORK].extents = &length;
    counted_params[WORK].lowers = NULL;
    memset(zeros, 0, sizeof zeros);
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

/* Calls the kernel; passes the values in `ignored` for the scratch pointers. */
static int call(void *const ignored[2], int64_t n)
{
    void *source = x, *target = y;
    void *const args[] = {&source, ignored[0], &target, ignored[1], &n};
    return cf_call(&kernel, args);
}

/* ---- Results ---- */

TEST_WITH(scratch_is_supplied_and_given_back, set_up, end_library_empty)
{
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

/* In stream order, the memory is freed only after the launch. */
TEST_WITH(scratch_of_launches_on_a_stream_is_right, set_up, end_library_empty)
{
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

TEST_WITH(scratch_of_no_elements_is_null, set_up, end_library_empty)
{
    void *const none[] = {NULL, NULL};
    last_second = &image;
    assert_ok(call(none, 0));
    assert_non_null(last_first); /* last_first has 3 elements */
    assert_null(last_second);
}

TEST_WITH(scratch_begins_where_its_pointer_does, set_up, end_library_empty)
{
    void *const none[] = {NULL, NULL};
    params[FIRST].lowers = &three; /* the section begins later, and the memory before it must exist, too */
    fill();
    assert_ok(call(none, COUNT));
    expect_reversed(y);
}

/* With CF_CHECK=1, each array has an allocation of its own, so that tools find accesses outside of it. */
FAKE_TEST(scratch_is_as_large_as_its_section_reaches, "CF_DRIVER", "CF_CHECK=1")
{
    void *const none[] = {NULL, NULL};
    const struct fake_counts *counts = fake_counts();
    params[SECOND].extents = &zero; /* now `first` is the array that is allocated last */
    params[FIRST].lowers = &three;
    assert_ok(call(none, 0));
    assert_int_equal(counts->alloc_bytes, 6 * sizeof(double));
    params[SECOND].extents = &n_elements;
    assert_ok(call(none, 10));
    assert_int_equal(counts->alloc_bytes, 10 * sizeof(double));
}

/* ---- Memory that is zero when the kernel starts ---- */

enum { WORDS = 1000 };

/* Launches several times in a stream; each launch gets the memory that the launch before it left. */
static struct found launch_counted(int launches, int64_t n)
{
    struct found found = {0, 0, NULL};
    void *there = upload(&found, sizeof found);
    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    for (int i = 0; i < launches; i++) {
        void *const args[] = {NULL, &there, &n};
        assert_ok(cf_launch(&counted, stream, args));
    }
    assert_ok(cf_mem_copy_async(stream, &found, there, sizeof found));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
    return found;
}

/* The memory around the section is compared on a GPU only: CPU memory is freed to an allocator that may write to it. */
static void expect_left(const struct found *found)
{
    assert_int_equal(found->nonzero, 0);
    if (on_cuda())
        assert_int_equal(found->changed, 0);
}

static void expect_zeros(int64_t n)
{
    struct found found = launch_counted(4, n);
    assert_non_null(found.memory);
    expect_left(&found);
    found = (struct found){0, 0, NULL}; /* a synchronous call, too, may get memory that was used before */
    void *there = &found;
    for (int i = 0; i < 3; i++) {
        void *const args[] = {NULL, &there, &n};
        assert_ok(cf_call(&counted, args));
    }
    expect_left(&found);
}

TEST_WITH(zero_of_all_is_zero_at_each_launch, set_up, end_library_empty)
{
    expect_zeros(WORDS);
}

TEST_WITH(zero_of_a_section_leaves_the_rest, set_up, end_library_empty)
{
    zeros[0].extent = one;
    expect_zeros(WORDS);
    zeros[0].lower = from_2;
    expect_zeros(WORDS);
    zeros[0].extent = half;
    expect_zeros(WORDS);
}

TEST_WITH(zero_begins_where_the_array_does, set_up, end_library_empty)
{
    counted_params[WORK].lowers = &from_2;
    expect_zeros(WORDS);
    zeros[0].lower = from_2;
    zeros[0].extent = half;
    expect_zeros(WORDS);
}

TEST_WITH(zero_in_a_graph_is_zero_each_time, set_up, end_library_empty)
{
    struct found found = {0, 0, NULL};
    void *there = upload(&found, sizeof found);
    int64_t n = WORDS;
    void *const args[] = {NULL, &there, &n};
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    zeros[0] = (cf_zero){.array = WORK, .lower = from_2, .extent = half};
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_kernel_preload(&counted));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_launch(&counted, stream, args));
    assert_ok(cf_launch(&counted, stream, args));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    for (int i = 0; i < 3; i++)
        assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_mem_copy(&found, there, sizeof found));
    assert_non_null(found.memory);
    assert_int_equal(found.nonzero, 0);
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
}

FAKE_TEST(zero_fills_as_many_bytes_as_it_says, "CF_DRIVER")
{
    const struct fake_counts *counts = fake_counts();
    (void)launch_counted(1, WORDS);
    assert_int_equal(counts->fill, 1);
    assert_int_equal(counts->fill_bytes, 4 * WORDS);
    zeros[0].extent = one;
    (void)launch_counted(1, WORDS);
    assert_int_equal(counts->fill, 2);
    assert_int_equal(counts->fill_bytes, 4);
    zeros[0].extent = half; /* an extent of 0 elements needs no fill */
    (void)launch_counted(1, 1);
    assert_int_equal(counts->fill, 2);
    zeros[0].extent = (cf_expr){NULL, NULL};
    counted_params[WORK].lowers = &from_2;
    (void)launch_counted(1, WORDS);
    assert_int_equal(counts->fill, 3);
    assert_int_equal(counts->fill_bytes, 4 * WORDS);
    counted.launch.grid[0] = zero; /* nothing is launched, so no scratch memory is allocated */
    (void)launch_counted(1, WORDS);
    assert_int_equal(counts->fill, 3);
}

static int count_of(int64_t n)
{
    struct found found = {0, 0, NULL};
    void *there = &found;
    void *const args[] = {NULL, &there, &n};
    int status = cf_call(&counted, args);
    assert_null(found.memory);
    return status;
}

/* Later launches, which take a shorter path, also accept any pointer as the entry of the argument, or NULL. */
TEST_WITH(scratch_that_has_no_elements_in_any_call_is_null, set_up, end_library_empty)
{
    void *nonsense = &image;
    counted_params[WORK].extents = &zero;
    counted.nzeros = 0;
    for (int i = 0; i < 6; i++) {
        struct found found = {0, 0, &image};
        void *there = &found;
        int64_t n = 0;
        void *const args[] = {i % 2 ? &nonsense : NULL, &there, &n};
        assert_ok(cf_call(&counted, args));
        assert_null(found.memory);
    }
}

TEST_WITH(zero_outside_of_its_array_is_invalid, set_up, end_library_empty)
{
    zeros[0].extent = less;
    assert_fails(count_of(4), CF_EINVAL, "made_count: the extent zero(work[n - 5]) is negative with n = 4");
    zeros[0].lower = less;
    zeros[0].extent = one;
    assert_fails(count_of(4), CF_EINVAL, "made_count: the lower bound zero(work[n - 5:]) is negative with n = 4");
    zeros[0].lower = (cf_expr){NULL, NULL};
    zeros[0].extent = more;
    assert_fails(count_of(4), CF_EINVAL,
                 "made_count: zero(work[n + 1]) is [0:5], which is not all in work[n] with n = 4");
    zeros[0].extent = half;
    zeros[0].lower = from_2;
    assert_fails(count_of(4), CF_EINVAL,
                 "made_count: zero(work[n / 4 + 2:n / 2]) is [3:2], which is not all in work[n]");
    zeros[0].extent = large;
    assert_fails(count_of(2), CF_EOVERFLOW,
                 "made_count: the extent zero(work[n << 62]) overflows or divides by 0 with n = 2");
    counted_params[WORK].lowers = &from_2;
    zeros[0].lower = two;
    zeros[0].extent = one;
    assert_fails(count_of(4), CF_EINVAL,
                 "made_count: zero(work[2:1]) is [2:1], which is not all in "
                 "work[n / 4 + 2:n] with n = 4");
}

/* ---- Failures ---- */

TEST_WITH(scratch_of_negative_extent_is_invalid, set_up, end_library_empty)
{
    void *const none[] = {NULL, NULL};
    params[FIRST].extents = &minus_5;
    assert_fails(call(none, 4), CF_EINVAL, "made_reverse: the extent first[n - 5] is negative with n = 4");
    params[FIRST].extents = &plus_3;
    assert_fails(call(none, INT64_MAX), CF_EOVERFLOW, "made_reverse: ");
    assert_null(last_first);
}

FAKE_TEST(launch_without_memory_for_scratch_is_enomem, "CF_DRIVER", "FAKE_CUDA=oom=3000")
{
    void *const none[] = {NULL, NULL};
    fill();
    const struct fake_counts *counts = fake_counts();
    assert_int_equal(call(none, 100), CF_ENOMEM); /* 3000 bytes suffice for x, y and first, but not for second */
    assert_string_equal(cf_last_error(), "made_reverse: 800 bytes for second: cuMemAllocFromPoolAsync returned 2 "
                                         "(CUDA_ERROR_OUT_OF_MEMORY, out of memory)");
    assert_true(y[0] == -1 && !last_first);
    assert_int_equal(counts->alloc_async, 3); /* all three are freed, too */
    assert_int_equal(counts->free_async, 3);
    assert_ok(call(none, 50));
}

static void expect_failures(int kept)
{
    void *const none[] = {NULL, NULL};
    kernel.launch.shared = too_much;
    fill();
    assert_fails(call(none, COUNT), CF_EINVAL, "made_reverse: shared(70000) is 70000 bytes, and the device has at");
    const struct fake_counts *counts = fake_counts();
    assert_int_equal(counts->alloc_async, 2); /* copies of x and y */
    assert_int_equal(counts->free_async, 2);
    kernel.launch.shared = (cf_expr){NULL, NULL};
    kernel.launch.is_cooperative = 1; /* too many blocks for a cooperative launch, so the launch itself fails */
    kernel.launch.grid[0] = (cf_expr)FIXED(9);
    assert_fails(call(none, COUNT), CF_EINVAL, "made_reverse: its grid of 9 blocks does not fit the device at once");
    assert_int_equal(counts->alloc_async - counts->free_async, kept);
    kernel.launch.is_cooperative = 0;
    kernel.launch.grid[0] = (cf_expr)FIXED(1);
    assert_ok(call(none, COUNT));
    expect_reversed(y);
}

FAKE_TEST(launch_that_fails_gives_scratch_back, "CF_DRIVER", "CF_CHECK=1", "FAKE_CUDA=shared=65536,resident=8")
{
    expect_failures(0);
}

FAKE_TEST(launch_that_fails_leaves_scratch_to_the_next, "CF_DRIVER", "FAKE_CUDA=shared=65536,resident=8")
{
    expect_failures(1);
}

TEST_WITH(launch_of_an_empty_grid_needs_no_scratch, set_up, end_library_empty)
{
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

TEST_WITH(launch_of_many_parameters_is_right, set_up, end_library_empty)
{
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
    make_image(&image, 4);
    return run_made(argc, argv, &module, set_up, end_library_empty);
}
