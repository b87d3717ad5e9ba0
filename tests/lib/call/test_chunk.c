/* test_chunk.c - plain calls that are split into chunks: results for every shape and direction, copied bytes, pinned
 * arrays, overlaps, checks, failures, and many calls at the same time. */
#include "played_gpu.h"

#include <cuferry/registry.h>
#include <inttypes.h>

#include "context/drivers.h"
#include "context/enter.h"
#include "chunk_kernels.h"
#include "copies_in_default.h"

enum { MOST = 6000000, MANY = 2500000 };
static float x[MOST + 1], y[MOST], z[MOST], old_y[MOST];
static int32_t whole[MOST];
static int64_t wide[MOST / 4];
static const float factors[2] = {2, 3};

static const struct fake_counts *counts; /* NULL on another driver */

static int set_up_all(void **state)
{
    (void)state;
    played_gpu_add(&chunk_registry);
    counts = played_gpu_counts();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_ok(cf_set_host_data(CF_HOST_DATA_STAGE));
    assert_ok(cf_set_check(CF_CHECK_ELEMENTS));
    assert_ok(cf_shutdown());
    assert_nothing_alive();
    return 0;
}

/* ---- Plans that are expected ---- */

static int is_gpu(void)
{
    int device;
    assert_ok(cf_device_current(&device));
    return device != CF_HOST;
}

static void expect_plan(size_t in, size_t out, size_t chunks)
{
    char said[160], in_chunks[40] = "";
    if (chunks)
        snprintf(in_chunks, sizeof in_chunks, ", in %zu chunks", chunks);
    snprintf(said, sizeof said, ": on device 0, %zu bytes copied in and %zu out%s", in, out, in_chunks);
    const char *plan = strstr(cf_last_plan(), ": ");
    if (is_gpu() && (strncmp(plan, said, strlen(said)) != 0 || (!chunks && strstr(plan, "chunks"))))
        fail_msg("the plan is \"%s\" and lacks \"%s\"", cf_last_plan(), said);
}

/* Begins to count the driver's copies, if the driver counts them. */
static struct fake_counts before;

static void begin_counting(void)
{
    if (counts)
        before = *counts;
}

static void expect_copied(size_t in, size_t out, int launches)
{
    if (!counts)
        return;
    assert_int_equal(counts->bytes_in - before.bytes_in, in);
    assert_int_equal(counts->bytes_out - before.bytes_out, out);
    assert_int_equal(counts->launch - before.launch, launches);
}

/* ---- Results ---- */

UNWATCHED static void fill(int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        x[i] = (float)(i * 7 % 4093);
        y[i] = old_y[i] = (float)(i % 257);
        z[i] = -1;
    }
}

UNWATCHED static int64_t first_wrong(int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (z[i] != 2 * x[i] || y[i] != old_y[i] + 3 * x[i])
            return i;
    return -1;
}

static void check_blend(int64_t n, size_t chunks)
{
    const size_t bytes = (size_t)n * sizeof(float);
    fill(n);
    begin_counting();
    assert_ok(chunk_blend(x, factors, y, z, n));
    assert_int_equal(first_wrong(n), -1);
    expect_copied(2 * bytes + sizeof factors, 2 * bytes, chunks ? (int)chunks : n > 0);
    expect_plan(2 * bytes + sizeof factors, 2 * bytes, chunks);
}

/* A call has 16 chunks, if chunks then have at least 131072 and at most 524288 floats. */
TEST_WITH(call_at_the_borders_of_parts_is_right, NULL, tear_down)
{
    static const struct {
        int64_t n;
        size_t chunks;
    } cases[] = {{1, 0},        {524287, 0}, /* one element more makes the call copy 8 MiB */
                 {524288, 4},   {524289, 5},          {3 * 131072 + 131071 + 131072, 5},
                 {2097152, 16}, {2097152 + 4096, 16}, {2097152 + 4097, 17},
                 {MOST, 17}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_blend(cases[i].n, cases[i].chunks);
}

TEST_WITH(call_of_results_alone_is_right, NULL, tear_down)
{
    const int n = MOST / 4;
    begin_counting();
    assert_ok(chunk_set(wide, 77, n));
    for (int i = 0; i < n; i++)
        assert_int_equal(wide[i], 77);
    expect_copied(0, sizeof wide, 17);
    expect_plan(0, sizeof wide, 17);
}

/* The array that all chunks write is copied only once in each direction. */
TEST_WITH(call_that_adds_to_one_array_is_right, NULL, tear_down)
{
    unsigned long long sum = 5, expected = 5;
    for (int i = 0; i < MOST; i++) {
        whole[i] = i % 1000;
        expected += (unsigned long long)whole[i];
    }
    begin_counting();
    assert_ok(chunk_add_up(whole, &sum, MOST));
    assert_int_equal(sum, expected);
    expect_copied(sizeof whole + sizeof sum, sizeof sum, 17);
    expect_plan(sizeof whole + sizeof sum, sizeof sum, 17);
}

/* The grid of each chunk is that of the chunk's own size. */
TEST_WITH(call_whose_kernel_looks_at_its_grid_is_right, NULL, tear_down)
{
    static const int lengths[] = {MANY, 2097152, 2097152 + 4097, 1000};
    fill(MANY);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int count[2] = {0, 0};
        assert_ok(chunk_count_blocks(x, count, lengths[i]));
        assert_int_equal(count[0], (lengths[i] + 255) / 256);
        assert_int_equal(count[1], count[0]);
    }
}

FAKE_TEST(copies_go_both_ways_at_once, "CF_DRIVER", "CF_THREADS=1")
{
    if (!counts)
        skip_process(NEEDS_PLAYED_GPU);
    fill(MOST);
    begin_counting();
    assert_ok(chunk_blend(x, factors, y, z, MOST));
    assert_int_equal(first_wrong(MOST), -1);
    if (counts->turns - before.turns < 20)
        fail_msg("copies took %d turns", counts->turns - before.turns);
}

/* Kernels in the default stream delay neither the copies to the device nor those back. */
FAKE_TEST(copies_have_streams_of_their_own, "CF_DRIVER")
{
    fill(MOST);
    assert_ok(chunk_blend(x, factors, y, z, MOST));
    assert_int_equal(first_wrong(MOST), -1);
    assert_int_equal(in_default, 0);
}

TEST_WITH(call_of_rows_is_right, NULL, tear_down)
{
    static int32_t turned[MOST];
    static const struct {
        uint16_t rows;
        int32_t width;
        size_t chunks;
    } cases[] = {{60000, 100, 17}, {65535, 3, 0}, {65535, 17, 9}, {3, 2000000, 0}, {40, 150000, 20}, {12, 500000, 12}};
    for (int i = 0; i < MOST; i++)
        whole[i] = i;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int32_t rows = cases[c].rows, width = cases[c].width;
        const size_t bytes = (size_t)rows * (size_t)width * sizeof *whole;
        memset(turned, 0xee, bytes);
        assert_ok(chunk_turn(whole, turned, cases[c].rows, width));
        for (int32_t r = 0; r < rows; r++)
            for (int32_t k = 0; k < width; k++)
                if (turned[r * width + k] != whole[r * width + width - 1 - k])
                    fail_msg("row %d of %d, element %d", r, rows, k);
        expect_plan(bytes, bytes, cases[c].chunks);
    }
}

TEST_WITH(call_with_scratch_memory_is_right, NULL, tear_down)
{
    fill(MANY);
    assert_ok(chunk_stop_over(x, y, MANY));
    assert_memory_equal(x, y, MANY * sizeof *x);
    expect_plan(MANY * sizeof *x, MANY * sizeof *x, 17);
}

/* The scalar check passes for the whole call, but would fail for a chunk. */
TEST_WITH(call_whose_parts_would_be_refused_is_whole, NULL, tear_down)
{
    fill(MANY);
    assert_ok(chunk_copy_many(x, y, MANY));
    assert_memory_equal(x, y, MANY * sizeof *x);
    expect_plan(MANY * sizeof *x, MANY * sizeof *x, 0);
    assert_string_equal(cf_last_error(), "");
}

/* ---- Arrays that are the same or overlap ---- */

TEST_WITH(call_in_place_is_right, NULL, tear_down)
{
    fill(MANY);
    assert_ok(chunk_add_1(y, y, MANY));
    for (int i = 0; i < MANY; i++)
        assert_true(y[i] == old_y[i] + 1);
    expect_plan(MANY * sizeof *x, MANY * sizeof *x, 17);
}

/* The call is not split, so that all elements are read before any is written. */
TEST_WITH(call_on_arrays_that_overlap_is_whole, NULL, tear_down)
{
    if (!is_gpu())
        skip_test(NEEDS_ANY_GPU);
    fill(MANY + 1);
    assert_ok(chunk_add_1(y, y + 1, MANY));
    assert_true(y[0] == old_y[0]);
    for (int i = 0; i < MANY; i++)
        assert_true(y[i + 1] == old_y[i] + 1);
    expect_plan(MANY * sizeof *x, MANY * sizeof *x, 0);
    fill(MANY + 1);
    assert_ok(chunk_add_1(y + 1, y, MANY));
    for (int i = 0; i < MANY; i++)
        assert_true(y[i] == old_y[i + 1] + 1);
    expect_plan(MANY * sizeof *x, MANY * sizeof *x, 0);
    unsigned long long sum = 1, expected = 1;
    for (int i = 0; i < MANY; i++)
        whole[i] = i % 1000;
    memcpy(whole, &sum, sizeof sum);
    for (int i = 0; i < MANY; i++)
        expected += (unsigned long long)whole[i];
    assert_ok(chunk_add_up(whole, (unsigned long long *)(void *)whole, MANY));
    memcpy(&sum, whole, sizeof sum);
    assert_int_equal(sum, expected);
    expect_plan(MANY * sizeof *whole + sizeof sum, sizeof sum, 0);
}

/* One of the arrays is used in place, because all of it is registered. */
TEST_WITH(array_in_place_beside_one_that_overlaps_is_read_first, NULL, tear_down)
{
    enum { PAGE = 4096, SHIFT = 250 * PAGE, SIZE = MANY / 1024 * 1024 };
    if (!is_gpu())
        skip_test(NEEDS_ANY_GPU);
    int (*host_register)(void *, size_t, unsigned int) =
        (int (*)(void *, size_t, unsigned int))driver_function("cuMemHostRegister", 6050);
    int (*host_unregister)(void *) = (int (*)(void *))driver_function("cuMemHostUnregister", 4000);
    float *b = aligned_alloc(PAGE, (SIZE + SHIFT) * sizeof *b);
    struct cf__scope place;
    assert_non_null(b);
    for (int i = 0; i < SIZE + SHIFT; i++)
        b[i] = (float)(i % 100003);
    assert_ok(cf__enter(&place, "test", NULL));
    assert_int_equal(host_register(b, SIZE * sizeof *b, 0), 0);
    assert_ok(cf_set_host_data(CF_HOST_DATA_AUTO));
    assert_ok(chunk_add_1(b, b + SHIFT, SIZE)); /* the end of y is not registered */
    for (int i = 0; i < SIZE; i++)
        if (b[SHIFT + i] != (float)(i % 100003) + 1)
            fail_msg("element %d is %g", i, (double)b[SHIFT + i]);
    if (strstr(cf_last_plan(), "chunks"))
        fail_msg("%s", cf_last_plan());
    assert_int_equal(host_unregister(b), 0);
    cf__leave(&place);
    free(b);
}

/* ---- Element checks ---- */

TEST_WITH(call_with_an_index_outside_writes_nothing, NULL, tear_down)
{
    fill(MANY);
    for (int i = 0; i < MANY; i++)
        whole[i] = (int)((i * 37LL) % 1000);
    assert_ok(chunk_pick(x, whole, y, MANY, 1000));
    for (int i = 0; i < MANY; i++)
        assert_true(y[i] == x[whole[i]]);
    expect_plan(MANY * sizeof *whole + 1000 * sizeof *x, MANY * sizeof *y, 17);
    memcpy(y, old_y, sizeof y);
    whole[MANY - 1] = 1000;
    begin_counting();
    assert_fails(chunk_pick(x, whole, y, MANY, 1000), CF_ERANGE, "index[2499999] = 1000 is outside [0, 1000)");
    assert_memory_equal(y, old_y, sizeof y);
    expect_copied(0, 0, 0);
    whole[70000] = -1;
    assert_fails(chunk_pick(x, whole, y, MANY, 1000), CF_ERANGE, "index[70000] = -1 is outside [0, 1000)");
    assert_memory_equal(y, old_y, sizeof y);
    whole[70000] = whole[MANY - 1] = 0;
    assert_ok(cf_set_check(CF_CHECK_NONE));
    assert_ok(chunk_pick(x, whole, y, MANY, 1000));
    assert_true(y[70000] == x[0]);
}

/* ---- Pinned arrays, and memory of the device ---- */

static void *pinned(size_t bytes)
{
    void *memory = NULL;
    assert_ok(cf_mem_alloc_pinned(&memory, bytes));
    return memory;
}

TEST_WITH(pinned_arrays_are_staged_as_set, NULL, tear_down)
{
    const size_t bytes = MANY * sizeof(float);
    float *px = pinned(bytes), *py = pinned(bytes), *pz = pinned(bytes);
    for (int round = 0; round < 2; round++) {
        fill(MANY);
        memcpy(px, x, bytes);
        memcpy(py, y, bytes);
        memset(pz, 0xee, bytes);
        assert_ok(cf_set_host_data(round ? CF_HOST_DATA_AUTO : CF_HOST_DATA_STAGE));
        begin_counting();
        assert_ok(chunk_blend(px, factors, py, pz, MANY));
        memcpy(y, py, bytes);
        memcpy(z, pz, bytes);
        assert_int_equal(first_wrong(MANY), -1);
        if (round) {
            expect_copied(sizeof factors, 0, 1);
            expect_plan(sizeof factors, 0, 0);
            continue;
        }
        expect_copied(2 * bytes + sizeof factors, 2 * bytes, 17);
        expect_plan(2 * bytes + sizeof factors, 2 * bytes, 17);
    }
    assert_ok(cf_mem_free(px));
    assert_ok(cf_mem_free(py));
    assert_ok(cf_mem_free(pz));
}

/* No array needs a staging buffer, so the chunks are longer, and the copies wait for the default stream. */
TEST_WITH(pinned_arrays_wait_for_the_default_stream, NULL, tear_down)
{
    const size_t bytes = sizeof wide;
    const int n = MOST / 4;
    float *px = pinned(bytes), *py = pinned(bytes);
    const int64_t floats = (int64_t)(bytes / sizeof *px);
    for (int round = 0; round < 4; round++) {
        assert_ok(chunk_set_async(NULL, (int64_t *)(void *)px, 0x4040404040404040, n));
        assert_ok(chunk_add_1(px, py, (uint64_t)floats));
        for (int64_t i = 0; i < floats; i++)
            if (py[i] != 3.00392150878906250f + 1)
                fail_msg("element %" PRId64 " is %g in round %d", i, (double)py[i], round);
        expect_plan(bytes, bytes, 17);
        assert_ok(cf_mem_fill(px, 0, bytes));
        assert_ok(cf_mem_fill(py, 0, bytes));
    }
    assert_ok(cf_mem_free(px));
    assert_ok(cf_mem_free(py));
}

TEST_WITH(pinned_beside_pageable_and_device_arrays_is_right, NULL, tear_down)
{
    const size_t bytes = MANY * sizeof(float);
    float *px = pinned(bytes), *dy;
    fill(MANY);
    memcpy(px, x, bytes);
    assert_ok(cf_mem_alloc((void **)&dy, bytes));
    assert_ok(cf_mem_copy(dy, y, bytes));
    begin_counting();
    assert_ok(chunk_blend(px, factors, dy, z, MANY));
    expect_copied(bytes + sizeof factors, bytes, 17);
    expect_plan(bytes + sizeof factors, bytes, 17);
    if (is_gpu())
        assert_non_null(strstr(cf_last_plan(), ", 1 arrays used in place; as cf_set_host_data() asks"));
    assert_ok(cf_mem_copy(y, dy, bytes));
    assert_int_equal(first_wrong(MANY), -1);
    assert_ok(cf_mem_free(px));
    assert_ok(cf_mem_free(dy));
}

/* ---- Failures ---- */

FAKE_TEST(chunk_that_faults_is_reported, "CF_DRIVER")
{
    fill(MANY);
    assert_ok(chunk_blend(x, factors, y, z, MANY));
    memset(whole, 0, sizeof whole);
    whole[MOST / 2] = -1;
    assert_fails(chunk_trap(whole, MOST), CF_EFAULT, "while chunk_trap was running");
    if (strncmp(cf_last_error(), "chunk_trap: cu", 14) != 0)
        fail_msg("%s", cf_last_error());
    assert_fails(chunk_trap(whole, MOST), CF_EFAULT, "chunk_trap");
}

/* A thread of the pool launches the chunk. */
FAKE_TEST(chunk_that_is_not_launched_is_reported, "CF_DRIVER", "FAKE_CUDA=threads=128")
{
    fill(MANY);
    assert_int_not_equal(chunk_blend(x, factors, y, z, MANY), CF_OK);
    if (strncmp(cf_last_error(),
                "chunk_blend: its block has 256 x 1 x 1 threads, and its code allows 128: cuLaunchKernel returned 701",
                100) != 0)
        fail_msg("%s", cf_last_error());
    assert_int_equal(cf_last_driver_result(), 701);
    assert_memory_equal(y, old_y, MANY * sizeof *y);
}

/* The call is split, but memory runs out for the chunks. */
FAKE_TEST(call_without_memory_is_enomem, "CF_DRIVER", "FAKE_CUDA=oom=20000000")
{
    fill(MANY);
    assert_int_equal(chunk_blend(x, factors, y, z, MANY), CF_ENOMEM);
    assert_memory_equal(y, old_y, MANY * sizeof *y);
    fill(1000);
    assert_ok(chunk_blend(x, factors, y, z, 1000));
    assert_int_equal(first_wrong(1000), -1);
}

/* ---- Calls at the same time ---- */

enum { THREADS = 6, EACH = 600000 };

UNWATCHED static void *call_often(void *data)
{
    const int64_t first = *(int *)data * EACH;
    for (int64_t i = 0; i < EACH; i++) {
        x[first + i] = (float)(i % 1009);
        y[first + i] = old_y[first + i] = 5;
    }
    for (int round = 0; round < 3; round++)
        if (chunk_blend(x + first, factors, y + first, z + first, EACH) != CF_OK)
            return strdup(cf_last_error());
    for (int64_t i = first; i < first + EACH; i++)
        if (z[i] != 2 * x[i] || y[i] != 5 + 9 * x[i])
            return strdup("wrong");
    return NULL;
}

TEST_WITH(threads_at_once_are_right, NULL, tear_down)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    for (int t = 0; t < THREADS; t++) {
        numbers[t] = t;
        assert_int_equal(pthread_create(&threads[t], NULL, call_often, &numbers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[t], &wrong), 0);
        if (wrong)
            fail_msg("thread %d: %s", t, (char *)wrong);
    }
}

int main(int argc, char *argv[])
{
    RUN_ALSO(call_at_the_borders_of_parts_is_right, "CF_DRIVER", "CF_THREADS=1");
    RUN_ALSO(call_at_the_borders_of_parts_is_right, "CF_DRIVER", "CF_THREADS=16", "FAKE_CUDA=late=1");
    RUN_ALSO(call_that_adds_to_one_array_is_right, "CF_DRIVER", "CF_THREADS=5", "FAKE_CUDA=late=1");
    RUN_ALSO(call_of_rows_is_right, "CF_DRIVER", "CF_THREADS=3", "FAKE_CUDA=pools=0");
    RUN_ALSO(pinned_arrays_are_staged_as_set, "CF_DRIVER", "FAKE_CUDA=late=1");
    RUN_ALSO(pinned_arrays_wait_for_the_default_stream, "CF_DRIVER", "FAKE_CUDA=late=1");
    RUN_ALSO(threads_at_once_are_right, "CF_DRIVER", "CF_THREADS=8", "FAKE_CUDA=late=1");
    set_up_all(NULL);
    return run_with_fake(argc, argv, NULL, tear_down);
}
