/* test_reduce.c - sums, dot products, minima, maxima and their indices: every type, at sizes around the work of a
 * thread, a row and a block, at every alignment. Sums are compared bit by bit with a plain implementation of the
 * order that kernels/reduce.cuh describes. */
#include <math.h>
#include <sys/mman.h>

#include "elements.h"

#include <cuferry/kernels.h>

#ifndef IS_FEW
#define IS_FEW 0 /* see test_pieces.py */
#endif

enum { SUM, DOT, MIN, MAX, ARGMIN, ARGMAX, OPS };
static const char *const families[OPS] = {"sum", "dot", "min", "max", "argmin", "argmax"};

/* ---- Expected results ---- */

/* Returns the number of blocks that reduce n elements. first_row() gives a block's first row of 256 times 16 bytes. */
static int64_t blocks_of(int64_t n, size_t bytes)
{
    const int64_t least = 32768 / (int64_t)bytes;
    int64_t blocks = (n + least - 1) / least;
    blocks = blocks < 528 ? blocks : 528;
    return blocks > 1 ? blocks : 1;
}

static int64_t first_row(int64_t block, int64_t rows, int64_t blocks)
{
    const int64_t more = rows % blocks;
    return block * (rows / blocks) + (block < more ? block : more);
}

/* Defines for a type the sum and dot product in the documented order, and the results of plain loops. Sums wrap in
 * type `U`. */
#define MODEL(T, U, name, is_float)                                                            \
    static T name##_plus(T a, T b)                                                             \
    {                                                                                          \
        return (T)((U)a + (U)b);                                                               \
    }                                                                                          \
                                                                                               \
    static T name##_tree(T *values, int count)                                                 \
    {                                                                                          \
        for (; count > 8; count /= 2)                                                          \
            for (int i = 0; i < count / 2; i++)                                                \
                values[i] = name##_plus(values[2 * i], values[2 * i + 1]);                     \
        for (int i = 1; i < 8; i++)                                                            \
            values[0] = name##_plus(values[0], values[i]);                                     \
        return values[0];                                                                      \
    }                                                                                          \
                                                                                               \
    static T name##_sum(const T *x, int64_t n)                                                 \
    {                                                                                          \
        enum { SLOTS = 256 * 16 / (int)sizeof(T) };                                            \
        const int64_t blocks = blocks_of(n, sizeof(T)), rows = (n + SLOTS - 1) / SLOTS;        \
        T of_blocks[256] = {0}, total = 0;                                                     \
        for (int64_t block = 0; block < blocks; block++) {                                     \
            T places[SLOTS] = {0};                                                             \
            int64_t begin = first_row(block, rows, blocks) * SLOTS;                            \
            int64_t end = first_row(block + 1, rows, blocks) * SLOTS;                          \
            for (int64_t i = begin; i < end && i < n; i++)                                     \
                places[(i - begin) % SLOTS] = name##_plus(places[(i - begin) % SLOTS], x[i]);  \
            total = name##_tree(places, SLOTS);                                                \
            of_blocks[block % 256] = name##_plus(of_blocks[block % 256], total);               \
        }                                                                                      \
        return blocks > 1 ? name##_tree(of_blocks, 256) : total;                               \
    }                                                                                          \
                                                                                               \
    /* Returns the dot product of small integers, whose sums are exact in any order. */        \
    static T name##_dot(const T *x, const T *y, int64_t n)                                     \
    {                                                                                          \
        T total = 0;                                                                           \
        for (int64_t i = 0; i < n; i++)                                                        \
            total = name##_plus(total, (T)((U)x[i] * (U)y[i]));                                \
        return total;                                                                          \
    }                                                                                          \
                                                                                               \
    static int64_t name##_best(const T *x, int64_t n, int is_max)                              \
    {                                                                                          \
        int64_t best = 0;                                                                      \
        for (int64_t i = 0; i < n; i++) {                                                      \
            if (is_float && isnan((double)x[i]))                                               \
                return i;                                                                      \
            if (is_max ? x[i] > x[best] : x[i] < x[best])                                      \
                best = i;                                                                      \
        }                                                                                      \
        return best;                                                                           \
    }                                                                                          \
                                                                                               \
    /* Writes an operation's result; not called for the minimum of no elements. */             \
    static void name##_expected(int op, const void *x, const void *y, int64_t n, void *result) \
    {                                                                                          \
        const T sum = op == SUM ? name##_sum(x, n) : op == DOT ? name##_dot(x, y, n) : 0;      \
        const int64_t best = op > DOT ? name##_best(x, n, op == MAX || op == ARGMAX) : 0;      \
        if (op == ARGMIN || op == ARGMAX)                                                      \
            memcpy(result, &best, sizeof best);                                                \
        else                                                                                   \
            memcpy(result, op > DOT ? (const T *)x + best : &sum, sizeof(T));                  \
    }
MODEL(float, float, f32, 1)
MODEL(double, double, f64, 1)
MODEL(int32_t, uint32_t, i32, 0)
MODEL(int64_t, uint64_t, i64, 0)

enum { NUMBERS = 4 }; /* F32 to I64 */
static void (*const expected_of[NUMBERS])(int, const void *, const void *, int64_t,
                                          void *) = {f32_expected, f64_expected, i32_expected, i64_expected};

/* ---- Runs ---- */

/* Random numbers for sums, small integers for products, and few distinct values, some equal, for the rest. */
static void fill_array(int op, struct array *array, int64_t n, unsigned short seed[])
{
    for (int64_t i = 0; i < n; i++) {
        number value = random_number(op == DOT, seed);
        if (op == DOT)
            value.real = (double)(value.whole = nrand48(seed) % 5 - 2);
        if (op > DOT)
            value.real = (double)(value.whole = nrand48(seed) % 1000 - 500);
        set_element(array->type, array->host + array->begin + (size_t)i * types[array->type].bytes, value);
    }
    memcpy(array->expected, array->host, array->bytes);
}

/* Calls the kernel on prepared arrays. */
static void run_arrays(int op, struct array *x, struct array *y, int64_t n, int way)
{
    const cf_kernel *kernel = find(families[op], x->type, "");
    const int of_result = op == ARGMIN || op == ARGMAX ? I64 : x->type;
    struct array result;
    void *of_x, *of_y, *of_result_, *args[5], **next = args;
    make_array(&result, of_result, 1, 1);
    of_x = place(x, way), of_y = place(y, way), of_result_ = place(&result, way);
    *next++ = &of_x;
    if (op == DOT)
        *next++ = &of_y;
    *next++ = &of_result_;
    *next++ = NULL; /* scratch memory */
    *next++ = &n;
    assert_int_equal(kernel->nparams, next - args);
    run_kernel(kernel, way, args);
    expected_of[x->type](op, x->host + x->begin, y->host + y->begin, n, result.expected + result.begin);
    finish_array(&result, kernel->name, n);
}

static void run(int op, int type, int64_t n, int offset, int way, unsigned short seed[])
{
    const int64_t others = op == DOT ? n : 0;
    struct array x, y;
    make_array(&x, type, n, offset);
    make_array(&y, type, others, way == CALL_HOST ? offset : (offset + 1) % 4);
    fill_array(op, &x, n, seed);
    fill_array(op, &y, others, seed);
    run_arrays(op, &x, &y, n, way);
    finish_array(&x, families[op], n);
    finish_array(&y, families[op], others);
}

/* Sizes around a row, the work of one block for both element sizes, and several blocks. */
static const int64_t lengths[] = {0,    1,    2,    3,    5,    31,    32,    33,    127,   255,   256,   257,
                                  511,  512,  513,  1023, 1024, 1025,  2047,  2048,  2049,  4095,  4096,  4097,
                                  6144, 8191, 8192, 8193, 9217, 12287, 12289, 16384, 16385, 32769, 65536, 100003};
#define LENGTHS (sizeof lengths / sizeof *lengths)

TEST(reduce_every_type_size_and_alignment_is_right)
{
    unsigned short seed[3] = {1, 2, 3};
    for (int type = 0; type < NUMBERS; type++)
        for (size_t s = 0; s < LENGTHS; s++)
            for (int op = IS_FEW * (int)(s % 2); op < OPS; op += 1 + IS_FEW)
                for (int offset = 0; offset < (int)(16 / types[type].bytes); offset++)
                    if (lengths[s] > 0 || op <= DOT)
                        run(op, type, lengths[s], offset, (int)(nrand48(seed) % WAYS), seed);
}

/* More than 528 times 32 KiB, so that blocks have different numbers of rows. */
TEST(reduce_of_many_is_right)
{
    unsigned short seed[3] = {4, 5, 6};
    for (int type = 0; type < NUMBERS; type++)
        for (int op = IS_FEW && type % 2 ? ARGMIN : SUM; op <= ARGMIN; op += IS_FEW ? OPS : ARGMIN) {
            int64_t least = 32768 / (int64_t)types[type].bytes;
            run(op, type, 528 * least + (op == SUM ? 1 : 100 * least + 77), type % 2, CALL_DEVICE, seed);
        }
}

/* An array of zeros, of which few pages are touched, with two nonzero elements after index 2^31. */
TEST(reduce_past_2_31_is_right)
{
    const int64_t n = ((int64_t)1 << 31) + 12345;
    int32_t *x, sum = 0;
    int64_t at = -1;
    if (on_cuda() || SANITIZED)
        skip_test(on_cuda() ? NEEDS_CPU : NEEDS_NO_SANITIZER);
    x = mmap(NULL, (size_t)n * sizeof *x, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (x == MAP_FAILED)
        skip_test(NEEDS_ADDRESSES);
    x[n - 12340] = 5;
    x[n - 1] = 5;
    assert_ok(cf_sum(x, &sum, n));
    assert_int_equal(sum, 10);
    assert_ok(cf_argmax(x, &at, n));
    assert_int_equal(at, n - 12340);
    assert_int_equal(munmap(x, (size_t)n * sizeof *x), 0);
}

TEST(reduce_past_2_32_on_a_gpu_is_right)
{
    const int64_t n = ((int64_t)1 << 32) + 12345;
    int64_t memory = 0, at = -1;
    float sum = 0, few[] = {1, -2, 1};
    void *x;
    if (on_cuda())
        assert_ok(cf_device_property(0, CF_PROPERTY_MEMORY, &memory));
    if (memory < n * 5)
        skip_test(NEEDS_GPU_MEMORY);
    assert_ok(cf_mem_alloc(&x, (size_t)n * sizeof(float)));
    assert_ok(cf_fill(0.5f, (float *)x, n));
    assert_ok(cf_mem_copy((float *)x + n - 1000, few, sizeof few));
    assert_ok(cf_sum((const float *)x, &sum, n));
    assert_true(fabs(sum - ((double)n / 2 - 1.5)) <= (double)n * 1e-6);
    assert_ok(cf_argmin((const float *)x, &at, n));
    assert_int_equal(at, n - 999);
    assert_ok(cf_argmax((const float *)x, &at, n));
    assert_int_equal(at, n - 1000);
    assert_ok(cf_mem_free(x));
}

/* The bits of the result do not depend on addresses or the contents of scratch memory. */
TEST(reduce_again_gives_the_same_bits)
{
    enum { COUNT = 50001, JUNK = 1 << 16 }; /* larger than the scratch memory */
    unsigned short seed[3] = {7, 8, 9};
    static float x[COUNT + 4];
    static unsigned char junk[JUNK];
    float expected, found;
    void *there, *result, *memory;
    cf_stream stream;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(erand48(seed) - 0.5);
    expected = f32_sum(x, COUNT);
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_alloc(&there, sizeof x));
    assert_ok(cf_mem_alloc(&result, sizeof(float)));
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < JUNK; i++)
            junk[i] = round == 0 ? 0xff : (unsigned char)nrand48(seed);
        assert_ok(cf_mem_copy((float *)there + round % 4, x, COUNT * sizeof *x));
        assert_ok(cf_mem_alloc_async(stream, &memory, JUNK));
        assert_ok(cf_mem_copy_async(stream, memory, junk, JUNK));
        assert_ok(cf_mem_free_async(stream, memory));
        assert_ok(cf_mem_fill_async(stream, result, 0xa5, sizeof(float)));
        assert_ok(cf_sum_async(stream, (const float *)there + round % 4, (float *)result, COUNT));
        assert_ok(cf_mem_copy_async(stream, &found, result, sizeof found));
        assert_ok(cf_stream_sync(stream));
        assert_memory_equal(&found, &expected, sizeof found);
    }
    assert_ok(cf_mem_free(there));
    assert_ok(cf_mem_free(result));
    assert_ok(cf_stream_destroy(stream));
}

TEST(reduce_on_two_streams_is_right)
{
    enum { COUNT = 300007, CALLS = 16 };
    unsigned short seed[3] = {10, 11, 12};
    double *x = malloc(COUNT * sizeof *x), expected[2], found[CALLS];
    void *there[2], *results;
    cf_stream streams[2];
    assert_non_null(x);
    assert_ok(cf_mem_alloc(&results, sizeof found));
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < COUNT; i++)
            x[i] = erand48(seed);
        expected[s] = f64_sum(x, COUNT);
        assert_ok(cf_stream_create(&streams[s]));
        assert_ok(cf_mem_alloc(&there[s], COUNT * sizeof *x));
        assert_ok(cf_mem_copy(there[s], x, COUNT * sizeof *x));
    }
    assert_ok(cf_mem_fill(results, 0xa5, sizeof found));
    for (int i = 0; i < CALLS; i++)
        assert_ok(cf_sum_async(streams[i % 2], (const double *)there[i % 2], (double *)results + i, COUNT));
    for (int s = 0; s < 2; s++)
        assert_ok(cf_stream_sync(streams[s]));
    assert_ok(cf_mem_copy(found, results, sizeof found));
    for (int i = 0; i < CALLS; i++)
        assert_true(found[i] == expected[i % 2]);
    for (int s = 0; s < 2; s++) {
        assert_ok(cf_stream_destroy(streams[s]));
        assert_ok(cf_mem_free(there[s]));
    }
    assert_ok(cf_mem_free(results));
    free(x);
}

TEST(reduce_in_a_graph_is_right_each_time)
{
    enum { COUNT = 70001 };
    static int32_t x[COUNT];
    void *there, *result;
    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    int64_t found;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_alloc(&there, sizeof x));
    assert_ok(cf_mem_alloc(&result, sizeof found));
    assert_ok(cf_preload(&cf_registry));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(cf_argmax_async(stream, (const int32_t *)there, (int64_t *)result, COUNT));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    for (int round = 0; round < 3; round++) {
        int at = 20000 * round + 7;
        x[at] = round + 1;
        assert_ok(cf_mem_copy(there, x, sizeof x));
        assert_ok(cf_mem_fill(result, 0xa5, sizeof found));
        assert_ok(cf_graph_launch(exec, stream));
        assert_ok(cf_stream_sync(stream));
        assert_ok(cf_mem_copy(&found, result, sizeof found));
        assert_int_equal(found, at);
    }
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(there));
    assert_ok(cf_mem_free(result));
}

/* ---- Special values ---- */

TEST(sum_takes_every_type)
{
    float f[] = {1, 2.5f}, f_sum = 9;
    double d[] = {1, -3.5}, d_sum = 9;
    int32_t i[] = {INT32_MAX, 1}, i_sum = 9;
    int64_t l[] = {INT64_MIN, -1}, l_sum = 9;
    assert_ok(cf_sum(f, &f_sum, 2));
    assert_ok(cf_sum(d, &d_sum, 2));
    assert_ok(cf_sum(i, &i_sum, 2));
    assert_ok(cf_sum(l, &l_sum, 2));
    assert_true(f_sum == 3.5f && d_sum == -2.5);
    assert_true(i_sum == INT32_MIN && l_sum == INT64_MAX); /* integers wrap */
    assert_ok(cf_dot(f, f, &f_sum, 2));
    assert_ok(cf_dot(d, d, &d_sum, 2));
    assert_ok(cf_dot(i, i, &i_sum, 2));
    assert_ok(cf_dot(l, l, &l_sum, 2));
    assert_true(f_sum == 7.25f && d_sum == 13.25 && i_sum == 2 && l_sum == 1);
}

TEST(sum_of_nothing_is_zero)
{
    float f = 9;
    int64_t l = 9;
    assert_ok(cf_sum((const float *)NULL, &f, 0));
    assert_true(f == 0 && !signbit(f));
    assert_ok(cf_dot((const int64_t *)NULL, (const int64_t *)NULL, &l, 0));
    assert_int_equal(l, 0);
}

TEST(min_of_nothing_is_invalid)
{
    float f = 9;
    int64_t at = 9;
    assert_fails(cf_min((const float *)NULL, &f, 0), CF_EINVAL, "cf_min_f32: the check n >= 1 fails with n = 0");
    assert_fails(cf_max((const float *)NULL, &f, 0), CF_EINVAL, "cf_max_f32: the check n >= 1 fails with n = 0");
    assert_fails(cf_argmin((const double *)NULL, &at, 0), CF_EINVAL,
                 "cf_argmin_f64: the check n >= 1 fails with n = 0");
    assert_fails(cf_argmax_async(NULL, (const int32_t *)NULL, &at, 0), CF_EINVAL,
                 "cf_argmax_i32_async: the check n >= 1 fails with n = 0");
    assert_true(f == 9 && at == 9);
}

TEST(sum_of_special_values_is_ieee)
{
    enum { COUNT = 10001 };
    static double x[COUNT];
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        x[i] = 1;
    x[5000] = INFINITY;
    assert_ok(cf_sum(x, &sum, COUNT));
    assert_true(sum == INFINITY);
    x[9000] = -INFINITY;
    assert_ok(cf_sum(x, &sum, COUNT));
    assert_true(isnan(sum));
    x[5000] = x[9000] = 1;
    x[COUNT - 1] = NAN;
    assert_ok(cf_sum(x, &sum, COUNT));
    assert_true(isnan(sum));
}

/* If there are NaNs, the first NaN is both the minimum and the maximum. */
TEST(best_of_nans_is_the_first)
{
    enum { COUNT = 20001 };
    static float x[COUNT];
    unsigned short seed[3] = {13, 14, 15};
    for (int round = 0; round < 60; round++) {
        int count = round % 3 ? COUNT : 700, first = (int)(nrand48(seed) % count);
        int second = first + (int)(nrand48(seed) % (count - first));
        float least = 9, greatest = 9;
        int64_t at_least = -1, at_greatest = -1;
        for (int i = 0; i < count; i++)
            x[i] = round % 2 ? (float)erand48(seed) : i % 2 ? INFINITY : -INFINITY;
        x[first] = x[second] = NAN;
        assert_ok(cf_min(x, &least, count));
        assert_ok(cf_max(x, &greatest, count));
        assert_ok(cf_argmin(x, &at_least, count));
        assert_ok(cf_argmax(x, &at_greatest, count));
        assert_true(isnan(least) && isnan(greatest));
        assert_int_equal(at_least, first);
        assert_int_equal(at_greatest, first);
    }
}

/* Arrays whose elements are all the worst possible value. */
#define WORST(T, name, lowest, highest)                     \
    TEST(best_of_the_worst_##name##_is_the_first)           \
    {                                                       \
        enum { COUNT = 9001 };                              \
        static T x[COUNT];                                  \
        T best;                                             \
        int64_t at;                                         \
        for (int count = 1; count <= COUNT; count += 900) { \
            for (int i = 0; i < COUNT; i++)                 \
                x[i] = highest;                             \
            best = 0, at = -1;                              \
            assert_ok(cf_min(x, &best, count));             \
            assert_ok(cf_argmin(x, &at, count));            \
            assert_true(best == highest && at == 0);        \
            for (int i = 0; i < COUNT; i++)                 \
                x[i] = lowest;                              \
            best = 0, at = -1;                              \
            assert_ok(cf_max(x, &best, count));             \
            assert_ok(cf_argmax(x, &at, count));            \
            assert_true(best == lowest && at == 0);         \
        }                                                   \
    }
WORST(float, f32, -INFINITY, INFINITY)
WORST(double, f64, -INFINITY, INFINITY)
WORST(int32_t, i32, INT32_MIN, INT32_MAX)
WORST(int64_t, i64, INT64_MIN, INT64_MAX)

TEST(best_of_zeros_is_the_first)
{
    const double x[] = {1, 0., -0., 0.};
    double best = 9;
    int64_t at = -1;
    assert_ok(cf_argmin(x, &at, 4));
    assert_int_equal(at, 1);
    assert_ok(cf_min(x, &best, 4));
    assert_true(best == 0);
    assert_ok(cf_argmax(x + 1, &at, 3));
    assert_int_equal(at, 0);
}

/* ---- Arguments ---- */

TEST(reduce_bad_arguments_are_named)
{
    float x[2] = {1, 2}, result = 9;
    int64_t at = 9;
    assert_fails(cf_sum((const float *)NULL, &result, 2), CF_EINVAL, "cf_sum_f32: x is NULL and its extent is 2");
    assert_fails(cf_sum(x, (float *)NULL, 2), CF_EINVAL, "cf_sum_f32: result is NULL and its extent is 1");
    assert_fails(cf_sum(x, (float *)NULL, 0), CF_EINVAL, "cf_sum_f32: result is NULL and its extent is 1");
    assert_fails(cf_sum(x, &result, -1), CF_EINVAL, "cf_sum_f32: the extent x[n] is negative with n = -1");
    assert_fails(cf_dot(x, (const float *)NULL, &result, 2), CF_EINVAL, "cf_dot_f32: y is NULL and its extent is 2");
    assert_fails(cf_argmin(x, (int64_t *)NULL, 2), CF_EINVAL, "cf_argmin_f32: index is NULL and its extent is 1");
    assert_fails(cf_min(x, &result, -1), CF_EINVAL, "cf_min_f32: ");
    assert_fails(cf_sum_async(NULL, x, &result, INT64_MIN), CF_EINVAL, "cf_sum_f32_async: the extent x[n] is negative");
    assert_fails(cf_sum(x, &result, INT64_MAX), CF_EOVERFLOW, "cf_sum_f32: x[n] has more than 2^63 - 1 bytes");
    assert_fails(cf_argmax_async(NULL, x, &at, (int64_t)1 << 61), CF_EOVERFLOW,
                 "cf_argmax_f32_async: x[n] has more than");
    assert_true(result == 9 && at == 9);
}

/* The number of blocks for more than 2^31 elements, and more than fit into memory; computing it needs no memory. */
TEST(reduce_grid_hangs_on_the_length)
{
    for (int op = 0; op < OPS; op++)
        for (int type = 0; type < NUMBERS; type++) {
            const cf_kernel *kernel = find(families[op], type, "");
            int64_t n;
            void *pointer = &n, *args[5] = {&pointer, &pointer, &pointer, NULL, &n};
            double value;
            cf_launch_size size;
            args[kernel->nparams - 1] = &n;
            args[kernel->nparams - 2] = NULL;
            assert_non_null(kernel->sizes);
            for (int shift = 0; shift < 60; shift++)
                for (int more = -1; more < 2; more++) {
                    n = ((int64_t)1 << shift) + more;
                    if (n < 1)
                        continue;
                    assert_int_equal(kernel->sizes(args, &size), 1);
                    assert_int_equal(size.grid[0], blocks_of(n, types[type].bytes));
                    assert_int_equal(size.block[0], 256);
                }
            n = 1000;
            assert_ok(cf_kernel_evaluate_real(kernel, kernel->bytes.ops, args, &value));
            assert_true(value == (op == DOT ? 2000 : 1000) * (double)types[type].bytes);
        }
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
