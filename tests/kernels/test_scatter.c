/* test_scatter.c - kernels that write elements by index, compared with plain loops. */
#include "elements.h"

#include <cuferry/kernels.h>

static const char *const index_types[] = {"i32", "i64"};

/* Chooses n of m indices, without duplicates if n is at most m. */
static void choose_indices(int64_t *index, int64_t n, int64_t m, unsigned short seed[])
{
    int64_t *all = malloc((size_t)(m + 1) * sizeof *all);
    assert_non_null(all);
    for (int64_t i = 0; i < m; i++)
        all[i] = i;
    for (int64_t i = 0; i < n; i++) {
        int64_t other = i + nrand48(seed) % (m - i), taken = all[other];
        all[other] = all[i];
        index[i] = all[i] = taken;
    }
    free(all);
}

static void run_scatter(int type, int index_type, int64_t n, const int offsets[3], int way, unsigned short seed[])
{
    struct array source, index, res;
    const cf_kernel *kernel = find("scatter", type, index_types[index_type]);
    int64_t m = n + n / 3 + 5, *chosen = malloc((size_t)(n + 1) * sizeof *chosen);
    assert_non_null(chosen);
    make_array(&source, type, n, offsets[0]);
    make_array(&index, index_type ? I64 : I32, n, offsets[1]);
    make_array(&res, type, m, offsets[2]);
    randomize(&source, n, 0, seed);
    randomize(&res, m, 0, seed);
    choose_indices(chosen, n, m, seed);
    for (int64_t i = 0; i < n; i++) {
        const size_t bytes = types[index.type].bytes;
        number place_of = {0, chosen[i]};
        set_element(index.type, index.host + index.begin + (size_t)i * bytes, place_of);
        memcpy(res.expected + res.begin + (size_t)chosen[i] * types[type].bytes,
               source.host + source.begin + (size_t)i * types[type].bytes, types[type].bytes);
    }
    memcpy(index.expected, index.host, index.bytes);
    void *pointers[] = {place(&source, way), place(&index, way), place(&res, way)};
    run_kernel(kernel, way, (void *[]){&pointers[0], &pointers[1], &pointers[2], &n, &m});
    finish_array(&source, kernel->name, n);
    finish_array(&index, kernel->name, n);
    finish_array(&res, kernel->name, n);
    free(chosen);
}

TEST(scatter_every_type_size_and_alignment_is_right)
{
    unsigned short seed[3] = {1, 2, 3};
    for (int type = 0; type < TYPES; type++)
        for (int index_type = 0; index_type < 2; index_type++)
            for (size_t s = 0; s < SIZES; s++)
                for (int offset = 0; offset < (sizes[s] > 5000 ? 1 : 4); offset++) {
                    const int offsets[] = {offset, (int)(nrand48(seed) % 4), (int)(nrand48(seed) % 8)};
                    run_scatter(type, index_type, sizes[s], offsets, (int)(nrand48(seed) % WAYS), seed);
                }
}

/* For a repeated index the result is one of its elements. */
TEST(scatter_index_that_stands_twice_one_of_its_elements)
{
    enum { COUNT = 5000, PLACES = 3 };
    int32_t source[COUNT], index[COUNT], res[PLACES] = {-1, -1, -1};
    for (int i = 0; i < COUNT; i++) {
        source[i] = i;
        index[i] = i % 2 * 2;
    }
    assert_ok(cf_scatter(source, index, res, COUNT, PLACES));
    assert_true(res[0] >= 0 && res[0] < COUNT && res[0] % 2 == 0);
    assert_int_equal(res[1], -1);
    assert_true(res[2] > 0 && res[2] < COUNT && res[2] % 2 == 1);
}

TEST(scatter_bad_arguments_are_named)
{
    float source[4] = {1, 2, 3, 4}, res[4] = {0};
    int32_t index[4] = {0, 1, 4, -1};
    int64_t wide[4] = {3, 2, INT64_MIN, 0};
    assert_fails(cf_scatter(source, index, res, 4, 4), CF_ERANGE, "cf_scatter_f32_i32: index[2] = 4 is outside [0, 4)");
    assert_fails(cf_scatter(source, wide, res, 4, 4), CF_ERANGE,
                 "cf_scatter_f32_i64: index[2] = -9223372036854775808 is outside [0, 4)");
    assert_fails(cf_scatter(source, index, res, -1, 4), CF_EINVAL,
                 "cf_scatter_f32_i32: the extent source[N] is negative with N = -1");
    assert_fails(cf_scatter(source, index, res, 2, -2), CF_EINVAL,
                 "cf_scatter_f32_i32: the extent res[M] is negative with M = -2");
    assert_fails(cf_scatter(source, index, (float *)NULL, 2, 4), CF_EINVAL, "res is NULL and its extent is 4");
    assert_fails(cf_scatter(source, index, source + 1, 2, 3), CF_EINVAL,
                 "cf_scatter_f32_i32: source and res overlap by 4 bytes");
    for (int i = 0; i < 4; i++)
        assert_true(res[i] == 0 && source[i] == (float)i + 1);
    assert_ok(cf_scatter((float *)NULL, (int32_t *)NULL, (float *)NULL, 0, 0));
}

TEST(scatter_descriptor_says_what_it_costs)
{
    for (int type = 0; type < TYPES; type++)
        for (int index_type = 0; index_type < 2; index_type++) {
            const cf_kernel *kernel = find("scatter", type, index_types[index_type]);
            int64_t n = 1000, m = 1;
            void *pointer = &n, *args[] = {&pointer, &pointer, &pointer, &n, &m};
            double value;
            cf_launch_size size;
            assert_ok(cf_kernel_evaluate_real(kernel, kernel->bytes.ops, args, &value));
            assert_true(value == 1000 * (2 * (double)types[type].bytes + (index_type ? 8 : 4)));
            n = (int64_t)1 << 33;
            assert_int_equal(kernel->sizes(args, &size), 1);
            assert_int_equal(size.grid[0], n / 4 / 256);
        }
}

int main(void)
{
    return run_all_tests(NULL, end_library);
}
