/* test_gather.c - kernels that read elements and rows by index, compared with plain loops. */
#include "elements.h"

#include <cuferry/kernels.h>

static const char *const index_types[] = {"i32", "i64"};

/* Gathers rows of `width` elements; 0 selects the kernel for elements. */
static void run_gather(int type, int index_type, int64_t n, int64_t m, int64_t width, const int offsets[3], int way,
                       unsigned short seed[])
{
    struct array source, index, res;
    const cf_kernel *kernel = find(width ? "gather_rows" : "gather", type, index_types[index_type]);
    int64_t of_row = width ? width : 1;
    const size_t row = (size_t)of_row * types[type].bytes;
    make_array(&source, type, m * of_row, offsets[0]);
    make_array(&index, index_type ? I64 : I32, n, offsets[1]);
    make_array(&res, type, n * of_row, offsets[2]);
    randomize(&source, m * of_row, 0, seed);
    for (int64_t i = 0; i < n; i++) {
        number chosen = {0, nrand48(seed) % m};
        set_element(index.type, index.host + index.begin + (size_t)i * types[index.type].bytes, chosen);
        memcpy(res.expected + res.begin + (size_t)i * row, source.host + source.begin + (size_t)chosen.whole * row,
               row);
    }
    memcpy(index.expected, index.host, index.bytes);
    void *pointers[] = {place(&source, way), place(&index, way), place(&res, way)};
    void *args[] = {&pointers[0], &pointers[1], &pointers[2], &n, width ? &width : &m, &m};
    run_kernel(kernel, way, args);
    finish_array(&source, kernel->name, n);
    finish_array(&index, kernel->name, n);
    finish_array(&res, kernel->name, n);
}

/* Gathering few elements from a large source uses another algorithm. */
TEST(gather_every_type_size_and_alignment_is_right)
{
    unsigned short seed[3] = {1, 2, 3};
    for (int type = 0; type < TYPES; type++)
        for (int index_type = 0; index_type < 2; index_type++)
            for (size_t s = 0; s < SIZES; s++)
                for (int offset = 0; offset < (sizes[s] > 5000 ? 1 : 8); offset++)
                    for (int of_index = 0; of_index < (sizes[s] > 5000 ? 1 : 4); of_index++) {
                        int64_t m = nrand48(seed) % 4 ? sizes[s] / 2 + 1 : 10 * sizes[s] + 1;
                        const int offsets[] = {(int)(nrand48(seed) % 8), of_index, offset};
                        run_gather(type, index_type, sizes[s], m, 0, offsets, (int)(nrand48(seed) % WAYS), seed);
                    }
}

TEST(gather_rows_every_type_width_and_alignment_is_right)
{
    static const int64_t widths[] = {1,  2,  3,  4,   5,   6,    7,    8,    12,   16,  31,
                                     32, 33, 64, 255, 256, 1000, 4095, 4096, 4097, 9000};
    static const int64_t rows[] = {1, 2, 31, 85, 256};
    unsigned short seed[3] = {4, 5, 6};
    for (int type = 0; type < TYPES; type++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                for (int mixed = 0; mixed < 2; mixed++) {
                    int64_t n = widths[w] > 300 ? rows[r] % 7 + 1 : rows[r], m = 1 + nrand48(seed) % 40;
                    int offsets[] = {(int)(nrand48(seed) % 8), (int)(nrand48(seed) % 4), 0};
                    offsets[2] = mixed ? (int)(nrand48(seed) % 8) : offsets[0];
                    run_gather(type, (int)(nrand48(seed) % 2), n, m, widths[w], offsets, (int)(nrand48(seed) % WAYS),
                               seed);
                }
}

TEST(gather_rows_none_or_empty_succeed)
{
    float source[4] = {1, 2, 3, 4}, res[2] = {7, 8};
    int32_t index[2] = {1, 0};
    assert_ok(cf_gather_rows(source, index, res, 0, 2, 2));
    assert_ok(cf_gather_rows(source, index, res, 2, 0, 2));
    assert_ok(cf_gather_rows((float *)NULL, (int32_t *)NULL, (float *)NULL, 0, 0, 0));
    assert_true(res[0] == 7 && res[1] == 8);
    assert_ok(cf_gather_rows(source, index, res, 1, 2, 2));
    assert_true(res[0] == 3 && res[1] == 4);
}

TEST(gather_bad_arguments_are_named)
{
    double source[6] = {1, 2, 3, 4, 5, 6}, res[4] = {0};
    int64_t index[2] = {2, 3};
    int32_t narrow[2] = {-1, 5};
    assert_fails(cf_gather(source, narrow, res, 2, 6), CF_ERANGE, "cf_gather_f64_i32: index[0] = -1 is outside [0, 6)");
    assert_fails(cf_gather_rows(source, index, res, 2, 2, 3), CF_ERANGE,
                 "cf_gather_rows_f64_i64: index[1] = 3 is outside [0, 3)");
    assert_fails(cf_gather_rows(source, index, res, 2, -2, 3), CF_EINVAL, "is negative with width = -2");
    assert_fails(cf_gather_rows(source, index, res, 2, INT64_MAX, 3), CF_EOVERFLOW, "cf_gather_rows_f64_i64: ");
    assert_fails(cf_gather(source, index, source + 1, 2, 6), CF_EINVAL,
                 "cf_gather_f64_i64: source and res overlap by 16 bytes; the kernel declares both __restrict__");
    assert_fails(cf_gather(index, index, index, 2, 2), CF_EINVAL, "cf_gather_i64_i64: source and res overlap by 16");
    assert_fails(cf_gather_rows(source, index, source + 4, 1, 2, 3), CF_EINVAL,
                 "cf_gather_rows_f64_i64: source and res overlap by 16 bytes");
    for (int i = 0; i < 6; i++)
        assert_true(source[i] == i + 1 && (i > 3 || res[i] == 0));
    assert_true(index[0] == 2 && index[1] == 3);
}

TEST(gather_descriptor_says_what_it_costs)
{
    for (int type = 0; type < TYPES; type++)
        for (int index_type = 0; index_type < 2; index_type++) {
            const cf_kernel *kernel = find("gather", type, index_types[index_type]);
            const cf_kernel *rows = find("gather_rows", type, index_types[index_type]);
            const double element_bytes = (double)types[type].bytes, index_bytes = index_type ? 8 : 4;
            int64_t n = 1000, m = 1, width = 24;
            void *pointer = &n, *args[] = {&pointer, &pointer, &pointer, &n, &m};
            void *of_rows[] = {&pointer, &pointer, &pointer, &n, &width, &m};
            double value;
            cf_launch_size size;
            assert_ok(cf_kernel_evaluate_real(kernel, kernel->bytes.ops, args, &value));
            assert_true(value == 1000 * (2 * element_bytes + index_bytes));
            assert_ok(cf_kernel_evaluate_real(rows, rows->bytes.ops, of_rows, &value));
            assert_true(value == 1000 * (2 * 24 * element_bytes + index_bytes));
            n = (int64_t)1 << 33;
            assert_int_equal(kernel->sizes(args, &size), 1);
            assert_int_equal(size.grid[0], n / 4 / 256);
            assert_int_equal(rows->sizes(of_rows, &size), 1);
            assert_int_equal(size.grid[0], n * 24 * (int64_t)types[type].bytes / 16 / 256);
        }
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
