/* test_arithmetic.c - operations that C++ leaves undefined give the values of a GPU on every device: conversions,
 * shifts, divisions, zeros, memory read as another type. */
#include <math.h>

#include "expect_all.h"

#include "arithmetic_kernels.h"

/* ---- Memory read as another type ---- */

/* 16-bit floats: 1, 2, ... in turn. */
static void packed_loads_see_other_types(void **state)
{
    (void)state;
    enum { COUNT = 300 };
    static const uint16_t numbers[] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500};
    static _Alignas(64) cf_half x[8 * COUNT + 8];
    float sums[COUNT];
    for (int shift = 0; shift < 8; shift++) {
        for (int i = 0; i < 8 * COUNT; i++)
            x[shift + i].bits = numbers[i % 5];
        assert_ok(arithmetic_packed(x + shift, sums, COUNT));
        for (int i = 0; i < COUNT; i++) {
            float sum = 0;
            for (int k = 0; k < 8; k++)
                sum += (float)((8 * i + k) % 5 + 1);
            assert_true(sums[i] == sum);
        }
    }
}

enum { WIDE = 100, PITCH = 8 };

/* Runs the kernel with arrays that begin `shift` elements after aligned ones, into `y`. */
static void run_wide(int shift, int is_launch, float y[PITCH * WIDE])
{
    static _Alignas(64) float x[4 * WIDE + 4], own[PITCH * WIDE + 4];
    static _Alignas(64) cf_half halves[8 * WIDE + 8];
    static _Alignas(64) int index[WIDE + 4];
    for (int i = 0; i < PITCH * WIDE + 4; i++)
        own[i] = (float)(i - shift);
    for (int i = 0; i < 4 * WIDE; i++)
        x[shift + i] = (float)i;
    for (int i = 0; i < 8 * WIDE; i++)
        halves[shift + i].bits = (uint16_t)i;
    for (int i = 0; i < WIDE; i++)
        index[shift + i] = 7 * i;
    if (is_launch)
        assert_ok(arithmetic_wide_async(NULL, x + shift, halves + shift, index + shift, own + shift, PITCH, WIDE));
    else
        assert_ok(arithmetic_wide(x + shift, halves + shift, index + shift, own + shift, PITCH, WIDE));
    memcpy(y, own + shift, PITCH * WIDE * sizeof *y);
    for (int i = 0; i < shift; i++)
        assert_true(own[i] == (float)(i - shift));
}

/* The caller's arrays need the alignment of their elements alone, in host memory. */
static void arrays_of_any_address_are_read_as_wider_types(void **state)
{
    (void)state;
    static float aligned[PITCH * WIDE], other[PITCH * WIDE];
    run_wide(0, 0, aligned);
    for (int i = 0; i < WIDE; i++) {
        const float *row = &aligned[PITCH * i], first = (float)(PITCH * i);
        assert_true(row[0] == first + (float)(4 * i) && row[1] == first + 1 + (float)(4 * i + 3 + 8 * i + 7) &&
                    row[2] == first + 2 + (float)(7 * i) && row[3] == first + 3 && row[4] == first + 4);
    }
    for (int shift = 1; shift < 4; shift++) {
        run_wide(shift, 0, other);
        assert_memory_equal(other, aligned, sizeof other);
        if (on_cuda())
            continue;
        run_wide(shift, 1, other);
        assert_memory_equal(other, aligned, sizeof other);
    }
}

/* Also an array that is both read and written, and calls that run on either device. */
static void calls_in_place_and_on_either_device_take_any_address(void **state)
{
    (void)state;
    static _Alignas(64) float both[4 * WIDE + 1];
    static _Alignas(64) cf_half halves[8 * WIDE];
    static const int index[WIDE];
    for (int where = CF_HOST_DATA_AUTO; where <= CF_HOST_DATA_HOST; where++) {
        assert_ok(cf_set_host_data(where));
        for (int i = 0; i < 4 * WIDE; i++)
            both[1 + i] = (float)i;
        assert_ok(arithmetic_wide(both + 1, halves, index, both + 1, 4, WIDE));
        for (int i = 0; i < WIDE; i++)
            assert_true(both[1 + 4 * i] == (float)(8 * i) && both[2 + 4 * i] == (float)(8 * i + 4) &&
                        both[3 + 4 * i] == (float)(4 * i + 2));
    }
    assert_ok(cf_set_host_data(CF_HOST_DATA_AUTO));
}

/* A kernel that finds aligned elements itself gets the same numbers. */
static void kernels_may_align_by_hand(void **state)
{
    (void)state;
    static _Alignas(64) float x[107];
    for (int i = 0; i < 107; i++)
        x[i] = (float)i;
    for (int shift = 0; shift < 4; shift++) {
        float sum;
        assert_ok(arithmetic_peeled(x + shift, &sum, 100));
        assert_true(sum == (float)(4950 + 100 * shift));
    }
}

/* A graph keeps addresses, and its launches copy nothing. */
static void graphs_on_the_cpu_refuse_misaligned_arrays(void **state)
{
    (void)state;
    static _Alignas(64) float x[101], sum;
    static const char text[] = "is not aligned to the 16 bytes of a type to which the kernel casts pointers";
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    cf_graph_node node;
    if (on_cuda())
        skip_test(NEEDS_CPU);
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_stream_capture_begin(stream));
    assert_fails(arithmetic_peeled_async(stream, x + 1, &sum, 100), CF_EINVAL, text);
    assert_fails(arithmetic_peeled_async(stream, x + 1, &sum, 100), CF_EINVAL, "arithmetic_peeled_async: x = 0x");
    assert_ok(arithmetic_peeled_async(stream, x + 1, &sum, 0));
    assert_ok(arithmetic_peeled_async(stream, x, &sum, 100));
    assert_ok(cf_stream_capture_node(stream, &node));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    const float *misaligned = x + 1;
    float *result = &sum;
    const int n = 100;
    assert_fails(cf_graph_update(exec, node, cf_kernel_find(&arithmetic_registry, "peeled"),
                                 (void *const[]){&misaligned, &result, (void *)(uintptr_t)&n}),
                 CF_EINVAL, text);
    assert_ok(cf_graph_launch(exec, stream));
    assert_ok(cf_stream_sync(stream));
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
}

/* Casts concern arrays of the types that they are made from. */
static void descriptors_name_the_alignment_of_casts(void **state)
{
    (void)state;
    const cf_kernel *wide = cf_kernel_find(&arithmetic_registry, "wide");
    const cf_kernel *narrow = cf_kernel_find(&arithmetic_registry, "narrow");
    const cf_kernel *packed = cf_kernel_find(&arithmetic_registry, "packed");
    assert_int_equal(wide->params[0].cpu_align, 16);
    assert_int_equal(wide->params[1].cpu_align, 16);
    assert_int_equal(wide->params[3].cpu_align, 16);
    assert_int_equal(wide->params[4].cpu_align, 0);
    assert_int_equal(packed->params[0].cpu_align, 16);
    assert_int_equal(packed->params[1].cpu_align, 0);
    for (uint32_t i = 0; i < narrow->nparams; i++)
        assert_int_equal(narrow->params[i].cpu_align, 0);
}

/* ---- Conversions ---- */

/* Measured on an H200: results as int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t and uint64_t. */
static const struct {
    float x;
    int64_t results[8];
} of_floats[] = {
    {0, {0, 0, 0, 0, 0, 0, 0, 0}},
    {-0.0f, {0, 0, 0, 0, 0, 0, 0, 0}},
    {0.5f, {0, 0, 0, 0, 0, 0, 0, 0}},
    {-0.5f, {0, 0, 0, 0, 0, 0, 0, 0}},
    {1.5f, {1, 1, 1, 1, 1, 1, 1, 1}},
    {-1.5f, {-1, 0, -1, 0, -1, 0, -1, 0}},
    {127.5f, {127, 127, 127, 127, 127, 127, 127, 127}},
    {128, {-128, 128, 128, 128, 128, 128, 128, 128}},
    {-129, {127, 0, -129, 0, -129, 0, -129, 0}},
    {255.5f, {-1, 255, 255, 255, 255, 255, 255, 255}},
    {300, {44, 44, 300, 300, 300, 300, 300, 300}},
    {-300, {-44, 0, -300, 0, -300, 0, -300, 0}},
    {32767.5f, {-1, 255, 32767, 32767, 32767, 32767, 32767, 32767}},
    {65535.5f, {-1, 255, -1, 65535, 65535, 65535, 65535, 65535}},
    {70000, {112, 112, 4464, 4464, 70000, 70000, 70000, 70000}},
    {-70000, {-112, 0, -4464, 0, -70000, 0, -70000, 0}},
    {3e9f, {-1, 0, -1, 24064, 2147483647, 3000000000, 3000000000, 3000000000}},
    {-3e9f, {0, 0, 0, 0, -2147483648, 0, -3000000000, 0}},
    {5e9f, {-1, 255, -1, 65535, 2147483647, 4294967295, 5000000000, 5000000000}},
    {-5e9f, {0, 0, 0, 0, -2147483648, 0, -5000000000, 0}},
    {1e20f, {-1, 255, -1, 65535, 2147483647, 4294967295, 9223372036854775807, -1}},
    {-1e20f, {0, 0, 0, 0, -2147483648, 0, INT64_MIN, 0}},
    {INFINITY, {-1, 255, -1, 65535, 2147483647, 4294967295, 9223372036854775807, -1}},
    {-INFINITY, {0, 0, 0, 0, -2147483648, 0, INT64_MIN, 0}},
    {NAN, {0, 0, 0, 0, 0, 0, INT64_MIN, INT64_MIN}},
};

static const struct {
    double x;
    int64_t results[8];
} of_doubles[] = {
    {0, {0, 0, 0, 0, 0, 0, 0, 0}},
    {-0.0, {0, 0, 0, 0, 0, 0, 0, 0}},
    {0.5, {0, 0, 0, 0, 0, 0, 0, 0}},
    {-0.5, {0, 0, 0, 0, 0, 0, 0, 0}},
    {1.5, {1, 1, 1, 1, 1, 1, 1, 1}},
    {-1.5, {-1, 0, -1, 0, -1, 0, -1, 0}},
    {127.5, {127, 127, 127, 127, 127, 127, 127, 127}},
    {128, {-128, 128, 128, 128, 128, 128, 128, 128}},
    {-129, {127, 0, -129, 0, -129, 0, -129, 0}},
    {255.5, {-1, 255, 255, 255, 255, 255, 255, 255}},
    {300, {44, 44, 300, 300, 300, 300, 300, 300}},
    {-300, {-44, 0, -300, 0, -300, 0, -300, 0}},
    {32767.5, {-1, 255, 32767, 32767, 32767, 32767, 32767, 32767}},
    {65535.5, {-1, 255, -1, 65535, 65535, 65535, 65535, 65535}},
    {70000, {112, 112, 4464, 4464, 70000, 70000, 70000, 70000}},
    {-70000, {-112, 0, -4464, 0, -70000, 0, -70000, 0}},
    {3e9, {-1, 0, -1, 24064, 2147483647, 3000000000, 3000000000, 3000000000}},
    {-3e9, {0, 0, 0, 0, -2147483648, 0, -3000000000, 0}},
    {5e9, {-1, 255, -1, 65535, 2147483647, 4294967295, 5000000000, 5000000000}},
    {-5e9, {0, 0, 0, 0, -2147483648, 0, -5000000000, 0}},
    {1e20, {-1, 255, -1, 65535, 2147483647, 4294967295, 9223372036854775807, -1}},
    {-1e20, {0, 0, 0, 0, -2147483648, 0, INT64_MIN, 0}},
    {INFINITY, {-1, 255, -1, 65535, 2147483647, 4294967295, 9223372036854775807, -1}},
    {-INFINITY, {0, 0, 0, 0, -2147483648, 0, INT64_MIN, 0}},
    {NAN, {0, 0, 0, 0, -2147483648, 2147483648, INT64_MIN, INT64_MIN}},
};

#define COUNT_OF(array) (int)(sizeof(array) / sizeof *(array))

static void expect_row(double x, const int64_t *results, const int64_t *expected, int wrong)
{
    for (int k = 0; k < 8; k++)
        if (results[k] != expected[k])
            fail_msg("%g as type %d is %lld, not %lld", x, k, (long long)results[k], (long long)expected[k]);
    if (wrong)
        fail_msg("%g: another way to convert gives another value", x);
}

static void floats_become_the_integers_of_a_gpu(void **state)
{
    (void)state;
    enum { COUNT = COUNT_OF(of_floats) };
    float x[COUNT];
    int64_t y[8 * COUNT];
    int wrong[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = of_floats[i].x;
    assert_ok(arithmetic_of_float(x, y, wrong, COUNT));
    for (int i = 0; i < COUNT; i++)
        expect_row((double)x[i], y + 8 * i, of_floats[i].results, wrong[i]);
}

/* Without a cast: of shared memory, named types, arrays in structs, and addresses. */
static void floats_become_integers_in_any_place(void **state)
{
    (void)state;
    enum { COUNT = COUNT_OF(of_floats), PLACES = 16 };
    float x[COUNT];
    int y[PLACES * COUNT];
    struct counter parts[COUNT];
    memset(parts, 0, sizeof parts);
    for (int i = 0; i < COUNT; i++)
        x[i] = of_floats[i].x;
    assert_ok(arithmetic_of_targets(x, parts, y, COUNT));
    for (int i = 0; i < PLACES * COUNT; i++)
        if (y[i] != of_floats[i / PLACES].results[4])
            fail_msg("%g in place %d is %d", (double)x[i / PLACES], i % PLACES, y[i]);
}

static void doubles_become_the_integers_of_a_gpu(void **state)
{
    (void)state;
    enum { COUNT = COUNT_OF(of_doubles) };
    double x[COUNT];
    int64_t y[8 * COUNT];
    int wrong[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = of_doubles[i].x;
    assert_ok(arithmetic_of_double(x, y, wrong, COUNT));
    for (int i = 0; i < COUNT; i++)
        expect_row(x[i], y + 8 * i, of_doubles[i].results, wrong[i]);
}

/* Floats of 16 bits saturate at the width of every type, also of 8 and 16 bits. */
static void halves_become_the_integers_of_a_gpu(void **state)
{
    (void)state;
    static const float x[] = {-0.5f, 1.5f, -1.5f, 300, -300, 1e20f, -1e20f, NAN};
    enum { COUNT = COUNT_OF(x) };
    static const int64_t expected[COUNT][8] = {
        {0},
        {1, 1, 1, 1, 1, 1, 1, 1},
        {-1, 0, -1, 0, -1, 0, -1, 0},
        {127, 255, 300, 300, 300, 300, 300, 300},
        {-128, 0, -300, 0, -300, 0, -300, 0},
        {127, 255, 32767, 65535, INT32_MAX, UINT32_MAX, INT64_MAX, -1},
        {-128, 0, -32768, 0, INT32_MIN, 0, INT64_MIN, 0},
        {0, 0, 0, 0, 0, 0, INT64_MIN, INT64_MIN},
    };
    int64_t y[8 * COUNT], z[8 * COUNT];
    assert_ok(arithmetic_of_halves(x, y, z, COUNT));
    for (int i = 0; i < COUNT; i++) {
        expect_row((double)x[i], y + 8 * i, expected[i], 0);
        expect_row((double)x[i], z + 8 * i, expected[i], 0);
    }
}

/* ---- Shifts and divisions ---- */

static uint64_t left(uint64_t x, unsigned by)
{
    return by < 64 ? x << by : 0;
}

static int64_t right(int64_t x, unsigned by)
{
    return x >> (by < 63 ? by : 63);
}

static void shifts_by_any_count_are_those_of_a_gpu(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 1, -1, 12345, -12345, INT32_MIN, INT32_MAX, INT64_MIN, 0x123456789abcdef0};
    static const int counts[] = {0, 1, 5, 31, 32, 33, 63, 64, 65, 255, 256, -1, -32, INT32_MIN};
    enum { COUNT = COUNT_OF(values) * COUNT_OF(counts) };
    int64_t x[COUNT], y[8 * COUNT];
    int by[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = values[i / COUNT_OF(counts)], by[i] = counts[i % COUNT_OF(counts)];
    assert_ok(arithmetic_shifts(x, by, y, COUNT));
    for (int i = 0; i < COUNT; i++) {
        const unsigned n = (unsigned)by[i], byte = (uint8_t)x[i], few = (uint8_t)by[i];
        const int32_t shifted = (int32_t)left((uint32_t)x[i], n);
        const int64_t expected[] = {
            (int32_t)left((uint32_t)x[i], n),
            right((int32_t)x[i], n),
            (uint32_t)left((uint32_t)x[i], few),
            n < 32 ? (uint32_t)x[i] >> n : 0,
            (int64_t)left((uint64_t)x[i], n),
            right(x[i], n),
            (int64_t)((n < 64 ? (uint64_t)x[i] >> n : 0) + (uint64_t)right(shifted, n)),
            (int32_t)((uint32_t)left(byte, n) + (uint32_t)right((int8_t)byte, n)),
        };
        for (int k = 0; k < 8; k++)
            if (y[8 * i + k] != expected[k])
                fail_msg("shift %d of %lld by %d gives %lld, not %lld", k, (long long)x[i], by[i],
                         (long long)y[8 * i + k], (long long)expected[k]);
    }
}

/* By 0 and by -1. Measured on an H200, as nvcc 13.0 compiles each operation alone. */
static void divisions_by_0_are_those_of_a_gpu(void **state)
{
    (void)state;
    const int64_t low = UINT32_MAX;
    static const int64_t x[] = {7, -7, 0, INT32_MIN, INT64_MIN, (int64_t)1 << 40, INT32_MIN, INT64_MIN};
    static const int64_t by[] = {0, 0, 0, 0, 0, 0, -1, -1};
    enum { COUNT = COUNT_OF(x) };
    const int64_t quotients[COUNT][8] = {
        {-1, low, low, low, 65535, -1, -1, -1},
        {-1, low, -1, -1, 65535, -1, -1, -1},
        {-1, low, low, low, 65535, -1, -1, -1},
        {-1, low, -1, -1, 65535, -1, -1, -1},
        {-1, low, -1, -1, 65535, -1, -1, -1},
        {-1, low, -1, -1, 65535, -1, -1, -1},
        {INT32_MIN, 0, -(int64_t)INT32_MIN, 0, 0, 0, INT32_MIN, -100},
        {0, 0, INT64_MIN, 0, 0, 0, 0, -100},
    };
    const int64_t remainders[COUNT][4] = {
        {-1, low, low, low},
        {-1, low, -1, -1},
        {-1, low, low, low},
        {-1, low, -1, -1},
        {-1, low, -1, -1},
        {-1, low, -1, -1},
        {0, (int64_t)1 << 31, 0, INT32_MIN},
        {0, 0, 0, INT64_MIN},
    };
    int64_t y[8 * COUNT];
    assert_ok(arithmetic_divisions(x, by, y, COUNT));
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 8; k++)
            if (y[8 * i + k] != quotients[i][k])
                fail_msg("quotient %d of %lld and %lld is %lld, not %lld", k, (long long)x[i], (long long)by[i],
                         (long long)y[8 * i + k], (long long)quotients[i][k]);
    assert_ok(arithmetic_remainders(x, by, y, COUNT));
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 4; k++)
            if (y[4 * i + k] != remainders[i][k])
                fail_msg("remainder %d of %lld and %lld is %lld, not %lld", k, (long long)x[i], (long long)by[i],
                         (long long)y[4 * i + k], (long long)remainders[i][k]);
}

/* ---- Zeros ---- */

static void zeros_are_ordered(void **state)
{
    (void)state;
    static const float a[] = {0, -0.0f, 0, -0.0f, 1, -1, NAN, -0.0f, NAN},
                       b[] = {-0.0f, 0, 0, -0.0f, -0.0f, 0, -0.0f, 1, 0};
    enum { COUNT = COUNT_OF(a), ALL = 0xfff, OF_NAN = 0xa00 };
    static const unsigned less[COUNT] = {ALL, ALL, 0, ALL, ALL, ALL, ALL, ALL, 0},
                          more[COUNT] = {0, 0, 0, ALL, 0, 0, ALL, 0, 0};
    unsigned least[COUNT], most[COUNT];
    assert_ok(arithmetic_zeros(a, b, least, most, COUNT));
    for (int i = 0; i < COUNT; i++) {
        const unsigned counted = a[i] == a[i] ? ALL : ALL & ~OF_NAN; /* forms with _nan: the sign of a NaN */
        if (((least[i] ^ less[i]) | (most[i] ^ more[i])) & counted)
            fail_msg("%g and %g: signs %#x and %#x, not %#x and %#x", (double)a[i], (double)b[i], least[i], most[i],
                     less[i], more[i]);
    }
}

/* Operators of bit-fields, packed members, objects, constants and templates. */
static void other_operators_are_what_they_were(void **state)
{
    (void)state;
    expect_all(3, arithmetic_operators, 3, 0);
}

static int set_up(void **state)
{
    (void)state;
    played_gpu_add(&arithmetic_registry);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_loads_see_other_types),
        cmocka_unit_test(arrays_of_any_address_are_read_as_wider_types),
        cmocka_unit_test(calls_in_place_and_on_either_device_take_any_address),
        cmocka_unit_test(kernels_may_align_by_hand),
        cmocka_unit_test(graphs_on_the_cpu_refuse_misaligned_arrays),
        cmocka_unit_test(descriptors_name_the_alignment_of_casts),
        cmocka_unit_test(floats_become_the_integers_of_a_gpu),
        cmocka_unit_test(floats_become_integers_in_any_place),
        cmocka_unit_test(doubles_become_the_integers_of_a_gpu),
        cmocka_unit_test(halves_become_the_integers_of_a_gpu),
        cmocka_unit_test(shifts_by_any_count_are_those_of_a_gpu),
        cmocka_unit_test(divisions_by_0_are_those_of_a_gpu),
        cmocka_unit_test(zeros_are_ordered),
        cmocka_unit_test(other_operators_are_what_they_were),
    };
    return RUN_ON_DRIVER(tests, set_up, NULL);
}
