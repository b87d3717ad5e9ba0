/* test_transpose.c - transposed matrices of every element type, shape and alignment, compared with a plain loop. */
#include "elements.h"

#include <cuferry/kernels.h>

#ifndef IS_FEW
#define IS_FEW 0 /* see test_pieces.py */
#endif

static void expect_transposed(struct array *in, struct array *out, int64_t rows, int64_t cols)
{
    const size_t bytes = types[in->type].bytes;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            memcpy(out->expected + out->begin + (size_t)(j * rows + i) * bytes,
                   in->host + in->begin + (size_t)(i * cols + j) * bytes, bytes);
}

static void run_transpose(int type, int64_t rows, int64_t cols, const int offsets[2], int way, unsigned short seed[])
{
    struct array in, out;
    const cf_kernel *kernel = find("transpose", type, "");
    make_array(&in, type, rows * cols, offsets[0]);
    make_array(&out, type, rows * cols, offsets[1]);
    randomize(&in, rows * cols, 0, seed);
    expect_transposed(&in, &out, rows, cols);
    void *pointers[] = {place(&in, way), place(&out, way)};
    run_kernel(kernel, way, (void *[]){&pointers[0], &pointers[1], &rows, &cols});
    finish_array(&in, kernel->name, rows * cols);
    finish_array(&out, kernel->name, rows * cols);
}

/* Sides around a small tile, half a tile and the tiles of all element sizes, and odd sides. */
TEST(transpose_every_type_and_shape_is_right)
{
    static const int64_t sides[] = {0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 129, 200};
    enum { SIDES = sizeof sides / sizeof *sides };
    unsigned short seed[3] = {4, 5, 6};
    for (int type = 0; type < TYPES; type++)
        for (int r = 0; r < SIDES; r++)
            for (int c = (type + r) % 2; c < SIDES; c += 2) {
                const int offsets[] = {nrand48(seed) % 2 ? 0 : (int)(nrand48(seed) % 9),
                                       nrand48(seed) % 2 ? 0 : (int)(nrand48(seed) % 9)};
                run_transpose(type, sides[r], sides[c], offsets, (int)(nrand48(seed) % WAYS), seed);
            }
}

/* Matrices with few rows or columns, of which a block handles pieces. */
TEST(transpose_thin_matrices_are_right)
{
    static const int64_t lengths[] = {1024, 1025, 4097, 16385};
    unsigned short seed[3] = {7, 8, 9};
    for (int type = 0; type < TYPES; type++)
        for (size_t l = IS_FEW * (type % 2); l < sizeof lengths / sizeof *lengths; l += 1 + IS_FEW)
            for (int64_t few = 1; few < 70; few += few < 4 ? 1 : few < 33 ? 14 : 31) {
                const int offsets[] = {(int)(nrand48(seed) % 5), (int)(nrand48(seed) % 5)}, none[] = {0, 0};
                run_transpose(type, few, lengths[l], nrand48(seed) % 2 ? offsets : none, CALL_DEVICE, seed);
                run_transpose(type, lengths[l], few, nrand48(seed) % 2 ? offsets : none, LAUNCH, seed);
            }
}

TEST(transpose_bad_arguments_are_named)
{
    float in[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0};
    assert_fails(cf_transpose(in, out, -1, 3), CF_EINVAL,
                 "cf_transpose_f32: the extent in[rows] is negative with rows = -1");
    assert_fails(cf_transpose(in, out, 2, -3), CF_EINVAL,
                 "cf_transpose_f32: the extent in[cols] is negative with cols = -3");
    assert_fails(cf_transpose(in, out, (int64_t)1 << 32, (int64_t)1 << 32), CF_EOVERFLOW, "cf_transpose_f32: ");
    assert_fails(cf_transpose((float *)NULL, out, 2, 3), CF_EINVAL, "cf_transpose_f32: in is NULL and its extent is 6");
    assert_fails(cf_transpose(in, (float *)NULL, 2, 3), CF_EINVAL, "cf_transpose_f32: out is NULL and its extent is 6");
    assert_fails(cf_transpose(in, in, 2, 3), CF_EINVAL, "cf_transpose_f32: in and out overlap by 24 bytes");
    assert_ok(cf_transpose(in, in + 3, 1, 3));
    for (int i = 0; i < 6; i++)
        assert_true(out[i] == 0 && in[i] == (float)(i % 3 + 1));
    assert_ok(cf_transpose((float *)NULL, (float *)NULL, 0, 5));
    assert_ok(cf_transpose((float *)NULL, (float *)NULL, 5, 0));
}

/* The number of blocks is the number of tiles or of pieces of thin matrices, also for more than 2^31 elements. */
TEST(transpose_descriptor_says_what_it_costs)
{
    static const struct {
        int type;
        int64_t rows, cols, blocks;
    } cases[] = {
        {F32, 64, 64, 1},
        {F32, 65, 64, 2},
        {F32, 1, 4064, 1},
        {F32, 4065, 1, 2},
        {F32, 31, 131, 1},
        {F32, 31, 132, 2},
        {F32, 32, 129, 3},
        {F64, 16, 257, 9},
        {F64, 15, 257, 4},
        {F16, 128, 129, 2},
        {F64, 100000, 100000, 3125 * 3125},
        {F32, (int64_t)1 << 33, 2, 4227331},
        {BF16, (int64_t)1 << 20, 1 << 16, 1 << 22},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const cf_kernel *kernel = find("transpose", cases[c].type, "");
        int64_t rows = cases[c].rows, cols = cases[c].cols;
        void *pointer = &rows, *args[] = {&pointer, &pointer, &rows, &cols};
        double value;
        cf_launch_size size;
        assert_int_equal(kernel->sizes(args, &size), 1);
        assert_int_equal(size.grid[0], cases[c].blocks);
        assert_ok(cf_kernel_evaluate_real(kernel, kernel->bytes.ops, args, &value));
        assert_true(value == 2 * (double)rows * (double)cols * (double)types[cases[c].type].bytes);
    }
}

/* Some elements of a zero matrix are set, including the first and the last. */
TEST(transpose_past_2_31_is_right)
{
    enum { LOOKS = 300 };
    const int64_t rows = 46345, cols = 46342;
    static struct {
        int64_t row, col;
        uint16_t bits;
    } looks[LOOKS];
    uint16_t bits;
    char *in, *out;
    unsigned short seed[3] = {1, 2, 3};
    skip_without_memory(4 * rows * cols);
    assert_ok(cf_mem_alloc((void **)&in, (size_t)(rows * cols) * sizeof bits));
    assert_ok(cf_mem_alloc((void **)&out, (size_t)(rows * cols) * sizeof bits));
    assert_ok(cf_mem_fill(in, 0, (size_t)(rows * cols) * sizeof bits));
    assert_ok(cf_mem_fill(out, 0xa5, (size_t)(rows * cols) * sizeof bits));
    for (int i = 0; i < LOOKS; i++) {
        looks[i].row = i == 0 ? 0 : i == 1 ? rows - 1 : i * rows / LOOKS + nrand48(seed) % 100;
        looks[i].col = i < 2 ? i * (cols - 1) : nrand48(seed) % cols;
        looks[i].bits = (uint16_t)(i + 1);
        assert_ok(
            cf_mem_copy(in + (looks[i].row * cols + looks[i].col) * (int64_t)sizeof bits, &looks[i].bits, sizeof bits));
    }
    assert_ok(cf_transpose_f16((const cf_half *)(void *)in, (cf_half *)(void *)out, rows, cols));
    for (int i = 0; i < LOOKS; i++) {
        assert_ok(cf_mem_copy(&bits, out + (looks[i].col * rows + looks[i].row) * (int64_t)sizeof bits, sizeof bits));
        assert_int_equal(bits, looks[i].bits);
        assert_ok(cf_mem_fill(out + (looks[i].col * rows + looks[i].row) * (int64_t)sizeof bits, 0, sizeof bits));
    }
    int32_t least, most; /* all other elements are 0 */
    assert_ok(cf_min((const int32_t *)(void *)out, &least, rows * cols / 2));
    assert_ok(cf_max((const int32_t *)(void *)out, &most, rows * cols / 2));
    assert_true(least == 0 && most == 0);
    assert_ok(cf_mem_free(in));
    assert_ok(cf_mem_free(out));
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
