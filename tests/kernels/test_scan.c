/* test_scan.c - prefix sums: every type, at sizes around the work of a thread, a warp, a tile, a group and a section
 * of tiles, at every alignment, in place and not, compared bit by bit with a plain implementation of the order that
 * kernels/scan.cuh describes. */
#include "elements.h"

#include <math.h>

#include <cuferry/kernels.h>

#ifndef IS_FEW
#define IS_FEW 0 /* see test_pieces.py */
#endif

enum { EXCLUSIVE, INCLUSIVE, OPS };
static const char *const families[OPS] = {"exclusive_scan", "inclusive_scan"};

/* ---- Expected results ---- */

#define MODEL(T, U, name)                                                                                             \
    static T name##_plus(T a, T b)                                                                                    \
    {                                                                                                                 \
        return (T)((U)a + (U)b);                                                                                      \
    }                                                                                                                 \
                                                                                                                      \
    UNWATCHED static void name##_expected(int op, const void *source, int64_t n, void *target)                        \
    {                                                                                                                 \
        enum { ITEMS = 120 / (int)sizeof(T), TILE = 384 * ITEMS, LEVELS = 5 };                                        \
        static const int64_t parts[LEVELS] = {1, ITEMS, 32 * ITEMS, TILE, 32 * TILE};                                 \
        const T *x = source;                                                                                          \
        T *y = target, sums[LEVELS] = {0}; /* sums[l]: of the parts of level l before i in its part of level l + 1 */ \
        for (int64_t i = 0; i < n; i++) {                                                                             \
            T element = x[i], before = 0, after = 0;                                                                  \
            for (int l = 0; l < LEVELS; l++)                                                                          \
                before = name##_plus(sums[l], before);                                                                \
            sums[0] = name##_plus(sums[0], element);                                                                  \
            for (int l = 1; l < LEVELS && (i + 1) % parts[l] == 0; l++) {                                             \
                sums[l] = name##_plus(sums[l], sums[l - 1]);                                                          \
                sums[l - 1] = 0;                                                                                      \
            }                                                                                                         \
            for (int l = 0; l < LEVELS; l++)                                                                          \
                after = name##_plus(sums[l], after);                                                                  \
            y[i] = op == INCLUSIVE ? after : before;                                                                  \
        }                                                                                                             \
    }
MODEL(float, float, f32)
MODEL(double, double, f64)
MODEL(int32_t, uint32_t, i32)
MODEL(int64_t, uint64_t, i64)

enum { NUMBERS = 4 }; /* F32 to I64 */
static void (*const expected_of[NUMBERS])(int, const void *, int64_t, void *) = {f32_expected, f64_expected,
                                                                                 i32_expected, i64_expected};

/* ---- Runs ---- */

static void run(int op, int type, int64_t n, const int offsets[2], int way, int is_in_place, unsigned short seed[])
{
    const cf_kernel *kernel = find(families[op], type, "");
    struct array x, y;
    make_array(&x, type, n, offsets[0]);
    make_array(&y, type, n, offsets[1]);
    randomize(&x, n, 0, seed);
    struct array *to = is_in_place ? &x : &y;
    if (n > 0)
        expected_of[type](op, x.host + x.begin, n, to->expected + to->begin);
    void *of_x = place(&x, way), *of_y = place(to, way), *args[] = {&of_x, &of_y, NULL, &n};
    assert_int_equal(kernel->nparams, 4);
    run_kernel(kernel, way, args);
    finish_array(&x, kernel->name, n);
    finish_array(&y, kernel->name, n);
}

/* Sizes around the work of a thread, a warp and a tile for both element sizes, and several tiles. */
static const int64_t lengths[] = {0,     1,     2,     14,    15,    16,    29,    30,    31,    32,    33,
                                  479,   480,   481,   959,   960,   961,   3840,  5759,  5760,  5761,  11519,
                                  11520, 11521, 17279, 17280, 17281, 23040, 34559, 34561, 57600, 100003};
#define LENGTHS (sizeof lengths / sizeof *lengths)

TEST(scan_every_type_size_and_alignment_is_right)
{
    unsigned short seed[3] = {1, 2, 3};
    for (int type = 0; type < NUMBERS; type++)
        for (size_t s = 0; s < LENGTHS; s++)
            for (int op = 0; op < OPS; op++)
                for (int offset = 0; offset < (int)(16 / types[type].bytes); offset++) {
                    int offsets[2] = {offset, (int)((size_t)nrand48(seed) % (16 / types[type].bytes))};
                    run(op, type, lengths[s], offsets, (int)(nrand48(seed) % WAYS), nrand48(seed) % 2, seed);
                }
}

/* Several groups of 32 tiles, and a second section, which begins after 1024 tiles. */
TEST(scan_of_many_is_right)
{
    unsigned short seed[3] = {4, 5, 6};
    const int offsets[2] = {1, 0};
    for (int type = 0; type < NUMBERS; type++) {
        int64_t tile = 384 * (120 / (int64_t)types[type].bytes);
        run(type % 2, type, 31 * tile + 5, offsets, CALL_DEVICE, 0, seed);
        run(type % 2, type, 32 * tile, offsets, LAUNCH, 0, seed);
        run((type + 1) % 2, type, 65 * tile + 1, offsets, CALL_HOST, 1, seed);
    }
    if (!IS_FEW)
        run(EXCLUSIVE, F32, 1090 * 11520 + 77, offsets, LAUNCH, 1, seed);
    run(INCLUSIVE, I64, (IS_FEW ? 1090 : 1024) * 5760 + 1, offsets, LAUNCH, 0, seed);
}

/* Scans ones in place: each sum is the index modulo 2^32. */
TEST(scan_past_2_32_on_a_gpu_is_right)
{
    enum { LOOK = 20000 };
    const int64_t n = ((int64_t)1 << 32) + 12345;
    const int64_t begins[] = {0, ((int64_t)1 << 31) - LOOK / 2, ((int64_t)1 << 32) - LOOK / 2, n - LOOK};
    int64_t memory = 0;
    static int32_t found[LOOK];
    void *x;
    if (on_cuda())
        assert_ok(cf_device_property(0, CF_PROPERTY_MEMORY, &memory));
    if (memory < n * 5)
        skip_test(NEEDS_GPU_MEMORY);
    assert_ok(cf_mem_alloc(&x, (size_t)n * sizeof(int32_t)));
    assert_ok(cf_fill(1, (int32_t *)x, n));
    assert_ok(cf_exclusive_scan((const int32_t *)x, (int32_t *)x, n));
    for (int b = 0; b < 4; b++) {
        assert_ok(cf_mem_copy(found, (int32_t *)x + begins[b], sizeof found));
        for (int64_t i = 0; i < LOOK; i++)
            assert_int_equal((uint32_t)found[i], (uint32_t)(begins[b] + i));
    }
    assert_ok(cf_mem_free(x));
}

/* The bits of the result do not depend on the contents of scratch memory. */
TEST(scan_again_gives_the_same_bits)
{
    enum { COUNT = 600007, JUNK = 1 << 16 };
    unsigned short seed[3] = {7, 8, 9};
    static float x[COUNT], expected[COUNT], found[COUNT];
    static unsigned char junk[JUNK];
    void *there, *result, *memory;
    cf_stream stream;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(erand48(seed) - 0.5);
    f32_expected(EXCLUSIVE, x, COUNT, expected);
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_alloc(&there, sizeof x));
    assert_ok(cf_mem_alloc(&result, sizeof x));
    assert_ok(cf_mem_copy(there, x, sizeof x));
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < JUNK; i++)
            junk[i] = round == 0 ? 0xff : (unsigned char)nrand48(seed);
        if (round % 2 == 0) {
            assert_ok(cf_mem_alloc_async(stream, &memory, JUNK));
            assert_ok(cf_mem_copy_async(stream, memory, junk, JUNK));
            assert_ok(cf_mem_free_async(stream, memory));
        }
        assert_ok(cf_mem_fill_async(stream, result, 0xa5, sizeof x));
        assert_ok(cf_exclusive_scan_async(stream, (const float *)there, (float *)result, COUNT));
        assert_ok(cf_mem_copy_async(stream, found, result, sizeof x));
        assert_ok(cf_stream_sync(stream));
        assert_memory_equal(found, expected, sizeof x);
    }
    assert_ok(cf_mem_free(there));
    assert_ok(cf_mem_free(result));
    assert_ok(cf_stream_destroy(stream));
}

TEST(scan_on_two_streams_is_right)
{
    enum { COUNT = 300007, CALLS = 12 };
    unsigned short seed[3] = {10, 11, 12};
    static int64_t x[2][COUNT], expected[2][COUNT], found[COUNT];
    void *there[2], *results[CALLS];
    cf_stream streams[2];
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < COUNT; i++)
            x[s][i] = nrand48(seed) - (INT64_C(1) << 30);
        i64_expected(s ? INCLUSIVE : EXCLUSIVE, x[s], COUNT, expected[s]);
        assert_ok(cf_stream_create(&streams[s]));
        assert_ok(cf_mem_alloc(&there[s], sizeof x[s]));
        assert_ok(cf_mem_copy(there[s], x[s], sizeof x[s]));
    }
    for (int i = 0; i < CALLS; i++) {
        assert_ok(cf_mem_alloc(&results[i], sizeof found));
        assert_ok(cf_mem_fill(results[i], 0xa5, sizeof found));
    }
    for (int i = 0; i < CALLS; i++) {
        const int64_t *from = there[i % 2];
        assert_ok(i % 2 ? cf_inclusive_scan_async(streams[1], from, (int64_t *)results[i], COUNT)
                        : cf_exclusive_scan_async(streams[0], from, (int64_t *)results[i], COUNT));
    }
    for (int s = 0; s < 2; s++)
        assert_ok(cf_stream_sync(streams[s]));
    for (int i = 0; i < CALLS; i++) {
        assert_ok(cf_mem_copy(found, results[i], sizeof found));
        assert_memory_equal(found, expected[i % 2], sizeof found);
        assert_ok(cf_mem_free(results[i]));
    }
    for (int s = 0; s < 2; s++) {
        assert_ok(cf_stream_destroy(streams[s]));
        assert_ok(cf_mem_free(there[s]));
    }
}

TEST(scan_in_a_graph_is_right_each_time)
{
    enum { COUNT = 70001 };
    static int32_t x[COUNT], expected[COUNT], found[COUNT];
    void *there;
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_alloc(&there, sizeof x));
    assert_ok(cf_preload(&cf_registry));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_inclusive_scan_async(stream, (const int32_t *)there, (int32_t *)there, COUNT));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < COUNT; i++)
            x[i] = i % 7 - round;
        i32_expected(INCLUSIVE, x, COUNT, expected);
        assert_ok(cf_mem_copy(there, x, sizeof x));
        assert_ok(cf_graph_launch(exec, stream));
        if (round % 2)
            assert_ok(cf_graph_launch(exec, stream));
        assert_ok(cf_stream_sync(stream));
        if (round % 2)
            i32_expected(INCLUSIVE, memcpy(x, expected, sizeof x), COUNT, expected);
        assert_ok(cf_mem_copy(found, there, sizeof x));
        assert_memory_equal(found, expected, sizeof x);
    }
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
}

/* ---- Values ---- */

TEST(scan_takes_every_type)
{
    const float f[] = {1, 2.5f, -1};
    const double d[] = {1, -3.5, 2};
    const int32_t i[] = {INT32_MAX, 1, 5};
    const int64_t l[] = {INT64_MIN, -1, 2};
    float of_f[3];
    double of_d[3];
    int32_t of_i[3];
    int64_t of_l[3];
    assert_ok(cf_inclusive_scan(f, of_f, 3));
    assert_ok(cf_inclusive_scan(d, of_d, 3));
    assert_ok(cf_inclusive_scan(i, of_i, 3));
    assert_ok(cf_inclusive_scan(l, of_l, 3));
    assert_true(of_f[0] == 1 && of_f[1] == 3.5f && of_f[2] == 2.5f);
    assert_true(of_d[0] == 1 && of_d[1] == -2.5 && of_d[2] == -0.5);
    assert_true(of_i[0] == INT32_MAX && of_i[1] == INT32_MIN && of_i[2] == INT32_MIN + 5); /* integers wrap */
    assert_true(of_l[0] == INT64_MIN && of_l[1] == INT64_MAX && of_l[2] == INT64_MIN + 1);
    assert_ok(cf_exclusive_scan(f, of_f, 3));
    assert_ok(cf_exclusive_scan(d, of_d, 3));
    assert_ok(cf_exclusive_scan(i, of_i, 3));
    assert_ok(cf_exclusive_scan(l, of_l, 3));
    assert_true(of_f[0] == 0 && of_f[1] == 1 && of_f[2] == 3.5f);
    assert_true(of_d[0] == 0 && of_d[1] == 1 && of_d[2] == -2.5);
    assert_true(of_i[0] == 0 && of_i[1] == INT32_MAX && of_i[2] == INT32_MIN);
    assert_true(of_l[0] == 0 && of_l[1] == INT64_MIN && of_l[2] == INT64_MAX);
}

/* A NaN or infinity affects all later sums and no earlier sum. */
TEST(scan_of_special_values_is_ieee)
{
    enum { COUNT = 30001 };
    static float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = 1;
    x[9000] = INFINITY;
    x[20000] = -INFINITY;
    assert_ok(cf_exclusive_scan(x, y, COUNT));
    for (int i = 0; i < COUNT; i++)
        assert_true(i <= 9000 ? y[i] == (float)i : i <= 20000 ? y[i] == INFINITY : isnan(y[i]));
    assert_ok(cf_inclusive_scan(x, y, COUNT));
    for (int i = 0; i < COUNT; i++)
        assert_true(i < 9000 ? y[i] == (float)i + 1 : i < 20000 ? y[i] == INFINITY : isnan(y[i]));
}

/* The error is within the rounding of some additions, compared with more precise sums. */
TEST(scan_is_near_the_exact_sums)
{
    enum { COUNT = 500009 };
    unsigned short seed[3] = {13, 14, 15};
    static float x[COUNT], y[COUNT];
    double exact = 0;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)erand48(seed);
    assert_ok(cf_inclusive_scan(x, y, COUNT));
    for (int i = 0; i < COUNT; i++) {
        exact += x[i];
        assert_true(fabs(y[i] - exact) <= exact * 6e-8 * 64);
    }
}

/* A sampler that looks for the first sum above a random number may only pick elements that are not 0. A sum before an
 * element is the sum up to the element before. */
TEST(scan_of_what_is_not_negative_never_falls)
{
    enum { COUNT = 3000017, LOGITS = 151936 };
    unsigned short seed[3] = {16, 17, 18};
    float *x = calloc(COUNT, sizeof *x), *sums = calloc(COUNT, sizeof *sums), *before = calloc(COUNT, sizeof *before);
    assert_true(x && sums && before);
    for (int apart = 1; apart <= 8; apart += 7) {
        const int count = apart == 1 ? COUNT : LOGITS;
        for (int i = 0; i < count; i++)
            x[i] = i % apart ? 0 : (float)exp(20 * (erand48(seed) - 0.5));
        assert_ok(cf_inclusive_scan((const float *)x, sums, count));
        assert_ok(cf_exclusive_scan((const float *)x, before, count));
        for (int i = 0; i < count; i++) {
            assert_true(sums[i] >= before[i] && (x[i] > 0 || sums[i] == before[i]));
            assert_true(before[i] == (i == 0 ? 0 : sums[i - 1]));
        }
    }
    free(x);
    free(sums);
    free(before);
}

/* ---- Arguments ---- */

TEST(scan_of_nothing_writes_nothing)
{
    float y = 9;
    assert_ok(cf_exclusive_scan((const float *)NULL, &y, 0));
    assert_ok(cf_inclusive_scan((const float *)NULL, (float *)NULL, 0));
    assert_true(y == 9);
}

TEST(scan_bad_arguments_are_named)
{
    float x[2] = {1, 2};
    assert_fails(cf_exclusive_scan((const float *)NULL, x, 2), CF_EINVAL,
                 "cf_exclusive_scan_f32: x is NULL and its extent is 2");
    assert_fails(cf_inclusive_scan(x, (float *)NULL, 2), CF_EINVAL,
                 "cf_inclusive_scan_f32: y is NULL and its extent is 2");
    assert_fails(cf_exclusive_scan(x, x, -1), CF_EINVAL,
                 "cf_exclusive_scan_f32: the extent x[n] is negative with n = -1");
    assert_fails(cf_exclusive_scan_async(NULL, x, x, INT64_MIN), CF_EINVAL,
                 "cf_exclusive_scan_f32_async: the extent x[n] is negative");
    assert_fails(cf_inclusive_scan(x, x, INT64_MAX), CF_EOVERFLOW,
                 "cf_inclusive_scan_f32: x[n] has more than 2^63 - 1 bytes");
    assert_fails(cf_inclusive_scan_async(NULL, x, x, (int64_t)1 << 60), CF_EOVERFLOW,
                 "cf_inclusive_scan_f32_async: blocks(n / (384 * (120 / sizeof(T))) + (n % (384 * (120 / sizeof(T))) > "
                 "0)) asks for ");
    float many[5] = {1, 2, 3, 4, 5}; /* the arrays may be the same or disjoint, but must not overlap partially */
    assert_fails(cf_inclusive_scan(many, many + 1, 4), CF_EINVAL, "cf_inclusive_scan_f32: x and y");
    assert_fails(cf_exclusive_scan(many + 1, many, 4), CF_EINVAL, "cf_exclusive_scan_f32: x and y");
    assert_true(many[1] == 2 && many[4] == 5 && x[0] == 1 && x[1] == 2);
    assert_ok(cf_inclusive_scan(many, many, 5));
    assert_true(many[4] == 15);
    assert_ok(cf_inclusive_scan(many, many + 2, 2));
    assert_true(many[2] == 1 && many[3] == 4);
}

/* The number of blocks for more than 2^31 elements; computing it needs no memory. */
TEST(scan_grid_is_one_block_for_a_tile)
{
    for (int op = 0; op < OPS; op++)
        for (int type = 0; type < NUMBERS; type++) {
            const cf_kernel *kernel = find(families[op], type, "");
            const int64_t tile = 384 * (120 / (int64_t)types[type].bytes);
            int64_t n;
            void *pointer = &n, *args[] = {&pointer, &pointer, NULL, &n};
            double value;
            cf_launch_size size;
            assert_non_null(kernel->sizes);
            for (int shift = 0; shift < 31; shift++)
                for (int more = 0; more < 3; more++) {
                    n = ((int64_t)1 << shift) * tile + (shift < 30 ? more - 1 : -more);
                    assert_int_equal(kernel->sizes(args, &size), 1);
                    assert_int_equal(size.grid[0], (n + tile - 1) / tile);
                    assert_int_equal(size.block[0], 384);
                }
            n = 1000;
            assert_ok(cf_kernel_evaluate_real(kernel, kernel->bytes.ops, args, &value));
            assert_true(value == 2000 * (double)types[type].bytes);
        }
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
