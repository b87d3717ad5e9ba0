/* test_features.c - device code with lambdas, classes, the heap, 16-bit floats, hints and atomic objects. */
#include "expect_all.h"

#include "features_kernels.h"

TEST(features_of_the_language_work)
{
    expect_all(2 * 64, features_language, 0);
}

TEST(features_of_the_heap_work)
{
    int gone = 0;
    expect_all(2 * 32, features_heap, 100, &gone);
    assert_int_equal(gone, 1);
}

TEST(features_of_narrow_types_work)
{
    expect_all(64, features_narrow, 0);
}

TEST(features_of_hinted_memory_work)
{
    double constants[32 * 4], memory[32 * 4] = {0};
    for (int i = 0; i < 32 * 4; i++)
        constants[i] = 1.0 / (i + 3);
    expect_all(32, features_hints, constants, memory);
}

TEST(features_of_atomic_objects_work)
{
    for (unsigned n = 1; n <= 64; n *= 4) {
        uint64_t sums[8] = {0, UINT64_MAX, 0, 0, 0, 0, 0, 0};
        expect_all((int)n * 256, features_atomics, (int)n, (void *)sums);
        assert_int_equal(sums[0], n * (255 * 128 + 256));
        assert_int_equal(sums[1], 3);
        assert_int_equal(sums[2], 255);
        double real;
        memcpy(&real, &sums[3], sizeof real);
        assert_true(real == 0.5 * 256 * n);
        assert_int_equal(sums[4], (uint64_t)-2 * 256 * n);
        assert_int_equal(sums[5], 255);
        assert_int_equal(sums[6], UINT64_MAX);
        assert_int_equal(sums[7], n * 255 * 128);
    }
}

TEST(features_that_tell_time_work)
{
    expect_all(32, features_times, 0);
}

/* Several CPU threads take part. On a GPU all threads contend at once, and each of them takes a lock as many times as
 * there are threads. */
TEST(features_of_wide_atomics_work)
{
    const int blocks = on_cuda() ? 8 : SANITIZED ? 20 : 2000;
    _Alignas(16) unsigned long long pair[2] = {0, 0};
    _Alignas(16) unsigned long long latest[2] = {0, 0};
    int all[4] = {0};
    expect_all(blocks * 64, features_wide, blocks, pair, latest, all);
    assert_int_equal(pair[0], blocks * 64);
    assert_int_equal(pair[1], blocks * 64 * 7);
    assert_int_equal(latest[1], 3 * latest[0]);
    assert_int_equal(all[0], blocks * 64);
    assert_int_equal(all[2], blocks * 64 * 4);
    assert_int_equal(all[3], blocks * 64 * 5);
}

TEST(features_of_templates_work)
{
    enum { N = 600 };
    float *reals;
    int *whole;
    int64_t *wide;
    assert_ok(cf_mem_alloc((void **)&reals, N * sizeof *reals));
    assert_ok(cf_mem_alloc((void **)&whole, N * sizeof *whole));
    assert_ok(cf_mem_alloc((void **)&wide, N * sizeof *wide));
    assert_ok(features_specialised_f32(reals, N));
    assert_ok(features_specialised_i32(whole, N));
    assert_ok(features_specialised_i64(wide, N));
    float reals_here[N];
    int whole_here[N];
    int64_t wide_here[N];
    assert_ok(cf_mem_copy(reals_here, reals, sizeof reals_here));
    assert_ok(cf_mem_copy(whole_here, whole, sizeof whole_here));
    assert_ok(cf_mem_copy(wide_here, wide, sizeof wide_here));
    for (int i = 0; i < N; i++) {
        assert_true(reals_here[i] == 11);
        assert_int_equal(whole_here[i], 12);
        assert_int_equal(wide_here[i], (i ^ 1) + 100);
    }
    assert_ok(cf_mem_free(reals));
    assert_ok(cf_mem_free(whole));
    assert_ok(cf_mem_free(wide));
}

TEST(features_of_bytes_work)
{
    const cf_fp8_e4m3 x[] = {{0x00}, {0x38}, {0x40}, {0x7e}, {0x01}}, two = {0x40}; /* 0, 1, 2, 448, 2^-9 */
    cf_fp8_e4m3 y[5];
    uint16_t pair[5];
    const uint16_t pairs[] = {0x8000, 0xbc3c, 0xc040, 0xdf5f, 0x9818};
    const uint8_t scaled[] = {0x00, 0x40, 0x48, 0x7e, 0x02};
    assert_ok(features_bytes(x, pair, y, two, 5));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(pair[i], pairs[i]);
        assert_int_equal(y[i].bits, scaled[i]);
    }
    assert_int_equal(features_bytes(x, pair, y, x[4], 5), CF_EINVAL); /* the check reads 2^-9, not the bits */
}

int main(void)
{
    return run_played(&features_registry, NULL);
}
