/* test_select.c - selection by flags: every type, with no, few, half and all flags set, at sizes around the work of
 * a warp, a tile, a look-back window and a CPU chunk, at every alignment, compared with a plain loop. Also tests
 * that nothing else is written. */
#include "elements.h"

#include <cuferry/kernels.h>

enum { NUMBERS = 4 }; /* F32 to I64 */

/* ---- Runs ---- */

enum { NONE, FEW, HALF, ALL, PATTERNS };

/* A set flag is any byte other than 0. */
static uint8_t random_flag(int pattern, unsigned short seed[])
{
    static const uint8_t values[] = {1, 0x80, 0xff, 2};
    const long r = nrand48(seed);
    const int is_set = pattern == ALL || (pattern == HALF && r % 2) || (pattern == FEW && r % 61 == 0);
    return is_set ? values[r >> 8 & 3] : 0;
}

/* Makes an array of bytes in the form of elements.h; `offset` is in bytes. */
static void make_flags(struct array *flag, int64_t n, int offset, int pattern, unsigned short seed[])
{
    make_array(flag, F16, (n + 1) / 2, 0);
    flag->begin += (size_t)offset;
    for (int64_t i = 0; i < n; i++)
        flag->host[flag->begin + (size_t)i] = (char)random_flag(pattern, seed);
    memcpy(flag->expected, flag->host, flag->bytes);
}

/* Selects elements or indices. */
static void run(int is_index, int type, int64_t n, int pattern, const int offsets[3], int way, unsigned short seed[])
{
    const cf_kernel *kernel = find(is_index ? "select_index" : "select", type, "");
    struct array x, flag, y, count;
    int64_t selected = 0;
    make_array(&x, type, n, offsets[0]);
    randomize(&x, n, 0, seed);
    make_flags(&flag, n, offsets[1], pattern, seed);
    make_array(&y, type, n, offsets[2]);
    make_array(&count, I64, 1, 0);
    for (int64_t i = 0; i < n; i++)
        if (flag.host[flag.begin + (size_t)i])
            expect_at(&y, selected++, is_index ? (number){0, i} : at(&x, i));
    expect_at(&count, 0, (number){0, selected});
    void *of_x = place(&x, way), *of_flag = place(&flag, way), *of_y = place(&y, way), *of_count = place(&count, way);
    void *args[] = {&of_x, &of_flag, &of_y, &of_count, NULL, &n};
    assert_int_equal(kernel->nparams, is_index ? 5 : 6);
    run_kernel(kernel, way, args + is_index);
    finish_array(&x, kernel->name, n);
    finish_array(&flag, kernel->name, n);
    finish_array(&count, kernel->name, n);
    finish_array(&y, kernel->name, n);
}

/* Sizes around a row, a warp, a tile and a CPU chunk. */
static const int64_t lengths[] = {0,   1,    2,    7,    8,    9,    31,   32,    33,    511,   512,
                                  513, 1023, 4095, 4096, 4097, 8191, 8193, 32767, 32768, 32769, 40961};
#define LENGTHS (sizeof lengths / sizeof *lengths)

TEST(select_every_type_and_size_is_right)
{
    unsigned short seed[3] = {1, 2, 3};
    for (int type = 0; type < NUMBERS; type++)
        for (size_t s = 0; s < LENGTHS; s++)
            for (int pattern = 0; pattern < PATTERNS; pattern++) {
                const int places = (int)(16 / types[type].bytes);
                const int offsets[3] = {(int)(nrand48(seed) % places), (int)(nrand48(seed) % 16),
                                        (int)(nrand48(seed) % places)};
                run(0, type, lengths[s], pattern, offsets, (int)(nrand48(seed) % WAYS), seed);
                if (type == I32 || type == I64)
                    run(1, type, lengths[s], pattern, offsets, (int)(nrand48(seed) % WAYS), seed);
            }
}

TEST(select_every_alignment_is_right)
{
    unsigned short seed[3] = {4, 5, 6};
    for (int type = 0; type < NUMBERS; type++)
        for (int offset = 0; offset < 16; offset++) {
            const int places = (int)(16 / types[type].bytes);
            const int offsets[3] = {offset % places, offset, (offset + 1) % places};
            run(0, type, 4700, offset % 2 ? HALF : ALL, offsets, offset % WAYS, seed);
        }
}

/* More tiles than a look-back window, and more chunks than threads. */
TEST(select_of_many_is_right)
{
    unsigned short seed[3] = {7, 8, 9};
    const int offsets[3] = {1, 3, 0};
    for (int type = 0; type < NUMBERS; type++)
        run(0, type, 150 * 4096 + 77 * type, type % PATTERNS, offsets, LAUNCH, seed);
    run(1, I32, 200 * 4096, HALF, offsets, LAUNCH, seed);
    run(1, I64, 129 * 4096 + 1, ALL, offsets, CALL_HOST, seed);
}

/* A single flag at various positions. */
TEST(select_of_one_is_right)
{
    enum { COUNT = 70000 };
    static uint8_t flag[COUNT];
    static int64_t y[COUNT];
    static const int64_t where[] = {0, 31, 32, 511, 512, 4095, 4096, 32767, 32768, 65535, 65536, COUNT - 9, COUNT - 1};
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        int64_t count = 0;
        y[1] = -5;
        flag[where[i]] = 1;
        assert_ok(cf_select_index(flag, y, &count, COUNT));
        assert_int_equal(count, 1);
        assert_int_equal(y[0], where[i]);
        assert_int_equal(y[1], -5);
        flag[where[i]] = 0;
    }
}

/* Selects all of 0, 1, 2, ... except the first. */
TEST(select_past_2_32_on_a_gpu_is_right)
{
    enum { LOOK = 20000 };
    const int64_t n = ((int64_t)1 << 32) + 12345;
    const int64_t begins[] = {0, ((int64_t)1 << 31) - LOOK / 2, ((int64_t)1 << 32) - LOOK / 2, n - 1 - LOOK};
    int64_t memory = 0, count = 0;
    static int32_t found[LOOK];
    void *x, *y, *flag;
    if (on_cuda())
        assert_ok(cf_device_property(0, CF_PROPERTY_MEMORY, &memory));
    if (memory < n * 10)
        skip_test(NEEDS_GPU_MEMORY);
    assert_ok(cf_mem_alloc(&x, (size_t)n * sizeof(int32_t)));
    assert_ok(cf_mem_alloc(&y, (size_t)n * sizeof(int32_t)));
    assert_ok(cf_mem_alloc(&flag, (size_t)n));
    assert_ok(cf_fill(1, (int32_t *)x, n));
    assert_ok(cf_exclusive_scan((const int32_t *)x, (int32_t *)x, n));
    assert_ok(cf_mem_fill(flag, 1, (size_t)n));
    assert_ok(cf_mem_fill(flag, 0, 1));
    assert_ok(cf_select((const int32_t *)x, (const uint8_t *)flag, (int32_t *)y, &count, n));
    assert_int_equal(count, n - 1);
    for (int b = 0; b < 4; b++) {
        assert_ok(cf_mem_copy(found, (int32_t *)y + begins[b], sizeof found));
        for (int64_t i = 0; i < LOOK; i++)
            assert_int_equal((uint32_t)found[i], (uint32_t)(begins[b] + i + 1));
    }
    assert_ok(cf_mem_free(x));
    assert_ok(cf_mem_free(y));
    assert_ok(cf_mem_free(flag));
}

/* Each replay counts from 0, and a simultaneous call in another stream has its own scratch memory. */
TEST(select_in_a_graph_and_on_two_streams_is_right)
{
    enum { COUNT = 140001 };
    static uint8_t flags[COUNT];
    static int32_t found[2][COUNT];
    int64_t counts[2];
    void *flag, *y[2], *count[2];
    cf_stream streams[2];
    cf_graph graph;
    cf_graph_exec exec;
    for (int s = 0; s < 2; s++) {
        assert_ok(cf_stream_create(&streams[s]));
        assert_ok(cf_mem_alloc(&y[s], sizeof found[s]));
        assert_ok(cf_mem_alloc(&count[s], sizeof counts[s]));
    }
    assert_ok(cf_mem_alloc(&flag, sizeof flags));
    assert_ok(cf_preload(&cf_registry));
    assert_ok(cf_stream_capture_begin(streams[0]));
    assert_ok(cf_select_index_async(streams[0], (const uint8_t *)flag, (int32_t *)y[0], (int64_t *)count[0], COUNT));
    assert_ok(cf_stream_capture_end(streams[0], &graph));
    assert_ok(cf_graph_instantiate(&exec, graph));
    assert_ok(cf_graph_destroy(graph));
    for (int round = 2; round < 8; round++) {
        for (int i = 0; i < COUNT; i++)
            flags[i] = i % round == 1;
        assert_ok(cf_mem_copy(flag, flags, sizeof flags));
        assert_ok(cf_graph_launch(exec, streams[0]));
        assert_ok(
            cf_select_index_async(streams[1], (const uint8_t *)flag, (int32_t *)y[1], (int64_t *)count[1], COUNT));
        for (int s = 0; s < 2; s++) {
            assert_ok(cf_stream_sync(streams[s]));
            assert_ok(cf_mem_copy(&counts[s], count[s], sizeof counts[s]));
            assert_ok(cf_mem_copy(found[s], y[s], sizeof found[s]));
            assert_int_equal(counts[s], (COUNT - 2) / round + 1);
            for (int i = 0; i < counts[s]; i++)
                assert_int_equal(found[s][i], i * round + 1);
        }
    }
    assert_ok(cf_graph_exec_destroy(exec));
    assert_ok(cf_mem_free(flag));
    for (int s = 0; s < 2; s++) {
        assert_ok(cf_stream_destroy(streams[s]));
        assert_ok(cf_mem_free(y[s]));
        assert_ok(cf_mem_free(count[s]));
    }
}

/* ---- Values ---- */

TEST(select_takes_every_type)
{
    const uint8_t flag[] = {1, 0, 255};
    const float f[] = {1, 2, 3};
    const double d[] = {1, 2, 3};
    const int32_t i[] = {1, 2, 3};
    const int64_t l[] = {1, 2, 3};
    float of_f[3] = {7, 8, 9};
    double of_d[3] = {7, 8, 9};
    int32_t of_i[3] = {7, 8, 9};
    int64_t of_l[3] = {7, 8, 9}, count[6] = {0};
    assert_ok(cf_select(f, flag, of_f, &count[0], 3));
    assert_ok(cf_select(d, flag, of_d, &count[1], 3));
    assert_ok(cf_select(i, flag, of_i, &count[2], 3));
    assert_ok(cf_select(l, flag, of_l, &count[3], 3));
    assert_true(of_f[0] == 1 && of_f[1] == 3 && of_f[2] == 9);
    assert_true(of_d[0] == 1 && of_d[1] == 3 && of_d[2] == 9);
    assert_true(of_i[0] == 1 && of_i[1] == 3 && of_i[2] == 9);
    assert_true(of_l[0] == 1 && of_l[1] == 3 && of_l[2] == 9);
    assert_ok(cf_select_index(flag, of_i, &count[4], 3));
    assert_ok(cf_select_index(flag, of_l, &count[5], 3));
    assert_true(of_i[0] == 0 && of_i[1] == 2 && of_i[2] == 9);
    assert_true(of_l[0] == 0 && of_l[1] == 2 && of_l[2] == 9);
    for (int k = 0; k < 6; k++)
        assert_int_equal(count[k], 2);
}

/* ---- Arguments ---- */

TEST(select_of_nothing_counts_none)
{
    float y = 9;
    int64_t count = 5;
    assert_ok(cf_select((const float *)NULL, NULL, &y, &count, 0));
    assert_int_equal(count, 0);
    assert_true(y == 9);
    count = 5;
    assert_ok(cf_select_index(NULL, (int64_t *)NULL, &count, 0));
    assert_int_equal(count, 0);
}

TEST(select_bad_arguments_are_named)
{
    const uint8_t flag[2] = {1, 1};
    float x[2] = {1, 2}, y[2] = {3, 4};
    int32_t index[2] = {5, 6};
    int64_t count = 7;
    assert_fails(cf_select((const float *)NULL, flag, y, &count, 2), CF_EINVAL,
                 "cf_select_f32: x is NULL and its extent is 2");
    assert_fails(cf_select(x, NULL, y, &count, 2), CF_EINVAL, "cf_select_f32: flag is NULL and its extent is 2");
    assert_fails(cf_select(x, flag, (float *)NULL, &count, 2), CF_EINVAL,
                 "cf_select_f32: y is NULL and its extent is 2");
    assert_fails(cf_select(x, flag, y, NULL, 2), CF_EINVAL, "cf_select_f32: count is NULL and its extent is 1");
    assert_fails(cf_select(x, flag, y, NULL, 0), CF_EINVAL, "cf_select_f32: count is NULL and its extent is 1");
    assert_fails(cf_select(x, flag, y, &count, -1), CF_EINVAL,
                 "cf_select_f32: the extent x[n] is negative with n = -1");
    assert_fails(cf_select_async(NULL, x, flag, y, &count, INT64_MIN), CF_EINVAL,
                 "cf_select_f32_async: the extent x[n] is negative with n = -9223372036854775808");
    assert_fails(cf_select(x, flag, y, &count, INT64_MAX), CF_EOVERFLOW,
                 "cf_select_f32: x[n] has more than 2^63 - 1 bytes with n = 9223372036854775807");
    assert_fails(cf_select_async(NULL, x, flag, y, &count, (int64_t)1 << 60), CF_EOVERFLOW,
                 "cf_select_f32_async: blocks(max(1, n / (256 * 16) + (n % (256 * 16) > 0))) asks for 281474976710656 "
                 "blocks and a grid has at most 2147483647");
    assert_fails(cf_select_index(flag, index, &count, ((int64_t)1 << 31) + 1), CF_EINVAL,
                 "cf_select_index_i32: the check sizeof(int32_t) > 4 || n <= 2147483648 fails with n = 2147483649");
    assert_fails(
        cf_select_index_async(NULL, flag, index, &count, ((int64_t)1 << 31) + 1), CF_EINVAL,
        "cf_select_index_i32_async: the check sizeof(int32_t) > 4 || n <= 2147483648 fails with n = 2147483649");
    assert_fails(cf_select_index(flag, index, &count, -1), CF_EINVAL,
                 "cf_select_index_i32: the extent flag[n] is negative with n = -1");
    assert_true(y[0] == 3 && y[1] == 4 && index[0] == 5 && index[1] == 6 && count == 7);
}

TEST(select_in_place_is_refused)
{
    _Alignas(8) uint8_t flag[16] = {1, 1};
    float x[4] = {1, 2, 3, 4};
    int64_t numbers[4] = {1, 2, 3, 4}, count = 7;
    assert_fails(cf_select(x, flag, x, &count, 2), CF_EINVAL,
                 "cf_select_f32: x and y overlap by 8 bytes; the kernel declares both __restrict__");
    assert_fails(cf_select(x, flag, x + 1, &count, 2), CF_EINVAL,
                 "cf_select_f32: x and y overlap by 4 bytes; the kernel declares both __restrict__");
    assert_fails(cf_select(numbers, flag, (int64_t *)flag, &count, 2), CF_EINVAL,
                 "cf_select_i64: flag and y overlap by 2 bytes; the kernel declares both __restrict__");
    assert_fails(cf_select(numbers + 2, flag, numbers, numbers + 1, 2), CF_EINVAL,
                 "cf_select_i64: y and count overlap by 8 bytes; the kernel declares both __restrict__");
    assert_fails(cf_select(numbers, flag, numbers + 2, numbers + 1, 2), CF_EINVAL,
                 "cf_select_i64: x and count overlap by 8 bytes; the kernel declares both __restrict__");
    assert_ok(cf_select(x, flag, x + 2, &count, 2));
    assert_int_equal(count, 2);
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 1 && x[3] == 2);
}

/* The number of blocks for more than 2^31 elements; computing it needs no memory. */
TEST(select_grid_is_one_block_for_a_tile)
{
    for (int type = 0; type < NUMBERS; type++) {
        const cf_kernel *kernel = find("select", type, "");
        int64_t n = 0;
        void *pointer = &n, *args[] = {&pointer, &pointer, &pointer, &pointer, NULL, &n};
        double value;
        cf_launch_size size;
        assert_non_null(kernel->sizes);
        assert_int_equal(kernel->sizes(args, &size), 1);
        assert_int_equal(size.grid[0], 1);
        for (int shift = 0; shift < 31; shift++)
            for (int more = 0; more < 3; more++) {
                n = ((int64_t)1 << shift) * 4096 + (shift < 30 ? more - 1 : -more);
                assert_int_equal(kernel->sizes(args, &size), 1);
                assert_int_equal(size.grid[0], (n + 4095) / 4096);
                assert_int_equal(size.block[0], 256);
            }
        n = 1000;
        assert_ok(cf_kernel_evaluate_real(kernel, kernel->bytes.ops, args, &value));
        assert_true(value == 1000 + 2000 * (double)types[type].bytes);
    }
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
