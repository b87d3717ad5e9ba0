/* test_transfer.c - host arrays that are staged to a GPU and back through pinned buffers: every size and shape, checks
 * during the copies, many calls at the same time, and no copies beyond the declared sections. */
#include "handmade_kernel.h"

#include <inttypes.h>
#include <pthread.h>

#include "driver/driver.h"
#include "context/drivers.h"
#include "context/enter.h"
#include "staging/transfer.h"
#include "copies_in_default.h"

/* ---- A kernel with y += x and z = 2 * x over rows, and with two arrays that are checked ---- */

enum { X, Y, Z, A, B, ROWS, COLS, FIRST, PITCH, N, M, LIMIT, PARAMS };

static const cf_expr field_extents[] = {NUMBER("rows", ROWS), NUMBER("cols", COLS)};
static const cf_expr field_lowers[] = {NUMBER("first", FIRST), NUMBER("first", FIRST)};
static const cf_expr field_pitches[] = {{NULL, NULL}, NUMBER("pitch", PITCH)};
static const cf_expr extent_n = NUMBER("n", N), extent_m = NUMBER("m", M);

#define FIELD(param_name, way)                                                                                        \
    {                                                                                                                 \
        .name = param_name, .ctype = "float *", .type = CF_F32, .direction = way, .lanes = 1, .bytes = 4, .align = 4, \
        .ndims = 2, .extents = field_extents, .lowers = field_lowers, .pitches = field_pitches                        \
    }

static const cf_param params[PARAMS] = {
    FIELD("x", CF_IN),
    FIELD("y", CF_INOUT),
    FIELD("z", CF_OUT),
    ARRAY_1D("a", const int32_t, CF_I32, CF_IN, extent_n),
    ARRAY_1D("b", const int64_t, CF_I64, CF_IN, extent_m),
    VALUE("rows", int64_t, CF_I64),
    VALUE("cols", int64_t, CF_I64),
    VALUE("first", int64_t, CF_I64),
    VALUE("pitch", int64_t, CF_I64),
    VALUE("n", int64_t, CF_I64),
    VALUE("m", int64_t, CF_I64),
    VALUE("limit", int64_t, CF_I64),
};

/* The array that comes last is checked first. */
#define CHECK(check_text, which, low)                                                                             \
    {                                                                                                             \
        .text = check_text, .array = which, .lower = FIXED(low), .upper = NUMBER("limit", LIMIT), .upper_open = 1 \
    }
static cf_check checks[] = {CHECK("0 <= b[:] < limit", B, 0), CHECK("-5 <= a[:] < limit", A, -5),
                            CHECK("-9 <= b[:] < limit", B, -9), CHECK("2 <= a[:] < limit", A, 2)};
enum { CHECKS = sizeof checks / sizeof *checks };

static int runs; /* atomic */

static int64_t number(void *const args[], int i)
{
    return *(const int64_t *)args[i];
}

static void blend(const cf_host_launch *launch, uint64_t begin, uint64_t end)
{
    const float *x = *(float *const *)launch->args[X];
    float *y = *(float *const *)launch->args[Y], *z = *(float *const *)launch->args[Z];
    int64_t first = number(launch->args, FIRST), pitch = number(launch->args, PITCH);
    (void)begin, (void)end;
    __atomic_fetch_add(&runs, 1, __ATOMIC_RELAXED);
    for (int64_t r = first; r < first + number(launch->args, ROWS); r++)
        for (int64_t c = first; c < first + number(launch->args, COLS); c++) {
            y[r * pitch + c] += x[r * pitch + c];
            z[r * pitch + c] = 2 * x[r * pitch + c];
        }
}

static struct made_image image;
static cf_kernel kernel = {MADE_KERNEL("blend", image),
                           .nparams = PARAMS,
                           .params = params,
                           .launch = {.grid = {FIXED(1)}, .block = {FIXED(1)}},
                           .nchecks = CHECKS,
                           .checks = checks,
                           .cpu_body = blend};
static const cf_kernel *const kernels[] = {&kernel};
static const cf_module module = {.version = CF_REGISTRY_VERSION, .prefix = "made", .count = 1, .kernels = kernels};

/* ---- One call ---- */

#define POISON -77.0F
enum { LIMIT_OF_ALL = 1000 };

struct work {
    float *x, *y, *z, *expected_y, *expected_z;
    int32_t *a;
    int64_t *b;
    size_t floats;
    int64_t numbers[PARAMS - ROWS];
};

/* Returns 0 if memory runs out. Does not assert, because other threads call it, too. */
UNWATCHED static int make(struct work *work, int64_t rows, int64_t cols, int64_t first, int64_t gap, int64_t n,
                          int64_t m, unsigned short seed[])
{
    int64_t pitch = first + cols + gap;
    *work = (struct work){.floats = (size_t)((first + rows) * pitch),
                          .numbers = {rows, cols, first, pitch, n, m, LIMIT_OF_ALL}};
    float **const arrays[] = {&work->x, &work->y, &work->z, &work->expected_y, &work->expected_z};
    for (int i = 0; i < 5; i++)
        if (!(*arrays[i] = malloc(work->floats * sizeof(float))))
            return 0;
    work->a = malloc((size_t)(n + 1) * sizeof *work->a);
    work->b = malloc((size_t)(m + 1) * sizeof *work->b);
    if (!work->a || !work->b)
        return 0;
    uint32_t random = (uint32_t)nrand48(seed);
    for (size_t i = 0; i < work->floats; i++) {
        random = random * 1664525 + 1013904223;
        work->x[i] = (float)(random >> 8);
        work->y[i] = work->expected_y[i] = (float)(random & 0xff);
        work->z[i] = work->expected_z[i] = POISON;
    }
    for (int64_t r = first; r < first + rows; r++)
        for (int64_t c = first; c < first + cols; c++) {
            work->expected_y[r * pitch + c] += work->x[r * pitch + c];
            work->expected_z[r * pitch + c] = 2 * work->x[r * pitch + c];
        }
    for (int64_t i = 0; i < n; i++)
        work->a[i] = 2 + (int32_t)(i % 900);
    for (int64_t i = 0; i < m; i++)
        work->b[i] = i % 900;
    return 1;
}

static void give_back(struct work *work)
{
    free(work->x);
    free(work->y);
    free(work->z);
    free(work->expected_y);
    free(work->expected_z);
    free(work->a);
    free(work->b);
}

static int call(struct work *work)
{
    void *args[PARAMS] = {&work->x, &work->y, &work->z, &work->a, &work->b};
    for (int i = ROWS; i < PARAMS; i++)
        args[i] = &work->numbers[i - ROWS];
    return cf_call(&kernel, args);
}

static int is_right(const struct work *work)
{
    return memcmp(work->y, work->expected_y, work->floats * sizeof(float)) == 0 &&
           memcmp(work->z, work->expected_z, work->floats * sizeof(float)) == 0;
}

/* Returns the number of bytes that the kernel declares for an array of rows. */
static size_t field_bytes(const struct work *work)
{
    return (size_t)(work->numbers[0] * work->numbers[COLS - ROWS]) * sizeof(float);
}

static void check_call(int64_t rows, int64_t cols, int64_t first, int64_t gap, int64_t n, int64_t m)
{
    static unsigned short seed[3] = {3, 1, 4};
    const struct fake_counts *counts = played_gpu_counts();
    struct work work;
    struct fake_counts before = {0};
    assert_true(make(&work, rows, cols, first, gap, n, m, seed));
    if (counts)
        before = *counts;
    assert_ok(call(&work));
    if (!is_right(&work))
        fail_msg("%" PRId64 " rows of %" PRId64 ", %" PRId64 " and %" PRId64 " checked elements", rows, cols, n, m);
    if (counts) {
        size_t in = 2 * field_bytes(&work) + (size_t)n * 4 + (size_t)m * 8, out = 2 * field_bytes(&work);
        assert_int_equal(counts->bytes_in - before.bytes_in, in);
        assert_int_equal(counts->bytes_out - before.bytes_out, out);
        char said[160];
        snprintf(said, sizeof said, "made_blend: on device 0, %zu bytes copied in and %zu out; ", in, out);
        if (strncmp(cf_last_plan(), said, strlen(said)) != 0)
            fail_msg("the plan is \"%s\" and should begin with \"%s\"", cf_last_plan(), said);
    }
    give_back(&work);
}

/* ---- Results ---- */

TEST_WITH(stage_sizes_at_the_borders_are_right, NULL, end_library_empty)
{
    enum { KIB = 1024 / sizeof(float) };
    /* Sizes around the limits for using a set of buffers, for one piece, for one channel, and for several pieces per
     * channel. */
    static const int64_t sizes[] = {1,
                                    63,
                                    64,
                                    255 * KIB,
                                    256 * KIB - 1,
                                    256 * KIB,
                                    256 * KIB + 1,
                                    512 * KIB,
                                    640 * KIB + 1,
                                    1024 * KIB,
                                    2048 * KIB - 1,
                                    2048 * KIB + 3};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_call(1, sizes[i], 0, 0, 0, 0);
        check_call(1, sizes[i], 1, 0, 1, 1);
    }
}

TEST_WITH(stage_more_than_all_buffers_hold_is_right, NULL, end_library_empty)
{
    check_call(1, 5000011, 0, 0, 3000001, 1000003);
    check_call(1, 5000011, 3, 0, 0, 0);
}

/* Many arrays with few bytes or none share one piece. */
TEST_WITH(stage_small_beside_large_is_right, NULL, end_library_empty)
{
    check_call(1, 1, 0, 0, 400001, 0);
    check_call(1, 1, 0, 0, 0, 400001);
    check_call(1, 1, 0, 0, 33, 400001);
    check_call(1, 300001, 0, 0, 1, 0);
}

TEST_WITH(stage_rows_are_right, NULL, end_library_empty)
{
    static const int64_t shapes[][4] = {
        /* Numbers of rows and columns, first, and gap. */
        {1000, 300, 0, 1},  {1000, 300, 2, 0}, {300001, 1, 0, 1}, {70000, 3, 1, 2},      {3, 100003, 1, 5},
        {2, 3000001, 0, 1}, {5, 32768, 0, 64}, {1, 200001, 2, 7}, {4, 1048576, 0, 1024}, {33, 8191, 3, 1},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t *shape = shapes[i];
        check_call(shape[0], shape[1], shape[2], shape[3], 0, 0);
        check_call(shape[0], shape[1], shape[2], shape[3], 100003, 50001);
    }
}

TEST_WITH(stage_random_shapes_are_right, NULL, end_library_empty)
{
    unsigned short seed[3] = {8, 8, 8};
    for (int round = 0; round < 40; round++) {
        int64_t rows = 1 + nrand48(seed) % (round % 2 ? 2000 : 5), cols = 1 + nrand48(seed) % (round % 2 ? 300 : 90000);
        check_call(rows, cols, nrand48(seed) % 3, nrand48(seed) % 4, nrand48(seed) % 200000, nrand48(seed) % 100000);
    }
}

/* ---- Elements out of range ---- */

struct bad {
    int in_b;
    int64_t at, value;
};

/* Inserts bad elements, and expects exactly this error. Nothing may be launched or changed. */
static void expect_outside(struct work *work, const struct bad bad[], int count, const char *said)
{
    const struct fake_counts *counts = played_gpu_counts();
    float *y = malloc(work->floats * sizeof(float)), *z = malloc(work->floats * sizeof(float));
    int64_t before[8];
    assert_true(y && z);
    memcpy(y, work->y, work->floats * sizeof(float));
    memcpy(z, work->z, work->floats * sizeof(float));
    for (int i = 0; i < count; i++) {
        before[i] = bad[i].in_b ? work->b[bad[i].at] : work->a[bad[i].at];
        if (bad[i].in_b)
            work->b[bad[i].at] = bad[i].value;
        else
            work->a[bad[i].at] = (int32_t)bad[i].value;
    }
    size_t out = counts ? counts->bytes_out : 0;
    runs = 0;
    assert_int_equal(call(work), CF_ERANGE);
    assert_string_equal(cf_last_error(), said);
    assert_string_equal(cf_last_plan(), "made_blend: did not run");
    assert_int_equal(runs, 0);
    if (counts) /* naming an element in device memory requires reading it */
        assert_true(counts->bytes_out - out <= sizeof(int64_t));
    assert_memory_equal(y, work->y, work->floats * sizeof(float));
    assert_memory_equal(z, work->z, work->floats * sizeof(float));
    for (int i = count; i-- > 0;)
        if (bad[i].in_b)
            work->b[bad[i].at] = before[i];
        else
            work->a[bad[i].at] = (int32_t)before[i];
    free(y);
    free(z);
}

TEST_WITH(stage_element_outside_lowest_of_the_first_check_is_named, NULL, end_library_empty)
{
    enum { COUNT_A = 900001, COUNT_B = 700001 };
    unsigned short seed[3] = {1, 2, 3};
    struct work work;
    assert_true(make(&work, 1, 200000, 0, 0, COUNT_A, COUNT_B, seed));
    for (int round = 0; round < 12; round++) {
        char said[160];
        int64_t a = nrand48(seed) % COUNT_A, b = nrand48(seed) % COUNT_B;
        int64_t later_a = a + (COUNT_A - 1 - a) / 2 + (a < COUNT_A - 1);
        int64_t later_b = b + (COUNT_B - 1 - b) / 3 + (b < COUNT_B - 1);
        if (later_a >= COUNT_A || later_b >= COUNT_B || later_a == a || later_b == b)
            continue;
        snprintf(said, sizeof said, "made_blend: a[%" PRId64 "] = -6 is outside [-5, 1000)", a);
        expect_outside(&work, (struct bad[]){{0, a, -6}, {0, later_a, 5000}}, 2, said);
        snprintf(said, sizeof said, "made_blend: b[%" PRId64 "] = 1000 is outside [0, 1000)", b);
        expect_outside(&work, (struct bad[]){{0, a, -6}, {1, b, 1000}, {1, later_b, -1}}, 3, said);
        /* The index is lower, but it belongs to a later check. */
        snprintf(said, sizeof said, "made_blend: a[%" PRId64 "] = -6 is outside [-5, 1000)", later_a);
        expect_outside(&work, (struct bad[]){{0, a, 1}, {0, later_a, -6}}, 2, said);
        snprintf(said, sizeof said, "made_blend: a[%" PRId64 "] = 1 is outside [2, 1000)", a);
        expect_outside(&work, (struct bad[]){{0, a, 1}, {0, later_a, -5}}, 2, said);
        /* Arrays in device memory are checked before staged arrays, but the error names the same element. */
        int32_t *host_a = work.a;
        snprintf(said, sizeof said, "made_blend: b[%" PRId64 "] = -1 is outside [0, 1000)", b);
        host_a[a] = -6;
        work.a = upload(host_a, COUNT_A * sizeof *host_a);
        expect_outside(&work, (struct bad[]){{1, b, -1}}, 1, said);
        assert_ok(cf_mem_free(work.a));
        work.a = host_a;
        host_a[a] = 2;
        int64_t *host_b = work.b, good = host_b[b];
        host_b[b] = -1;
        work.b = upload(host_b, COUNT_B * sizeof *host_b);
        expect_outside(&work, (struct bad[]){{0, a, -6}}, 1, said);
        assert_ok(cf_mem_free(work.b));
        work.b = host_b;
        host_b[b] = good;
    }
    assert_ok(call(&work)); /* all elements are good again */
    assert_true(is_right(&work));
    give_back(&work);
}

/* ---- Threads ---- */

static void *call_on_thread(void *argument)
{
    unsigned short seed[3] = {6, 6, (unsigned short)(uintptr_t)argument};
    intptr_t wrong = 0;
    for (int round = 0; round < 6; round++) {
        struct work work;
        int64_t n = 1 + nrand48(seed) % 300000;
        int made = make(&work, 1 + nrand48(seed) % 500, 1 + nrand48(seed) % 1500, nrand48(seed) % 2, nrand48(seed) % 2,
                        n, nrand48(seed) % 100000, seed);
        if (made && round % 3 == 2) {
            char said[96];
            int64_t at = nrand48(seed) % n;
            work.a[at] = -8;
            snprintf(said, sizeof said, "made_blend: a[%" PRId64 "] = -8 is outside [-5, 1000)", at);
            wrong += call(&work) != CF_ERANGE || strcmp(cf_last_error(), said) != 0;
        } else {
            wrong += !made || call(&work) != CF_OK || !is_right(&work);
        }
        give_back(&work);
    }
    return (void *)wrong;
}

TEST_WITH(stage_12_threads_at_once_are_right, NULL, end_library_empty)
{
    enum { THREADS = 12 };
    run_threads(THREADS, call_on_thread);
}

/* ---- Resources ---- */

/* All calls together use at most two buffers for each of four channels. */
FAKE_TEST(stage_large_calls_allocate_pinned_memory_once, "CF_DRIVER", "CF_THREADS=4")
{
    const struct fake_counts *counts = fake_counts();
    for (int round = 0; round < 8; round++) {
        check_call(1, 2000003, 0, 0, 0, 0);
        check_call(1, 300003, 0, 0, 1000, 0);
        check_call(7, 30003, 0, 2, 0, 0);
        assert_in_range(counts->host_alloc - counts->host_free, 1, 8);
        assert_in_range(counts->host_alloc, 1, 16); /* at first, some buffers are too small */
        assert_true(counts->host_bytes <= 8 * ((size_t)4 << 20) + 8 * ((size_t)1 << 20));
    }
}

FAKE_TEST(stage_small_calls_pin_nothing, "CF_DRIVER")
{
    check_call(1, 20000, 0, 0, 1000, 1000);
    check_call(100, 200, 1, 2, 0, 0);
    assert_int_equal(fake_counts()->host_alloc, 0);
}

FAKE_TEST(stage_without_pinned_memory_is_enomem, "CF_DRIVER", "CF_THREADS=1", "FAKE_CUDA=oom=4000000")
{
    unsigned short seed[3] = {1, 1, 1};
    struct work work;
    assert_true(make(&work, 1, 300000, 0, 0, 0, 0, seed)); /* leaves 0.4 of 4 MB, which is too little for a buffer */
    assert_fails(call(&work), CF_ENOMEM, "made_blend: staging: cuMemHostAlloc returned 2");
    give_back(&work);
    check_call(1, 20000, 0, 0, 1000, 1000);
}

TEST_WITH(stage_copy_is_exact_in_both_directions, NULL, end_library_empty)
{
    static const size_t sizes[] = {1, 4095, 131072, 131073, 1 << 20, 9000001};
    need_any_gpu();
    struct cf__scope place;
    assert_ok(cf__enter(&place, "test", NULL));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *here = malloc(sizes[i] + 1), *back = malloc(sizes[i] + 1);
        void *there;
        for (size_t b = 0; b <= sizes[i]; b++) {
            here[b] = (unsigned char)(b * 131 >> 3);
            back[b] = 0xee;
        }
        assert_ok(cf_mem_alloc(&there, sizes[i]));
        assert_ok(cf__staging_copy(&place, "test", there, here, sizes[i], 0));
        assert_ok(cf__staging_copy(&place, "test", there, back, sizes[i], 1));
        assert_memory_equal(here, back, sizes[i]);
        assert_int_equal(back[sizes[i]], 0xee);
        memset(back, 0xee, sizes[i]);
        assert_ok(cf_mem_fill(there, 0x11, sizes[i]));
        assert_ok(cf_mem_copy(there, here, sizes[i])); /* staged, too, if that is faster */
        assert_ok(cf_mem_copy(back, there, sizes[i]));
        assert_memory_equal(here, back, sizes[i]);
        assert_int_equal(back[sizes[i]], 0xee);
        assert_ok(cf_mem_free(there));
        free(here);
        free(back);
    }
    cf__leave(&place);
}

/* ---- Memory that is registered in part ---- */

TEST_WITH(stage_memory_registered_in_part_is_right, NULL, end_library_empty)
{
    need_any_gpu();
    int (*host_register)(void *, size_t, unsigned int) =
        (int (*)(void *, size_t, unsigned int))driver_function("cuMemHostRegister", 6050);
    int (*host_unregister)(void *) = (int (*)(void *))driver_function("cuMemHostUnregister", 4000);
    enum { PAGE = 4096, COUNT = 500 * 1024 };
    unsigned short seed[3] = {2, 2, 2};
    struct cf__scope place;
    struct work work;
    assert_true(make(&work, 1, COUNT, 0, 0, 0, 0, seed));
    float **const arrays[] = {&work.x, &work.y, &work.z};
    assert_ok(cf__enter(&place, "test", NULL));
    for (int i = 0; i < 3; i++) {
        float *aligned = aligned_alloc(PAGE, COUNT * sizeof(float));
        assert_non_null(aligned);
        memcpy(aligned, *arrays[i], COUNT * sizeof(float));
        free(*arrays[i]);
        *arrays[i] = aligned;
        assert_int_equal(host_register(aligned, (size_t)(i + 1) * 17 * PAGE, 0), 0);
    }
    assert_ok(call(&work));
    assert_true(is_right(&work));
    for (int i = 0; i < 3; i++)
        assert_int_equal(host_unregister(*arrays[i]), 0);
    cf__leave(&place);
    give_back(&work);
}

/* ---- Memory that the GPU can access itself ---- */

FAKE_TEST(stage_pageable_memory_in_reach_is_used_in_place, "CF_DRIVER", "FAKE_CUDA=pageable=1")
{
    unsigned short seed[3] = {2, 2, 3};
    struct work work;
    assert_true(make(&work, 1, 300000, 0, 0, 10, 10, seed));
    size_t in = fake_counts()->bytes_in;
    assert_ok(call(&work));
    assert_true(is_right(&work));
    assert_int_equal(fake_counts()->bytes_in, in);
    assert_string_equal(cf_last_plan(), "made_blend: on device 0, 5 arrays used in place; nothing was copied");
    give_back(&work);
}

/* ---- Streams ---- */

/* Work of others in the default stream does not delay copies through buffers. */
FAKE_TEST(stage_large_arrays_are_copied_in_a_stream_of_their_own, "CF_DRIVER")
{
    check_call(1, 2000003, 0, 0, 1000000, 1000000);
    assert_int_equal(in_default, 0);
}

/* ---- Calls during a capture ---- */

FAKE_TEST(call_while_a_blocking_stream_is_captured_is_refused, "CF_DRIVER")
{
    unsigned short seed[3] = {2, 2, 4};
    const struct cf__driver *driver = other_library();
    struct cf__scope place;
    struct work work;
    cf_stream stream;
    CUgraph graph;
    assert_true(make(&work, 1, 300000, 0, 0, 10, 10, seed));
    assert_ok(cf__enter(&place, "test", NULL));
    assert_int_equal(driver->cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamBeginCapture(stream, 0), CUDA_SUCCESS);
    assert_int_equal(call(&work), CF_ECAPTURE);
    assert_int_equal(strncmp(cf_last_error(), "made_blend: ", 12), 0);
    assert_int_equal(driver->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver->cuGraphDestroy(graph), CUDA_SUCCESS);
    assert_ok(call(&work));
    assert_true(is_right(&work));
    give_back(&work);
    /* The default stream is not ordered with a non-blocking stream, so calls that allocate must not disturb its
     * capture. */
    assert_int_equal(driver->cuStreamDestroy(stream), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamBeginCapture(stream, 0), CUDA_SUCCESS);
    check_call(1, 2000003, 0, 0, 100000, 5);
    check_call(1, 20, 0, 0, 100, 5);
    assert_int_equal(driver->cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
    assert_int_equal(driver->cuGraphDestroy(graph), CUDA_SUCCESS);
    assert_int_equal(driver->cuStreamDestroy(stream), CUDA_SUCCESS);
    cf__leave(&place);
}

int main(int argc, char *argv[])
{
    RUN_ALSO(stage_random_shapes_are_right, "CF_DRIVER", "CF_THREADS=1");
    RUN_ALSO(stage_rows_are_right, "CF_DRIVER", "CF_THREADS=3");
    RUN_ALSO(stage_element_outside_lowest_of_the_first_check_is_named, "CF_DRIVER", "CF_THREADS=8");
    RUN_ALSO(stage_12_threads_at_once_are_right, "CF_DRIVER", "CF_THREADS=16");
    RUN_ALSO(stage_random_shapes_are_right, "CF_DRIVER", "FAKE_CUDA=pools=0");
    for (int i = 0; i < CHECKS; i++) {
        char name[32];
        snprintf(name, sizeof name, "outside_%s", checks[i].array == A ? "i32" : "i64");
        checks[i].scan = cf_kernel_find(&cf_registry, name);
    }
    make_image(&image, 7);
    return run_made(argc, argv, &module, NULL, end_library_empty);
}
