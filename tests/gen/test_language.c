/* test_language.c - the kernels of language.cu, which has one for each clause and kind of declaration, compared with
 * plain C. */
#include "played_gpu.h"

#include "language_kernels.h"

#include <cuferry/registry.h>

#include "compare_sizes.h"

/* The CPU's function for reverse(), by the annotation host(reverse_on_cpu). */
void reverse_on_cpu(int *x, int n);
void reverse_on_cpu(int *x, int n)
{
    for (int i = 0; i < n / 2; i++) {
        int kept = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = kept;
    }
}

/* A pseudorandom sequence, the same in every run. */
static uint32_t seed;

static uint32_t next(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static int reseed(void **state)
{
    (void)state;
    seed = 12345;
    return 0;
}

/* Returns device memory with a copy of `bytes` bytes of `host`. */
static void *on_device(const void *host, size_t bytes)
{
    void *device;
    assert_ok(cf_mem_alloc(&device, bytes));
    assert_ok(cf_mem_copy(device, host, bytes));
    return device;
}

/* ---- Sections and pitches ---- */

enum { NX = 37, NY = 13, LD = 48 };

static void smooth_expected(const float *u, float *v, const struct field *f, const float weights[3], float offset)
{
    for (int y = 1; y < f->ny - 1; y++)
        for (int x = 1; x < f->nx - 1; x++) {
            const float *row = u + y * f->ld + x;
            v[y * f->ld + x] = f->h[0] * (weights[0] * row[-1] + weights[1] * row[0] + weights[2] * row[1]) + offset;
        }
}

static int is_near(const float *got, const float *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(got[i] - expected[i] < 1e-5f && expected[i] - got[i] < 1e-5f))
            return 0;
    return 1;
}

TEST_WITH(smooth_section_of_a_padded_field_is_right, reseed, NULL)
{
    static const float before[3] = {0.25f, 0.5f, 0.25f}, after[3] = {1, 2, -1};
    const struct field f = {NX, NY, LD, {0.5f, 0}};
    static float u[NY * LD], v[NY * LD], expected[NY * LD];
    for (int i = 0; i < NY * LD; i++) {
        u[i] = (float)(next() % 1000) / 1000;
        v[i] = expected[i] = (float)i;
    }
    smooth_expected(u, expected, &f, before, 0);
    assert_ok(language_smooth(u, v, f));
    assert_true(is_near(v, expected, NY * LD)); /* compares the border and the padding, too */

    /* With other values of the constants, on device memory. */
    assert_ok(language_set_weights(after));
    assert_ok(language_set_offset(3));
    smooth_expected(u, expected, &f, after, 3);
    void *du = on_device(u, sizeof u), *dv = on_device(v, sizeof v);
    assert_ok(language_smooth_async(NULL, du, dv, f));
    assert_ok(cf_mem_copy(v, dv, sizeof v));
    assert_true(is_near(v, expected, NY * LD));
    assert_ok(cf_mem_free(du));
    assert_ok(cf_mem_free(dv));

    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    const double offset = 0;
    assert_ok(language_set_weights_async(stream, before));
    assert_ok(language_set_offset_async(stream, offset));
    assert_ok(cf_stream_sync(stream));
    smooth_expected(u, expected, &f, before, 0);
    assert_ok(language_smooth(u, v, f));
    assert_true(is_near(v, expected, NY * LD));
    assert_ok(cf_stream_destroy(stream));
}

TEST_WITH(smooth_wrong_field_names_its_members, reseed, NULL)
{
    static float u[NY * LD];
    assert_fails(language_smooth(u, u, ((struct field){NX, NY, 5, {0, 0}})), CF_EINVAL, "with f.ld = 5, f.nx = 37");
    assert_fails(language_smooth(u, u, ((struct field){NX, 2, LD, {0, 0}})), CF_EINVAL, "f.ny > 2 fails with f.ny = 2");
    assert_fails(language_smooth(u, u, ((struct field){NX, -1, LD, {0, 0}})), CF_EINVAL, "f.ny = -1");
    assert_fails(language_smooth(u, u, ((struct field){NX, NY, LD, {2.25f, 0}})), CF_EINVAL,
                 "the check -1.5 <= f.h[0] < 2 fails with f.h[0] = 2.25");
    assert_fails(language_smooth(NULL, u, ((struct field){NX, NY, LD, {0, 0}})), CF_EINVAL, "u is NULL");
}

TEST_WITH(shift_from_first_on_leaves_the_rest, reseed, NULL)
{
    enum { FIRST = 5, COUNT = 1003, ALL = 1100 };
    static int x[ALL], y[ALL], expected[ALL];
    for (int i = 0; i < ALL; i++) {
        x[i] = (int)next();
        y[i] = expected[i] = -i;
    }
    for (int i = FIRST; i < FIRST + COUNT; i++)
        expected[i] = x[i] + 1;
    assert_ok(language_shift(x, y, FIRST, COUNT));
    assert_memory_equal(y, expected, sizeof y);
    assert_ok(language_shift(NULL, NULL, FIRST, 0));
}

TEST_WITH(power_bits_and_choices_are_cs, reseed, NULL)
{
    int64_t x[41], expected[41];
    for (int i = 0; i < 41; i++)
        x[i] = expected[i] = i;
    for (int i = 1; i < 33; i++)
        expected[i] = 2 * expected[i] + 16;
    assert_ok(language_power(x, 16, 32));
    assert_memory_equal(x, expected, sizeof x);
    assert_fails(language_power(x, 12, 24), CF_EINVAL, "(rows & (rows - 1)) == 0 fails with rows = 12");
    assert_fails(language_power(x, 128, 2), CF_EINVAL, "rows > 0 ? rows < 100 : true fails with rows = 128");
    assert_ok(language_power(NULL, 0, 0));
}

/* ---- Launches ---- */

TEST_WITH(any_block_elements_are_checked_and_added, reseed, NULL)
{
    enum { COUNT = 5000 };
    static uint8_t key[COUNT];
    static double x[COUNT], expected[COUNT];
    for (int i = 0; i < COUNT; i++) {
        key[i] = (uint8_t)(3 + next() % 247);
        expected[i] = key[i] + 1;
        x[i] = 1;
    }
    assert_ok(language_any_block(x, key, COUNT));
    assert_memory_equal(x, expected, sizeof x);
    key[4321] = 250;
    assert_fails(language_any_block(x, key, COUNT), CF_ERANGE,
                 "language_any_block: key[4321] = 250 is outside [3, 250)");
    assert_memory_equal(x, expected, sizeof x);
}

/* Sums of small integers are exact in any order. */
TEST_WITH(total_every_variant_sums_with_scratch_and_shared_memory, reseed, NULL)
{
    enum { COUNT = 100003 };
    static float x[COUNT];
    float expected = 0, sum;
    for (int i = 0; i < COUNT; i++)
        expected += x[i] = (float)(next() % 16);
    unsigned done = 0;
    assert_ok(language_total_f32(x, &sum, &done, COUNT));
    assert_true(sum == expected);
    assert_int_equal(done, 1);

    const cf_kernel *kernel = cf_kernel_find(&language_registry, "total_f32");
    static const int64_t blocks[] = {128, 256, 512};
    assert_non_null(kernel);
    assert_int_equal(kernel->nvariants, 3);
    assert_int_equal(kernel->nconstants, 0); /* the template parameter is for tuning, so it is not a constant */
    const float *px = x;
    float *psum = &sum;
    unsigned *pdone = &done;
    int n = COUNT;
    void *const args[] = {&px, &psum, NULL, &pdone, &n};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(kernel->variants[i]->nconstants, 1);
        assert_string_equal(kernel->variants[i]->constants[0].name, "BLOCK");
        assert_int_equal(kernel->variants[i]->constants[0].value, blocks[i]);
        sum = -1, done = 0;
        assert_ok(cf_call(kernel->variants[i], args));
        assert_true(sum == expected);
    }

    double wide[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, all = 0;
    done = 0;
    assert_ok(language_total(wide, &all, &done, 10)); /* the types of the arrays select the instance */
    assert_true(all == 55);
}

TEST_WITH(together_runs_all_blocks_at_once, reseed, NULL)
{
    static int x[1024];
    int expected = 0;
    for (int i = 0; i < 1024; i++)
        expected += x[i] = (int)(next() % 1000);
    assert_ok(language_together(x, 1024));
    for (int i = 0; i < 1024; i++)
        assert_int_equal(x[i], expected);
    assert_fails(language_together(x, 1000), CF_EINVAL, "n == 1024 fails with n = 1000");
}

TEST_WITH(reverse_has_80_kib_of_shared_memory, reseed, NULL)
{
    enum { COUNT = 20 * 1024 };
    static int x[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = i;
    assert_ok(language_reverse(x, COUNT));
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(x[i], COUNT - 1 - i);
}

/* ---- Types ---- */

TEST_WITH(types_of_16_bits_complex_and_vectors_agree_with_c, reseed, NULL)
{
    enum { COUNT = 300 };
    static cf_half h[COUNT];
    static cf_bfloat16 b[COUNT];
    static cf_complex64 z[COUNT];
    static cf_complex128 w[COUNT];
    static bool flags[COUNT];
    static cf_float2 sums[COUNT];
    for (int i = 0; i < COUNT; i++) {
        h[i].bits = i % 2 ? 0x3c00 : 0xc500; /* 1 and -5 as half */
        b[i].bits = i % 3 ? 0x4000 : 0x3f80; /* 2 and 1 as bfloat16 */
        z[i] = (float)(i % 5) + 9.0f * (float _Complex)__builtin_complex(0.0f, 1.0f);
        w[i] = __builtin_complex(7.0, (double)(i % 7));
    }
    assert_ok(language_types(h, b, z, w, flags, sums, COUNT, 3, (cf_uint3){4, 5, 6}, (cf_float3){1, 2, 0.5f}));
    for (int i = 0; i < COUNT; i++) {
        float sum = (i % 2 ? 1.0f : -5.0f) + (i % 3 ? 2.0f : 1.0f) + (float)(i % 5) + (float)(i % 7);
        assert_true(sums[i].x == sum + 0.5f);
        assert_true(sums[i].y == 12);
        assert_int_equal(flags[i], sum > 4);
    }
}

TEST_WITH(copy_structs_and_vectors_arrive_whole, reseed, NULL)
{
    static struct particle a[100], b[100];
    static cf_float4 v[64], w[64];
    static cf_complex128 z[9], y[9];
    static unsigned char bytes[77], copied[77];
    for (int i = 0; i < 100; i++)
        a[i] = (struct particle){{(float)i, 1, 2, 3}, i * i};
    for (int i = 0; i < 64; i++)
        v[i] = (cf_float4){1, (float)i, 3, 4};
    for (int i = 0; i < 77; i++)
        bytes[i] = (unsigned char)next();
    assert_ok(language_copy(a, b, 100));
    for (int i = 0; i < 100; i++)
        assert_true(b[i].position.x == (float)i && b[i].position.w == 3 && b[i].cell == i * i);
    assert_ok(language_copy(v, w, 64));
    assert_memory_equal(v, w, sizeof v);
    assert_ok(language_copy(z, y, 9));
    assert_memory_equal(z, y, sizeof z);
    assert_ok(language_copy(bytes, copied, 77));
    assert_memory_equal(bytes, copied, sizeof bytes);
    assert_fails(language_copy((cf_float4 *)(void *)(bytes + 1), w, 4), CF_EINVAL, "is not aligned");
}

TEST_WITH(apply_enumerations_and_bools_are_values, reseed, NULL)
{
    int x[3] = {1, -2, 3};
    assert_ok(language_apply(x, NEGATE, true, 3));
    assert_true(x[0] == -2 && x[1] == 4 && x[2] == -6);
    assert_ok(language_apply(x, SCALE_BY, false, 3));
    assert_true(x[0] == -14 && x[1] == 28 && x[2] == -42);
    short narrow[2] = {5, -5};
    assert_ok(language_add_short(narrow, 2, 2));
    assert_true(narrow[0] == 7 && narrow[1] == -3);
    unsigned long long wide[2] = {5, 1ULL << 63};
    assert_ok(language_add_u64(wide, 1ULL << 40, 2));
    assert_true(wide[0] == 5 + (1ULL << 40) && wide[1] == (1ULL << 63) + (1ULL << 40));
}

TEST_WITH(gather_rows_pointers_are_elements, reseed, NULL)
{
    if (played_gpu_is_in_use())
        skip_test("needs the CPU's driver or a GPU");
    const float values[3] = {10, 20, 30};
    float firsts[3];
    const int raw = 42;
    float *device = on_device(values, sizeof values);
    void *draw = on_device(&raw, sizeof raw), *count = on_device(&raw, sizeof raw);
    const float *const rows[] = {device + 2, device, device + 1};
    assert_ok(language_gather_rows(rows, firsts, count, draw, 3));
    assert_true(firsts[0] == 30 && firsts[1] == 10 && firsts[2] == 20);
    if (on_cuda())
        assert_fails(language_gather_rows(rows, firsts, count, &raw, 3), CF_EINVAL,
                     "raw is host memory; it has no declared extent");
    assert_ok(cf_mem_free(device));
    assert_ok(cf_mem_free(draw));
    assert_ok(cf_mem_free(count));
}

/* Returns the number of threads that count_threads's clause host(grid(...)) gives. */
static int64_t threads_of(int way, int64_t n, int64_t m, int y)
{
    const int64_t ways[] = {n & 12,
                            n | 5,
                            n ^ 3,
                            ~n + 200,
                            -n + 200,
                            !n + 3,
                            n << 1,
                            n >> 2,
                            n < m ? n : m,
                            n > m ? n : m,
                            (n > m && m != 2) + 1,
                            (n <= m || m == 2) + 2,
                            (2 < n && n < 9) + 3,
                            n / 7 + n % 7,
                            n - m * 2,
                            y * 8};
    return ways[way];
}

/* The CPU runs one block with exactly this many threads; nothing is rounded up. */
TEST_WITH(count_threads_the_cpu_runs_as_many_as_its_grid_says, reseed, NULL)
{
    enum { WAYS = 16 };
    static const int64_t ns[] = {0, 1, 4, 9, 20, 100}, ms[] = {0, 2, 7, 50};
    for (int way = 0; way < WAYS; way++)
        for (size_t i = 0; i < sizeof ns / sizeof *ns; i++)
            for (size_t j = 0; j < sizeof ms / sizeof *ms; j++) {
                const cf_int2 at = {0, (int)j};
                int64_t threads = 0, expected = threads_of(way, ns[i], ms[j], at.y);
                if (expected <= 0 && !on_cuda())
                    assert_fails(language_count_threads(way, ns[i], ms[j], at, &threads), CF_EINVAL,
                                 expected ? " is negative with way = " : " is 0 with way = ");
                else
                    assert_ok(language_count_threads(way, ns[i], ms[j], at, &threads));
                expected = on_cuda() && !played_gpu_is_in_use() ? 256 : expected > 0 ? expected : 0;
                if (threads != expected)
                    fail_msg("way %d, n = %d, m = %d: %d threads, not %d", way, (int)ns[i], (int)ms[j], (int)threads,
                             (int)expected);
            }
}

/* The size in host(grid(...)) is checked like a grid of a device, although a GPU does not use it. */
TEST_WITH(by_pieces_host_grid_that_fails_is_refused, reseed, NULL)
{
    int x[5] = {0}, *device;
    assert_ok(language_by_pieces(x, 5, 2));
    assert_ok(language_by_pieces(x, 5, 7));
    assert_ok(language_by_pieces(x, 0, 7));
    device = on_device(x, sizeof x);
    assert_ok(language_by_pieces_async(NULL, device, 5, 3));
    if (!on_cuda()) {
        const char *const why = "host(grid((n + m - 1) / m)) overflows or divides by 0 with n = 5, m = ";
        char detail[128];
        snprintf(detail, sizeof detail, "language_by_pieces: %s0", why);
        assert_fails(language_by_pieces(x, 5, 0), CF_EOVERFLOW, detail);
        snprintf(detail, sizeof detail, "language_by_pieces: %s9223372036854775807", why);
        assert_fails(language_by_pieces(x, 5, INT64_MAX), CF_EOVERFLOW, detail);
        snprintf(detail, sizeof detail, "language_by_pieces_async: %s0", why);
        assert_fails(language_by_pieces_async(NULL, device, 5, 0), CF_EOVERFLOW, detail);
        assert_fails(language_by_pieces(x, 15, -3), CF_EINVAL,
                     "language_by_pieces: host(grid((n + m - 1) / m)) is negative with n = 15, m = -3");
        assert_fails(
            language_by_pieces(x, 5, -7), CF_EINVAL,
            "language_by_pieces: host(grid((n + m - 1) / m)) is 0 with n = 5, m = -7; a GPU's grid is not empty");
    }
    for (int i = 0; i < 5; i++)
        assert_int_equal(x[i], 2);
    assert_ok(cf_mem_copy(x, device, sizeof x));
    for (int i = 0; i < 5; i++)
        assert_int_equal(x[i], 3);
    assert_ok(cf_mem_free(device));
}

/* Tests host memory, which is staged on a GPU, and device memory. An array with two different pitches is not in
 * place. */
TEST_WITH(twice_in_place_is_right, reseed, NULL)
{
    for (int is_device = 0; is_device < 2; is_device++) {
        int host[12], *x = host;
        for (int i = 0; i < 12; i++)
            host[i] = i;
        if (is_device)
            x = on_device(host, sizeof host);
        assert_ok(language_twice(x, x, 3, 2, 4, 4));
        assert_ok(language_twice(x, x + 2, 3, 2, 4, 4)); /* y has the columns beside those of x */
        assert_fails(language_twice(x, x + 1, 3, 2, 4, 4), CF_EINVAL,
                     "language_twice: x and y overlap by 12 bytes; in place they have to be one array, and y begins 4 "
                     "bytes after x");
        assert_fails(
            language_twice(x, x, 2, 2, 4, 3), CF_EINVAL,
            "language_twice: x and y overlap by 12 bytes; in place they have to be one array, and elements that "
            "follow one another in dimension 0 are 16 and 12 bytes apart");
        assert_ok(language_twice(x, x, 1, 2, 4, 3)); /* with a single row, the pitch does not matter */
        if (is_device) {
            assert_ok(cf_mem_copy(host, x, sizeof host));
            assert_ok(cf_mem_free(x));
        }
        for (int i = 0; i < 12; i++) {
            int from = i & ~2;
            assert_int_equal(host[i], i & 2 ? 4 * from : i < 2 ? 4 * i : 2 * i);
        }
    }
}

TEST_WITH(invert_distinct_indices_are_inverted, reseed, NULL)
{
    const int index[5] = {3, 0, 4, 2, 1};
    int to[5] = {-1, -1, -1, -1, -1};
    const cf_kernel *kernel = cf_kernel_find(&language_registry, "invert");
    assert_ok(language_invert(index, to, 5));
    for (int i = 0; i < 5; i++)
        assert_int_equal(to[index[i]], i);
    assert_non_null(kernel);
    assert_true(kernel->distinct && kernel->distinct[0] && !kernel->distinct[1] && !kernel->distinct[2]);
}

/* The range is checked before the order, even if the clauses are in the other order. A failed call writes nothing. */
TEST_WITH(sum_rows_ascending_rows_are_summed_others_refused, reseed, NULL)
{
    int64_t first[5] = {1, 1, 3, 6, 6};
    const int x[6] = {100, 1, 2, 3, 4, 5};
    int sum[4] = {-1, -1, -1, -1};
    first[2] = 0;
    assert_fails(language_sum_rows(first, x, sum, 4, 6), CF_EINVAL,
                 "language_sum_rows: first[2] = 0 is less than first[1] = 1");
    first[4] = 7;
    assert_fails(language_sum_rows(first, x, sum, 4, 6), CF_ERANGE,
                 "language_sum_rows: first[4] = 7 is outside [0, 6]");
    assert_true(sum[0] == -1 && sum[1] == -1 && sum[2] == -1 && sum[3] == -1);
    first[2] = 3;
    first[4] = 6;
    assert_ok(language_sum_rows(first, x, sum, 4, 6));
    assert_true(sum[0] == 0 && sum[1] == 3 && sum[2] == 12 && sum[3] == 0);
}

TEST_WITH(count_over_counts_from_zero_each_time, reseed, NULL)
{
    double x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = i;
    for (int i = 0; i < 5; i++) {
        int64_t found = -1;
        assert_ok(language_count_over(x, 100 * i, &found, 1000));
        assert_int_equal(found, 999 - 100 * i);
    }
    const cf_kernel *kernel = cf_kernel_find(&language_registry, "count_over");
    assert_non_null(kernel);
    assert_int_equal(kernel->nzeros, 1);
    assert_int_equal(kernel->zeros[0].array, 3);
    assert_string_equal(kernel->zeros[0].lower.text, "1");
    assert_string_equal(kernel->zeros[0].extent.text, "2");
}

TEST_WITH(count_signs_is_not_of_what_would_be_cleared, reseed, NULL)
{
    int32_t x[6] = {-1, 2, -3, 4, 5, 6};
    assert_ok(language_count_signs(x, x + 4, 4));
    assert_int_equal(x[4], 2);
    assert_int_equal(x[5], 2);
    assert_ok(language_count_signs(x, x + 4, 4));
    assert_int_equal(x[4], 2);
    assert_fails(language_count_signs(x, x + 3, 4), CF_EINVAL,
                 "language_count_signs: x and count overlap by 4 bytes; count is set to 0 before the kernel");
    assert_int_equal(x[3], 4);
    assert_fails(language_count_signs(x, x, 4), CF_EINVAL,
                 "language_count_signs: x and count overlap by 8 bytes; count is set to 0 before the kernel");
    assert_int_equal(x[0], -1);
}

/* If there are no elements, the counts are 0, and the elements next to them do not change. */
TEST_WITH(count_signs_of_none_is_zero, reseed, NULL)
{
    int32_t counts[4] = {9, 9, 9, 9}, *count, got[4];
    assert_ok(language_count_signs(NULL, counts + 1, 0));
    assert_int_equal(counts[0], 9);
    assert_int_equal(counts[1], 0);
    assert_int_equal(counts[2], 0);
    assert_int_equal(counts[3], 9);

    cf_stream stream;
    assert_ok(cf_stream_create(&stream));
    assert_ok(cf_mem_alloc((void **)&count, sizeof counts));
    for (int is_async = 0; is_async < 2; is_async++) {
        assert_ok(cf_mem_fill(count, 1, sizeof counts));
        assert_ok(is_async ? language_count_signs_async(stream, NULL, count + 1, 0)
                           : language_count_signs(NULL, count + 1, 0));
        assert_ok(cf_stream_sync(stream));
        assert_ok(cf_mem_copy(got, count, sizeof got));
        assert_int_equal(got[0], 0x01010101);
        assert_int_equal(got[1], 0);
        assert_int_equal(got[2], 0);
        assert_int_equal(got[3], 0x01010101);
    }

    cf_graph graph;
    cf_graph_exec exec;
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(language_count_signs_async(stream, NULL, count, 0));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    for (int round = 0; round < 2; round++) {
        assert_ok(cf_mem_fill(count, 1, sizeof counts));
        assert_ok(cf_graph_launch(exec, stream));
        assert_ok(cf_stream_sync(stream));
        assert_ok(cf_mem_copy(got, count, sizeof got));
        assert_int_equal(got[0], 0);
        assert_int_equal(got[1], 0);
        assert_int_equal(got[2], 0x01010101);
    }
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_mem_free(count));
    assert_ok(cf_stream_destroy(stream));
}

/* ---- Members of elements ---- */

/* Calls the kernel with host memory, and with device memory. */
static int count_joints(const struct joint *joints, int *counts, int n, int m)
{
    struct joint *there = on_device(joints, sizeof *joints * (size_t)n);
    int *counted = on_device(counts, sizeof *counts * (size_t)m);
    char text[200] = "";
    int status = language_count_joints(there, counted, n, m);
    if (status != CF_OK)
        snprintf(text, sizeof text, "%s", cf_last_error());
    assert_int_equal(language_count_joints(joints, counts, n, m), status);
    if (status != CF_OK)
        assert_string_equal(cf_last_error(), text);
    assert_ok(cf_mem_free(there));
    assert_ok(cf_mem_free(counted));
    return status;
}

TEST_WITH(count_joints_members_are_checked, reseed, NULL)
{
    enum { N = 70, M = 9 };
    struct joint joints[N];
    int counts[M] = {0};
    memset(joints, 0xff, sizeof joints);
    for (int i = 0; i < N; i++) {
        joints[i].ends = (cf_int2){i % M, (i + 1) % M};
        joints[i].tag.kinds[2] = 1;
    }
    assert_ok(count_joints(joints, counts, N, M));
    assert_int_equal(counts[0], 15);
    assert_int_equal(counts[1], 16);
    joints[68].ends.x = -1;
    assert_fails(count_joints(joints, counts, N, M), CF_ERANGE,
                 "language_count_joints: joints[68].ends.x = -1 is outside [0, 9)");
    joints[68].ends.x = 0;
    joints[66].ends.y = M;
    joints[67].ends.y = M;
    assert_fails(count_joints(joints, counts, N, M), CF_ERANGE,
                 "language_count_joints: joints[66].ends.y = 9 is outside [0, 9)");
    joints[66].ends.y = joints[67].ends.y = 0;
    joints[0].tag.kinds[2] = 0;
    assert_fails(count_joints(joints, counts, N, M), CF_ERANGE,
                 "language_count_joints: joints[0].tag.kinds[2] = 0 is outside (0, inf)");
}

/* ---- Parameters that the kernel does not have ---- */

TEST_WITH(reverse_rows_added_parameters_size_the_launch, reseed, NULL)
{
    enum { ROWS = 5, WIDTH = 70 };
    float x[ROWS][WIDTH], y[ROWS][WIDTH];
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < WIDTH; c++)
            x[r][c] = (float)(WIDTH * r + c);
    assert_ok(language_reverse_rows(x[0], y[0], ROWS, WIDTH, 0));
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < WIDTH; c++)
            assert_true(y[r][c] == x[r][WIDTH - 1 - c]);
    assert_fails(language_reverse_rows(x[0], y[0], ROWS, 2000, 0), CF_EINVAL,
                 "language_reverse_rows: width in block(...) is 2000 with width = 2000; a block has 1 to 1024 threads");
    assert_fails(language_reverse_rows(x[0], y[0], ROWS, WIDTH, 1.5f), CF_EINVAL,
                 "language_reverse_rows: the check 0 <= slack < 1 fails with slack = 1.5");

    const cf_kernel *kernel = cf_kernel_find(&language_registry, "reverse_rows");
    assert_int_equal(kernel->nparams, 5);
    assert_int_equal(kernel->nadded, 3);
    const float slack = 0.25f;
    void *const args[] = {NULL, NULL, NULL, NULL, (void *)(uintptr_t)&slack};
    double value;
    assert_ok(cf_kernel_evaluate_real(kernel, kernel->tolerance.ops, args, &value));
    assert_true(value == 0.25);
}

/* ---- Blocks within __launch_bounds__ ---- */

TEST_WITH(number_block_within_its_bound_is_right, reseed, NULL)
{
    float few[128];
    double more[8 * 9];
    assert_ok(language_number_block_f32(few, 16, 8));
    assert_ok(language_number_block_f64(more, 8, 8));
    for (int i = 0; i < 128; i++)
        assert_true(few[i] == (float)i && more[i % 64] == i % 64);
    assert_fails(language_number_block_f64(more, 8, 9), CF_EINVAL,
                 "language_number_block_f64: its block has 8 x 9 x 1 threads with width = 8, height = 9, and its "
                 "__launch_bounds__ allows 64");
    assert_fails(language_number_block_f64_async(NULL, more, 8, 9), CF_EINVAL,
                 "language_number_block_f64_async: its block has 8 x 9 x 1 threads with width = 8, height = 9, and its "
                 "__launch_bounds__ allows 64");
    assert_fails(language_number_block_f32(few, 129, 1), CF_EINVAL, "its block has 129 x 1 x 1 threads");
    assert_fails(language_number_block_f32(few, 1025, 1), CF_EINVAL, "width in block(...) is 1025");
    assert_true(more[63] == 63);
}

/* Calls it plainly, in a stream, and in a graph, whose launches keep the values at the time of the capture. */
TEST_WITH(number_elements_added_parameter_reaches_every_launch, reseed, NULL)
{
    double got[9], *x = on_device((double[9]){0}, sizeof got);
    unsigned count = 7;
    int32_t plain[3] = {0};
    assert_ok(language_number_elements_i32(plain, 10, 2));
    assert_int_equal(plain[1], 11);
    assert_int_equal(plain[2], 0);

    cf_stream stream;
    cf_graph graph;
    cf_graph_exec exec;
    assert_ok(cf_stream_create(&stream));
    assert_ok(language_number_elements_f64_async(stream, x, 0.5, count));
    assert_ok(cf_stream_capture_begin(stream));
    assert_ok(language_number_elements_f64_async(stream, x, 2.5, count + 1));
    assert_ok(cf_stream_capture_end(stream, &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    for (int is_graph = 0; is_graph < 2; is_graph++) {
        if (is_graph)
            assert_ok(cf_graph_launch(exec, stream));
        assert_ok(cf_stream_sync(stream));
        assert_ok(cf_mem_copy(got, x, sizeof got));
        assert_true(got[6] == (is_graph ? 8.5 : 6.5));
        assert_true(got[7] == (is_graph ? 9.5 : 0));
        assert_true(got[8] == 0);
    }
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_graph_destroy(graph));
    assert_ok(cf_stream_destroy(stream));
    assert_ok(cf_mem_free(x));
}

/* ---- Information about the kernels ---- */

TEST_WITH(registry_tells_what_the_annotation_says, reseed, NULL)
{
    const cf_kernel *kernel = cf_kernel_find(&language_registry, "smooth");
    assert_string_equal(language_registry.prefix, "language");
    assert_non_null(kernel);
    assert_string_equal(kernel->doc, "Smooths the inside of a padded field; the rim and the padding stay as they are.");
    const struct field f = {10, 20, 32, {0, 0}};
    const float *none = NULL;
    void *const args[] = {&none, &none, (void *)(uintptr_t)&f};
    double value;
    assert_ok(cf_kernel_evaluate_real(kernel, kernel->flops.ops, args, &value));
    assert_true(value == 1000);
    assert_ok(cf_kernel_evaluate_real(kernel, kernel->tolerance.ops, args, &value));
    assert_true(value == 1e-6);
    assert_int_equal(language_registry.nsymbols, 2);
    assert_string_equal(language_registry.symbols[0]->function, "language_set_offset");
    assert_string_equal(language_registry.symbols[1]->doc, "Weights of three neighbours.");
}

TEST_WITH(sizes_agree_with_the_interpreter, reseed, NULL)
{
    char wrong[1024];
    int compiled;
    if (compare_sizes(&language_registry, 20000, &compiled, wrong, sizeof wrong) != 0)
        fail_msg("%s", wrong);
    assert_int_equal(compiled, language_registry.count + 4 - 1); /* four more variants, minus one block(auto) */
}

int main(void)
{
    return run_played(&language_registry, NULL);
}
